"""inconsistent-report: a metric that is not made of the counts which are printed with it.

Cores in use are their time over the whole time, instructions per cycle the ratio of two counts, a
clock the cycles over their time, a rate the operations over theirs, a bandwidth the volume over its
own, and what was moved is as many blocks as there were operations. Counters that took turns are
scaled, and make no such ratio.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

from benchbook.artefacts import Finding, proof
from benchbook.digits import number
from benchbook.importers import Report, Result
from benchbook.logs.counters import ALL_THE_TIME
from benchbook.logs.printed import half_of_last_digit, is_number
from benchbook.logs.rules import Machine
from benchbook.logs.units import in_base
from benchbook.sizes import format_bytes

ARTEFACT = "inconsistent-report"
TOLERANCE = 0.05  # repeated runs have means of ratios
FEW_DIGITS = 0.02  # half of the last one ÷ the number: fewer tell nothing
# metric -> what it is the ratio of, in base units (ns, events), and times what
MADE_OF = {
    "task-clock CPUs utilized": ("task-clock", "time elapsed", 1.0),
    "instructions insn per cycle": ("instructions", "cycles", 1.0),
    "cycles clock": ("cycles", "task-clock", 1.0),  # in GHz
    "operation rate": ("operations", "total time", 1e9),
    "message rate": ("messages", "run time", 1e9),
    "event rate": ("events", "total time", 1e9),
}
# Each kind of core counts for itself; the time of the task is of all of them.
OF_KIND = ("instructions insn per cycle",)
NAMES = {*MADE_OF, *(name for parts in MADE_OF.values() for name in parts[:2])}
TIMES = ("time elapsed", "total time")
_MODIFIER = re.compile(r":[A-Za-z]+\b")  # of an event of perf: u is in programs, k in the kernel
_KIND = re.compile(r"(cpu_\w+)/([\w-]+)((?::\w+)?/\w*)")  # of core, on a CPU that has two
REMEDY = (
    "Do not use these figures before it is known which of them is wrong: ask whoever copied or "
    "edited the log."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report with such a metric."""
    del machine
    for report in reports:
        own: dict[str, list[Result]] = {}
        for one in report.called(*{key[0] for key in report.groups if _plain(key[0]) in NAMES}):
            if one.statistic != "standard error" and is_number(one.value) and _is_whole(one):
                own.setdefault(_plain(one.name), []).append(one)
        for metric, (above, below, times) in MADE_OF.items() if own else ():
            several = [own.get(name, []) for name in (metric, above, below)]
            if all(len(one) == 1 for one in several) and len(_modes(several)) < 2:
                yield from _judged(*(one[0] for one in several), times)
        yield from islice(_of_kinds(report), 1)
        yield from islice(_volumes(report), 1)
        yield from _blocks(report)


def _of_kinds(report: Report) -> Iterator[Finding]:
    """Ratios of what one kind of core counted that are not of its own counts: some versions of
    perf divide by those of the other kind."""
    own: dict[tuple[str, str], dict[str, list[Result]]] = {}
    for (name, statistic, _), several in report.groups.items():
        if (found := _KIND.match(name)) and statistic != "standard error":
            place = found[1], found[3]
            plain = name.replace(found[0], found[2])
            whole = [one for one in several if is_number(one.value) and _is_whole(one)]
            own.setdefault(place, {}).setdefault(plain, []).extend(whole)
    for counts in own.values():
        for metric in OF_KIND:
            above, below, times = MADE_OF[metric]
            several = [counts.get(name, []) for name in (metric, above, below)]
            if all(len(one) == 1 for one in several):
                yield from _judged(*(one[0] for one in several), times)


@lru_cache
def _plain(name: str) -> str:
    """The name without such a word: there are few names, and very many numbers of each."""
    return _MODIFIER.sub("", name)


def _modes(several: list[list[Result]]) -> set[str]:
    """Where counts were made, as `:u` says; a time has no such word."""
    found = {one.name: _MODIFIER.search(one.name) for own in several for one in own}
    return {mode[0] if mode else "" for name, mode in found.items() if not name.endswith(TIMES)}


def _volumes(report: Report) -> Iterator[Finding]:
    """Bandwidths of counters that are not their volume over the time, on one core, or on all
    together where all ran as long."""
    if "group" not in (report.results[0].of if report.results else {}):
        return
    own: dict[tuple[object, ...], dict[str, Result]] = {}
    for one in report.results:
        if one.of.get("kind") == "metric" and is_number(one.value):
            place = one.statistic, *(one.of.get(name) for name in ("group", "region", "core"))
            own.setdefault(place, {}).setdefault(one.name, one)
    for (statistic, *place), metrics in own.items():
        time = metrics.get("Runtime (RDTSC)")
        least = own.get(("min", *place), {}).get("Runtime (RDTSC)")
        alike = time and least and time.value <= least.value * (1 + TOLERANCE / 2)
        if statistic and not (statistic == "max" and alike):
            continue
        for name, rate in metrics.items():
            volume = metrics.get(name.replace("bandwidth", "data volume"))
            if time and volume and "bandwidth" in name and rate.unit == "MB/s":
                yield from _judged(rate, volume, time, 1e3)


def _blocks(report: Report) -> Iterator[Finding]:
    """Bytes that are not the operations times the block of each."""
    operations = report.called("operations")
    moved = [one for one in report.called("transfer rate") if is_number(one.of.get("bytes_moved"))]
    if len(operations) != 1 or len(moved) != 1:
        return
    count, rate = operations[0], moved[0]
    block, said = report.column(count, "array_bytes"), float(rate.of["bytes_moved"])
    if not is_number(block) or not is_number(count.value) or min(block, count.value, said) <= 0:
        return
    made = block * count.value
    if abs(said - made) <= TOLERANCE * made:
        return
    yield Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        factor=said / made,
        where=[rate.where, count.where],
        confidence=1.0,
        evidence=[
            proof("bytes_moved", said, "bytes", f"line {rate.line}"),
            proof("operations", count.value, "operations", f"line {count.line}"),
            proof("array_bytes", block, "bytes", "log"),
        ],
        explanation=(
            f"Line {rate.line} says that {format_bytes(round(said))} were moved, but "
            f"{count.value:,.0f} operations (line {count.line}) on blocks of {format_bytes(block)} "
            f"move {format_bytes(round(made))}."
        ),
        remedy=REMEDY,
    )


def _is_whole(one: Result) -> bool:
    """Whether it was counted all the time."""
    share = one.of.get("running_fraction")
    return share is None or share >= ALL_THE_TIME


def _half(one: Result) -> float:
    """Of a time with zeros at its end only the importer knows its digits."""
    known = one.of.get("elapsed_error_s")
    return float(known) if known is not None else half_of_last_digit(one.value)


def _judged(metric: Result, above: Result, below: Result, times: float) -> Iterator[Finding]:
    parts = [in_base(one.value, one.unit)[0] for one in (above, below)]
    if min(parts) <= 0 or any(_half(one) > FEW_DIGITS * one.value for one in (above, below)):
        return
    made = times * parts[0] / parts[1]
    slack = TOLERANCE * made + 2 * half_of_last_digit(metric.value)
    if abs(metric.value - made) <= slack:
        return
    shown = (metric, above, below)
    yield Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        factor=metric.value / made,
        where=[one.where for one in shown],
        confidence=1.0,
        evidence=[proof(one.name, one.value, one.unit, f"line {one.line}") for one in shown],
        explanation=(
            f"Line {metric.line} says {metric.value:g} for {metric.name}, but {above.name} (line "
            f"{above.line}) over {below.name} (line {below.line}) is {number(made)}."
        ),
        remedy=REMEDY,
    )
