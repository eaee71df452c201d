"""Notes on rates next to the link that somebody names in words."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.core.number_format import bit_rate, number
from benchbook.explain.addresses import stays_in_host
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report
from benchbook.explain.rules import rule
from benchbook.explain.rules.transfers_apart import main_rate

BELOW, ABOVE = 0.7, 1.05  # of the link that somebody names
_INTERFACE = late(r"(?:eth|en[sopx]?|wlan|wl|bond|br)[a-z]{0,4}\d\w{0,12}")


@rule
def link_in_words(report: Report) -> Iterator[str]:
    """A note on a rate far below the link that somebody names in words, or above it."""
    link, line = (report.facts.get(name) for name in ("said_link_bits_per_s", "said_link_line"))
    if not link or stays_in_host(report) or "link_bits_per_s" in report.facts:
        return
    if report.tool == "text":
        named = [
            own
            for own in report.results
            if own.rate and _INTERFACE.fullmatch(str(own.of.get("label") or ""))
        ]
        rate = max(named, key=lambda own: own.rate or 0.0, default=None)
    else:
        rate = main_rate(report) if report.facts.get("protocol") != "udp" else None
    if rate is None or "direction" in report.columns:
        return
    share = 8 * (rate.rate or 0.0) / link
    if share >= ABOVE and not report.facts.get("streams", 1) > 1:
        yield (
            f"line {rate.line}: {rate.value:g} {rate.unit} is {number(share)} times what the link "
            f"of {bit_rate(link)} in line {line} carries. So it did not go over that link, or the "
            "figure is wrong"
        )
    elif share <= BELOW and report.tool != "text":
        yield (
            f"line {rate.line}: {rate.value:g} {rate.unit} is {100 * share:.3g} % of the link of "
            f"{bit_rate(link)} that line {line} names. If the whole way is as fast, something "
            "else holds it: one core, a window, losses, or a limit on the way"
        )
