"""rank-imbalance: some ranks of a parallel program have more to compute than others, which wait.

Decided by the time that each rank spent outside of MPI, which the ranks count themselves: that of
the busiest against the mean. A rank that had to wait for its CPU looks busy as well.
"""

from __future__ import annotations

from benchbook.detect import Judged, Row, Seen, artefact, is_known
from benchbook.findings import Finding

LEAST_RATIO = 1.25
LEAST_BUSY = 0.05  # of the ranks' time: where they compute less, nothing can be gained
ARTEFACT = artefact("rank-imbalance")


def detect(seen: Seen) -> Judged:
    """One finding for all points whose busiest rank has as large a share of the work; abstains
    where ranks share CPUs, or did not count their time."""
    judged = Judged()
    uneven: dict[float, list[Row]] = {}
    judged_points = []
    for row in seen.rows():
        if not is_known(row.get("rank_count")) or row["rank_count"] < 2:
            continue
        judged_points.append(row["where"])
        if not (is_known(row.get("busiest_rank_ratio")) and is_known(row.get("busy_fraction"))):
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("not-counted")
        elif is_known(row.get("rank_cpus")) and row["rank_cpus"] < row["rank_count"]:
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("shared-cpus")
        elif row["busiest_rank_ratio"] >= LEAST_RATIO and row["busy_fraction"] >= LEAST_BUSY:
            uneven.setdefault(float(row["rank_count"]), []).append(row)
    judged.findings += [_finding(int(ranks), rows) for ranks, rows in sorted(uneven.items())]
    return judged.rest_is_clean(judged_points)


def _finding(ranks: int, rows: list[Row]) -> Finding:
    worst = max(rows, key=lambda row: float(row["busiest_rank_ratio"]))
    ratio, busy = float(worst["busiest_rank_ratio"]), float(worst["busy_fraction"])
    words = {
        "ranks": ranks,
        "ratio": ratio,
        "busy": busy,
        "gain": busy * (ratio - 1),
        "points": len(rows),
    }
    return ARTEFACT.finding([str(row["where"]) for row in rows], words)
