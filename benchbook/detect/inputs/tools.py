"""Values that other tools printed or counted: rows of evidence with the tool's own words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from benchbook.core.number_format import listed
from benchbook.detect import Row
from benchbook.findings import proof

COUNTERS = re.compile(r"(likwid|perf)\b")  # sources that count events of the CPU
WITH_VALUE = ("ok", "replayed", "imported")  # states
SHOWN = 3  # names in a sentence


def proof_of(row: Row) -> dict[str, Any]:
    """The row as evidence of a finding, with the tool as its source."""
    return proof(
        str(row["name"]),
        row["value"],
        str(row.get("unit") or ""),
        str(row["source"]),
        str(row["state"]),
    )


def first_names(rows: Iterable[Row]) -> str:
    """The distinct names of rows, the first few of them: `a, b, c and 4 more`."""
    names = list(dict.fromkeys(str(row["name"]) for row in rows))
    if len(names) <= SHOWN:
        return listed(names)
    return f"{', '.join(names[:SHOWN])} and {len(names) - SHOWN} more"
