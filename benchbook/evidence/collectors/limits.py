"""The sizes at which static arrays no longer link."""

from __future__ import annotations

from typing import Any

from benchbook.core.files import read_json
from benchbook.evidence.stage import Context, Row


def rows(context: Context) -> list[Row]:
    """One row per variant whose limit was searched."""
    return [row for path in context.limits for row in _of_limits(read_json(path))]


def _of_limits(limit: dict[str, Any]) -> list[Row]:
    """The largest size of each array that links, in bytes; None where none does."""
    common = {key: limit[key] for key in ("experiment", "define", "arrays", "most_bytes")}
    return [
        {
            **common,
            "point": "",
            "name": "largest static array",
            "value": search["links_bytes"],
            "unit": "bytes",
            "source": "compiler and linker",
            "state": "absent" if search["outcome"] == "cannot_run" else "ok",
            **search,
        }
        for search in limit["items"]
    ]
