"""Small files of /sys and /proc, CPU lists, and what the C library says of the caches.

Everything is read below a root, so that a folder of fixtures stands in for a machine. A file that
is absent, unreadable or garbled makes a value None (unknown): never 0, never an exception.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path

ROOT = Path("/")
Sysconf = Callable[[str], int | None]  # "LEVEL3_CACHE_SIZE" -> bytes

CACHE_LEVELS = ("LEVEL1_ICACHE", "LEVEL1_DCACHE", "LEVEL2_CACHE", "LEVEL3_CACHE", "LEVEL4_CACHE")
_WHAT = ("SIZE", "ASSOC", "LINESIZE")
_ASKED = tuple(f"{level}_{what}" for level in CACHE_LEVELS for what in _WHAT)
_SYSCONF = dict(zip(_ASKED, range(185, 200), strict=True))  # glibc's numbers; Python has no names


def read_text(path: Path) -> str | None:
    """Stripped text of a small file; None when it is absent, unreadable or not text."""
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return None


def read_int(path: Path) -> int | None:
    """The whole number that a file holds; None when it holds none."""
    try:
        return int(read_text(path) or "")
    except ValueError:
        return None


def parse_cpu_list(text: str | None) -> tuple[int, ...] | None:
    """CPU ids of the kernel's list format (`0-3,8`), sorted; () when empty, None when garbled."""
    ids: set[int] = set()
    for part in text.split(",") if text else []:
        match = re.fullmatch(r"([0-9]{1,5})(?:-([0-9]{1,5}))?", part.strip())
        if not match or int(match[1]) > int(match[2] or match[1]):
            return None
        ids.update(range(int(match[1]), int(match[2] or match[1]) + 1))
    return None if text is None else tuple(sorted(ids))


def format_cpu_list(cpus: Iterable[int]) -> str:
    """CPU ids in the kernel's list format: (0, 1, 2, 8) is `0-2,8`."""
    runs: list[tuple[int, int]] = []
    for cpu in sorted(set(cpus)):
        if runs and cpu == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], cpu)
        else:
            runs.append((cpu, cpu))
    return ",".join(f"{a}" if a == b else f"{a}-{b}" for a, b in runs)


def libc_version() -> str | None:
    """`glibc 2.36`; None for another libc."""
    try:
        return os.confstr("CS_GNU_LIBC_VERSION")
    except (OSError, ValueError):
        return None


def libc_sysconf(name: str) -> int | None:
    """What `getconf NAME` prints for a cache (bytes or ways); None when unsaid, 0 or not glibc."""
    try:
        value = os.sysconf(_SYSCONF[name]) if libc_version() else 0
    except (KeyError, OSError, ValueError):
        return None
    return value if value > 0 else None
