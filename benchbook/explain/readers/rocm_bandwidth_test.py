"""rocm_bandwidth_test: its matrices of copies between devices, and its tables by size."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "rocm_bandwidth_test"
_VERSION = late(r"RocmBandwidthTest Version: (?P<version>\d[\w.]*)")
_DEVICE = late(r"^Device(?: Index)?: *(?P<number>\d{1,3}),? +(?P<name>\S[^,]{0,100})")
_TITLE = late(
    r"^(?P<ways>Uni|Bi|B)directional copy (?P<which>peak|average) bandwidth(?: in)? \(?GB/s\)?"
)
_COLUMNS = late(r"^D/D(?P<numbers>(?:\s+\d{1,3})+)$")
_CELL = r"(?:\d+(?:\.\d+)?|N/A)"
_ROW = late(rf"^(?P<row>\d{{1,3}})(?P<cells>(?:\s+{_CELL})+)$")
_SIZES = late(r"^Data Size\s+Avg Time\(us\)\s+Avg BW\(GB/s\)\s+Min Time\(us\)\s+Peak BW\(GB/s\)$")
_OF_SIZE = late(
    r"^(?P<size>\d+(?:\.\d+)?) (?P<unit>[KMG]?B)\s+(?P<mean_time>[\d.]+)\s+(?P<mean>[\d.]+)"
    r"\s+(?P<min_time>[\d.]+)\s+(?P<best>[\d.]+)$"
)
_BYTES = {"B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30}


@dataclass
class _Run(Run):
    """One start: `columns` of the matrix that is being read, none between matrices."""

    title: str = ""
    statistic: str = ""
    ways: int = 1
    columns: list[int] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)
    is_by_size: bool = False
    absent: list[tuple[int, int]] = field(default_factory=list)

    def finish(self) -> bool:
        """Say which devices it has, where all accelerators are alike."""
        names = {name for name in self.names.values() if "CPU" not in name and "EPYC" not in name}
        if self.absent:
            pairs = ", ".join(f"{row} to {column}" for row, column in self.absent[:4])
            self.notes.append(
                f"N/A between devices (from {pairs}): mostly they have no direct access to each "
                "other; it is an absent figure and no rate of 0"
            )
        if len(names) == 1:
            self.facts["device"] = names.pop()
        return bool(self.results)


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if found := _TITLE.match(text):
        run.title = "Unidirectional copy" if found["ways"] == "Uni" else "Bidirectional copy"
        run.statistic = "best" if found["which"] == "peak" else "mean"
        run.ways, run.columns, run.is_by_size = 1 if found["ways"] == "Uni" else 2, [], False
    elif found := _DEVICE.match(text):
        run.names[int(found["number"])] = found["name"].strip()
    elif text.startswith("D/D"):
        found = _COLUMNS.match(text)
        numbers = [int(number) for number in found["numbers"].split()] if found else []
        run.columns = numbers if run.title else []
    elif run.columns and (found := _ROW.match(text)) and int(found["row"]) in run.columns:
        for column, cell in zip(run.columns, found["cells"].split(), strict=False):
            of: dict[str, Any] = {"row": int(found["row"]), "column": column, "ways": run.ways}
            if cell == "N/A" and of["row"] != column and (of["row"], column) not in run.absent:
                run.absent.append((of["row"], column))
            elif cell != "N/A":
                reading.add(run.title, cell, "GB/s", run.statistic, of)
    elif _SIZES.match(text):
        run.is_by_size, run.columns, run.title = True, [], ""
    elif run.is_by_size and (found := _OF_SIZE.match(text)):
        of = {"message_bytes": int(float(found["size"]) * _BYTES[found["unit"]])}
        reading.add("copy", found["mean"], "GB/s", "mean", of)
        reading.add("copy", found["best"], "GB/s", "best", of)
        reading.add("copy time", found["mean_time"], "us", "mean", of)
        reading.add("copy time", found["min_time"], "us", "min", of)
    else:
        run.columns, run.title = [], ""


read = LineReader(TOOL, _Run, _line, _VERSION)
