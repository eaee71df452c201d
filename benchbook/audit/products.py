"""Products and quotients of printed numbers of one row, as intervals that their digits allow."""

from __future__ import annotations

from typing import Any

from benchbook.audit.rounding import Interval, exactly
from benchbook.audit.tables import Tables

Term = str | float | dict[str, Any]
Row = dict[str, str]


def rows(tables: Tables, table: str, check: dict[str, Any], *columns: str) -> list[Row]:
    """The rows in which neither these columns nor a term of the check is empty or missing."""
    terms = [*check["times"], *check.get("divided_by", [])]
    own = [*columns, *(term for term in terms if isinstance(term, str))]
    matching = tables.rows(table, check.get("where"), check["label"], *own)
    elsewhere = [term for term in terms if isinstance(term, dict)]
    return [
        row
        for row in matching
        if all(row[column].strip() for column in own)
        and all(_elsewhere(tables, term, row[check["label"]]) for term in elsewhere)
    ]


def product(tables: Tables, table: str, check: dict[str, Any], row: Row) -> tuple[Interval, str]:
    """times … ÷ divided_by … of a row of `rows`, and how, in the printed digits."""
    label = row[check["label"]]
    value, how = exactly(1), ""
    for term in check["times"]:
        factor, word = _term(tables, table, term, row, label)
        value, how = value * factor, f"{how} × {word}" if how else word
    for term in check.get("divided_by", []):
        divisor, word = _term(tables, table, term, row, label)
        value, how = value / divisor, f"{how} ÷ {word}"
    return value, how


def _term(tables: Tables, table: str, term: Term, row: Row, label: str) -> tuple[Interval, str]:
    if isinstance(term, str):
        return tables.interval(table, term, row[term]), row[term]
    if isinstance(term, dict):
        text = _elsewhere(tables, term, label)
        return tables.interval(term["table"], term["value"], text), text
    return exactly(term), f"{term:,}"


def _elsewhere(tables: Tables, term: dict[str, Any], label: str) -> str:
    """The cell under the same label in another table; empty where there is none."""
    return tables.column(term).get(label, ("", None))[0].strip()
