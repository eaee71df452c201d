"""inconsistent-report: claims below rates of JavaScript and Ruby that compare with the slowest."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.model import Report, Result
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding

TOOLS = ("benchmark.js", "tinybench", "vitest-bench", "benchmark-ips")
NEAR = 0.02  # of the ratio
LEAST_ROWS = 3


@rule
def faster_than_the_slowest(report: Report) -> Iterator[str]:
    """A note on a per cent that compares the fastest with the slowest of several rates."""
    claims = report.facts.get("claims", ())
    rates = [own for own in report.being("mean") if own.unit == "operations/s" and own.is_positive]
    if report.tool not in TOOLS or len(rates) < LEAST_ROWS:
        return
    ranked = sorted(rates, key=lambda own: own.value, reverse=True)
    for value, is_percent, _, _, line in claims:
        told = 1 + value / 100 if is_percent else value
        if abs(_ratio(ranked[0], ranked[-1]) / told - 1) > NEAR:
            continue
        if abs(_ratio(ranked[0], ranked[1]) / told - 1) > NEAR:
            words = {"first": ranked[0], "last": ranked[-1], "second": ranked[1], "line": line}
            words |= {"share": _ratio(ranked[0], ranked[1]) - 1}
            yield finding("faster-than-the-slowest", words).explanation
            return


def _ratio(first: Result, second: Result) -> float:
    return first.value / second.value
