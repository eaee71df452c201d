"""What each method moved, compared with what it declares, as tidy tables.

Bytes are per call of the method, rates per second.
"""

from __future__ import annotations

from typing import Any

from benchbook.analyse.pairwise import Point, usable
from benchbook.judge.traffic.bytes_moved import KNOWN, by_point
from benchbook.judge.traffic.page_backing import buffers, loops
from benchbook.judge.traffic.roofline import against_ceilings


def evidence(
    items: list[dict[str, Any]],
    points: list[Point],
    content: dict[str, Any],
    bounds: list[dict[str, Any]],
    total_llc_bytes: int | None,
) -> dict[str, Any]:
    """The evidence of one experiment as its page shows it.

    `moved`: a row per point that was counted or simulated; `peers`: whose lines are like which
    method; `roof`: rates beyond all caches against `bounds` (ceilings of the experiment);
    `buffers`: how their memory was backed, by size; `loops`: what the timed functions are made of;
    `lacking`: what counted nothing, with its remedy.
    """
    measured = usable(points)
    moved = by_point(items, content)
    return {
        "moved": moved,
        "peers": [
            {key: item.get(key) for key in ("point", "variant", "value", "state", "reason")}
            for item in items
            if item["name"] == "method_by_lines"
        ],
        "roof": against_ceilings(moved, measured, content, bounds, total_llc_bytes),
        "buffers": buffers(list(measured.values())),
        "loops": loops(items, measured),
        "lacking": [
            {key: item.get(key, "") for key in ("source", "name", "state", "reason", "remedy")}
            for item in items
            if not item["point"] and item["state"] not in KNOWN and _counts(item)
        ],
    }


def _counts(row: dict[str, Any]) -> bool:
    return str(row["source"]).startswith(("likwid", "perf", "cachegrind"))
