"""cache-resident: what is measured fits in a cache, so the figure is one of that cache.

Decided by sizes alone: the bytes that a point works on against the last-level caches that its
cores can use. Between one and four times the cache, where STREAM's rule is not met yet, the same
work on larger arrays decides, if it was measured.
"""

from __future__ import annotations

from typing import Any

from benchbook.detect import Judged, Row, Seen, artefact, is_known
from benchbook.detect.inputs.caches import cache_in_use
from benchbook.detect.inputs.timed_work import (
    moves_no_bytes,
    number_of,
    rate_of,
    speed_up,
    strongest,
    working_set_bytes,
)
from benchbook.evidence.simulation.library import copies
from benchbook.findings import Finding

ARTEFACT = artefact("cache-resident")
RULE = 4  # times the last-level caches, for each array: what STREAM asks for
FLAT = 1.05


def detect(seen: Seen) -> Judged:
    """One finding for all points that fit (another where stores go past the caches), one for those
    of which a part may stay in cache.

    Abstains where the cache's size is unknown. A point without buffers has nothing that fits, nor
    has one that does nothing but store past the caches.
    """
    judged = Judged()
    inside: list[dict[str, Any]] = []
    between: list[dict[str, Any]] = []
    # What crosses a bus is bound by that, wherever it lies; host memory for a device is told apart.
    rows = [row for row in seen.rows() if not is_known(row.get("bytes_to_device"))]
    rows = [row for row in rows if not moves_no_bytes(row)]
    for row in rows:
        size, cache = working_set_bytes(row), cache_in_use(row, seen.host)
        if not size or _only_stores_past(row):
            continue
        if cache is None:
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("cache-unknown")
        elif size <= cache:
            inside.append(row)
        elif not _meets_rule(row, cache):
            between.append(row)
    for past, kind in ((False, "fits"), (True, "fits-but-stores-go-past")):
        if alike := [row for row in inside if _goes_past(row) == past]:
            factors = {
                row["where"]: factor
                for row in alike
                if (factor := _factor(row, rows, seen.host)) is not None
            }
            judged.findings.append(_finding(kind, alike, factors, seen.host))
    judged.findings += _part_fits(between, rows, seen.host)
    return judged.rest_is_clean(
        row["where"] for row in rows if working_set_bytes(row) and not _only_stores_past(row)
    )


def _goes_past(row: Row) -> bool:
    """Whether it stores past the caches."""
    return is_known(row.get("non_temporal_stores")) and len(row["non_temporal_stores"]) > 0


def _only_stores_past(row: Row) -> bool:
    """Whether nothing that it does can come from a cache."""
    calls = row.get("library_calls")
    calls_copy = not is_known(calls) or copies(calls)
    return _goes_past(row) and number_of(row, "loads_in_loop") == 0 and not calls_copy


def _meets_rule(row: Row, cache: float) -> bool:
    """Whether each array is as large as STREAM's rule asks for; what has no array meets none."""
    array = number_of(row, "bytes")
    return array is not None and array * (number_of(row, "processes") or 1) >= RULE * cache


def _beyond(row: Row, rows: list[dict[str, Any]], host: dict[str, Any]) -> list[Row]:
    """The same work on arrays that meet the rule; of several the largest."""
    cache = cache_in_use(row, host)
    same = [peer for peer in rows if peer.get("series") == row.get("series")]
    beyond = [peer for peer in same if cache is not None and _meets_rule(peer, cache)]
    return sorted(beyond, key=lambda peer: number_of(peer, "bytes") or 0)[-1:]


def _factor(row: Row, rows: list[dict[str, Any]], host: dict[str, Any]) -> float | None:
    """Rate per byte ÷ that of the same work beyond the caches."""
    larger = [
        {"time_ns": row["bytes_per_call"] / rate}
        for larger_row in _beyond(row, rows, host)
        if (rate := rate_of(larger_row)) and number_of(row, "bytes_per_call")
    ]
    return speed_up(row, larger)


def _finding(
    kind: str, rows: list[dict[str, Any]], factors: dict[str, float], host: dict[str, Any]
) -> Finding:
    sizes = [int(working_set_bytes(row) or 0) for row in rows]
    caches = [cache_in_use(row, host) or 0 for row in rows]
    words = {
        "sizes": sizes,
        "caches": caches,
        "smallest_working_set_bytes": min(sizes),
        "largest_working_set_bytes": max(sizes),
        "cache_in_use_bytes": int(max(caches)),
        "rule": RULE,
        "needed": RULE * max(caches),
        "faster": list(factors.values()),
        "most_cached": max(cache / max(size, 1) for size, cache in zip(sizes, caches, strict=True)),
    }
    return ARTEFACT.finding(rows, words, kind, factor=strongest(factors.values()), factors=factors)


def _part_fits(
    between: list[dict[str, Any]], rows: list[dict[str, Any]], host: dict[str, Any]
) -> list[Finding]:
    """At most one finding that is compared with larger arrays, and one by the rule alone."""
    faster: dict[str, float] = {}
    unknown = []
    for row in between:
        factor = _factor(row, rows, host)
        if factor is None:
            unknown.append(row)
        elif factor > FLAT and _apart(row, _beyond(row, rows, host)[0]):
            faster[row["where"]] = factor
    findings = [_finding("by-rule", unknown, {}, host)] if unknown else []
    if faster:
        compared = [row for row in between if row["where"] in faster]
        findings.append(_finding("compared", compared, faster, host))
    return findings


def _apart(row: Row, larger: Row) -> bool:
    """Whether the intervals of the times per byte do not overlap, as far as there are any."""
    high, low = number_of(row, "time_high_ns"), number_of(larger, "time_low_ns")
    if high is None or low is None:
        return True
    return high / row["bytes_per_call"] < low / larger["bytes_per_call"]
