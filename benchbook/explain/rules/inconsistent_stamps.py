"""inconsistent-report: an interval that ends before the one above it began, between others that go
on. Where the stamps begin anew, another run begins."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import Machine
from benchbook.findings import Finding, proof

ARTEFACT = "inconsistent-report"
NEEDS = ("interval_end_s",)
CERTAIN = 0.95
REMEDY = (
    "Leave this interval out before it is known whether its stamp or its place is wrong: ask "
    "whoever copied or edited the log, or sort several outputs that were mixed."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report with one such interval; more are outputs that were mixed."""
    del machine
    for report in reports:
        odd = list(_odd(report)) if "interval_end_s" in report.columns else []
        if len(odd) == 1:
            yield _finding(*odd[0])


def _odd(report: Report) -> Iterator[tuple[Result, Result]]:
    """Intervals that stand too low or too high, each with the one above it."""
    ends: list[float] = []
    places: list[int] = []
    for at, end in enumerate(report.each("interval_end_s")):
        if is_number(end) and (not ends or end != ends[-1]):
            ends.append(float(end))
            places.append(at)
    for at, (first, own, last) in enumerate(zip(ends, ends[1:], ends[2:], strict=False)):
        if own < first < last:
            above, one = places[at : at + 2]
            yield report.results[one], report.results[above]


def _finding(one: Result, above: Result) -> Finding:
    ends = [float(each.of["interval_end_s"]) for each in (above, one)]
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=[one.where, above.where],
        confidence=CERTAIN,
        evidence=[
            proof("end of the interval", end, "s", f"line {each.line}")
            for end, each in zip(ends, (above, one), strict=True)
        ],
        explanation=(
            f"The interval in line {one.line} ends at {ends[1]:g} s, before the one above it (line "
            f"{above.line}: {ends[0]:g} s), and those below go on from there."
        ),
        remedy=REMEDY,
    )
