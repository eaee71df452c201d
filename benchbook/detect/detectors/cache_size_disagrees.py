"""cache-size-disagrees: the kernel, the C library and the size sweep name different caches.

A rule like "four times the cache" applied to the wrong number measures the cache, or wastes
memory. The kernel's word (sysfs) comes first; the C library's and the sweep's knee check it.
"""

from __future__ import annotations

from typing import Any

from benchbook.core.sizes import format_bytes
from benchbook.detect import Judged, Seen, artefact, is_known
from benchbook.detect.inputs.timed_work import cores_of, number_of, rate_of
from benchbook.host.topology import cache_disagreement
from benchbook.stats import last_knee

ARTEFACT = artefact("cache-size-disagrees")
BY_KNEE = 0.9  # a confidence
NAMES = {
    "sysfs": "the kernel (sysfs)",
    "sysconf": "the C library (sysconf)",
    "knee": "the size sweep's knee",
}


def detect(seen: Seen) -> Judged:
    """One finding where two sources are over 2x apart; abstains where fewer than two speak."""
    judged, host = Judged(), seen.host
    sysfs, sysconf = host.get("llc_sysfs_bytes"), host.get("llc_sysconf_bytes")
    knee, where = _knee(seen.rows(), host)
    if sum(size is not None for size in (sysfs, sysconf, knee)) < 2:
        judged.abstained["host"] = ARTEFACT.cannot_tell("too-few-sources")
        return judged
    apart = cache_disagreement(sysfs, sysconf, knee)
    if not apart:
        return judged.rest_is_clean(["host"])
    named = {"sysfs": sysfs or None, "sysconf": sysconf or None, "knee": knee or None}
    sources = [f"{NAMES[name]} says {format_bytes(size)}" for name, size in named.items() if size]
    smaller, larger, factor = max(apart, key=lambda pair: (pair[2], "knee" not in pair))
    by_knee = "knee" in (smaller, larger)
    words = {
        **named,
        "sources": "; ".join(sources),
        "smaller": NAMES[smaller],
        "larger": NAMES[larger],
        "apart": factor,
    }
    confidence = BY_KNEE if by_knee else None
    judged.findings.append(ARTEFACT.finding(where if by_knee else [], words, confidence=confidence))
    return judged


def _knee(rows: list[dict[str, Any]], host: dict[str, Any]) -> tuple[int | None, list[str]]:
    """The bytes at which the sweeps fall for the last time, if that is no smaller cache's knee, and
    the points that show it: of several sweeps those that fall last.

    Inside its bracket the knee takes the kernel's word; outside, the bracket's nearer end.
    """
    sysfs = host.get("llc_sysfs_bytes")
    sweeps: dict[str, list[tuple[float, float, str]]] = {}
    for row in rows:
        size, rate = number_of(row, "working_set_bytes") or 0, rate_of(row)
        # Several cores may have a last-level cache each.
        if size > 0 and rate and is_known(row.get("series")) and cores_of(row) == 1:
            sweeps.setdefault(row["series"], []).append((size, rate, row["where"]))
    knees: dict[tuple[int, int], list[str]] = {}
    for sweep in sweeps.values():
        sizes, rates, where = zip(*sweep, strict=True)
        knee = last_knee(sizes, rates)
        if knee is None or _explains(knee.low, knee.high, host.get("smaller_caches_bytes", [])):
            continue
        knees.setdefault((int(knee.high), int(knee.low)), []).extend(where)
    if not knees:
        return None, []
    high, low = max(knees)
    inside = sysfs is not None and low <= sysfs <= high
    nearest = low if sysfs is None or sysfs < low else high
    return (sysfs if inside else nearest), sorted(knees[high, low])


def _explains(low: float, high: float, caches: list[int]) -> bool:
    return any(low <= 2 * size and size <= 2 * high for size in caches)
