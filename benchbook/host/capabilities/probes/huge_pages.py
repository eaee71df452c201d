"""Whether a program that asks for huge pages gets them."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from benchbook.host import facts
from benchbook.host.capabilities.place import Capability, Place, able, as_root
from benchbook.host.sysfs import read_int

NAMES = ("huge pages",)
PROGRAMS = ()
_RESERVED = "sys/kernel/mm/hugepages"
FILES = (facts.THP, "sys/kernel/mm/transparent_hugepage/defrag", "proc/sys/vm/nr_hugepages")
_ASKED_MIB = 8
# A program of its own, so that no other memory than that counts.
_ASK = f"""
import mmap, re
def huge_kib():
    with open("/proc/self/smaps_rollup") as file:
        return int(re.search("AnonHugePages: *([0-9]+)", file.read())[1])
before = huge_kib()
memory = mmap.mmap(-1, {_ASKED_MIB} << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
memory.madvise(mmap.MADV_HUGEPAGE)
for place in range(0, len(memory), 4096):
    memory[place] = 1
print(huge_kib() - before)
"""


def look(place: Place) -> Iterator[Capability]:
    """Huge pages: transparent ones by trying, reserved ones by the kernel's word."""
    mode, reserved = facts.thp(place.machine), _reserved(place)
    kib, why = _got(place) if mode in ("always", "madvise") else (0, "")
    if kib or reserved:
        sentence = (
            f"of {_ASKED_MIB} MiB asked for, {kib / 1024:g} came as huge pages "
            f"(transparent ones: {mode or 'none'}); reserved: {', '.join(reserved) or 'none'}"
        )
        yield able("huge pages", sentence, mode=mode, came_bytes=kib * 1024)
    elif mode == "never":
        remedy = f"echo madvise | {as_root(f'tee /{facts.THP}')}"
        reason = "transparent huge pages are switched off, and none are reserved"
        yield Capability("huge pages", "denied", reason, remedy)
    elif mode is None:
        reason = "this kernel has no transparent huge pages, and none are reserved"
        yield Capability("huge pages", "absent", reason, as_root("sysctl vm.nr_hugepages=64"))
    else:
        reason = why or f"{_ASKED_MIB} MiB were asked for and none came as huge pages"
        yield Capability("huge pages", "absent", reason, as_root("sysctl vm.compact_memory=1"))


def _got(place: Place) -> tuple[int, str]:
    """(KiB that came as huge pages, why that is not known)."""
    answer = place.ask(sys.executable, "-I", "-S", "-c", _ASK)
    match = re.fullmatch(r"(\d+)\n", answer.out)
    return (int(match[1]), "") if match else (0, answer.why("the program that asks for them"))


def _reserved(place: Place) -> list[str]:
    """`16 free of 2 MiB` for each size of which some are free."""
    pools = []
    for folder in sorted((place.machine / _RESERVED).glob("hugepages-*kB")):
        free = read_int(folder / "free_hugepages") or 0
        kib = re.search(r"\d+", folder.name)
        if free > 0 and kib:
            pools.append(f"{free} free of {int(kib[0]) / 1024:g} MiB")
    return pools
