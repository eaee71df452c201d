"""inconsistent-report: retransmits and datagrams whose total is not that of the streams, or of the
intervals, that are printed beside it.

Counts are whole numbers, but the last ones of a test may be in one of the two only.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from benchbook.explain.model import SUM, Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import Machine
from benchbook.explain.rules.common.transfer_parts import (
    as_long,
    beside,
    complete,
    covers,
    is_part,
    span_of,
    whose,
)
from benchbook.findings import Finding, proof

ARTEFACT = "inconsistent-report"
NAMES = ("retransmits", "datagrams")
NEEDS = NAMES
TOLERANCE, FEW = 0.03, 2  # of the greater of both; counts that are nothing
REMEDY = (
    "Do not use these figures before it is known which of them is wrong: the tool, or who copied "
    "or edited the log; where the log is whole, compute the totals from its parts."
)
Counted = tuple[Result, Result]  # what was moved, which tells of the time, and the count beside it


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """The first such total of each report."""
    del machine
    for report in reports:
        yield from islice(_of_report(report), 1)


def _of_report(report: Report) -> Iterator[Finding]:
    for name in NAMES:
        if not report.has(name) or _adds_up(report, name):
            continue
        rows = [
            (moved, count)
            for moved, count in beside(report, "transferred", name)
            if not moved.of.get("omitted") and is_number(count.value) and _is_of(moved, count)
        ]
        if any(moved.of.get("direction") == "reverse" for moved, _ in rows):
            continue  # JSON of both ways does not tell which way a stream goes
        totals = [row for row in rows if row[1].statistic == "total"]
        yield from _streams(totals, report.facts.get("streams", 0))
        yield from _intervals(totals, [row for row in rows if row[1].statistic == "interval"])


def _adds_up(report: Report, name: str) -> bool:
    """Whether there is nothing to add, or all of it makes the one total, as in most logs."""
    totals, parts = _values(report, name, "total"), _values(report, name, "interval")
    return not totals or (len(totals) == 1 and bool(parts) and sum(parts) == totals[0])


def _values(report: Report, name: str, statistic: str) -> list[float]:
    return [value for _, several in report.alike(name, statistic) for value in several.values]


def _is_of(moved: Result, count: Result) -> bool:
    return moved.of.get("end") == count.of.get("end")


def _streams(totals: list[Counted], count: int) -> Iterator[Finding]:
    parts: dict[object, list[Result]] = {}
    counts = {id(moved): one for moved, one in totals}
    for moved, _ in totals if count > 1 else ():
        if is_part(moved):
            parts.setdefault(whose(moved)[1:], []).append(moved)
    whole = complete(parts, count)
    for moved, one in totals:
        own = whole.get(whose(moved)[1:], [])
        if moved.of.get("stream") == SUM and own and as_long(moved, own):
            yield from _judged("streams", one, [counts[id(part)] for part in own])


def _intervals(totals: list[Counted], rows: list[Counted]) -> Iterator[Finding]:
    parts: dict[object, list[Counted]] = {}
    for row in rows if totals else ():
        parts.setdefault(whose(row[0]), []).append(row)
    # Once for each stream: a log may have very many totals of it.
    spans = {key: span_of([part for part, _ in own]) for key, own in parts.items() if len(own) > 1}
    counts = {key: [count for _, count in own] for key, own in parts.items()}
    for moved, one in totals:
        span = spans.get(whose(moved))
        if span and covers(span, moved):
            yield from _judged("intervals", one, counts[whose(moved)])


def _judged(what: str, whole: Result, parts: list[Result]) -> Iterator[Finding]:
    made = sum(one.value for one in parts)
    if abs(whole.value - made) <= max(FEW, TOLERANCE * max(abs(whole.value), abs(made))):
        return
    first, last = parts[0].line, parts[-1].line
    yield Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=[whole.where],
        confidence=1.0,
        factor=whole.value / made if made else None,
        evidence=[
            proof("printed total", whole.value, whole.unit, f"line {whole.line}"),
            proof(f"sum of the {what}", made, whole.unit, f"lines {first} to {last}"),
        ],
        explanation=(
            f"Line {whole.line} says {whole.value:,.0f} {whole.name} for the whole, but the {what} "
            f"(lines {first} to {last}) have {made:,.0f}."
        ),
        remedy=REMEDY,
    )
