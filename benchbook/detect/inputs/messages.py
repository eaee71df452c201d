"""Points whose samples are messages between ranks: what they are, and in what two differ.

Rows are those of `artefacts.Seen.points`; times in ns, sizes in bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from benchbook.detect import Row, Seen, is_known
from benchbook.detect.inputs import comparisons
from benchbook.detect.inputs.timed_work import number_of

SIZE, ROTATION, ENVIRONMENT = "payload_bytes", "message_buffers_bytes", "environment"
WINDOW = "messages_in_window"
_COLUMNS = (
    "mpi_library",
    "shared_memory",
    "device_mtu_bytes",
    "message_directions",
    "rotation_bytes",
    "compiler",
    "flags_asked",
    ENVIRONMENT,
)
WAITS = "an answer to each"  # a window grows smaller with large messages, and is no other work
TRAITS = (*_COLUMNS, WAITS)


def messages(seen: Seen) -> list[dict[str, Any]]:
    """The points whose messages were counted."""
    return [row for row in seen.rows() if (number_of(row, "messages") or 0) > 0]


def groups(rows: Iterable[dict[str, Any]], but: Iterable[str] = ()) -> list[list[dict[str, Any]]]:
    """The rows by all traits but these, each group by size."""
    left_out = set(but)
    traits = [name for name in TRAITS if name not in left_out]
    return comparisons.groups(rows, traits, _trait, SIZE)


def bytes_of(row: Row) -> float:
    """That one call moves one way, in messages that do not wait for an answer."""
    return float(row[SIZE]) * (number_of(row, WINDOW) or 1)


def _trait(row: Row, name: str) -> Any:
    if name == WAITS:
        return (number_of(row, WINDOW) or 1) == 1
    return row[name] if is_known(row.get(name)) else None
