"""undecided-ratio: comparisons of many benchmarks whose runs deviate by more than they change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from benchbook.explain.model import Report
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.compared import Compared, compared
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

LEAST_PAIRS = 3
NOISY = 0.05  # deviation ÷ mean, of the middle pair
MOSTLY = 0.5  # of the pairs


@rule
def noisy_pairs(reports: Sequence[Report]) -> Iterator[Finding]:
    """Pairs of pyperf most of which change by less than one deviation of their values.

    Decided by the printed deviations. Its test takes all values for independent; those that a
    changing clock or other work moved together are not.
    """
    of_values = [report for report in reports if report.tool == "pyperf"]
    pairs = [pair for pair in compared(of_values) if _share(pair) > 0]
    if len(pairs) < LEAST_PAIRS or median(map(_share, pairs)) < NOISY:
        return
    near = [pair for pair in pairs if abs(pair.percent) <= 100 * _share(pair)]
    if len(near) < MOSTLY * len(pairs):
        return
    widest = max(pairs, key=_share)
    words = {"near": len(near), "count": len(pairs), "first": near[0].new, "old": near[0].old}
    words |= {"widest": widest.new, "share": _share(widest), "own": _share(near[0])}
    yield finding("noisy-pairs", words, about=[pair.new for pair in near])


def _share(pair: Compared) -> float:
    """The larger deviation of the two sides, as a share of its mean; 0 where one is missing."""
    shares = [
        spread.base_value / figure.base_value
        for figure, spread in zip((pair.old, pair.new), pair.spreads, strict=True)
        if spread is not None and spread.statistic == "stddev"
    ]
    return max(shares) if len(shares) == len(pair.spreads) else 0.0
