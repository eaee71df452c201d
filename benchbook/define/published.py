"""A paper's tables as its folder keeps them: cells and headings as printed."""

from __future__ import annotations

import csv
import hashlib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchbook.core.errors import BenchbookError

CELLS = "cells.json"  # in a paper's folder: the checksums of its tables, after a second reading
HEADINGS = "columns.csv"  # table, column, printed heading, printed unit
_UNIT = re.compile(r"(_[kmg]i?b)?(_per_s)?(_us|_s|_k|_percent|_bytes)?$")


def read_table(root: Path, paper: str, table: str) -> list[dict[str, str]]:
    """A published table, cell by cell as printed (text)."""
    path = root / "data" / "published" / paper / table
    if not path.exists():
        raise BenchbookError(f"{path.relative_to(root)} is missing, though paper.yaml names it")
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def checksum(rows: Iterable[dict[str, str]]) -> tuple[int, str]:
    """How many cells a table has, and the checksum over them in reading order."""
    cells = [cell for row in rows for cell in row.values()]
    return len(cells), hashlib.sha256("\n".join(cells).encode()).hexdigest()[:16]


def waiting(root: Path, paper: str, figure: dict[str, Any]) -> dict[str, Any]:
    """An open figure with its cells."""
    return {**figure, **whole(root, paper, figure["table"])}


def beyond(root: Path, paper: str, figure: dict[str, Any]) -> dict[str, Any] | None:
    """The whole table of a figure that shows a part of its columns only, else None."""
    shown = {figure["x"], figure.get("y")}
    for series in figure["select"]:
        shown |= {series.get("y"), *series["row"]}
    found = whole(root, paper, figure["table"])
    printed = {column["column"] for column in found["columns"] if column["label"]}
    return found if figure["select"] and printed - shown else None


def whole(root: Path, paper: str, table: str) -> dict[str, Any]:
    """A table cell by cell: columns of {column, words, label, unit, number}, rows of cells; `label`
    and `unit` as printed."""
    rows = read_table(root, paper, table)
    named = labels(root, paper, table)
    units = {}
    if (root / "data" / "published" / paper / HEADINGS).exists():
        headings = read_table(root, paper, HEADINGS)
        units = {row["column"]: row["printed_unit"] for row in headings if row["table"] == table}
    columns = [
        {
            "column": column,
            "label": named.get(column, ""),
            "words": words_of(column),
            "unit": units.get(column, ""),
            "number": all(_is_number(row[column]) for row in rows),
        }
        for column in (rows[0] if rows else {})
    ]
    return {"columns": columns, "rows": [list(row.values()) for row in rows]}


def labels(root: Path, paper: str, table: str) -> dict[str, str]:
    """Column -> its heading as printed, from the paper's columns.csv; empty without one."""
    if not (root / "data" / "published" / paper / HEADINGS).exists():
        return {}
    rows = read_table(root, paper, HEADINGS)
    return {row["column"]: row["printed"] for row in rows if row["table"] == table}


def words_of(column: str) -> str:
    """A column's name without its unit: `mbcf write` of `mbcf_write_us`."""
    return _UNIT.sub("", column).replace("_", " ")


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
