"""settings-apart, percentiles: tables by the size of messages that differ from each other, and
figures of a row that are of different things."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from benchbook.explain.model import Report, Result
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding

TOOLS = ("osu", "imb", "perftest", "netperf")
LEAST_SIZES, APART = 4, 1.5
MANY_SIZES, LESS_APART = 6, 1.1
COLUMN = "message_bytes"
SETTINGS = ("test", "processes", "datatype", "direction", "device_buffers")


@rule
def tables_apart(reports: Sequence[Report]) -> Iterator[str]:
    """A note on two tables of one test of which one is worse at every size that both have."""
    own = [report for report in reports if report.tool in TOOLS]
    for first, second in pairwise(own):
        if first.tool != second.tool or _settings(first) != _settings(second):
            continue
        if first.tool == "imb" and not first.facts.get("test"):
            continue  # they may be of two tests
        before, after = _by_size(first), _by_size(second)
        sizes = sorted(before.keys() & after.keys())
        ratios = [after[size].base_value / before[size].base_value for size in sizes]
        apart = LESS_APART if len(sizes) >= MANY_SIZES else APART
        if len(sizes) < LEAST_SIZES or not (max(ratios) <= 1 / apart or min(ratios) >= apart):
            continue
        far = max(sizes, key=lambda size: max(_ratio(before[size], after[size]), 1e-9))
        words = {"first": before[far], "second": after[far], "count": len(sizes)}
        words |= {"times": _ratio(before[far], after[far]), "size": far}
        yield finding("tables-apart", words).explanation
        return


def _ratio(first: Result, second: Result) -> float:
    """How many times the larger is the smaller."""
    values = sorted((first.base_value, second.base_value))
    return values[1] / values[0]


def _settings(report: Report) -> list[str]:
    return [str(report.facts.get(name)) for name in SETTINGS]


def _by_size(report: Report) -> dict[int, Result]:
    """The figure that the table is of, by the size of its messages."""
    means = [own for own in report.results if own.statistic in ("", "mean") and own.is_positive]
    sized = [own for own in means if isinstance(own.of.get(COLUMN), int)]
    if not sized:
        return {}
    name, unit = sized[0].name, sized[0].unit
    return {own.of[COLUMN]: own for own in sized if (own.name, own.unit) == (name, unit)}


@rule
def columns_of_collectives(report: Report) -> Iterator[str]:
    """A note on a percentile above the maximum of its row: each is of something else."""
    if report.tool != "osu":
        return
    for most in report.being("max"):
        for far in report.being("p99"):
            if far.line == most.line and far.value > most.value:
                yield finding("over-ranks", most=most, far=far).explanation
                return
