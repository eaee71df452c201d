"""What a page says where the runs of one point fall into two groups: no single number is theirs."""

from __future__ import annotations

from typing import Any

from benchbook.core import number_format
from benchbook.report import wording
from benchbook.report.wording import Paper

LISTED = 2  # rows whose groups are given in full; of more only the names
Figure = dict[str, Any]
Row = dict[str, Any]


def sentences(figure: Figure) -> list[str]:
    """For each point of a figure whose runs fall into two groups: `The runs of MEMCPY fall into two
    groups: 4 at 39,000 to 42,000 and 6 at 75,000 to 77,000 MiB/s. …`; of more than LISTED the
    others by name."""
    found = list({row["point"]: row for row in figure["rows"] if row.get("run_groups")}.values())
    said = [_sentence(figure, row) for row in found[:LISTED]]
    if more := [_name(figure, row) for row in found[LISTED:]]:
        said.append(f"So do those of {number_format.listed(more)}.")
    return said


def of_points(paper: Paper, points: list[str]) -> str:
    """That the runs of one of these points fall into two groups, as a sentence; else empty."""
    for figure in paper["figures"]:
        for row in figure["rows"]:
            if row["point"] in points and row.get("run_groups"):
                return _fall(figure, row)
    return ""


def _sentence(figure: Figure, row: Row) -> str:
    groups = row["run_groups"]
    equal = groups[0]["runs"] == groups[1]["runs"]
    median = "lies between them" if equal else "belongs to the larger group"
    return f"{_fall(figure, row)} The median {median}; no single number describes both."


def _fall(figure: Figure, row: Row) -> str:
    parts = [
        f"{group['runs']} at {number_format.number(group['low'])} to "
        f"{number_format.number(group['high'])}"
        for group in row["run_groups"]
    ]
    return (
        f"The runs of {_name(figure, row)} fall into two groups: {number_format.listed(parts)} "
        f"{figure['y_unit']}."
    )


def _name(figure: Figure, row: Row) -> str:
    """What a row is called: of a table of sizes its line and its size, of another table of several
    columns its line and its column."""
    if row.get("group"):
        line, size = wording.line_name(figure, row["group"]), wording.size_of(row["point"])
        return f"{line} at {size}" if size else f"{line}, {row['label']}"
    return wording.row_name(figure, row)
