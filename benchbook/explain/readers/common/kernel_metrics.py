"""ncu: the metrics of kernels in its sections; SHOC-like tables of transfers by size."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log, Report
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

LOOKS_FOR = {
    "ncu": "ncu: `Section: GPU Speed Of Light Throughput`, `DRAM Throughput   %   64.06`",
    "shoc": "SHOC, hipBusBandwidth: `H2D_Bandwidth_pinned  65536kB  GB/sec  14.2 …`",
}
_SECTION = late(r"^Section: (?P<name>\S.{2,60})$")
_KERNEL = late(
    r"^(?P<name>[A-Za-z_][\w:<>,&* ()-]{2,160}?)(?: \(\d+, \d+, \d+\)x\(\d+, \d+, \d+\))?,? "
    r".{0,60}\bCC \d+\.\d+$"
)
_METRIC = late(
    r"^(?P<name>[A-Z][\w/()\[\]%. -]{2,40}?)\s{2,}(?P<unit>[A-Za-z%][\w/%]{0,16})\s{2,}"
    r"(?P<value>\d[\d,]*(?:\.\d+)?)$"
)
_UNITS = {
    "%": "%", "usecond": "us", "us": "us", "msecond": "ms", "ms": "ms", "nsecond": "ns",
    "second": "s", "cycle": "cycles", "cycle/nsecond": "GHz", "GHz": "GHz", "Ghz": "GHz",
    "cycle/usecond": "MHz", "Mhz": "MHz", "MHz": "MHz",
    "Gbyte/second": "GB/s", "Gbyte/s": "GB/s", "Tbyte/second": "TB/s", "Tbyte/s": "TB/s",
    "Mbyte/second": "MB/s", "warp": "warps", "block": "blocks", "inst/cycle": "instructions/cycle",
    "register/thread": "registers/thread",
}  # fmt: skip
_NAMES = {
    "Memory [%]": "Memory Throughput", "Compute (SM) [%]": "Compute (SM) Throughput",
    "SOL DRAM": "DRAM Throughput", "SOL SM": "Compute (SM) Throughput",
}  # fmt: skip


@dataclass
class _Kernel(Run):
    """One kernel."""

    seen: set[str] = field(default_factory=set)
    section: str = ""


def _metric(reading: Reading[_Kernel], text: str) -> None:
    run = reading.run
    if found := _SECTION.match(text):
        if found["name"] in run.seen:
            run = reading.begin()
        run.seen.add(found["name"])
        run.section = found["name"]
    elif run.section and (found := _METRIC.match(text)) and found["unit"] in _UNITS:
        name = _NAMES.get(found["name"], found["name"])
        value = float(found["value"].replace(",", ""))
        reading.add(name, value, _UNITS[found["unit"]], "", {})
    elif (kernel := _KERNEL.match(text)) and not text.startswith("="):
        reading.begin(facts={"kernel": kernel["name"][:60]})


_TRANSFER = late(
    r"^(?P<way>[HD]2[HD])_(?P<what>Bandwidth|Time)(?:_(?P<memory>pinned|pageable|unpinned))?\s+"
    r"\+?(?P<size>\d{1,9})(?P<prefix>By|kB|MB|B)\s+(?P<unit>GB/sec|MB/sec|GB/s|ms|us)\s+"
    r"(?P<figures>\d[\d.]*(?:\s+\d[\d.]*){4})$"
)
_WAYS = {"H2D": "host to device", "D2H": "device to host", "D2D": "device to device"}
_BYTES = {"By": 1, "B": 1, "kB": 1 << 10, "MB": 1 << 20}
_STATISTICS = ("median", "mean", "stddev", "min", "max")
_OF_UNIT = {"GB/sec": "GB/s", "MB/sec": "MB/s"}


def _transfer(reading: Reading[Run], text: str) -> None:
    if (found := _TRANSFER.match(text)) is None or found["way"] not in _WAYS:
        return
    size = int(found["size"]) * _BYTES[found["prefix"]]
    of: dict[str, Any] = {"message_bytes": size, "direction": _WAYS[found["way"]]}
    if found["memory"]:
        of["host_memory"] = "pinned" if found["memory"] == "pinned" else "pageable"
    unit = _OF_UNIT.get(found["unit"], found["unit"])
    name = "copy" if found["what"] == "Bandwidth" else "copy time"
    for statistic, figure in zip(_STATISTICS, found["figures"].split(), strict=True):
        reading.add(name, figure, unit, statistic, of)


_kernels = LineReader("ncu", _Kernel, _metric)
_transfers = LineReader("shoc", Run, _transfer)


def read(log: Log) -> list[Report]:
    """One report for each kernel, and one for all transfers."""
    every: list[Report] = []
    if log.has("Section: "):
        every += _kernels(log)
    if any(map(log.has, ("H2D_", "D2H_", "D2D_"))):
        every += _transfers(log)
    return sorted(every, key=lambda report: report.line)
