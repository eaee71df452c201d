"""load-imbalance, numa-placement: cores that do not share work, and nodes that are unlike."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.results import grouped
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
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
    wholes = report.being("sum")
    results = report.results if wholes else ()
    by_statistic = {(result.name, result.statistic): result for result in results}
    uneven: list[tuple[Result, Result, Result]] = []
    for whole in wholes:
        most, mean = (by_statistic.get((whole.name, name)) for name in ("max", "mean"))
        if not _WORK.search(whole.name + whole.unit) or most is None or mean is None:
            continue
        if not (whole.is_positive and most.is_positive and mean.is_positive):
            continue
        if whole.value / mean.value > LEAST_CORES - 0.5 and most.value >= ALONE * whole.value:
            uneven.append((whole, most, mean))
    if uneven:
        whole, most, mean = uneven[0]
        cores, waits = round(whole.value / mean.value), by_statistic.get(("CPI", "max"))
        words = {"whole": whole, "most": most, "cores": cores, "share": most.value / whole.value}
        words["waits"] = waits if waits is not None and waits.is_number else None
        yield finding("one-core-works", words, about=[whole, most])


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
    for (name, statistic, _), several in report.groups.items():
        counted = [own for own in several if "core" in own.of and not statistic]
        rates = [own for own in counted if own.is_positive and own.rate]
        if name != "Memory bandwidth" or not 2 <= len(rates) <= len(counted) / 2:
            continue
        times = [time for time in report.called("Runtime (RDTSC)") if time.is_positive]
        longest = max((time.base_value for time in times), default=0.0)
        unhalted = [time for time in report.called("Runtime unhalted") if "core" in time.of]
        busy = sum(time.base_value >= BUSY * longest for time in unhalted)
        least, most = (pick(rates, key=lambda rate: rate.value) for pick in (min, max))
        is_shared = longest > 0 and busy >= BUSY * len(counted)
        if is_shared and most.value >= FAR_MORE * least.value:
            words = {"most": most, "least": least, "busy": busy, "all": len(counted)}
            yield finding("traffic-on-a-socket", words)
            return
