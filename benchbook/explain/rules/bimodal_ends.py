"""bimodal: runs or exchanges of two kinds, told by their ends, mean and deviation alone.

Between two ends a and b with a mean m no deviation is above the root of (m - a)(b - m), which is
reached only where all values lie at the ends (Bhatia and Davis, 2000). What is missing to that
bounds how many lie in the middle half: each of them would take 3/16 of (b - a)^2 from it.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.core.number_format import number
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import Machine
from benchbook.explain.units import in_base
from benchbook.findings import Finding, proof

ARTEFACT = "bimodal"
NAMES = ("time", "latency", "round trip")
DEVIATIONS = ("stddev", "sd")
NEEDS = DEVIATIONS
MOST_BETWEEN = 0.2  # of all, in the middle half between the ends; of evenly spread ones half are
LEAST_SHARE = 0.22  # of all, at either end: more than two of ten, else a few are merely far away
WIDE = 0.5  # from end to end ÷ mean
FEW, USUAL = 8, 10  # values that have no shape; the least number of runs where none is printed
IN_MIDDLE = 3 / 16  # of the square of the width: what a value of the middle half takes at least
ROUNDED = 0.02  # of all: what rounding of the four may make it less than none
LIKELY = 0.9
REMEDY = (
    "Give both kinds and how many there are of each, and look for what tells them apart: a cache "
    "that was filled, work that was already done, a second path. The mean is of neither."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each mean whose deviation leaves nothing in the middle."""
    del machine
    for report in reports:
        for name in NAMES:
            own = [one for one in report.called(name) if is_number(one.value)]
            by = {one.statistic: one for one in own}
            if len(by) == len(own) and {"mean", "min", "max"} <= by.keys():
                deviation = next((by[one] for one in DEVIATIONS if one in by), None)
                if deviation is not None:
                    yield from _judged(report, by["min"], by["mean"], by["max"], deviation)


def _judged(
    report: Report, least: Result, mean: Result, most: Result, deviation: Result
) -> Iterator[Finding]:
    shown = (least, mean, most, deviation)
    low, middle, high, spread = (in_base(one.value, one.unit)[0] for one in shown)
    count = _count(report, mean)
    if count < FEW or not low < middle < high or high - low < WIDE * middle:
        return
    width, share = high - low, (middle - low) / (high - low)
    # The printed deviation of samples is rather too much.
    variance = (spread / width) ** 2 * (count - 1) / count
    between = (share * (1 - share) - variance) / IN_MIDDLE
    if -ROUNDED <= between <= MOST_BETWEEN and LEAST_SHARE <= share <= 1 - LEAST_SHARE:
        yield _finding(shown, share, max(between, 0.01), width / 4)


def _count(report: Report, mean: Result) -> float:
    """Of how many values they are: 0 where exchanges may be few."""
    got = [one.value for one in report.called("packets received")]
    told = report.column(mean, "repetitions") or (got[0] if len(got) == 1 else None)
    return told if is_number(told) else USUAL if mean.name == "time" else 0


def _finding(shown: tuple[Result, ...], share: float, between: float, quarter: float) -> Finding:
    least, mean, most, deviation = shown
    size = in_base(1.0, mean.unit)[0]
    ends = [in_base(one.value, one.unit)[0] for one in (least, most)]
    from_, to = ((end + way * quarter) / size for end, way in zip(ends, (1, -1), strict=True))
    return Finding(
        artefact=ARTEFACT,
        effect="informs",
        where=[one.where for one in shown],
        confidence=LIKELY,
        evidence=[proof(one.where, one.value, one.unit, f"line {one.line}") for one in shown],
        explanation=(
            f"A deviation of {deviation.value:,.6g} {deviation.unit} (line {deviation.line}) is "
            f"nearly the most that these ends and this mean allow, so that {100 * between:.0f}"
            f" % at most lie from {number(from_)} to {number(to)} {mean.unit}. About "
            f"{100 * share:.0f} % are near {most.value:,.6g} {most.unit} and the others near "
            f"{least.value:,.6g} {least.unit} (line {least.line}): the mean of "
            f"{mean.value:,.6g} {mean.unit} is of two kinds."
        ),
        remedy=REMEDY,
    )
