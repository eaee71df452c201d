"""Facts about the host, its stable id, and the few numbers that are read again and again.

Everything is read below `root`; nothing is ever set. What cannot be known is None, with the reason
under the same key in `unknown`.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from benchbook.core.processes import output_of
from benchbook.host.memory import meminfo
from benchbook.host.sysfs import ROOT, Sysconf, format_cpu_list, libc_version, read_int, read_text
from benchbook.host.topology import CPUS, Topology, llc_bytes, read_topology

VERSION = 1
_X86_LEVELS = {
    "x86-64-v2": "cx16 lahf_lm popcnt pni ssse3 sse4_1 sse4_2",
    "x86-64-v3": "abm avx avx2 bmi1 bmi2 f16c fma movbe xsave",
    "x86-64-v4": "avx512f avx512bw avx512cd avx512dq avx512vl",
}
_ISA = re.compile(
    r"sse2|ssse3|sse4_[12]|avx\w*|fma|bmi[12]|amx_\w+|erms|fsrm|clflushopt|clwb|movdir\w+"
    r"|rdtscp|constant_tsc|nonstop_tsc|asimd\w*|sve\w*|atomics|lrcpc|altivec|vsx"
)
_HYPERVISORS = {  # words of the firmware's vendor and product, or of a clock source
    "xen": "xen",
    "kvm": "kvm|qemu|google compute engine|amazon ec2|openstack|digitalocean|bochs",
    "hyperv": "hyperv|microsoft corporation virtual machine",
    "vmware": "vmware",
    "virtualbox": "virtualbox|innotek",
    "parallels": "parallels",
}
_STABLE = (
    *("architecture", "cpu_model", "cpu_vendor", "cpu_family", "cpu_model_number", "cpu_stepping"),
    *("sockets", "cores", "threads", "usable_cpus", "hypervisor"),
)
_INFO = "proc/cpuinfo"
_ASK = "only the running machine can be asked"
_CLOCK = "sys/devices/system/clocksource/clocksource0/current_clocksource"
_CLOCKS = _CLOCK.replace("current", "available")
_PACKAGE = "topology/physical_package_id"
_RELEASE = "proc/sys/kernel/osrelease"
_NUMBERS = {
    "numa_balancing": "proc/sys/kernel/numa_balancing",
    "perf_event_paranoid": "proc/sys/kernel/perf_event_paranoid",
}
# By proot, strace or a debugger. What a traced program starts is traced too.
_MITIGATIONS = "sys/devices/system/cpu/vulnerabilities"
_CMDLINE = "proc/cmdline"
# What changes how fast programs run; the rest of the boot command line may name disks, networks.
_BOOT_OPTIONS = re.compile(
    r"(?:mitigations|nosmt|isolcpus|nohz\w*|rcu_nocb\w*|irqaffinity|idle|processor\.\w+|intel_\w+"
    r"|amd_\w+|cpuidle\w*\.\w+|haltpoll\.\w+|transparent_hugepage\w*|hugepages\w*|default_hugepagesz"
    r"|numa\w*|tsc|clocksource|nopti|pti|spec\w*|nospec\w*|l1tf|mds|tsx\w*|retbleed|srbds|preempt"
    r"|threadirqs|maxcpus|nr_cpus|mem|iommu|nokaslr)(?:=.*)?"
)
TRACED = "{} traces this program and stops it at system calls, so the measured times are wrong"
THP = "sys/kernel/mm/transparent_hugepage/enabled"


@dataclass(frozen=True)
class Load:
    """proc/loadavg: the one-minute average, and runnable tasks at this moment (this one too)."""

    one_minute: float
    running: int


def door() -> str:
    """host or nix: how the environment was entered."""
    return os.environ.get("BENCHBOOK_DOOR", "host")


def commit(checkout: Path) -> str:
    """The commit of a checkout, with `+` where files were changed since; empty where git does not
    tell."""
    git = ("git", "-C", str(checkout))
    name = output_of([*git, "rev-parse", "--short=12", "HEAD"]).strip()
    changed = output_of([*git, "status", "--porcelain", "--untracked-files=no"]).strip()
    return f"{name}+" if name and changed else name


def tracer(root: Path = ROOT) -> str | None:
    """The program that traces this one, as `proot (process 77)`; None where none does."""
    status = read_text(root / "proc/self/status") or ""
    match = re.search(r"(?m)^TracerPid:\s*([1-9]\d{0,9})$", status)
    if match is None:
        return None
    name = read_text(root / "proc" / match[1] / "comm") or "a program"
    return f"{name} (process {match[1]})"


def frequency_khz(cpu: int, root: Path = ROOT) -> int | None:
    """The frequency of one CPU now, in kHz; None where cpufreq does not tell (most guests)."""
    value = read_int(root / CPUS / f"cpu{cpu}/cpufreq/scaling_cur_freq")
    return value if value and value > 0 else None


def cpu_ticks(root: Path = ROOT) -> tuple[int, int] | None:
    """(steal, total) of all CPUs since boot, in clock ticks; None when unreadable."""
    match = re.match(r"cpu((?: +\d{1,18}){8,})", read_text(root / "proc/stat") or "")
    ticks = [int(field) for field in match[1].split()] if match else []
    return (ticks[7], sum(ticks[:8])) if match else None  # guest time is in user time already


def steal_ticks_of(cpus: Sequence[int], root: Path = ROOT) -> int | None:
    """Clock ticks that the hypervisor took from these CPUs since boot; None when not accounted."""
    by_cpu = dict(re.findall(r"(?m)^cpu(\d+)((?: +\d+){8,})", read_text(root / "proc/stat") or ""))
    ticks = [by_cpu[str(cpu)].split()[7] for cpu in cpus if str(cpu) in by_cpu]
    return sum(map(int, ticks)) if len(ticks) == len(cpus) and ticks else None


def steal_ticks(root: Path = ROOT) -> int | None:
    """Ticks that the hypervisor gave to others, all CPUs since boot; None when unreadable."""
    ticks = cpu_ticks(root)
    return ticks[0] if ticks else None


def load(root: Path = ROOT) -> Load | None:
    """Load average and run queue; None when unreadable."""
    match = re.match(
        r"(\d{1,9}\.\d+) \S+ \S+ (\d{1,9})/\d+", read_text(root / "proc/loadavg") or ""
    )
    return Load(float(match[1]), int(match[2])) if match else None


def governors(root: Path, topology: Topology) -> list[str]:
    """The distinct frequency governors of the usable CPUs; empty without cpufreq."""
    files = [root / CPUS / f"cpu{cpu.id}/cpufreq/scaling_governor" for cpu in topology.cpus]
    return sorted({text for text in map(read_text, files) if text})


def mitigations(root: Path = ROOT) -> dict[str, str]:
    """What the kernel does about each weakness of the CPU that it has; empty where it does not
    tell."""
    folder = root / _MITIGATIONS
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208
    except OSError:
        return {}
    states = {name: read_text(folder / name) for name in names}
    return {name: state for name, state in states.items() if state and state != "Not affected"}


def boot_options(root: Path = ROOT) -> list[str]:
    """The options of the boot command line that change how fast programs run, in their order."""
    words = (read_text(root / _CMDLINE) or "").split(" -- ")[0].split()
    return [word for word in words if _BOOT_OPTIONS.fullmatch(word)]


def governors_of_all(root: Path, topology: Topology) -> dict[str, str]:
    """Each frequency governor with the CPUs that are online and have it, as `0-3,8`: also those
    that may not be used, since siblings share a core. Empty without cpufreq."""
    cpus: dict[str, list[int]] = {}
    for cpu in topology.online:
        if governor := read_text(root / CPUS / f"cpu{cpu.id}/cpufreq/scaling_governor"):
            cpus.setdefault(governor, []).append(cpu.id)
    return {governor: format_cpu_list(ids) for governor, ids in sorted(cpus.items())}


def turbo(root: Path = ROOT) -> bool | None:
    """Whether the CPU may run above its base frequency; None when no file tells."""
    no_turbo = read_int(root / CPUS / "intel_pstate/no_turbo")
    boost = read_int(root / CPUS / "cpufreq/boost")
    return no_turbo == 0 if no_turbo is not None else None if boost is None else boost == 1


def thp(root: Path = ROOT) -> str | None:
    """The transparent huge page mode (always, madvise, never); None when no file tells."""
    match = re.search(r"\[(\w+)\]", read_text(root / THP) or "")
    return match[1] if match else None


def facts(
    root: Path = ROOT, topology: Topology | None = None, sysconf: Sysconf | None = None
) -> dict[str, Any]:
    """Everything known about the host, ready for JSON; sizes in bytes, frequencies in kHz.

    A value that cannot be known is None, and `unknown` has the reason under the same key.
    """
    machine = topology or read_topology(root, sysconf=sysconf)
    cpus, online = machine.cpus, machine.online
    ids = [cpu.id for cpu in cpus]
    info = _cpuinfo(root)
    flags = (info.get("flags") or info.get("Features") or "").split()
    vm, container = _hypervisor(root, info, flags), _container(root)
    layers = ["container"] * (container != "none") + ["virtual machine"] * (vm != "none")
    name = re.search(r'(?m)^PRETTY_NAME="?([^"\n]+)', read_text(root / "etc/os-release") or "")
    boost, khz = turbo(root), [c.max_khz for c in cpus if c.max_khz]
    here = f"{CPUS}/cpu{ids[0] if ids else 0}"
    # The value, and the file that would have said it (or the reason itself).
    table: dict[str, tuple[Any, str]] = {
        "architecture": (os.uname().machine if root == ROOT else None, _ASK),
        "cpu_model": (_cpu_model(info), _INFO),
        "cpu_vendor": (info.get("vendor_id") or info.get("CPU implementer"), _INFO),
        "cpu_family": (info.get("cpu family") or info.get("CPU architecture"), _INFO),
        "cpu_model_number": (info.get("model") or info.get("CPU part"), _INFO),
        "cpu_stepping": (info.get("stepping") or info.get("CPU revision"), _INFO),
        "isa": (sorted({f for f in flags if _ISA.fullmatch(f)}), _INFO),
        "isa_level": (_isa_level(flags), "not an x86-64 CPU, or its flags cannot be read"),
        "sockets": (len({c.socket for c in online} - {None}) or None, f"{here}/{_PACKAGE}"),
        "cores": (len({c.core for c in online}) or None, f"{CPUS}/online"),
        "threads": (len(online) or None, f"{CPUS}/online"),
        "usable_cores": (len({c.core for c in cpus}) or None, f"{CPUS}/online"),
        "usable_cpus": (ids, f"{CPUS}/online"),
        "smt": (machine.smt, f"{here}/topology/core_cpus_list"),
        "core_kinds": (sorted({c.kind for c in cpus}), f"{CPUS}/online"),
        "max_khz": (max(khz, default=None), f"{here}/cpufreq/cpuinfo_max_freq"),
        "caches": ([asdict(c) for c in machine.caches], f"{here}/cache/index0/size"),
        "llc_bytes": (llc_bytes(machine, ids), f"{here}/cache/index3/size"),
        "numa_nodes": (len(machine.nodes) or None, "sys/devices/system/node/online"),
        "memory_total_bytes": (meminfo(root).get("MemTotal"), "proc/meminfo"),
        "hypervisor": (vm, "no file names a hypervisor, and this CPU has no flag for one"),
        "virtualisation": (vm and (" in a ".join(layers) or "none"), "see hypervisor"),
        "container": (container, ""),
        "os": (name and name[1], "etc/os-release"),
        "libc": (libc_version() if root == ROOT else None, _ASK),
        "governor": (",".join(governors(root, machine)), f"{here}/cpufreq/scaling_governor"),
        "turbo": (None if boost is None else "on" if boost else "off", f"{CPUS}/cpufreq/boost"),
        "thp": (thp(root), THP),
        "microcode": (info.get("microcode"), _INFO),
        "mitigations": (mitigations(root), _MITIGATIONS),
        "boot_options": (boot_options(root), _CMDLINE),
        "governors": (governors_of_all(root, machine), f"{here}/cpufreq/scaling_governor"),
        "kernel_release": (read_text(root / _RELEASE), _RELEASE),
        "clocksource": (read_text(root / _CLOCK), _CLOCK),
        **{key: (read_int(root / path), path) for key, path in _NUMBERS.items()},
    }
    values = {key: value for key, (value, _) in table.items() if value not in (None, "", [], {})}
    unknown = {key: _why(root, where) for key, (_, where) in table.items() if key not in values}
    plain = {
        "version": VERSION,
        "offline_cpus": list(machine.offline),
        "unknown": unknown,
        # Of the environment, not of the machine; empty where it was not entered by a lock. In no
        # fingerprint: what a revision brings into a measurement is in the binaries, and in libc.
        "nix_revision": os.environ.get("BENCHBOOK_NIX_REVISION", ""),
    }
    readable = any(frequency_khz(i, root) for i in ids)
    merged = dict.fromkeys(table) | values | {"frequency_readable": readable} | plain
    return cast(dict[str, Any], json.loads(json.dumps(merged)))  # tuples become lists, as when read


def host_id(facts: Mapping[str, Any]) -> str:
    """`<cpu model>-<usable cores>c-<8 hex>`: the same for every checkout and after every reboot.

    Caches that only libc told are left out: two Nix shells may have two libcs.
    """
    total = facts.get("memory_total_bytes")
    stable = {
        **{key: facts.get(key) for key in _STABLE},
        "caches": [c for c in facts.get("caches") or [] if c["source"] == "sysfs"],
        "memory_gib": None if total is None else round(total / 2**30),
    }
    model = re.sub(r"\((r|tm|c)\)|\bcpu\b|@.*", " ", str(facts.get("cpu_model") or "").lower())
    slug = re.sub(r"[^a-z0-9]+", "-", model).strip("-")[:40].strip("-") or "unknown-cpu"
    digest = hashlib.sha256(json.dumps(stable, sort_keys=True).encode()).hexdigest()[:8]
    return f"{slug}-{facts.get('usable_cores') or 0}c-{digest}"


def _why(root: Path, where: str) -> str:
    if "/" not in where:
        return where
    if not os.path.exists(root / where):  # noqa: PTH110
        return f"/{where} is absent"
    text = read_text(root / where)
    if text is None:
        return f"/{where} cannot be read"
    return f"/{where} does not tell: {text[:40]!r}" if text else f"/{where} is empty"


def _cpuinfo(root: Path) -> dict[str, str]:
    """The first value of each key; the parts of a mixed ARM chip are joined."""
    fields: dict[str, dict[str, None]] = {}
    for line in (read_text(root / _INFO) or "").splitlines():
        key, colon, value = line.partition(":")
        if colon and value.strip():
            fields.setdefault(key.strip(), {})[value.strip()] = None
    return {k: "+".join(sorted(v)) if k == "CPU part" else next(iter(v)) for k, v in fields.items()}


def _cpu_model(info: Mapping[str, str]) -> str | None:
    if model := info.get("model name") or info.get("cpu") or info.get("uarch"):
        return model
    maker, part = info.get("CPU implementer"), info.get("CPU part")
    return f"ARM implementer {maker} part {part}" if maker and part else None


def _isa_level(flags: Sequence[str]) -> str | None:
    level = "x86-64-v1" if {"lm", "sse2"} <= set(flags) else None
    for name, needed in _X86_LEVELS.items() if level else ():
        if not set(needed.split()) <= set(flags):
            break
        level = name
    return level


def _hypervisor(root: Path, info: Mapping[str, str], flags: Sequence[str]) -> str | None:
    """Its name, `unnamed`, `none` on bare metal, or None when this machine cannot tell."""
    if "flags" in info and "hypervisor" not in flags:
        return "none"
    places = ("sys/hypervisor/type", "sys/class/dmi/id/sys_vendor", "sys/class/dmi/id/product_name")
    text = " ".join(filter(None, (read_text(root / p) for p in (*places, _CLOCKS)))).lower()
    if ".metal" in text:
        return "none"
    hypervisor = next(
        (name for name, words in _HYPERVISORS.items() if re.search(words, text)), None
    )
    return hypervisor or ("unnamed" if "hypervisor" in flags else None)


def _container(root: Path) -> str:
    files = {".dockerenv": "docker", "run/.containerenv": "podman"}
    # pathlib's exists() raises for a folder that may not be entered.
    container = next((n for path, n in files.items() if os.path.exists(root / path)), None)  # noqa: PTH110
    return container or read_text(root / "run/systemd/container") or "none"
