"""waiting, cpu-bound: what vmstat, mpstat, sar, top and free show of a machine next to a benchmark.
CPU time that a hypervisor took away, swapping, one CPU that is full, and memory that is used up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.results import grouped
from benchbook.explain.rules import Machine, rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

VMSTAT = "vmstat"
OF_CPUS = (VMSTAT, "mpstat", "sar", "iostat avg-cpu", "top")
LEAST_STEAL, LEAST_IO_WAIT = 2.0, 20.0  # per cent of the CPU time
LEAST_SWAPPED = 100.0  # KiB a second, on average
LEAST_SYSTEM, OF_USER = 20.0, 2.0  # per cent of the CPU time; times that of programs
FULL, FREE = 5.0, 50.0  # per cent idle: of one CPU, of all
LEAST_SOFT = 20.0  # per cent of one CPU
Row = Mapping[str, Result]


def _rows(report: Report) -> list[Row]:
    """The rows of all CPUs together: means where a tool prints them, and of vmstat without the
    first one of several, which is the mean since the machine was started."""
    whole = [own for own in report.results if "core" not in own.of]
    means = [own for own in whole if own.of.get("is_average")]
    rows: list[Row] = [
        {own.name: own for own in several}
        for several in grouped(means or whole, lambda own: own.line).values()
    ]
    rows = [row for row in rows if "idle" in row]
    return rows[1:] if report.tool == VMSTAT and len(rows) > 1 else rows


def _mean(rows: Sequence[Row], name: str) -> float:
    values = [row[name].value for row in rows if name in row]
    return sum(values) / len(values) if values else 0.0


@rule
def shares_of_cpus(report: Report) -> Iterator[Finding]:
    """CPU time that was stolen, lost to swapping or disks, or that the kernel took."""
    if report.tool not in OF_CPUS:
        return
    rows = _rows(report)
    is_single = report.tool == VMSTAT and _is_first_alone(report)
    for name, least, kind in (
        ("stolen", LEAST_STEAL, "stolen-time"),
        ("swapped in", LEAST_SWAPPED, "swapping-now"),
        ("swapped out", LEAST_SWAPPED, "swapping-now"),
        ("waiting for disks", LEAST_IO_WAIT, "waiting-for-disks"),
    ):
        if _mean(rows, name) >= least:
            most = max((row[name] for row in rows if name in row), key=lambda own: own.value)
            words: dict[str, Any] = {"most": most, "single": True if is_single else None}
            yield finding(kind, words, mean=_mean(rows, name), count=len(rows))
            if kind == "swapping-now":
                break
    system, user = _mean(rows, "system"), _mean(rows, "user")
    if system >= LEAST_SYSTEM and system >= OF_USER * user:
        most = max((row["system"] for row in rows if "system" in row), key=lambda own: own.value)
        yield finding("kernel-takes-most", most=most, system=system, user=user)


MANY_SWITCHES, COST_S = 250_000.0, 2e-6  # a second; of each


@rule
def switches_of_tasks(report: Report) -> Iterator[str]:
    """A note on so many context switches that they cost a CPU a part of its time."""
    rows = _rows(report) if report.tool == VMSTAT else []
    mean = _mean(rows, "context switches")
    if mean >= MANY_SWITCHES and not _is_first_alone(report):
        several = [row["context switches"] for row in rows if "context switches" in row]
        words: dict[str, Any] = {"most": max(several, key=lambda own: own.value), "mean": mean}
        yield finding("many-switches", words, cpus=COST_S * mean).explanation


def _is_first_alone(report: Report) -> bool:
    return len({own.line for own in report.results}) == 1


@rule
def only_since_boot(report: Report) -> Iterator[str]:
    """A note on a single row of vmstat: what it prints first is the mean since the start."""
    if report.tool != VMSTAT or not report.results or not _is_first_alone(report):
        return
    (row,) = [{own.name: own for own in report.results}]
    words: dict[str, Any] = {"line": report.results[0].line, "swapped": None}
    swapped, used = (row.get(name) for name in ("swapped out", "swap in use"))
    if swapped is not None and swapped.value > 0 and used is not None and used.value > 0:
        words |= {"swapped": swapped, "used": used, "free": row.get("free memory")}
    yield finding("only-since-boot", words).explanation


@rule
def one_cpu_full(report: Report) -> Iterator[Finding]:
    """One CPU that is never idle while most of the others are, and CPUs that serve interrupts.

    Decided by the rows of single CPUs that mpstat and top print.
    """
    if report.tool not in OF_CPUS or "core" not in report.columns:
        return
    of_cores = [own for own in report.results if "core" in own.of]
    means = [own for own in of_cores if own.of.get("is_average")]
    shares: dict[int, dict[str, list[Result]]] = {}
    for own in means or of_cores:
        shares.setdefault(own.of["core"], {}).setdefault(own.name, []).append(own)
    idle = {core: _value(own, "idle") for core, own in shares.items() if "idle" in own}
    rows = _rows(report)
    whole = _mean(rows, "idle") if rows else None
    if whole is None and len(idle) > 2:
        whole = sum(idle.values()) / len(idle)
    full = [core for core, share in idle.items() if share <= FULL]
    soft = [core for core in full if _value(shares[core], "soft interrupts") >= LEAST_SOFT]
    if soft:
        core = max(soft, key=lambda own: _value(shares[own], "soft interrupts"))
        most = max(shares[core]["soft interrupts"], key=lambda own: own.value)
        words: dict[str, Any] = {"most": most, "core": core}
        yield finding("soft-interrupts-of-one", words, idle=idle[core])
    elif whole is not None and whole >= FREE and 1 <= len(full) <= max(1, len(idle) // 4):
        core = full[0]
        words = {"least": shares[core]["idle"][0], "core": core, "others": 100 - whole}
        yield finding("one-cpu-full", words, busy=100 - idle[core])


def _value(shares: Mapping[str, Sequence[Result]], name: str) -> float:
    values = [own.value for own in shares.get(name, ())]
    return sum(values) / len(values) if values else 0.0


_RECLAIMS = late(r"^\[?kswapd\d")
_SOFT = late(r"^\[?ksoftirqd/(?P<core>\d{1,4})")
SOFT = 90.0  # per cent of its CPU
RECLAIMS, ONE = 10.0, (95.0, 105.0)  # per cent of a CPU


@rule
def busy_processes(report: Report) -> Iterator[Finding | str]:
    """Threads of the kernel that look for memory or do what interrupts left, and a note on a
    process that has one CPU whole."""
    if report.tool != "top":
        return
    processes = [own for own in report.results if own.name.startswith("CPU of ")]
    for own in processes:
        if _RECLAIMS.match(str(own.of.get("label"))) and own.value >= RECLAIMS:
            yield finding("memory-reclaimed", {"most": own, "name": own.of["label"]})
            break
    for own in processes:
        thread = _SOFT.match(str(own.of.get("label")))
        if thread and own.value >= SOFT:
            words = {"most": own, "name": own.of["label"], "core": int(thread["core"])}
            yield finding("soft-interrupts-thread", words)
            return
    most = max(processes, key=lambda own: own.value, default=None)
    if most is not None and ONE[0] <= most.value <= ONE[1]:
        words = {"most": most, "name": most.of["label"]}
        yield finding("one-cpu-whole", words).explanation


SWAP_FREE, AVAILABLE = 0.05, 0.03  # of all


@rule
def memory_used_up(report: Report) -> Iterator[Finding]:
    """Swap or memory of which nearly nothing is free, as top and free print them."""
    if report.tool not in ("top", "free"):
        return
    for what, rest, least, kind in (
        ("swap in all", "free swap", SWAP_FREE, "swap-used-up"),
        ("memory in all", "available memory", AVAILABLE, "memory-used-up"),
    ):
        whole, free = (next(iter(report.called(name)), None) for name in (what, rest))
        if whole is None or free is None or not whole.is_positive:
            continue
        if 0 <= free.base_value <= least * whole.base_value:
            yield finding(kind, whole=whole, free=free)


LOAD = 1.5  # times the CPUs


@rule
def load_of_machine(report: Report, machine: Machine) -> Iterator[Finding]:
    """More tasks that want to run than the machine has CPUs, where the log says how many it has."""
    load = next(iter(report.called("load")), None) or None
    cores = machine.cores or report.facts.get("cores")
    if report.tool not in ("top", "uptime") or load is None or not isinstance(cores, int):
        return
    if cores > 0 and load.value >= LOAD * cores:
        yield finding("load-above-cpus", load=load, cores=cores)


MISSED = 0.02  # of the pages of a node


@rule
def pages_of_other_nodes(report: Report) -> Iterator[Finding]:
    """Nodes that got pages which were wanted on another one, because that was full."""
    if report.tool != "numastat":
        return
    hits = {own.of.get("label"): own for own in report.called("numa_hit")}
    worst: tuple[float, Result, Result] | None = None
    for miss in report.called("numa_miss"):
        hit = hits.get(miss.of.get("label"))
        if hit is None or miss.value + hit.value <= 0:
            continue
        share = miss.value / (miss.value + hit.value)
        if share >= MISSED and (worst is None or share > worst[0]):
            worst = (share, miss, hit)
    if worst:
        share, miss, hit = worst
        yield finding("pages-of-full-node", miss=miss, hit=hit, share=share, node=miss.of["label"])
