"""Sizes and counts as people write them: `32 MiB`, `4 x LLC`, `4096`; `cores`, `1 to cores`.

MB is 10^6, MiB is 2^20. What a host has comes as a dict of names, so that nothing here asks it.
"""

from __future__ import annotations

import re

from benchbook.core.errors import BenchbookError

UNITS = {
    "": 1,
    "B": 1,
    "kB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
}
_PLAIN = re.compile(r"(\d+(?:\.\d+)?)\s*([kKMG]i?B|B|)")
_OF_CACHE = re.compile(r"(\d+(?:\.\d+)?)\s*x\s*(L1d|L2|LLC|stated LLC|total LLC|memory|RAM)")
_OF_CORES = re.compile(r"(?:(\d+)\s*x\s*)?cores")


def parse_bytes(text: str | int, caches: dict[str, int | None] | None = None) -> int | None:
    """Bytes meant by `text`; None where it names something whose size is unknown on this host.

    `caches` maps names to bytes or None: L1d, L2 and LLC as one core sees them, stated LLC (the
    largest that anything names), total LLC of all usable cores, RAM (all memory in whole GiB) and,
    for trials, memory (what is available).
    Multiples are rounded down to whole MiB above 1 MiB and to whole 4 KiB below, so that every
    block size divides them.
    """
    if isinstance(text, int):
        return text
    if plain := _PLAIN.fullmatch(text.strip()):
        number, unit = plain.groups()
        if unit in UNITS:
            return round(float(number) * UNITS[unit])
    if of_cache := _OF_CACHE.fullmatch(text.strip()):
        number, cache = of_cache.groups()
        size = (caches or {}).get(cache)
        if size is None:
            return None
        wanted = int(float(number) * size)
        step = UNITS["MiB"] if wanted >= UNITS["MiB"] else 4 * UNITS["KiB"]
        return wanted // step * step
    raise BenchbookError(
        f"size {text!r} is not understood: write it like '32 MiB', '4 x LLC' or 4096 (bytes)"
    )


def parse_counts(text: str | int, cores: int) -> list[int]:
    """Threads or processes meant by `text`: `2`, `cores`, `2 x cores`, or `1 to cores` (powers of
    two below the number of cores, and it)."""
    if isinstance(text, int) and text >= 1:
        return [text]
    if isinstance(text, str) and text.strip() == "1 to cores":
        return sorted(
            {1 << power for power in range(cores.bit_length()) if 1 << power <= cores} | {cores}
        )
    if isinstance(text, str) and (of_cores := _OF_CORES.fullmatch(text.strip())):
        return [int(of_cores[1] or 1) * cores]
    raise BenchbookError(
        f"count {text!r} is not understood: write a whole number from 1, 'cores', '2 x cores' or "
        "'1 to cores'"
    )


def format_bytes(count: int) -> str:
    """`33554432` as `32 MiB`: the largest binary unit that keeps it whole, else one decimal."""
    for unit in ("GiB", "MiB", "KiB"):
        if count >= UNITS[unit]:
            value = count / UNITS[unit]
            return f"{value:.0f} {unit}" if value == int(value) else f"{value:.1f} {unit}"
    return f"{count} B"
