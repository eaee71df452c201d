"""ApacheBench (ab): rate, times of its connections, failures."""

from __future__ import annotations

from dataclasses import dataclass

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.load_lines import (
    COUNT,
    NUMBER,
    RATE,
    TIME,
    add_failed,
    host_of,
)

TOOL = "ab"
_IN_ITS_FORM = "a load test in the form of ab"
_HEAD = late(r"^This is ApacheBench, Version (?P<version>\S+)")
_COUNT = late(
    r"^(?P<what>Concurrency Level|Complete requests|Failed requests|Non-2xx responses"
    r"|Keep-Alive requests|Document Length): +(?P<count>\d{1,12})\b"
)
_HOST = late(r"^Server Hostname: +(?P<host>\S+)")
_BEGUN = late(r"^Benchmarking (?P<host>\S+) \(be patient\)")
_TOOK = late(rf"^Time taken for tests: +(?P<time>{NUMBER}) seconds")
_RATE = late(rf"^Requests per second: +(?P<rate>{NUMBER}) \[#/sec\]")
_EACH = late(rf"^Time per request: +(?P<time>{NUMBER}) \[ms\] \(mean\)")
_MOVED = late(rf"^Transfer rate: +(?P<rate>{NUMBER}) \[Kbytes/sec\] received")
_LENGTHS = late(
    r"^\(Connect: (?P<connect>\d+), Receive: (?P<receive>\d+), Length: (?P<length>\d+), "
    r"Exceptions: (?P<exceptions>\d+)\)$"
)
# In the form of ab, by a tool of another name: `weed benchmark` and others.
_OWN_TIMES = late(r"^min +avg +max +std$")
_OWN_TOTAL = late(
    rf"^Total: +(?P<min>{NUMBER}) +(?P<mean>{NUMBER}) +(?P<max>{NUMBER}) +(?P<stddev>{NUMBER})$"
)
_OWN_MOVED = late(rf"^Transfer rate: +(?P<rate>{NUMBER}) \[Kbytes/sec\]$")
_TOTAL = late(
    rf"^Total: +(?P<min>\d+) +(?P<mean>\d+) +(?P<stddev>{NUMBER}) +(?P<median>\d+) +(?P<max>\d+)\b"
)
_PART = late(
    rf"^(?P<what>Connect|Processing|Waiting): +(?P<min>\d+) +(?P<mean>\d+) +"
    rf"(?P<stddev>{NUMBER}) +(?P<median>\d+) +(?P<max>\d+)\b"
)
_PARTS = {"Connect": "time to connect", "Processing": "processing", "Waiting": "waiting"}
_BYTES = late(r"^(?P<what>Total|HTML) transferred: +(?P<bytes>\d{1,18}) bytes")
_ACROSS = late(rf"^Time per request: +(?P<time>{NUMBER}) \[ms\] \(mean, across all")
_SHARE = late(r"^(?P<share>66|75|80|90|95|98|99)% +(?P<time>\d+(?:\.\d+)?)\b")
_HALF = late(r"^50% +(?P<time>\d+(?:\.\d+)?) ms$")
_FACTS = {"Concurrency Level": "concurrency", "Document Length": "response_bytes"}
_OF_TIMES = ("min", "mean", "stddev", "median", "max")


@dataclass
class _Run(Run):
    """One start."""

    failed: int = 0
    of_shares: bool = False
    is_other: bool = False  # a tool that only prints in the form of ab

    def report(self, tool: str) -> Report:
        """What it printed, under the name of ab where no other tool prints so."""
        return super().report(_IN_ITS_FORM if self.is_other else tool)


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if found := _HEAD.match(text):
        reading.begin(version=found["version"])
    elif found := _BEGUN.match(text) or _HOST.match(text):
        run.facts["served_at"] = host_of(found["host"])
    elif found := _COUNT.match(text):
        _counted(reading, found["what"], int(found["count"]))
    elif found := _LENGTHS.match(text):
        if run.failed and int(found["length"]) == run.failed:
            run.facts["only_lengths_differ"] = True
    elif _OWN_TIMES.match(text):
        run.is_other = True
    elif run.is_other and (found := _OWN_TOTAL.match(text)):
        for statistic in ("min", "mean", "max", "stddev"):
            reading.add(TIME, found[statistic], "ms", statistic)
    elif found := _OWN_MOVED.match(text):
        reading.show("throughput", found["rate"], "Kbyte/s")
    elif found := _TOOK.match(text):
        run = reading.begin() if any(own.name == RATE for own in run.results) else run
        run.facts["elapsed_s"] = float(found["time"])
    elif found := _RATE.match(text):
        run = reading.begin() if any(own.name == RATE for own in run.results) else run
        reading.add(RATE, found["rate"], "requests/s", "mean")
    elif found := _EACH.match(text):
        reading.add("time per request", found["time"], "ms", "mean")
    elif found := _MOVED.match(text):
        reading.add("throughput", found["rate"], "KiB/s", "mean")
    elif found := _TOTAL.match(text):
        for statistic in _OF_TIMES:
            reading.add(TIME, found[statistic], "ms", statistic)
    elif found := _PART.match(text):
        name = _PARTS[found["what"]]
        if found["what"] == "Connect":
            reading.add(name, found["mean"], "ms", "mean")
        for statistic in _OF_TIMES:
            if statistic != "mean" or found["what"] != "Connect":
                reading.show(name, found[statistic], "ms", statistic)
    elif found := _BYTES.match(text):
        name = "transferred" if found["what"] == "Total" else "of it HTML"
        reading.show(name, float(found["bytes"]), "B")
    elif found := _ACROSS.match(text):
        reading.show("time per request, across all at a time", found["time"], "ms")
    elif text.startswith("Percentage of the requests served"):
        run.of_shares = True
    elif run.is_other and run.of_shares and (found := _HALF.match(text)):
        reading.add(TIME, found["time"], "ms", "median")
    elif run.of_shares and (found := _SHARE.match(text)):
        reading.add(TIME, found["time"], "ms", f"p{found['share']}")


def _counted(reading: Reading[_Run], what: str, count: int) -> None:
    run = reading.run
    if what in _FACTS:
        if any(own.name == RATE for own in run.results):
            run = reading.begin()  # what stands above its rate is of the next one
        run.facts[_FACTS[what]] = count
    elif what == "Complete requests":
        reading.add(COUNT, float(count), "requests", "total")
    elif what == "Keep-Alive requests":
        run.facts["keeps_connections"] = count > 0
    else:
        if count:
            run.facts["failed_are_counted"] = True
        run.failed = count if what == "Failed requests" else run.failed
        kind = "failed" if what == "Failed requests" else "status"
        add_failed(reading, float(count), kind)


read = LineReader(TOOL, _Run, _line)
