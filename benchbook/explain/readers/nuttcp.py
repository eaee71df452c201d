"""nuttcp: what was moved in an interval or in all, over TCP or UDP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.load_lines import NUMBER

TOOL = "nuttcp"
_ROW = late(
    rf"^(?:nuttcp-t: |nuttcp-r: )?(?P<moved>{NUMBER}) MB /\s+(?P<time>{NUMBER}) sec =\s+"
    rf"(?P<rate>{NUMBER}) Mbps(?P<rest>.*)$"
)
_CPU = late(r"\b(?P<share>\d{1,3}) %(?P<end>TX|RX)\b")
_AGAIN = late(r"\b(?P<count>\d{1,12}) (?:host-)?retrans\b")
_TRIP = late(rf"\b(?P<time>{NUMBER}) msRTT\b")
_LOST = late(
    rf"\b(?P<lost>\d{{1,12}}) /\s+(?P<all>\d{{1,12}}) ~?drop/pkt\s+(?P<share>{NUMBER}) ~?%loss\b"
)
_ENDS = {"TX": "local", "RX": "remote"}


@dataclass
class _Run(Run):
    """One transfer."""

    intervals: int = 0
    is_over: bool = False


def _line(reading: Reading[_Run], text: str) -> None:
    found = _ROW.match(text)
    if found is None:
        return
    run, rest = reading.run, found["rest"]
    if run.is_over:
        run = reading.begin()
    run.line = run.line or reading.line.number
    took, lost = float(found["time"]), _LOST.search(rest)
    run.facts["protocol"] = "udp" if lost else run.facts.get("protocol", "tcp")
    shares = _CPU.findall(rest)
    run.is_over = bool(shares)
    of: dict[str, Any] = {"elapsed_s": took}
    statistic = "total" if run.is_over else "interval"
    if not run.is_over:
        of["interval"] = run.intervals
        run.intervals += 1
    end = {"end": "receiver"} if lost else {}
    reading.add("transferred", found["moved"], "MiB", statistic, of | end)
    reading.add("throughput", found["rate"], "Mbit/s", statistic, of | end)
    for share, name in shares:
        reading.add("CPU", share, "%", "", {"end": _ENDS[name]})
    if again := _AGAIN.search(rest):
        reading.add("retransmits", float(again["count"]), "segments", statistic, of)
    if trip := _TRIP.search(rest):
        reading.add("round trip", trip["time"], "ms", "mean")
    if lost:
        reading.add("lost datagrams", float(lost["lost"]), "datagrams", statistic, of | end)
        reading.add("datagrams", float(lost["all"]), "datagrams", statistic, of | end)
        reading.add("loss", lost["share"], "%", statistic, of | end)


read = LineReader(TOOL, _Run, _line)
