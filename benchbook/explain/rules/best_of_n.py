"""best-of-n: the printed best hides how far the others are from it.

Decided by the statistics that are printed beside it: where the mean takes half as long again as the
best, or a sample several times as long, the best is what seldom happens.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from benchbook.core.number_format import number, plural
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import MOST, is_number
from benchbook.explain.rules import Machine
from benchbook.explain.units import in_base
from benchbook.findings import Finding, proof

ARTEFACT = "best-of-n"
NEEDS = ("best",)
LEAST_MEAN = 1.5  # mean ÷ best; detectors of our own runs ask for as much
CONTRADICTED = 1.02  # mean ÷ longest: one of the two is no such figure
LEAST_WORST = 3.0  # longest ÷ best, with a mean that notices it
NOTICED = 1.15
SURE = 0.9
REMEDY = (
    "Give the mean or the median beside the best, and the number of repetitions: the best says "
    "what the machine can do at all, not what a program gets."
)


_Line = dict[tuple[str, str], Result]  # by name and statistic


class _Spread(NamedTuple):
    best: Result
    mean: Result | None
    worst: Result | None
    mean_over_best: float
    worst_over_best: float


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report whose best is far from its mean."""
    del machine
    for report in reports:
        best_of = report.being("best")
        lines = _lines(report) if best_of else {}
        spreads = [found for one in best_of if (found := _spread(lines[one.line], one))]
        far = [
            one
            for one in spreads
            if (one.mean_over_best >= LEAST_MEAN and not _is_contradicted(one))
            or (one.worst_over_best >= LEAST_WORST and one.mean_over_best >= NOTICED)
        ]
        if far:
            yield _finding(far)


def _lines(report: Report) -> dict[int, _Line]:
    """What stands in each line."""
    lines: dict[int, _Line] = {}
    for one in report.results:
        line = one.line
        if line not in lines:
            lines[line] = {}
        if 0 < one.value < MOST:
            lines[line][one.name, one.statistic] = one
    return lines


def _spread(beside: _Line, best: Result) -> _Spread | None:
    """How long the mean and the longest take, in times of the best."""
    timed = f"{best.name} time"
    least = beside.get((timed, "min"))
    if least is not None:
        mean, worst = beside.get((timed, "mean")), beside.get((timed, "max"))
        return _Spread(best, mean, worst, *(_ratio(one, least) for one in (mean, worst)))
    rate = in_base(1.0, best.unit)[1] in ("B/s", "bit/s")
    mean = beside.get((best.name, "mean"))
    worst = beside.get((best.name, "min" if rate else "max"))
    if not is_number(best.value) or best.value <= 0 or not (mean or worst):
        return None
    longer = [_ratio(best, one) if rate else _ratio(one, best) for one in (mean, worst)]
    return _Spread(best, mean, worst, *longer)


def _is_contradicted(one: _Spread) -> bool:
    """Whether the mean is beyond the longest: that is told as what it is, and says no more."""
    return one.worst is not None and one.mean_over_best > CONTRADICTED * one.worst_over_best


def _ratio(one: Result | None, other: Result | None) -> float:
    return one.value / other.value if one and other else 1.0


def _finding(far: list[_Spread]) -> Finding:
    worst = max(far, key=lambda one: (one.mean_over_best, one.worst_over_best))
    longest = ""
    if worst.worst:
        longest = f", and the longest {number(worst.worst_over_best)} times"
    begin = "" if len(far) == 1 else f"Of {plural(len(far), 'figure')}, most of all "
    evidence = [
        proof(f"{one.name} {one.statistic}".strip(), one.value, one.unit, f"line {one.line}")
        for one in (worst.best, worst.mean, worst.worst)
        if one is not None
    ]
    return Finding(
        artefact=ARTEFACT,
        effect="informs",
        factor=worst.mean_over_best,
        where=[one.best.where for one in far],
        confidence=SURE,
        evidence=evidence,
        explanation=(
            f"{begin}{worst.best.name} in line {worst.best.line}: the figure is the best of its "
            f"repetitions, but on average they took {number(worst.mean_over_best)} times as long"
            f"{longest}. It is what seldom happens there."
        ),
        remedy=REMEDY,
    )
