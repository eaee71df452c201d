"""oversubscribed-sum: rates of processes that take turns on the CPUs are added.

A process that waits for its CPU between two samples, or in a few of them, does not show it in its
typical sample; with more processes than CPUs the sum of such rates is more than the machine moves.
Decided by the number of processes against the CPUs given, and by the bytes moved in all the time
that the samples took, of all processes, against the sum.
"""

from __future__ import annotations

from benchbook.detect import Judged, Row, Seen, artefact, first_unknown, is_known
from benchbook.findings import Finding

LEAST_FACTOR = 1.1
BEYOND_TURNS = 1.2
TIMES = ("mean_ns", "median_ns")
ARTEFACT = artefact("oversubscribed-sum")


def detect(seen: Seen) -> Judged:
    """One finding per number of processes; abstains where the CPUs given, the overlap or the
    starts are unknown. Processes that were timed as one give no sum, and are not judged."""
    judged = Judged()
    crowded: dict[tuple[int, int], list[tuple[Row, float]]] = {}
    judged_points = []
    for row in seen.rows():
        if not is_known(row.get("processes")) or row["processes"] < 2:
            continue
        judged_points.append(row["where"])
        if is_known(row.get("start_skew_ns")):
            continue
        cpus = _cpus(seen, row)
        factor = _factor(seen, row)
        if cpus is None:
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("cpus-unknown")
        elif row["processes"] <= cpus:
            continue
        elif isinstance(factor, str):
            judged.abstained[row["where"]] = factor
        elif factor >= LEAST_FACTOR:
            crowded.setdefault((int(row["processes"]), cpus), []).append((row, factor))
    judged.findings += [_finding(seen, *key, rows) for key, rows in sorted(crowded.items())]
    return judged.rest_is_clean(judged_points)


def _cpus(seen: Seen, row: Row) -> int | None:
    starts = seen.starts_of(row["where"])
    if "cpus_given" in starts and starts["cpus_given"].notna().any():
        return int(starts["cpus_given"].max())
    cpus = seen.host.get("cpus")
    return len(cpus) if isinstance(cpus, list) else None


def _factor(seen: Seen, row: Row) -> float | str:
    """Sum of the typical rates ÷ bytes in the time of all samples; or why it is unknown.

    Samples follow each other without a gap, so their mean holds the turns of the others, which the
    median leaves out. Processes that overlap for a share o of the group's time have windows of
    (1 + o) / 2 of it, if those are equally long.
    """
    if missing := first_unknown(row, ("overlap_fraction",)):
        return ARTEFACT.cannot_tell("not-observed", what=missing)
    starts = seen.starts_of(row["where"])
    if not set(TIMES) <= set(starts.columns) or starts.empty:
        return ARTEFACT.cannot_tell("no-times")
    within = float((starts["mean_ns"] / starts["median_ns"]).median())
    return within * 2 / (1 + float(row["overlap_fraction"]))


def _finding(seen: Seen, processes: int, cpus: int, rows: list[tuple[Row, float]]) -> Finding:
    row, factor = min(rows, key=lambda pair: (pair[1], pair[0]["bytes_per_call"]))
    rate = row["bytes_per_call"] / row["time_ns"]
    starts = seen.starts_of(row["where"])
    turns, on_cpu = processes / cpus, None
    if {"on_cpu_ns", "wall_ns"} <= set(starts.columns):
        on_cpu = (starts["on_cpu_ns"] / starts["wall_ns"]).median() / processes
    words = {
        "processes": processes,
        "cpus": cpus,
        "rate": rate,
        "group_rate": rate / factor,
        "turns": turns if factor > BEYOND_TURNS * turns else None,
        "overlap_fraction": row["overlap_fraction"],
        "on_cpu": on_cpu,
    }
    return ARTEFACT.finding([point for point, _ in rows], words, factor=factor)
