"""above-ceiling: more than the memory of that machine, or any core, can carry.

Decided by what the machine's own runs attained where the caller names it, by the peak of a memory
that the log prints or a device's data sheet has, and else by what no core does: its loads and
stores of a cycle bound what one thread moves, wherever it lies.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.core.number_format import count, number
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import Machine
from benchbook.explain.rules.common.devices import has_own_memory, memory_bytes_per_s
from benchbook.explain.units import bytes_per_s
from benchbook.findings import Finding, proof

ARTEFACT = "above-ceiling"
OF_LINKS = ("device", "direction", "host_memory", "protocol", "message_bytes")
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
IN_THEORY = "the memory carries in theory, as the log says"
OF_MEMORIES = "what all memories of any one machine carry"
ROUNDED = 1.01  # a peak is printed with few digits
BEYOND = 1.5  # times the caches: from here on a rate is one of memory
CONFIDENCE = 0.95
_INF = float("inf")
REMEDY = (
    "Set the figure aside until its cause is found: whether the compiler kept the work, whether "
    "the source was ever written, whether the arrays fit in a cache, how many bytes the figure "
    "counts, and in which unit."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report with rates that memory or cores cannot have."""
    least = min(MISSES_BYTES_PER_S, MARGIN * (machine.memory_bytes_per_s or MISSES_BYTES_PER_S))
    for report in reports:
        found = []
        limit, peak, of_peak = _peak(report)
        for one in above(report, min(least, limit)):
            rate = bytes_per_s(one.value, one.unit) or 0.0
            # Without arrays it may be the rate of anything; the memories of a machine bound all.
            # What a mapping is faster than is told of the mapping.
            if one.statistic == "stddev" or one.of.get("zero_copy") or _is_cached(report, one):
                continue
            if rate > limit and (of_peak == OF_PEAK or _is_in_device(report, one)):
                found.append((rate, one, peak, of_peak))
                continue
            size = report.column(one, "working_set_bytes") or report.column(one, "array_bytes")
            if not is_number(size):
                if rate > SYSTEM_BYTES_PER_S and not _is_of_link(report, one):
                    found.append((rate, one, SYSTEM_BYTES_PER_S, OF_MEMORIES))
                continue
            most, why = _bound(report, one, size, machine)
            if rate > most:
                found.append((rate, one, most, why))
        if found:
            yield _finding(found)


def _peak(report: Report) -> tuple[float, float, str]:
    """Above which rate something is wrong, the most that its memory can do by what the log or a
    data sheet says of it, and who says so."""
    own, said = (
        report.facts.get(name) for name in ("memory_peak_bytes_per_s", "memory_bytes_per_s")
    )
    if is_number(own) and own > 0:
        return ROUNDED * own, own, OF_PEAK
    if of_device := memory_bytes_per_s(report):
        why = f"the memory of {report.facts['device']} carries by its data sheet"
        return MARGIN * of_device, of_device, why
    if said and not has_own_memory(report):  # else it is perhaps the host's
        return MARGIN * said, said, IN_THEORY
    return _INF, _INF, ""


def above(report: Report, least: float) -> Iterator[Result]:
    """The rates above so many bytes per second, which hardly any is."""
    for (_, _, unit), several in report.groups.items():
        if (one_unit := bytes_per_s(1.0, unit)) and not max(several.values) <= least / one_unit:
            yield from (one for one in several if one.value > least / one_unit)


def _is_in_device(report: Report, one: Result) -> bool:
    """Whether it is the rate of what lies in one memory."""
    if one.statistic == "sum" or one.of.get("devices", 1) > 1 or _is_cached(report, one):
        return False
    if report.column(one, "direction") == "device to device" or one.name.startswith(IN_DEVICE):
        return True
    # Where the head is cut off nobody says how large the arrays are.
    return bool(report.column(one, "array_bytes") or report.column(one, "arrays_moved"))


def _is_cached(report: Report, one: Result) -> bool:
    """Whether source and destination lie in the device's own cache: then the cause is known, and
    another rule tells it."""
    size, cache = report.column(one, "message_bytes"), report.facts.get("device_cache_bytes")
    within = report.column(one, "direction") == "device to device"
    return within and is_number(size) and is_number(cache) and 2 * size <= cache


def _is_of_link(report: Report, one: Result) -> bool:
    """Whether it is the rate of a transfer, of which other rules know more."""
    return any(report.column(one, name) is not None for name in OF_LINKS)


def _bound(report: Report, one: Result, size: float, machine: Machine) -> tuple[float, str]:
    """The most that it can be, and why."""
    attained, llc = machine.memory_bytes_per_s, machine.llc_bytes
    if has_own_memory(report):
        return SYSTEM_BYTES_PER_S, OF_MEMORIES
    if attained and llc and size > BEYOND * llc:
        return MARGIN * attained, f"the best that was attained there ({machine.source})"
    if report.column(one, "threads") == 1 and not report.column(one, "processes"):
        if size >= NO_CACHE:
            return MISSES_BYTES_PER_S, "what the misses of one core bring from a memory"
        return CORE_BYTES_PER_S, "what one core can load and store in its registers"
    return SYSTEM_BYTES_PER_S, OF_MEMORIES


def _finding(found: list[tuple[float, Result, float, str]]) -> Finding:
    rate, one, bound, why = max(found, key=lambda entry: entry[0] / entry[2])
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        factor=rate / bound if rate < float("inf") else None,
        where=[entry[1].where for entry in found],
        confidence=CONFIDENCE,
        evidence=[
            proof("rate", one.value, one.unit, f"line {one.line}"),
            proof("bound", bound, "bytes/s", "machine"),
        ],
        explanation=(
            f"{one.name} in line {one.line} is {_gb(rate)}, more than {why}: {_gb(bound)} at most. "
            "No memory carried that."
        ),
        remedy=REMEDY,
    )


def _gb(rate: float) -> str:
    if rate == float("inf"):
        return "infinite"
    return f"{number(rate / 1e9) if rate < 1e12 else count(rate / 1e9)} GB/s"
