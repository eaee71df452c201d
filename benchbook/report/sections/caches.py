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
    """The last fall of a sweep with one thread; working sets in bytes."""

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
        "sysfs": [cache for cache in facts.get("caches") or [] if cache["source"] == "sysfs"],
        "libc": facts.get("caches_sysconf")
        or [cache for cache in facts.get("caches") or [] if cache["source"] == "sysconf"],
        "hwloc": hwloc,
    }
    measured = falls(papers)
    levels = sorted({(cache["level"], cache["kind"]) for ones in stated.values() for cache in ones})
    rows = [_row(level, stated, measured) for level in levels]
    return {"rows": rows, "falls": [_fall(fall, levels, stated) for fall in measured]}


def falls(papers: list[dict[str, Any]]) -> list[Fall]:
    """The falls of all experiments' sweeps with one thread, each once."""
    each = {
        Fall(
            name,
            experiment["names"].get(curve["method"], curve["method"]),
            curve["variant"],
            experiment["buffers"] * curve["knee"]["low_bytes"],
            experiment["buffers"] * curve["knee"]["high_bytes"],
            curve["knee"]["ratio"],
        )
        for paper in papers
        for name, experiment in paper["experiments"].items()
        for curve in experiment["curves"]
        if curve["knee"] and experiment["buffers"] and curve["factors"].get("threads", 1) == 1
    }
    return sorted(each, key=lambda fall: (fall.experiment, fall.method, fall.variant, fall.low))


def _sizes(level: Level, ones: Iterable[Facts]) -> list[int]:
    return sorted({cache["bytes"] for cache in ones if _level(cache) == level and cache["bytes"]})


def _disagree(sizes: list[list[int]]) -> bool:
    """Two that say something have no size in common: of mixed cores libc tells one only."""
    return any(not set(a) & set(b) for a, b in combinations(filter(None, sizes), 2))


def _level(cache: Facts) -> Level:
    return cache["level"], cache["kind"]


def _all_sizes(level: Level, stated: dict[str, list[Facts]]) -> list[int]:
    return [size for ones in stated.values() for size in _sizes(level, ones)]


def _row(level: Level, stated: dict[str, list[Facts]], measured: list[Fall]) -> dict[str, Any]:
    first = next(cache for ones in stated.values() for cache in ones if _level(cache) == level)
    same = [cache for cache in stated["sysfs"] or stated["hwloc"] if _level(cache) == level]
    shared = {len(cache["shared_cpus"]) for cache in same if cache["shared_cpus"]}
    inside = [fall for fall in measured if _lies(fall, level, stated)]
    nearest = min(inside, key=lambda fall: fall.high / fall.low, default=None)
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
