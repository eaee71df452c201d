"""power-of-two-stride: addresses a power of two apart share a few sets of the cache.

Which sets a stride reaches follows from the cache's size and ways (exact); where those hold fewer
lines than are touched, they throw each other out though the rest of the cache is empty. A stride
close by that reaches all sets tells what it costs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from benchbook.core.sizes import format_bytes
from benchbook.detect import Judged, Row, Seen, artefact, first_unknown, is_known
from benchbook.detect.inputs.timed_work import rate_of
from benchbook.findings import Finding

NEEDED = ("stride_bytes", "lines_touched", "bytes_per_call", "time_ns")
CLOSE = 0.1  # strides that differ by less are compared
LEAST_FACTOR = 1.1
ALIKE = ("bytes", "threads", "processes", "compiler", "flags_asked", "environment")
ARTEFACT = artefact("power-of-two-stride")


@dataclass(frozen=True)
class _Cache:
    """The first data cache. way_bytes: addresses so far apart share a set."""

    way_bytes: int
    ways: int
    line_bytes: int

    def sets(self, stride: float) -> int:
        """How many sets a walk with this stride reaches."""
        step = max(math.gcd(int(stride), self.way_bytes), self.line_bytes)
        return self.way_bytes // step

    def collides(self, stride: float, lines: float) -> bool:
        """Whether so many lines find no room there, though the cache has room for more."""
        room = self.sets(stride) * self.ways
        return room < min(lines, self.sets(self.line_bytes) * self.ways)


def detect(seen: Seen) -> Judged:
    """One finding per stride that collides and is slower for it; abstains where nothing tells the
    lines touched, the cache, or what a stride close by takes."""
    judged = Judged()
    walks = [row for row in seen.rows() if is_known(row.get("stride_bytes"))]
    cache = _first_cache(seen.host.get("caches") or [])
    slower: dict[int, list[tuple[Row, Row]]] = {}
    for row in walks:
        if missing := first_unknown(row, NEEDED):
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("not-observed", what=missing)
        elif not rate_of(row):
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("time-unknown")
        elif cache is None:
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("cache-unknown")
        elif not cache.collides(row["stride_bytes"], row["lines_touched"]):
            continue
        elif (twin := _twin(row, walks, cache)) is None:
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("no-stride-close-by")
        elif (rate_of(twin) or 0) > LEAST_FACTOR * (rate_of(row) or math.inf):
            slower.setdefault(int(row["stride_bytes"]), []).append((row, twin))
    if cache is not None:
        judged.findings += [_finding(pairs, cache) for _, pairs in sorted(slower.items())]
    return judged.rest_is_clean(row["where"] for row in walks)


def _first_cache(caches: list[dict[str, Any]]) -> _Cache | None:
    for level in sorted(caches, key=lambda cache: cache["level"]):
        ways, line, size = level.get("ways"), level.get("line_bytes"), level.get("bytes")
        if level.get("kind") != "instruction":
            return _Cache(size // ways, ways, line) if ways and line and size else None
    return None


def _twin(row: Row, walks: list[Row], cache: _Cache) -> Row | None:
    """The fastest walk over the same memory with a stride close by that does not collide."""
    twins = [
        twin
        for twin in walks
        if first_unknown(twin, NEEDED) is None
        and rate_of(twin)
        and abs(twin["stride_bytes"] / row["stride_bytes"] - 1) < CLOSE
        and not cache.collides(twin["stride_bytes"], twin["lines_touched"])
        and all(str(twin.get(name)) == str(row.get(name)) for name in ALIKE)
    ]
    return max(twins, key=lambda twin: rate_of(twin) or 0, default=None)


def _factor(row: Row, twin: Row) -> float:
    """Rate ÷ rate; both are known."""
    return (rate_of(row) or math.nan) / (rate_of(twin) or math.nan)


def _finding(pairs: list[tuple[Row, Row]], cache: _Cache) -> Finding:
    factor, row, twin = min(
        ((_factor(*pair), *pair) for pair in pairs), key=lambda candidate: candidate[0]
    )
    stride, other_stride = int(row["stride_bytes"]), int(twin["stride_bytes"])
    words = {
        "stride_bytes": stride,
        "stride_exact": _exact(stride),
        "lines_touched": int(row["lines_touched"]),
        "sets": cache.sets(stride),
        "all_sets": cache.sets(cache.line_bytes),
        "room": cache.sets(stride) * cache.ways,
        "other_stride": other_stride,
        "other_exact": _exact(other_stride),
        "faster": 1 / factor,
    }
    return ARTEFACT.finding([point for point, _ in pairs], words, factor=factor)


def _exact(count: int) -> str:
    """In bytes where a larger unit would round it."""
    return format_bytes(count) if count % 1024 == 0 else f"{count} B"
