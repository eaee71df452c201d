"""Programs that time the kernel's scheduler: cyclictest, schbench, hackbench, perf bench."""

from __future__ import annotations

from dataclasses import dataclass

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log, Report
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "cyclictest"
_N = r"\d{1,12}(?:\.\d{1,9})?"
_CYCLIC = late(
    r"^T: ?(?P<thread>\d{1,4}) \( ?\d{1,9}\) P: ?\d{1,3} I: ?(?P<interval>\d{1,9}) "
    r"C: +(?P<count>\d{1,12}) Min: +(?P<min>\d{1,9}) Act: +\d{1,9} Avg: +(?P<avg>\d{1,9}) "
    r"Max: +(?P<max>\d{1,9})$"
)
_IN_NS = late(r"\bcyclictest\b.{0,200} (?:--nsecs|-[a-zA-MO-Z]{0,9}N)\b")
_CLASS = late(
    r"^(?P<what>Wakeup Latencies|Request Latencies|RPS|Latency) percentiles "
    r"\((?P<unit>usec|requests)\)"
)
_CLASSES = {"Wakeup Latencies": "wakeup latency", "Request Latencies": "request latency"}
_SHARE = late(r"^\*? ?(?P<share>\d{1,2}\.\d{1,4})(?:th)?: (?P<value>\d{1,12})(?:\s+\(.{1,40}\))?$")
_ENDS = late(r"^min=(?P<min>\d{1,12}), max=(?P<max>\d{1,12})$")
_RATE = late(rf"^average rps: (?P<rate>{_N})$")
_HACK = late(
    r"^Running (?:in (?P<mode>process|thread|threaded) mode )?with .{1,80}== (?P<n>\d+) tasks"
)
_TIME = late(rf"^Time: (?P<time>{_N})$")
_BENCH = late(r"^# Running '?(?P<what>[a-z][\w/-]{1,40})'? benchmark")
_PART = late(r"^# (?:function|Memory function|method) '?(?P<what>[\w-]{1,40})'?")
_TOTAL = late(rf"^Total time: (?P<time>{_N}) \[sec\]")
_EACH = late(rf"^(?P<value>{_N}) (?P<unit>usecs/op|ops/sec|(?:bytes|KB|MB|GB)/sec)$")
_UNITS = {
    "usecs/op": ("time of an operation", "us"), "ops/sec": ("operations", "operations/s"),
    "bytes/sec": ("rate", "B/s"), "KB/sec": ("rate", "KiB/s"), "MB/sec": ("rate", "MiB/s"),
    "GB/sec": ("rate", "GiB/s"),
}  # fmt: skip


def _cyclic(reading: Reading[Run], text: str) -> None:
    if text.startswith("T:") and (found := _CYCLIC.match(text)):
        name = f"thread {found['thread']}"
        if found["thread"] == "0" and reading.run.results:
            reading.begin()
        for column, statistic in (("min", "min"), ("avg", "mean"), ("max", "max")):
            reading.show(name, found[column], "us", statistic)


@dataclass
class _Scheduled(Run):
    """A report of schbench, which it prints again and again."""

    what: str = ""
    unit: str = "1"


def _schbench(reading: Reading[_Scheduled], text: str) -> None:
    run = reading.run
    if found := _CLASS.match(text):
        what = _CLASSES.get(found["what"], found["what"])
        if not run.line or any(own.name == what for own in run.results):
            run = reading.begin()
        run.what, run.unit = what, "us" if found["unit"] == "usec" else "requests/s"
    elif run.what and (found := _SHARE.match(text)):
        reading.show(run.what, found["value"], run.unit, f"p{float(found['share']):g}")
    elif run.what and (found := _ENDS.match(text)):
        for column in ("min", "max"):
            reading.show(run.what, found[column], run.unit, column)
    elif run.what and (found := _RATE.match(text)):
        reading.show("requests", found["rate"], "requests/s", "mean")


class _Hacked(Run):
    """One start of hackbench."""


def _hackbench(reading: Reading[_Hacked], text: str) -> None:
    if found := _HACK.match(text):
        facts = {"tasks": int(found["n"])} | ({"mode": found["mode"]} if found["mode"] else {})
        reading.begin(facts=facts)
    elif reading.run.line and not reading.run.results and (found := _TIME.match(text)):
        reading.show("time", found["time"], "s")


class _Benched(Run):
    """One benchmark of perf bench, or one of its functions."""


def _perf_bench(reading: Reading[_Benched], text: str) -> None:
    run = reading.run
    if found := _BENCH.match(text):
        reading.begin(facts={"test": found["what"]})
    elif run.line and (found := _PART.match(text)):
        if run.results or "operation" in run.facts:
            run = reading.begin(facts={"test": run.facts["test"]})
        run.facts["operation"] = found["what"]
    elif run.line and (found := _TOTAL.match(text)):
        reading.show("total time", found["time"], "s")
    elif run.line and (found := _EACH.match(text)):
        name, unit = _UNITS[found["unit"]]
        reading.show(name, found["value"], unit)


_OF_CYCLICTEST = LineReader("cyclictest", Run, _cyclic, lines=lambda log: log.having("T:"))
_OF_SCHBENCH = LineReader("schbench", _Scheduled, _schbench)
_OF_HACKBENCH = LineReader("hackbench", _Hacked, _hackbench)
_OF_PERF_BENCH = LineReader("perf bench", _Benched, _perf_bench)


def read(log: Log) -> list[Report]:
    """One report for each start of each of the programs."""
    reports: list[Report] = []
    if log.has(" Act:") and not any(_IN_NS.search(line.text) for line in log.having("cyclictest")):
        reports += _OF_CYCLICTEST(log)
    if log.has("percentiles (usec)"):
        reports += _OF_SCHBENCH(log)
    if log.has(" tasks)"):
        reports += _OF_HACKBENCH(log)
    return reports + (_OF_PERF_BENCH(log) if log.has("# Running ") else [])
