"""unpinned: threads may leave their CPU, did leave it, or share one.

Decided by the affinity mask of the program and by the CPU on which each sample began; what the
wandering cost is told where the same binary was measured bound.
"""

from __future__ import annotations

from statistics import median

from benchbook.detect import Judged, Row, Seen, is_known
from benchbook.detect.inputs.timed_work import rate_of
from benchbook.findings import Artefact, Effect, Finding, proof

CERTAIN = 1.0
SLOWER = 0.95  # of the bound rate: what lies nearer is told, and no bias
ARTEFACT = Artefact(
    "unpinned",
    "Bind each thread to one CPU of its own (taskset, numactl, or OMP_PROC_BIND=true with "
    "OMP_PLACES), and measure again.",
)


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
    for kind, explain in (("moved", _moved), ("wide", _wide), ("shared", _shared)):
        if own := kinds[kind]:
            judged.findings.append(_finding(own, explain(own), _factor(own, kinds["bound"])))
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
    workers = _count(row, "threads") * _count(row, "processes")
    return {
        "where": row["where"],
        "setting": row.get("setting"),
        "build": (str(row.get("compiler")), str(row.get("flags_asked"))),
        "rate": rate_of(row),
        "workers": workers,
        "processes": _count(row, "processes"),
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
        return "neither its CPUs nor its moves were observed" if moves is None else "bound"
    if cpus > workers:
        return "wide"
    if cpus < workers:  # processes beyond the CPUs are another artefact
        return "shared" if row["processes"] == 1 else "bound"
    if cpus > 1 and moves is None:
        return "whether its threads kept their CPUs was not observed"
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


def _moved(rows: list[Row]) -> str:
    moves, starts = sum(row["moves"] for row in rows), sum(row["starts"] for row in rows)
    masks = [row["cpus"] for row in rows if row["cpus"]]
    often = f"{moves} time{'s' * (moves != 1)}" + (f" in {starts} starts" if starts else "")
    allowed = f"; {max(masks)} CPUs were open to it" if masks else ""
    return (
        f"Between two samples the program was found on another CPU {often}{allowed}. Each move "
        "leaves the data in the caches of the CPU that was left, so the figures spread and belong "
        "to no one place."
    )


def _wide(rows: list[Row]) -> str:
    row = max(rows, key=lambda row: (row["cpus"], row["workers"]))
    what = "thread" if row["workers"] == 1 else "threads"
    return (
        f"The program has {row['workers']} {what} and may run on {row['cpus']} CPUs, so the system "
        "is free to move it at any time. In this run it was not seen to move; the next one may be "
        "slower for it."
    )


def _shared(rows: list[Row]) -> str:
    row = max(rows, key=lambda row: (row["workers"] / row["cpus"], row["cpus"]))
    cpus = f"{row['cpus']} CPU{'s' * (row['cpus'] != 1)}"
    return (
        f"{row['workers']} threads run on {cpus}: some of them share one and wait for each other, "
        "so the figure is that of fewer threads than it names."
    )


def _finding(rows: list[Row], explanation: str, factor: float | None) -> Finding:
    effect: Effect = "informs"
    if factor is not None and factor < SLOWER:
        effect = "biases"
        explanation += f" The same binary, bound, runs {1 / factor:.2f} times as fast here."
    elif factor is not None:
        explanation += (
            f" The same binary, bound, runs at {1 / factor:.2f} times this rate, so it cost little."
        )
    evidence = [
        *(("migrations", row["moves"], "migrations", "sched_getcpu per sample") for row in rows),
        *(("CPUs allowed", row["cpus"], "CPUs", "affinity mask") for row in rows),
        *(("threads", row["workers"], "threads", "definition") for row in rows),
    ]
    return ARTEFACT.finding(
        effect=effect,
        factor=factor,
        where=sorted(row["where"] for row in rows),
        confidence=CERTAIN,
        evidence=[
            proof(*fact) for fact in sorted({fact for fact in evidence if fact[1] is not None})
        ],
        explanation=explanation,
    )
