"""two-groups: what the percentiles of one set of times show of its shape."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.explain.rules.common.latencies import NAMES
from benchbook.findings import Finding

_SHARE = late(r"^p(\d+(?:\.\d+)?)$")
GAP = 6.0  # from one printed percentile to the next
FLAT = 4.0  # of the times on either side: last ÷ first
LEAST_SHARE = 10.0  # per cent of the times in either group
LONG_NS = 1e5
FAR_SHARES, BEYOND = (
    {90.0: "nine of ten", 95.0: "nineteen of twenty"},
    1.05,
)  # the mean ÷ that percentile


def _percentiles(report: Report) -> dict[str, list[tuple[float, Result]]]:
    """By name, its percentiles in their order, with their shares in per cent."""
    by_name: dict[str, list[tuple[float, Result]]] = {}
    for (name, statistic, _), several in report.groups.items():
        match: re.Match[str] | None = _SHARE.match("p50" if statistic == "median" else statistic)
        if match and len(several) == 1 and several[0].is_time and several[0].is_positive:
            by_name.setdefault(name, []).append((float(match[1]), several[0]))
    return {name: sorted(own, key=lambda pair: pair[0]) for name, own in by_name.items()}


@rule
def two_groups(report: Report) -> Iterator[Finding]:
    """Times of two groups: the percentiles are flat, jump once, and are flat again."""
    for name, own in _percentiles(report).items():
        middle = [(share, time) for share, time in own if share <= 100 - LEAST_SHARE / 2]
        for at, ((below, fast), (above, slow)) in enumerate(pairwise(middle)):
            before, after = middle[: at + 1], middle[at + 1 :]
            if min(len(before), len(after)) < 2 or not LEAST_SHARE <= below <= 100 - LEAST_SHARE:
                continue
            jump = slow.base_value / fast.base_value
            low = [time for share, time in before if share >= LEAST_SHARE]
            high = [time for _, time in after]
            are_flat = low and all(
                side[-1].base_value <= FLAT * side[0].base_value for side in (low, high)
            )
            if jump >= GAP and are_flat and slow.base_value >= LONG_NS:
                words = {"fast": fast, "slow": slow, "jump": jump, "name": name}
                yield finding("two-groups", words, below=below, above=above)
                break


def _too_low(
    own: list[tuple[float, Result]], mean: Result, most: Result
) -> tuple[float, Result, float] | None:
    """The highest percentile, its share and the largest mean in ns that it and the longest time
    allow, where the mean is above that."""
    share, top = own[-1]
    below = share / 100
    bound_ns = below * top.base_value + (1 - below) * most.base_value
    return (share, top, bound_ns) if mean.base_value > BEYOND * bound_ns else None


BELOW_HALF = 0.45  # of the median: half of all times are as long at least


@rule
def mean_below_median(report: Report) -> Iterator[Finding]:
    """A mean of times below half of their median, as no times have it."""
    for name, own in _percentiles(report).items():
        median = next((time for share, time in own if share == 50.0), None)
        mean = report.only(name, "mean") if median else None
        if median is None or mean is None or not mean.is_positive:
            continue
        if mean.base_value + mean.base_half < BELOW_HALF * median.base_value:
            words = {"mean": mean, "median": median, "what": name}
            yield finding("mean-below-half", words)
            return


OF_MEDIANS = "microbenchmark"  # whose means are judged by its medians
CLEARLY = 1.01  # mean ÷ percentile, in tables of few digits


def _is_above(mean: Result, quarter: Result) -> bool:
    apart = mean.base_value - quarter.base_value
    return apart > mean.base_half + quarter.base_half and (
        mean.base_value > CLEARLY * quarter.base_value
    )


@rule
def mean_above_most(report: Report) -> Iterator[Finding | str]:
    """A finding for a mean above nine tenths of the times, a note for one above three quarters."""
    for name, own in _percentiles(report).items():
        quarter = [time for share, time in own if share == 75.0]
        far = [(time, FAR_SHARES[share]) for share, time in own if share in FAR_SHARES]
        mean = report.only(name, "mean") if quarter or far else None
        beyond = [pair for pair in far if mean and mean.base_value > BEYOND * pair[0].base_value]
        is_other = name in NAMES or name.startswith("time ")  # which have rules of their own
        most = report.only(name, "max")
        if mean and most and (found := _too_low(own, mean, most)):
            share, top, bound_ns = found
            words = {"mean": mean, "far": top, "most": most, "name": name, "share": share}
            times = {"mean_s": mean, "far_s": top, "most_s": most}
            words |= {word: time.base_value / 1e9 for word, time in times.items()}
            yield finding("mean-beyond-percentiles", words, bound_s=bound_ns / 1e9)
        elif mean and beyond and not is_other:
            words = {"mean": mean, "far": beyond[-1][0], "most": most, "name": name}
            words["part"] = beyond[-1][1]
            yield finding("mean-beyond-p90", words, about=[mean])
        elif mean and quarter and report.tool != OF_MEDIANS and _is_above(mean, quarter[0]):
            yield (
                f"line {mean.line}: the mean of {name} is {mean.value:g} {mean.unit}, and three "
                f"quarters of the times are below it ({quarter[0].value:g}). Some long ones make "
                "it: quote the median and a high percentile"
            )
