"""above-ceiling, dead-code: more than memories, cores or links can carry, or work in no time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from benchbook.core.number_format import listed
from benchbook.explain.addresses import stays_in_host
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import BOTH_WAYS, Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import Machine, rule
from benchbook.explain.rules.common.devices import (
    LINK_BYTES_PER_S,
    has_own_memory,
    named_device,
    of_data_sheet,
    pcie_bytes_per_s,
)
from benchbook.explain.rules.common.findings import finding
from benchbook.explain.units import bytes_per_s
from benchbook.findings import Finding

TABLE = "table"
MARGIN = 1.15  # another mixture of reads and writes may beat the ceilings' own by this much
# One core: three accesses of 64 bytes a cycle, at 7 GHz. More of them together: what the largest
# machines of one system image have had, a thousand cores, would need from their memories.
CORE_BYTES_PER_S = 3 * 64 * 7e9
# From a memory it has what its misses under way bring, some hundred lines in 50 ns: the best cores
# of 2025 have half of that. No cache that one core can use holds so much.
MISSES_BYTES_PER_S, NO_CACHE = 250e9, 2 << 30
SYSTEM_BYTES_PER_S = 100e12
IN_DEVICE = "Global memory bandwidth"  # how clpeak calls it
OF_PEAK = "the peak of its memory by clock and width as the log says"
OF_MEMORIES = "what all memories of any one machine carry"
ROUNDED = 1.01  # a peak is printed with few digits
SIZES_OF_WALK, MOST_CACHED = 4, 512 << 20
BEYOND = 1.5  # times the caches: from here on a rate is one of memory


class _Above(NamedTuple):
    """A rate above a bound, both in bytes/s, and whose bound that is."""

    result: Result
    rate: float
    bound: float
    whose: str


def _worst(kind: str, above: Sequence[_Above], **words: object) -> Iterator[Finding]:
    """A finding of the rate that is farthest above its bound, if there is any, about them all."""
    if above:
        worst = max(above, key=lambda each: each.rate / each.bound)
        factor = worst.rate / worst.bound if worst.rate < math.inf else None
        about = [each.result for each in above]
        yield finding(kind, worst._asdict() | words, about=about, factor=factor)


@rule
def above_ceiling(report: Report, machine: Machine) -> Iterator[Finding]:
    """Rates above what the memory of that machine, or any core, can carry.

    Decided by what the machine's own runs attained where the caller names it, by the peak of a
    memory that the log prints or a device's data sheet has, and else by what no core does: its
    loads and stores of a cycle bound what one thread moves, wherever it lies.
    """
    least = min(MISSES_BYTES_PER_S, MARGIN * (machine.memory_bytes_per_s or MISSES_BYTES_PER_S))
    limit, peak, of_peak = _peak(report)
    walk = len({own.of.get("working_set_bytes") for own in report.results}) >= SIZES_OF_WALK
    above = []
    for result in rates_above(report, min(least, limit)):
        rate = result.rate or 0.0
        # Without arrays it may be the rate of anything; the memories of a machine bound all.
        # What a mapping is faster than is told of the mapping.
        is_other = result.statistic == "stddev" or result.of.get("zero_copy")
        if is_other or _is_cached(report, result) or (walk and _is_small(report, result)):
            continue
        size = report.column(result, "working_set_bytes") or report.column(result, "array_bytes")
        if rate > limit and (of_peak == OF_PEAK or _is_in_device(report, result)):
            above.append(_Above(result, rate, peak, of_peak))
        elif not is_number(size):
            is_other = report.tool != TABLE and _is_of_link(report, result)
            if rate > SYSTEM_BYTES_PER_S and not is_other:
                above.append(_Above(result, rate, SYSTEM_BYTES_PER_S, OF_MEMORIES))
        else:
            most, why = _bound(report, result, size, machine)
            if rate > most:
                above.append(_Above(result, rate, most, why))
    yield from _worst("above-memory", above)


def _peak(report: Report) -> tuple[float, float, str]:
    """Above which rate something is wrong, the most that its memory can do by what the log or a
    data sheet says of it, and who says so."""
    peak = report.facts.get("memory_peak_bytes_per_s")
    in_theory = report.facts.get("memory_bytes_per_s")
    if is_number(peak) and peak > 0:
        return ROUNDED * peak, peak, OF_PEAK
    if of_device := of_data_sheet(named_device(report), "memory"):
        why = f"the memory of {report.facts['device']} carries by its data sheet"
        return MARGIN * of_device, of_device, why
    if in_theory and not has_own_memory(report):  # else it is perhaps the host's
        return MARGIN * in_theory, in_theory, "the memory carries in theory, as the log says"
    return math.inf, math.inf, ""


def rates_above(report: Report, least: float) -> Iterator[Result]:
    """The rates above so many bytes per second, which hardly any is."""
    for (_, _, unit), several in report.groups.items():
        if size := bytes_per_s(1.0, unit):
            yield from (result for result in several if result.value > least / size)


def _is_in_device(report: Report, result: Result) -> bool:
    """Whether it is the rate of what lies in one memory."""
    if result.statistic == "sum" or result.of.get("devices", 1) > 1:
        return False
    within = report.column(result, "direction") == "device to device"
    if within or result.name.startswith(IN_DEVICE):
        return True
    # Where the head is cut off nobody says how large the arrays are.
    return bool(report.column(result, "array_bytes") or report.column(result, "arrays_moved"))


def _is_cached(report: Report, result: Result) -> bool:
    """Whether source and destination lie in the device's own cache: then the cause is known, and
    another rule tells it."""
    size, cache = report.column(result, "message_bytes"), report.facts.get("device_cache_bytes")
    within = report.column(result, "direction") == "device to device"
    return within and is_number(size) and is_number(cache) and 2 * size <= cache


def _is_small(report: Report, result: Result) -> bool:
    """Whether caches may hold what it works on: who walks through sizes knows that they do."""
    size, llc = result.of.get("working_set_bytes"), report.facts.get("llc_bytes")
    return is_number(size) and size < (BEYOND * llc if is_number(llc) else MOST_CACHED)


def _is_of_link(report: Report, result: Result) -> bool:
    """Whether it is the rate of a transfer, of which other rules know more."""
    of_links = ("device", "direction", "host_memory", "protocol", "message_bytes")
    return any(report.column(result, name) is not None for name in of_links)


def _bound(report: Report, result: Result, size: float, machine: Machine) -> tuple[float, str]:
    """The most that it can be, and why."""
    attained, llc = machine.memory_bytes_per_s, machine.llc_bytes
    if has_own_memory(report):
        return SYSTEM_BYTES_PER_S, OF_MEMORIES
    if attained and llc and size > BEYOND * llc:
        return MARGIN * attained, f"the best that was attained there ({machine.source})"
    if report.column(result, "threads") == 1 and not report.column(result, "processes"):
        if size >= NO_CACHE:
            return MISSES_BYTES_PER_S, "what the misses of one core bring from a memory"
        return CORE_BYTES_PER_S, "what one core can load and store in its registers"
    return SYSTEM_BYTES_PER_S, OF_MEMORIES


OF_NETWORKS = ("far_address", "protocol", "link_bits_per_s")
NETWORK_BITS_PER_S = 800e9  # no card has a faster port
BEYOND_LINK = 1.02  # times its speed: what waits in buffers at the end of a test


@rule
def above_link(report: Report) -> Iterator[Finding]:
    """Rates above what the link between host and device carries, or any network card does.

    Decided by the generation of PCIe that the named device has, sixteen lanes of it one way; for a
    device that is not known, by what no link has.
    """
    network = any(key in report.facts for key in OF_NETWORKS)
    if network:
        above = [each for rate in report.being("total", "mean") for each in _of_net(report, rate)]
    else:
        above = [each for rate in report.knowing("direction") for each in _of_bus(report, rate)]
    # Where no link was there, which one the log has besides tells nothing.
    if above and not (network and stays_in_host(report)):
        worst = max(above, key=lambda each: each.rate / each.bound)
        kind = "above-lanes" if "PCIe" in worst.whose else "above-link"
        yield from _worst(kind, above, gbit=worst.rate * 8 / 1e9, most_gbit=worst.bound * 8 / 1e9)


def _of_net(report: Report, result: Result) -> Iterator[_Above]:
    """A rate above what the link, or any port, carries."""
    both = str(result.of.get("stream")).startswith(BOTH_WAYS)
    both = both or report.column(result, "direction") == "both"
    link = report.facts.get("link_bits_per_s")
    most = (link or NETWORK_BITS_PER_S) / 8 * (2 if both else 1)
    if (rate := result.rate) is not None and BEYOND_LINK * most < rate < math.inf:
        whose = "the link of this log" if link else "the fastest port of any network card"
        yield _Above(result, rate, most, whose)


def _of_bus(report: Report, result: Result) -> Iterator[_Above]:
    """A rate above what the bus between host and device carries."""
    rate = result.rate
    both = str(result.of.get("stream")).startswith(BOTH_WAYS)
    direction = "both" if both else report.column(result, "direction")
    is_moved = direction in ("host to device", "device to host", "both")
    if rate is None or not rate < math.inf or not is_moved or result.statistic == "sum":
        return
    times, device = result.of.get("devices", 1), named_device(report)
    times *= 2 if direction == "both" else 1
    least = most = LINK_BYTES_PER_S * times
    whose = "the fastest link of any device"
    if own := report.facts.get("pcie_bytes_per_s"):
        most, whose = own * times, "the link of this log"
        least = BEYOND_LINK * most
    elif bus := pcie_bytes_per_s(device):
        least = most = bus * times
        ways, generation = _ways(direction == "both"), of_data_sheet(device, "pcie")
        whose = f"sixteen lanes of PCIe {generation}, the most of {device}, carry no more in {ways}"
    if rate > least:
        yield _Above(result, rate, most, whose)


def _ways(both: bool) -> str:
    return "both directions together" if both else "one direction"


@rule
def above_peer_link(report: Report) -> Iterator[Finding]:
    """Rates between two devices above what the links that they have carry.

    Decided by the name of the devices, which tells the generation of NVLink and how many of them
    there are, or that there are none and PCIe is all. What stays within one device is judged by its
    memory.
    """
    device = named_device(report)
    linked, bus = of_data_sheet(device, "nvlink"), pcie_bytes_per_s(device)
    lanes = f"sixteen lanes of PCIe {of_data_sheet(device, 'pcie')}"
    whose = f"{'all NVLinks' if linked > bus else lanes} of {device}"
    above = [
        _Above(result, rate, most, f"{whose} carry in {_ways(ways == 2)}")
        for result in (report.knowing("ways") if linked or bus else ())
        for ways in [report.column(result, "ways")]
        if ways in (1, 2) and result.of.get("row") != result.of.get("column")
        for most in [max(linked, bus) * ways]
        if result.is_number and (rate := result.rate) and rate > BEYOND_LINK * most
    ]
    yield from _worst("above-peer-link", above)


AS_SAID = 1.25  # times what bytes and time make at most: else one of the three is wrong


class _Unmoved(NamedTuple):
    """A rate whose bytes nothing moved in the longest time that its digits allow."""

    result: Result
    moved: float
    longest_s: float


@rule
def no_work(report: Report) -> Iterator[Finding]:
    """So many bytes in so little time that nothing can have moved them.

    Decided by the bytes that the tool says it moved and the time that it says that took, rounded in
    the loop's favour: they contradict nothing, and no core has registers enough for such a rate.
    """
    rates = rates_above(report, CORE_BYTES_PER_S)
    far = [unmoved for result in rates if (unmoved := _unmoved(report, result))]
    # Of a transfer the launch alone may have been timed, or a counter of its bytes ran over; a
    # collective of one rank moves nothing.
    if far and not report.knowing("direction", *OF_NETWORKS, "streams") and not _collective(report):
        worst = max(far, key=lambda each: each.moved / each.longest_s)
        gb = worst.moved / worst.longest_s / 1e9
        yield finding("no-work", worst._asdict(), about=[each.result for each in far], gb=gb)


def _collective(report: Report) -> bool:
    return "ranks" in report.facts


def _unmoved(report: Report, result: Result) -> _Unmoved | None:
    """None where something can have moved them."""
    rate, elapsed = result.rate, report.column(result, "elapsed_s")
    if rate is None or not is_number(elapsed) or elapsed < 0:
        return None  # without a time of its own the figure may be the one that is wrong
    threads = (report.column(result, "threads") or 0) * (report.column(result, "processes") or 1)
    most = min(SYSTEM_BYTES_PER_S, threads * CORE_BYTES_PER_S or SYSTEM_BYTES_PER_S)
    if rate <= most:
        return None
    moved = result.of.get("bytes_moved")
    if not moved:
        arrays = report.column(result, "arrays_moved"), report.column(result, "array_bytes")
        moved = arrays[0] * arrays[1] if all(map(is_number, arrays)) else 0
    error = report.column(result, "elapsed_error_s") or 0.0
    longest, shortest = elapsed + error, elapsed - error
    if not is_number(moved) or longest <= 0 or moved / longest <= most:
        return None
    return _Unmoved(result, moved, longest) if rate * shortest <= AS_SAID * moved else None


NO_LOOP_NS = 0.02  # for an iteration: a tenth of a cycle of any core
SURELY_ROUNDED = 10**11  # iterations; a time that was not nothing would have been long
MOST_NS = 1.0  # for an iteration over the largest size; a cycle or three
LEAST_SIZE = 1000  # units of work that no core does in that time
LEAST_GROWTH = 8  # largest ÷ smallest size
BATCHED_BYTES = 2  # for an iteration that has no loop of its own
SAME = 1.25  # slowest ÷ fastest
SHOWN = 3
_SIZED = late(r"(.+?)/(\d{1,15})(/.*)?")


@rule
def dead_code(report: Report) -> Iterator[Finding]:
    """A loop that takes as long for far more work, and less than any work takes.

    Decided by a time too short for the empty loop itself, or by the same benchmark at several sizes
    whose work it counts itself (in bytes or items): its time must grow with them, unless the
    compiler removed the work and left the empty loop. Without such a count it may be an operation
    that takes as long at any size.
    """
    yield from _arithmetic(report)
    yield from _without_loop(report)
    for family, sizes in _families(report).items():
        times = [time.base_value for time in sizes.values()]
        least, most = min(sizes), max(sizes)
        grows = most >= LEAST_SIZE and most >= LEAST_GROWTH * max(1, least)
        if len(sizes) > 1 and grows and max(times) <= min(MOST_NS, SAME * min(times)):
            words = {"family": family, "least": least, "most": most}
            words |= {"small": sizes[least], "large": sizes[most], "times": most / max(1, least)}
            yield finding("empty-loop", words, about=sizes.values())


def _arithmetic(report: Report) -> Iterator[Finding]:
    """Operations of arithmetic that took no time, as many of them as a loop was to hold."""
    operations = report.knowing("arithmetic")
    none = [time for time in operations if time.is_time and 0 <= time.base_value < NO_LOOP_NS]
    if none:
        distinct = list(dict.fromkeys(time.name for time in none))
        names = listed(distinct[:SHOWN])
        left = max(0, len(distinct) - SHOWN) or None
        yield finding("no-arithmetic", about=none, names=names, left=left, first=none[0])


def _without_loop(report: Report) -> Iterator[Finding]:
    """Iterations that took no time: not even the loop around the work is left."""
    few: list[Result] = []
    for time in report.knowing("benchmark"):
        is_cpu = time.name.endswith(" cpu time") and time.is_number and time.is_time
        if not is_cpu or "iterations" not in time.of or time.of.get("threads", 1) != 1:
            continue
        ns, open_ns = time.base_value, time.of.get("below_ns", NO_LOOP_NS)
        if not 0 <= ns < NO_LOOP_NS:
            continue
        if ns == 0 and time.of["iterations"] < SURELY_ROUNDED and open_ns >= NO_LOOP_NS:
            continue
        few.append(time)
    in_batches = batched(report) if few else set()
    for time in few:
        if time.of["benchmark"] not in in_batches:
            yield finding("no-loop", time=time)


def batched(report: Report) -> set[object]:
    """Benchmarks whose iteration is a byte or two at a rate that cores have: their loop is run for
    many at a time (KeepRunningBatch), and its own share of each is small."""
    rates = {
        result.of["benchmark"]: rate
        for result in report.knowing("benchmark")
        if (rate := result.rate) and rate <= CORE_BYTES_PER_S
    }
    return {
        time.of["benchmark"]
        for time in report.knowing("benchmark")
        if time.name.endswith(" cpu time") and time.of["benchmark"] in rates
        if rates[time.of["benchmark"]] * time.base_value / 1e9 <= BATCHED_BYTES
    }


def _families(report: Report) -> dict[str, dict[int, Result]]:
    """Times of an iteration by the number in the benchmark's name; several threads share one."""
    families: dict[str, dict[int, Result]] = {}
    own = [result for result in report.knowing("benchmark") if "iterations" in result.of]
    counting = {
        result.of["benchmark"]
        for result in own
        if result.unit == "items/s" or result.rate is not None
    }
    for time in own:
        name = time.of["benchmark"]
        if name not in counting or time.name.endswith(" cpu time") or not time.is_time:
            continue
        sized = _SIZED.fullmatch(str(name)) if time.is_positive else None
        if sized and (time.of.get("threads") or 1) == 1:
            title = f"{sized[1]}/…{sized[3] or ''}{time.name.removeprefix(name)}"
            families.setdefault(title, {}).setdefault(int(sized[2]), time)
    return families
