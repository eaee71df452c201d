"""A paper's tables as the rules of the audit see them, and what a rule hands back."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from typing import Any

from benchbook.audit.rounding import Compared, Interval, compare, exactly, plain, rounded, shown
from benchbook.errors import BenchbookError

Rows = list[dict[str, str]]


@dataclass(frozen=True)
class Item:
    """One check. printed: as printed; recomputed: a number, or words where there is none;
    tolerance: what rounding allows, None where nothing is rounded."""

    table: str
    rule: str
    where: str
    printed: str
    recomputed: float | str
    consistent: bool
    tolerance: float | None
    words: str

    def record(self, paper: str) -> dict[str, Any]:
        """As audit.json carries it."""
        return {"paper": paper, **asdict(self)}


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
        found = self.rows(place["table"], place.get("where"), place["value"])
        if len(found) != 1:
            raise BenchbookError(
                f"{place} must name one row; it names {len(found)}; add to `where`"
            )
        return found[0]

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

    def column(self, place: dict[str, Any]) -> dict[str, str]:
        """Label -> printed cell of a place {table, label, value, where}."""
        rows = self.by_label(place["table"], place["label"], place.get("where"))
        self.rows(place["table"], None, place["value"])
        return {label: row[place["value"]] for label, row in rows.items()}

    def by_label(
        self, table: str, label: str, where: dict[str, str] | None = None
    ) -> dict[str, dict[str, str]]:
        """Label -> row; BenchbookError where a label stands twice, in whatever case."""
        found: dict[str, dict[str, str]] = {}
        for row in self.rows(table, where, label):
            if row[label].lower() in {one.lower() for one in found}:
                raise BenchbookError(f"{table}: {row[label]!r} labels two rows; add `where`")
            found[row[label]] = row
        return found

    def heading(self, table: str, column: str) -> str:
        """A column's heading as printed."""
        return self.headings.get((table, column)) or column

    def settings(self, table: str) -> dict[str, int]:
        """Column -> the number in its name, for a swept table."""
        if table not in self.swept:
            raise BenchbookError(f"{table} is no table of `swept`; add it there")
        pattern = re.compile(self.swept[table]["pattern"])
        columns = self.rows(table)[0]
        found = {column: match for column in columns if (match := pattern.fullmatch(column))}
        if not found:
            raise BenchbookError(f"no column of {table} fits {pattern.pattern!r}")
        return {column: int(match[1]) for column, match in found.items()}

    def outcome(self, table: str, column: str) -> str:
        """`numbers`, or the words that stand in a column instead of numbers; empty: nothing."""
        cells = [row[column] for row in self.rows(table) if row[column].strip()]
        words = [cell for cell in cells if plain(cell) is None]
        return words[0] if words else "numbers" if cells else ""


def place_name(place: dict[str, Any], label: str = "") -> str:
    """`Copy (machine virtual)`: a row in words."""
    where = ", ".join(f"{key} {value}" for key, value in (place.get("where") or {}).items())
    return f"{label} ({where})" if where and label else label or where


def checked(
    rule: str, table: str, where: str, text: str, recomputed: Interval, how: str, **more: Any
) -> Item:
    """The item of one printed number; `how`: what it is recomputed from, in words.

    `more`: decimals, exact, and hint: words for a number that does not fit.
    """
    exact = more.get("exact", False)
    seen: Compared = compare(text, recomputed, more.get("decimals"), exact=exact)
    value = shown(recomputed, text)
    words = f"{how} gives {value}; {text} is printed"
    words += "." if seen.consistent else f", which does not fit{_why(seen.hint, more)}."
    number = float(f"{float(recomputed.middle):.12g}")
    return Item(table, rule, where, text, number, seen.consistent, seen.tolerance, words)


def _why(hint: str, more: dict[str, Any]) -> str:
    hints = [one for one in (more.get("hint", ""), hint) if one]
    return f": {'; '.join(hints)}" if hints else ""
