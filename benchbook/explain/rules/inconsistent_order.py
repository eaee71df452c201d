"""inconsistent-report: statistics of the same samples in an order that no samples have.

A mean outside the smallest and the largest, percentiles that fall, samples beyond the extremes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations, permutations

from benchbook.core.number_format import listed
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Key, Report, Result
from benchbook.explain.printed_digits import half_of_last_digit, is_number
from benchbook.explain.results import Group
from benchbook.explain.rules import Machine
from benchbook.explain.units import bytes_per_s
from benchbook.findings import Finding, proof

ARTEFACT = "inconsistent-report"
_PERCENTILE = late(r"p(\d{1,2}(?:\.\d+)?)")
# Where a statistic stands among others of the same samples; what lies strictly between 0 and 100
# has that share of the samples below it.
_ENDS = {"min": 0.0, "max": 100.0}
_INSIDE = ("mean", "median", "sample")
TOLERANCE = 1e-6
MOST_ALIKE = 20  # of one statistic; of more, the least and the greatest tell
FEW = 6  # of the same samples: each pair is looked at
MOST = 1000  # statistics of the same samples; no tool prints more
REMEDY = (
    "Do not use these figures before it is known which of them is wrong: the tool, who edited the "
    "log, or two runs that were mixed into one."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report with such statistics."""
    del machine
    for report in reports:
        wrong = [pair for several in _alike(report) for pair in _wrong(several)]
        if wrong:
            yield _finding(wrong)


def _alike(report: Report) -> list[list[Result]]:
    """Statistics of the same samples: one name, unit and setting."""
    found: dict[tuple[object, ...], list[Result]] = {}
    setting = None
    for figure, keys in _figures(tuple(report.groups)):
        statistics = [report.groups[key] for key in keys]
        if _are_in_order(statistics):
            continue
        if setting is None:
            setting = sorted(report.columns - _OF_ONE)
        for several in statistics:
            for key, own in _by(setting, several).items():
                known = [one for one in own if is_number(one.value)]
                found.setdefault((*figure, *key), []).extend(known)
    return [several for several in found.values() if len(several) > 1]


@lru_cache
def _figures(keys: tuple[Key, ...]) -> list[tuple[tuple[str, str], list[Key]]]:
    """Figures of which there are two such statistics at least; many reports have the same."""
    placed = {name for name in {key[1] for key in keys} if _place(name, "")}
    if placed <= {"sample"}:
        return []
    figures: dict[tuple[str, str], list[Key]] = {}
    for key in keys:
        if key[1] in placed:
            figures.setdefault((key[0], key[2]), []).append(key)
    return [(figure, several) for figure, several in figures.items() if len(several) > 1]


def _are_in_order(statistics: list[Group]) -> bool:
    """Whether none of a statistic is above any of one that stands higher, whatever their settings:
    then there is no more to look at."""
    spans = []
    for several in statistics:
        values = several.values
        if place := _place(several[0].statistic, several[0].unit):
            spans.append((place, min(values), max(values)))
    return all(
        most <= least  # not where one is no number
        for (low, _, most), (high, least, _) in permutations(spans, 2)
        if low[1] <= high[0]
    )


def _by(columns: list[str], several: Sequence[Result]) -> dict[tuple[str, ...], list[Result]]:
    """Those that have the same in these columns, by that in words; what has none has "None"."""
    if not columns:
        return {(): several}
    # Words are made once for all that are alike.
    found: dict[tuple[object, ...], list[Result]] = {}
    for one in several:
        found.setdefault(tuple(map(one.of.get, columns)), []).append(one)
    said: dict[tuple[str, ...], list[Result]] = {}
    for key, own in found.items():
        said.setdefault(tuple(map(str, key)), []).extend(own)
    return said


# Columns of one number, not of its setting.
_OF_ONE = {
    "elapsed_s",
    "elapsed_error_s",
    "bytes_moved",
    "repetition",
    "repetitions",
    "iterations",
    "clock_ticks",
    "class_width",
}


@lru_cache
def _place(statistic: str, unit: str) -> tuple[float, float] | None:
    """The least and the greatest place that it can have among the samples, in per cent."""
    if statistic in _ENDS or statistic == "best":
        is_rate = bytes_per_s(1.0, unit) is not None
        end = _ENDS.get(statistic, 100.0 if is_rate else 0.0)
        return end, end
    if found := _PERCENTILE.fullmatch(statistic):
        return float(found[1]), float(found[1])
    if statistic == "median":
        return 50.0, 50.0
    return (0.0, 100.0) if statistic in _INSIDE else None


def _wrong(several: list[Result]) -> Iterator[tuple[Result, Result]]:
    """Pairs of which the first, which cannot be the greater, is greater."""
    few = len(several) <= FEW and all(one.statistic != "sample" for one in several)
    counted = several if few else _counted(several)
    placed = [
        (one, place) for one in counted if (place := _place(one.statistic, one.unit)) is not None
    ]
    if not few and not _may_be_wrong(placed):
        return
    for (first, one), (second, other) in combinations(placed, 2):
        if one[1] <= other[0] and _exceeds(first, second):
            yield first, second
        elif other[1] <= one[0] and _exceeds(second, first):
            yield second, first


def _counted(several: list[Result]) -> list[Result]:
    """Those that decide: of samples, and of a statistic that is there very often, both ends."""
    by_statistic: dict[str, list[Result]] = {}
    for one in several:
        by_statistic.setdefault(one.statistic, []).append(one)
    often = {"sample"} | {name for name, own in by_statistic.items() if len(own) > MOST_ALIKE}
    counted = [one for one in several if one.statistic not in often][:MOST]
    for name in sorted(often & by_statistic.keys()):
        own = by_statistic[name]
        counted += [min(own, key=lambda one: one.value), max(own, key=lambda one: one.value)]
    return counted


def _may_be_wrong(placed: list[tuple[Result, tuple[float, float]]]) -> bool:
    """Whether any is above one that stands higher, whatever the digits: nearly always none is."""
    below = -float("inf")  # the greatest of those that stand no higher
    waiting = sorted(placed, key=lambda each: each[1][1])
    at = 0
    for one, (least, _) in sorted(placed, key=lambda each: each[1][0]):
        while at < len(waiting) and waiting[at][1][1] <= least:
            below = max(below, waiting[at][0].value)
            at += 1
        if below > one.value:
            return True
    return False


def _exceeds(low: Result, high: Result) -> bool:
    """Whether what should be lower is higher, beyond the digits that were printed."""
    if low.value <= high.value or low.statistic == high.statistic:
        return False
    halves = half_of_last_digit(low.value), half_of_last_digit(high.value)
    # Rounding keeps the order of numbers that are printed with as many digits; zeros at the end of
    # one are not known here, but what is as large in the same row has as many.
    as_many = halves[0] == halves[1] or _are_in_a_row(low, high)
    digits = 0.0 if as_many else max(halves)
    if high.statistic == "sample" and halves[1] > halves[0]:
        digits *= 2  # old pings cut off what they do not print of it
    classes = max(one.of.get("class_width", 0.0) for one in (low, high))
    return low.value - high.value > digits + (TOLERANCE + classes) * abs(high.value)


def _are_in_a_row(low: Result, high: Result) -> bool:
    """Whether one line has both, both are of ordered samples, and their first digits stand in the
    same place. A mean may have more digits than what it is of."""
    if low.line != high.line or {"mean", "sample"} & {low.statistic, high.statistic}:
        return False
    return min(low.value, high.value) > 0 and _place_of(low.value) == _place_of(high.value)


def _place_of(value: float) -> int:
    return math.floor(math.log10(value))


def _finding(wrong: list[tuple[Result, Result]]) -> Finding:
    said = [
        f"the {low.statistic} of {low.name} (line {low.line}: {_valued(low)}) is "
        f"above its {high.statistic} (line {high.line}: {_valued(high)})"
        for low, high in wrong[:3]
    ]
    more = [f"{len(wrong) - 3} more of that kind"] if len(wrong) > 3 else []
    text = f"{listed([*said, *more])}. No samples have such statistics."
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=list(dict.fromkeys(one.where for pair in wrong for one in pair)),
        confidence=1.0,
        evidence=[
            proof(one.where, one.value, one.unit, "log") for pair in wrong[:3] for one in pair
        ],
        explanation=text[0].upper() + text[1:],
        remedy=REMEDY,
    )


def _valued(one: Result) -> str:
    unit = "" if one.unit == "1" else f" {one.unit}"
    return f"{one.value:,.10g}{unit}"
