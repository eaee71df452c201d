"""A row for each result of a report, or for those that are alike where there are many."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from benchbook.core import number_format
from benchbook.explain.figures.cells import (
    decimals_of,
    in_base_words,
    shown_statistic,
    unit_words,
    value_words,
)
from benchbook.explain.model import SUM, Report, Result
from benchbook.explain.results import Group, grouped, groups_of
from benchbook.explain.units import in_base

MOST_ROWS = 40  # of one run; what is alike is folded above that
FOLDED = 5  # results alike, from which on they may be folded
TIMES = "×"
# line, name, statistic, value, unit, the same in GB/s, settings
Row = tuple[str, str, str, str, str, str, dict[str, Any]]


def rows_of(report: Report, results: Sequence[Result] | None = None) -> list[Row]:
    """The rows of a report, or of these of its results."""
    every = report.results if results is None else results
    groups = report.groups if results is None else groups_of(results)
    if len(every) <= MOST_ROWS:
        decimals = {key: decimals_of(several.values) for key, several in groups.items()}
        return [_row(own, decimals[own.name, own.statistic, own.unit]) for own in every]
    rows: list[Row] = []
    count = 0  # of all rows: those that are not shown are not made
    for several in _alike(list(groups.values())):
        number = sum(map(len, several))
        if number >= FOLDED:
            count += 1
            rows += [_folded(several)] if count <= MOST_ROWS else []
            continue
        count += number
        if len(rows) < MOST_ROWS:
            rows += [_row(own, decimals_of(kind.values)) for kind in several for own in kind]
    if count > MOST_ROWS:
        left = f"and {count - MOST_ROWS:,} more: --json has all"
        rows = [*rows[:MOST_ROWS], ("", left, "", "", "", "", {})]
    return rows


def _row(result: Result, decimals: int | None) -> Row:
    number = value_words(result, decimals)
    unit = unit_words(result.unit)
    of = {name: value for name, value in result.of.items() if value is not None}
    return (
        str(result.line),
        result.name,
        shown_statistic(result),
        number,
        unit,
        in_base_words(result),
        of,
    )


def _alike(every: Sequence[Group]) -> list[list[Group]]:
    """Groups by name and statistic, together those of one kind of unit: a slow interval is one in K
    among those in M. Sums over streams are no streams, and stand by themselves."""
    by_kind = grouped(
        every, lambda own: (own[0].name, own[0].statistic, in_base(1.0, own[0].unit)[1])
    )
    alike: list[list[Group]] = []
    for groups in by_kind.values():
        sums = [Group(each for each in own if each.of.get("stream") == SUM) for own in groups]
        if not any(sums):
            alike.append(groups)
            continue
        streams = [Group(each for each in own if each.of.get("stream") != SUM) for own in groups]
        alike += [part for part in ([*filter(None, streams)], [*filter(None, sums)]) if part]
    return alike


def _folded(several: Sequence[Group]) -> Row:
    """Many results that are alike: how many, from where to where, and the middle, in the unit that
    most of them have."""
    unit = max(several, key=len)[0].unit
    values = sorted(value for own in several for value in _values_in(own, unit) if value == value)
    span = "not one number"
    if values:
        ends = (values[0], statistics.median(values), values[-1])
        span = " … ".join(number_format.number(end) for end in ends)
    lines = [result.line for own in several for result in (own[0], own[-1])]
    first, count = several[0][0], sum(map(len, several))
    whose = f"{SUM} " if first.of.get("stream") == SUM else ""
    statistic = f"{whose}{first.statistic} {TIMES}{count:,}".strip()
    between = f"{min(lines)}-{max(lines)}"
    return between, first.name, statistic, span, unit_words(unit), "", {}


def _values_in(own: Group, unit: str) -> list[float]:
    """Its values in a unit of the same kind."""
    printed, size = own[0].unit, in_base(1.0, unit)[0]
    if printed == unit:
        return own.values
    return [in_base(value, printed)[0] / size for value in own.values]
