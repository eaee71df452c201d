"""gprof: the flat profile, also where somebody made a table of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.results import GIVEN

TOOL = "gprof"
_TICK = late(r"^Each sample counts as (?P<seconds>0?\.\d{1,9}) seconds")
_ROW = late(
    r"^(?P<share>\d{1,3}\.\d\d)\s+(?P<sum>\d+\.\d\d)\s+(?P<own>\d+\.\d\d)"
    r"(?:\s+(?P<calls>\d{1,15})(?:\s+-?[\d.]+\s+-?[\d.]+)?)?\s+(?P<name>[A-Za-z_~<(].{0,300})$"
)
_MOST_ROWS = 200


@dataclass
class _Run(Run):
    """One flat profile."""

    rows: int = 0

    def finish(self) -> bool:
        """The longest sum of times shows how many samples there are."""
        if not self.rows:
            return False
        tick, whole = self.facts["sample_s"], self.facts.get("profile_sum_s", 0.0)
        self.facts["samples_of_profile"] = round(whole / tick)
        return True


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if found := _TICK.match(text):
        reading.begin(facts={"sample_s": float(found["seconds"])})
    elif run.line and run.rows < _MOST_ROWS and (found := _ROW.match(text)):
        run.rows += 1
        of: dict[str, Any] = {"label": found["name"]}
        reading.add(f"share of {found['name']}", float(found["share"]), "%", GIVEN, of)
        reading.add(f"own time of {found['name']}", float(found["own"]), "s", GIVEN, of)
        if found["calls"]:
            reading.add(f"calls of {found['name']}", float(found["calls"]), "calls", GIVEN, of)
        run.facts["profile_sum_s"] = max(run.facts.get("profile_sum_s", 0.0), float(found["sum"]))


def _uncommented(text: str) -> str:
    """A line without marks of comments, and without the borders of a table."""
    return " ".join(text.strip().lstrip("#/*>").replace("|", " ").split())


read = LineReader(TOOL, _Run, _line, clean=_uncommented)
