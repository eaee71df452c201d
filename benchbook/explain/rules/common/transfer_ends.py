"""What the two ends of a transfer told of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from benchbook.explain.addresses import are_apart
from benchbook.explain.model import BOTH_WAYS, SUM, Report, Result

TO_ALL = ("0.0.0.0", "::")  # addresses of a receiver that listens on each of its own
Counted = tuple[Report, Result]


@dataclass
class Ends:
    """The whole transfer of one stream, or of all (SUM), in one direction: by end and name."""

    stream: str
    by_end: dict[str, dict[str, Result]] = field(default_factory=dict)

    def of(self, end: str, name: str) -> Result | None:
        """A printed number of one end."""
        return self.by_end.get(end, {}).get(name)


def ends_of_transfer(report: Report) -> list[Ends]:
    """The totals of all streams together where both ends printed them, else of each stream."""
    sums, apart = _totals(report)
    in_sums, in_parts = (any("receiver" in ends.by_end for ends in some) for some in (sums, apart))
    return sums if sums and (in_sums or not in_parts) else apart


def ends_of_streams(report: Report) -> list[Ends]:
    """The totals of each stream, of all together where there are no others."""
    sums, apart = _totals(report)
    return apart or sums


def _totals(report: Report) -> tuple[list[Ends], list[Ends]]:
    """Those of all streams together, and of each."""
    by_stream: dict[tuple[str, str], Ends] = {}
    for total in report.being("total"):
        stream, direction = str(total.of.get("stream", "")), str(total.of.get("direction", ""))
        key = (SUM if stream.startswith(SUM) else stream, direction)
        ends = by_stream.setdefault(key, Ends(key[0]))
        ends.by_end.setdefault(str(total.of.get("end", "")), {})[total.name] = total
    every = [ends for ends in by_stream.values() if not ends.stream.startswith(BOTH_WAYS)]
    sums = [ends for ends in every if ends.stream == SUM]
    return sums, [ends for ends in every if ends.stream != SUM]


def over_udp(reports: list[Report]) -> Iterator[Report]:
    """The reports of datagrams."""
    yield from (report for report in reports if report.facts.get("protocol") == "udp")


def counted_by_receivers(reports: list[Report]) -> list[Counted]:
    """The receivers of messages that have a report of their own, each with its count."""
    counts = ((report, _messages(report, "receiver")) for report in over_udp(reports))
    return [(report, got) for report, got in counts if got]


def met(report: Report, receivers: list[Counted]) -> tuple[Result, Result] | None:
    """Messages that this sender sent, and those that the receiver got, where the log has one. It
    may have met others too, whose messages are in its count: fewer than this one sent are
    certainly a loss."""
    sent = _messages(report, "sender")
    if sent is None or len(receivers) != 1 or receivers[0][0] is report:
        return None
    receiver, got = receivers[0]
    addresses = report.facts.get("far_address"), receiver.facts.get("near_address")
    if report.tool != receiver.tool or (addresses[1] not in TO_ALL and are_apart(*addresses)):
        return None
    return sent, got


def _messages(report: Report, end: str) -> Result | None:
    """The one total of this end, if it printed one."""
    own = [
        row
        for row in report.called("messages")
        if row.statistic == "total" and row.of.get("end") == end
    ]
    return own[0] if len(own) == 1 and own[0].value > 0 else None
