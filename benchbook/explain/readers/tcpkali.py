"""tcpkali: what it sent and received over its connections, and how long the messages took."""

from __future__ import annotations

from dataclasses import dataclass

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "tcpkali"
_N = r"\d{1,12}(?:\.\d{1,4})?"
_BEGINS = late(r"^Ramped up to (?P<connections>\d{1,9}) connections\.$")
_TOTAL = late(r"^Total data (?P<way>sent|received): .{1,30} \((?P<count>\d{1,18}) bytes\)$")
_EACH = late(rf"^Bandwidth per channel: (?P<rate>{_N})⇅ Mbps")
_ALL = late(rf"^Aggregate bandwidth: (?P<received>{_N})↓, (?P<sent>{_N})↑ Mbps")
_PACKETS = late(rf"^Packet rate estimate: (?P<received>{_N})↓, (?P<sent>{_N})↑")
_TIMES = late(
    rf"^(?P<what>TCP connect|First byte|Message) latency at percentiles: \*{{0,2}}"
    rf"(?P<times>{_N}(?:/{_N}){{0,9}})\*{{0,2}}(?P<unit> ms)? \((?P<shares>[\d./]{{1,60}})%\)$"
)
_LASTED = late(rf"^Test duration: (?P<time>{_N}) s\.$")


@dataclass
class _Run(Run):
    """One test."""

    def finish(self) -> bool:
        """Its rates in both directions are what it is known by."""
        return any(own.name == "bandwidth received" for own in self.results)


def _line(reading: Reading[_Run], text: str) -> None:
    if found := _BEGINS.match(text):
        reading.begin(facts={"connections": int(found["connections"])})
    elif found := _TOTAL.match(text):
        reading.show(f"data {found['way']}", found["count"], "B")
    elif found := _EACH.match(text):
        reading.show("bandwidth of a connection", found["rate"], "Mbit/s", "mean")
    elif found := _ALL.match(text):
        for way in ("received", "sent"):
            reading.show(f"bandwidth {way}", found[way], "Mbit/s", "mean")
    elif found := _PACKETS.match(text):
        for way in ("received", "sent"):
            reading.show(f"estimated packets {way}", found[way], "packets/s", "mean")
    elif found := _TIMES.match(text):
        if found["unit"]:  # older versions print none
            several = zip(found["times"].split("/"), found["shares"].split("/"), strict=False)
            for time, share in several:
                reading.show(f"{found['what'].lower()} latency", time, "ms", f"p{share}")
    elif found := _LASTED.match(text):
        reading.show("duration", found["time"], "s")


read = LineReader(TOOL, _Run, _line)
