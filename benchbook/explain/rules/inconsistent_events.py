"""inconsistent-report: what perf makes of its counts, and they do not make.

Cores in use are their time over the whole time, instructions per cycle and shares of misses and of
idle cycles the ratio of two counts, a clock the cycles over their time, a rate any count over it:
of one place (CPU, core, socket) and one kind of core. Counters that took turns are scaled, and make
no such ratio; but of one kind of core it is off by more than that explains where it was made with
the other's. Missed branches are some of all branches.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from benchbook.core.number_format import count
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import Machine
from benchbook.explain.rules.common.counters import ALL_THE_TIME
from benchbook.explain.rules.common.quotients import (
    REMEDY,
    TOLERANCE,
    contradiction,
    is_off,
    made_of,
)
from benchbook.findings import Finding, proof

ARTEFACT = "inconsistent-report"
NEEDS = ("state",)
# As a part of the ratio: what turns of other lengths may do to it, and to a rate a version that
# makes it of the whole time.
SCALED = 0.5
DIGITS = 0.01  # of a metric: perf prints two decimals or more
LONGER = 1.5  # times the second interval: starting takes some
MORE = 1.01  # times all branches: both counters stop at nearly the same moment
# What a metric is called behind its event -> the event, what that is over, and times what, in
# base units (ns, events, %).
MADE_OF = {
    " CPUs utilized": ("", "time elapsed", 1.0),
    " insn per cycle": ("", "cycles", 1.0),
    " clock": ("", "task-clock", 1.0),  # in GHz
    " of all branches": ("branch-misses", "branches", 100.0),
    " of all L1-dcache accesses": ("L1-dcache-load-misses", "L1-dcache-loads", 100.0),
    " of all L1-dcache hits": ("L1-dcache-load-misses", "L1-dcache-loads", 100.0),
    " of all LL-cache accesses": ("LLC-load-misses", "LLC-loads", 100.0),
    " of all LL-cache hits": ("LLC-load-misses", "LLC-loads", 100.0),
    " of all dTLB cache accesses": ("dTLB-load-misses", "dTLB-loads", 100.0),
    " of all dTLB cache hits": ("dTLB-load-misses", "dTLB-loads", 100.0),
    " of all iTLB cache accesses": ("iTLB-load-misses", "iTLB-loads", 100.0),
    " of all iTLB cache hits": ("iTLB-load-misses", "iTLB-loads", 100.0),
    " of all cache refs": ("cache-misses", "cache-references", 100.0),
    " frontend cycles idle": ("stalled-cycles-frontend", "cycles", 100.0),
    " backend cycles idle": ("stalled-cycles-backend", "cycles", 100.0),
    " rate": ("", "task-clock", 1e9),
}
ENDS = tuple(MADE_OF)
_OF_KIND = late(r"^([a-z]\w*)/([\w.-]+)(?::([A-Za-z]+))?/(\w*)")  # cpu_atom/cycles/u
_MODIFIER = late(r":([A-Za-z]+)\b")  # u is in programs, k in the kernel
_CLOCKS = ("task-clock", "cpu-clock")


class _Counted(NamedTuple):
    """What was counted where."""

    event: str
    end: str  # of a metric: its name behind the event
    kind: str  # of core
    mode: str  # in which it ran


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report with such a metric."""
    del machine
    for report in reports:
        if "state" in report.columns and any(key[0].endswith(ENDS) for key in report.groups):
            yield from islice(_odd(report), 1)


def _odd(report: Report) -> Iterator[Finding]:
    """Metrics that their counts contradict, where each count is there once."""
    counts: dict[tuple[object, ...], list[Result]] = {}
    metrics: list[tuple[Result, _Counted]] = []
    for one in report.results:
        if one.statistic == "standard error" or not is_number(one.value):
            continue
        counted = _counted(one.name)
        if counted.end in MADE_OF and one.unit != "events":
            metrics.append((one, counted))
        else:
            counts.setdefault((*_place(one), *counted), []).append(one)
    from_begin = _are_from_begin(report)
    spans: dict[tuple[object, ...], list[tuple[float, Result, Result, Result]]] = {}
    for one, counted in metrics:
        if "interval_end_s" in one.of and not from_begin:
            continue
        parts = _parts(one, counted, counts)
        if parts and _is_impossible(counted, *parts[:2]):
            yield _above_all(one, *parts[:2])
        made = made_of(*parts) if parts and _is_told(counted, *parts[:2]) else None
        if parts and made:
            place = one.of.get("place"), one.of.get("core")
            spans.setdefault((*place, *counted), []).append((made, one, *parts[:2]))
    for several in spans.values():
        # Old versions make a metric of the counts of all intervals up to its own.
        least, most = min(entry[0] for entry in several), max(entry[0] for entry in several)
        for made, metric, above, below in several:
            whole = _is_whole(above) and _is_whole(below)
            tolerance = TOLERANCE if whole and metric.unit != "1/s" else SCALED
            near = least if metric.value < least else most
            within = len(several) > 1 and least <= metric.value <= most
            digits = metric.of.get("rate_error_per_s", DIGITS)
            if not within and is_off(metric, near, tolerance, digits):
                yield contradiction(metric, above, below, made)


def _are_from_begin(report: Report) -> bool:
    """Whether the first of its intervals is there: those are alike, each ends where the next
    begins, and the first begins at 0."""
    ends = (one.of.get("interval_end_s") for one in report.knowing("interval_end_s"))
    known = list(dict.fromkeys(end for end in ends if is_number(end)))[:2]
    return len(known) == 2 and 0 < known[0] <= LONGER * (known[1] - known[0])


@lru_cache
def _counted(name: str) -> _Counted:
    """There are few names, and very many numbers of each."""
    end = next((one for one in ENDS if name.endswith(one)), "")
    event = name.removesuffix(end)
    if found := _OF_KIND.match(event):
        return _Counted(found[2], end, found[1], found[3] or found[4])
    mode = _MODIFIER.search(event)
    return _Counted(_MODIFIER.sub("", event), end, "", mode[1] if mode else "")


def _place(one: Result) -> tuple[object, ...]:
    return one.of.get("place"), one.of.get("core"), one.of.get("interval_end_s")


def _parts(
    metric: Result, of: _Counted, counts: dict[tuple[object, ...], list[Result]]
) -> tuple[Result, Result, float] | None:
    """What the metric is made of, where both were counted once in its place."""
    above, below, times = MADE_OF[of.end]
    if above not in ("", of.event) or (of.end == " insn per cycle" and of.event != "instructions"):
        return None
    if of.end == " clock" and of.event != "cycles":
        return None
    place = _place(metric)
    own = counts.get((*place, of.event, "", of.kind, of.mode), [])
    # Clocks are of no kind of core, the whole time is of no place.
    others = [
        found
        for name in (_CLOCKS if below in _CLOCKS else (below,))
        for kind, mode in {(of.kind, of.mode), ("", of.mode), ("", "")}
        if below in (*_CLOCKS, "time elapsed") or (kind, mode) == (of.kind, of.mode)
        for found in counts.get((*place, name, "", kind, mode), [])
    ]
    return (own[0], others[0], times) if len(own) == len(others) == 1 else None


def _is_whole(one: Result) -> bool:
    """Whether it was counted all the time."""
    share = one.of.get("running_fraction")
    return share is None or share >= ALL_THE_TIME


def _is_told(of: _Counted, above: Result, below: Result) -> bool:
    """Whether such counts make a ratio."""
    return bool(of.kind) or (_is_whole(above) and _is_whole(below))


def _is_impossible(of: _Counted, above: Result, below: Result) -> bool:
    more = above.value > MORE * below.value + 1
    return of.end == " of all branches" and more and _is_whole(above) and _is_whole(below)


def _above_all(metric: Result, above: Result, below: Result) -> Finding:
    shown = (metric, above, below)
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=[one.where for one in shown],
        confidence=1.0,
        evidence=[proof(one.name, one.value, one.unit, f"line {one.line}") for one in shown],
        explanation=(
            f"Line {above.line} counts {count(above.value)} {above.name}, but only "
            f"{count(below.value)} {below.name} were there to be missed (line {below.line}): "
            "one of the two counters does not count what its name says."
        ),
        remedy=REMEDY,
    )
