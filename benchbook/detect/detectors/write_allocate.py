"""write-allocate: ordinary stores make the processor read each line before they write to it.

Decided by the bytes that memory moves for a call, counted or simulated, against those that the work
needs. A twin with stores that go past the caches confirms it by time.
"""

from __future__ import annotations

from dataclasses import dataclass

from benchbook.detect import Judged, Row, Seen, artefact, is_known
from benchbook.detect.inputs.caches import is_beyond_caches
from benchbook.detect.inputs.comparisons import ratios
from benchbook.detect.inputs.timed_work import are_same
from benchbook.findings import Finding, proof

READ, WRITTEN, LINES = "bytes_read_from_memory", "bytes_written_to_memory", "lines_written"
SIMULATED = (READ, WRITTEN, LINES)
LEAST = 1.15  # bytes moved ÷ bytes needed
ABOUT = (0.5, 1.5)  # times the bytes written, that were read beyond the need
# Do two points the same work by other instructions?
WORK = ("bytes", "threads", "processes", "block_bytes", "bytes_per_call", "buffers_bytes")
ARTEFACT = artefact("write-allocate")


@dataclass(frozen=True)
class Traffic:
    """Of one call: bytes moved ÷ bytes that it needs, and who says so; without: why not."""

    factor: float | None
    declared: float = 0.0  # bytes moved ÷ bytes declared
    state: str = "absent"
    source: str = ""
    reason: str = "its traffic was neither counted nor simulated"


def detect(seen: Seen) -> Judged:
    """One finding for all points beyond the caches whose traffic exceeds their need as much.

    Abstains where a point stores and its traffic is unknown. A simulation's word on one size holds
    for all sizes of the same work beyond the caches.
    """
    judged = Judged()
    rows = [row for row in seen.rows() if is_known(row.get("rate_bytes_per_s"))]
    traffic_of = {row["where"]: _traffic(row, seen) for row in rows}
    groups: dict[tuple[str, str], list[tuple[Row, Traffic]]] = {}
    beyond = [row for row in rows if is_beyond_caches(row, seen.host)]
    simulated = [row for row in beyond if traffic_of[row["where"]].state == "simulated"]
    simulated.sort(key=lambda row: (row["bytes_per_call"], row["rate_bytes_per_s"]))
    by_series = {row["series"]: traffic_of[row["where"]] for row in simulated}
    for row in beyond:
        if not _may_store(row):
            continue
        traffic = traffic_of[row["where"]]
        if traffic.factor is None and not _calls(row):
            traffic = by_series.get(row["series"], traffic)
        if traffic.factor is None:
            judged.abstained[row["where"]] = traffic.reason
        elif traffic.factor >= LEAST:
            groups.setdefault((f"{traffic.factor:.2f}", traffic.state), []).append((row, traffic))
    judged.findings += [_finding(seen, rows, groups[key]) for key in sorted(groups)]
    return judged.rest_is_clean(row["where"] for row in beyond)


def _may_store(row: Row) -> bool:
    """False where it surely does not, or stores past the caches."""
    if is_known(row.get("non_temporal_stores")) and row["non_temporal_stores"]:
        return False
    if _calls(row) or not is_known(row.get("stores_in_loop")):
        return True
    return row["stores_in_loop"] > 0


def _calls(row: Row) -> list[str]:
    calls = row.get("library_calls")
    return [call for call in calls if "mem" in call] if isinstance(calls, list) else []


def _traffic(row: Row, seen: Seen) -> Traffic:
    """Counted at the point itself, else simulated."""
    needed = row.get("buffers_bytes")
    if is_known(row.get(READ)) and is_known(row.get(WRITTEN)) and is_known(needed):
        moved, declared = row[READ] + row[WRITTEN], row["bytes_per_call"]
        # What reads and writes in one place moves its buffer twice.
        needed = max(needed, declared)
        beyond = row[READ] - (needed - row[WRITTEN])
        low, high = (bound * row[WRITTEN] for bound in ABOUT)
        if moved >= LEAST * needed and not low <= beyond <= high:
            return Traffic(None, reason="the additional reads from memory do not equal the writes")
        return Traffic(moved / needed, moved / declared, "ok", "counters", "")
    own = [evidence for evidence in seen.evidence if evidence.get("where") == row["where"]]
    values = {simulated["name"]: simulated for simulated in own if simulated["name"] in SIMULATED}
    absent = [values[name] for name in values if values[name].get("value") is None]
    if absent or len(values) < len(SIMULATED):
        reasons = [simulated["reason"] for simulated in absent if simulated.get("reason")]
        return Traffic(None, reason=next(iter(reasons), Traffic.reason))
    moved = values[READ]["value"] + values[WRITTEN]["value"]
    read_first = values[LINES]["value"] * values[LINES]["line_bytes"]
    if moved <= read_first:
        return Traffic(None)
    declared = values[READ].get("declared_bytes") or 0
    return Traffic(
        moved / (moved - read_first),
        moved / declared if declared else 0.0,
        values[READ]["state"],
        values[READ]["source"],
        "",
    )


def _finding(seen: Seen, rows: list[Row], pairs: list[tuple[Row, Traffic]]) -> Finding:
    fastest, traffic = max(pairs, key=lambda pair: pair[0]["rate_bytes_per_s"])
    factor = traffic.factor or 1.0
    rate = fastest["rate_bytes_per_s"]
    twins = [(row, twin) for row, _ in pairs for twin in _past_caches(row, rows)]
    over_twins = ratios(seen, twins)
    longer = sorted(ratio.estimate for ratio in over_twins)
    words = {
        "traffic": factor,
        "rate": rate,
        "memory_rate": rate * traffic.declared,
        "part": 1 / longer[-1] if longer else None,
    }
    kind = "counted"
    if traffic.state == "simulated":  # it does not know what this processor does; a twin may tell
        is_slower = any(ratio.low > 1 for ratio in over_twins)
        kind = "simulated-and-confirmed" if is_slower else "simulated"
    by = (traffic.source, traffic.state)
    evidence = [
        proof("bytes moved ÷ bytes needed", factor, "1", *by),
        proof("bytes moved ÷ bytes declared", traffic.declared, "1", *by),
        *(
            proof("time ÷ time with non-temporal stores", ratio, "1", "paired blocks")
            for ratio in longer
        ),
    ]
    where = [row for row, _ in pairs]
    return ARTEFACT.finding(where, words, kind, evidence=evidence, factor=1 / factor)


def _past_caches(row: Row, rows: list[Row]) -> list[Row]:
    """Points that do the same work with stores past the caches."""
    return [
        twin
        for twin in rows
        if is_known(twin.get("non_temporal_stores"))
        and twin["non_temporal_stores"]
        and all(are_same(row.get(name), twin.get(name)) for name in WORK)
    ]
