"""inconsistent-report: what likwid-perfctr makes of its counts, and they do not make.

Of one core, region and group: a bandwidth is the volume over the time, a power the energy over it,
cycles per instruction the ratio of two counts, a clock that of two others times the processor's
own, the traffic of a memory what was read and written, the time that of the region.
Of all cores: a sum is the mean times the cores that have a number, which are as many as the other
sums of the same table say, or fewer.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from benchbook.core.number_format import number
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import half_of_last_digit, is_number
from benchbook.explain.rules import Machine
from benchbook.explain.rules.common.quotients import (
    REMEDY,
    TOLERANCE,
    contradiction,
    is_off,
    made_of,
)
from benchbook.findings import Finding, proof

ARTEFACT = "inconsistent-report"
NEEDS = ("group",)
TIME = "Runtime (RDTSC)"
CPI = "CPI"
READ, WRITTEN = ("read",), ("write", "writeback", "evict")
OF_SUM = 0.01  # of a sum of two, beside four decimals of each
FEWEST = 3  # sums that agree on the number of cores
# Cycles and instructions by their names on Intel, AMD and Arm.
CYCLES = ("CPU_CLK_UNHALTED_CORE", "CPU_CLOCKS_UNHALTED", "CPU_CYCLES")
INSTRUCTIONS = ("INSTR_RETIRED_ANY", "RETIRED_INSTRUCTIONS", "INST_RETIRED")
Table = dict[str, Result]


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report with such a metric."""
    del machine
    for report in reports:
        if "group" in (report.results[0].of if report.results else {}):
            yield from islice(_odd(report), 1)


def _odd(report: Report) -> Iterator[Finding]:
    metrics, events = _tables(report, "metric"), _tables(report, "event")
    regions = _tables(report, "region info")
    for (statistic, *place), own in metrics.items():
        least = metrics.get(("min", *place), {}).get(TIME)
        time = own.get(TIME)
        # On all cores together only where all ran as long.
        alike = time and least and time.value <= least.value * (1 + TOLERANCE / 2)
        if time and (not statistic or (statistic == "max" and alike)):
            yield from _over_time(own, time)
        if not statistic:
            counts = events.get((statistic, *place), {})
            yield from _cycles(own, counts)
            yield from _clock(own, counts, report.facts.get("cpu_clock_ghz"))
            yield from _region(own, regions.get((statistic, *place), {}))
            yield from _both_ways(own)
    yield from _cores(metrics)


def _tables(report: Report, kind: str) -> dict[tuple[Any, ...], Table]:
    """By statistic, group, region and core: what was printed there, each name once."""
    found: dict[tuple[Any, ...], Table] = {}
    for one in report.results:
        if one.of.get("kind") == kind and is_number(one.value):
            place = one.statistic, *(one.of.get(name) for name in ("group", "region", "core"))
            found.setdefault(place, {}).setdefault(one.name, one)
    return found


def _over_time(own: Table, time: Result) -> Iterator[Finding]:
    for name, metric in own.items():
        if "bandwidth" in name and metric.unit == "MB/s":
            above, times = own.get(name.replace("bandwidth", "data volume")), 1e3
        elif "Power" in name and metric.unit == "W":
            above, times = own.get(name.replace("Power", "Energy")), 1e9
        else:
            continue
        made = made_of(above, time, times) if above else None
        if above and made and is_off(metric, made):
            yield contradiction(metric, above, time, made)


def _cycles(own: Table, events: Table) -> Iterator[Finding]:
    cycles, instructions = (
        [events[name] for name in names if name in events] for names in (CYCLES, INSTRUCTIONS)
    )
    metric = own.get(CPI)
    if metric and len(cycles) == len(instructions) == 1:
        made = made_of(cycles[0], instructions[0], 1.0)
        if made and is_off(metric, made):
            yield contradiction(metric, cycles[0], instructions[0], made)


def _clock(own: Table, events: Table, cpu_ghz: Any) -> Iterator[Finding]:
    """A clock that is not the cycles over those of the processor's own clock, times that."""
    metric = own.get("Clock")
    counters = {str(one.of.get("counter")): one for one in events.values()}
    actual, own_clock = counters.get("FIXC1"), counters.get("FIXC2")
    if not (metric and actual and own_clock and is_number(cpu_ghz) and metric.unit == "MHz"):
        return
    made = made_of(actual, own_clock, 1e3 * cpu_ghz)
    if made and is_off(metric, made):
        yield _unequal(
            [metric, actual, own_clock],
            f"Line {metric.line} says {metric.value:g} MHz, but {actual.name} (line {actual.line}) "
            f"over {own_clock.name} (line {own_clock.line}) at {cpu_ghz:g} GHz is {number(made)} "
            "MHz.",
        )


def _region(own: Table, region: Table) -> Iterator[Finding]:
    """A time that is not that of the region which it is of."""
    metric, whole = own.get(TIME), region.get("RDTSC Runtime")
    if metric and whole and abs(metric.value - whole.value) > OF_SUM * whole.value + 1e-4:
        yield _unequal(
            [metric, whole],
            f"Line {metric.line} says that the region took {metric.value:g} s, line {whole.line} "
            f"{whole.value:g} s.",
        )


def _both_ways(own: Table) -> Iterator[Finding]:
    """Traffic that is not what was read and what was written."""
    for name, whole in own.items():
        head, found, tail = name.partition("bandwidth")
        if not found:
            head, found, tail = name.partition("data volume")
        ways = [
            [own[one] for word in words if (one := f"{head}{word} {found}{tail}") in own]
            for words in (READ, WRITTEN)
        ]
        if not found or any(len(one) != 1 for one in ways):
            continue
        read, written = ways[0][0], ways[1][0]
        total = read.value + written.value
        slack = OF_SUM * total + sum(map(_digits, (whole, read, written)))
        if {whole.unit} == {read.unit, written.unit} and abs(whole.value - total) > slack:
            yield _unequal(
                [whole, read, written],
                f"Line {whole.line} says {whole.value:,.6g} {whole.unit} for {whole.name}, but "
                f"what was read and written (lines {read.line} and {written.line}) makes "
                f"{total:,.6g} {whole.unit}.",
            )


def _cores(metrics: dict[tuple[Any, ...], Table]) -> Iterator[Finding]:
    """Sums that are not their mean times a number of cores."""
    for (statistic, *place), sums in metrics.items():
        means = metrics.get(("mean", *place), {}) if statistic == "sum" else {}
        both = [(one, means[name]) for name, one in sums.items() if name in means]
        known = [
            (whole, mean, whole.value / mean.value, _open(whole, mean))
            for whole, mean in both
            if mean.value > 0 and is_number(whole.value / mean.value) and _open(whole, mean) < 0.5
        ]
        cores: dict[int, int] = {}
        for _, _, times, slack in known:
            if abs(times - round(times)) <= slack:
                cores[round(times)] = cores.get(round(times), 0) + 1
        several = max(cores, key=lambda one: (cores[one], one), default=0)
        if cores.get(several, 0) < FEWEST:
            continue
        for whole, mean, times, slack in known:
            if abs(times - round(times)) > slack or times > several + slack:
                unit = "" if whole.unit == "1" else f" {whole.unit}"
                yield _unequal(
                    [whole, mean],
                    f"Line {whole.line} gives {whole.value:,.6g}{unit} as the sum of "
                    f"{whole.name} and {mean.value:,.6g} as the mean of the cores: {number(times)} "
                    f"times as much, where the other sums of this table are of {several} cores.",
                )


def _open(whole: Result, mean: Result) -> float:
    """How far digits leave the number of cores open."""
    shares = [_digits(one) / one.value for one in (whole, mean) if one.value > 0]
    return whole.value / mean.value * (sum(shares) + 1e-4)


def _digits(one: Result) -> float:
    """likwid prints four decimals, or seven digits of what is large; zeros at the end are lost."""
    return max(5e-5, half_of_last_digit(one.value) if one.value >= 1e6 else 0.0, 5e-7 * one.value)


def _unequal(shown: list[Result], text: str) -> Finding:
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=[one.where for one in shown],
        confidence=1.0,
        evidence=[proof(one.where, one.value, one.unit, f"line {one.line}") for one in shown],
        explanation=text,
        remedy=REMEDY,
    )
