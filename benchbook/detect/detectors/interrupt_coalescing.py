"""interrupt-coalescing: a network card waits for more frames before it interrupts, and round trips
contain that wait.

Decided by how long the near side's interface may hold an interrupt back, as its driver says,
against the time of a round trip. How long it did hold each back nobody counts.
"""

from __future__ import annotations

from benchbook.detect import Judged, Row, Seen, artefact
from benchbook.detect.inputs.round_trips import round_trips
from benchbook.detect.inputs.timed_work import number_of
from benchbook.findings import Finding

DELAY = "interrupt_delay_ns"
LEAST = 0.05  # of a round trip
ARTEFACT = artefact("interrupt-coalescing")


def detect(seen: Seen) -> Judged:
    """One finding for all points whose interface may hold an interrupt back for a part of the round
    trip that counts; abstains where the interface has no such setting."""
    judged = Judged()
    rows = [row for row in round_trips(seen) if _concerns(row)]
    delayed = []
    for row in rows:
        share = _share(row)
        if share is None:
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("no-setting")
        elif share >= LEAST:
            delayed.append(row)
    if delayed:
        judged.findings.append(_finding(delayed))
    return judged.rest_is_clean(row["where"] for row in rows)


def _concerns(row: Row) -> bool:
    """Its interface was asked; loopback and shared memory interrupt nobody."""
    is_within = number_of(row, "device_is_loopback") or number_of(row, "shared_memory")
    return DELAY in row and not is_within


def _share(row: Row) -> float | None:
    delay_ns, time_ns = number_of(row, DELAY), number_of(row, "time_ns")
    return None if delay_ns is None or not time_ns else delay_ns / time_ns


def _finding(rows: list[Row]) -> Finding:
    row = max(rows, key=lambda row: _share(row) or 0.0)
    words = {
        DELAY: number_of(row, DELAY),
        "time_ns": number_of(row, "time_ns"),
        "share": min(1.0, _share(row) or 0.0),
    }
    return ARTEFACT.finding(rows, words)
