"""What the two ends of a transfer told, beside each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from benchbook.explain.model import BOTH_WAYS, SUM, Report, Result
from benchbook.explain.rules.common.addresses import are_apart

TO_ALL = ("0.0.0.0", "::")  # addresses of a receiver that listens on each of its own


@dataclass
class Told:
    """The whole transfer of one stream, or of all (SUM), in one direction: by end and name."""

    stream: str
    by_end: dict[str, dict[str, Result]] = field(default_factory=dict)

    def of(self, end: str, name: str) -> Result | None:
        """A printed number of one end."""
        return self.by_end.get(end, {}).get(name)


def wholes(report: Report) -> list[Told]:
    """The totals of all streams together where both ends printed them, else of each stream."""
    sums, apart = _totals(report)
    in_sums, in_parts = (any("receiver" in told.by_end for told in some) for some in (sums, apart))
    return sums if sums and (in_sums or not in_parts) else apart


def each(report: Report) -> list[Told]:
    """The totals of each stream, of all together where there are no others."""
    sums, apart = _totals(report)
    return apart or sums


def _totals(report: Report) -> tuple[list[Told], list[Told]]:
    """Those of all streams together, and of each."""
    found: dict[tuple[str, str], Told] = {}
    for one in report.being("total"):
        stream, direction = str(one.of.get("stream", "")), str(one.of.get("direction", ""))
        key = (SUM if stream.startswith(SUM) else stream, direction)
        told = found.setdefault(key, Told(key[0]))
        told.by_end.setdefault(str(one.of.get("end", "")), {})[one.name] = one
    every = [told for told in found.values() if not told.stream.startswith(BOTH_WAYS)]
    sums = [told for told in every if told.stream == SUM]
    return sums, [told for told in every if told.stream != SUM]


def over_udp(reports: list[Report]) -> Iterator[Report]:
    """The reports of datagrams."""
    yield from (one for one in reports if one.facts.get("protocol") == "udp")


Heard = tuple[Report, Result]


def heard(reports: list[Report]) -> list[Heard]:
    """The receivers of messages that have a report of their own, each with its count."""
    ends = ((one, _messages(one, "receiver")) for one in over_udp(reports))
    return [(one, got) for one, got in ends if got]


def met(report: Report, receivers: list[Heard]) -> tuple[Result, Result] | None:
    """Messages that this sender sent, and those that the receiver got, where the log has one. It
    may have met others too, whose messages are in its count: fewer than this one sent are
    certainly a loss."""
    sent = _messages(report, "sender")
    if sent is None or len(receivers) != 1 or receivers[0][0] is report:
        return None
    other, got = receivers[0]
    addresses = report.facts.get("far_address"), other.facts.get("near_address")
    if report.tool != other.tool or (addresses[1] not in TO_ALL and are_apart(*addresses)):
        return None
    return sent, got


def _messages(report: Report, end: str) -> Result | None:
    """The one total of this end, if it printed one."""
    own = [
        one
        for one in report.called("messages")
        if one.statistic == "total" and one.of.get("end") == end
    ]
    return own[0] if len(own) == 1 and own[0].value > 0 else None
