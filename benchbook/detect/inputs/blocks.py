"""What tells whether a copy in blocks moved on: lines in a simulation, and the same copy that did.

Rows are those of `artefacts.Seen.points`; times in ns, sizes in bytes.
"""

from __future__ import annotations

from typing import Any

from benchbook.detect import Row, Seen, is_known
from benchbook.detect.inputs.timed_work import number_of, speed_up

LEAST_BLOCKS = 4  # in a simulation, which counts a few lines of the program's own
_SAME = ("bytes", "bytes_per_call", "block_bytes", "blocks_declared", "processes")


def simulated_lines(seen: Seen, where: str, name: str) -> dict[str, Any] | None:
    """The row of lines (`lines_read` or `lines_written`) that one repetition touches at a point;
    None where none was simulated."""
    for row in seen.evidence:
        if row["where"] == where and row["name"] == name and is_known(row["value"]):
            return row
    return None


def is_one_block(row: Row, lines: dict[str, Any]) -> bool:
    """Whether all blocks were the same place: several are declared, and lines of one touched."""
    declared, block = lines["declared_bytes"], row["block_bytes"]
    touched = lines["value"] * lines["line_bytes"]
    return bool(declared >= LEAST_BLOCKS * block and 0 < touched <= 2 * block)


def beside_honest(row: Row, rows: list[dict[str, Any]]) -> float | None:
    """Rate ÷ rate of the same copy that did all its work; None where there is no such point."""
    honest = [
        peer
        for peer in rows
        if all(number_of(peer, name) == number_of(row, name) for name in _SAME)
        and number_of(peer, "work_done_fraction") == 1
        and number_of(peer, "distinct_source_blocks") == number_of(peer, "blocks_declared")
        and (number_of(peer, "time_ns") or 0) > 0
    ]
    return speed_up(row, sorted(honest, key=lambda peer: float(peer["time_ns"]))[:1])
