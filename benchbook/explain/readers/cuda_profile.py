"""nvprof and nsys stats: the time of kernels, of copies and of calls to CUDA, by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "cuda-profile"
_HEAD = late(
    r"^(?:Type +)?Time ?\(%\)\s+(?:Total )?Time(?: \(ns\))?\s.*\bName\b|^Time\(%\)\s+Time\s"
)
_NSYS = late(r"^Time \(%\)\s+Total Time \(ns\)")
_CALLS = late(r"\bNum Calls\b")
_SECTION = late(
    r"(?P<device>gpu_?kern|Kernel (?:Summary|Statistics)|gpu_?mem_?time|MemOps Summary \(by Time\)"
    r"|Memory Operation Statistics \(by time\))|(?P<call>cuda_?api|API (?:Summary|Statistics))"
    r"|(?P<system>os_?rt|OS Runtime)|(?P<other>nvtx|NVTX|by [Ss]ize|mem_?size)"
)
_TIME = r"\d+(?:\.\d+)?(?:ns|us|ms|s)"
_ROW = late(
    r"^(?:(?P<type>GPU activities|API calls):\s+)?(?P<share>\d{1,3}\.\d+)%\s+"
    rf"(?P<time>{_TIME})\s+(?P<count>\d{{1,12}})\s+{_TIME}\s+{_TIME}\s+{_TIME}\s+"
    r"(?P<name>\S.{0,4000})$"
)
_LONG = late(
    r"^(?P<share>\d{1,3}\.\d)\s+(?P<time>\d[\d,]{0,23})\s+(?P<count>\d[\d,]{0,15})"
    r"(?:\s+[\d,]+(?:\.\d+)?){4,5}\s+(?P<name>\S.{0,4000})$"
)
_UNIT = late(r"^(?P<value>[\d.]+)(?P<unit>ns|us|ms|s)$")
_LONGEST_NAME = 60


@dataclass
class _Run(Run):
    """One profile; `what` the rows that follow are of: kernels and copies, or calls."""

    is_open: bool = False
    what: str = "device"


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if _HEAD.match(text):
        if not run.is_open:
            run.line = run.line or reading.line.number
        run.is_open = True
        if not _NSYS.match(text):
            run.what = "device"
        elif not run.results and run.what == "device" and _CALLS.search(text):
            run.what = "call"
    elif run.is_open and (row := _ROW.match(text)):
        if row["type"]:
            run.what = "device" if row["type"].startswith("GPU") else "call"
        _row(reading, row["name"], row["share"], row["time"], int(row["count"]))
    elif run.is_open and (row := _LONG.match(text)):
        if run.what:
            count = int(row["count"].replace(",", ""))
            _row(reading, row["name"], row["share"], row["time"].replace(",", "") + "ns", count)
    elif found := _SECTION.search(text):
        run.what = "" if found["other"] else str(found.lastgroup)


def _row(reading: Reading[_Run], name: str, share: str, time: str, count: int) -> None:
    found = _UNIT.match(time)
    if found is None:
        return
    called = name.strip()
    called = called if len(called) <= _LONGEST_NAME else f"{called[:_LONGEST_NAME]}…"
    of: dict[str, Any] = {
        "calls": count,
        "of_what": reading.run.what,
        "share_percent": float(share),
    }
    reading.add(f"{called} time", found["value"], found["unit"], "total", of)


read = LineReader(TOOL, _Run, _line)
