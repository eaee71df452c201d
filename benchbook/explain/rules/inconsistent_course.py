"""inconsistent-report: rates printed while a test ran, and one of the whole that they cannot make.

Where bytes are printed as well, inconsistent_sums adds them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import Machine
from benchbook.findings import Finding, proof

ARTEFACT = "inconsistent-report"
NEEDS = ("interval",)
COVERED = 0.1  # of the time: what may be missing, or stand at its ends
TOLERANCE = 0.2  # of the rate: what was not covered may have been slower
SURE = 0.95
REMEDY = (
    "Do not use these figures before it is known which of them is wrong: the rate of the whole is "
    "the mean of its intervals, each weighed by its time; ask whoever copied or edited the log."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each rate of a whole that its intervals do not make."""
    del machine
    for report in reports:
        if report.has("transferred"):
            continue
        for (name, statistic, unit), several in report.groups.items():
            wholes = report.alike(name, "total") if statistic == "interval" else []
            for of, own in wholes:
                if of == unit and len(own) == 1 and (made := _made(list(several), own[0])):
                    yield _finding(own[0], list(several), made)


def _made(intervals: list[Result], whole: Result) -> float | None:
    """The rate of the whole by its intervals; None where it is that, or they are not all of it."""
    times = [one.of.get("elapsed_s") for one in intervals]
    took = whole.of.get("elapsed_s")
    known = [time for time in times if is_number(time) and time > 0]
    if len(known) < max(2, len(times)) or not is_number(took) or not is_number(whole.value):
        return None
    if not math.isclose(sum(known), took, rel_tol=COVERED):
        return None
    moved = sum(one.value * time for one, time in zip(intervals, known, strict=True))
    made = moved / sum(known)
    return None if math.isclose(made, whole.value, rel_tol=TOLERANCE) else made


def _finding(whole: Result, intervals: list[Result], made: float) -> Finding:
    lines = f"lines {intervals[0].line} to {intervals[-1].line}"
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=[whole.where],
        confidence=SURE,
        evidence=[
            proof("rate of the whole", whole.value, whole.unit, f"line {whole.line}"),
            proof("mean of its intervals", made, whole.unit, lines),
        ],
        explanation=(
            f"Line {whole.line} gives {whole.value:,.6g} {whole.unit} for the whole, but its "
            f"{len(intervals)} intervals ({lines}), which cover all of its time, make "
            f"{made:,.4g} {whole.unit}."
        ),
        remedy=REMEDY,
    )
