"""undecided-ratio, inconsistent-report: comparisons of two builds of which one side scatters far
more, and geometric means that their rows do not bear out."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any, NamedTuple

from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.compared import Compared, compared
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

TOOLS = (
    "asv", "go-bench", "pyperf", "nvbench", "benchmark.js", "cargo-bench", "benchmark-action",
)  # fmt: skip
WIDE = 0.08  # spread ÷ figure of the side that scatters, of the middle pair
TIMES = 4.0  # spread of that side ÷ spread of the other
LEAST = 0.004  # half of the last digit of a spread in whole per cent


class _Spread(NamedTuple):
    """A pair with the spreads of both sides as shares."""

    pair: Compared
    old: float
    new: float


@rule
def one_side_scatters(reports: Sequence[Report]) -> Iterator[Finding]:
    """Pairs of which the runs of one side lie apart far more than those of the other.

    Decided by the printed spreads of the pairs in the middle: then both sides did not see the same
    machine, or the code of one takes one of several ways.
    """
    own = [report for report in reports if report.tool in TOOLS]
    pairs = list(compared(own))
    timed = [pair for pair in pairs if pair.old.is_time] or pairs
    spreads = [spread for pair in timed if (spread := _spreads(pair)) is not None]
    if not spreads:
        return
    for side, other in (("new", "old"), ("old", "new")):
        wide = median(float(getattr(spread, side)) for spread in spreads)
        narrow = median(float(getattr(spread, other)) for spread in spreads)
        if wide >= WIDE and wide >= TIMES * max(narrow, LEAST):
            widest = max(spreads, key=lambda spread: float(getattr(spread, side)))
            figures = {"new": widest.pair.new, "old": widest.pair.old}
            words: dict[str, Any] = {"wide": figures[side], "narrow": figures[other]}
            words |= {"share": getattr(widest, side), "least": getattr(widest, other)}
            words |= {"count": len(spreads) if len(spreads) > 1 else None}
            words |= {
                "side": {"new": "second", "old": "first"}[side],
            }
            words |= {"middle": wide, "others": narrow}
            yield finding("one-side-scatters", words, about=list(figures.values()))
            return


def _spreads(pair: Compared) -> _Spread | None:
    if not (pair.old.is_time or pair.old.rate):
        return None
    shares = []
    for figure, spread in zip((pair.old, pair.new), pair.spreads, strict=True):
        percent = figure.of.get("spread_percent")
        if spread is not None and spread.is_number:
            shares.append(spread.base_value / figure.base_value)
        elif is_number(percent):
            shares.append(float(percent) / 100)
    return _Spread(pair, *shares) if len(shares) == 2 else None


SLACK = 0.01  # of a geometric mean, beyond the digits of its rows
LEAST_CHANGE = 0.5  # per cent


@rule
def geometric_means(report: Report) -> Iterator[Finding]:
    """Geometric means of a table none of whose rows differs, or that its rows do not make."""
    changes = [
        own
        for own in report.knowing("geometric_mean_of")
        if own.statistic == "change" and own.of.get("side") == "new"
    ]
    for change in changes:
        quantity = change.of.get("quantity")
        pairs = [
            (old, new)
            for old, new in _pairs(report)
            if new.of.get("quantity") == quantity and new.line < change.line
        ]
        tested = [new for _, new in pairs if "is_same" in new.of]
        if len(tested) != len(pairs) or not pairs:
            continue
        made = 100 * (math.exp(sum(_log(*pair) for pair in pairs) / len(pairs)) - 1)
        slack = SLACK + max(old.half / old.value + new.half / new.value for old, new in pairs)
        if abs(change.value - made) > 100 * slack * max(1.0, 1 + made / 100) + change.half:
            words: dict[str, Any] = {"change": change, "made": made, "count": len(pairs)}
            yield finding("geomean-of-others", words, about=[change])
            return
        elif all(new.of["is_same"] for new in tested) and abs(change.value) >= LEAST_CHANGE:
            yield finding("geomean-of-noise", change=change, count=len(pairs))
            return


def _pairs(report: Report) -> Iterator[tuple[Result, Result]]:
    olds: dict[tuple[str, object], Result] = {}
    for result in report.knowing("quantity"):
        if result.statistic not in ("mean", "median") or not result.is_positive:
            continue
        key = str(result.of.get("benchmark")), result.of.get("quantity")
        if result.of.get("build") == "old":
            olds[key] = result
        elif result.of.get("build") == "new" and key in olds:
            yield olds.pop(key), result


def _log(old: Result, new: Result) -> float:
    return math.log(new.base_value / old.base_value)


@rule
def failed_sides(report: Report) -> Iterator[str]:
    """A note on benchmarks that have no figure on one side."""
    failed = report.facts.get("failed_benchmarks")
    if failed:
        words = {"first": failed[0], "left": len(failed) - 1 or None}
        yield finding("failed-side", words).explanation
