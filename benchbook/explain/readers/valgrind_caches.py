"""cachegrind and callgrind: what the simulated caches and branches of Valgrind counted in all."""

from __future__ import annotations

from dataclasses import dataclass

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.results import GIVEN

TOOL = "cachegrind"
_PROCESS = late(r"^[\W]{0,4}[=-]{2}(?P<process>\d{1,9})[=-]{2} ?")
_N = r"\d{1,3}(?:,\d{3})+|\d{1,18}"
_ROW = late(
    r"^(?P<what>I|D|LL|L2|I1|D1|LLi|L2i|LLd|L2d|Branches|Mispredicts)"
    rf"(?: +(?P<kind>refs|misses))? *: +(?P<count>{_N})"
    rf"(?: +\( *(?P<first>{_N}) (?:rd|cond) *\+ *(?P<second>{_N}) (?:wr|ind)\))?$"
)
_NAMES = {
    "I refs": "instructions", "D refs": "data accesses", "LL refs": "last-level accesses",
    "I1 misses": "I1 misses", "D1 misses": "D1 misses", "LLi misses": "LLi misses",
    "LLd misses": "LLd misses", "LL misses": "LL misses",
    "Branches": "branches", "Mispredicts": "mispredicted branches",
}  # fmt: skip
_COMMAND = late(r"^Command: (?P<command>\S.{0,300})$")


@dataclass
class _Run(Run):
    """One process."""

    process: str = ""

    def finish(self) -> bool:
        """Its instructions or accesses are what it is known by."""
        names = {own.name for own in self.results}
        return bool(names & {"instructions", "data accesses"}) and len(names) > 1


def _line(reading: Reading[_Run], text: str) -> None:
    process = ""
    if found := _PROCESS.match(text):
        process, text = found["process"], text[found.end() :].strip()
        if process != reading.run.process:
            reading.begin(process=process, facts={"watched_line": reading.line.number})
    text = text.lstrip("*/# ")
    if found := _COMMAND.match(text):
        reading.run.facts["command"] = found["command"]
    elif found := _ROW.match(text):
        what = found["what"].replace("L2", "LL")
        name = _NAMES.get(f"{what} {found['kind']}" if found["kind"] else what)
        if name is None:
            return
        if any(own.name == name for own in reading.run.results):
            reading.begin(process=process)
        reading.add(name, found["count"], "events", GIVEN)
        if found["first"]:
            ends = ("conditional", "indirect") if "branch" in name else ("of reads", "of writes")
            for part, end in zip((found["first"], found["second"]), ends, strict=True):
                reading.add(f"{name} {end}", part, "events", GIVEN)


read = LineReader(TOOL, _Run, _line)
