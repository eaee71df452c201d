"""rados bench: its rate second by second, and the summary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.load_lines import NUMBER

TOOL = "rados-bench"
_ASKED = late(
    r"^Maintaining (?P<count>\d{1,6}) concurrent (?P<what>writes|reads)"
    r"(?: of (?P<bytes>\d{1,12}) bytes)?"
)
_HEAD = late(r"^sec Cur ops\s+started\s+finished\s+avg MB/s\s+cur MB/s\b")
_ROW = late(
    rf"^(?P<sec>\d{{1,6}})\s+\d{{1,6}}\s+\d+\s+\d+\s+{NUMBER}\s+(?P<rate>{NUMBER})\s+"
    rf"(?:-|{NUMBER})\s+{NUMBER}$"
)
_SUMMARY = late(
    r"^(?P<what>Total time run|Bandwidth \(MB/sec\)|(?:Average|Max|Min) IOPS"
    r"|Average Latency(?:\(s\))?|Max latency(?:\(s\))?|Min latency(?:\(s\))?"
    r"|Stddev Latency(?:\(s\))?):"
    rf"\s+(?P<value>-?{NUMBER})$"
)
_NAMES = {
    "Bandwidth (MB/sec)": ("throughput", "MiB/s", "mean"),
    "Average IOPS": ("operation rate", "operations/s", "mean"),
    "Max IOPS": ("operation rate", "operations/s", "max"),
    "Min IOPS": ("operation rate", "operations/s", "min"),
    "Average Latency": ("response time", "s", "mean"),
    "Max latency": ("response time", "s", "max"),
    "Min latency": ("response time", "s", "min"),
    "Stddev Latency": ("response time", "s", "stddev"),
}


@dataclass
class _Run(Run):
    """One start."""

    of_rows: bool = False


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if found := _ASKED.match(text):
        facts: dict[str, Any] = {
            "concurrency": int(found["count"]),
            "operation": found["what"][:-1],
        }
        if found["bytes"]:
            facts["message_bytes"] = int(found["bytes"])
        reading.begin(facts=facts)
    elif _HEAD.match(text):
        run.of_rows = True
    elif run.of_rows and (found := _ROW.match(text)):
        if int(found["sec"]):
            of = {"interval_end_s": float(found["sec"])}
            reading.add("throughput", found["rate"], "MiB/s", "sample", of)
    elif found := _SUMMARY.match(text):
        what = found["what"].removesuffix("(s)").strip()
        if what == "Total time run":
            run.facts["elapsed_s"] = float(found["value"])
        elif what in _NAMES:
            name, unit, statistic = _NAMES[what]
            reading.add(name, found["value"], unit, statistic)


read = LineReader(TOOL, _Run, _line)
