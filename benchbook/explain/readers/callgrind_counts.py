"""iai, iai-callgrind and gungraun of Rust: what Valgrind counts of each benchmark, next to the run
before."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "iai-callgrind"
_COUNT = r"\d[\d,]*(?:\.\d+)?"
_ROW = late(
    rf"^(?P<what>[A-Z][\w+ ]{{1,40}}): +(?P<new>{_COUNT})(?:\|(?P<old>{_COUNT}|N/A))?"
    r"(?: +\((?P<change>[+-]\d+(?:\.\d+)?|[+-]?inf|No [Cc]hange|\*+)%?\))?"
    r"(?: +\[[+-]?(?:\d+(?:\.\d+)?|inf)x\])?$"
)
_NAME = late(r"^(?P<name>[\w]+(?:::[\w<>]+)*(?:[ ]\w+:\S.{0,200}?)?)$")
_REGRESSED = late(
    r"^Performance has regressed: (?P<what>[\w ]+?) \((?P<old>\d+) -> (?P<new>\d+)\) "
    r"regressed by \+?(?P<change>\d+(?:\.\d+)?)% \(>\+?(?P<limit>\d+(?:\.\d+)?)%\)"
)
_UNITS = {"instructions": "instructions", "estimated cycles": "cycles"}


@dataclass
class _Run(Run):
    """All benchmarks of a log; `name` is that of the last."""

    line: int = 0
    name: str = "benchmark"
    regressed: list[dict[str, Any]] = field(default_factory=list)

    def finish(self) -> bool:
        """Keep what the tool itself calls a regression."""
        if self.regressed:
            self.facts["said_regressions"] = self.regressed
        return any(" cycles" in own.name or "instr" in own.name.lower() for own in self.results)


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if found := _REGRESSED.match(text):
        numbers = {part: float(found[part]) for part in ("old", "new", "change", "limit")}
        words = {"name": run.name, "what": found["what"], "line": reading.line.number}
        run.regressed.append({**words, **numbers})
    elif found := _ROW.match(text):
        what = found["what"].lower()
        name, unit = f"{run.name} {what}", _UNITS.get(what, "accesses")
        of: dict[str, Any] = {"benchmark": run.name}
        if found["old"] and found["old"] != "N/A":
            reading.add(f"{name} new", found["new"], unit, "", {**of, "build": "new"})
            reading.add(f"{name} old", found["old"], unit, "", {**of, "build": "old"})
        else:
            reading.add(name, found["new"], unit, "", of)
        change = (found["change"] or "").lstrip("+-")
        if change[:1].isdecimal():
            reading.add(f"{name} change", float(found["change"]), "%", "change", of)
    elif ":" not in text[:1] and (found := _NAME.match(text)):
        run.name = found["name"]


read = LineReader(TOOL, _Run, _line)
