"""bonnie++: rates of a large file by character and by block, seeks, small files, and latencies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from benchbook.core.number_format import listed
from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "bonnie++"
_BEGINS = late(r"^Version +(?P<version>\S+) +-+Sequential Output-+")
_FILES = late(r"^(?:Version +\S+ +)?-+Sequential Create-+ -+Random Create-+")
_HEAD = late(r"^(?:Machine|Name:Size|files|files:max)\b.*%CP")
_ROW = late(
    r"^(?P<machine>\S.{0,40}?) +(?P<size>\d{1,6}[KMGT]?(?::\S{1,12})?) +"
    r"(?P<cells>(?:[\d.]+[kmgKMG]?|\+{3,5})(?: +(?:[\d.]+[kmgKMG]?|\+{3,5})){3,11})$"
)
_OF_FILES = late(
    r"^(?:\S+ +)?(?P<files>\d{1,6}(?::\S{1,20})?) +"
    r"(?P<cells>(?:\d+|\+{3,5})(?: +(?:\d+|\+{3,5})){11})$"
)
_LATENCY = late(r"^Latency +(?P<cells>\d+(?:us|ms|s)(?: +\d+(?:us|ms|s)){3,5})$")
_TIME = late(r"(\d+)(us|ms|s)")
_BY_CHARACTER = "write by character", "read by character"
_OF_FILE = (_BY_CHARACTER[0], "block write", "rewrite", _BY_CHARACTER[1], "block read", "seeks")
_OF_TREE = tuple(
    f"{order} {what}"
    for order in ("sequential", "random")
    for what in ("file creation", "file stat", "file removal")
)
_FAST = "+++"  # what it prints of a test that is over before it can be timed
_MANY = {"k": 1.0, "m": 1024.0, "g": 1024.0**2}
_SIZES = {"": 1 << 20, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


@dataclass
class _Run(Run):
    """One table of it, which may have several rows; `fast`: tests that were over too soon."""

    of_tree: bool = False
    fast: dict[str, int] = field(default_factory=dict)

    def finish(self) -> bool:
        """Say which tests it could not time."""
        if self.fast:
            self.facts["too_fast"] = listed(list(self.fast))
            self.facts["too_fast_line"] = min(self.fast.values())
        return bool(self.results)


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if _FILES.match(text):
        run.of_tree = True
    elif run.line and not run.of_tree and (found := _ROW.match(text)):
        cells = found["cells"].split()
        names = [name for name in _OF_FILE if len(cells) == 12 or name not in _BY_CHARACTER]
        if len(cells) == 2 * len(names):
            size = found["size"].partition(":")[0]
            number, letter = (size[:-1], size[-1]) if size[-1].isalpha() else (size, "")
            of: dict[str, Any] = {"file_bytes": int(number) * _SIZES[letter]}
            _cells(reading, names, cells, of | {"label": found["machine"].strip()})
    elif run.line and run.of_tree and (found := _OF_FILES.match(text)):
        _cells(reading, _OF_TREE, found["cells"].split(), {})
    elif run.line and (found := _LATENCY.match(text)):
        times = _TIME.findall(found["cells"])
        names = list(_OF_TREE if run.of_tree else _OF_FILE)
        if len(times) == 4:
            names = [name for name in names if name not in _BY_CHARACTER]
        for name, (digits, unit) in zip(names, times, strict=False):
            reading.add(name, digits, unit, "max")


def _cells(
    reading: Reading[_Run], names: Sequence[str], cells: Sequence[str], of: dict[str, Any]
) -> None:
    for name, value, share in zip(names, cells[::2], cells[1::2], strict=True):
        if value.startswith(_FAST):
            reading.run.fast.setdefault(name, reading.line.number)
            continue
        many = _MANY.get(value[-1].lower(), 1.0)
        digits = value.rstrip("kmgKMG")
        unit = "KiB/s" if name in _OF_FILE and name != "seeks" else "operations/s"
        used, rate = reading.number(share), reading.number(digits)
        own = of if used is None else {**of, "cpu_percent": used}
        reading.add(name, None if rate is None else rate * many, unit, "mean", own)


read = LineReader(TOOL, _Run, _line, _BEGINS)
