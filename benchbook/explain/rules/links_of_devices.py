"""unequal-links, peer-access, far-below-memory: what matrices of rates between devices show."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import median

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import rule
from benchbook.explain.rules.ceilings import IN_DEVICE
from benchbook.explain.rules.common.devices import (
    has_own_memory,
    lanes_of,
    named_device,
    of_data_sheet,
    pcie_bytes_per_s,
)
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

HOST = ("host to device", "device to host")
MOST_OF_LINK = 6.4e10  # sixteen lanes of PCIe 5: above it a rate is of another kind of link
ONE_WAY = 1.45  # a pinned copy one way, as a multiple of the other way
LEAST_BYTES = 1 << 22  # of a copy whose start no longer counts
FELL = 0.85  # of the rate with the smaller buffer
LIKE = 0.04  # apart at most: as fast as through the host
SLOWER = 0.75  # of what the other devices have
ALIKE = 0.2  # of their median: the others of a matrix
APART = 1.6  # between two groups of pairs
APART_BY_DEVICE = 1.1  # the same, where the devices themselves form groups
LOW = 0.35  # of the data sheet's rate, which is of the fastest variant of the name
_PARTIAL = late(r"Laptop|Mobile|Max-Q|\bMIG\b|\bMI2|vGPU|GRID", re.I)  # have far less
LARGE = 1 << 26  # bytes of an array that no cache of a device holds


@rule
def ways_apart(reports: Sequence[Report]) -> Iterator[Finding]:
    """Copies with pinned memory that are far faster one way than the other.

    Decided by the largest copies between host and device of one run, or of two runs of a test.
    """
    for copies in _tests(reports):
        best = {way: _best(copies, way) for way in HOST}
        to_device, to_host = (best[way] for way in HOST)
        if to_device is None or to_host is None:
            continue
        rates = to_device.rate or 0.0, to_host.rate or 0.0
        if not 0 < min(rates) < max(rates) < MOST_OF_LINK or max(rates) < ONE_WAY * min(rates):
            continue
        slow, fast = sorted((to_device, to_host), key=lambda copy: copy.rate or 0.0)
        by_kernel = "_sm" in slow.name or " SM " in slow.name
        reads = slow is to_device
        how = "reads" if by_kernel and reads else "writes" if by_kernel else "engine"
        yield finding("ways-apart", slow=slow, fast=fast, ratio=max(rates) / min(rates), how=how)
        return


def _tests(reports: Sequence[Report]) -> Iterator[list[Result]]:
    """Pinned copies between host and device, those of one tool and device together, by who copies:
    engines or kernels."""
    groups: dict[tuple[object, ...], list[Result]] = {}
    for report in reports:
        if report.facts.get("zero_copy") or not report.knowing("direction"):
            continue
        for copy in report.knowing("direction"):
            if report.column(copy, "direction") not in HOST or not copy.rate:
                continue
            if report.column(copy, "host_memory") != "pinned" or copy.statistic == "sum":
                continue
            size = report.column(copy, "message_bytes")
            if is_number(size) and size < LEAST_BYTES:
                continue
            who = "_sm" in copy.name or " SM " in copy.name
            asked, label = report.asked[:1], copy.of.get("label")
            key = report.tool, report.facts.get("device"), asked, who, label
            groups.setdefault(key, []).append(copy)
    yield from groups.values()


def _best(copies: Sequence[Result], way: str) -> Result | None:
    own = [copy for copy in copies if _way(copy) == way]
    return max(own, key=lambda copy: copy.rate or 0.0) if own else None


def _way(copy: Result) -> str:
    return str(copy.of.get("direction"))


@rule
def larger_buffers(reports: Sequence[Report]) -> Iterator[Finding]:
    """The same copy by a kernel, slower with a larger buffer.

    Decided by the sizes that the commands name and the rates of the same test on one device.
    """
    tests: dict[tuple[object, ...], list[tuple[int, Result]]] = {}
    for report in reports:
        size = report.facts.get("message_bytes")
        if report.tool != "nvbandwidth" or not isinstance(size, int):
            continue
        for rate in report.results:
            if rate.statistic == "sample" and rate.rate and "_sm" in rate.name:
                key = rate.name, report.facts.get("device"), rate.of.get("row"), _column(rate)
                tests.setdefault(key, []).append((size, rate))
    for several in tests.values():
        several.sort(key=lambda pair: pair[0])
        for (small, fast), (large, slow) in pairwise((several[0], several[-1])):
            if small < large and (slow.rate or 0.0) < FELL * (fast.rate or 0.0):
                yield finding("larger-buffers", small=small, large=large, slow=slow, fast=fast)
                return


def _column(rate: Result) -> object:
    return rate.of.get("column")


@rule
def without_peers(report: Report) -> Iterator[Finding]:
    """Pairs of devices without access to each other, whose rates are those of copies through the
    host.

    Decided by what the tool says of their access, or by rates that switching it on did not change.
    """
    pairs = [
        (rate.of.get("row"), rate.of.get("column"), rate)
        for rate in report.knowing("peer_access")
        if rate.of.get("peers") == "enabled" and rate.of.get("peer_access") is False
        if rate.rate and rate.of.get("row") != rate.of.get("column")
    ]
    if pairs:
        row, column, rate = max(pairs, key=lambda pair: pair[2].rate or 0.0)
        several = len({frozenset(pair[:2]) for pair in pairs})
        words = {"rate": rate, "row": row, "column": column, "left": several - 1 or None}
        yield finding("without-peers", words, about=[pair[2] for pair in pairs])


@rule
def peers_change_nothing(report: Report) -> Iterator[Finding]:
    """Rates between devices that are the same with peer access and without it.

    Decided by all pairs of the matrices one way, where the tool does not say who has access.
    """
    if "peer_access" in report.columns:
        return
    pairs: dict[tuple[object, object], dict[str, Result]] = {}
    for rate in report.knowing("peers"):
        row, column = rate.of.get("row"), rate.of.get("column")
        if row != column and rate.rate and rate.of.get("ways") == 1:
            pairs.setdefault((row, column), {}).setdefault(str(rate.of["peers"]), rate)
    both = [own for own in pairs.values() if len(own) == 2]
    alike = [own for own in both if abs(_times_as_fast(own) - 1) <= LIKE / 2]
    if both and len(alike) == len(both) and len(both) == len(pairs):
        words = {**both[0], "count": len({frozenset(pair) for pair in pairs})}
        yield finding("peers-change-nothing", words)


def _times_as_fast(both: Mapping[str, Result]) -> float:
    return both["enabled"].value / both["disabled"].value


NARROW = 0.3  # of sixteen lanes: eight of the generation carry half


@rule
def narrow_peers(report: Report) -> Iterator[Finding]:
    """Devices that have access to each other, and whose copies are far slower than their slots.

    Decided by the fastest pair one way, with access and without it, and by the generation of PCIe
    that the devices have by name: a copy through the host would pass the same lanes.
    """
    device = named_device(report)
    bus = pcie_bytes_per_s(device)
    pairs = [
        rate
        for rate in report.knowing("peers")
        if rate.of.get("row") != rate.of.get("column") and rate.rate
        if rate.of.get("ways") == 1 and rate.unit == "GB/s"
    ]
    with_access = [rate for rate in pairs if rate.of.get("peer_access")]
    without = [rate for rate in pairs if rate.of.get("peers") == "disabled"]
    if not bus or not with_access or not without or of_data_sheet(device, "nvlink") > bus:
        return
    best = max(pairs, key=lambda rate: rate.rate or 0.0)
    if (best.rate or 0.0) < NARROW * bus:
        words = {"best": best, "bus": bus, "part": (best.rate or 0.0) / bus, "device": device}
        words |= {
            "generation": of_data_sheet(device, "pcie"),
            "lanes": lanes_of(best.rate or 0.0) or None,
        }
        yield finding("narrow-peers", words, about=[best])


@rule
def slow_device(report: Report) -> Iterator[Finding]:
    """A device of a matrix whose pairs, or whose link to the host, are all slower than those of the
    others, which are alike.

    Decided by the medians of its cells and of the others; two rows of two devices decide nothing.
    """
    for (name, _, _), rates in report.groups.items() if "column" in report.columns else ():
        cells = [
            rate
            for rate in rates
            if "column" in rate.of and rate.is_positive and rate.rate
            if rate.of.get("peer_access") is not False
        ]
        by_device = _by_device(cells)
        if len(by_device) < 3:
            continue
        medians = {device: median(_values(own)) for device, own in by_device.items()}
        slow = min(medians, key=lambda device: medians[device])
        others = [value for device, value in medians.items() if device != slow]
        usual = median(others)
        are_alike = all(abs(value / usual - 1) <= ALIKE for value in others)
        if not are_alike or medians[slow] >= SLOWER * usual:
            continue
        own = max(by_device[slow], key=lambda rate: rate.value)
        if own.value >= SLOWER * usual:
            continue
        words = {"name": name, "device": slow, "cell": own, "usual": usual}
        words |= {"part": medians[slow] / usual, "count": len(others)}
        yield finding("slow-device", words, about=by_device[slow])
        return


def _by_device(cells: Sequence[Result]) -> dict[object, list[Result]]:
    """Cells of each device: of a row of copies with the host by its column; between devices those
    of all pairs that it is in."""
    devices: dict[object, list[Result]] = {}
    rows = {cell.of.get("row") for cell in cells}
    for cell in cells:
        row, column = cell.of.get("row"), cell.of.get("column")
        if cell.of.get("direction") in (*HOST, "both") and len(rows) == 1:
            devices.setdefault(column, []).append(cell)
        elif cell.of.get("direction") == "device to device" and row != column:
            devices.setdefault(row, []).append(cell)
            devices.setdefault(column, []).append(cell)
    return devices if len({len(own) for own in devices.values()}) == 1 else {}


def _values(rates: Sequence[Result]) -> list[float]:
    return [rate.value for rate in rates]


@rule
def groups_of_pairs(report: Report) -> Iterator[Finding]:
    """A matrix between devices whose pairs form two groups of rates with a gap between.

    Decided by the largest gap of the sorted rates; within each group they are alike.
    """
    for (name, _, _), rates in report.groups.items() if "column" in report.columns else ():
        cells = [
            rate
            for rate in rates
            if rate.of.get("direction") == "device to device" and rate.is_positive and rate.rate
            if rate.of.get("row") != rate.of.get("column") and "column" in rate.of
            if rate.of.get("peer_access") is not False
        ]
        if len(cells) < 6 or cells[0].of.get("peers") == "disabled":
            continue
        cells.sort(key=lambda cell: cell.value)
        at = max(
            range(1, len(cells)), key=lambda index: cells[index].value / cells[index - 1].value
        )
        slow, fast = cells[:at], cells[at:]
        ratio = fast[0].value / slow[-1].value
        if ratio < (APART_BY_DEVICE if _by_place(slow, fast) else APART):
            continue
        if len(slow) < 2 or len(fast) < 2:
            continue
        if any(own[-1].value > (1 + ALIKE) ** 2 * own[0].value for own in (slow, fast)):
            continue
        words = {"name": name, "slow": slow[-1], "fast": fast[0], "slow_count": len(slow)}
        yield finding("groups-of-pairs", words, fast_count=len(fast), ratio=ratio)
        return


def _by_place(slow: Sequence[Result], fast: Sequence[Result]) -> bool:
    """Whether the devices form groups, all pairs within which are fast, and all others slow."""
    group: dict[object, set[object]] = {}
    for cell in fast:
        both = {cell.of["row"], cell.of["column"]}
        joined = both.union(*(group.get(device, set()) for device in both))
        group |= dict.fromkeys(joined, joined)
    within = [cell for cell in slow if cell.of["column"] in group.get(cell.of["row"], ())]
    pairs = sum(len(own) - 1 for own in group.values())  # both ways
    return not within and len(fast) == pairs and all(len(own) > 2 for own in group.values())


@rule
def far_below_memory(report: Report) -> Iterator[Finding]:
    """The best rate of a device's own memory, by large arrays, far below its data sheet.

    Decided by the name of the device; no variant of a name has less than half of the fastest, but
    laptops, parts of a device and single dies have.
    """
    device = named_device(report)
    if not device or not has_own_memory(report) or _PARTIAL.search(device):
        return
    most = of_data_sheet(device, "memory")
    rates = [
        rate
        for rate in report.results
        if rate.rate
        and rate.statistic in ("best", "mean", "", "sample")
        and _is_of_memory(report, rate)
    ]
    if not most or not rates:
        return
    best = max(rates, key=lambda rate: rate.rate or 0.0)
    part = (best.rate or 0.0) / most
    if 0 < part < LOW:
        words: Mapping[str, object] = {"device": device, "most": most, "part": part}
        yield finding("far-below-memory", words, best=best)


def _is_of_memory(report: Report, rate: Result) -> bool:
    array = report.column(rate, "array_bytes")
    if is_number(array):
        return array >= LARGE and report.tool == "babelstream" and rate.statistic == "best"
    return rate.name.startswith(IN_DEVICE) and report.tool == "clpeak"
