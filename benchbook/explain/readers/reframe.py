"""ReFrame: its reports of performance, in all versions, and the figures that missed a reference."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "reframe"
_HEAD = late(r"^(?:PERFORMANCE REPORT|FAILURE INFO for (?P<failed>\S.{0,120}))$")
# To 3: a name, a system and an environment above each other; from 4: in one line.
_NAME = late(r"^(?P<name>[A-Za-z_]\w{0,80}(?: [%@/]\S{1,80}){0,6})$")
_BRACKETED = late(r"^\[(?P<name>[A-Za-z_]\w{0,80}(?: [%@/]\S{1,80}){0,8})\]$")
_OK = late(r"^\[ +(?:OK|FAIL) +\] \(\s*\d+/\d+\) (?P<name>\S.{0,160})$")
_UNIT = r"(?P<unit>[A-Za-zµ%][\w/%^.-]{0,20})"
_FIGURE = late(
    r"^(?:[*-]|P:) (?P<name>[A-Za-z_][\w. -]{0,60}): (?P<value>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?) "
    rf"{_UNIT}(?: \(r: ?(?P<reference>-?\d+(?:\.\d+)?)\b"
    r"(?:[^,]{0,20}, l: ?(?P<low>-?\d+(?:\.\d+)?|None), u: ?(?P<high>-?\d+(?:\.\d+)?|None))?.*\))?$"
)
# A figure beyond its limits: what was expected, the lower and the upper one.
_NUMBER = r"-?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|inf|None)"
_MISSED = late(
    rf"failed to meet reference: (?P<name>[\w. -]{{1,60}})=(?P<value>{_NUMBER})(?: ?\S{{1,10}})?, "
    rf"expected (?P<expected>{_NUMBER})(?: ?\S{{1,10}})? "
    rf"\(l=(?P<low>{_NUMBER}), u=(?P<high>{_NUMBER})\)"
)
_SANITY = late(r"Reason: sanity error: (?P<why>.{1,160})$")
_UNITS = {"MB/s": "MB/s", "GB/s": "GB/s", "us": "us", "ms": "ms", "s": "s", "seconds": "s"}


@dataclass
class _Run(Run):
    """The report of one log; `test` is the last name above a figure."""

    line: int = 0
    test: str = ""
    is_own: bool = False  # whether a line was seen that only ReFrame prints

    def finish(self) -> bool:
        """Give what missed its reference the unit of its row; only what has a line that is
        ReFrame's own."""
        units = {result.name: result.unit for result in self.results if result.unit != "1"}
        self.results = [
            replace(result, unit=units.get(result.name, result.unit))
            if "expected" in result.of
            else result
            for result in self.results
        ]
        return bool(self.results) and self.is_own


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if found := _HEAD.match(text):
        run.is_own, run.line = True, run.line or reading.line.number
        run.test = found["failed"] or ""
    elif "failed to meet reference" in text and (found := _MISSED.search(text)):
        run.is_own = True
        of: dict[str, Any] = {"test": run.test} if run.test else {}
        for name, column in (
            ("expected", "expected"),
            ("low", "limit_low"),
            ("high", "limit_high"),
        ):
            limit = (
                reading.number(found[name]) if found[name] not in ("None", "inf", "-inf") else None
            )
            of |= {column: limit} if limit is not None else {}
        reading.add(found["name"], found["value"], "1", "", of)
    elif found := _SANITY.search(text):
        run.facts |= {"sanity_error": found["why"], "sanity_line": reading.line.number}
    elif text.startswith("[") and (found := _OK.match(text) or _BRACKETED.match(text)):
        run.test, run.is_own = found["name"].split(" ")[0], run.is_own or "OK" in text[:12]
    elif text.startswith(("* ", "- ", "P: ")) and (found := _FIGURE.match(text)):
        run.is_own |= text.startswith("P: ") and found["reference"] is not None
        of = {"test": run.test} if run.test else {}
        unit = _UNITS.get(found["unit"], found["unit"])
        reading.add(found["name"], found["value"], unit, "", of | _beyond(reading, found))
    elif run.is_own and (found := _NAME.match(text)):
        run.test = found["name"].split(" ")[0]


def _beyond(reading: Reading[_Run], found: re.Match[str]) -> dict[str, Any]:
    """The reference and the limits of a figure that is beyond one of them; the limits are printed
    as shares of the reference."""
    value, reference = reading.number(found["value"]), reading.number(found["reference"])
    if value is None or not reference or found["low"] is None:
        return {}
    of: dict[str, Any] = {"expected": reference}
    for end, column in (("low", "limit_low"), ("high", "limit_high")):
        if found[end] != "None":
            of[column] = reference + abs(reference) * float(found[end])
    low, high = of.get("limit_low", value), of.get("limit_high", value)
    return {} if low <= value <= high else of


read = LineReader(TOOL, _Run, _line)
