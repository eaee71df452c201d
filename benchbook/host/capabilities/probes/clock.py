"""The clock of the kernels: its step and what a reading costs."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from itertools import pairwise

from benchbook.host.capabilities.place import Capability, Place, as_root, first
from benchbook.host.capabilities.probes.likwid import COMPILERS

NAMES = ("clock",)
PROGRAMS = COMPILERS
_SOURCE = "sys/devices/system/clocksource/clocksource0/current_clocksource"
_SOURCES = _SOURCE.replace("current", "available")
FILES = (_SOURCE,)
_SLOW_NS = 500.0  # a reading that asks the kernel or a chip, instead of the CPU
_MAIN = """#include "clock.h"
#include <stdio.h>
int main(void) {
    const struct clock_quality quality = clock_measure();
    return printf("%ju %f\\n", (uintmax_t)quality.resolution_ns, quality.cost_ns) < 0;
}
"""


def look(place: Place) -> Iterator[Capability]:
    """As the harness measures it where that can be compiled, else as Python does."""
    measured = _harness(place)
    resolution_ns, cost_ns = measured or _python()
    source = place.text(_SOURCE) or "unknown"
    sentence = (
        f"CLOCK_MONOTONIC_RAW in steps of {resolution_ns:.3g} ns, {cost_ns:.3g} ns for a reading"
        + ("" if measured else " from Python")
        + f" (clock source {source})"
    )
    if not _moves():
        yield Capability("clock", "absent", f"{sentence} does not keep time")
        return
    remedy = ""
    if cost_ns > _SLOW_NS and source != "tsc" and "tsc" in (place.text(_SOURCES) or "").split():
        remedy = f"echo tsc | {as_root(f'tee /{_SOURCE}')}"
    detail = {
        "said": sentence,
        "resolution_ns": resolution_ns,
        "cost_ns": cost_ns,
        "source": source,
    }
    yield Capability("clock", "ok", remedy=remedy, detail=detail)


def _harness(place: Place) -> tuple[float, float] | None:
    compiler, common = first(COMPILERS), (place.checkout / "kernels/common").absolute()
    sources = [common / "clock.c", common / "order.c"]
    if compiler is None or not all(file.exists() for file in sources):
        return None
    made = place.folder / "clock"
    command = (compiler, "-O2", f"-I{common}", *map(str, sources), "-x", "c", "-", "-o", str(made))
    place.ask(*command, said=_MAIN)
    match = re.fullmatch(r"(\d+) (\d+\.\d+)\n", place.ask(str(made)).out)
    return (float(match[1]), float(match[2])) if match else None


def _python() -> tuple[float, float]:
    """(smallest step between readings, cost of one), in ns; both with Python's own time in them."""
    read = time.clock_gettime_ns
    seen = [read(time.CLOCK_MONOTONIC_RAW) for _ in range(2000)]
    steps = [after - before for before, after in pairwise(seen)]
    return min((step for step in steps if step > 0), default=1e9), (seen[-1] - seen[0]) / len(steps)


def _moves() -> bool:
    """Whether it goes as fast as the clock that is kept right, roughly."""
    clocks = (time.CLOCK_MONOTONIC_RAW, time.CLOCK_MONOTONIC)
    before = [time.clock_gettime_ns(clock) for clock in clocks]
    time.sleep(0.02)
    raw_ns, kept_ns = (
        time.clock_gettime_ns(clock) - start for clock, start in zip(clocks, before, strict=True)
    )
    return 0.5 < raw_ns / kept_ns < 2
