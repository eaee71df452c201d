"""sbc-bench: the summary of memory, 7-Zip and cpuminer that it prints at its end."""

from __future__ import annotations

from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "sbc-bench"
_MEMORY = late(
    r"^\*? ?(?P<what>memcpy|memset): (?P<rate>\d{1,7}(?:\.\d)?) MB/s(?: \((?P<of>[^()]{1,60})\))?$"
)
_SCORES = late(
    r"^7-zip total scores \(\d{1,3} consecutive runs\): (?P<scores>\d{1,7}(?:,\d{1,7}){0,9})"
    r"(?:, single-threaded: (?P<single>\d{1,7}))?$"
)
_HASHES = late(
    r"^Cpuminer total scores \([^()]{1,40}\): (?P<scores>\d{1,6}(?:\.\d{1,3})?"
    r"(?:,\d{1,6}(?:\.\d{1,3})?){0,19}) kH/s$"
)


def _line(reading: Reading[Run], text: str) -> None:
    if found := _MEMORY.match(text):
        of: dict[str, Any] = {"label": found["of"]} if found["of"] else {}
        reading.add(found["what"], found["rate"], "MB/s", "", of)
    elif found := _SCORES.match(text):
        for number, score in enumerate(found["scores"].split(",")):
            reading.add("7-Zip rating", float(score), "MIPS", "sample", {"repetition": number})
        if found["single"]:
            reading.add("7-Zip rating of one thread", found["single"], "MIPS")
    elif found := _HASHES.match(text):
        for number, score in enumerate(found["scores"].split(",")):
            of = {"repetition": number}
            reading.add("cpuminer rate", float(score), "khashes/s", "sample", of)


read = LineReader(TOOL, Run, _line)
