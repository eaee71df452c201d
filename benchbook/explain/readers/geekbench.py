"""Geekbench: scores of one core and of all, as it prints them and as people write them down."""

from __future__ import annotations

from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "geekbench"
_SCORE = r"\d{2,6}"
_ONE, _ALL = r"[Ss]ingle[- ]?[Cc](?:ore)?", r"[Mm]ulti[- ]?[Cc](?:ore)?"
_LINE = late(rf"^(?P<kind>Single|Multi)-Core(?: Score)?\s{{2,60}}(?P<score>{_SCORE})$")
_PAIR = late(
    rf"{_ONE}(?: [Ss]core)? ?[:=] ?(?P<one>{_SCORE})(?![\d.]).{{1,12}}?{_ALL}(?: [Ss]core)? ?[:=] ?"
    rf"(?P<all>{_SCORE})(?![\d.])"
)
_SHORT = late(rf"\((?P<one>{_SCORE}) single ?/ ?(?P<all>{_SCORE}) multi\b")


def _line(reading: Reading[Run], text: str) -> None:
    of: dict[str, Any] = {"test": "Geekbench"}
    if found := _LINE.match(text):
        name = "score of one core" if found["kind"] == "Single" else "score of all cores"
        if any(result.name == name for result in reading.run.results):
            reading.begin()
        reading.add(name, found["score"], "points", "", of)
    elif "ingle" in text and (found := _PAIR.search(text) or _SHORT.search(text)):
        if reading.run.results:
            reading.begin()
        reading.add("score of one core", found["one"], "points", "", of)
        reading.add("score of all cores", found["all"], "points", "", of)


read = LineReader(TOOL, Run, _line)
