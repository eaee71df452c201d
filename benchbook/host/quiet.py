"""Is this machine quiet enough to measure on? Warnings with the cure; no setting is ever changed.

A cure is a command that the user may run. A file that is absent or garbled gives no warning.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchbook.host import facts
from benchbook.host.memory import meminfo
from benchbook.host.sysfs import ROOT, format_cpu_list, read_int, read_text
from benchbook.host.topology import CPUS, Topology, read_topology

# Load of 5 % of the CPUs, but at least half a CPU: the average of a desktop that does nothing.
LOAD_LEAST, LOAD_SHARE = 0.5, 0.05
STEAL_SHARE = 0.01  # of all CPU time: as much as the effects that are looked for

# Fields of /proc/self/stat, counted from the one behind the name.
_NICE, _POLICY = 16, 38

_WHO = "ps -eo pcpu,pid,args --sort=-pcpu | head -n 5"
_NO_TURBO = f"echo 1 | sudo tee /{CPUS}/intel_pstate/no_turbo"
_NO_BOOST = f"echo 0 | sudo tee /{CPUS}/cpufreq/boost"
_SETTINGS = f"/{CPUS}/cpu*/cpufreq"


@dataclass(frozen=True)
class Warning:
    """One disturbance: its name, what was seen, and the command that the user may run."""

    name: str
    seen: str
    cure: str


def check(
    root: Path = ROOT,
    topology: Topology | None = None,
    *,
    own_tasks: int = 1,
    earlier: tuple[int, int] | None = None,
) -> list[Warning]:
    """What would disturb a measurement that starts now.

    `own_tasks` are the runnable tasks that are ours. `earlier` is a former `host.cpu_ticks`: steal
    is then counted since that moment, else since boot.
    """
    machine = topology or read_topology(root)
    return [
        *_tracer(root),
        *_load(root, machine, own_tasks),
        *_priority(root),
        *_steal(root, earlier),
        *_frequency(root, machine),
        *_memory(root, machine),
        *_battery(root),
    ]


def _tracer(root: Path) -> Iterator[Warning]:
    if tracer := facts.tracer(root):
        yield Warning(
            "tracer",
            facts.TRACED.format(tracer),
            "grep TracerPid /proc/self/status  # start Benchbook without it: then this prints 0",
        )


def _load(root: Path, machine: Topology, own_tasks: int) -> Iterator[Warning]:
    load = facts.load(root)
    if load is None:
        return
    if load.one_minute > max(LOAD_LEAST, LOAD_SHARE * len(machine.cpus)):
        seen = f"load average {load.one_minute:.2f} over the last minute"
        yield Warning("load-average", seen, f"{_WHO}  # end what is not needed, wait a minute")
    if (others := load.running - own_tasks) > 0:
        seen = f"{others} other runnable task{'s' * (others > 1)} at this moment"
        yield Warning("run-queue", seen, f"{_WHO}  # end what is not needed")


def _priority(root: Path) -> Iterator[Warning]:
    """What this program passes on to all that it starts."""
    # Behind its name, which may have blanks in it.
    fields = (read_text(root / "proc/self/stat") or "").rpartition(")")[2].split()
    try:
        nice, policy = int(fields[_NICE]), int(fields[_POLICY])
    except (IndexError, ValueError):
        return
    if policy == os.SCHED_IDLE or nice > 0:
        how = "SCHED_IDLE" if policy == os.SCHED_IDLE else f"nice {nice}"
        yield Warning(
            "priority",
            f"whatever else wants a CPU comes before this ({how}), and what it measures waits",
            f"{_WHO}  # start this again without {'chrt' if policy == os.SCHED_IDLE else 'nice'}",
        )


def _steal(root: Path, earlier: tuple[int, int] | None) -> Iterator[Warning]:
    now, before = facts.cpu_ticks(root), earlier or (0, 0)
    if now is None or now[1] <= before[1]:
        return
    share = (now[0] - before[0]) / (now[1] - before[1])
    if share > STEAL_SHARE:
        since = "just now" if earlier else "since boot"
        yield Warning(
            "steal",
            f"the hypervisor gave {share:.1%} of the CPU time to other guests {since}",
            "vmstat 1 10  # measure when the column st is 0, or on a host of your own",
        )


def _frequency(root: Path, machine: Topology) -> Iterator[Warning]:
    slow = [name for name in facts.governors(root, machine) if name != "performance"]
    if slow:
        yield Warning(
            "governor",
            f"frequency governor {', '.join(slow)}: the clock follows the load",
            f"echo performance | sudo tee {_SETTINGS}/scaling_governor",
        )
    turbo = facts.turbo(root)
    if turbo:
        intel = read_int(root / CPUS / "intel_pstate/no_turbo") is not None
        yield Warning(
            "turbo",
            "turbo is on: the clock depends on temperature and on the other cores",
            _NO_TURBO if intel else _NO_BOOST,
        )
    limited = [cpu.id for cpu in machine.cpus if _is_limited(root, cpu.id, turbo)]
    if limited:
        yield Warning(
            "frequency-limit",
            f"the frequency of CPU {format_cpu_list(limited)} is limited below its maximum",
            f"for d in {_SETTINGS}; do sudo sh -c "
            '"cat $d/cpuinfo_max_freq > $d/scaling_max_freq"; done',
        )
    percent = read_int(root / CPUS / "intel_pstate/max_perf_pct")
    if turbo and percent is not None and 0 < percent < 100:
        yield Warning(
            "frequency-limit",
            f"intel_pstate limits all CPUs to {percent} % of their maximum",
            f"echo 100 | sudo tee /{CPUS}/intel_pstate/max_perf_pct",
        )


def _is_limited(root: Path, cpu: int, turbo: bool | None) -> bool:
    folder = root / CPUS / f"cpu{cpu}/cpufreq"
    # Without turbo the base frequency is all there is; that limit is a cure, not a disturbance.
    top = read_int(folder / ("base_frequency" if turbo is False else "cpuinfo_max_freq"))
    limit = read_int(folder / "scaling_max_freq")
    return top is not None and limit is not None and 0 < limit < top


def _memory(root: Path, machine: Topology) -> Iterator[Warning]:
    if facts.thp(root) == "always":
        yield Warning(
            "huge-pages",
            "transparent huge pages are always on: a run depends on how fragmented memory is",
            f"echo madvise | sudo tee /{facts.THP}",
        )
    balancing = read_int(root / "proc/sys/kernel/numa_balancing")
    if balancing and len(machine.nodes) != 1:
        yield Warning(
            "numa-balancing",
            "automatic NUMA balancing moves pages while they are measured",
            "sudo sysctl kernel.numa_balancing=0",
        )
    info = meminfo(root)
    used = info.get("SwapTotal", 0) - info.get("SwapFree", info.get("SwapTotal", 0))
    if used > 0:
        yield Warning("swap", f"{used / 2**20:.0f} MiB lie in swap", "sudo swapoff -a")


def _battery(root: Path) -> Iterator[Warning]:
    folders = sorted((root / "sys/class/power_supply").glob("*"))
    supplies = [f for f in folders if read_text(f / "scope") != "Device"]  # not that of a mouse
    plugged = any(read_int(f / "online") for f in supplies if read_text(f / "type") != "Battery")
    drained = [
        f.name
        for f in supplies
        if read_text(f / "type") == "Battery" and read_text(f / "status") == "Discharging"
    ]
    if drained and not plugged:
        yield Warning(
            "battery",
            f"running on battery {', '.join(drained)}: the firmware saves power",
            "cat /sys/class/power_supply/*/online  # plug it in until one of them prints 1",
        )
