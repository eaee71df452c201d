"""Rows of perf stat -x: value, unit, event, perhaps a spread, run time in ns, share of it in %."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report, Result
from benchbook.explain.printed_digits import LONGEST
from benchbook.explain.readers.common.perf_events import (
    EVENT,
    UNIT,
    UNITS,
    add_count,
    add_metric,
    is_absent,
    said_of,
)

TOOL = "perf-stat"
_CELLS = 4  # separators of a row, at least
_APART = 2  # lines: beyond it a row is of another start
_AT = late(r"\d+[.,]\d{6,9}")
# By separator; before the count may stand time, core, and how many were summed.
_FIELDS = {
    separator: late(
        rf"\s*+(?P<before>(?:[^{one}]*{one}){{0,3}}?)\s*+"
        rf"(?P<printed><not (?:supported|counted)>|\d+(?:{point}\d+)?)\s*+{one}\s*+"
        rf"(?:(?P<unit>{UNIT})\s*+)?{one}\s*+(?P<event>{EVENT})\s*+{one}(?:[^{one}%]*%\s*+{one})?"
        rf"\s*+\d+\s*+{one}\s*+(?P<share>\d{{1,3}}[.,]\d+)\s*+"
        rf"(?:{one}(?:\s*+(?P<metric>\d+(?:{point}\d+)?)\s*+{one}(?P<said>[^{one}]*))?|$)"
    )
    for separator, one, point in (
        (",", ",", r"\."),
        (";", ";", "[.,]"),
        ("\t", r"\t", "[.,]"),
        ("|", r"\|", "[.,]"),
    )
}
# Another metric in a line of its own, where the fields of an event are empty.
_MORE = late(
    r"(?:[^,;\t|]*+[,;\t|]){5,8}(?P<metric>\d+(?:[.,]\d+)?)[,;\t|]"
    r"(?P<said>% +tma_\w+|stalled cycles per insn)\s*$"
)


class _Row(NamedTuple):
    """A row as it is printed."""

    at: str  # when its interval ended; "" where it is of the whole
    place: str
    count: str
    unit: str
    event: str
    share: str
    metric: str
    said: str  # of the metric, its unit; "" where there is none


def separated(log: Log) -> list[Report]:
    """One report for each start of perf stat -x."""
    lines = log.like(_may_be_one)
    rows = [_row(line.text) for line in lines]
    starts: list[Report] = []
    before, event = -_APART - 1, ""  # the number of the last row, and its event
    for line, row in zip(lines, rows, strict=True):
        near = line.number - before <= _APART
        own: list[Result] = []
        if row:
            own = _results(line, row)
        elif near and (more := _MORE.match(line.text)):
            add_metric(own, line, event, more["metric"], said_of(more["said"]), "", {})
            before = line.number
        if own:
            if not near:
                starts.append(Report(TOOL, [], line.number))
            starts[-1].results.extend(own)
            before, event = line.number, row.event if row else event
    return starts


def _may_be_one(text: str) -> bool:
    """Whether a line is one of these."""
    if len(text) > LONGEST or text.startswith("{"):
        return False
    return _row(text) is not None or _MORE.match(text) is not None


def _row(text: str) -> _Row | None:
    """The cells of a row, whatever separates them."""
    for separator, pattern in _FIELDS.items():
        if text.count(separator) < _CELLS or not (found := pattern.match(text)):
            continue
        before, *others = found.groups("")
        places = [one.strip() for one in before.split(separator)[:-1]]
        at = places.pop(0) if places and _AT.fullmatch(places[0]) else ""
        return _Row(at, separator.join(places), *others)
    return None


def _results(line: Line, row: _Row) -> list[Result]:
    """Its count, and the metric beside it; nothing where it cannot be read."""
    of: dict[str, Any] = {"running_fraction": _fraction(row.share)}
    if row.at:
        of["interval_end_s"] = _seconds(row.at)
    if row.place:
        of["place"] = row.place
    found: list[Result] = []
    add_count(found, line, row.event, row.count, UNITS.get(row.unit, "events"), "", of)
    if found and row.metric and not is_absent(row.count):
        add_metric(found, line, row.event, row.metric, said_of(row.said), "", of)
    return found


@lru_cache
def _fraction(percent: str) -> float:
    """Nearly all are the same."""
    return _seconds(percent) / 100


def _seconds(text: str) -> float:
    return float(text.replace(",", "."))
