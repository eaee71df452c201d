"""What moved, as pages say it: declared bytes beside bytes and lines, each value with its source
and state, and the observations behind them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchbook.build import disassembly
from benchbook.core import number_format
from benchbook.core.sizes import UNITS
from benchbook.report import wording
from benchbook.report.wording import Paper

Experiment = dict[str, Any]
Row = dict[str, Any]
LITTLE = 0.01
SIDES = ("read", "written")
READ, WRITTEN = "bytes_read_from_memory", "bytes_written_to_memory"
BACKED = {
    "buffers_resident_bytes": "in memory",
    "anonymous_bytes": "anonymous",
    "anon_huge_bytes": "in huge pages",
}
LOOPS = {
    "loads_in_loop": "loads in the loop",
    "stores_in_loop": "stores in the loop",
    "non_temporal_stores": "stores past the caches",
    "string_instructions": "loops in one instruction",
    "library_calls": "library calls",
}


@dataclass
class Notes:
    """Reasons for values that are not there: reason -> its letter, in the order of the table."""

    letters: dict[str, str] = field(default_factory=dict)

    def letter(self, reason: str) -> str:
        """The letter of a reason; a, b, … z, aa."""
        many = len(self.letters)
        new = "" if many < 26 else chr(96 + many // 26)
        return self.letters.setdefault(reason, new + chr(97 + many % 26))

    def by_letter(self) -> dict[str, str]:
        """Letter -> reason."""
        return {letter: reason for reason, letter in self.letters.items()}


def state_of(value: dict[str, Any]) -> str:
    """How a value came about, in a word or two."""
    return "counted" if value["state"] == "ok" else str(value["state"])


def multiple(value: float | None) -> str:
    """A multiple: `1.50`."""
    if value is not None and 0 < value < LITTLE:
        return f"below {LITTLE}"
    return number_format.NONE if value is None else f"{value:.2f}"


def claimed_lines(row: Row) -> float | None:
    """Lines that a copy claims to read, and to write."""
    declared, line = row["of_lines"]["declared_bytes"], row["of_lines"]["line_bytes"]
    return declared / line if declared and line else None


def of_lines(experiment: Experiment) -> list[Row]:
    """The rows of block copies, and of what stands beside them; empty where there are none."""
    rows = [
        row
        for row in experiment["evidence"]["moved"]
        if None not in (row["lines_read"]["value"], row["lines_written"]["value"])
        and claimed_lines(row)
    ]
    return rows if any("block_bytes" in row["factors"] for row in rows) else []


def lines_table(paper: Paper, experiment: Experiment) -> list[dict[str, Any]]:
    """Rows {name, claimed, read, written, source}; cells are {text, state, note}."""
    notes = Notes()
    return [
        {
            "name": _name(paper, row, row["of_lines"]),
            "claimed": number_format.count(claimed_lines(row) or 0),
            **{
                side: _cell(
                    row[f"lines_{side}"], notes, number_format.count(row[f"lines_{side}"]["value"])
                )
                for side in SIDES
            },
            "source": row["lines_read"]["source"],
        }
        for row in of_lines(experiment)
    ]


def bytes_table(paper: Paper, experiment: Experiment, *, main: bool) -> dict[str, Any]:
    """{rows, notes, known}: declared and moved bytes of one call; `main`: the largest size of each.

    `known` tells whether any of them is.
    """
    notes = Notes()
    rows: list[dict[str, Any]] = []
    for row in experiment["evidence"]["moved"]:
        if row["main"] is main:
            read, written = row[READ], row[WRITTEN]
            rows.append(
                {
                    "name": _name(paper, row, row["of_bytes"]),
                    "declared": _bytes(row["of_bytes"]["declared_bytes"]),
                    "read": _cell(read, notes, _bytes(read["value"])),
                    "written": _cell(written, notes, _bytes(written["value"])),
                    "moved": _cell(row["moved"], notes, multiple(row["moved"]["value"])),
                    "allocated": _cell(
                        row["allocated"], notes, multiple(row["allocated"]["value"])
                    ),
                    "source": _source(row),
                }
            )
    is_known = any(
        row[side]["text"] != number_format.NONE for row in rows for side in ("read", "written")
    )
    return {"rows": rows, "notes": notes.by_letter(), "known": is_known}


def _source(row: Row) -> str:
    value = row["moved"]
    if value["value"] is None:
        return "none"
    return f"{value['source']}, {state_of(value)}"


def _cell(value: dict[str, Any], notes: Notes, text: str) -> dict[str, str]:
    if value["value"] is None:
        denied = "denied: " if value["state"] == "denied" else ""
        note = notes.letter(denied + (value["reason"] or "nobody says why"))
        return {"text": number_format.NONE, "state": value["state"], "note": note}
    return {"text": text, "state": value["state"], "note": ""}


def _bytes(count: float | None) -> str:
    """`1.50 MiB`: three digits, in the largest unit below it."""
    if count is None:
        return number_format.NONE
    unit = next((name for name in ("GiB", "MiB", "KiB") if abs(count) >= UNITS[name]), "")
    if not unit:
        return f"{number_format.count(count)}{number_format.FIXED}B"
    return f"{number_format.number(count / UNITS[unit])}{number_format.FIXED}{unit}"


def _name(paper: Paper, row: Row, at: dict[str, Any]) -> str:
    """The point, at the size and with the one thread that were simulated."""
    if not at["geometry"]:
        return wording.point_name(paper, row["point"])
    return wording.point_name(paper, row["point"], bytes=str(at["bytes"]), threads="")


def simulated(experiment: Experiment) -> dict[str, list[str]]:
    """How values were simulated: the caches, and each text once."""
    rows = [
        row for row in experiment["evidence"]["moved"] if row["lines_read"]["state"] == "simulated"
    ]

    def each(key: str) -> list[str]:
        return list(dict.fromkeys(row["of_lines"][key] for row in rows if row["of_lines"][key]))

    return {
        "caches": each("geometry"),
        "host": each("host_geometry"),
        "texts": list(dict.fromkeys(row["lines_read"]["reason"] for row in rows)),
    }


def backing(experiment: Experiment) -> list[dict[str, str]]:
    """By size: how many points, and the shares of their buffers, least to largest."""
    return [
        {
            "size": wording.bytes_of(row["bytes"]),
            "points": number_format.count(row["points"]),
            **{name: _shares(row[name]) for name in BACKED},
        }
        for row in experiment["evidence"]["buffers"]
    ]


def _shares(ends: list[float] | None) -> str:
    if ends is None:
        return "unknown"
    low, high = number_format.share(ends[0]), number_format.share(ends[-1])
    return low if low == high else f"{low} to {high}"


def loops(paper: Paper, experiment: Experiment) -> dict[str, Any]:
    """{rows, notes}: what the timed functions are made of."""
    notes, rows = Notes(), []
    for row in experiment["evidence"]["loops"]:
        names = [experiment["names"].get(method, method) for method in row["methods"]]
        cells = {name: _cell(row[name], notes, _words(row[name]["value"])) for name in LOOPS}
        rows.append(
            {
                "variant": row["variant"],
                "function": row["function"],
                "methods": number_format.listed(names),
                "cells": list(cells.values()),
            }
        )
    return {"rows": rows, "notes": notes.by_letter()}


def _words(value: Any) -> str:
    if isinstance(value, list):
        value = [call for call in value if not str(call).startswith(disassembly.RUNTIME)]
        return ", ".join(map(str, value)) or "none"
    return str(value)
