"""Evidence by perf stat: it counts whole programs, so a method's share is the difference of two
starts that differ in their samples alone."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

from benchbook.define.points import Point
from benchbook.evidence.counters import Count, NotUnderstoodError, perf
from benchbook.evidence.counters.session import (
    DOCTOR,
    HARDWARE_SHARE,
    SOFTWARE_SHARE,
    GivenUpError,
    NothingCountedError,
    Session,
)
from benchbook.evidence.stage import Row
from benchbook.measure.invocation import PointResult, Request, read_output

SLOPE_NS = 20_000_000  # how much longer the second start works
SOURCE = "perf stat"


def rows(session: Session) -> list[Row]:
    """Rows per point: the bytes that memory moved per call where the kernel counts them, and the
    hardware events per call; rows of no point for what could not be counted."""
    until = session.until(HARDWARE_SHARE)
    memory = perf.memory_events()
    items: list[Row] = []
    if memory:
        items += _of_points(session, memory, until)
    else:
        reason = "the kernel shows no counters of the memory controllers"
        items.append(session.row(SOURCE, "", "memory traffic", reason=reason))
    return items + _of_points(session, {}, until)


def _of_points(session: Session, memory: dict[str, list[str]], until: float) -> list[Row]:
    """One pass over all points: the memory's events, or without any those of the cores."""
    what = "memory traffic" if memory else "hardware counters"
    items: list[Row] = []
    left = []
    session.failures = 0
    for point in [point for start in session.starts for point in start]:
        if time.monotonic() + 2 * session.took_ns[point.id] / 1e9 > until:
            left.append(point)
            continue
        try:
            items += _of_point(session, point, memory)
        except NotUnderstoodError as why:
            items.append(session.row(SOURCE, point.id, what, reason=str(why)))
        except GivenUpError as why:
            return [*items, session.nothing(SOURCE, "", what, why)]
        except NothingCountedError as why:
            items.append(session.nothing(SOURCE, point.id, what, why))
    return items + session.left_out(SOURCE, what, left, HARDWARE_SHARE)


def _of_point(session: Session, point: Point, memory: dict[str, list[str]]) -> Iterator[Row]:
    controllers = [event for events in memory.values() for event in events]
    loops = session.numbers[point.id]["loops"]
    more = max(2, math.ceil(SLOPE_NS / (session.once_ns[point.id] * loops)))
    both = []
    for samples in (1, 1 + more):
        request = session.request([point], samples)
        counts, (outcome,) = stat(
            session, [point], request, controllers or list(perf.HARDWARE), everywhere=bool(memory)
        )
        if outcome is None or outcome.state != "ok":
            reason = "the program ended early" if outcome is None else outcome.reason
            yield session.row(SOURCE, point.id, "hardware counters", reason=reason)
            return
        session.note(SOURCE, point.id, point.variant, counts)
        both.append((counts, outcome))
    (few, _), (many, outcome) = both
    slopes = [
        _slope(session, point, first, second, more * loops, outcome)
        for first, second in zip(few, many, strict=False)
    ]
    yield from _sums(session, point, memory, slopes) if memory else slopes


def _slope(
    session: Session, point: Point, few: Count, many: Count, calls: int, outcome: PointResult
) -> Row:
    value, state, reason = None, "absent", few.reason or many.reason
    sized = perf.in_bytes(many) is not None
    first, second = (perf.in_bytes(few), perf.in_bytes(many)) if sized else (few.value, many.value)
    if first is not None and second is not None:
        if second > first:
            value, state = (second - first) / calls, "ok"
        else:
            reason = "it does not grow with the number of calls"
    return session.row(
        SOURCE,
        point.id,
        many.name,
        value=value,
        unit="bytes" if sized else "per call",
        state=state,
        reason=reason,
        declared_bytes=outcome.bytes_declared / outcome.loops,
        run_time_s=many.run_time_s,
        calls=calls,
        multiplexed=few.multiplexed or many.multiplexed,
        running_fraction=many.running_fraction,
    )


def _sums(
    session: Session, point: Point, memory: dict[str, list[str]], slopes: list[Row]
) -> Iterator[Row]:
    """The traffic of all memory controllers together; absent where one of them did not count."""
    by_event = {row["name"]: row for row in slopes}
    for name, events in memory.items():
        parts = [by_event[event] for event in events if event in by_event]
        complete = len(parts) == len(events) and all(
            part["state"] == "ok" and part["unit"] == "bytes" for part in parts
        )
        about = parts[0] if parts else session.row(SOURCE, point.id, name)
        reasons = (part["reason"] for part in parts if part["reason"])
        yield about | {
            "name": name,
            "value": math.fsum(part["value"] for part in parts) if complete else None,
            "unit": "bytes",
            "state": "ok" if complete else "absent",
            "reason": "" if complete else next(reasons, "a memory controller did not count"),
            "scope": "the whole machine",
            "multiplexed": any(part["multiplexed"] for part in parts),
        }


def stat(
    session: Session,
    group: list[Point],
    request: Request,
    events: list[str],
    *,
    everywhere: bool = False,
) -> tuple[list[Count], list[PointResult | None]]:
    """The counts of one start and the outcome of its points. NothingCountedError where there is
    none, NotUnderstoodError where its output is malformed."""
    status, out, err = session.run(
        lambda words: perf.command(words, events, everywhere=everywhere),
        request,
        session.limit_s(group),
    )
    file = session.keep("perf.txt", err)
    if "{" not in err:
        reason = err or f"exit status {status}"
        session.failed(*perf.explain(reason, everywhere=everywhere))
    counts = perf.parse(err, file)
    if all(count.state == "absent" for count in counts):
        session.failed("absent", counts[0].reason, DOCTOR)
    session.failures = 0
    return counts, read_output(out, len(group))[1]


def software_rows(session: Session) -> list[Row]:
    """perf's software events, of whole programs: one start for each variant, its cheapest."""
    cheapest: dict[str, list[Point]] = {}
    for start in sorted(session.starts, key=session.expected_s):
        cheapest.setdefault(start[0].variant, start)
    until = session.until(SOFTWARE_SHARE)
    session.failures = 0
    items: list[Row] = []
    left = []
    for variant, start in cheapest.items():
        if time.monotonic() + session.expected_s(start) > until:
            left += start
            continue
        try:
            counts, _ = stat(session, start, session.request(start, 1), list(perf.SOFTWARE))
        except NotUnderstoodError as why:
            about = {"variant": variant, "reason": str(why)}
            items.append(session.row(SOURCE, "", "software events", **about))
            continue
        except NothingCountedError as why:
            items.append(session.nothing(SOURCE, "", "software events", why, variant=variant))
            continue
        session.note("perf stat", "", variant, counts)
        items += [_software(session, variant, start, count) for count in counts]
    return items + session.left_out(SOURCE, "software events", left, SOFTWARE_SHARE)


def _software(session: Session, variant: str, start: list[Point], count: Count) -> Row:
    return session.row(
        SOURCE,
        "",
        count.name,
        value=count.value,
        unit=count.unit,
        state=count.state,
        reason=count.reason,
        variant=variant,
        measured=[point.id for point in start],
        run_time_s=count.run_time_s,
        multiplexed=count.multiplexed,
    )
