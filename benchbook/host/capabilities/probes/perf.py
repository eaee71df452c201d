"""perf stat: the counters of the CPU, and the events that the kernel counts itself."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from benchbook.core import number_format
from benchbook.host.capabilities.known_loop import INSTRUCTIONS, fits
from benchbook.host.capabilities.place import (
    Answer,
    Capability,
    Place,
    able,
    as_root,
    first,
    missing,
)
from benchbook.host.sysfs import read_int

NAMES = ("perf", "perf software")
PROGRAMS = ("perf",)
PARANOID = "proc/sys/kernel/perf_event_paranoid"
WATCHDOG = "proc/sys/kernel/nmi_watchdog"
FILES = (PARANOID, WATCHDOG)
OWN_PROGRAMS = 2  # the highest level at which a user may count what they started
_EVENTS = "instructions:u,cycles:u,task-clock,page-faults,context-switches,cpu-migrations"
_EVENT = re.compile(r"(?:cpu_\w+/)?([\w-]+)")  # without the kind of core and without :u
Counts = dict[str, float | str]  # a count, or perf's words in its place


def look(place: Place) -> Iterator[Capability]:
    """Hardware counters and software events: one start of perf answers for both."""
    if first(PROGRAMS) is None:
        yield from (missing(name, "perf") for name in NAMES)
        return
    if place.no_loop:
        yield from (Capability(name, "absent", place.no_loop) for name in NAMES)
        return
    answer = place.ask("perf", "stat", "-j", "-e", _EVENTS, "--", "./loop")
    counts = _counts(answer.err)
    yield _hardware(place, answer, counts)
    yield _software(place, answer, counts)


def _counts(text: str) -> Counts:
    """Counts by event; of a CPU with two kinds of core their sum."""
    counts: Counts = {}
    for line in text.splitlines():
        try:
            record = json.loads(line)
            event, named = _EVENT.match(record["event"]), str(record["counter-value"])
        except (ValueError, TypeError, KeyError):
            continue
        try:
            value: float | str = float(named)
        except ValueError:
            value = named
        if event is not None:
            before = counts.get(event[1])
            if isinstance(before, float):
                value = before + value if isinstance(value, float) else before
            counts[event[1]] = value
    return counts


def _hardware(place: Place, answer: Answer, counts: Counts) -> Capability:
    seen, cycles = counts.get("instructions"), counts.get("cycles")
    if isinstance(seen, float) and isinstance(cycles, float):
        sentence = (
            f"{seen:,.0f} instructions and {cycles:,.0f} cycles in a loop of {INSTRUCTIONS:,}"
        )
        if fits(seen) and INSTRUCTIONS / 20 < cycles < INSTRUCTIONS * 50:
            return able("perf", f"perf counts {sentence} instructions")
        return Capability("perf", "absent", f"{place.no_counters} (perf counts {sentence})")
    if seen == "<not counted>":
        busy = read_int(place.machine / WATCHDOG) == 1
        return Capability(
            "perf",
            "absent",
            "perf got no counter: all are taken" + ", one by the kernel's watchdog" * busy,
            as_root("sysctl kernel.nmi_watchdog=0") if busy else "",
        )
    if seen is not None:
        return Capability("perf", "absent", f"{place.no_counters} (perf says {seen})")
    return _unread("perf", place, answer)


def _software(place: Place, answer: Answer, counts: Counts) -> Capability:
    clock_ms, faults = counts.get("task-clock"), counts.get("page-faults")
    if not isinstance(clock_ms, float) or not isinstance(faults, float):
        return _unread("perf software", place, answer)
    seen = f"{clock_ms:.3g} ms of task clock and {number_format.plural(faults, 'page fault')}"
    sentence = f"perf counts {seen} in a short loop"
    # Two million steps take a moment, and its own instructions must be mapped.
    if 0.05 < clock_ms < 1000 and 1 <= faults < 1000:
        return able("perf software", sentence)
    return Capability("perf software", "absent", f"{sentence}, which cannot be")


def _unread(name: str, place: Place, answer: Answer) -> Capability:
    level = read_int(place.machine / PARANOID)
    if not answer.refused:
        return Capability(name, "absent", answer.why("perf stat"))
    if level is not None and level > OWN_PROGRAMS:
        return Capability(
            name,
            "denied",
            f"kernel.perf_event_paranoid is {level}: only root may count",
            as_root(f"sysctl kernel.perf_event_paranoid={OWN_PROGRAMS}"),
        )
    shown = "unknown" if level is None else level
    return Capability(
        name,
        "denied",
        f"the system refuses perf, with kernel.perf_event_paranoid at {shown} "
        "(the filter of a container does that)",
    )
