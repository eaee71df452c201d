"""Points whose declared work was not done at all: what tells so, for dead and for folded code.

Rows are those of `artefacts.Seen.points`; times in ns, sizes in bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchbook.detect import Row, is_known
from benchbook.detect.inputs.timed_work import (
    ACCESSES,
    CALLS,
    LEAST_BYTES,
    is_possible,
    number_of,
    rate_of,
    touches_memory,
)
from benchbook.findings import proof

MORE = 2.0  # times the work, from which on the time must follow
SAME = 1.3  # times the time is no longer
LEAST_HELD = 0.5  # of the bytes: with less the array cannot have been written


@dataclass
class Removed:
    """rows: surely not worked on. same_time: by point, how much more the largest of its series
    does than the smallest, and how much longer it takes. unclear: by point, why. judged: all points
    of which the code was seen, or the time tells enough."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    same_time: dict[str, tuple[float, float]] = field(default_factory=dict)
    unclear: dict[str, str] = field(default_factory=dict)
    judged: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Held:
    """Memory of the array that is worked on, or of the whole process if only that is known."""

    need: float
    held: float
    of_process: bool

    @property
    def is_absent(self) -> bool:
        """Whether fewer instructions are left than the work needs."""
        return self.held < LEAST_HELD * self.need


def removed(rows: list[dict[str, Any]]) -> Removed:
    """Rows that declare bytes which were not moved."""
    gone = Removed()
    for row in rows:
        # A clock that shows no time at all tells nothing.
        if (number_of(row, "bytes_per_call") or 0) < LEAST_BYTES or not rate_of(row):
            continue
        touches, possible = touches_memory(row), is_possible(row)
        if touches is not None or not possible:
            gone.judged.append(row["where"])
        grown = _same_time(row, rows)
        if grown and not possible:
            gone.same_time[row["where"]] = grown
        if touches is False and possible:
            gone.unclear[row["where"]] = (
                "no loop of the timed function accesses memory, but its time is long enough for "
                "the work, which may be in another function"
            )
        elif touches is False or (touches is None and not possible and grown):
            gone.rows.append(row)
        elif touches is None and not possible:
            gone.unclear[row["where"]] = (
                "it is faster than any core, but its code was not seen, and no other size shows "
                "whether the time grows with the work"
            )
    return gone


def _same_time(row: Row, rows: list[dict[str, Any]]) -> tuple[float, float] | None:
    """(times the work, times the time) over the series, where the time does not follow."""
    series = sorted(
        (peer for peer in rows if peer.get("series") == row.get("series") and rate_of(peer)),
        key=lambda peer: float(peer["bytes_per_call"]),
    )
    if len(series) < 2:
        return None
    more = series[-1]["bytes_per_call"] / series[0]["bytes_per_call"]
    longer = series[-1]["time_ns"] / series[0]["time_ns"]
    return (more, longer) if more >= MORE and longer <= SAME else None


def is_result_right(row: Row) -> bool | None:
    """Whether the kernel's check saw a right result; None where it saw none."""
    checks = [number_of(row, name) for name in ("result_is_right", "work_done_fraction")]
    seen = [value for value in checks if value is not None]
    return all(value == 1 for value in seen) if seen else None


def bytes_held(row: Row) -> Held | None:
    """Memory that is there for the declared bytes; None where that cannot be told.

    A process that holds more than its array needs may hold something else.
    """
    named, own = number_of(row, "buffers_bytes"), number_of(row, "anonymous_bytes")
    if named and own is not None:
        return Held(named, own, of_process=False)
    process = number_of(row, "resident_bytes")
    if process is None:
        return None
    held = Held(float(row["bytes_per_call"]), process, of_process=True)
    return held if held.is_absent else None


def is_by_code(rows: list[dict[str, Any]]) -> bool:
    """Whether the machine code of all of them was seen."""
    return all(is_known(row.get(name)) for row in rows for name in (*ACCESSES, *CALLS))


def claimed(rows: list[dict[str, Any]]) -> dict[str, list[float]]:
    """What calls claim to move, and how long they take, as words of a finding."""
    return {
        "claimed": [row["bytes_per_call"] for row in rows],
        "took": [row["time_ns"] for row in rows],
    }


def evidence(row: Row) -> list[dict[str, Any]]:
    """What is left of the timed function, and what it declares in which time."""
    code = [
        proof(name, row[name], "instructions" if name in ACCESSES else "", "disassembly")
        for name in (*ACCESSES, *CALLS)
        if is_known(row.get(name))
    ]
    declared = proof("bytes_per_call", int(row["bytes_per_call"]), "bytes", "kernel")
    return [*code, declared, proof("time_ns", float(row["time_ns"]), "ns", "samples")]
