"""What the observations of a point tell of its timed function, for several detectors.

Rows are those of `artefacts.Seen.points`; times in ns, sizes in bytes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from statistics import median
from typing import Any

from benchbook.detect import Row, is_known

# Three loads of 64 bytes in each cycle at more than 6 GHz are 1.2e12; no core does that today.
POSSIBLE_BYTES_PER_S = 2e12  # of one core
LEAST_BYTES = 4096  # straight code without a loop may move less
ACCESSES = ("loads_in_loop", "stores_in_loop")
CALLS = ("library_calls", "string_instructions")
CODE = (*ACCESSES, *CALLS, "data_sections", "timed_isa", "compiler", "flags_asked")
WORK = (
    *("bytes", "bytes_per_call", "buffers_bytes", "block_bytes", "pages_written"),
    *("threads", "processes"),
)
OUTCOME = ("work_done_fraction", "distinct_source_blocks", "result_is_right")


def touches_memory(row: Row) -> bool | None:
    """Whether the timed function accesses memory in a loop or calls something; None: not seen."""
    if any(is_known(row.get(name)) and row[name] > 0 for name in ACCESSES):
        return True
    if any(is_known(row.get(name)) and len(row[name]) > 0 for name in CALLS):
        return True
    return False if all(is_known(row.get(name)) for name in (*ACCESSES, *CALLS)) else None


def moves_no_bytes(row: Row) -> bool:
    """Whether it declares none: of memory that is had and given back, nothing is read."""
    return is_known(row.get("moves_no_bytes")) and bool(row["moves_no_bytes"])


def is_possible(row: Row) -> bool:
    """Whether cores as there are could have moved the declared bytes in this time at all."""
    declared, took = number_of(row, "bytes_per_call") or 0, number_of(row, "time_ns") or 0
    return declared <= POSSIBLE_BYTES_PER_S * cores_of(row) * took / 1e9


def cores_of(row: Row) -> float:
    """Threads of all processes."""
    return (number_of(row, "threads") or 1) * (number_of(row, "processes") or 1)


def working_set_bytes(row: Row) -> float | None:
    """All buffers of all processes: as the harness saw them, else as the kernel declares them."""
    seen, declared = number_of(row, "buffers_bytes"), number_of(row, "working_set_bytes")
    if seen is not None or declared is None:
        return seen
    return declared * (number_of(row, "processes") or 1)


def used_bytes(row: Row) -> float | None:
    """Its buffers: as the harness saw them, else as the kernel declares them for one process."""
    seen = number_of(row, "buffers_bytes")
    return number_of(row, "working_set_bytes") if seen is None else seen


def number_of(row: Row, name: str) -> float | None:
    """A number of the row; None where it is not known."""
    return float(row[name]) if is_known(row.get(name)) else None


def columns(row: Row, *names: str) -> dict[str, Any]:
    """These columns of the row; None where it does not have one."""
    return {name: row.get(name) for name in names}


def rate_of(row: Row) -> float | None:
    """Bytes per ns of a call; None where the bytes or a time above zero are not known."""
    moved, took = number_of(row, "bytes_per_call"), number_of(row, "time_ns") or 0
    return moved / took if moved and took > 0 else None


def twins_of(row: Row, rows: Iterable[Row], clean: Callable[[Row], bool]) -> list[Row]:
    """Clean rows in which the same code does the same work with the same outcome."""
    return [
        twin
        for twin in rows
        if twin["where"] != row["where"]
        and all(are_same(row.get(name), twin.get(name)) for name in (*CODE, *WORK, *OUTCOME))
        and clean(twin)
    ]


def are_same(left: Any, right: Any) -> bool:
    """Whether two cells hold the same, or neither holds anything."""
    if not (is_known(left) and is_known(right)):
        return not (is_known(left) or is_known(right))
    return bool(left == right)


def speed_up(row: Row, twins: list[Row]) -> float | None:
    """Rate of the row ÷ rate of its twins (their median); None without any."""
    took = number_of(row, "time_ns") or 0
    beside = [time for twin in twins if (time := number_of(twin, "time_ns") or 0) > 0]
    return median(beside) / took if beside and took > 0 else None


def factors_of(
    rows: Iterable[Row], every: list[Row], clean: Callable[[Row], bool]
) -> dict[str, float]:
    """Rates ÷ rates of the same work that is clean, by point; of those that have such a twin."""
    each = ((row["where"], speed_up(row, twins_of(row, every, clean))) for row in rows)
    return {where: factor for where, factor in each if factor is not None}


def strongest(factors: Iterable[float | None]) -> float | None:
    """The factor that is farthest from 1; None where none is known."""
    known_factors = sorted(factor for factor in factors if factor)
    return max(known_factors, key=lambda factor: abs(math.log(factor)), default=None)
