"""load-imbalance, numa-placement: cores that do not share work, and nodes that are unlike."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report
from benchbook.explain.printed_digits import is_number
from benchbook.explain.results import grouped
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.explain.rules.common.regions import by_place
from benchbook.findings import Finding

# Work of a core. What one core counts for its whole socket is none: memory, the last cache, energy.
_WORK = late(r"FLOP|UOPS|INSTR|[Ii]nstructions|Branch", 0)
ALONE = 0.65  # of the sum, what one core has
LEAST_CORES = 4
FAR_MORE = 8.0  # on one socket, as a multiple of the other
BUSY = 0.7  # of the cores that were counted, and of the time of a core
UNEQUAL = 1.5  # between the local bandwidths of two nodes


@rule
def one_core_works(report: Report) -> Iterator[Finding]:
    """A kind of work of which one core of several does most.

    Decided by the sum, the mean and the maximum over the cores that likwid-perfctr prints.
    """
    for within, results in by_place(report) if report.being("sum") else ():
        by_statistic = {(result.name, result.statistic): result for result in results}
        for whole in results:
            most, mean = (by_statistic.get((whole.name, name)) for name in ("max", "mean"))
            if whole.statistic != "sum" or most is None or mean is None:
                continue
            if not _WORK.search(whole.name + whole.unit):
                continue
            if not (whole.is_positive and most.is_positive and mean.is_positive):
                continue
            if whole.value / mean.value > LEAST_CORES - 0.5 and most.value >= ALONE * whole.value:
                cores, waits = round(whole.value / mean.value), by_statistic.get(("CPI", "max"))
                words = {"whole": whole, "most": most, "cores": cores, "within": within}
                words["share"] = most.value / whole.value
                words["waits"] = waits if waits is not None and waits.is_number else None
                yield finding("one-core-works", words, about=[whole, most])
                return


@rule
def unequal_nodes(report: Report) -> Iterator[Finding]:
    """Nodes whose cores read the memory of their own node at different rates.

    Decided by the diagonal of a matrix of bandwidths between nodes: distance is in none of these.
    """
    local = [
        rate
        for rate in report.knowing("from_node")
        if rate.of.get("from_node") == rate.of.get("to_node") and rate.rate
    ]
    for rates in grouped(local, lambda rate: (rate.name, rate.statistic)).values():
        slow, fast = (pick(rates, key=lambda rate: rate.rate or 0.0) for pick in (min, max))
        ratio = (fast.rate or 0.0) / (slow.rate or 1.0)
        if len(rates) > 1 and is_number(ratio) and ratio >= UNEQUAL:
            yield finding("unequal-nodes", slow=slow, fast=fast, ratio=ratio)


@rule
def traffic_on_a_socket(report: Report) -> Iterator[Finding]:
    """Sockets of which one has nearly all the traffic of the memory, while all cores work.

    Decided by the bandwidths that likwid-perfctr prints for one core of each socket.
    """
    if report.tool != "likwid-perfctr":
        return
    for within, results in by_place(report) if report.has("Memory bandwidth") else ():
        of_cores = [own for own in results if "core" in own.of and not own.statistic]
        counted = [own for own in of_cores if own.name == "Memory bandwidth"]
        rates = [own for own in counted if own.is_positive and own.rate]
        if not 2 <= len(rates) <= len(counted) / 2:
            continue
        times = [time for time in results if time.name == "Runtime (RDTSC)" and time.is_positive]
        longest = max((time.base_value for time in times), default=0.0)
        unhalted = [time for time in of_cores if time.name == "Runtime unhalted"]
        busy = sum(time.base_value >= BUSY * longest for time in unhalted)
        least, most = (pick(rates, key=lambda rate: rate.value) for pick in (min, max))
        is_shared = longest > 0 and busy >= BUSY * len(counted)
        if is_shared and most.value >= FAR_MORE * least.value:
            words = {"most": most, "least": least, "busy": busy, "all": len(counted)}
            words["within"] = within
            yield finding("traffic-on-a-socket", words)
            return
