"""CoreMark: its lines of ticks, time, rate and iterations, with the flags of the compiler."""

from __future__ import annotations

from dataclasses import dataclass

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "coremark"
_BEGINS = late(r"2K (?:performance|validation) run parameters for coremark|^CoreMark Size\s*:")
# Simulators and monitors put words of their own before each line.
_LINE = late(
    r"(?:^|\s)(?P<key>Total ticks|Total time \(secs\)|Iterations/Sec|Iterations|Compiler flags"
    r"|Compiler version|Parallel \w+)\s*: ?(?P<value>.{0,400})$"
)
_SCORE = late(r"(?:^|\s)CoreMark 1\.0 : (?P<rate>\d{1,9}(?:\.\d+)?) / (?P<built>.{0,400})$")
_NUMBER = late(r"\d{1,18}(?:\.\d{1,9})?$")
_FIGURES = {
    "Total ticks": ("ticks", "ticks"),
    "Total time (secs)": ("time", "s"),
    "Iterations/Sec": ("rate", "iterations/s"),
    "Iterations": ("iterations", "iterations"),
}
_TOO_SHORT = "Must execute for at least 10 secs"


@dataclass
class _Run(Run):
    """One run of the program."""

    def has(self, name: str) -> bool:
        """Whether this figure of it was read."""
        return any(result.name == name for result in self.results)


def _line(reading: Reading[_Run], text: str) -> None:
    run, number = reading.run, reading.line.number
    if _BEGINS.search(text):
        run = reading.begin() if run.results else run
        run.line = run.line or number
    elif found := _LINE.search(text):
        key, value = found["key"], found["value"].strip()
        if key in _FIGURES and _NUMBER.match(value):
            name, unit = _FIGURES[key]
            if run.has(name):
                run = reading.begin()
            run.line = run.line or number
            reading.add(name, value, unit)
            if name == "time":
                run.facts["is_whole_seconds"] = value.isdecimal()
        elif key == "Compiler flags" and run.line:
            run.facts["compiler_flags"] = value
            run.facts["compiler_flags_line"] = number
        elif key.startswith("Parallel ") and value.isdecimal() and run.line:
            run.facts["threads"] = int(value)
    elif _TOO_SHORT in text and run.line:
        run.facts["too_short_line"] = number
    elif text.endswith("Errors detected") and run.line:
        run.facts["errors_line"] = number
    elif (found := _SCORE.search(text)) and not run.has("rate"):
        run.line = run.line or number
        reading.add("rate", found["rate"], "iterations/s")
        run.facts["compiler_flags"] = found["built"]
        run.facts["compiler_flags_line"] = number


read = LineReader(TOOL, _Run, _line)
