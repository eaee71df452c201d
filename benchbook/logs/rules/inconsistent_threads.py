"""inconsistent-report: what all threads did is not what one did on average, times their number; or
what all events took is not what one took on average.

Events, and the time that they took, stand both as a sum and as a mean.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchbook.artefacts import Finding, proof
from benchbook.digits import number
from benchbook.importers import Report
from benchbook.logs.printed import is_number
from benchbook.logs.rules import Machine
from benchbook.logs.units import in_base

ARTEFACT = "inconsistent-report"
TOLERANCE = 0.01  # threads that end while the others are counted
DIGIT = 1e-4  # of what is printed of a thread
DECIMALS = 0.0051  # of a mean that is printed with two
CERTAIN = 1.0
REMEDY = (
    "Do not use these figures before it is known which of them is wrong: ask whoever copied or "
    "edited the log."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report with such a sum."""
    del machine
    for report in reports:
        threads = report.facts.get("threads")
        if not is_number(threads) or "events_per_thread" not in report.facts:
            continue
        for what, of_thread, of_all in (
            ("events", report.facts["events_per_thread"], report.facts.get("events")),
            ("seconds of events", report.facts.get("busy_s_per_thread"), _sum_s(report)),
        ):
            if not is_number(of_thread) or not is_number(of_all):
                continue
            made = threads * of_thread
            if abs(made - of_all) > TOLERANCE * max(made, of_all) + threads * DIGIT:
                yield _finding(report, what, (threads, of_thread, of_all))
                break
        else:
            yield from _of_events(report)


def _of_events(report: Report) -> Iterator[Finding]:
    events = report.facts.get("events")
    own = [[one for one in report.called("latency") if one.statistic == name]
           for name in ("mean", "sum")]  # fmt: skip
    if not is_number(events) or any(len(several) != 1 for several in own):
        return
    mean, every = own[0][0], own[1][0]
    if mean.unit != every.unit or not (is_number(mean.value) and is_number(every.value)):
        return
    made = events * mean.value
    if abs(made - every.value) <= TOLERANCE * every.value + events * DECIMALS:
        return
    yield Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=[one.where for one in (mean, every)],
        confidence=CERTAIN,
        evidence=[
            *(proof(one.where, one.value, one.unit, f"line {one.line}") for one in (mean, every)),
            proof("events", events, "events", "log"),
        ],
        explanation=(
            f"Line {every.line} says that all events took {every.value:,.6g} {every.unit}, but "
            f"{events:,.6g} events of {mean.value:g} {mean.unit} on average (line {mean.line}) "
            f"take {number(made)}."
        ),
        remedy=REMEDY,
    )


def _sum_s(report: Report) -> float | None:
    found = [one for one in report.called("latency") if one.statistic == "sum"]
    return in_base(found[0].value, found[0].unit)[0] / 1e9 if len(found) == 1 else None


def _finding(report: Report, what: str, said: tuple[Any, Any, Any]) -> Finding:
    threads, of_thread, of_all = said
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        factor=of_all / (threads * of_thread) if of_thread > 0 else None,
        where=[f"line {report.line}: {what}"],
        confidence=CERTAIN,
        evidence=[
            proof("threads", threads, "threads", "log"),
            proof(f"{what} of a thread", of_thread, "", "log"),
            proof(f"{what} of all", of_all, "", "log"),
        ],
        explanation=(
            f"The run from line {report.line} counts {of_all:,.6g} {what}, but its {threads} "
            f"threads had {of_thread:,.6g} each on average, which are "
            f"{number(threads * of_thread)}."
        ),
        remedy=REMEDY,
    )
