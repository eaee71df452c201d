"""numa-placement, fill-below-copy, inconsistent-report, not-run, block-size: figures of memory and
of HPL that say by themselves what they are not of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.results import by_columns
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

EQUAL = 0.02  # of each other: what is local and what is remote
ONE_NODE_NS = 120  # of an idle latency: more than a socket needs for memory of its own
TUNED_NS = 45  # of an idle latency: less than any memory at its usual timings
NO_LOAD = 1000  # of an injected delay: others access memory so seldom that nobody waits for them
LONGER = 1.35  # times as long as idle: the two are not of the same accesses
APART = 1.3  # times the latency of another node's own memory
FAR = 2.5  # times the latency of a node's own memory: no socket of the same machine is so far


@rule
def nodes_alike(report: Report) -> Iterator[Finding | str]:
    """Matrices of nodes whose local and remote figures are equal, or very far apart; a note on one
    node alone with a latency that a socket's own memory seldom has.

    Decided by the cells: a remote access passes a link, which takes tens of nanoseconds.
    """
    if report.tool != "mlc":
        return
    local, remote = _own_and_others(report.called("idle latency"))
    # In random order each read looks up its page, too.
    is_random = report.facts.get("idle_order") == "random"
    if len(local) == 1 and not remote and local[0].value >= ONE_NODE_NS and not is_random:
        yield finding("one-node", own=local[0]).explanation
    if len(local) > 1:
        near, slow = min(local, key=_value), max(local, key=_value)
        if slow.value >= APART * near.value:
            yield finding("own-memories-apart", near=near, slow=slow).explanation
    if not local or not remote:
        return
    own, other = (sum(cell.value for cell in cells) / len(cells) for cells in (local, remote))
    if abs(other / own - 1) <= EQUAL:
        words = {"own": local[0], "other": remote[0]}
        yield finding("nodes-alike", words)
    elif (far := max(remote, key=_value)).value >= FAR * own:
        rows = {cell.of.get("from_node") for cell in report.called("idle latency")}
        has_cores = far.of.get("to_node") in rows
        bare = None if has_cores else ""
        words = {"far": far, "near": local[0]}
        yield finding("far-memory", words, times=far.value / own, bare=bare)


@rule
def idle_too_short(report: Report) -> Iterator[Finding | str]:
    """An idle latency well below the one with nearly no load, which is the same; a note on one that
    only tuned memory reaches.

    Decided by the two tables of one run: without load both wait for the same memory.
    """
    if report.tool != "mlc":
        return
    idle, _ = _own_and_others(report.called("idle latency"))
    if len(idle) != 1:
        return
    loaded = report.called("loaded latency")
    quiet = [
        own
        for own in loaded
        if own.is_positive and (own.of.get("inject_delay") or 0) >= NO_LOAD
        if "traffic" not in own.of
    ]
    if quiet and (least := min(quiet, key=_value)).value > LONGER * idle[0].value:
        yield finding("idle-below-loaded", idle=idle[0], loaded=least)
    elif idle[0].value < TUNED_NS and not quiet:
        yield finding("idle-of-tuned-memory", idle=idle[0]).explanation


def _own_and_others(cells: Sequence[Result]) -> tuple[list[Result], list[Result]]:
    own, others = list[Result](), list[Result]()
    for cell in cells:
        pair = cell.of.get("from_node"), cell.of.get("to_node")
        if None not in pair and cell.is_positive:
            (own if pair[0] == pair[1] else others).append(cell)
    return own, others


def _value(result: Result) -> float:
    return result.value


READS_BELOW = 0.8  # of a mixture with writes


@rule
def reads_below_mixture(report: Report) -> Iterator[Finding]:
    """Reads alone at a lower rate than reads mixed with writes, which memory does not do."""
    if report.tool != "mlc":
        return
    rates = [rate for rate in report.knowing("mix") if rate.is_positive and "mix" in rate.of]
    reads = [rate for rate in rates if str(rate.of["mix"]).lower() == "all reads"]
    mixed = [rate for rate in rates if "Reads-" in str(rate.of["mix"])]
    if reads and mixed:
        most = max(mixed, key=_value)
        if reads[0].value < READS_BELOW * most.value:
            yield finding("reads-below-mixture", reads=reads[0], mixed=most)


FILL_BELOW = 0.8  # of the copy


@rule
def fill_below_copy(report: Report) -> Iterator[str]:
    """A note on a fill that is slower than a copy of as many bytes, which also reads them."""
    if report.tool != "tinymembench":
        return
    rates = {rate.name: rate for rate in report.being("best")}
    copy, fill = rates.get("standard memcpy"), rates.get("standard memset")
    if copy and fill and fill.is_positive and fill.value < FILL_BELOW * copy.value:
        yield finding("fill-below-copy", copy=copy, fill=fill).explanation


@rule
def nothing_done(report: Report) -> Iterator[Finding]:
    """A run of sysbench that did no operation at all.

    Decided by its own count.
    """
    operations = report.only("operations")
    if report.tool != "sysbench" or operations is None or operations.value != 0:
        return
    total = report.facts.get("total_bytes")
    if is_number(total) and total > 0:
        return  # inconsistent_nothing says it
    why = "no-total" if total == 0 else "unknown"
    yield finding("nothing-done", operations=operations, why=why)


SHORT_S = 0.9
LEAST_INSIDE = 0.7  # of the run, the time within operations


@rule
def short_memory_test(report: Report) -> Iterator[Finding | str]:
    """A test of sysbench that was over within a second, and one that was mostly not in operations.

    Decided by its own times; the second by the mean time of a thread in operations.
    """
    if report.tool != "sysbench":
        return
    total = report.only("total time")
    rate = report.only("transfer rate") or report.only("event rate")
    if total is None or not total.is_positive or rate is None:
        return
    moved = report.only("operations")
    if total.base_value < SHORT_S * 1e9 and (moved is None or moved.value > 0):
        of_memory = "" if rate.name == "transfer rate" else None
        yield finding("short-test", total=total, rate=rate, of_memory=of_memory)
    inside, threads = report.only("latency", "sum"), report.facts.get("threads", 1)
    if rate.name == "transfer rate" and inside is not None and is_number(threads) and threads > 0:
        share = inside.base_value / (threads * total.base_value)
        if 0 < share < LEAST_INSIDE:
            yield finding("outside-operations", inside=inside, total=total, share=share).explanation


SMALL_BLOCK = 32  # rows: a product of matrices of so few cannot fill the units of a core
LEAST_OF_PROCESS = 1.0  # Gflop/s
LEAST_ORDER = 5000
FALLS = 0.95  # of the rate at a smaller order
SHORT_RUN_S = 60.0


@rule
def linpack_settings(report: Report) -> Iterator[Finding | str]:
    """Rows of HPL whose blocks are too small, whose processes do hardly anything, or whose rate
    falls with a larger problem.

    Decided by the printed settings and rates; the last one leaves the clock, memory that is short
    and other work as reasons.
    """
    rates = [
        rate
        for rate in (report.called("arithmetic rate") if report.tool == "hpl" else ())
        if rate.is_positive
    ]

    def is_small(rate: Result) -> bool:
        return 0 < rate.of.get("block_rows", 0) < SMALL_BLOCK

    small = [rate for rate in rates if is_small(rate)]
    if small:
        words = {"rate": small[0], "rows": small[0].of["block_rows"]}
        yield finding("small-blocks", words, about=small)
    low = [
        (rate.value / rate.of["processes"], rate)
        for rate in rates
        if not is_small(rate) and rate.of.get("matrix_order", 0) >= LEAST_ORDER
        if rate.value < LEAST_OF_PROCESS * rate.of.get("processes", 0)
    ]
    if low:
        each, rate = max(low, key=lambda entry: entry[0])
        words = {"rate": rate, "each": each, "processes": rate.of["processes"]}
        yield finding("idle-processes", words, about=[own for _, own in low])
    for several in by_columns(rates, ("block_rows", "grid")).values():
        ordered = sorted(several, key=lambda rate: rate.of["matrix_order"])
        for before, after in pairwise(ordered):
            larger = after.of["matrix_order"] > before.of["matrix_order"]
            if larger and after.value <= FALLS * before.value:
                yield finding("falls-with-order", before=before, after=after)
                return


@rule
def short_class(report: Report) -> Iterator[str]:
    """A note on a summary of NPB of less than a second."""
    time = report.only("time") if report.tool == "npb" else None
    if time is not None and 0 < time.base_value < SHORT_S * 1e9:
        words = {"time": time, "class": report.facts.get("problem_class", "?")}
        yield finding("short-class", words).explanation


_KERNELS = ("Copy", "Scale", "Add", "Triad")
STORES = (1.3, 1.7)  # Copy ÷ Scale where only the former avoids reading what it writes
OTHER_CODE = (
    2.1  # Copy ÷ Scale that no way to write memory explains: two emulators had 2.14 and 2.18
)
LEAST_COMPILED = 1e9  # B/s: what is slower is an interpreter's time
CROWD = 16
APART = 1.5  # slowest ÷ best pass


@rule
def stream_of_one_core(report: Report) -> Iterator[Finding | str]:
    """Notes on STREAM: one core alone, and a Copy that another routine makes.

    Decided by the head, in which a build with OpenMP prints its threads; by Copy over Scale, which
    count the same bytes.
    """
    if report.tool != "stream":
        return
    if report.facts.get("is_serial"):
        yield finding("serial-build", first=report.results[0]).explanation
    best = {rate.name: rate for rate in report.being("best") if rate.is_positive}
    if all(kernel in best for kernel in _KERNELS):
        copy, scale = best["Copy"], best["Scale"]
        others = [best[kernel].value for kernel in ("Add", "Triad")]
        ratio = copy.value / scale.value
        is_like = all(0.8 <= other / scale.value <= 1.3 for other in others)
        if STORES[0] <= ratio <= STORES[1] and is_like and (scale.rate or 0.0) >= LEAST_COMPILED:
            yield finding("copy-by-library", copy=copy, scale=scale, ratio=ratio).explanation
        elif ratio >= OTHER_CODE and all(own < copy.value / STORES[1] for own in others):
            yield finding("copy-by-other-code", copy=copy, scale=scale, ratio=ratio)
    threads = report.facts.get("threads")
    if is_number(threads) and threads >= CROWD and report.facts.get("binding_unseen"):
        times = {(time.name, time.statistic): time for time in report.results if time.is_time}
        ratios = [
            (most.value / least.value, most, least)
            for kernel in _KERNELS
            if (least := times.get((f"{kernel} time", "min"))) and least.is_positive
            if (most := times.get((f"{kernel} time", "max")))
        ]
        far = [entry for entry in ratios if entry[0] >= APART]
        if len(far) * 2 >= len(ratios) > 0 and far:
            ratio, most, least = max(far, key=lambda entry: entry[0])
            words = {"most": most, "least": least, "ratio": ratio, "threads": int(threads)}
            yield finding("unbound-passes", words).explanation
