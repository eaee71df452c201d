"""above-ceiling, far-below-link: rates of sentences next to the peak that these name."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.model import Report, Result
from benchbook.explain.results import grouped
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

ABOVE = 1.02  # times the peak, which is rounded
FAR_BELOW = 0.5
_FLOPS = {"Tflop/s": 1e12, "Gflop/s": 1e9}


@rule
def rate_by_stated_peak(report: Report) -> Iterator[Finding | str]:
    """A rate above the peak that its sentence names, and one far below it."""
    if report.tool != "text" or not report.has("stated peak"):
        return
    for own in grouped(report.results, lambda result: result.of.get("benchmark")).values():
        named = {result.name: result for result in own}
        rate, peak = named.get("rate"), named.get("stated peak")
        if rate is None or peak is None or not rate.is_positive or not peak.is_positive:
            continue
        part = _in_base(rate) / _in_base(peak)
        words = {"rate": rate, "peak": peak, "part": part}
        if part > ABOVE:
            kind = "flops-above-peak" if rate.unit in _FLOPS else "rate-above-peak"
            yield finding(kind, words, about=[rate])
        elif part < FAR_BELOW:
            yield finding("rate-below-peak", words, about=[rate])
        else:
            yield (
                f"line {rate.line}: {rate.value:,.6g} {rate.unit} are {part:.0%} of the peak of "
                f"{peak.value:,.6g} {peak.unit} that stands next to it"
            )


def _in_base(result: Result) -> float:
    return result.value * _FLOPS.get(result.unit, 0.0) or result.rate or result.base_value
