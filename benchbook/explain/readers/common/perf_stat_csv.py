"""Rows of perf stat -x: value, unit, event, perhaps a spread, run time in ns, share of it in %."""

from __future__ import annotations

from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report, Result
from benchbook.explain.printed_digits import LONGEST
from benchbook.explain.readers.common.perf_events import (
    EVENT,
    UNIT,
    UNITS,
    add_count,
    add_metric,
    words_of,
)

TOOL = "perf-stat"
_CELLS = 4  # separators of a row, at least
_APART = 2  # lines: beyond it a row is of another start
_AT = late(r"\d+[.,]\d{6,9}")
# By separator; before the count may stand time, core, and how many were summed.
_FIELDS = {
    separator: late(
        rf"\s*+(?P<before>(?:[^{mark}]*{mark}){{0,3}}?)\s*+"
        rf"(?P<printed><not (?:supported|counted)>|\d+(?:{point}\d+)?)\s*+{mark}\s*+"
        rf"(?:(?P<unit>{UNIT})\s*+)?{mark}\s*+(?P<event>{EVENT})\s*+{mark}(?:[^{mark}%]*%\s*+{mark})?"
        rf"\s*+\d+\s*+{mark}\s*+(?P<share>\d{{1,3}}[.,]\d+)\s*+"
        rf"(?:{mark}(?:\s*+(?P<metric>\d+(?:{point}\d+)?)\s*+{mark}(?P<words>[^{mark}]*))?|$)"
    )
    for separator, mark, point in (
        (",", ",", r"\."),
        (";", ";", "[.,]"),
        ("\t", r"\t", "[.,]"),
        ("|", r"\|", "[.,]"),
    )
}
# Another metric in a line of its own, where the fields of an event are empty.
_MORE = late(
    r"(?:[^,;\t|]*+[,;\t|]){5,8}(?P<metric>\d+(?:[.,]\d+)?)[,;\t|]"
    r"(?P<words>% +tma_\w+|stalled cycles per insn)\s*$"
)


def separated(log: Log) -> list[Report]:
    """One report for each start of perf stat -x."""
    starts: list[Report] = []
    before, event = -_APART - 1, ""  # the number of the last row, and its event
    for line in log.like(_may_be_one):
        near = line.number - before <= _APART
        own: list[Result] = []
        if row := _row(line.text):
            _add(own, line, row)
        elif near and (more := _MORE.match(line.text)):
            add_metric(own, line, event, more["metric"], words_of(more["words"]), "", {})
            before = line.number
        if own:
            if not near:
                starts.append(Report(TOOL, [], line.number))
            starts[-1].results.extend(own)
            before, event = line.number, row["event"] if row else event
    return starts


def _may_be_one(text: str) -> bool:
    """Whether a line is one of these."""
    if len(text) > LONGEST or text.startswith("{"):
        return False
    return _row(text) is not None or _MORE.match(text) is not None


def _row(text: str) -> dict[str, str] | None:
    """The cells of a row by name, whatever separates them."""
    for separator, pattern in _FIELDS.items():
        if text.count(separator) >= _CELLS and (found := pattern.match(text)):
            return {"separator": separator, **found.groupdict("")}
    return None


def _add(results: list[Result], line: Line, row: dict[str, str]) -> None:
    """Add its count, and the metric next to it; nothing where it cannot be read."""
    of: dict[str, Any] = {"running_fraction": _seconds(row["share"]) / 100}
    places = [place.strip() for place in row["before"].split(row["separator"])[:-1]]
    if places and _AT.fullmatch(places[0]):
        of["interval_end_s"] = _seconds(places.pop(0))
    if place := row["separator"].join(places):
        of["place"] = place
    unit = UNITS.get(row["unit"], "events")
    add_count(results, line, row["event"], row["printed"], unit, "", of)
    if results and not row["printed"].startswith("<"):
        add_metric(results, line, row["event"], row["metric"], words_of(row["words"]), "", of)


def _seconds(text: str) -> float:
    return float(text.replace(",", "."))
