"""Each disturbance is named with the command that cures it; nothing is warned of in vain."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import sysfs_trees as trees

from benchbook.host import facts, quiet

CPU = trees.CPU_DIR
FREQ = f"{CPU}/cpu0/cpufreq"
SUPPLY = "sys/class/power_supply"
SELF = "77 (a name) S" + 15 * " 0" + " {nice} 1" + 20 * " 0" + " {policy} 0"
STAT = "cpu  700 0 200 {idle} 0 0 0 {steal} 0 0"

CASES = {
    "tracer": (
        {"proc/self/status": "Name:\tpython3\nTracerPid:\t77\nUid:\t0"},
        "a program (process 77) traces this program",
        "grep TracerPid /proc/self/status",
    ),
    "load-average": ({"proc/loadavg": "2.50 1.00 1.00 1/86 4464"}, "2.50", "ps -eo"),
    "run-queue": ({"proc/loadavg": "0.00 0.00 0.00 3/86 4464"}, "2 other", "ps -eo"),
    "steal": ({"proc/stat": STAT.format(idle=50, steal=50)}, "5.0%", "vmstat"),
    "priority": (
        {"proc/self/stat": SELF.format(nice=7, policy=0)},
        "comes before this (nice 7)",
        "without nice",
    ),
    "governor": (
        {f"{FREQ}/scaling_governor": "powersave"},
        "powersave",
        f"echo performance | sudo tee /{CPU}/cpu*/cpufreq/scaling_governor",
    ),
    "turbo": (
        {f"{CPU}/intel_pstate/no_turbo": "0"},
        "turbo is on",
        f"echo 1 | sudo tee /{CPU}/intel_pstate/no_turbo",
    ),
    "frequency-limit": (
        {f"{FREQ}/cpuinfo_max_freq": "3800000", f"{FREQ}/scaling_max_freq": "2000000"},
        "CPU 0",
        "cpuinfo_max_freq > $d/scaling_max_freq",
    ),
    "huge-pages": (
        {"sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never"},
        "always",
        "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled",
    ),
    "battery": (
        {
            f"{SUPPLY}/BAT0/type": "Battery",
            f"{SUPPLY}/BAT0/status": "Discharging",
            f"{SUPPLY}/AC/type": "Mains",
            f"{SUPPLY}/AC/online": "0",
        },
        "BAT0",
        "power_supply",
    ),
}

QUIET = {
    "an ordinary priority": {"proc/self/stat": SELF.format(nice=0, policy=0)},
    "a higher one": {"proc/self/stat": SELF.format(nice=-5, policy=1)},
    "other governor": {f"{FREQ}/scaling_governor": "performance"},
    "turbo off": {f"{CPU}/intel_pstate/no_turbo": "1"},
    "boost off": {f"{CPU}/cpufreq/boost": "0"},
    "limit without turbo": {
        f"{CPU}/intel_pstate/no_turbo": "1",
        f"{FREQ}/cpuinfo_max_freq": "3800000",
        f"{FREQ}/base_frequency": "3400000",
        f"{FREQ}/scaling_max_freq": "3400000",
    },
    "madvise": {"sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never"},
    "balancing on one node": {"proc/sys/kernel/numa_balancing": "1"},
    "charging": {f"{SUPPLY}/BAT0/type": "Battery", f"{SUPPLY}/BAT0/status": "Charging"},
    "plugged in": {
        f"{SUPPLY}/BAT0/type": "Battery",
        f"{SUPPLY}/BAT0/status": "Discharging",
        f"{SUPPLY}/AC/type": "Mains",
        f"{SUPPLY}/AC/online": "1",
    },
    "battery of a mouse": {
        f"{SUPPLY}/hid/type": "Battery",
        f"{SUPPLY}/hid/scope": "Device",
        f"{SUPPLY}/hid/status": "Discharging",
    },
}


def machine(root: Path, files: dict[str, str]) -> Path:
    tree = trees.one_socket()
    tree.files = files
    return tree.write(root)


@pytest.mark.parametrize("name", CASES)
def test_each_disturbance(tmp_path: Path, name: str) -> None:
    files, seen, cure = CASES[name]
    (warning,) = quiet.check(machine(tmp_path, files))
    assert warning.name == name
    assert seen in warning.seen
    assert cure in warning.cure


@pytest.mark.parametrize("name", QUIET)
def test_quiet(tmp_path: Path, name: str) -> None:
    assert quiet.check(machine(tmp_path, QUIET[name])) == []


def test_idle_priority_is_no_place_to_measure(tmp_path: Path) -> None:
    files = {"proc/self/stat": SELF.format(nice=0, policy=os.SCHED_IDLE)}
    (warning,) = quiet.check(machine(tmp_path, files))
    assert (warning.name, "(SCHED_IDLE)" in warning.seen) == ("priority", True)
    assert warning.cure.endswith("without chrt")


def test_what_this_process_runs_at_is_read() -> None:
    """The fields are where the kernel has them."""
    read = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    assert int(read[quiet._NICE]) == os.getpriority(os.PRIO_PROCESS, 0)
    assert int(read[quiet._POLICY]) == os.sched_getscheduler(0)


def test_a_tracer_is_named_and_none_is_none(tmp_path: Path) -> None:
    files = {"proc/self/status": "TracerPid:\t77", "proc/77/comm": "proot"}
    assert facts.tracer(machine(tmp_path, files)) == "proot (process 77)"
    trees.put(tmp_path, "proc/self/status", "TracerPid:\t0")
    assert facts.tracer(tmp_path) is None
    assert "\nTracerPid:\t" in Path("/proc/self/status").read_text()


def test_boost_has_another_cure(tmp_path: Path) -> None:
    (warning,) = quiet.check(machine(tmp_path, {f"{CPU}/cpufreq/boost": "1"}))
    assert warning.cure == f"echo 0 | sudo tee /{CPU}/cpufreq/boost"


def test_numa_balancing_and_swap(tmp_path: Path) -> None:
    tree = trees.epyc(2, 2, 1)
    tree.files = {"proc/sys/kernel/numa_balancing": "1"}
    root = tree.write(tmp_path)
    trees.meminfo(root, 64 * trees.GIB_KB, 32 * trees.GIB_KB, swap_kb=(4096, 1024))
    balancing, swap = quiet.check(root)
    assert (balancing.name, balancing.cure) == (
        "numa-balancing",
        "sudo sysctl kernel.numa_balancing=0",
    )
    assert (swap.name, swap.seen, swap.cure) == ("swap", "3 MiB lie in swap", "sudo swapoff -a")


def test_percentage_limit(tmp_path: Path) -> None:
    files = {f"{CPU}/intel_pstate/no_turbo": "0", f"{CPU}/intel_pstate/max_perf_pct": "70"}
    warnings = quiet.check(machine(tmp_path, files))
    assert [w.name for w in warnings] == ["turbo", "frequency-limit"]
    assert "70 %" in warnings[1].seen
    assert "max_perf_pct" in warnings[1].cure


def test_load_of_a_large_host_is_relative(tmp_path: Path) -> None:
    tree = trees.epyc(1, 64, 1)
    tree.files = {"proc/loadavg": "2.50 1.00 1.00 1/86 4464"}
    assert quiet.check(tree.write(tmp_path)) == []


def test_steal_since_an_earlier_moment(tmp_path: Path) -> None:
    root = machine(tmp_path, {"proc/stat": STAT.format(idle=50, steal=50)})
    earlier = facts.cpu_ticks(root)
    assert quiet.check(root, earlier=earlier) == []  # no time has passed
    trees.put(root, "proc/stat", STAT.format(idle=1050, steal=50))
    assert quiet.check(root, earlier=earlier) == []  # old steal, none since
    trees.put(root, "proc/stat", STAT.format(idle=1050, steal=150))
    (warning,) = quiet.check(root, earlier=earlier)
    assert warning.name == "steal"


def test_own_tasks_are_not_others(tmp_path: Path) -> None:
    root = machine(tmp_path, {"proc/loadavg": "0.00 0.00 0.00 3/86 4464"})
    assert quiet.check(root, own_tasks=3) == []


def test_nothing_readable_gives_no_warning(tmp_path: Path) -> None:
    assert quiet.check(tmp_path) == []


@pytest.mark.parametrize("junk", [*trees.GARBAGE, None])
def test_garbled_files_give_no_warning(tmp_path: Path, junk: bytes | None) -> None:
    for name, (files, _, _) in CASES.items():
        root = machine(tmp_path / name, files)
        for path in files:
            with trees.garbled(root / path, junk):
                names = {warning.name for warning in quiet.check(root)}
                # A governor that nobody knows is still not `performance`.
                assert names <= {"governor", "battery"}, (path, junk)


def test_nothing_is_written(tmp_path: Path) -> None:
    everything = {path: text for files, _, _ in CASES.values() for path, text in files.items()}
    root = machine(tmp_path, everything)
    before = {file: file.read_bytes() for file in root.rglob("*") if file.is_file()}
    assert len(quiet.check(root)) >= 7
    assert {file: file.read_bytes() for file in root.rglob("*") if file.is_file()} == before


def test_this_machine() -> None:
    for warning in quiet.check():
        assert warning.name
        assert warning.seen
        assert warning.cure
