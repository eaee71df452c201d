"""Notes on transfers that lose segments all the time at a rate that hardly changes."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from benchbook.explain.addresses import stays_in_host
from benchbook.explain.model import SUM, Report, Result
from benchbook.explain.rules import rule

LEAST_INTERVALS, MOST_OF, AGAIN_EACH_S = 5, 0.8, 20.0
STEADY = 1.1  # the larger ÷ the smaller of the middle rates
# What Ethernet and its usual tunnels carry of TCP, in bit/s: a full link loses as well.
LINKS = (1e7, 1e8, 1e9, 2.5e9, 5e9, 1e10, 2.5e10, 4e10, 5e10, 1e11, 2e11, 4e11)
FULL = (0.88, 1.01)


@rule
def losses_all_the_time(report: Report) -> Iterator[str]:
    """A note on a rate that stays the same while segments are lost in nearly every interval, and
    that is none of a full link of Ethernet: something drops what is above it."""
    if report.tool != "iperf3" or report.facts.get("protocol") != "tcp" or stays_in_host(report):
        return
    rates = _of_intervals(report, "throughput")
    again = {own.line: own for own in _of_intervals(report, "retransmits")}
    if len(rates) < LEAST_INTERVALS or len(again) < LEAST_INTERVALS:
        return
    lost = [
        own.value / float(own.of.get("elapsed_s") or 1.0)
        for rate in rates
        if (own := again.get(rate.line))
    ]
    often = [count for count in lost if count >= AGAIN_EACH_S]
    values = sorted(rate.base_value for rate in rates if rate.is_positive)
    if len(values) < len(rates) or len(often) < MOST_OF * len(rates):
        return
    edge = len(values) // 5
    low, middle, high = values[edge], statistics.median(values), values[-1 - edge]
    if high > STEADY * low or any(FULL[0] * link <= middle <= FULL[1] * link for link in LINKS):
        return
    rate = min(rates, key=lambda own: abs(own.base_value - middle))
    some = sum(count > 0 for count in lost)
    yield (
        f"line {rate.line}: in {some} of {len(rates)} intervals segments are sent again, "
        f"{statistics.median(lost):,.0f} a second in a typical one, and the rate stays near "
        f"{rate.value:g} {rate.unit}. So most likely something drops what is above that rate. "
        "That may be a policer on the way, a short queue, or a core or card that is full."
        f"{_window(report, middle)}"
    )


def _of_intervals(report: Report, name: str) -> list[Result]:
    """What is of all streams, in each interval."""
    own = [result for result in report.called(name) if result.statistic == "interval"]
    sums = [result for result in own if report.column(result, "stream") == SUM]
    return sums or (own if report.facts.get("streams", 1) == 1 else [])


def _window(report: Report, bits_per_s: float) -> str:
    """What the windows make of the rate, in words."""
    windows = [own.base_value for own in _of_intervals(report, "congestion window")]
    windows = [value for value in windows if value > 0]
    if len(windows) < LEAST_INTERVALS:
        return ""
    low, high = min(windows) / 1024, max(windows) / 1024
    trip_ms = 8e3 * statistics.median(windows) / bits_per_s
    return (
        f" The losses keep the window at {low:,.0f} to {high:,.0f} KiB, which is that rate at a "
        f"round trip of {trip_ms:,.2g} ms"
    )
