"""A paper's tables as its folder keeps them: cells and headings as printed."""

from __future__ import annotations

import csv
from pathlib import Path

from benchbook.errors import BenchbookError

HEADINGS = "columns.csv"  # table, column, printed heading, printed unit


def read_table(root: Path, paper: str, table: str) -> list[dict[str, str]]:
    """A published table, cell by cell as printed (text)."""
    path = root / "data" / "published" / paper / table
    if not path.exists():
        raise BenchbookError(f"{path.relative_to(root)} is missing, though paper.yaml names it")
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def labels(root: Path, paper: str, table: str) -> dict[str, str]:
    """Column -> its heading as printed, from the paper's columns.csv; empty without one."""
    if not (root / "data" / "published" / paper / HEADINGS).exists():
        return {}
    rows = read_table(root, paper, HEADINGS)
    return {row["column"]: row["printed"] for row in rows if row["table"] == table}
