"""zero-page: memory that was never written is read, and the system has one page of zeros for it.

Decided by how much memory the buffers really have: pages that were never written are in no sum
that the system keeps of a mapping, whatever was read from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchbook.detect import Judged, Row, Seen, artefact
from benchbook.detect.inputs.timed_work import (
    factors_of,
    moves_no_bytes,
    number_of,
    strongest,
    touches_memory,
)
from benchbook.findings import Finding

LEAST_MISSING = 0.05  # of the buffers; sums are over whole pages, so a written buffer lacks none
ARTEFACT = artefact("zero-page")


@dataclass(frozen=True)
class _Held:
    """Of a point's buffers: bytes that they should have, and those that they have."""

    need: float
    held: float
    source: str
    is_resident: bool  # all of it, though not as memory of their own

    @property
    def missing(self) -> float:
        return max(0.0, 1 - self.held / self.need)


def detect(seen: Seen) -> Judged:
    """One finding for all points that read memory which was never written.

    Abstains where the system does not tell what the buffers have. Where the timed function is
    known to access no memory at all, nothing was read from any page.
    """
    judged = Judged()
    rows = seen.rows()
    never_written: list[tuple[dict[str, Any], _Held]] = []
    judged_points = []
    for row in rows:
        if not _needed(row) or touches_memory(row) is False or moves_no_bytes(row):
            continue
        judged_points.append(row["where"])
        held = _held(row)
        if held is None:
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("not-observed")
        elif held.missing >= LEAST_MISSING:
            never_written.append((row, held))
    if never_written:
        judged.findings.append(_finding(never_written, rows))
    return judged.rest_is_clean(judged_points)


def _needed(row: Row) -> float:
    """Bytes that surely are worked on: of a kernel's buffers one call may leave some out."""
    named = number_of(row, "buffers_bytes")
    if named is not None:
        return named
    return min(number_of(row, "working_set_bytes") or 0, number_of(row, "bytes_per_call") or 0)


def _held(row: Row) -> _Held | None:
    """What the buffers have; where only the whole process is known, it proves what it lacks."""
    need, own = _needed(row), number_of(row, "anonymous_bytes")
    if number_of(row, "buffers_bytes") is not None and own is not None:
        resident = number_of(row, "buffers_resident_bytes")
        return _Held(need, own, "smaps", resident is not None and resident >= need > own)
    process = number_of(row, "resident_bytes")
    if process is None:
        return None
    held = _Held(need, process, "statm", is_resident=False)
    # A process that is large enough may have its memory elsewhere.
    return held if held.missing >= LEAST_MISSING else None


def _finding(points: list[tuple[dict[str, Any], _Held]], rows: list[dict[str, Any]]) -> Finding:
    memories = [memory for _, memory in points]
    held = max(memories, key=lambda memory: (memory.missing, memory.need))
    own = [row for row, _ in points]
    factors = factors_of(own, rows, _is_written)
    likely = any(memory.is_resident for memory in memories)
    words = {
        "at_least": any(memory.source == "statm" for memory in memories),
        "missing": [memory.missing for memory in memories],
        "sizes": [memory.need for memory in memories],
        "factors": list(factors.values()),
        "may_be_shared": likely,
        "need": int(held.need),
        "resident_bytes": int(held.held) if held.source == "statm" else None,
        "anonymous_bytes": int(held.held) if held.source == "smaps" else None,
        "worst": held.missing,
        "source": held.source,
    }
    return ARTEFACT.finding(
        own,
        words,
        "likely" if likely else "proven",
        factor=strongest(factors.values()),
        factors=factors,
    )


def _is_written(row: Row) -> bool:
    held = _held(row)
    return held is not None and held.missing < LEAST_MISSING
