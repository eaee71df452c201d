"""inconsistent-report: what a tool makes of counts, clocks and times, and they do not make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import half_of_last_digit, is_number
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding, unequal
from benchbook.explain.rules.counters_of_runs import ALL_THE_TIME
from benchbook.explain.units import in_base
from benchbook.findings import Finding

TOLERANCE = 0.05  # repeated runs have means of ratios
EXACT = ("operations", "events")  # where they are printed without a decimal point
FEW_DIGITS = 0.02  # half of the last one ÷ the number: fewer tell nothing


def quotient(above: Result, below: Result, times: float) -> float:
    """The quotient of two results in base units, times a factor; 0 where their digits, or a 0, do
    not tell it."""
    parts = [part.base_value for part in (above, below)]
    if min(parts) <= 0 or any(_half(part) > FEW_DIGITS * part.value for part in (above, below)):
        return 0.0
    return times * parts[0] / parts[1]


def _half(result: Result) -> float:
    """Of a time with zeros at its end only the importer knows its digits; counts have no others."""
    if result.unit in EXACT and float(result.value).is_integer():
        return 0.0
    half = result.of.get("elapsed_error_s")
    return float(half) if half is not None else result.half


def not_quotient(
    metric: Result, above: Result | None, below: Result | None, times: float
) -> Iterator[Finding]:
    """That a metric is not the quotient of two results, `times` a factor."""
    if above and below and (made := quotient(above, below, times)):
        # Zeros at the end of what was printed are lost, so that this is rather too much.
        slack = TOLERANCE * made + 2 * metric.half
        words = {"metric": metric, "above": above, "below": below}
        yield from unequal("quotient", metric.value, made, slack, words)


# metric -> what it is the ratio of, in base units (ns, events), and times what
RATES = {
    "operation rate": ("operations", "total time", 1e9),
    "message rate": ("messages", "run time", 1e9),
    "event rate": ("events", "total time", 1e9),
}


@rule
def inconsistent_counts(report: Report) -> Iterator[Finding]:
    """A rate that is not the operations over their time, or bytes that are not as many blocks as
    there were operations."""
    for name, (above, below, times) in RATES.items():
        if metric := report.only(name):
            yield from not_quotient(metric, report.only(above), report.only(below), times)
    rates = [rate for rate in report.called("transfer rate") if "bytes_moved" in rate.of]
    count = report.only("operations")
    if count and len(rates) == 1:
        moved, block = rates[0].of["bytes_moved"], report.column(count, "array_bytes")
        if is_number(block) and is_number(moved) and min(block, count.value, moved) > 0:
            made = block * count.value
            words: dict[str, Any] = {"rate": rates[0], "count": count, "block": block}
            total, took = report.only("transferred"), rates[0].of.get("elapsed_s")
            is_right = total and fits_operations(report, rates[0])
            words |= {"moved": total, "took": took} if is_right else {}
            kind = "total-of-blocks" if is_right else "blocks"
            yield from unequal(kind, float(moved), made, TOLERANCE * made, words)


def fits_operations(report: Report, rate: Result) -> bool:
    """Whether the operations of a report, their block and the time of a rate make that rate."""
    count, took = report.only("operations"), rate.of.get("elapsed_s")
    block = report.column(count, "array_bytes") if count else None
    if count is None or not (is_number(block) and is_number(took)) or not rate.rate or took <= 0:
        return False
    return abs(count.value * block / took / rate.rate - 1) <= TOLERANCE


# As a part of the ratio: what turns of other lengths may do to it, and to a rate a version that
# makes it of the whole time.
SCALED = 0.5
METRIC_DIGITS = 0.01  # of a metric: perf prints two decimals or more
LONGER = 1.5  # times the second interval: starting takes some
MORE = 1.01  # times all branches: both counters stop at nearly the same moment
_L1D, _LLC = ("L1-dcache-load-misses", "L1-dcache-loads"), ("LLC-load-misses", "LLC-loads")
_DTLB, _ITLB = ("dTLB-load-misses", "dTLB-loads"), ("iTLB-load-misses", "iTLB-loads")
# What a metric is called behind its event -> the event, what that is over, and times what, in
# base units (ns, events, %).
METRICS = {
    " CPUs utilized": ("", "time elapsed", 1.0),
    " insn per cycle": ("instructions", "cycles", 1.0),
    " clock": ("cycles", "task-clock", 1.0),  # in GHz
    " of all branches": ("branch-misses", "branches", 100.0),
    " of all L1-dcache accesses": (*_L1D, 100.0),
    " of all L1-dcache hits": (*_L1D, 100.0),
    " of all LL-cache accesses": (*_LLC, 100.0),
    " of all LL-cache hits": (*_LLC, 100.0),
    " of all dTLB cache accesses": (*_DTLB, 100.0),
    " of all dTLB cache hits": (*_DTLB, 100.0),
    " of all iTLB cache accesses": (*_ITLB, 100.0),
    " of all iTLB cache hits": (*_ITLB, 100.0),
    " of all cache refs": ("cache-misses", "cache-references", 100.0),
    " frontend cycles idle": ("stalled-cycles-frontend", "cycles", 100.0),
    " backend cycles idle": ("stalled-cycles-backend", "cycles", 100.0),
    " rate": ("", "task-clock", 1e9),
}
_ENDS = tuple(METRICS)
_OF_KIND = late(r"^([a-z]\w*)/([\w.-]+)(?::([A-Za-z]+))?/(\w*)")  # cpu_atom/cycles/u
_MODIFIER = late(r":([A-Za-z]+)\b")  # u is in programs, k in the kernel
_CLOCKS = ("task-clock", "cpu-clock")


class _Counted(NamedTuple):
    """What was counted: an event; of a metric, its name behind the event; on which kind of core,
    in which mode."""

    event: str
    end: str
    kind: str
    mode: str


_Counts = Mapping[tuple[object, ...], list[Result]]


@rule
def inconsistent_events(report: Report) -> Iterator[Finding]:
    """The first metric that perf makes of its counts, and they do not make.

    Cores in use are their time over the whole time, instructions per cycle and shares of misses and
    of idle cycles the ratio of two counts, a clock the cycles over their time, a rate any count
    over it: of one place (CPU, core, socket) and one kind of core. Counters that took turns are
    scaled, and make no such ratio; but of one kind of core it is off by more than that explains
    where it was made with the other's. Missed branches are some of all branches.
    """
    if "state" in report.columns and any(key[0].endswith(_ENDS) for key in report.groups):
        yield from islice(_odd_events(report), 1)


def _odd_events(report: Report) -> Iterator[Finding]:
    """Metrics that their counts contradict, where each count is there once."""
    counts: dict[tuple[object, ...], list[Result]] = {}
    metrics: list[tuple[Result, _Counted]] = []
    for result in report.results:
        if result.statistic == "standard error" or not result.is_number:
            continue
        counted = _counted(result.name)
        if counted.end in METRICS and result.unit != "events":
            metrics.append((result, counted))
        else:
            counts.setdefault((*_place(result), *counted), []).append(result)
    from_begin = _are_from_begin(report)
    spans: dict[tuple[object, ...], list[tuple[float, Result, Result, Result]]] = {}
    for metric, counted in metrics:
        if "interval_end_s" in metric.of and not from_begin:
            continue
        if not (parts := _parts(metric, counted, counts)):
            continue
        above, below = parts
        are_whole = _is_whole(above) and _is_whole(below)
        is_of_branches = counted.end == " of all branches" and are_whole
        if is_of_branches and above.value > MORE * below.value + 1:
            yield finding("misses", metric=metric, above=above, below=below)
        is_ratio = bool(counted.kind) or are_whole
        if is_ratio and (made := quotient(above, below, METRICS[counted.end][2])):
            place = metric.of.get("place"), metric.of.get("core")
            spans.setdefault((*place, *counted), []).append((made, metric, above, below))
    odd: list[tuple[dict[str, Any], float]] = []
    for several in spans.values():
        # Old versions make a metric of the counts of all intervals up to its own.
        least, most = min(entry[0] for entry in several), max(entry[0] for entry in several)
        for made, metric, above, below in several:
            whole = _is_whole(above) and _is_whole(below)
            tolerance = TOLERANCE if whole and metric.unit != "1/s" else SCALED
            near = least if metric.value < least else most
            within = len(several) > 1 and least <= metric.value <= most
            slack = tolerance * near + metric.of.get("rate_error_per_s", METRIC_DIGITS)
            if not within and abs(metric.value - near) > slack:
                words = {"metric": metric, "above": above, "below": below, "made": made}
                odd.append((words, metric.value / made))
    scaled = [entry for entry in odd if _is_scale(entry[1])]
    if scaled:
        words, factor = scaled[0]
        words["left"] = len(scaled) - 1 or None
        about = [result for own, _ in scaled for result in (own["metric"], own["above"])]
        yield finding("scaled-metrics", words, about=about, factor=factor)
    for words, factor in odd:
        if not _is_scale(factor):
            yield finding("quotient", words, factor=factor)


def _is_scale(factor: float) -> bool:
    """Whether it is a million or a thousand million, with what few digits leave open."""
    return any(abs(factor / scale - 1) <= TOLERANCE for scale in (1e6, 1e9))


def _are_from_begin(report: Report) -> bool:
    """Whether the first of its intervals is there: those are alike, each ends where the next
    begins, and the first begins at 0."""
    ends = (result.of.get("interval_end_s") for result in report.knowing("interval_end_s"))
    first = list(dict.fromkeys(end for end in ends if is_number(end)))[:2]
    return len(first) == 2 and 0 < first[0] <= LONGER * (first[1] - first[0])


@lru_cache
def _counted(name: str) -> _Counted:
    """There are few names, and very many numbers of each."""
    end = next((end for end in _ENDS if name.endswith(end)), "")
    event = name.removesuffix(end)
    if match := _OF_KIND.match(event):
        return _Counted(match[2], end, match[1], match[3] or match[4])
    mode = _MODIFIER.search(event)
    return _Counted(_MODIFIER.sub("", event), end, "", mode[1] if mode else "")


def _place(result: Result) -> tuple[object, ...]:
    return tuple(map(result.of.get, ("place", "core", "interval_end_s")))


def _parts(metric: Result, of: _Counted, counts: _Counts) -> tuple[Result, Result] | None:
    """What the metric is made of, where both were counted once in its place."""
    above, below, _ = METRICS[of.end]
    if above not in ("", of.event):
        return None
    place = _place(metric)
    own = counts.get((*place, of.event, "", of.kind, of.mode), [])
    # Clocks are of no kind of core, the whole time is of no place.
    others = [
        result
        for name in (_CLOCKS if below in _CLOCKS else (below,))
        for kind, mode in {(of.kind, of.mode), ("", of.mode), ("", "")}
        if below in (*_CLOCKS, "time elapsed") or (kind, mode) == (of.kind, of.mode)
        for result in counts.get((*place, name, "", kind, mode), [])
    ]
    return (own[0], others[0]) if len(own) == len(others) == 1 else None


def _is_whole(result: Result) -> bool:
    """Whether it was counted all the time."""
    share = result.of.get("running_fraction")
    return share is None or share >= ALL_THE_TIME


TIME = "Runtime (RDTSC)"
READ, WRITTEN = ("read",), ("write", "writeback", "evict")
SUM_TOLERANCE = 0.01  # of a sum of two, beside four decimals of each
FEWEST = 3  # sums that agree on the number of cores
# Cycles and instructions by their names on Intel, AMD and Arm.
CYCLES = ("CPU_CLK_UNHALTED_CORE", "CPU_CLOCKS_UNHALTED", "CPU_CYCLES")
INSTRUCTIONS = ("INSTR_RETIRED_ANY", "RETIRED_INSTRUCTIONS", "INST_RETIRED")
Table = dict[str, Result]


@rule
def inconsistent_metrics(report: Report) -> Iterator[Finding]:
    """The first metric that likwid-perfctr makes of its counts, and they do not make.

    Of one core, region and group: a bandwidth is the volume over the time, a power the energy over
    it, cycles per instruction the ratio of two counts, a clock that of two others times the
    processor's own, the traffic of a memory what was read and written, the time that of the region.
    Of all cores: a sum is the mean times the cores that have a number, which are as many as the
    other sums of the same table say, or fewer.
    """
    if "group" in (report.results[0].of if report.results else {}):
        yield from islice(_odd_metrics(report), 1)


def _odd_metrics(report: Report) -> Iterator[Finding]:
    metrics, events = _tables(report, "metric"), _tables(report, "event")
    regions = _tables(report, "region info")
    for (statistic, *place), own in metrics.items():
        least = metrics.get(("min", *place), {}).get(TIME)
        time = own.get(TIME)
        # On all cores together only where all ran as long.
        alike = time and least and time.value <= least.value * (1 + TOLERANCE / 2)
        if time and (not statistic or (statistic == "max" and alike)):
            for name, metric in own.items():
                if "bandwidth" in name and metric.unit == "MB/s":
                    volume = own.get(name.replace("bandwidth", "data volume"))
                    yield from not_quotient(metric, volume, time, 1e3)
                elif "Power" in name and metric.unit == "W":
                    energy = own.get(name.replace("Power", "Energy"))
                    yield from not_quotient(metric, energy, time, 1e9)
        if not statistic:
            counts = events.get((statistic, *place), {})
            cycles, instructions = (
                [counts[name] for name in names if name in counts]
                for names in (CYCLES, INSTRUCTIONS)
            )
            if "CPI" in own and len(cycles) == len(instructions) == 1:
                yield from not_quotient(own["CPI"], cycles[0], instructions[0], 1.0)
            yield from _odd_clock(own, counts, report.facts.get("cpu_clock_ghz"))
            whole = regions.get((statistic, *place), {}).get("RDTSC Runtime")
            if time and whole:
                slack = SUM_TOLERANCE * whole.value + 1e-4
                words = {"time": time, "whole": whole}
                yield from unequal("time-of-region", time.value, whole.value, slack, words)
            yield from _odd_traffic(own)
    yield from _odd_sums_of_cores(metrics)


def _tables(report: Report, kind: str) -> dict[tuple[Any, ...], Table]:
    """By statistic, group, region and core: what was printed there, each name once."""
    by_place: dict[tuple[Any, ...], Table] = {}
    for result in report.results:
        if result.of.get("kind") == kind and result.is_number:
            place = result.statistic, *map(result.of.get, ("group", "region", "core"))
            by_place.setdefault(place, {}).setdefault(result.name, result)
    return by_place


def _odd_clock(own: Table, events: Table, cpu_ghz: Any) -> Iterator[Finding]:
    """A clock that is not the cycles over those of the processor's own clock, times that."""
    metric = own.get("Clock")
    counters = {str(result.of.get("counter")): result for result in events.values()}
    actual, own_clock = counters.get("FIXC1"), counters.get("FIXC2")
    if metric and actual and own_clock and is_number(cpu_ghz) and metric.unit == "MHz":
        made = quotient(actual, own_clock, 1e3 * cpu_ghz)
        slack = TOLERANCE * made + 2 * metric.half
        if made:
            words = {"metric": metric, "actual": actual, "own": own_clock, "ghz": cpu_ghz}
            yield from unequal("clock-of-core", metric.value, made, slack, words)


def _odd_traffic(own: Table) -> Iterator[Finding]:
    """Traffic that is not what was read and what was written."""
    for name, whole in own.items():
        head, what, tail = name.partition("bandwidth")
        if not what:
            head, what, tail = name.partition("data volume")
        ways = [
            [own[part] for word in words if (part := f"{head}{word} {what}{tail}") in own]
            for words in (READ, WRITTEN)
        ]
        if not what or any(len(way) != 1 for way in ways):
            continue
        read, written = ways[0][0], ways[1][0]
        total = read.value + written.value
        slack = SUM_TOLERANCE * total + sum(map(_digits, (whole, read, written)))
        if {whole.unit} == {read.unit, written.unit}:
            words = {"whole": whole, "read": read, "written": written}
            yield from unequal("traffic", whole.value, total, slack, words)


def _odd_sums_of_cores(metrics: dict[tuple[Any, ...], Table]) -> Iterator[Finding]:
    """Sums that are not their mean times a number of cores."""
    for (statistic, *place), sums in metrics.items():
        means = metrics.get(("mean", *place), {}) if statistic == "sum" else {}
        pairs = [(whole, means[name]) for name, whole in sums.items() if name in means]
        ratios = [
            (whole, mean, whole.value / mean.value, slack)
            for whole, mean in pairs
            if mean.value > 0 and is_number(whole.value / mean.value)
            if (slack := _open(whole, mean)) < 0.5
        ]
        cores: dict[int, int] = {}
        for _, _, times, slack in ratios:
            if abs(times - round(times)) <= slack:
                cores[round(times)] = cores.get(round(times), 0) + 1
        several = max(cores, key=lambda count: (cores[count], count), default=0)
        for whole, mean, times, slack in ratios if cores.get(several, 0) >= FEWEST else ():
            if abs(times - round(times)) > slack or times > several + slack:
                yield finding("sum-of-cores", whole=whole, mean=mean, times=times, cores=several)


def _open(whole: Result, mean: Result) -> float:
    """How far digits leave the number of cores open."""
    shares = [_digits(result) / result.value for result in (whole, mean) if result.value > 0]
    return whole.value / mean.value * (sum(shares) + 1e-4)


def _digits(result: Result) -> float:
    """likwid prints four decimals, or seven digits of what is large; zeros at the end are lost."""
    half = result.half if result.value >= 1e6 else 0.0
    return max(5e-5, half, 5e-7 * result.value)


SLOWEST_GHZ, FASTEST_GHZ = 0.4, 8.0  # of what is measured with, by far


@rule
def inconsistent_clock(report: Report) -> Iterator[Finding]:
    """A time, and the clocks that it took, which no processor's clock makes.

    Both are one measurement: their ratio is the processor's own clock, some hundred MHz to some
    GHz.
    """
    odd = [time for time in report.knowing("clocks") if _is_no_clock(time)]
    if odd:
        clocks = odd[0].of["clocks"]
        ghz = clocks / odd[0].base_value
        yield finding("clock-of-time", about=odd, time=odd[0], clocks=clocks, ghz=ghz)


def _is_no_clock(time: Result) -> bool:
    """Whether no clock makes it, as far as the digits of both tell."""
    clocks, (ns, base) = time.of.get("clocks"), in_base(time.value, time.unit)
    if base != "ns" or not is_number(clocks) or not is_number(ns) or clocks <= 0 or ns <= 0:
        return False
    half_clocks, half_ns = half_of_last_digit(clocks), half_of_last_digit(ns)
    least = (clocks - half_clocks) / (ns + half_ns)
    most = (clocks + half_clocks) / (ns - half_ns) if ns > half_ns else FASTEST_GHZ
    return least > FASTEST_GHZ or most < SLOWEST_GHZ


LONGER_THAN_CPUS = 1.5  # as long: children and ticks of the kernel's clock make less
TICKS_NS = 50e6


@rule
def inconsistent_times(report: Report) -> Iterator[Finding]:
    """A program that ran in user and kernel for longer than it had CPUs.

    perf counts the time on CPUs of all that it started; user and sys are of the same, as the kernel
    tells when they end. Where perf began later or left children out, the command says so.
    """
    if "program" not in report.facts or report.facts.get("counted_in_part"):
        return
    clock = report.only("task-clock")
    first, second = report.only("user time"), report.only("sys time")
    if not (clock and first and second):
        return
    on_cpus, took = clock.base_value, first.base_value + second.base_value
    if on_cpus > 0 and took > LONGER_THAN_CPUS * on_cpus + TICKS_NS:
        words = {"first": first, "second": second, "clock": clock}
        factor = took / on_cpus
        yield finding("longer-than-cpus", words, factor=factor, took=took, on_cpus=on_cpus)
