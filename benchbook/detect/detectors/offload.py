"""offload: the interface was handed packets larger than its frames can be.

With segmentation offload a stream crosses an interface in few giant packets, which something later
cuts into frames, or nothing does, as between two interfaces of one machine. Decided by the bytes
sent over the interface's own count of packets, against its MTU.
"""

from __future__ import annotations

from typing import Any

from benchbook.detect import Judged, Row, Seen, artefact, is_known
from benchbook.detect.inputs.comparisons import surely_longer, twins
from benchbook.detect.inputs.timed_work import columns, number_of, strongest
from benchbook.findings import Effect, Finding

# What two points have in common that differ in the packets only.
SAME = ("request_bytes", "writes", "tcp_nodelay", "bytes_per_call", "device_mtu_bytes")
ARTEFACT = artefact("offload")


def detect(seen: Seen) -> Judged:
    """One finding for all points whose packets exceed the MTU; abstains where the packets of a
    stream, or the MTU, are not known."""
    judged = Judged()
    rows = [row for row in seen.rows() if _concerns(row)]
    offloaded = []
    for row in rows:
        size = _packet_bytes(row)
        if size is None:
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("packets-unknown")
        elif size > row["device_mtu_bytes"]:
            offloaded.append(row)
    if offloaded:
        judged.findings.append(_finding(seen, offloaded, rows))
    return judged.rest_is_clean(row["where"] for row in rows)


def _concerns(row: Row) -> bool:
    """A stream, whose writes are no packets; datagrams and frames of our own are."""
    is_whole = is_known(row.get("datagrams_sent")) or number_of(row, "stream") == 0
    return (number_of(row, "bytes_sent") or 0) > 0 and not is_whole


def _packet_bytes(row: Row) -> float | None:
    """Bytes of the stream in a packet that the interface was handed."""
    sent, packets = number_of(row, "bytes_sent"), number_of(row, "interface_packets_sent")
    if sent is None or not packets or not number_of(row, "device_mtu_bytes"):
        return None
    return sent / packets


def _finding(seen: Seen, rows: list[dict[str, Any]], every: list[dict[str, Any]]) -> Finding:
    row = max(rows, key=lambda row: _packet_bytes(row) or 0.0)
    in_frames = [twin for twin in every if _packet_bytes(twin) is not None]
    longer = surely_longer(seen, ((twin, row) for row, twin in twins(rows, in_frames, SAME)))
    words = {
        **columns(row, "bytes_sent", "interface_packets_sent", "device_mtu_bytes"),
        **columns(row, "segmentation_offload"),
        "size": _packet_bytes(row) or 0.0,
        "too_many": [(_packet_bytes(row) or 0.0) / row["device_mtu_bytes"] for row in rows],
        "longer": longer,
    }
    effect: Effect = "explains" if longer else "informs"
    return ARTEFACT.finding(rows, words, effect=effect, factor=strongest(longer))
