"""cargo bench (Rust's libtest): its lines, and the tables of cargo benchcmp."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "cargo-bench"
_COUNT = r"\d[\d,]*(?:\.\d+)?"
_ROW = late(
    rf"^test (?P<name>\S+)\s+\.\.\. bench:\s+(?P<time>{_COUNT}) ns/iter "
    rf"\(\+/- (?P<range>{_COUNT})\)(?: = (?P<rate>\d+) MB/s)?$"
)
_HEAD = late(r"^name\s+\S+ ns/iter\s+\S+ ns/iter\s+diff ns/iter\s+diff %(?:\s+speedup)?$")


def _side(name: str) -> str:
    """The pattern of a time with its rate and its range, where it has them."""
    return rf"(?P<{name}>{_COUNT})(?: \(\d+ MB/s\))?(?: \(\+/- (?P<{name}_range>{_COUNT})\))?"


_COMPARED = late(
    rf"^(?P<name>\S+)\s+{_side('old')}\s+{_side('new')}\s+-?{_COUNT}\s+"
    rf"(?P<change>-?\d+\.\d+)%(?:\s+x \d+\.\d+)?$"
)


@dataclass
class _Run(Run):
    """All lines of a crate, or a table; `compares`: whether the head of one was seen."""

    compares: bool = False
    names: set[str] = field(default_factory=set)


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if "ns/iter" in text and (found := _ROW.match(text)):
        if found["name"] in run.names:
            run = reading.begin()  # of another start
        run.names.add(found["name"])
        of: dict[str, Any] = {"benchmark": found["name"]}
        of_time = of | ({} if "." in found["time"] else {"is_whole": True})
        reading.add(found["name"], found["time"], "ns", "median", of_time)
        reading.add(found["name"], found["range"], "ns", "range", of)
        if found["rate"]:
            reading.add(f"{found['name']} rate", found["rate"], "MB/s", "", of)
    elif "ns/iter" in text and _HEAD.match(text):
        reading.begin(compares=True)
    elif run.compares and (found := _COMPARED.match(text)):
        _compared(reading, found)


def _compared(reading: Reading[_Run], found: re.Match[str]) -> None:
    for side in ("old", "new"):
        of = {"benchmark": found["name"], "build": side}
        name = f"{found['name']} {side}"
        reading.add(name, found[side], "ns", "median", of)
        if found[f"{side}_range"]:
            reading.add(name, found[f"{side}_range"], "ns", "range", of)


read = LineReader(TOOL, _Run, _line)
