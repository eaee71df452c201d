"""delayed-ack: a small write waits until the other side acknowledges the one before it.

Nagle's algorithm holds a small segment back while another is not acknowledged, and the receiver,
which waits for the rest of the request, holds its acknowledgement back for 40 ms. Decided by the
far host's count of delayed acknowledgements where the socket sends in parts without TCP_NODELAY;
where the count is not there, by exchanges that last that long.
"""

from __future__ import annotations

from typing import Any

from benchbook.detect import Judged, Row, Seen, artefact, is_known
from benchbook.detect.inputs.comparisons import surely_longer, twins
from benchbook.detect.inputs.timed_work import columns, number_of, strongest
from benchbook.findings import Finding

DELAY_NS, MODE_NS = 40e6, 5e6  # Linux's least, and how far an exchange with it lies from that
LEAST_SHARE = 0.1  # of the exchanges
PARTS = 2  # writes of one request, from which on one can wait for the other
# What two points have in common that differ in how the request is sent only.
SAME = ("request_bytes", "payload_bytes", "gap_ns")
ARTEFACT = artefact("delayed-ack")


def detect(seen: Seen) -> Judged:
    """One finding for all points whose exchanges wait for delayed acknowledgements; abstains where
    neither they were counted nor the times tell."""
    judged = Judged()
    rows = [row for row in seen.rows() if is_known(row.get("tcp_nodelay"))]
    delayed = []
    for row in rows:
        if number_of(row, "tcp_nodelay") or (number_of(row, "writes") or PARTS) < PARTS:
            continue
        part = _share_delayed(row)
        if part is None and number_of(row, "time_ns") is None:
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("not-counted")
        elif _is_slow(row) if part is None else part >= LEAST_SHARE:
            delayed.append(row)
    if delayed:
        judged.findings.append(_finding(seen, delayed, rows))
    return judged.rest_is_clean(row["where"] for row in rows)


def _share_delayed(row: Row) -> float | None:
    """Delayed acknowledgements per exchange; None where they were not counted."""
    delayed, exchanges = number_of(row, "delayed_acks"), number_of(row, "transfers")
    return delayed / exchanges if delayed is not None and exchanges else None


def _is_slow(row: Row) -> bool:
    """Whether the typical exchange lasts one delay."""
    return abs((number_of(row, "time_ns") or 0.0) - DELAY_NS) <= MODE_NS


def _finding(seen: Seen, rows: list[dict[str, Any]], every: list[dict[str, Any]]) -> Finding:
    row = max(rows, key=lambda row: number_of(row, "time_ns") or 0.0)
    delayed, took = _share_delayed(row), number_of(row, "time_ns")
    # Against the same request sent at once.
    longer = surely_longer(seen, twins(rows, every, SAME))
    words = {
        **columns(row, "tcp_nodelay", "writes", "delayed_acks", "transfers", "time_ns"),
        "delay": DELAY_NS,
        "delayed": delayed,
        "took": took or 0.0,
        "typical": took if took and delayed is not None else None,
        "longer": longer,
        "at_once": [1 / ratio for ratio in longer],
    }
    kind = "by-time" if delayed is None else "counted"
    return ARTEFACT.finding(rows, words, kind, factor=strongest(words["at_once"]))
