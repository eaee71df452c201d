"""absent-counter, multiplexed-counter, zero-page: what counters of events tell of a run.

The first two are told by the detectors of runs; here are the counts as they want them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

from benchbook.detect import detector
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.devices import has_own_memory
from benchbook.explain.rules.common.findings import finding
from benchbook.explain.rules.signs import signs
from benchbook.findings import Finding

_OF_KIND = late(r"^\w+/")
_OF_KERNEL = late(r"^(?:context-sw|cpu-migr|page-f|minor-f|major-f|alignment-f|emulation-f)")
_OF_GUESTS = late(r":\w*G\w*$")  # a host without any counts none of them
SOURCES = {"perf-stat": "perf stat", "likwid-perfctr": "likwid-perfctr"}
_SHARED = ("running_fraction", "multiplexed")  # columns of events that took turns
ALL_THE_TIME = 0.99  # what is above are the edges of starting and stopping


@rule
def absent_counter(reports: list[Report]) -> Iterator[Finding]:
    """Events that were asked for and are not there; starts of a program that counted nothing."""
    for report in reports:
        if "refused" in report.facts:
            yield finding("refused", about=[f"line {report.line}"], report=report, counted=0)
    # Rows of all events take a tenth of the time of a log of 8,000 starts: most have no such event.
    if not any(map(_counts_none, reports)):
        return
    unsaid = [report for report in reports if not (_counts_none(report) and _is_said(report))]
    rows = _rows(unsaid)
    if any(row["state"] == "absent" or row["value"] == 0 for row in rows):
        yield from _detected("absent-counter", rows, unsaid, _is_absent)


def _counts_none(report: Report) -> bool:
    """Whether an event of it has no value, or 0."""
    return any(_is_absent(event) or event.value == 0 for event in _events(report))


def _is_said(report: Report) -> bool:
    """Whether a sign tells why events of it have no value, and no other event of it is 0."""
    none = [event for event in _events(report) if event.value == 0 and not _is_absent(event)]
    if any(not _OF_KERNEL.match(event.name) for event in none):
        return False
    said = (own for own in signs.function(report) if isinstance(own, Finding))
    return any(own.artefact == "absent-counter" for own in said)


@rule
def multiplexed_counter(reports: list[Report]) -> Iterator[Finding]:
    """Events that took turns, and were scaled: that counted for a part of the time."""
    if all(report.columns.isdisjoint(_SHARED) for report in reports):
        return
    of_kinds = [pair for report in reports for pair in _by_kind_of_core(report)]
    # signs.toml says the same of cycles and instructions.
    others = [pair for pair in of_kinds if not _OF_SIGN.search(pair[0].name)]
    if others and len(others) == len(of_kinds):
        fast, slow = max(others, key=lambda pair: 1 / pair[1].of["running_fraction"])
        shares = [own.of["running_fraction"] for own in (slow, fast)]
        words = {"slow": slow, "fast": fast, "both": sum(shares)}
        words |= {"slow_true": slow.value * shares[0], "fast_true": fast.value * shares[1]}
        yield finding("scaled-by-kind", words, about=[own for pair in others for own in pair])
    said = {own.name for pair in of_kinds for own in pair}
    rows = [row for row in _rows(reports) if row["state"] == "ok" and row["name"] not in said]
    if any(row["multiplexed"] or row["running_fraction"] < 1 for row in rows):
        yield from _detected("multiplexed-counter", rows, reports, _is_shared)


_KIND_OF_CORE = late(r"^(?P<kind>cpu_core|cpu_atom|armv\d+_\w+)/(?P<event>.+)$")
_OF_SIGN = late(r"/(?:instructions|cycles)/u?$")
ALL_SHARES = (0.97, 1.03)  # of the time: one that ran on either kind has had its counter all along


def _by_kind_of_core(report: Report) -> Iterator[tuple[Result, Result]]:
    """Counts of one event by two kinds of cores, the longer one first, whose parts of the time are
    all of it: then threads changed cores, and no counter was missing."""
    several: dict[tuple[object, ...], list[Result]] = {}
    for event in _events(report):
        if _is_shared(event) and event.is_positive and (found := _KIND_OF_CORE.match(event.name)):
            at = event.of.get("place"), event.of.get("interval_end_s"), event.statistic
            several.setdefault((found["event"], *at), []).append(event)
    for pair in several.values():
        told = (event.of.get("running_fraction") for event in pair)
        shares = [float(share) for share in told if is_number(share)]
        of_two = len(pair) == len(shares) == 2 and pair[0].name != pair[1].name
        if of_two and ALL_SHARES[0] <= sum(shares) <= ALL_SHARES[1]:
            least, most = sorted(pair, key=lambda event: event.of["running_fraction"])
            yield most, least


STOOD = 100  # times as many cycles by the fixed counter: kernel time alone makes a few
_FIXED, _PROGRAMMED = "FIXC", "PMC"
_CYCLES = late(
    r"^(?:CPU_CLK_UNHALTED\w*|CPU_CLOCKS_UNHALTED|ACTUAL_CPU_CLOCK|CPU_CYCLES|MAX_CPU_CLOCK)$"
)


@rule
def stood_still(report: Report) -> Iterator[Finding]:
    """Programmable counters that did not count while the fixed ones did.

    Decided by cycles, which both have: of one core, or one sum, the programmed counter has next to
    none of those of the fixed one.
    """
    programmed: dict[tuple[object, ...], Result] = {}
    fixed: list[Result] = []
    for event in report.knowing("counter"):
        counter = str(event.of.get("counter"))
        if event.unit == "events" and event.value > 0 and _CYCLES.match(event.name):
            if counter.startswith(_FIXED):
                fixed.append(event)
            elif counter.startswith(_PROGRAMMED):
                programmed.setdefault(_counted_where(event), event)
    for event in fixed:
        stood = programmed.get(_counted_where(event))
        if stood is not None and event.value > STOOD * stood.value:
            yield finding("stood-still", fixed=event, programmed=stood)
            return


def _counted_where(event: Result) -> tuple[object, ...]:
    """The core, region and statistic of a count."""
    return event.of.get("core"), event.of.get("region"), event.statistic


# What is never 0 where so many of the other happened: first misses, second what they are of.
_NEVER_NONE = (
    ("L1-dcache-load-misses", "L1-dcache-loads"),
    ("L1-icache-load-misses", "L1-icache-loads"),
    ("branch-misses", "branches"),
    ("branch-load-misses", "branch-loads"),
)
LEAST_OF = 10_000_000  # loads or branches: a loop over a few lines has misses before it


@rule
def printed_as_none(report: Report) -> Iterator[Finding]:
    """0 misses of very many loads: no counter was there, and 0 was printed in its place.

    Decided by how many there were, and by the misses of a cache further away, which the nearer one
    must have had as well.
    """
    if report.tool not in SOURCES:
        return
    counts = {
        event.name.partition(":")[0]: event
        for event in _events(report)
        if not event.of.get("place") and not _is_absent(event)
    }
    for misses, every in _NEVER_NONE:
        none, of = counts.get(misses), counts.get(every)
        if none is None or of is None or none.value != 0 or of.value < LEAST_OF:
            continue
        far = next((counts[name] for name in _FARTHER if name in counts), None)
        if far is not None and (far.value <= 0 or not misses.startswith("L1-dcache")):
            far = None
        yield finding("printed-as-none", none=none, of=of, far=far)


_FARTHER = ("cache-misses", "LLC-load-misses", "LLC-loads", "cache-references")


def _detected(
    artefact: str,
    rows: list[dict[str, Any]],
    reports: list[Report],
    is_meant: Callable[[Result], bool],
) -> Iterator[Finding]:
    """What a detector of runs finds, at the lines of the events that are meant."""
    # Not above: what detectors stand on takes longer to load than a log to read.
    import pandas as pd

    from benchbook.detect import Seen

    where = [event.where for report in reports for event in _events(report) if is_meant(event)]
    for seen in detector(artefact).detect(Seen(pd.DataFrame(), evidence=rows)).findings:
        yield replace(seen, where=list(dict.fromkeys(where)))


def _events(report: Report) -> Iterator[Result]:
    """What a tool of counters counted, or was asked to; no metrics made of counts."""
    if report.tool in SOURCES and "state" in report.columns:
        for result in report.results:
            if "state" in result.of and result.of.get("kind", "event") == "event":
                yield result


def _rows(reports: list[Report]) -> list[dict[str, Any]]:
    """One row for each event that a tool counted or was asked to count; `where` is of a whole run.

    A 0 on one core where another one counted is a core without work, no number from one memory
    channel where others counted is a channel without memory, and an event that cores of one kind
    did not count and those of another did (cpu_atom, cpu_core; two of Arm) had no work there: none
    is a row.
    """
    return [
        _row(report, event)
        for report in reports
        if report.tool in SOURCES
        for counted in [{_event(result.name) for result in report.results if result.value > 0}]
        for event in _events(report)
        if event.value > 0 or _event(event.name) not in counted
        if event.value != 0 or not _OF_GUESTS.search(event.name)
    ]


def _event(name: str) -> str:
    """The event, whichever kind of core counted it."""
    return _OF_KIND.sub("", name)


def _is_absent(event: Result) -> bool:
    """Whether it has no value, or one that nothing counted."""
    return bool(event.of.get("state") == "absent")


def _is_shared(event: Result) -> bool:
    """Whether it was counted for a part of the time."""
    share = event.of.get("running_fraction")
    in_part = share is not None and 0 < share < ALL_THE_TIME
    return not _is_absent(event) and (in_part or bool(event.of.get("multiplexed")))


def _row(report: Report, event: Result) -> dict[str, Any]:
    running = event.of.get("running_fraction")
    counted = running is None or running >= ALL_THE_TIME
    return {
        "where": f"{report.tool} from line {report.line}",
        "name": event.name,
        "unit": event.unit,
        "source": SOURCES[report.tool],
        "state": event.of["state"],
        "reason": event.of.get("reason", ""),
        "value": None if _is_absent(event) else event.value,
        "run_time_s": 1.0,  # each was of a program that ran
        "multiplexed": bool(event.of.get("multiplexed")),
        "running_fraction": 1.0 if counted else running,
    }


HUGE_PAGE_BYTES = 2 << 20
LEAST_PAGES = 8  # fewer are the program's own
COUNTER = "perf-stat"
FAULTS = ("page-faults", "faults", "minor-faults")
# What was counted instead: from some moment on, or where a program was for some time.
NO_WHOLE_PROGRAM = ("process id", "thread id", "CPU(s)", "system wide")


@rule
def zero_page(reports: list[Report]) -> Iterator[Finding]:
    """A program that worked on buffers and took fewer page faults than its buffers have pages.

    Decided by what perf stat counted of the same program right behind it in the same log, even if
    all pages were huge: what was never written has no memory of its own. Pages may be larger still,
    or be there before the program touches them, so that this is likely and not certain.
    """
    for program, counted in pairwise(reports):
        if counted.tool != COUNTER or program.tool == COUNTER or has_own_memory(program):
            continue
        if str(counted.facts.get("program", "")).startswith(NO_WHOLE_PROGRAM):
            continue
        if program.results and program.results[-1].line < counted.facts.get("asked_in_line", 0):
            continue  # somebody called another one in between
        faults = next((event for event in counted.results if _is_fault(event)), None)
        sized = program.knowing("working_set_bytes") if faults else []
        sizes = [program.column(result, "working_set_bytes") for result in sized]
        largest = max((size for size in sizes if isinstance(size, int)), default=0)
        pages = largest // HUGE_PAGE_BYTES
        if faults and pages >= LEAST_PAGES and faults.value < pages:
            words = {"program": program, "faults": faults, "size": largest, "pages": pages}
            yield finding("zero-page", words, about=[*program.results[:1], faults])


def _is_fault(event: Result) -> bool:
    name = event.name.partition(":")[0]
    return name in FAULTS and event.of.get("state") == "ok" and not event.of.get("place")
