"""Python's cProfile and profile: calls and seconds of each function, as pstats prints them."""

from __future__ import annotations

from dataclasses import dataclass

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.results import GIVEN

TOOL = "cProfile"
_TOTAL = late(
    r"^(?P<calls>\d{1,15}) function calls(?: \(\d{1,15} primitive calls\))? in "
    r"(?P<seconds>\d[\d.]*) (?:CPU )?seconds$"
)
_ROW = late(
    r"^(?P<calls>\d{1,15})(?:/\d{1,15})?\s+(?P<own>\d[\d.]*)\s+\d[\d.]*\s+(?P<all>\d[\d.]*)\s+"
    r"\d[\d.]*\s+(?P<name>\S.{0,300})$"
)


@dataclass
class _Run(Run):
    """One profile; `has_head`: whether the head of its columns was seen."""

    has_head: bool = False


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if "function calls" in text and (found := _TOTAL.match(text)):
        if run.results:
            run = reading.begin()
        reading.add("function calls", found["calls"], "calls", GIVEN)
        reading.add("time in all", found["seconds"], "s", GIVEN)
    elif text.startswith("ncalls") and "cumtime" in text:
        run.has_head = True
    elif run.has_head and (found := _ROW.match(text)):
        of = {"benchmark": found["name"]}
        reading.add(f"{found['name']} calls", found["calls"], "calls", GIVEN, of)
        reading.add(f"{found['name']} own time", found["own"], "s", GIVEN, of)
        reading.add(f"{found['name']} time with calls", found["all"], "s", GIVEN, of)
    elif run.has_head and text and run.results:
        run.has_head = False


read = LineReader(TOOL, _Run, _line)
