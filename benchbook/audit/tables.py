"""A paper's tables as the rules of the audit see them, and what a rule hands back."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from benchbook.audit.reasons import Reason, recorded
from benchbook.audit.rounding import (
    Compared,
    Interval,
    compare,
    exactly,
    plain,
    rounded,
    shown,
)
from benchbook.core.errors import BenchbookError

Rows = list[dict[str, str]]


class At(NamedTuple):
    """A printed cell: its row counts from 1; None stands for the whole column."""

    table: str
    row: int | None
    column: str


@dataclass(frozen=True)
class Item:
    """One check. printed: as printed; recomputed: a number, or words where there is none;
    tolerance: what rounding allows, None where nothing is rounded. cells: what the check is about,
    not what it is recomputed from; label: of its row; cause: why it does not fit, which items of
    one slip share; allowed: what the digits of both numbers allow, printed first; facts: what the
    sentence of its rule is filled with, in report/; qualified: what the source itself says that
    takes the edge off a statement which its tables do not fit, so that it is consistent."""

    table: str
    rule: str
    where: str
    printed: str
    recomputed: float | str
    consistent: bool
    tolerance: float | None
    facts: dict[str, Any]
    cells: tuple[At, ...] = ()
    label: str = ""
    cause: Reason | None = None
    allowed: tuple[Interval, Interval] | None = None
    qualified: str = ""

    def record(self, paper: str, tables: Tables) -> dict[str, Any]:
        """This item as audit.json carries it, with the names of its tables and its column."""
        keys = ("table", "rule", "where", "printed", "recomputed", "consistent", "tolerance")
        return {
            "paper": paper,
            **{key: getattr(self, key) for key in keys},
            "facts": {name: recorded(fact) for name, fact in self.facts.items()},
            "cells": [cell._asdict() for cell in self.cells],
            "label": self.label,
            "qualified": self.qualified,
            "cause": recorded(self.cause),
            "value": shown(self.allowed[1], self.printed) if self.allowed else None,
            "name": tables.name(self.table),
            "titles": [tables.title(table) for table in self.table.split(", ")],
            "column": tables.heading(*self.cells[0][::2]) if self.cells else "",
        }


@dataclass(frozen=True)
class Tables:
    """Cells as printed (text), by table; headings as printed and printed units, by table and
    column; `exact` columns are counts and settings; `decimals` are those that the source rounds
    to before it drops trailing zeros; `swept` says what setting a column's name holds."""

    cells: dict[str, Rows]
    headings: dict[tuple[str, str], str] = field(default_factory=dict)
    units: dict[tuple[str, str], str] = field(default_factory=dict)
    exact: dict[str, list[str]] = field(default_factory=dict)
    decimals: dict[str, int] = field(default_factory=dict)
    swept: dict[str, dict[str, Any]] = field(default_factory=dict)
    names: dict[str, dict[str, str]] = field(default_factory=dict)

    def name(self, table: str) -> str:
        """What a sentence calls a table; its file's name where nobody named it."""
        return self.names.get(table, {}).get("name", table)

    def title(self, table: str) -> str:
        """Its name with what the source prints over it, so that a reader finds it there."""
        over = self.names.get(table, {}).get("heading")
        return f"{self.name(table)} ({over})" if over else self.name(table)

    def at(self, table: str, row: dict[str, str], column: str) -> At:
        """The cell of a row that stands in this table."""
        number = next(k for k, cell in enumerate(self.cells[table], 1) if cell is row)
        return At(table, number, column)

    def rows(self, table: str, where: dict[str, str] | None = None, *columns: str) -> Rows:
        """Rows with these cells; BenchbookError where table, columns or rows are missing."""
        if table not in self.cells:
            known = ", ".join(sorted(self.cells))
            raise BenchbookError(f"there is no table {table!r}; known: {known}")
        rows = self.cells[table]
        for column in (*(where or {}), *columns):
            if not rows or column not in rows[0]:
                raise BenchbookError(f"{table} has no column {column!r}; mend the name")
        found = [r for r in rows if all(r[key] == value for key, value in (where or {}).items())]
        if not found:
            raise BenchbookError(f"{table} has no row with {where}; mend `where`")
        return found

    def row(self, place: dict[str, Any]) -> dict[str, str]:
        """The one row of a place {table, value, where}."""
        matching = self.rows(place["table"], place.get("where"), place["value"])
        if len(matching) != 1:
            raise BenchbookError(
                f"{place} must name one row; it names {len(matching)}; add to `where`"
            )
        return matching[0]

    def interval(self, table: str, column: str, text: str) -> Interval:
        """What a cell's digits allow; BenchbookError where it is no number."""
        number = plain(text)
        if number is None:
            raise BenchbookError(f"{table}: {text!r} in column {column} is no number to audit")
        if column in self.exact.get(table, ()):
            return exactly(number)
        return rounded(text, self.decimals.get(table))

    def cell(self, place: dict[str, Any]) -> Interval:
        """What the digits of the one cell of a place allow."""
        return self.interval(place["table"], place["value"], self.row(place)[place["value"]])

    def column(self, place: dict[str, Any]) -> dict[str, tuple[str, At]]:
        """Label -> (as printed, where) of the cells of a place {table, label, value, where}."""
        table, column = place["table"], place["value"]
        rows = self.by_label(table, place["label"], place.get("where"))
        self.rows(table, None, column)
        return {label: (row[column], self.at(table, row, column)) for label, row in rows.items()}

    def by_label(
        self, table: str, label: str, where: dict[str, str] | None = None
    ) -> dict[str, dict[str, str]]:
        """Label -> row; BenchbookError where a label stands twice, in whatever case."""
        by_name: dict[str, dict[str, str]] = {}
        for row in self.rows(table, where, label):
            if row[label].lower() in {label.lower() for label in by_name}:
                raise BenchbookError(f"{table}: {row[label]!r} labels two rows; add `where`")
            by_name[row[label]] = row
        return by_name

    def heading(self, table: str, column: str) -> str:
        """A column's heading as printed."""
        return self.headings.get((table, column)) or column

    def settings(self, table: str) -> dict[str, int]:
        """Column -> the number in its name, for a swept table."""
        if table not in self.swept:
            raise BenchbookError(f"{table} is no table of `swept`; add it there")
        pattern = re.compile(self.swept[table]["pattern"])
        columns = self.rows(table)[0]
        matches = {column: match for column in columns if (match := pattern.fullmatch(column))}
        if not matches:
            raise BenchbookError(f"no column of {table} fits {pattern.pattern!r}")
        return {column: int(match[1]) for column, match in matches.items()}

    def outcome(self, table: str, column: str) -> str:
        """`numbers`, or the words that stand in a column instead of numbers; empty: nothing."""
        cells = [row[column] for row in self.rows(table) if row[column].strip()]
        words = [cell for cell in cells if plain(cell) is None]
        return words[0] if words else "numbers" if cells else ""


def place_name(place: dict[str, Any], label: str = "") -> str:
    """`‘Copy’ (machine virtual)`: a row in words; without a label all the rows."""
    where = ", ".join(f"{key} {value}" for key, value in (place.get("where") or {}).items())
    return f"‘{label}’ ({where})" if where and label else f"‘{label}’" if label else where


def cell_name(tables: Tables, place: dict[str, Any], label: str) -> str:
    """`row ‘Copy’, column ‘rate’`: the cell of a place, as a reader finds it in its table."""
    column = tables.heading(place["table"], place["value"])
    return f"row {place_name(place, label)}, column ‘{column}’"


def checked(
    rule: str,
    cell: At,
    where: str,
    text: str,
    recomputed: Interval,
    facts: dict[str, Any],
    **more: Any,
) -> Item:
    """The item of one printed number; `facts`: what it is recomputed from.

    `more`: decimals, exact, label; hint: for a number that does not fit, and its cause.
    """
    exact, decimals = more.get("exact", False), more.get("decimals")
    seen: Compared = compare(text, recomputed, decimals, exact=exact)
    hints = [] if seen.consistent else [hint for hint in (more.get("hint"), seen.hint) if hint]
    return Item(
        cell.table,
        rule,
        where,
        text,
        float(f"{float(recomputed.middle):.12g}"),
        seen.consistent,
        seen.tolerance,
        {**facts, "hints": hints},
        (cell,),
        more.get("label", ""),
        None if seen.consistent else more.get("cause") or seen.hint,
        (exactly(plain(text) or "") if exact else rounded(text, decimals), recomputed),
    )
