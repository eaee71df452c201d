"""Rows of perf stat -x: value, unit, event, perhaps a spread, run time in ns, share of it in %.

With -I the same events come again in every interval: very many of these are read as columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Key, Line, Log, Report, Result
from benchbook.explain.printed_digits import LONGEST
from benchbook.explain.readers.common.perf_events import (
    EVENT,
    UNIT,
    UNITS,
    add_count,
    add_metric,
    count_of,
    is_absent,
    metric_of,
    number,
    rate_error_per_s,
    said_of,
    state,
    unit_of,
)
from benchbook.explain.results import LONG, Block, Column, Settings, results_of

TOOL = "perf-stat"
_CELLS = 4  # separators of a row, at least
_APART = 2  # lines: beyond it a row is of another start
_MOST = 64  # rows of an interval, of which columns are made
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
# A row of -I as perf itself writes it, as nearly all are: in a third of the time.
_USUAL = late(
    r"[ \t]*+(\d++\.\d{9}),()(<not (?:supported|counted)>|\d++(?:\.\d++)?)"
    rf",(|{UNIT}),([A-Za-z][\w.:/=@?-]*+),\d++,(\d{{1,3}}\.\d\d),(?:(\d++(?:\.\d++)?),([^,]*+)|,)"
)
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

    @property
    def kind(self) -> tuple[object, ...]:
        """What those of one event have alike, interval by interval."""
        absent = self.count if self.count[0] == "<" else ""
        return (
            self.at == "",
            self.place,
            absent,
            self.unit,
            self.event,
            self.metric == "",
            self.said,
        )


def separated(log: Log) -> list[Report]:
    """One report for each start of perf stat -x."""
    lines = log.like(_may_be_one)
    rows = [_row(line.text) for line in lines]
    blocks = _blocks(lines, rows)
    starts: list[tuple[int, list[Result | Block]]] = []  # their lines, and what they hold
    before, event, at = -_APART - 1, "", 0
    while at < len(lines):
        line, row = lines[at], rows[at]
        near = line.number - before <= _APART
        made: Sequence[Result | Block]
        if row is None:
            if near and (more := _MORE.match(line.text)):
                own: list[Result] = []
                add_metric(own, line, event, more["metric"], said_of(more["said"]), "", {})
                starts[-1][1].extend(own)
                before = line.number
            at += 1
            continue
        if at in blocks:
            several, block = blocks[at]
            made = [block]
        else:
            several, made = 1, _results(line, row)
        at += several
        if made:
            if not near:
                starts.append((line.number, []))
            starts[-1][1].extend(made)
            last = rows[at - 1]
            before, event = lines[at - 1].number, last.event if last else ""
    return [Report(TOOL, results_of(parts), line) for line, parts in starts]


def _may_be_one(text: str) -> bool:
    """Whether a line is one of these."""
    if len(text) > LONGEST or text.startswith("{"):
        return False
    return _row(text) is not None or _MORE.match(text) is not None


def _row(text: str) -> _Row | None:
    """The cells of a row, whatever separates them."""
    if usual := _USUAL.fullmatch(text):
        return _Row._make(usual.groups(""))
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


def _blocks(lines: Sequence[Line], rows: Sequence[_Row | None]) -> dict[int, tuple[int, Block]]:
    """Rows that come again and again, as columns: from which one on, how many rows, and these."""
    kinds = [row and row.kind for row in rows]
    next_of: dict[object, int] = {}
    periods = [0] * len(rows)
    for at in range(len(rows) - 1, -1, -1):
        periods[at] = next_of.get(kinds[at], at) - at
        next_of[kinds[at]] = at
    apart = [
        kind is None or line.number - above.number > _APART
        for kind, line, above in zip(kinds[1:], lines[1:], lines, strict=False)
    ]
    found: dict[int, tuple[int, Block]] = {}
    at = 0
    while at < len(rows):
        period, end = periods[at], at + 1
        if not 0 < period < _MOST or kinds[at] is None:
            at += 1
            continue
        # First those of one period, then what comes again, as long as they stand together.
        while end < len(rows) and not apart[end - 1]:
            if end - at >= period and kinds[end] != kinds[end - period]:
                break
            end += 1
        count = (end - at) // period * period
        several = [row for row in rows[at : at + count] if row]
        numbers = [line.number for line in lines[at : at + count]]
        if count >= max(LONG, 2 * period) and (block := _block(several, numbers, period)):
            found[at] = count, block
            at += count
        else:
            at = max(end - period, at) + 1  # what begins before ends there as well
    return found


def _block(rows: list[_Row], numbers: list[int], period: int) -> Block | None:
    """Columns of the events that come again in each period; None where two have one name, or a
    number is none."""
    columns: list[Column] = []
    for at in range(period):
        own = _columns(rows[at::period], numbers[at::period])
        if not own:
            return None
        columns += own
    return Block(columns) if len({one.key for one in columns}) == len(columns) else None


def _columns(rows: list[_Row], numbers: list[int]) -> list[Column]:
    """The counts of one event, and the metrics beside them; none where one is no number."""
    first = rows[0]
    ends, _, counts, *_, shares, metrics, _ = zip(*rows, strict=True)
    unit = unit_of(first.event, UNITS.get(first.unit, "events"))
    values = [count_of(one, unit) for one in counts]
    of: dict[str, list[Any]] = {"running_fraction": list(map(_fraction, shares))}
    if first.at:
        of["interval_end_s"] = list(map(_seconds, ends))
    if first.place:
        of["place"] = [first.place] * len(rows)
    states = {name: [value] * len(rows) for name, value in state(first.count).items()}
    found = [_column((first.event, "", unit), values, numbers, of | states)]
    said = said_of(first.said)
    if first.metric and said and not is_absent(first.count):
        name, size, unit, is_rate = metric = metric_of(first.event, said)
        made = [number(one, counts=False) for one in metrics]
        values = [None if one is None else one * size for one in made]
        if is_rate:
            of = of | {"rate_error_per_s": [rate_error_per_s(metric, one) for one in metrics]}
        found.append(_column((name, "", unit), values, numbers, of))
    return [one for one in found if one] if all(found) else []


def _column(
    key: Key, values: list[float | None], numbers: list[int], of: dict[str, list[Any]]
) -> Column | None:
    """One below the other, with what they do not differ in once; None where one has no value."""
    numbered = [one for one in values if one is not None]
    own = {name: several for name, several in of.items() if len(set(several)) > 1}
    shared = {name: several[0] for name, several in of.items() if name not in own}
    settings = Settings(shared, own) if own else shared
    return Column(key, numbered, numbers, settings) if len(numbered) == len(values) else None
