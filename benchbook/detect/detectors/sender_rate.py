"""sender-rate: a figure counts the bytes that a sender handed over, and fewer arrived.

Decided by the bytes that the program on the far side got, against those that the figure declares; a
sender of datagrams ends well whether they arrive or not.
"""

from __future__ import annotations

from typing import Any

from benchbook.detect import Judged, Row, Seen, artefact
from benchbook.detect.inputs.timed_work import number_of, rate_of
from benchbook.findings import Finding

LEAST_MISSING = 0.01  # of the declared bytes
BITS = 8
ARTEFACT = artefact("sender-rate")


def detect(seen: Seen) -> Judged:
    """One finding for all points that declare more bytes than arrived; abstains where a point sent
    data and what arrived was not counted."""
    judged = Judged()
    rows = [row for row in seen.rows() if (number_of(row, "bytes_sent") or 0) > 0]
    overstated = []
    for row in rows:
        declared, arrived = _declared(row), number_of(row, "bytes_received")
        if arrived is None:
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("arrivals-not-counted")
        elif declared is None:
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("bytes-unknown")
        elif arrived < (1 - LEAST_MISSING) * declared:
            overstated.append(row)
    if overstated:
        judged.findings.append(_finding(overstated))
    return judged.rest_is_clean(row["where"] for row in rows)


def _declared(row: Row) -> float | None:
    """By all transfers of a start."""
    each, transfers = number_of(row, "bytes_per_call"), number_of(row, "transfers")
    return None if each is None or transfers is None else each * transfers


def _too_high(row: Row) -> float:
    """Declared ÷ arrived; nothing at all counts as one byte."""
    return (_declared(row) or 0.0) / max(number_of(row, "bytes_received") or 0.0, 1.0)


def _finding(rows: list[dict[str, Any]]) -> Finding:
    row = max(rows, key=_too_high)
    declared, arrived = _declared(row) or 0.0, number_of(row, "bytes_received") or 0.0
    rate = rate_of(row)
    words = {
        **{name: number_of(row, name) for name in ("bytes_sent", "receive_buffer_errors")},
        "interface_packets_received": number_of(row, "interface_packets_received"),
        "declared": declared,
        "arrived": arrived,
        "part": arrived / declared,
        "sent_rate": rate * BITS if rate else None,
        "arrived_rate": rate * BITS * arrived / declared if rate else None,
        "too_high": [_too_high(row) for row in rows],
        "lost_at_socket": _lost_at_socket(row),
    }
    return ARTEFACT.finding(rows, words, factor=_too_high(row))


def _lost_at_socket(row: Row) -> bool:
    """Whether the far host counted as many datagrams without room as are missing."""
    sent, got = number_of(row, "datagrams_sent"), number_of(row, "datagrams_received")
    errors = number_of(row, "receive_buffer_errors")
    if sent is None or got is None or errors is None:
        return False
    return errors >= (1 - LEAST_MISSING) * (sent - got)
