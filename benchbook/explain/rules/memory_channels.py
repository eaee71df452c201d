"""load-imbalance, machine-state: sockets and channels that pcm-memory shows without work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchbook.explain.model import Report
from benchbook.explain.results import by_columns
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

TOOL = "pcm-memory"
FAR_MORE = 20.0  # on one socket, as a multiple of the other
LEAST_MB = 2000.0  # a second: what an idle machine has not


@rule
def channels_of_sockets(reports: Sequence[Report]) -> Iterator[Finding]:
    """A socket with nearly all the traffic, and channels that are left out of a listing."""
    runs = [report for report in reports if report.tool == TOOL]
    for report in runs:
        sides = by_columns(report.called("channel reads"), ("socket",))
        if len(sides) == 2:
            (_, low), (_, high) = sorted(sides.items(), key=lambda side: sum(side[1].values))
            least, most = sum(low.values), sum(high.values)
            # Of a listing that was cut both have the same channels.
            same = low.column("channel") == high.column("channel")
            if same and most >= LEAST_MB and most > FAR_MORE * max(least, 0.0):
                words = {"high": high[0], "low": low[0], "socket": high[0].of["socket"]}
                yield finding("traffic-of-one-socket", words, other=low[0].of["socket"])
                break
    for report in runs:
        of_first = [own for own in report.called("channel reads") if own.of.get("socket") == 0]
        numbers = [own.of["channel"] for own in of_first]
        gaps = sorted(set(range(max(numbers, default=-1) + 1)) - set(numbers))
        if gaps and len(numbers) > 1:
            missing = ", ".join(map(str, gaps))
            yield finding(
                "channels-left-out", first=of_first[0], last=of_first[-1], missing=missing
            )
            return
