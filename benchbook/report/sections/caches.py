"""What the machine's page shows of caches: as each source states them, and as sweeps measured."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from benchbook.core import number_format
from benchbook.report import wording

Facts = dict[str, Any]
Level = tuple[int, str]
LETTERS = {"data": "d", "instruction": "i"}


@dataclass(frozen=True)
class Fall:
    """Where a sweep with one thread falls for the last time; working sets in bytes."""

    experiment: str
    method: str
    variant: str
    low: float
    high: float
    ratio: float


def caches(facts: Facts, papers: list[dict[str, Any]]) -> dict[str, Any]:
    """`rows`: the caches, lowest first, each size as stated by each and as measured; `falls`: the
    sweeps that fall, and whether a stated cache lies there."""
    hwloc = (facts.get("hwloc") or {}).get("caches") or []
    stated = {
        "sysfs": [one for one in facts.get("caches") or [] if one["source"] == "sysfs"],
        "libc": facts.get("caches_sysconf")
        or [one for one in facts.get("caches") or [] if one["source"] == "sysconf"],
        "hwloc": hwloc,
    }
    found = falls(papers)
    levels = sorted({(one["level"], one["kind"]) for ones in stated.values() for one in ones})
    rows = [_row(level, stated, found) for level in levels]
    return {"rows": rows, "falls": [_fall(one, levels, stated) for one in found]}


def falls(papers: list[dict[str, Any]]) -> list[Fall]:
    """Of each experiment's sweeps with one thread those that fall, each once."""
    found = {
        Fall(
            name,
            one["names"].get(curve["method"], curve["method"]),
            curve["variant"],
            one["buffers"] * curve["knee"]["low_bytes"],
            one["buffers"] * curve["knee"]["high_bytes"],
            curve["knee"]["ratio"],
        )
        for paper in papers
        for name, one in paper["experiments"].items()
        for curve in one["curves"]
        if curve["knee"] and one["buffers"] and curve["factors"].get("threads", 1) == 1
    }
    return sorted(found, key=lambda one: (one.experiment, one.method, one.variant, one.low))


def _sizes(level: Level, ones: Iterable[Facts]) -> list[int]:
    return sorted({one["bytes"] for one in ones if _level(one) == level and one["bytes"]})


def _disagree(said: list[list[int]]) -> bool:
    """Two that say something have no size in common: of mixed cores libc tells one only."""
    return any(not set(a) & set(b) for a, b in combinations(filter(None, said), 2))


def _level(cache: Facts) -> Level:
    return cache["level"], cache["kind"]


def _all_sizes(level: Level, stated: dict[str, list[Facts]]) -> list[int]:
    return [size for ones in stated.values() for size in _sizes(level, ones)]


def _row(level: Level, stated: dict[str, list[Facts]], found: list[Fall]) -> dict[str, Any]:
    first = next(one for ones in stated.values() for one in ones if _level(one) == level)
    same = [one for one in stated["sysfs"] or stated["hwloc"] if _level(one) == level]
    shared = {len(one["shared_cpus"]) for one in same if one["shared_cpus"]}
    inside = [one for one in found if _lies(one, level, stated)]
    nearest = min(inside, key=lambda one: one.high / one.low, default=None)
    return {
        "name": f"L{level[0]}{LETTERS.get(level[1], '')}",
        **{
            source: " or ".join(wording.bytes_of(size) for size in _sizes(level, ones))
            for source, ones in stated.items()
        },
        "apart": _disagree([_sizes(level, ones) for ones in stated.values()]),
        "measured": _between(nearest) if nearest else "",
        "ways": first["ways"],
        "line_bytes": first["line_bytes"],
        "many": len(same) or None,
        "shared": " or ".join(map(str, sorted(shared))),
    }


def _lies(fall: Fall, level: Level, stated: dict[str, list[Facts]]) -> bool:
    data = level[1] != "instruction"
    return data and any(fall.low <= size <= fall.high for size in _all_sizes(level, stated))


def _between(fall: Fall) -> str:
    return f"{wording.bytes_of(int(fall.low))} to {wording.bytes_of(int(fall.high))}"


def _fall(fall: Fall, levels: list[Level], stated: dict[str, list[Facts]]) -> dict[str, str]:
    near = [
        f"L{level[0]}{LETTERS.get(level[1], '')}" for level in levels if _lies(fall, level, stated)
    ]
    return {
        "experiment": fall.experiment,
        "method": fall.method,
        "variant": fall.variant,
        "between": _between(fall),
        "ratio": number_format.share(fall.ratio),
        "near": ", ".join(near) or "none",
    }
