"""7-Zip's benchmark (`7z b`): speed, usage and rating for each size of the dictionary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "7z"
_THREADS = late(r"# ?CPU hardware threads: *(?P<cores>\d{1,5})")
_RUNNING = late(r"# ?Benchmark threads: *(?P<threads>\d{1,5})")
_HEAD = late(r"^Dict\s+Speed Usage\s+R/U Rating")
_COUNT = r"\d{1,9}"
_ROW = late(
    rf"^(?P<bits>\d\d):\s+(?P<a>{_COUNT}\s+{_COUNT}\s+{_COUNT}\s+{_COUNT})\s*\|"
    rf"\s*(?P<b>{_COUNT}\s+{_COUNT}\s+{_COUNT}\s+{_COUNT})$"
)
_MEAN = late(rf"^Avr:(?P<a>(?:\s+{_COUNT}){{3,4}})\s*\|(?P<b>(?:\s+{_COUNT}){{3,4}})$")
_TOTAL = late(
    rf"^Tot:\s+(?:{_COUNT}\s+)?(?P<usage>{_COUNT})\s+(?P<each>{_COUNT})\s+(?P<rating>{_COUNT})$"
)
_SIDES = (("a", "compressing"), ("b", "decompressing"))
_NAMES = (("rate", "KiB/s"), ("usage", "%"), ("rating of a busy CPU", "MIPS"), ("rating", "MIPS"))


@dataclass
class _Run(Run):
    """One start of the benchmark."""

    is_summed: bool = False


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if found := _THREADS.search(text):
        run = reading.begin() if run.results else run
        run.facts["cores"] = int(found["cores"])
    if found := _RUNNING.search(text):
        run = reading.begin() if run.results else run
        run.facts["threads"] = int(found["threads"])
    elif _HEAD.match(text):
        run = reading.begin() if run.is_summed else run
        run.line = run.line or reading.line.number
    elif found := _ROW.match(text):
        run.line = run.line or reading.line.number
        of: dict[str, Any] = {"dictionary_log2": int(found["bits"])}
        for side, what in _SIDES:
            for (name, unit), cell in zip(_NAMES, found[side].split(), strict=True):
                reading.add(f"{what}: {name}", cell, unit, "", of)
    elif found := _MEAN.match(text):
        run.line = run.line or reading.line.number
        for side, what in _SIDES:
            cells = found[side].split()
            for (name, unit), cell in zip(_NAMES[-len(cells) :], cells, strict=True):
                reading.add(f"{what}: {name}", cell, unit, "mean")
    elif found := _TOTAL.match(text):
        run.line = run.line or reading.line.number
        run.is_summed = True
        for (name, unit), key in zip(_NAMES[1:], ("usage", "each", "rating"), strict=True):
            reading.add(f"all: {name}", found[key], unit, "mean")


read = LineReader(TOOL, _Run, _line)
