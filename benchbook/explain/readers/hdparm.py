"""hdparm -tT: cached reads and reads of the device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.printed_digits import half_digit
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "hdparm"
_DEVICE = late(r"^(?P<device>/dev/\S+):$")
_ROW = late(
    r"^Timing (?P<what>cached reads|buffered disk reads|buffer-cache reads|O_DIRECT (?:cached|dis"
    r"k) reads):\s+"
    r"(?P<moved>\d+(?:\.\d+)?) MB in +(?P<time>\d+(?:\.\d+)?) seconds = *(?P<rate>\d+(?:\.\d+)?) "
    r"(?P<unit>[kMG]B)/sec"
)
_UNITS = {"kB": "KiB/s", "MB": "MiB/s", "GB": "GiB/s"}


@dataclass
class _Run(Run):
    """One device."""

    line: int = 0

    def finish(self) -> bool:
        """Say what its first figure is of."""
        if any(
            "cached" in result.name and "O_DIRECT" not in result.name for result in self.results
        ):
            self.notes.append("its cached reads come from memory: no disk is in that figure")
        return bool(self.results)


def _line(reading: Reading[_Run], text: str) -> None:
    if found := _DEVICE.match(text):
        reading.begin(facts={"disk": found["device"]})
    elif found := _ROW.match(text):
        moved = float(found["moved"]) * 2**20
        of: dict[str, Any] = {"bytes_moved": moved, "elapsed_s": float(found["time"])}
        of["elapsed_error_s"] = half_digit(found["time"])
        reading.add(found["what"], found["rate"], _UNITS[found["unit"]], "mean", of)
        reading.show(f"{found['what']}: moved", found["moved"], "MiB")


read = LineReader(TOOL, _Run, _line)
