"""Points: one variant at one setting of all factors, from the crosses of experiment.yaml."""

from __future__ import annotations

import itertools
import resource
from collections.abc import Collection
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

from benchbook import network
from benchbook.core.errors import BenchbookError
from benchbook.core.sizes import parse_bytes, parse_counts
from benchbook.host.memory import memory_total_bytes
from benchbook.host.topology import Topology, llc_bytes, pin, pin_order, sysconf_caches

NOT_IN_PRESET = "not in this preset"  # why a point that another preset measures has no number
_TWIN = "~"  # stands between the variant and the twin in an id
BOTH_ENDS = 2  # of a network, each with a CPU of its own
COUNTS = ("threads", "processes")  # factors that may be given in cores


@dataclass(frozen=True)
class Point:
    """One variant at one setting of all factors. `twin`: "", "again" or "relinked"."""

    variant: str
    factors: dict[str, Any]
    twin: str = ""

    @cached_property
    def id(self) -> str:
        """Readable and unique: `gcc-O2~again,bytes=33554432,method=copy,call=memcpy`."""
        name = f"{self.variant}{_TWIN}{self.twin}" if self.twin else self.variant
        return ",".join([name, *(f"{key}={value}" for key, value in self.factors.items())])

    @classmethod
    def of_id(cls, text: str) -> Point:
        """The point of an id: factors that are whole numbers as numbers, all others as text."""
        name, *parts = text.split(",")
        variant, _, twin = name.partition(_TWIN)
        pairs = (part.partition("=") for part in parts)
        values = {key: int(value) if value.isdigit() else value for key, _, value in pairs}
        return cls(variant, values, twin)

    @classmethod
    def of_record(cls, record: dict[str, Any]) -> Point:
        """The point of an entry of plan.json."""
        return cls(record["variant"], record["factors"], record.get("twin", ""))

    def record(self) -> dict[str, Any]:
        """Its entry in plan.json."""
        return {"id": self.id, **asdict(self)}

    @property
    def parties(self) -> int:
        """How many programs take part that wait for each other: its ranks or nodes, or the two ends
        of its network."""
        ends = BOTH_ENDS if "path" in self.factors else 1
        return max(ends, *(int(self.factors.get(name, 1)) for name in ("ranks", "nodes")))

    @property
    def untwinned(self) -> Point:
        """The point that a twin repeats."""
        return replace(self, twin="")

    def start(self, starts: list[str]) -> tuple[Any, ...]:
        """Points with the same key share one start of the program."""
        return (self.variant, self.twin, *(self.factors.get(name) for name in starts))

    def has_one_of(self, settings: list[dict[str, Any]]) -> bool:
        """Whether all factors that one of these settings names have a value of its."""
        return any(
            all(self.factors.get(name) in _as_list(value) for name, value in setting.items())
            for setting in settings
        )


def grouped(
    points: list[Point], starts: list[str], alone: Collection[str], parts: Collection[str] = ()
) -> list[list[Point]]:
    """Points that share a start of the program, in their order; those of the variants in `alone`
    (a peer measures one point in each) have a start to themselves. `parts`: which of the factors
    of `starts` may differ in one."""
    keys = [name for name in starts if name not in parts]
    groups: dict[tuple[Any, ...], list[Point]] = {}
    for point in points:
        key = (point.id,) if point.variant in alone else point.start(keys)
        groups.setdefault(key, []).append(point)
    return list(groups.values())


def workers(factors: dict[str, Any]) -> int:
    """How many processes, or threads, a point runs on."""
    return max(int(factors.get(name, 1)) for name in COUNTS)


def cpus_needed(point: Point, usable: int) -> int:
    """How many CPUs a point is measured on: its threads, ranks or nodes, its processes as far as
    CPUs go, or the ends of its network."""
    processes = min(int(point.factors.get("processes", 1)), usable)
    each_its_own = max(int(point.factors.get(name, 1)) for name in ("threads", "ranks", "nodes"))
    return max(each_its_own, processes, network.cpus(point.factors, usable))


def memory_needed(point: Point, buffers: int) -> int:
    """Bytes of all buffers of one start of this point."""
    return buffers * int(point.factors.get("bytes", 0)) * int(point.factors.get("processes", 1))


def host_sizes(topology: Topology) -> dict[str, int | None]:
    """What sizes and counts of a definition may refer to: caches in bytes, and usable cores.

    `LLC` is what one core sees, `stated LLC` the largest size of it that kernel or C library name,
    `total LLC` what all usable cores have together, `RAM` all memory in whole GiB.
    """
    everyone = pin_order(topology)
    known = caches(topology, pin(topology, 1))
    named = [size for size in (known["LLC"], asked_llc_bytes()) if size]
    return {
        **known,
        "stated LLC": max(named, default=None),
        "total LLC": llc_bytes(topology, everyone),
        "RAM": memory_total_bytes(),
        "cores": len({cpu.core for cpu in topology.cpus}),
    }


def caches(topology: Topology, cpus: list[int]) -> dict[str, int | None]:
    """L1d, L2 and LLC in bytes as one core sees them; None where unknown."""

    def level(number: int) -> int | None:
        sizes = [
            cache.bytes
            for cache in topology.caches
            if cache.level == number
            and cache.kind != "instruction"
            and cache.bytes
            and (not cache.shared_cpus or cpus[0] in cache.shared_cpus)
        ]
        return sizes[0] if sizes else None

    return {"L1d": level(1), "L2": level(2), "LLC": llc_bytes(topology, cpus)}


def asked_llc_bytes() -> int | None:
    """Bytes of the last-level cache as the C library says; None where it says none."""
    asked = [cache for cache in sysconf_caches() if cache.bytes and cache.kind != "instruction"]
    return max(asked, key=lambda cache: cache.level).bytes if asked else None


def stated_caches(topology: Topology, cpus: list[int]) -> dict[str, Any]:
    """What kernel and C library say of caches that these CPUs use and of pages, for detectors."""
    known = caches(topology, cpus)
    from_sysfs = any(cache.source == "sysfs" for cache in topology.caches)
    return {
        "llc_sysfs_bytes": known["LLC"] if from_sysfs else None,
        "llc_sysconf_bytes": asked_llc_bytes(),
        "smaller_caches_bytes": [size for size in (known["L1d"], known["L2"]) if size],
        "page_bytes": resource.getpagesize(),
    }


def expand(
    content: dict[str, Any], crosses: list[dict[str, Any]], sizes: dict[str, int | None]
) -> tuple[list[Point], list[dict[str, str]]]:
    """Points of a list of crosses, in order, each once; and those whose size is unknown here."""
    points: dict[str, Point] = {}
    skipped = []
    for cross in crosses:
        variants = _as_list(cross.get("variant", content["base"]))
        names = [name for name in content["factors"] if name in cross]
        unknown = sorted(set(cross) - set(content["factors"]) - {"variant"})
        unknown += [name for name in variants if name not in content["variants"]]
        if unknown:
            raise BenchbookError(
                f"point {cross!r} names {unknown[0]!r}, which is neither a factor "
                f"({', '.join(content['factors'])}) nor a variant "
                f"({', '.join(content['variants'])})"
            )
        values = [_values(name, cross[name], sizes) for name in names]
        for variant, *setting in itertools.product(variants, *values):
            factors = dict(zip(names, setting, strict=True))
            resolved = {
                name: parse_bytes(value, sizes)
                if content["factors"][name].get("unit") == "bytes"
                else value
                for name, value in factors.items()
            }
            unknown = [str(factors[name]) for name, value in resolved.items() if value is None]
            if unknown:
                skipped.append(
                    {
                        "id": Point(variant, factors).id,
                        "state": "cannot_run",
                        "reason": f"what {unknown[0]!r} is in bytes is unknown here",
                    }
                )
                continue
            point = Point(variant, resolved)
            points.setdefault(point.id, point)
    return list(points.values()), skipped


def resolve(content: dict[str, Any], setting: dict[str, Any], sizes: dict[str, Any]) -> str | None:
    """The id of the one point that a setting of paper.yaml names; None if unknown here."""
    points, _ = expand(content, [setting], sizes)
    return points[0].id if len(points) == 1 else None


def _values(name: str, value: Any, sizes: dict[str, int | None]) -> list[Any]:
    """The values of one factor in a cross, each once."""
    listed = _as_list(value)
    if name in COUNTS:
        listed = [count for value in listed for count in parse_counts(value, sizes["cores"] or 1)]
    return list(dict.fromkeys(listed))


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
