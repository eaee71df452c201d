"""The compiler made a call of the C library out of a loop, which then copies in its own way.

Predicted by copies written by hand in that way and as a loop, which call no library.
"""

from __future__ import annotations

from typing import Any

from benchbook.analyse.pairwise import SIZE
from benchbook.core.number_format import listed
from benchbook.core.sizes import format_bytes
from benchbook.evidence import memcpy_thresholds
from benchbook.judge import reference_rates
from benchbook.judge.cause_context import (
    Answer,
    CannotTell,
    Context,
    Excluded,
    Point,
    Predicted,
    row,
    seen,
)
from benchbook.judge.causes.copy_path_switch import call_bytes, calls_of, thresholds_as_rows, way_of

CAUSE = "libcall-substituted"
TITLE = "loop became a library call"


def predict(context: Context) -> Answer:
    """From the library calls of the timed functions, and the library's thresholds."""
    evidence = [row(side, "library_calls", source="disassembly") for side in context.sides()]
    calls = [called for side in context.sides() if (called := calls_of(side)) is not None]
    if len(calls) < len(context.sides()):
        return CannotTell("what the timed functions call was not looked at")
    if calls[0] == calls[1]:
        words = listed(calls[0]) if calls[0] else "nothing of the C library"
        return Excluded(f"Either side calls {words}.", evidence)
    if not calls[0]:
        return CannotTell(
            f"the odd side calls no library function, the other {listed(calls[1])}: no loop of "
            "the odd side became a call"
        )
    if calls[1]:
        return CannotTell("the sides call different functions of the C library")
    way = way_of(context, context.with_cause)
    if not way:
        return CannotTell(f"how {listed(calls[0])} copies is not stated by this C library")
    evidence += thresholds_as_rows(context, context.with_cause)
    size = format_bytes(int(call_bytes(context.with_cause)))
    words = f"The loop became {listed(calls[0])}, which copies {size} a thread by {_article(way)}"
    if way == memcpy_thresholds.LOOP:
        return Predicted(0.0, f"{words}, as the loop itself would.", evidence)
    log = _by_hand(context, way)
    if log is None:
        return CannotTell(f"{words}; the same written by hand was not measured here")
    return Predicted(log, f"{words}; the same written by hand shows what that changes.", evidence)


def _article(way: str) -> str:
    return f"a {way}" if way == memcpy_thresholds.LOOP else way


def _by_hand(context: Context, way: str) -> Any | None:
    """Logs of the rate of a copy written in this way over that of a plain loop, at one size."""
    beyond = reference_rates.beyond(context, _at_work(context.with_cause))
    groups: dict[tuple[Any, ...], dict[str, Point]] = {}
    for name, point in context.points.items():
        same = all(
            point["factors"].get(key) == context.with_cause["factors"].get(key)
            for key in ("threads", "processes")
        )
        like = point["bytes_per_call"] / point["factors"][SIZE] == _arrays(context.with_cause)
        if name in context.apart() or calls_of(point) != [] or not same or not like:
            continue
        if (
            not reference_rates.does_all(point)
            or reference_rates.beyond(context, _at_work(point)) != beyond
        ):
            continue
        rest = {key: value for key, value in point["factors"].items() if key != "method"}
        key = (point["variant"], *sorted(rest.items()))
        groups.setdefault(key, {}).setdefault(way_by_hand(point), point)
    for _, by_way in sorted(groups.items(), key=lambda group: str(group[0])):
        if way in by_way and memcpy_thresholds.LOOP in by_way:
            logs = (context.logs[by_way[which]["point"]] for which in (way, memcpy_thresholds.LOOP))
            return next(logs) - next(logs)
    return None


def way_by_hand(point: Point) -> str:
    """How a function that calls no library copies, by its instructions; "" where unknown."""
    if seen(point, "string_instructions"):
        return memcpy_thresholds.STRING
    past = seen(point, "non_temporal_stores")
    if past is None:
        return ""
    return memcpy_thresholds.PAST if past else memcpy_thresholds.LOOP


def _arrays(point: Point) -> float:
    return float(point["bytes_per_call"] / point["factors"][SIZE])


def _at_work(point: Point) -> float:
    return float(point["bytes_per_call"])
