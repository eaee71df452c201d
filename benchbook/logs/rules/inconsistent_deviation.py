"""inconsistent-report: a deviation that no samples between the printed ends with the printed mean
have; and bimodal, where it is so near to the greatest that they can have that hardly any lie in
between.

Samples from a to b with a mean of m deviate by no more than the root of (m - a)(b - m), which they
do where all of them are at one of the ends (Bhatia and Davis 2000).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from benchbook.artefacts import Finding, proof
from benchbook.digits import number
from benchbook.importers import Report, Result
from benchbook.logs.printed import half_of_last_digit, is_number
from benchbook.logs.rules import Machine
from benchbook.logs.units import in_base

ARTEFACT = "inconsistent-report"
TOLERANCE = 0.01
FEWEST = 10  # runs of a tool that does not say how many; fewer tell no two kinds
MIDDLE, MOST_IN_MIDDLE = 3 / 16, 0.25  # what a run in the middle half takes off, of the range²
ENDS = (0.2, 0.8)  # where a mean is of several runs on either side, as a share of the range
APART = 2.0  # longest ÷ shortest
CERTAIN, LIKELY = 1.0, 0.85
REMEDY = (
    "Do not use these figures before it is known which of them is wrong: ask whoever copied or "
    "edited the log."
)
OF_KINDS = (
    "Look at the runs one by one (--export-json): say what differs between the two kinds, and give "
    "each of them its own figure."
)
_STATISTICS = ("mean", "stddev", "min", "max")


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report that has one such time."""
    del machine
    for report in reports:
        times = [one for one in report.called("time") if one.statistic in _STATISTICS]
        by = {one.statistic: one for one in times}
        if len(times) == len(by) == len(_STATISTICS) and all(is_number(x.value) for x in times):
            yield from _judged(report, [by[name] for name in _STATISTICS])


def _judged(report: Report, shown: list[Result]) -> Iterator[Finding]:
    mean, deviation, low, high = (in_base(one.value, one.unit)[0] for one in shown)
    half = max(in_base(half_of_last_digit(one.value), one.unit)[0] for one in shown)
    if not 0 < low <= mean <= high:
        return  # told as what it is
    told = report.column(shown[0], "repetitions")
    runs = float(told) if is_number(told) and told > 1 else 0.0
    own = runs / (runs - 1) if runs else 2.0  # the deviation of a sample; of two at worst
    most = math.sqrt(own * (mean - low + half) * (high - mean + half))
    if deviation - half > most * (1 + TOLERANCE):
        yield _impossible(shown, most / in_base(1.0, shown[1].unit)[0])
        return
    width = high - low
    if (runs and runs < FEWEST) or report.being("sample") or high < APART * low:
        return
    runs = runs or FEWEST
    variance = max(0.0, deviation - half) ** 2 * (runs - 1) / runs
    middle = ((mean - low) * (high - mean) - variance) / (MIDDLE * width * width)
    if middle <= MOST_IN_MIDDLE and ENDS[0] <= (mean - low) / width <= ENDS[1]:
        yield _of_kinds(shown, max(middle, 0.0))


def _evidence(shown: list[Result]) -> list[dict[str, object]]:
    return [proof(one.where, one.value, one.unit, f"line {one.line}") for one in shown]


def _impossible(shown: list[Result], most: float) -> Finding:
    mean, deviation, low, high = shown
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=[one.where for one in shown],
        confidence=CERTAIN,
        evidence=_evidence(shown),
        explanation=(
            f"Runs from {low.value:,.6g} {low.unit} to {high.value:,.6g} {high.unit} with a mean "
            f"of {mean.value:,.6g} {mean.unit} (line {mean.line}) deviate by {number(most)} "
            f"{deviation.unit} at most, not by {deviation.value:,.6g} {deviation.unit}."
        ),
        remedy=REMEDY,
    )


def _of_kinds(shown: list[Result], middle: float) -> Finding:
    mean, deviation, low, high = shown
    return Finding(
        artefact="bimodal",
        effect="informs",
        where=[mean.where, deviation.where],
        confidence=LIKELY,
        evidence=_evidence(shown),
        explanation=(
            f"A deviation of {deviation.value:,.6g} {deviation.unit} about a mean of "
            f"{mean.value:,.6g} {mean.unit} (line {mean.line}) is nearly the greatest that runs "
            f"from {low.value:,.6g} {low.unit} to {high.value:,.6g} {high.unit} can have: at most "
            f"{100 * middle:.0f} % of them lie in the middle half of that range. There are two "
            "kinds of runs, and the mean is of neither."
        ),
        remedy=OF_KINDS,
    )
