"""speedtest: Ookla's client, with the latency under load, and speedtest-cli."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.load_lines import NUMBER

TOOL = "speedtest"
_BEGINS = late(r"^(?:Speedtest by Ookla|Retrieving speedtest\.net (?:configuration|server list))")
_IDLE = late(
    rf"^(?:Idle )?Latency: +(?P<time>{NUMBER}) ms\b"
    rf"(?: +\((?:(?P<old>{NUMBER}) ms jitter|jitter: (?P<jitter>{NUMBER}) ?ms, "
    rf"low: (?P<low>{NUMBER}) ?ms, high: (?P<high>{NUMBER}) ?ms)\))?"
)
_USED = late(rf"\(data used: (?P<size>{NUMBER}) (?P<unit>[kKMG]?B)\)")
_HOSTED = late(rf"^Hosted by \S.{{0,120}}: (?P<time>{NUMBER}) ms$")
_RATE = late(
    rf"^(?P<way>Download|Upload): +(?P<rate>{NUMBER}) ?(?P<unit>[KMG])(?:bps|bit/s|bits/s)\b"
)
_LOADED = late(
    rf"^(?P<time>{NUMBER}) ms +\(jitter: (?P<jitter>{NUMBER})ms, low: (?P<low>{NUMBER})ms, "
    rf"high: (?P<high>{NUMBER})ms\)$"
)
_LOSS = late(rf"^Packet Loss: +(?P<loss>{NUMBER})%$")
_UNITS = {"K": "kbit/s", "M": "Mbit/s", "G": "Gbit/s"}


_OF_FAILURE_MS = 600_000  # what one of its three connections adds to the mean


@dataclass
class _Run(Run):
    """One start."""

    way: str = ""
    ways: int = 0

    def finish(self) -> bool:
        """Whether it has a rate and a latency, or both rates: others print such words as well."""
        names = {result.name for result in self.results}
        return "throughput" in names and (len(names) > 1 or self.ways > 1)


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if _BEGINS.match(text):
        reading.begin()
    elif found := _IDLE.match(text) or _HOSTED.match(text):
        run = reading.begin() if run.results else run
        run.line = run.line or reading.line.number
        if float(found["time"]) >= _OF_FAILURE_MS:
            run.notes.append(
                f"line {reading.line.number}: {found['time']} ms is no latency. speedtest-cli "
                "counts an hour for each test connection that failed, and prints a mean of them"
            )
            return
        reading.add("idle latency", found["time"], "ms", "mean")
        parts = found.groupdict()
        reading.show("idle jitter", parts.get("old") or parts.get("jitter"), "ms")
        for statistic, group in (("min", "low"), ("max", "high")):
            reading.show("idle latency", parts.get(group), "ms", statistic)
    elif found := _RATE.match(text):
        run.way, run.ways = found["way"].lower(), run.ways + 1
        of: dict[str, Any] = {"direction": run.way}
        reading.add("throughput", found["rate"], _UNITS[found["unit"]], "mean", of)
        if used := _USED.search(text):
            reading.show("data used", used["size"], used["unit"].replace("KB", "kB"), of=of)
    elif run.way and (found := _LOADED.match(text)):
        of = {"direction": run.way}
        for statistic, group in (("mean", "time"), ("min", "low"), ("max", "high")):
            reading.add("time under load", found[group], "ms", statistic, of)
        reading.show("jitter under load", found["jitter"], "ms", of=of)
    elif run.results and (found := _LOSS.match(text)):
        reading.add("loss", found["loss"], "%")


read = LineReader(TOOL, _Run, _line)
