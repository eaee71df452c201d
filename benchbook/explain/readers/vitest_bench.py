"""vitest bench: the statistics of each benchmark, times in milliseconds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "vitest-bench"
_HEAD = late(r"^name\s+(?P<columns>hz\s+min\s+max\s+mean\s.*)$")
_SAID = late(r"^(?P<times>\d+(?:\.\d+)?)x faster than (?P<name>\S.{0,200})$")
_NUMBER = late(r"±?\d[\d,]*(?:\.\d+)?%?")
_STATISTICS = ("min", "max", "mean", "p75", "p99", "p995", "p999")
# A benchmark as its first versions printed it, and the file or group with the time for all of it.
_OLD_ROW = late(
    r"^[·•] (?P<name>\S.{0,200}?)\s+(?P<rate>\d[\d,]*(?:\.\d+)?) ops/sec "
    r"±(?P<percent>\d+(?:\.\d+)?)% \((?P<samples>\d+) samples?\)(?: (?:fastest|slowest))?`*$"
)
_TOOK = late(r"^✓ \S.{0,200}? (?P<ms>\d+)ms$")
_CALLED = {"p995": "p99.5", "p999": "p99.9"}


@dataclass
class _Run(Run):
    """The benchmarks of a group."""

    columns: list[str] = field(default_factory=list)
    took: tuple[int, int] = (0, 0)  # ms for all of them, and where that stands

    def finish(self) -> bool:
        """Keep the time for all of them where it is known."""
        if self.results and self.took[0]:
            self.facts |= {"group_ms": self.took[0], "group_line": self.took[1]}
        return bool(self.results)


def _line(reading: Reading[_Run], text: str) -> None:
    if " hz " in text and (found := _HEAD.match(text)):
        took = (0, 0) if reading.run.results else reading.run.took
        reading.begin(columns=found["columns"].split(), took=took)
        return
    run = reading.run
    if text.startswith("✓") and (found := _TOOK.match(text)):
        reading.begin(took=(int(found["ms"]), reading.line.number))
        return
    if "ops/sec" in text and (found := _OLD_ROW.match(text)):
        of_old = {"benchmark": found["name"], "repetitions": int(found["samples"])}
        if (rate := reading.number(found["rate"])) is not None:
            reading.add(f"{found['name']} rate", rate, "operations/s", "mean", of_old)
            spread = float(f"{rate * float(found['percent']) / 100:.6g}")
            reading.add(f"{found['name']} rate", spread, "operations/s", "error", of_old)
        return
    if run.results and "x faster than" in text and (found := _SAID.match(text)):
        of = {"benchmark": found["name"]}
        reading.add(f"{found['name']} ratio", found["times"], "1", "ratio", of)
        return
    if not run.columns:
        return
    text = text.removesuffix("fastest").removesuffix("slowest").strip()
    cells = text.rsplit(None, len(run.columns))
    if len(cells) <= len(run.columns) or not all(map(_NUMBER.fullmatch, cells[1:])):
        run.columns = [] if text.startswith(("✓", "BENCH", "❯", "name")) else run.columns
        return
    name = cells[0].removeprefix("·").strip()
    row = dict(zip(run.columns, cells[1:], strict=True))
    of_row: dict[str, Any] = {"benchmark": name}
    if row.get("samples", "").replace(",", "").isdecimal():
        of_row["repetitions"] = int(row["samples"].replace(",", ""))
    rate = reading.number(row["hz"])
    if rate is None:
        return
    reading.add(f"{name} rate", rate, "operations/s", "mean", of_row)
    if (error := reading.number(row.get("rme", "").strip("±%"))) is not None:
        spread = float(f"{rate * error / 100:.6g}")
        reading.add(f"{name} rate", spread, "operations/s", "error", of_row)
    for statistic in _STATISTICS:
        if statistic in row:
            called = _CALLED.get(statistic, statistic)
            reading.add(name, row[statistic], "ms", called, of_row)


read = LineReader(TOOL, _Run, _line)
