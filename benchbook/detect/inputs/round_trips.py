"""Points whose samples are round trips over a network: what they are, and in what two differ.

Rows are those of `artefacts.Seen.points`; times in ns, sizes in bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from typing import TYPE_CHECKING, Any

from benchbook.detect import Row, Seen, is_known
from benchbook.detect.inputs import comparisons
from benchbook.detect.inputs.timed_work import number_of

if TYPE_CHECKING:
    from benchbook.stats.intervals import Interval

EACH = 0.5  # sockets per round trip, from which on one is opened in the loop
_COLUMNS = (
    "payload_bytes",
    "gap_ns",
    "switches",
    "emulated_switches",
    "link_bits_per_s",
    "device_is_loopback",
    "device_mtu_bytes",
    "open_schedule",
    "timed_from_intended",
    "spinning",
    "stream",
    "shared_memory",
    "ethernet_frames",
    "mapped_rings",
    "ring_frames",
    "xdp_sockets",
    "lost_per_million",
    "queued",
    "interrupting",
    "timed_one_way",
    "compiler",
    "flags_asked",
)
SOCKETS, FAR_SIDE = "socket in the loop", "counters of the far side"
PROCEDURES = "calls of remote procedures"
TRAITS = (*_COLUMNS, SOCKETS, FAR_SIDE, PROCEDURES)


def round_trips(seen: Seen) -> list[dict[str, Any]]:
    """The points whose round trips were counted."""
    return [row for row in seen.rows() if (number_of(row, "round_trips") or 0) > 0]


def sockets_each(row: Row) -> float | None:
    """Sockets opened per round trip; None where they were not counted."""
    opened = number_of(row, "sockets_opened")
    return None if opened is None else opened / float(row["round_trips"])


def differ_in(left: Row, right: Row) -> set[str]:
    """The traits that two points do not share."""
    return {name for name in TRAITS if _trait(left, name) != _trait(right, name)}


def like(row: Row, rows: Iterable[Row], but: str) -> list[Row]:
    """The rows that differ from this one in the trait `but`, and in nothing else."""
    return [peer for peer in rows if differ_in(row, peer) == {but}]


def groups(rows: Iterable[dict[str, Any]], but: str) -> list[list[dict[str, Any]]]:
    """The rows by all traits but one, by which those of a group are ordered."""
    return comparisons.groups(rows, [name for name in TRAITS if name != but], _trait, but)


def _trait(row: Row, name: str) -> Any:
    if name == SOCKETS:
        each = sockets_each(row)
        return None if each is None else each >= EACH
    if name == PROCEDURES:
        return (number_of(row, "procedure_calls") or 0) > 0
    if name == FAR_SIDE:  # of a real host nothing is counted
        return is_known(row.get("receive_buffer_errors"))
    return row[name] if is_known(row.get(name)) else None


def by_block(seen: Seen, where: str) -> dict[int, float]:
    """Block -> median time of the starts of a point."""
    starts = seen.starts_of(where)
    if not {"block", "median_ns"} <= set(starts.columns):
        return {}
    times = starts[starts["median_ns"] > 0].groupby("block")["median_ns"].median()
    return {int(block): float(time) for block, time in times.items()}


def over_blocks(values: Iterable[float]) -> Interval | None:
    """Estimate and 95 % interval of one value per block; None below the 6 that it takes."""
    from benchbook.stats.intervals import signed_rank_interval  # slow to load; logs have no blocks

    interval = signed_rank_interval(list(values), 0.95) if (values := list(values)) else None
    return interval if interval and isfinite(interval.low) and isfinite(interval.high) else None


def switches_each(row: Row) -> float | None:
    """How often the near end gave up its CPU by itself per round trip; None if not accounted."""
    switches, samples, blocks = (
        number_of(row, name) for name in ("voluntary_switches", "samples", "blocks")
    )
    if switches is None or not samples or not blocks:
        return None
    return switches * blocks / samples
