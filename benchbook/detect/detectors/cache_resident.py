"""cache-resident: what is measured fits in a cache, so the figure is one of that cache.

Decided by sizes alone: the bytes that a point works on against the last-level caches that its
cores can use. Between one and four times the cache, where STREAM's rule is not met yet, the same
work on larger arrays decides, if it was measured.
"""

from __future__ import annotations

from typing import Any

from benchbook.core.number_format import share
from benchbook.core.sizes import format_bytes
from benchbook.detect import Judged, Row, Seen, is_known
from benchbook.detect.inputs.caches import cache_in_use
from benchbook.detect.inputs.timed_work import (
    moves_no_bytes,
    number_of,
    rate_of,
    span,
    speed_up,
    strongest,
    times,
    working_set_bytes,
)
from benchbook.evidence.simulation.library import copies
from benchbook.findings import Artefact, Finding, proof

ARTEFACT = Artefact(
    "cache-resident",
    is_about_host=True,
)
# Whether a size fits is a matter of this host's caches: buffers of any control may.
RULE = 4  # times the last-level caches, for each array: what STREAM asks for
FLAT = 1.05
CERTAIN, COMPARED, BY_RULE = 1.0, 0.9, 0.6


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
            judged.abstained[row["where"]] = "the size of the last-level cache is unknown"
        elif size <= cache:
            inside.append(row)
        elif not _meets_rule(row, cache):
            between.append(row)
    for past in (False, True):
        if alike := [row for row in inside if _goes_past(row) == past]:
            judged.findings.append(_fits(alike, rows, seen.host))
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


def _fits(
    inside: list[dict[str, Any]], rows: list[dict[str, Any]], host: dict[str, Any]
) -> Finding:
    caches = [cache_in_use(row, host) or 0 for row in inside]
    then = "after the first pass they come from cache, and the figure is one of a cache"
    if _goes_past(inside[0]):
        then = "the stores go past it, but what is read comes from cache after the first pass"
    text = (
        f"The {_sizes(inside)} that are worked on fit in the last-level cache of "
        f"{span(caches, _bytes)}: {then}, not {'from' if _goes_past(inside[0]) else 'of'} memory."
    )
    factors = {
        row["where"]: factor for row in inside if (factor := _factor(row, rows, host)) is not None
    }
    if factors:
        text += (
            f" In arrays of at least {RULE} times the cache the same work takes "
            f"{span(factors.values(), times)} times as long per byte on this machine."
        )
    return ARTEFACT.finding(
        effect="biases",
        factor=strongest(factors.values()),
        factors=factors,
        where=sorted(row["where"] for row in inside),
        confidence=CERTAIN,
        evidence=_evidence(inside, host),
        explanation=text,
        remedy=_remedy(caches),
    )


def _part_fits(
    between: list[dict[str, Any]], rows: list[dict[str, Any]], host: dict[str, Any]
) -> list[Finding]:
    """At most one finding that is compared with larger arrays, and one by the rule alone."""
    faster, unknown = [], []
    for row in between:
        larger = _beyond(row, rows, host)
        factor = _factor(row, rows, host)
        if factor is None:
            unknown.append(row)
        elif factor > FLAT and _apart(row, larger[0]):
            faster.append((row, factor))
    findings = []
    if unknown:
        findings.append(_by_rule(unknown, host))
    if faster:
        findings.append(_compared(faster, host))
    return findings


def _apart(row: Row, larger: Row) -> bool:
    """Whether the intervals of the times per byte do not overlap, as far as there are any."""
    high, low = number_of(row, "time_high_ns"), number_of(larger, "time_low_ns")
    if high is None or low is None:
        return True
    return high / row["bytes_per_call"] < low / larger["bytes_per_call"]


def _by_rule(rows: list[dict[str, Any]], host: dict[str, Any]) -> Finding:
    caches = [cache_in_use(row, host) or 0 for row in rows]
    shares = [
        cache / (working_set_bytes(row) or 1) for row, cache in zip(rows, caches, strict=True)
    ]
    return ARTEFACT.finding(
        effect="informs",
        where=sorted(row["where"] for row in rows),
        confidence=BY_RULE,
        evidence=_evidence(rows, host),
        explanation=(
            f"The {_sizes(rows)} that are worked on are more than the last-level cache of "
            f"{span(caches, _bytes)} holds, but the arrays are smaller than {RULE} times the "
            f"cache, which is STREAM's rule: up to {share(max(shares))} of the data may come from "
            "cache. How much does was not measured: no larger arrays stand beside them."
        ),
        remedy=_remedy(caches),
    )


def _compared(faster: list[tuple[dict[str, Any], float]], host: dict[str, Any]) -> Finding:
    rows = [row for row, _ in faster]
    factors = {row["where"]: factor for row, factor in faster}
    caches = [cache_in_use(row, host) or 0 for row in rows]
    return ARTEFACT.finding(
        effect="biases",
        factor=strongest(factors.values()),
        factors=factors,
        where=sorted(row["where"] for row in rows),
        confidence=COMPARED,
        evidence=_evidence(rows, host),
        explanation=(
            f"The {_sizes(rows)} that are worked on are more than the last-level cache of "
            f"{span(caches, _bytes)} holds, but a part of them stays there: the rate is "
            f"{span(factors.values(), times)} times that of the same work in arrays of at least "
            f"{RULE} times the cache."
        ),
        remedy=_remedy(caches),
    )


def _remedy(caches: list[float]) -> str:
    return (
        f"For a figure of memory make each array at least {RULE} times as large as the last-level "
        f"caches in use ({_bytes(RULE * max(caches))} here) and see that the sweep over sizes is "
        "flat at its end; otherwise call it the figure of a cache."
    )


def _evidence(rows: list[dict[str, Any]], host: dict[str, Any]) -> list[dict[str, Any]]:
    sizes = [working_set_bytes(row) or 0 for row in rows]
    caches = [cache_in_use(row, host) or 0 for row in rows]
    values = {
        "smallest_working_set_bytes": min(sizes),
        "largest_working_set_bytes": max(sizes),
        "cache_in_use_bytes": max(caches),
    }
    sources = {"cache_in_use_bytes": "host"}
    return [
        proof(name, int(value), "bytes", sources.get(name, "harness"))
        for name, value in values.items()
    ]


def _sizes(rows: list[dict[str, Any]]) -> str:
    return span([working_set_bytes(row) or 0 for row in rows], _bytes)


def _bytes(count: float) -> str:
    return format_bytes(int(count))
