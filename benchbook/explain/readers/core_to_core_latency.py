"""core-to-core-latency: the time of a compare-and-swap between each two cores, and its summary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "core-to-core-latency"
_CPU = late(r"^CPU: (?P<cpu>\S.{0,120})$")
_CORES = late(r"^Num cores: (?P<cores>\d{1,5})$")
_COUNTER = late(r"^Using RDTSC to measure time: (?P<is_used>true|false)$")
_COUNTS = late(
    r"^Num (?P<what>round trips|iterations|samples)(?: per samples?)?: (?P<count>\d{1,9})$"
)
_TITLE = late(
    r"^\d\) (?P<test>(?:CAS|Single-writer|One writer).{0,120}latency.{0,80}"
    r"|Message passing.{0,80})$"
)
_ROW = late(r"^(?P<row>\d{1,4})(?P<cells>(?:\s+\d{1,6}(?:\.\d+)?±\d+(?:\.\d+)?)+)$")
_PLAIN_ROW = late(r"^(?P<row>\d{1,4})(?P<cells>(?:\s+\d{1,6}(?:\.\d+)?)+)$")
_SUMMARY = late(
    r"^(?P<what>Min|Max|Mean) +(?:latency|non-HT): *(?P<value>\d{1,6}(?:\.\d+)?)"
    r"(?: ?±\d[\d.]*)? ?ns\b(?: ?±\d[\d.]*)?"
    r"(?: +cores: \((?P<row>\d{1,4}), ?(?P<column>\d{1,4})\))?"
)


_OF_START = (
    "cpu", "cores", "is_cycle_counted", "samples_per_figure", "round_trips_per_sample",
)  # fmt: skip


@dataclass
class _Run(Run):
    """One test of one start."""

    test: str = ""

    def finish(self) -> bool:
        """Keep its name where it has one."""
        self.facts |= {"test": self.test} if self.test else {}
        is_told = any(result.statistic for result in self.results) or bool(self.test)
        return bool(self.results) and (is_told or "is_cycle_counted" in self.facts)


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if text.startswith("CPU: ") and (found := _CPU.match(text)):
        run = reading.begin(facts={"cpu": found["cpu"]})
    elif found := _CORES.match(text):
        run.facts["cores"] = int(found["cores"])
    elif found := _COUNTER.match(text):
        run.facts["is_cycle_counted"] = found["is_used"] == "true"
    elif found := _COUNTS.match(text):
        is_samples = found["what"] == "samples"
        name = "samples_per_figure" if is_samples else "round_trips_per_sample"
        run.facts[name] = int(found["count"])
    elif found := _TITLE.match(text):
        machine = {name: run.facts[name] for name in _OF_START if name in run.facts}
        run = reading.begin(facts=machine) if run.results or not run.line else run
        run.test = found["test"]
    elif found := _ROW.match(text) or (_PLAIN_ROW.match(text) if run.test else None):
        cells = found["cells"].split()
        if "±" not in text and len(cells) != int(found["row"]):
            return  # the head of the matrix, or a part of it
        for column, cell in enumerate(cells):
            of: dict[str, Any] = {"row": int(found["row"]), "column": column}
            reading.add("latency between cores", cell.partition("±")[0], "ns", "", of)
    elif "ns" in text and (found := _SUMMARY.match(text)):
        name = "latency between cores" + (" without SMT" if "non-HT" in text else "")
        of = {}
        if found["row"]:
            of = {"row": int(found["row"]), "column": int(found["column"])}
        reading.add(name, found["value"], "ns", found["what"].lower(), of)


read = LineReader(TOOL, _Run, _line)
