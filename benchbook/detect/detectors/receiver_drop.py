"""receiver-drop: datagrams that a full socket buffer dropped are called lost in the network.

Decided by the far host's own count of datagrams that found no room in their socket's buffer,
against those that are missing; where its interface took them all in, no link lost one.
"""

from __future__ import annotations

from typing import Any

from benchbook.core.number_format import count, plural, share
from benchbook.core.sizes import format_bytes
from benchbook.detect import Judged, Row, Seen, is_known
from benchbook.detect.inputs.timed_work import number_of, span
from benchbook.findings import Artefact, Finding, proof

LEAST_SHARE = 0.1  # of the datagrams missing, that had no room
ALL = 0.99
CERTAIN = 1.0
# What two points have in common that differ in their buffer only.
SAME = ("payload_bytes", "datagrams", "gap_ns", "link_bits_per_s")
ARTEFACT = Artefact(
    "receiver-drop",
    "Give the receiving socket a larger buffer (SO_RCVBUF, net.core.rmem_max), read it faster, or "
    "send at a pace that the receiver keeps; call it loss of the receiver, not of the network.",
)


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
            judged.abstained[row["where"]] = (
                f"{plural(missing, 'datagram')} did not arrive, and the far host does not tell "
                "whether its socket had room"
            )
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
    missing, errors = _missing(row) or 0.0, number_of(row, "receive_buffer_errors") or 0.0
    sent = number_of(row, "datagrams_sent")
    part = _part(row)
    of_all = f" of {count(sent)}" if sent else ""
    room = number_of(row, "socket_buffer_bytes")
    buffer = f" of {format_bytes(int(room))}" if room else ""
    whose = "all of them" if part >= ALL else f"{share(part)} of them"
    text = (
        f"{count(missing)}{of_all} datagrams did not arrive in a start at one of "
        f"{plural(len(rows), 'point')}, and the far host counted {count(errors)} that found their "
        f"socket’s buffer{buffer} full: {whose} "
        + ("were dropped there. " if missing > 1 else "was dropped there. ")
    )
    taken = number_of(row, "interface_packets_received")
    if sent and taken is not None and taken >= ALL * sent:
        text += f"Its interface took in all {count(sent)}, so the network lost none."
    elif part >= ALL:
        text += "So none of that loss is the network’s."
    else:
        text += "The others were lost before."
    if others := _with_room(rows, every):
        larger = span([_room(row) for row in others], _bytes)
        text += f" The same bursts into a buffer of {larger} lost none."
    return ARTEFACT.finding(
        effect="explains",
        where=sorted(row["where"] for row in rows),
        confidence=CERTAIN,
        evidence=[
            proof(name, value, unit, source)
            for name, value, unit, source in (
                ("datagrams missing", missing, "datagrams", "far side"),
                ("receive_buffer_errors", errors, "datagrams", "far host"),
                ("datagrams_sent", sent, "datagrams", "kernel"),
                ("interface_packets_received", taken, "packets", "far host"),
                ("socket_buffer_bytes", room, "bytes", "socket"),
            )
            if value is not None
        ],
        explanation=text,
    )


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


def _bytes(size: float) -> str:
    return format_bytes(int(size))
