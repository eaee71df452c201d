"""warm-up, unsteady: runs of a log that are the same in all that it shows of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

from benchbook.explain.context.same_runs import Figure, of_same
from benchbook.explain.model import Report, Result
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.explain.rules.common.samples import FAR
from benchbook.explain.rules.two_sides import words_above
from benchbook.findings import Finding

LEAST, MOST = 3, 5  # runs: of more, their shape is looked at elsewhere
ALIKE = 1.25  # slowest ÷ fastest of the others
LEAST_NS = 1e6  # of a run: shorter ones differ by the start of the program
OF_RUN = ("time elapsed", "time", "throughput", "transfer rate", "event rate", "bandwidth")
WHOLE = ("", "mean", "total", "sample")


@rule
def repeated_runs(reports: Sequence[Report]) -> Iterator[Finding | str]:
    """Three to five runs of the same, of which the first is far slower.

    Decided by one figure of each whole run. Only where a command is shown for each of them, or for
    none: then nothing that the log has differs between them.
    """
    for several in of_same([report for report in reports if "build" not in report.facts]):
        figures = [result for _, result in several]
        if not LEAST <= len(several) <= MOST or not _are_whole(several):
            continue
        if len({words_above(report) for report, _ in several}) > 1:
            continue  # two_sides.py compares what is titled apart
        slowness = [_slowness(result) for result in figures]
        first, others = slowness[0], slowness[1:]
        words: dict[str, Any] = {"first": figures[0], "count": len(figures)}
        if first >= FAR * max(others) and max(others) <= ALIKE * min(others):
            slowest = figures[slowness.index(max(others))]
            words |= {"slowest": slowest, "times": first / max(others)}
            yield finding("first-of-runs", words)
            return


def _are_whole(several: Sequence[Figure]) -> bool:
    first = several[0][1]
    if first.name not in OF_RUN or first.statistic not in WHOLE:
        return False
    if any(report.facts.get("repetitions") or report.being("stddev") for report, _ in several):
        return False  # a mean of many, with a spread of its own
    if len({id(report) for report, _ in several}) < len(several):
        return False
    is_long = not first.is_time or min(own.base_value for _, own in several) >= LEAST_NS
    return is_long and all(result.is_positive for _, result in several)


def _slowness(result: Result) -> float:
    return result.base_value if result.is_time else 1 / result.base_value


TWO_APART = (1.15, 4.0)  # slower ÷ faster: less is usual, more is other work
MODELS = ("llama.cpp",)
OF_MODELS = ("eval time", "prompt eval time")


@rule
def two_runs_apart(reports: Sequence[Report]) -> Iterator[str]:
    """A note on two runs of a model whose results differ though the log shows no reason."""
    own = [report for report in reports if report.tool in MODELS]
    for several in of_same(own) if len(own) == 2 else ():
        if len(several) != 2 or several[0][1].name not in OF_MODELS:
            continue
        titles = [report.facts.get("titled") for report, _ in several]
        first, second = (result for _, result in several)
        if titles[1] not in (None, titles[0]) or not (first.is_positive and second.is_positive):
            continue
        low, high = sorted((first.value, second.value))
        if TWO_APART[0] * low <= high <= TWO_APART[1] * low:
            words = {"first": first, "second": second, "apart": high / low - 1}
            yield finding("two-runs-apart", words).explanation
            return


FEW = 6  # runs a side: of more, all orders are too many to count
LEAST_A_SIDE = 3
SIGNIFICANT = 0.05


@rule
def overlapping_runs(report: Report) -> Iterator[Finding]:
    """The only two rows or columns of a table whose single runs are there, and are mixed.

    Decided by their ranks: how many of all orders of as many values are as far from mixed.
    """
    sides = [samples for samples, _ in report.series] if report.tool == "table" else []
    if len(sides) != 2 or sides[0][0].unit != sides[1][0].unit:
        return
    if not all(LEAST_A_SIDE <= len(own) <= FEW for own in sides):
        return
    first, second = sides
    chance = _chance(first.values, second.values)
    if chance > SIGNIFICANT:
        words: dict[str, Any] = {"first": first[0], "second": second[0], "chance": chance}
        for name, own in (("first", first), ("second", second)):
            words |= {f"least_{name}": min(own.values), f"most_{name}": max(own.values)}
        yield finding("runs-overlap", words, about=[*first, *second])


def _chance(first: Sequence[float], second: Sequence[float]) -> float:
    """The two-sided p of the rank test of both, by all orders; 1 where all are alike."""
    values = [*first, *second]
    middle = len(first) * len(second) / 2
    pairs = [_above(part, values) for part in combinations(range(len(values)), len(first))]
    own = abs(_above(range(len(first)), values) - middle)
    return sum(abs(count - middle) >= own for count in pairs) / len(pairs)


def _above(places: Sequence[int], values: Sequence[float]) -> float:
    """How many pairs have the value of these places above one of the others; a tie is half."""
    others = [value for at, value in enumerate(values) if at not in places]
    return sum(
        1.0 if values[place] > other else 0.5 if values[place] == other else 0.0
        for place in places
        for other in others
    )
