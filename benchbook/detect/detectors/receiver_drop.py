"""receiver-drop: datagrams that a full socket buffer dropped are called lost in the network.

Decided by the far host's own count of datagrams that found no room in their socket's buffer,
against those that are missing; where its interface took them all in, no link lost one.
"""

from __future__ import annotations

from typing import Any

from benchbook.detect import Judged, Row, Seen, artefact, is_known
from benchbook.detect.inputs.timed_work import number_of
from benchbook.findings import Finding

LEAST_SHARE = 0.1  # of the datagrams missing, that had no room
ALL = 0.99
# What two points have in common that differ in their buffer only.
SAME = ("payload_bytes", "datagrams", "gap_ns", "link_bits_per_s")
ARTEFACT = artefact("receiver-drop")


def detect(seen: Seen) -> Judged:
    """One finding for all points whose missing datagrams found no room; abstains where some are
    missing and the far host does not tell why."""
    judged = Judged()
    rows = [row for row in seen.rows() if _missing(row) is not None]
    dropping = []
    for row in rows:
        missing, errors = _missing(row) or 0.0, number_of(row, "receive_buffer_errors")
        if missing <= 0:
            continue
        if errors is None:
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("not-counted", missing=missing)
        elif errors >= LEAST_SHARE * missing:
            dropping.append(row)
    if dropping:
        judged.findings.append(_finding(dropping, rows))
    return judged.rest_is_clean(row["where"] for row in rows)


def _missing(row: Row) -> float | None:
    """Datagrams in a start that did not arrive; None where they were not counted."""
    if is_known(row.get("datagrams_lost")):
        return number_of(row, "datagrams_lost")
    sent, got = number_of(row, "datagrams_sent"), number_of(row, "datagrams_received")
    return None if sent is None or got is None else max(0.0, sent - got)


def _part(row: Row) -> float:
    """Of the missing datagrams, those that had no room."""
    return min(1.0, (number_of(row, "receive_buffer_errors") or 0.0) / (_missing(row) or 1.0))


def _finding(rows: list[dict[str, Any]], every: list[dict[str, Any]]) -> Finding:
    row = max(rows, key=lambda row: number_of(row, "receive_buffer_errors") or 0.0)
    sent, taken = (
        number_of(row, name) for name in ("datagrams_sent", "interface_packets_received")
    )
    missing, part = _missing(row) or 0.0, _part(row)
    all_taken = bool(sent and taken is not None and taken >= ALL * sent)
    words = {
        "missing": missing,
        "receive_buffer_errors": number_of(row, "receive_buffer_errors") or 0.0,
        "datagrams_sent": sent,
        "interface_packets_received": taken,
        "socket_buffer_bytes": number_of(row, "socket_buffer_bytes"),
        "room": number_of(row, "socket_buffer_bytes") or None,
        "part": part,
        "all_of_them": part >= ALL,
        "are_many": missing > 1,
        "all_taken": all_taken,
        "all_at_socket": not all_taken and part >= ALL,
        "some_before": not all_taken and part < ALL,
        "larger": [_room(row) for row in _with_room(rows, every)],
    }
    return ARTEFACT.finding(rows, words)


def _with_room(rows: list[dict[str, Any]], every: list[dict[str, Any]]) -> list[Row]:
    """Points that lost nothing and differ from one of these in a larger buffer."""
    return [
        twin
        for twin in every
        if _missing(twin) == 0
        and any(
            all(number_of(row, name) == number_of(twin, name) for name in SAME)
            and _room(twin) > _room(row)
            for row in rows
        )
    ]


def _room(row: Row) -> float:
    return number_of(row, "socket_buffer_bytes") or 0.0
