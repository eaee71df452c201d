"""unpinned: threads may leave their CPU, did leave it, or share one.

Decided by the affinity mask of the program and by the CPU on which each sample began; what the
wandering cost is told where the same binary was measured bound.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from statistics import median

from benchbook.detect import Judged, Row, Seen, artefact, is_known
from benchbook.detect.inputs.timed_work import rate_of
from benchbook.findings import Effect, Finding

SLOWER = 0.95  # of the bound rate: what lies nearer is told, and no bias
ARTEFACT = artefact("unpinned")


def detect(seen: Seen) -> Judged:
    """One finding for the points that moved, one for those that could have, one for those whose
    threads share a CPU; abstains where neither mask nor moves were observed. Threads that wait for
    a device are no matter of CPUs."""
    judged = Judged()
    kinds: dict[str, list[Row]] = {"moved": [], "wide": [], "shared": [], "bound": []}
    rows = [row for row in seen.rows() if not is_known(row.get("bytes_to_device"))]
    for row in (_observed(seen, row) for row in rows):
        kind = _kind(row)
        if kind in kinds:
            kinds[kind].append(row)
        else:
            judged.abstained[row["where"]] = kind
    for kind in ("moved", "wide", "shared"):
        if own := kinds[kind]:
            judged.findings.append(_finding(kind, own, _factor(own, kinds["bound"])))
    return judged.rest_is_clean(row["where"] for row in rows)


def _observed(seen: Seen, row: Row) -> Row:
    """The row with what its starts tell: how often it moved in all of them, and its CPUs."""
    starts = seen.starts_of(row["where"])
    moves, cpus_given = row.get("migrations"), None
    if "migrations" in starts and starts["migrations"].notna().any():
        moves = starts["migrations"].sum()
    if "cpus_given" in starts and starts["cpus_given"].notna().any():
        cpus_given = int(starts["cpus_given"].max())
    mask = row.get("affinity_cpus")
    # Ranks of MPI, and nodes that share memory, are processes as well.
    kinds = ("processes", "rank_count", "node_count")
    processes = prod(_count(row, name) for name in kinds)
    return {
        "where": row["where"],
        "setting": row.get("setting"),
        "build": (str(row.get("compiler")), str(row.get("flags_asked"))),
        "rate": rate_of(row),
        "workers": _count(row, "threads") * processes,
        "processes": processes,
        "moves": int(moves) if is_known(moves) else None,
        "cpus": int(mask) if is_known(mask) else cpus_given,
        "starts": len(starts),
    }


def _count(row: Row, name: str) -> int:
    return int(row[name]) if is_known(row.get(name)) else 1


def _kind(row: Row) -> str:
    """moved, wide, shared or bound; else why that cannot be told."""
    moves, cpus, workers = row["moves"], row["cpus"], row["workers"]
    if moves:
        return "moved"
    if cpus is None:
        return ARTEFACT.cannot_tell("nothing-observed") if moves is None else "bound"
    if cpus > workers:
        return "wide"
    if cpus < workers:  # processes beyond the CPUs are another artefact
        return "shared" if row["processes"] == 1 else "bound"
    if cpus > 1 and moves is None:
        return ARTEFACT.cannot_tell("moves-unknown")
    return "bound"


def _factor(rows: list[Row], bound: list[Row]) -> float | None:
    """Rate ÷ that of the same binary at the same setting, bound: the median over points."""
    ratios = [
        row["rate"] / twin["rate"]
        for row in rows
        for twin in bound
        if row["rate"]
        and twin["rate"]
        and (row["setting"], row["build"]) == (twin["setting"], twin["build"])
    ]
    return float(median(ratios)) if ratios else None


def _finding(kind: str, rows: list[Row], factor: float | None) -> Finding:
    most = max(rows, key=_most_at(kind))
    slower = factor is not None and factor < SLOWER
    words = {
        "moves": sum(row["moves"] or 0 for row in rows),
        "starts": sum(row["starts"] for row in rows) or None,
        "most_cpus": max((row["cpus"] for row in rows if row["cpus"]), default=None),
        "workers": most["workers"],
        "cpus": most["cpus"],
        "slower": slower,
        "faster": None if factor is None else 1 / factor,
        "allowed": _distinct(rows, "cpus"),
        "migrations": _distinct(rows, "moves"),
        "threads": _distinct(rows, "workers"),
    }
    effect: Effect = "biases" if slower else "informs"
    return ARTEFACT.finding(rows, words, kind, effect=effect, factor=factor)


def _most_at(kind: str) -> Callable[[Row], tuple[float, ...]]:
    """By what the point is chosen that a finding of that kind describes."""
    if kind == "shared":
        return lambda row: (row["workers"] / row["cpus"], row["cpus"])
    return lambda row: (row["cpus"] or 0, row["workers"])


def _distinct(rows: list[Row], name: str) -> list[int]:
    return sorted({row[name] for row in rows if row[name] is not None})
