"""zero-page: memory that was never written is read, and the system has one page of zeros for it.

Decided by how much memory the buffers really have: pages that were never written are in no sum
that the system keeps of a mapping, whatever was read from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchbook.core.number_format import share
from benchbook.core.sizes import format_bytes
from benchbook.detect import Judged, Row, Seen
from benchbook.detect.inputs.timed_work import (
    moves_no_bytes,
    number_of,
    span,
    speed_up,
    strongest,
    times,
    touches_memory,
    twins_of,
)
from benchbook.findings import Artefact, Finding, proof

LEAST_MISSING = 0.05  # of the buffers; sums are over whole pages, so a written buffer lacks none
EXACT, MAY_BE_SHARED = 1.0, 0.7
ARTEFACT = Artefact(
    "zero-page",
    "Write to every page of every buffer before measuring, with values that the check can tell "
    "from zeros, and set the figure aside: it is no rate of reading that much memory.",
)


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
            judged.abstained[row["where"]] = "how much memory the buffers have was not observed"
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
    held = max((memory for _, memory in points), key=lambda memory: (memory.missing, memory.need))
    factors = {
        row["where"]: factor
        for row, _ in points
        if (factor := speed_up(row, twins_of(row, rows, _is_written))) is not None
    }
    likely = any(memory.is_resident for _, memory in points)
    text = (
        f"{_lacks([memory for _, memory in points])} were never written, and for such pages the "
        "system maps one page of zeros again and again: what is read comes from cache."
    )
    if factors:
        text += (
            " Over memory that was written the same code takes "
            f"{span(factors.values(), times)} times as long on this machine."
        )
    if likely:
        text += (
            " Pages shared with a file or another program would look the same to the system, so "
            "this is likely, not proven."
        )
    name = {"statm": "resident_bytes", "smaps": "anonymous_bytes"}[held.source]
    return ARTEFACT.finding(
        effect="invalidates",
        factor=strongest(factors.values()),
        factors=factors,
        where=sorted(row["where"] for row, _ in points),
        confidence=MAY_BE_SHARED if likely else EXACT,
        evidence=[
            proof("buffers_bytes", int(held.need), "bytes", "harness"),
            proof(name, int(held.held), "bytes", f"/proc/self/{held.source}"),
            proof("never_written_fraction", held.missing, "1", f"/proc/self/{held.source}"),
        ],
        explanation=text,
    )


def _lacks(held: list[_Held]) -> str:
    """How much of what: `50 % to 100 % of the 8 MiB to 64 MiB in the buffers`."""
    shares = span([memory.missing for memory in held], share)
    sizes = span([memory.need for memory in held], lambda size: format_bytes(int(size)))
    least = "At least " if any(memory.source == "statm" for memory in held) else ""
    return f"{least}{shares} of the {sizes} in the buffers"


def _is_written(row: Row) -> bool:
    held = _held(row)
    return held is not None and held.missing < LEAST_MISSING
