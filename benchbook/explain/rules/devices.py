"""host-memory-device, pageable, oversubscribed-sum: what a figure of devices or processes is of."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from benchbook.detect import detector
from benchbook.explain.model import Report, Result
from benchbook.explain.rules import Machine, rule
from benchbook.explain.rules.ceilings import BEYOND_LINK
from benchbook.explain.rules.common.devices import LINK_BYTES_PER_S, is_host, shares_memory
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding


@rule
def host_memory_device(report: Report) -> Iterator[Finding]:
    """Transfers whose device is the host itself, so that no bus is in the figure.

    Decided by what the log calls the platform and the device; of a mapping by a rate that no link
    has. A device in one chip with the host has no bus to it, either.
    """
    transfers = report.knowing("direction")
    moved = [result for result in transfers if report.column(result, "direction")]
    if moved and is_host(report):
        yield _within_host("within-host", report, moved)
    elif moved and shares_memory(report):
        moved = [copy for copy in moved if "host" in str(report.column(copy, "direction"))]
        if moved:
            yield _within_host("shared-memory", report, moved)
    else:
        # Mappings of memory that host and device share: there was nothing to move.
        mapped = [
            result
            for result in report.knowing("zero_copy")
            if (result.rate or 0) > LINK_BYTES_PER_S
            if result.of.get("zero_copy")
        ]
        if mapped:
            most = max(mapped, key=lambda result: result.value)
            yield finding("mapped", about=mapped, most=most)


def _within_host(kind: str, report: Report, moved: Sequence[Result]) -> Finding:
    platform, device = (str(report.facts.get(n, "")) or None for n in ("platform", "device"))
    words = {"called": device or platform, "platform": platform, "device": device}
    return finding(kind, words, about=moved, report=report, count=len(moved))


@rule
def below_transfer(report: Report) -> Iterator[Finding]:
    """A device whose own memory is slower than the transfers that end in it.

    Decided by the best figure of the memory and the best of a copy to or from it; mappings move
    nothing, and a device without memory of its own has one rate for both.
    """
    if not report.facts.get("device") or is_host(report) or shares_memory(report):
        return
    memory = [own for own in report.results if own.name.startswith(OF_MEMORY) and own.rate]
    copies = [
        copy
        for copy in report.knowing("direction")
        if copy.of.get("direction") in ("host to device", "device to host") and copy.rate
    ]
    if memory and copies:
        best, copy = (max(several, key=lambda own: own.rate or 0.0) for several in (memory, copies))
        if (best.rate or 0.0) < (copy.rate or 0.0) < LINK_BYTES_PER_S:
            yield finding("below-transfer", memory=best, copy=copy)


OF_MEMORY = "Global memory bandwidth"


@rule
def unmeasured(report: Report) -> Iterator[Finding]:
    """Figures that a tool printed as 0 or infinite, because nothing was measured."""
    if report.facts.get("unmeasured"):
        line = report.facts["unmeasured_line"]
        yield finding("unmeasured", line=line, about=[f"line {line}"])


@rule
def pageable(reports: list[Report]) -> Iterator[Finding]:
    """The host's side of a transfer is ordinary memory, which the driver copies once more."""
    of_reports = [(report, report.knowing("host_memory")) for report in reports]
    pinned = {
        _transfer(report, copy): copy
        for report, copies in of_reports
        for copy in copies
        if report.column(copy, "host_memory") == "pinned"
    }
    for report, copies in of_reports:
        paged = [copy for copy in copies if report.column(copy, "host_memory") == "pageable"]
        if not paged:
            continue
        own = report
        largest = max(paged, key=lambda copy: own.column(copy, "message_bytes") or 0)
        twin = pinned.get(_transfer(report, largest))
        rates = [copy.rate or 0.0 for copy in (twin or largest, largest)]
        ratio = rates[0] / rates[1] if twin and rates[1] else None
        factor = 1 / ratio if ratio and ratio > detector("pageable").VISIBLE else None
        words = {"largest": largest, "twin": twin, "ratio": ratio or None}
        yield finding("pageable", words, about=paged, factor=factor)


def _transfer(report: Report, copy: Result) -> tuple[object, ...]:
    """What two transfers have in common that differ in the host's memory."""
    return copy.name, *(report.column(copy, name) for name in ("direction", "message_bytes"))


ADDED = {"mean": "averages", "best": "best rates", "total": "averages"}


@rule
def oversubscribed_sum(report: Report, machine: Machine) -> Iterator[Finding]:
    """Averages of several processes were added, as if all had run all the time.

    Each average is over the time in which its process copied. Nothing says that the others copied
    then: what ends first leaves its share to the rest, and with more processes than cores each
    average leaves out the time in which its process waited. Or a tool added what devices did one
    after the other.
    """
    in_turn = [
        rate
        for rate in report.knowing("devices")
        if rate.statistic == "mean" and "summed_of" in rate.of and rate.of.get("devices", 1) > 1
    ]
    if in_turn:
        yield finding("sum-of-turns", about=in_turn, first=in_turn[0])
    sums = [rate for rate in report.being("sum") if _is_wrong(report, rate)]
    if sums:
        largest = max(sums, key=lambda rate: rate.value)
        processes = report.column(largest, "processes")
        cores = report.facts.get("cores") or machine.cores
        crowded = processes and cores and processes > cores
        words = {"largest": largest, "what": ADDED[largest.of["summed_of"]]}
        words |= {"processes": processes or None, "cores": cores}
        yield finding("crowded-sum" if crowded else "sum-of-averages", words, about=sums)


def _is_wrong(report: Report, rate: Result) -> bool:
    """Whether averages of several were added; of transfers, which may well have run at the same
    time, only where their link cannot carry the sum."""
    if rate.of.get("summed_of") not in ADDED or report.column(rate, "processes") == 1:
        return False
    link = report.facts.get("link_bits_per_s") or math.inf
    if rate.of["summed_of"] != "total" and "pattern" not in report.facts:
        return True
    return (rate.rate or 0.0) * 8 > BEYOND_LINK * link


UNEQUAL = 1.6  # between the links of two devices in one row
MOST_OF_LINK = 5e11  # one direction to the host, also by NVLink-C2C


@rule
def unequal_links(report: Report) -> Iterator[Finding]:
    """Devices of one row of a matrix whose links to the host carry different rates.

    Decided by the rates of the same copy, between the host and each device.
    """
    rows: dict[tuple[object, ...], list[Result]] = {}
    for copy in report.knowing("column"):
        if copy.of.get("direction") in ("host to device", "device to host"):
            rows.setdefault((copy.name, copy.line), []).append(copy)
    for row in rows.values():
        slow, fast = (pick(row, key=lambda copy: copy.rate or 0.0) for pick in (min, max))
        ratio = (fast.rate or 0.0) / (slow.rate or 1.0)
        if UNEQUAL <= ratio < math.inf and (fast.rate or 0.0) < LINK_BYTES_PER_S:
            yield finding("unequal-links", slow=slow, fast=fast, ratio=ratio)
            return


@rule
def phase_above_link(report: Report) -> Iterator[Finding]:
    """A phase of BabelStream in which a device would have filled or read its arrays in no time.

    Decided by the rate: no link to a host carries it.
    """
    if report.tool == "babelstream" and report.facts.get("device") and not is_host(report):
        for phase in report.called("Init", "Read"):
            if phase.name == "Read" and MOST_OF_LINK < (phase.rate or 0.0) < math.inf:
                yield finding("phase-above-link", phase=phase)
