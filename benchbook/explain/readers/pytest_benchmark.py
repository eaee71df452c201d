"""pytest-benchmark: the table of the statistics of each test."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "pytest-benchmark"
_HEAD = late(
    r"^(?P<before>.{0,120}?)Name \(time in (?P<unit>ns|us|μs|µs|ms|s)\)\s+(?P<columns>[A-Z].*)$"
)
_OPS = late(r"OPS \((?P<scale>[KM]?)ops/s\)")
_SCALES = {"": 1.0, "K": 1e3, "M": 1e6}
# How many times the best of its column a figure is, behind it.
_RELATIVE = late(r" \((?:>?\d[\d.,]*|inf|nan)\)")
_TOOK = late(r"^=+ .*\b\d+ passed.* in (?P<took>\d+(?:\.\d+)?)s(?: \([\d:]+\))? =+$")
_NUMBER = late(r"\d[\d,]*(?:\.\d+)?|nan|inf")
_OUTLIERS = late(r"\d+;\d+")
_STATISTICS = {
    "Min": "min", "Max": "max", "Mean": "mean", "StdDev": "stddev", "Median": "median",
}  # fmt: skip
_UNITS = {"μs": "us", "µs": "us"}


@dataclass
class _Run(Run):
    """A table; `before` is what stands before each of its lines."""

    unit: str = ""
    columns: list[str] = field(default_factory=list)
    scale: float = 1.0
    before: str = ""


def _line(reading: Reading[_Run], text: str) -> None:
    if "Name (time in " in text and (found := _HEAD.match(text)):
        ops = _OPS.search(found["columns"])
        columns = _OPS.sub("OPS", found["columns"]).replace("(*)", "").split()
        scale = _SCALES[ops["scale"]] if ops else 1.0
        unit = _UNITS.get(found["unit"], found["unit"])
        reading.begin(unit=unit, columns=columns, scale=scale, before=found["before"])
        return
    run = reading.run
    if " passed" in text and run.results and (took := _TOOK.match(text)):
        run.facts |= {"tests_took_s": float(took["took"]), "tests_line": reading.line.number}
        return
    text = text.removeprefix(run.before).strip()
    if not run.columns or set(text) <= {"-"}:
        return
    cells = _RELATIVE.sub("", text).rsplit(None, len(run.columns))
    row = dict(zip(run.columns, cells[1:], strict=False))
    if len(cells) == len(run.columns) + 1 and all(map(_is_cell, row.items())):
        _row(reading, cells[0], row)
    else:
        run.columns = []  # what comes below is no row of the table


def _is_cell(cell: tuple[str, str]) -> bool:
    head, text = cell
    return bool((_OUTLIERS if head == "Outliers" else _NUMBER).fullmatch(text))


def _row(reading: Reading[_Run], name: str, row: dict[str, str]) -> None:
    run = reading.run
    of: dict[str, Any] = {"benchmark": name}
    for head, column in (("Rounds", "repetitions"), ("Iterations", "iterations")):
        if row.get(head, "").isdecimal():
            of[column] = int(row[head])
    for head, statistic in _STATISTICS.items():
        if head in row:
            reading.add(f"{name} time", row[head], run.unit, statistic, of)
    reading.show(f"{name} time", row.get("IQR"), run.unit, "IQR", of)
    if rate := reading.number(row.get("OPS")):
        reading.add(f"{name} rate", rate * run.scale, "operations/s", "", of)


read = LineReader(TOOL, _Run, _line)
