"""What `benchbook explain` prints for people: a table of each run, then what is wrong with it."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from benchbook.core import number_format
from benchbook.core.sizes import format_bytes
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.results import Group, grouped
from benchbook.explain.units import in_base
from benchbook.findings import Finding

if TYPE_CHECKING:
    from benchbook.explain.explanation import Explained

MOST_ROWS = 40  # of one run; what is alike is folded above that
MOST_RUNS = 20  # tables of one file; nobody reads more, and each takes a hundredth of a second
FEW_RUNS = 5  # those of a file with more
MOST_SAID = 40  # findings, and notes
FOLDED = 5  # results alike, from which on they may be folded
_UNITS = {
    "kB/s": "kB/s (10³)", "MB/s": "MB/s (10⁶)", "GB/s": "GB/s (10⁹)",
    "KiB/s": "KiB/s (2¹⁰)", "MiB/s": "MiB/s (2²⁰)", "GiB/s": "GiB/s (2³⁰)",
    "kbit/s": "kbit/s (10³)", "Mbit/s": "Mbit/s (10⁶)", "Gbit/s": "Gbit/s (10⁹)", "us": "µs",
}  # fmt: skip
MOST_COLUMNS, MOST_DIGITS = 5, 20
# What is for rules, or follows from the others.
HIDDEN = {"elapsed_error_s", "rate_error_per_s", "bytes_moved", "arrays_moved", "repetition"}
HIDDEN |= {"mix", "clocks", "repetitions_at_most"}  # names and other figures tell them
HIDDEN |= {"quoted_from_line", "quoted_from_unit"}  # their finding says them
_WIDTH = 120  # where nobody looks at a terminal


def print_explained(explained: Explained, *, alone: bool) -> None:
    """One file; its name where there are several."""
    # Only a terminal has a width, and markup in a log is none of ours.
    width = None if sys.stdout.isatty() else _WIDTH
    console = Console(highlight=False, markup=False, emoji=False, width=width)
    if not alone and not explained.trouble:
        console.print(Text(visible(explained.called), style="bold"))
    runs = len(explained.reports)
    shown = explained.reports if runs <= MOST_RUNS else explained.reports[:FEW_RUNS]
    for report in shown:
        _print_report(console, report)
    _print_left(console, runs - len(shown), "runs")
    if explained.trouble:
        return
    for finding in explained.findings[:MOST_SAID]:
        _print_finding(console, finding)
    _print_left(console, len(explained.findings) - MOST_SAID, "findings")
    for ask in explained.asks:
        _say(console, f"? {ask.artefact}: ", f"{ask.why} Tell it with {ask.option}.", "cyan")
    for note in explained.notes[:MOST_SAID]:
        _say(console, "note: ", note, "dim")
    _print_left(console, len(explained.notes) - MOST_SAID, "notes")
    if not explained.findings and not explained.asks:
        about = "Apart from the notes, nothing" if explained.notes else "Nothing"
        console.print(f"{about} wrong was found in it.")


def _print_left(console: Console, more: int, what: str) -> None:
    if more > 0:
        console.print(f"and {more:,} more {what}: --json has all")


def visible(text: str) -> str:
    """Without what would speak to a terminal, and with nothing that cannot be written."""
    if text.isascii() and text.isprintable():
        return text
    shown = "".join(character if character.isprintable() else " " for character in text)
    return shown.encode("utf-8", "replace").decode("utf-8")


def _print_report(console: Console, report: Report) -> None:
    version = f" {report.version}" if report.version else ""
    console.print(Text(visible(f"{report.tool}{version}, from line {report.line}"), style="bold"))
    columns, same = columns_of(report.settings)
    facts = [
        f"{words(name)} {shown_as(name, value)}" for name, value in {**report.facts, **same}.items()
    ]
    if facts:
        console.print(Padding(Text(visible("; ".join(facts))), (0, 0, 0, 2)))
    if not (rows := rows_of(report)):
        return
    columns = [name for name in columns if any(name in of for *_, of in rows)][:MOST_COLUMNS]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("", "", "value", "unit", "", *map(words, columns), "line"):
        to_right = name in ("value", "line")
        table.add_column(name, justify="right" if to_right else "left", no_wrap=name != "")
    for line, name, statistic, value, unit, base, of in rows:
        cells = [
            name,
            statistic,
            value,
            unit,
            base,
            *(shown_as(name, of.get(name)) for name in columns),
        ]
        table.add_row(*(Text(visible(cell)) for cell in [*cells, line]))
    console.print(Padding(table, (0, 0, 0, 2)))


Row = tuple[str, str, str, str, str, str, dict[str, Any]]


def rows_of(report: Report) -> list[Row]:
    """A row for each result, or for those that are alike where there are many."""
    if len(report.results) <= MOST_ROWS:
        return [_row(result) for result in report.results]

    rows: list[Row] = []
    for several in _alike(report):
        few = sum(map(len, several)) < FOLDED
        rows += [_row(group) for own in several for group in own] if few else [_folded(several)]
    if len(rows) > MOST_ROWS:
        left = f"and {len(rows) - MOST_ROWS:,} more: --json has all"
        rows = [*rows[:MOST_ROWS], ("", left, "", "", "", "", {})]
    return rows


def _row(result: Result) -> Row:
    number = f"{result.value:,.10g}" if is_number(result.value) else str(result.value)[:MOST_DIGITS]
    unit = _UNITS.get(result.unit, result.unit)
    of = {name: value for name, value in result.of.items() if value is not None}
    return str(result.line), result.name, result.statistic, number, unit, _in_base(result), of


def _alike(report: Report) -> list[list[Group]]:
    """Its results by name and statistic, together those of one kind of unit: a slow interval is one
    in K among those in M."""
    by_kind = grouped(report.groups, lambda key: (key[0], key[1], in_base(1.0, key[2])[1]))
    return [[report.groups[key] for key in keys] for keys in by_kind.values()]


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
    statistic = f"{first.statistic} ({count:,}: least, median, most)".strip()
    between = f"{min(lines)}-{max(lines)}"
    return between, first.name, statistic, span, _UNITS.get(unit, unit), "", {}


def _values_in(own: Group, unit: str) -> list[float]:
    """Its values in a unit of the same kind."""
    printed, size = own[0].unit, in_base(1.0, unit)[0]
    if printed == unit:
        return own.values
    return [in_base(value, printed)[0] / size for value in own.values]


def _in_base(result: Result) -> str:
    """The same rate or time in the unit in which others are compared."""
    value, unit = in_base(result.value, result.unit)
    if unit == "bit/s" and result.unit != unit:
        return f"= {number_format.number(value / 8e9)} GB/s" if value >= 1e8 else ""
    if unit == "B/s" and result.unit != "GB/s":
        return f"= {number_format.number(value / 1e9)} GB/s" if value >= 1e7 else ""
    return ""


def columns_of(settings: Sequence[Mapping[str, Any]]) -> tuple[list[str], dict[str, Any]]:
    """Columns in which results differ, and those that all have alike, with their value. `settings`:
    the `of` of each."""
    every = list(dict.fromkeys(chain.from_iterable(dict.fromkeys(map(tuple, settings)))))
    shown = [name for name in every if name not in HIDDEN]
    first = settings[0] if settings else {}
    same = {
        name: first[name]
        for name in shown
        if name in first and all(name in of and of[name] == first[name] for of in settings)
    }
    return [name for name in shown if name not in same], same


# How the names of columns end, longest first; what has one says it in its value.
_ENDINGS = {
    "_bits_per_s": "bit/s", "_bytes_per_s": "B/s", "_bytes": "B", "_mib": "MiB",
    "_ns": "ns", "_us": "us", "_ms": "ms", "_s": "s",
}  # fmt: skip
_CALLED = {"start_s": "from", "end_s": "until"}  # `end` is a column, too


def words(column: str) -> str:
    """A column's name for people, without the unit that its value has."""
    if column in _CALLED:
        return _CALLED[column]
    ending = next((name for name in _ENDINGS if column.endswith(name)), "")
    return column.removesuffix(ending).replace("_", " ")


def shown_as(column: str, value: Any) -> str:
    """A column's value with its unit."""
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if not is_number(value):
        return str(value)[:MOST_DIGITS]
    if column.endswith("bytes") and 0 <= value < 1 << 62 and value == int(value):
        return format_bytes(int(value))
    unit = next((unit for ending, unit in _ENDINGS.items() if column.endswith(ending)), "")
    return f"{value:,.10g} {_UNITS.get(unit, unit)}".rstrip()


def _print_finding(console: Console, finding: Finding) -> None:
    factor = f", by {number_format.number(finding.factor)}" if finding.factor else ""
    places = finding.where[:3] + (
        [f"{len(finding.where) - 3} more"] if len(finding.where) > 3 else []
    )
    where = f" ({'; '.join(places)})" if places else ""
    _say(
        console,
        f"! {finding.artefact} ({finding.effect}{factor}): ",
        finding.explanation + where,
        "bold red",
    )
    if finding.remedy:
        console.print(Padding(Text(visible(f"→ {finding.remedy}")), (0, 0, 0, 2)))


def _say(console: Console, head: str, text: str, style: str) -> None:
    console.print(Text.assemble((visible(head), style), visible(text)))
