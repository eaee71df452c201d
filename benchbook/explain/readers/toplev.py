"""toplev (pmu-tools): shares of the pipeline's slots, and whether events took turns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL, TURNS = "toplev", "share of the time that events were counted"
MOSTLY = 0.6  # of the time: of events that were counted for less, their shares say little
_HEAD = late(r"^# (?P<version>\d[\w.-]{1,30}) on (?P<cpu>\S.{0,100}?) \[\w[\w/]{1,30}\]$")
_ROW = late(
    r"^(?:(?:[CS]\d+(?:-T\d+)?|core \w+)\s+)?(?P<area>FE|BE|BAD|RET|BE/Mem|BE/Core|Info[\w.]*)\s+"
    r"(?P<node>[A-Z][\w.]{2,80})\s+(?P<unit>% (?:Slots|Clocks)\w*|%|Count|Metric\w*|CoreMetric"
    r"|Slots|Clocks)\s+(?P<value>\d[\d,]{0,24}(?:\.\d{1,3})?)(?:\s+<)?(?:\s+\[ ?(?P<counted>\d{1,3}"
    r"(?:\.\d)?)%[^\]]{0,8}\])?(?:\s*<==)?$"
)
_TURNS = late(r"^MUX\s+%\s+(?P<counted>\d{1,3}(?:\.\d{1,2})?)\s*$")


@dataclass
class _Run(Run):
    """One start."""

    def finish(self) -> bool:
        """Say whether its events took turns for most of the time."""
        shares = [own.of["running_fraction"] for own in self.results if own.of]
        shares += [own.value / 100 for own in self.results if own.name == TURNS]
        self.facts["is_in_turn"] = min(shares, default=1.0) < MOSTLY
        return bool(self.results)


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if found := _HEAD.match(text):
        run = reading.begin(facts={"cpu": found["cpu"]}, version=found["version"])
    elif found := _ROW.match(text):
        if any(result.name == found["node"] for result in run.results):
            run = reading.begin()
        of: dict[str, Any] = {}
        if found["counted"]:
            of = {"running_fraction": float(found["counted"]) / 100}
        unit = "%" if found["unit"].startswith("%") else "1"
        reading.add(found["node"], found["value"].replace(",", ""), unit, "", of)
    elif run.results and (found := _TURNS.match(text)):
        reading.add(TURNS, found["counted"], "%")


read = LineReader(TOOL, _Run, _line)
