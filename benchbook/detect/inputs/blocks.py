"""What tells whether a copy in blocks moved on: lines in a simulation, and the same copy that did.

Rows are those of `artefacts.Seen.points`; times in ns, sizes in bytes.
"""

from __future__ import annotations

from typing import Any

from benchbook.core.number_format import count
from benchbook.core.sizes import format_bytes
from benchbook.detect import Row, Seen, is_known
from benchbook.detect.inputs.timed_work import number_of, speed_up
from benchbook.findings import Artefact, Finding, proof

SIMULATED = 0.95  # a confidence
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


def finding_by_lines(
    artefact: Artefact, row: Row, lines: dict[str, Any], does: str, end: str
) -> Finding:
    """That one repetition `does` (reads, writes) lines of one block only; `end`: and so what."""
    declared, line, touched = (
        int(lines[name]) for name in ("declared_bytes", "line_bytes", "value")
    )
    source, state = lines["source"], lines["state"]
    return artefact.finding(
        effect="invalidates",
        where=[row["where"]],
        confidence=SIMULATED,
        evidence=[
            proof(lines["name"], touched, "lines", source, state),
            proof("declared_bytes", declared, "bytes", source, state),
        ],
        explanation=(
            f"In a cache simulation one repetition, which declares {format_bytes(declared)}, "
            f"{does} {count(touched)} lines of {line} bytes, where that many bytes have "
            f"{count(declared // line)}: block after block of "
            f"{format_bytes(int(row['block_bytes']))} {end}"
        ),
    )


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
