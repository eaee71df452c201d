"""Builders of /sys and /proc trees of machines that the tests do not have at hand.

FIRECRACKER is recorded from a real guest, field by field; the others have the geometry that the
makers publish. A tree is written below a folder that stands in for `/`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

CPU_DIR = "sys/devices/system/cpu"
GIB_KB = 1 << 20


@dataclass(frozen=True)
class CacheSpec:
    """`cores` is how many neighbouring cores share it; None is the whole socket."""

    level: int
    kind: str
    size: str
    ways: int
    cores: int | None


@dataclass(frozen=True)
class Core:
    socket: int
    cpus: tuple[int, ...]
    caches: tuple[CacheSpec, ...]
    max_khz: int | None = None


@dataclass
class Machine:
    cores: list[Core]
    cpuinfo: str
    memory_kb: int = 16 * GIB_KB
    nodes: list[list[int]] = field(default_factory=list)  # of CPU ids; empty: no NUMA files
    offline: frozenset[int] = frozenset()
    pmus: dict[str, str] = field(default_factory=dict)  # cpu_core: "0-15"
    files: dict[str, str] = field(default_factory=dict)  # anything else, path -> text

    def write(self, root: Path) -> Path:
        """Write the tree below `root` and return it."""
        every = sorted(cpu for core in self.cores for cpu in core.cpus)
        online = [cpu for cpu in every if cpu not in self.offline]
        put(root, f"{CPU_DIR}/present", listed(every))
        put(root, f"{CPU_DIR}/online", listed(online))
        put(root, f"{CPU_DIR}/offline", listed(self.offline))
        for index, core in enumerate(self.cores):
            siblings = [cpu for cpu in core.cpus if cpu in online]
            for cpu in siblings:
                topology = f"{CPU_DIR}/cpu{cpu}/topology"
                put(root, f"{topology}/physical_package_id", core.socket)
                put(root, f"{topology}/core_id", index)
                put(root, f"{topology}/core_cpus_list", listed(siblings))
                put(root, f"{topology}/thread_siblings_list", listed(siblings))
                if core.max_khz:
                    put(root, f"{CPU_DIR}/cpu{cpu}/cpufreq/cpuinfo_max_freq", core.max_khz)
                for number, cache in enumerate(core.caches):
                    self._cache(root, f"{CPU_DIR}/cpu{cpu}/cache/index{number}", core, cache)
        for number, cpus in enumerate(self.nodes):
            put(root, f"sys/devices/system/node/node{number}/cpulist", listed(cpus))
        if self.nodes:
            put(root, "sys/devices/system/node/online", listed(range(len(self.nodes))))
        for pmu, cpu_list in self.pmus.items():
            put(root, f"sys/devices/{pmu}/cpus", cpu_list)
        blocks = "".join(f"processor\t: {cpu}\n{self.cpuinfo}\n" for cpu in online)
        put(root, "proc/cpuinfo", blocks)
        meminfo(root, self.memory_kb, self.memory_kb - GIB_KB)
        put(root, "proc/loadavg", "0.05 0.05 0.01 1/86 4464")
        put(
            root,
            "proc/stat",
            "cpu  3030 0 995 158649 287 0 39 5 0 0\ncpu0 1657 0 441 79220 1 0 1 2 0 0",
        )
        for path, text in self.files.items():
            put(root, path, text)
        return root

    def _cache(self, root: Path, folder: str, core: Core, cache: CacheSpec) -> None:
        same = [c for c in self.cores if c.socket == core.socket and cache in c.caches]
        place = same.index(core)
        size = cache.cores or len(same)
        sharers = same[place // size * size : place // size * size + size]
        shared = [cpu for c in sharers for cpu in c.cpus if cpu not in self.offline]
        put(root, f"{folder}/level", cache.level)
        put(root, f"{folder}/type", cache.kind)
        put(root, f"{folder}/size", cache.size)
        put(root, f"{folder}/ways_of_associativity", cache.ways)
        put(root, f"{folder}/coherency_line_size", 64)
        put(root, f"{folder}/shared_cpu_list", listed(shared))


def put(root: Path, path: str, text: str | int) -> None:
    """Write one file with the newline that the kernel ends it with."""
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{text}\n")


def meminfo(
    root: Path, total_kb: int, available_kb: int, swap_kb: tuple[int, int] = (0, 0)
) -> None:
    """proc/meminfo; `swap_kb` is (total, free)."""
    lines = [
        f"MemTotal:       {total_kb} kB",
        f"MemFree:        {available_kb} kB",
        f"MemAvailable:   {available_kb} kB",
        "Active(anon):       1076 kB",
        f"SwapTotal:      {swap_kb[0]} kB",
        f"SwapFree:       {swap_kb[1]} kB",
        "HugePages_Total:       0",
    ]
    put(root, "proc/meminfo", "\n".join(lines))


def listed(cpus: Iterable[int]) -> str:
    """One id after the other: the readers must not depend on the kernel joining runs."""
    return ",".join(str(cpu) for cpu in sorted(cpus))


X86_FLAGS = (
    "fpu lm sse2 cx16 lahf_lm popcnt pni ssse3 sse4_1 sse4_2 "
    "abm avx avx2 bmi1 bmi2 f16c fma movbe xsave erms"
)


def x86(vendor: str, family: int, model: int, name: str, stepping: int, flags: str = "") -> str:
    """One block of an x86 proc/cpuinfo."""
    return (
        f"vendor_id\t: {vendor}\ncpu family\t: {family}\nmodel\t\t: {model}\n"
        f"model name\t: {name}\nstepping\t: {stepping}\nflags\t\t: {X86_FLAGS} {flags}\n"
        "power management:\n"
    )


def firecracker() -> Machine:
    """The 2-core KVM guest on which this was written; its core ids and sizes are as read there."""
    caches = (
        CacheSpec(1, "Data", "48K", 12, 1),
        CacheSpec(1, "Instruction", "32K", 8, 1),
        CacheSpec(2, "Unified", "2048K", 16, 1),
        CacheSpec(3, "Unified", "107520K", 15, None),
    )
    clock = "sys/devices/system/clocksource/clocksource0"
    return Machine(
        [Core(0, (0,), caches), Core(0, (1,), caches)],
        x86("GenuineIntel", 6, 167, "Intel(R) Xeon(R) Processor", 8, "hypervisor avx512f"),
        memory_kb=24684084,
        nodes=[[0, 1]],
        files={
            f"{clock}/current_clocksource": "tsc",
            f"{clock}/available_clocksource": "tsc kvm-clock ",
            "proc/sys/kernel/osrelease": "6.18.44",
            "proc/sys/kernel/perf_event_paranoid": "2",
            "proc/sys/kernel/numa_balancing": "0",
            "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never",
            "etc/os-release": 'ID=debian\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"',
        },
    )


def one_socket() -> Machine:
    """A desktop of four cores without hardware threads (Core i5-7500)."""
    caches = (
        CacheSpec(1, "Data", "32K", 8, 1),
        CacheSpec(2, "Unified", "256K", 4, 1),
        CacheSpec(3, "Unified", "6144K", 12, None),
    )
    cores = [Core(0, (cpu,), caches, 3_800_000) for cpu in range(4)]
    name = "Intel(R) Core(TM) i5-7500 CPU @ 3.40GHz"
    return Machine(cores, x86("GenuineIntel", 6, 158, name, 9), nodes=[[0, 1, 2, 3]])


def epyc(sockets: int = 2, cores: int = 64, threads: int = 2) -> Machine:
    """EPYC 7763: eight cores to a 32 MiB cache; second threads are numbered after all cores."""
    caches = (
        CacheSpec(1, "Data", "32K", 8, 1),
        CacheSpec(1, "Instruction", "32K", 8, 1),
        CacheSpec(2, "Unified", "512K", 8, 1),
        CacheSpec(3, "Unified", "32768K", 16, 8),
    )
    total = sockets * cores
    every = [
        Core(i // cores, tuple(i + t * total for t in range(threads)), caches, 3_529_052)
        for i in range(total)
    ]
    nodes = [[cpu for c in every if c.socket == s for cpu in c.cpus] for s in range(sockets)]
    info = x86("AuthenticAMD", 25, 1, "AMD EPYC 7763 64-Core Processor", 1)
    return Machine(every, info, memory_kb=1024 * GIB_KB, nodes=nodes)


def hybrid() -> Machine:
    """Core i9-12900K: eight performance cores with two threads, eight efficiency cores with one."""
    llc = CacheSpec(3, "Unified", "30720K", 12, None)
    big = (CacheSpec(1, "Data", "48K", 12, 1), CacheSpec(2, "Unified", "1280K", 10, 1), llc)
    small = (CacheSpec(1, "Data", "32K", 8, 1), CacheSpec(2, "Unified", "2048K", 16, 4), llc)
    cores = [Core(0, (2 * i, 2 * i + 1), big, 5_100_000) for i in range(8)]
    cores += [Core(0, (16 + i,), small, 3_900_000) for i in range(8)]
    info = x86("GenuineIntel", 6, 151, "12th Gen Intel(R) Core(TM) i9-12900K", 2)
    pmus = {"cpu_core": "0-15", "cpu_atom": "16-23"}
    return Machine(cores, info, nodes=[list(range(24))], pmus=pmus)


def arm(cores: int = 4) -> Machine:
    """Neoverse N1 guest: no cache files, no model name."""
    info = (
        "BogoMIPS\t: 243.75\nFeatures\t: fp asimd evtstrm aes crc32 atomics asimddp lrcpc\n"
        "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\n"
        "CPU part\t: 0xd0c\nCPU revision\t: 1\n"
    )
    return Machine([Core(0, (i,), ()) for i in range(cores)], info, nodes=[list(range(cores))])


def big_little() -> Machine:
    """An ARM chip with two designs, told apart by capacity: four small cores, two big ones."""
    machine = arm(6)
    capacity = {0: 446, 1: 446, 2: 446, 3: 446, 4: 1024, 5: 1024}
    for cpu, value in capacity.items():
        machine.files[f"{CPU_DIR}/cpu{cpu}/cpu_capacity"] = str(value)
    return machine


GARBAGE = (b"", b"\xff\xfe\x00\x9c", b"banana", b"-1", b"9" * 5000, b"0-", b"3-1", b"\n\n:::\n")


def one_of_each_name(root: Path) -> list[Path]:
    """One file of each name below `root`: what one of them can break, its like can break."""
    return sorted({file.name: file for file in root.rglob("*") if file.is_file()}.values())


@contextmanager
def garbled(file: Path, junk: bytes | None) -> Iterator[None]:
    """Replace a file by junk, or (None) by a folder, which no reader can read, root or not."""
    text = file.read_bytes()
    file.unlink()
    if junk is None:
        file.mkdir()
    else:
        file.write_bytes(junk)
    try:
        yield
    finally:
        if junk is None:
            file.rmdir()
        file.write_bytes(text)
