"""What `benchbook explain` prints for people: a table of each run, then what is wrong with it."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from benchbook.core import number_format
from benchbook.core.sizes import format_bytes
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import SUM, Report, Result
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
HIDDEN |= {
    "mix",
    "clocks",
    "repetitions_at_most",
    "benchmark",
    "is_same",
    "flags",
}  # names and other figures tell them
HIDDEN |= {"unpinned", "binding_unseen", "heading", "limit_low", "limit_high", "spread_percent"}
HIDDEN |= {"quoted_from_line", "quoted_from_unit"}  # their finding says them
HIDDEN |= {"setting", "reference_parts"}
_INTERNAL = late(
    r"^(?:said|warned|fastest|debug|unmeasured|checksum|clock_step|has_head|below_tick|is_"
    r"|asked_in|counted_in|cached_on|first_run)|_line$|_in_line$"
)
_TRIVIAL = {"state": "ok", "kind": "event"}  # what is so everywhere else
TIMES = "×"
MOST_DECIMALS, MOST_OF_DECIMALS = 6, 1e15
_WIDTH = 100  # where nobody looks at a terminal
# What a finding means for the figures, by its effect.
MEANING = {
    "invalidates": "do not use these figures",
    "biases": "these figures are off",
    "explains": "this is why",
    "informs": "to be said with these figures",
}


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
        why = ask.why[:1].upper() + ask.why[1:]
        _say(console, "? ", f"{why} Tell it with {ask.option} ({ask.artefact}).", "cyan")
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
        f"{words(name)} {shown}"
        for name, value in {**report.facts, **same}.items()
        if (shown := shown_as(name, value)) and is_for_people(name, value)
    ]
    if facts:
        console.print(Padding(Text(visible("; ".join(facts))), (0, 0, 0, 2)))
    if not (rows := rows_of(report)):
        return
    columns = [name for name in columns if any(name in of for *_, of in rows)][:MOST_COLUMNS]
    cells = [
        [name, statistic, value, unit, base, *(shown_as(c, of.get(c)) for c in columns), line]
        for line, name, statistic, value, unit, base, of in rows
    ]
    heads = ["", "", "value", "unit", "", *map(words, columns), "line"]
    while len(heads) > _FIXED and _wide([heads, *cells]) > console.width:
        # The one before the line: the last setting, then what is in another unit.
        for row in (heads, *cells):
            del row[-2]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for at, head in enumerate(heads):
        # Where there is too little room, names take a second line, and no digit is left out.
        widest = max(len(row[at]) for row in (heads, *cells)) if at else None
        to_right = head in ("value", "line")
        justify: Literal["right", "left"] = "right" if to_right else "left"
        table.add_column(head, justify=justify, no_wrap=at > 0, min_width=widest)
    for row in cells:
        table.add_row(*(Text(visible(cell)) for cell in row))
    console.print(Padding(table, (0, 0, 0, 2)))
    if any(TIMES in statistic for _, _, statistic, *_ in rows):
        _say(console, "  ", f"{TIMES}60: 60 lines, as least … median … most", "dim")


_FIXED = 5  # name, statistic, value, unit and line stand in every table


def _wide(rows: Sequence[Sequence[str]]) -> int:
    """Characters that a table of these rows needs, with what is between its columns."""
    return 2 + sum(2 + max(map(len, column)) for column in zip(*rows, strict=True))


Row = tuple[str, str, str, str, str, str, dict[str, Any]]


def rows_of(report: Report) -> list[Row]:
    """A row for each result, or for those that are alike where there are many."""
    if len(report.results) <= MOST_ROWS:
        decimals = {key: _decimals(several) for key, several in report.groups.items()}
        return [
            _row(result, decimals[result.name, result.statistic, result.unit])
            for result in report.results
        ]

    rows: list[Row] = []
    count = 0  # of all rows: those that are not shown are not made
    for several in _alike(report):
        results = sum(map(len, several))
        if results >= FOLDED:
            count += 1
            rows += [_folded(several)] if count <= MOST_ROWS else []
            continue
        count += results
        if len(rows) < MOST_ROWS:
            rows += [_row(result, _decimals(own)) for own in several for result in own]
    if count > MOST_ROWS:
        left = f"and {count - MOST_ROWS:,} more: --json has all"
        rows = [*rows[:MOST_ROWS], ("", left, "", "", "", "", {})]
    return rows


def _decimals(several: Group) -> int | None:
    """The decimals that all numbers of one kind are shown with; None where they have too many."""
    parts = [repr(value) for value in several.values if is_number(value)]
    if any("e" in part for part in parts):
        return None
    most = max((len(part.partition(".")[2].rstrip("0")) for part in parts), default=0)
    return most if most <= MOST_DECIMALS else None


def _row(result: Result, decimals: int | None) -> Row:
    if not is_number(result.value):
        number = str(result.value)[:MOST_DIGITS]
    elif decimals is None or abs(result.value) >= MOST_OF_DECIMALS:
        number = f"{result.value:,.10g}"
    else:
        number = f"{result.value:,.{decimals}f}"
    unit = _UNITS.get(result.unit, result.unit)
    of = {name: value for name, value in result.of.items() if value is not None}
    return str(result.line), result.name, result.statistic, number, unit, _in_base(result), of


def _alike(report: Report) -> list[list[Group]]:
    """Its results by name and statistic, together those of one kind of unit: a slow interval is one
    in K among those in M. Sums over streams are no streams, and stand by themselves."""
    by_kind = grouped(report.groups, lambda key: (key[0], key[1], in_base(1.0, key[2])[1]))
    every = [[report.groups[key] for key in keys] for keys in by_kind.values()]
    if "stream" not in report.columns:
        return every
    alike: list[list[Group]] = []
    for groups in every:
        sums = [Group(result for result in own if result.of.get("stream") == SUM) for own in groups]
        if not any(sums):
            alike.append(groups)
            continue
        streams = [
            Group(result for result in own if result.of.get("stream") != SUM) for own in groups
        ]
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


def is_for_people(column: str, value: Any) -> bool:
    """Whether a fact is for people: some are for rules only, whose findings say them."""
    return (
        not isinstance(value, Mapping)
        and column not in HIDDEN
        and not _INTERNAL.search(column)
        and _TRIVIAL.get(column) != value
    )


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
    """What it is in one sentence, then the rest, then where it shows, then what to do."""
    sentences = _first_sentence(finding.explanation)
    _say(console, "! ", sentences[0], "bold red")
    factor = f", by a factor of {number_format.number(finding.factor)}" if finding.factor else ""
    grade = f"{MEANING[finding.effect]}{factor} ({finding.artefact})"
    where = f"{places}: {grade}" if (places := _places(finding.where)) else grade
    for text in (*sentences[1:], where, f"→ {finding.remedy}" if finding.remedy else ""):
        if text:
            console.print(Padding(Text(visible(text)), (0, 0, 0, 2)))


def _first_sentence(text: str) -> list[str]:
    """The first sentence, and the rest where there is one; a quotation is not parted."""
    for end in _SENTENCE.finditer(text):
        if text.count("“", 0, end.start()) == text.count("”", 0, end.start()):
            return [text[: end.start()], text[end.end() :]]
    return [text]


_SENTENCE = late(r"(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.) (?=[A-Z“])")
_PLACE = late(r"^lines? (?P<lines>\d+(?: to \d+)?)(?:: .*)?$")
SHOWN_PLACES = 8


def _places(where: Sequence[str]) -> str:
    """The lines of these places, each once."""
    found = [_PLACE.match(place) for place in where]
    lines = list(dict.fromkeys(match["lines"] for match in found if match))
    if not lines:
        return "; ".join(where[:SHOWN_PLACES])
    if len(lines) > SHOWN_PLACES and all(line.isdecimal() for line in lines):
        numbers = sorted(map(int, lines))
        return f"{len(numbers)} lines from {numbers[0]} to {numbers[-1]}"
    left = len(lines) - SHOWN_PLACES
    shown = [*lines[:SHOWN_PLACES], *([f"{left} more"] if left > 0 else [])]
    called = "line" if len(lines) == 1 and lines[0].isdecimal() else "lines"
    return f"{called} {number_format.listed(shown)}"


def _say(console: Console, head: str, text: str, style: str) -> None:
    console.print(Text.assemble((visible(head), style), visible(text)))
