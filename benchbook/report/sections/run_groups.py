"""What a page says where the runs of one point fall into two groups: no single number is theirs."""

from __future__ import annotations

from typing import Any

from benchbook.core import number_format
from benchbook.report import wording


def sentences(figure: dict[str, Any]) -> list[str]:
    """One for each row of a figure whose runs fall into two groups: `The runs of MEMCPY fall into
    two groups: 4 at 39,000 to 42,000 and 6 at 75,000 to 77,000 MiB/s. …`."""
    return [
        _sentence(wording.row_name(figure, row), row["run_groups"], figure["y_unit"])
        for row in figure["rows"]
        if row.get("run_groups")
    ]


def _sentence(name: str, groups: list[dict[str, Any]], unit: str) -> str:
    parts = [
        f"{group['runs']} at {number_format.number(group['low'])} to "
        f"{number_format.number(group['high'])}"
        for group in groups
    ]
    equal = groups[0]["runs"] == groups[1]["runs"]
    median = "lies between them" if equal else "belongs to the larger group"
    return (
        f"The runs of {name} fall into two groups: {number_format.listed(parts)} {unit}. "
        f"The median {median}; no single number describes both."
    )
