"""divan of Rust: the fastest, slowest, median and mean sample of each benchmark of its tree."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.times import UNIT, time_of

TOOL = "divan"
_HEAD = late(
    r"^(?P<name>\S+)\s+fastest\s+│\s*slowest\s+│\s*median\s+│\s*mean\s+│\s*samples\s+│\s*iters\s*$"
)
_BRANCH = late(r"^(?P<stem>[│ ]{0,60})[├╰]─ (?P<name>\S[^│]{0,120}?)(?P<rest>\s{2,}.*|\s*)$")
_TIME = rf"(\d+(?:\.\d+)?) ({UNIT})"
_FIGURES = late(
    rf"^\s*{_TIME}\s*│\s*{_TIME}\s*│\s*{_TIME}\s*│\s*{_TIME}\s*│\s*(\d+)\s*│\s*(\d+)\s*$"
)
_STATISTICS = ("min", "max", "median", "mean")
_INDENT = 3  # characters of a level of the tree


@dataclass
class _Run(Run):
    """A table; `path` are the names of the branches above."""

    path: list[str] = field(default_factory=list)


def _line(reading: Reading[_Run], text: str) -> None:
    if "fastest" in text and _HEAD.match(text.strip()):
        reading.begin()
        return
    run = reading.run
    if run.line == 0 or "─ " not in text or (found := _BRANCH.match(text)) is None:
        return
    name, rest = found["name"], found["rest"]
    # A long name leaves one space only before its first figure.
    figures = _FIGURES.match(rest)
    # Where a page is quoted by bars, the first bar of a stem was taken away.
    depth = (len(found["stem"]) + 2) // _INDENT
    run.path[depth:] = [name]
    if figures is None:
        return
    called = "::".join(run.path)
    samples, total = int(figures[9]), int(figures[10])
    of: dict[str, Any] = {"benchmark": called, "repetitions": samples}
    of["iterations"] = max(1, round(total / samples)) if samples else total
    for place, statistic in enumerate(_STATISTICS):
        value, unit = time_of(float(figures[2 * place + 1]), figures[2 * place + 2])
        reading.add(called, value, unit, statistic, of)


read = LineReader(TOOL, _Run, _line, clean=str.rstrip)
