"""far-below-link: what the named hardware carries stands next to a rate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from benchbook.core.number_format import number, share
from benchbook.explain.addresses import stays_in_host
from benchbook.explain.model import Report, Result
from benchbook.explain.outlines import telling
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import Machine, rule
from benchbook.explain.rules.ceilings import IN_DEVICE
from benchbook.explain.rules.common.devices import (
    has_own_memory,
    is_host,
    lanes_of,
    named_device,
    of_data_sheet,
    pcie_bytes_per_s,
)
from benchbook.explain.rules.common.findings import finding
from benchbook.explain.rules.placements import placed
from benchbook.explain.units import bytes_per_s
from benchbook.findings import Finding

TO_DEVICE = ("host to device", "device to host")
LOW = 0.3  # of sixteen lanes; eight, as laptops have them, carry half
LEAST_BYTES = 1 << 24  # of a transfer whose start no longer counts
WHOLE = ("", "mean", "best", "median", "total", "sum")


class _Ceiling(NamedTuple):
    """The most that a piece of hardware carries in bytes/s, and what that is."""

    bytes_per_s: float
    whose: str


_Best = dict[str, tuple[Result, _Ceiling]]
REACHED = 0.6  # of the ceiling, by the same command placed otherwise: the link is not to blame


@rule
def next_to_ceiling(reports: Sequence[Report], machine: Machine) -> Iterator[Finding | str]:
    """A note for the best rate of each kind with what the hardware carries by its data sheet, and a
    finding where a pinned transfer has less than a third of that, and no other run has more.

    Rates above a ceiling are another rule's.
    """
    bests = telling(reports, lambda report: _best(report, machine))
    reached: dict[tuple[str, str], float] = {}
    for report, best in bests:
        command = placed(report.asked).command
        for key, (result, ceiling) in best.items():
            part = (result.rate or 0.0) / ceiling.bytes_per_s
            reached[command, key] = max(part, reached.get((command, key), 0.0))
    for report, best in bests:
        command = placed(report.asked).command
        for key, (result, ceiling) in best.items():
            part = (result.rate or 0.0) / ceiling.bytes_per_s
            is_slow = reached[command, key] < REACHED or not command
            if part < LOW and is_slow and _is_of_link(report, result):
                words = {"part": part, "bound": ceiling.bytes_per_s, "whose": ceiling.whose}
                words["lanes"] = lanes_of(result.rate or 0.0) or None
                yield finding("far-below-link", words, result=result)
            else:
                shown, most = (
                    number(own / 1e9) for own in (result.rate or 0.0, ceiling.bytes_per_s)
                )
                yield (
                    f"line {result.line}: {shown} GB/s is {share(part)} of the {most} GB/s that "
                    f"{ceiling.whose}"
                )


def _best(report: Report, machine: Machine) -> _Best:
    """The best rate of each kind that is below a ceiling, with that."""
    best: _Best = {}
    for (_, statistic, unit), several in report.groups.items():
        is_rate = statistic in WHOLE and bytes_per_s(1.0, unit) is not None
        for result in several if is_rate else ():
            ceiling = _ceiling(report, result, machine) if result.is_positive else None
            rate = result.rate or 0.0
            if ceiling is None or not 0 < rate <= ceiling.bytes_per_s:
                continue
            direction = str(report.column(result, "direction") or "")
            key = f"{ceiling.whose} {direction}"
            if key not in best or rate > (best[key][0].rate or 0.0):
                best[key] = result, ceiling
    return best


def _is_of_link(report: Report, result: Result) -> bool:
    """Whether a result is a large transfer with pinned memory, which the device reads directly."""
    size = report.column(result, "message_bytes")
    pinned = report.column(result, "host_memory") == "pinned"
    # nvbandwidth copies 64 MiB and more where its command asks for nothing else.
    is_large = report.tool == "nvbandwidth" if size is None else is_number(size)
    return pinned and is_large and (size is None or size >= LEAST_BYTES)


def _ceiling(report: Report, result: Result, machine: Machine) -> _Ceiling | None:
    """What bounds a rate; None where nobody says."""
    device, direction = named_device(report), report.column(result, "direction")
    link = report.facts.get("link_bits_per_s")
    if direction in TO_DEVICE and device and not is_host(report):
        if own := report.facts.get("pcie_bytes_per_s"):
            return _Ceiling(own, "its link in this log carries in one direction")
        if lanes := pcie_bytes_per_s(device):
            generation = of_data_sheet(device, "pcie")
            whose = f"sixteen lanes of PCIe {generation:g} carry in one direction ({device})"
            return _Ceiling(lanes, whose)
    if device and has_own_memory(report) and _is_in_memory(report, result):
        memory = of_data_sheet(device, "memory")
        whose = f"the memory of {device} carries in its fastest version"
        return _Ceiling(memory, whose) if memory else None
    is_of_network = result.name == "throughput" and result.statistic == "total"
    if is_of_network and is_number(link) and link > 0 and not stays_in_host(report):
        return _Ceiling(link / 8, "the link of this log carries")
    return _of_host(report, result, machine)


def _is_in_memory(report: Report, result: Result) -> bool:
    within = report.column(result, "direction") == "device to device"
    return within or result.name.startswith(IN_DEVICE) or bool(report.column(result, "array_bytes"))


def _of_host(report: Report, result: Result, machine: Machine) -> _Ceiling | None:
    """The host's memory, by its modules in the log or by what was measured there."""
    if not report.column(result, "array_bytes") or has_own_memory(report):
        return None
    if modules := report.facts.get("memory_bytes_per_s"):
        return _Ceiling(modules, "its memory carries at most by the log's own figures")
    if attained := machine.memory_bytes_per_s:
        return _Ceiling(attained, f"was the best that was measured there ({machine.source})")
    return None
