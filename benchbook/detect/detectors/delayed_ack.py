"""delayed-ack: a small write waits until the other side acknowledges the one before it.

Nagle's algorithm holds a small segment back while another is not acknowledged, and the receiver,
which waits for the rest of the request, holds its acknowledgement back for 40 ms. Decided by the
far host's count of delayed acknowledgements where the socket sends in parts without TCP_NODELAY;
where the count is not there, by exchanges that last that long.
"""

from __future__ import annotations

from typing import Any

from benchbook.core.number_format import count, duration, number, plural, share
from benchbook.detect import Judged, Row, Seen, is_known
from benchbook.detect.inputs.timed_work import number_of, span, strongest
from benchbook.findings import Artefact, Finding, proof

DELAY_NS, MODE_NS = 40e6, 5e6  # Linux's least, and how far an exchange with it lies from that
LEAST_SHARE = 0.1  # of the exchanges
PARTS = 2  # writes of one request, from which on one can wait for the other
COUNTED, BY_TIME = 1.0, 0.9
# What two points have in common that differ in how the request is sent only.
SAME = ("request_bytes", "payload_bytes", "gap_ns")
ARTEFACT = Artefact(
    "delayed-ack",
    "Write each request in one part (writev, or a buffer that is flushed once), or set "
    "TCP_NODELAY; such a delay is no latency of the network.",
)


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
            judged.abstained[row["where"]] = "delayed acknowledgements were not counted, nor times"
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
    part, took = _share_delayed(row), number_of(row, "time_ns")
    in_parts = f"in {count(row['writes'])} parts " if is_known(row.get("writes")) else ""
    text = f"A request is written {in_parts}without TCP_NODELAY at {plural(len(rows), 'point')}"
    if part is None:
        text += (
            f", and takes {duration(took or 0.0)}: as long as an acknowledgement is delayed "
            f"({duration(DELAY_NS)} on Linux), for which the later part waits."
        )
    else:
        text += (
            f", and the far host delayed {count(row['delayed_acks'])} acknowledgements in "
            f"{plural(row['transfers'], 'exchange')} ({share(part)}): the later part waits for the "
            "acknowledgement of the first"
        )
        text += f", and a typical exchange takes {duration(took)}." if took else "."
    longer = _longer(seen, rows, every)
    if longer:
        part_of = span([1 / ratio for ratio in longer], _one_over)
        text += f" Sent at once, the same request takes {part_of} of that time."
    return ARTEFACT.finding(
        effect="biases",
        factor=strongest(1 / ratio for ratio in longer),
        where=sorted(row["where"] for row in rows),
        confidence=BY_TIME if part is None else COUNTED,
        evidence=[
            *(
                proof(name, row[name], unit, source)
                for name, unit, source in (
                    ("tcp_nodelay", "1", "socket"),
                    ("writes", "writes", "kernel"),
                    ("delayed_acks", "acknowledgements", "far host"),
                    ("transfers", "exchanges", "kernel"),
                    ("time_ns", "ns", "samples"),
                )
                if is_known(row.get(name))
            ),
            *(
                proof("time ÷ time when sent at once", ratio, "1", "paired blocks")
                for ratio in sorted(longer)
            ),
        ],
        explanation=text,
    )


def _longer(seen: Seen, rows: list[dict[str, Any]], every: list[dict[str, Any]]) -> list[float]:
    """Times of these ÷ times of the same request sent at once, where each block says longer."""
    from benchbook.stats.ratios import time_ratio  # slow to load, and logs have no blocks

    delayed = {row["where"] for row in rows}
    ratios = [
        time_ratio(seen.starts, row["where"], twin["where"])
        for row in rows
        for twin in every
        if twin["where"] not in delayed
        and all(number_of(row, name) == number_of(twin, name) for name in SAME)
    ]
    return [ratio.estimate for ratio in ratios if ratio and ratio.is_always_beyond()]


def _one_over(part: float) -> str:
    return f"1/{number(1 / part)}"
