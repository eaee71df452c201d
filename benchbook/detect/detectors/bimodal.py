"""bimodal: the samples of one start fall into two or more groups, and one figure stands for none.

Decided by the shape of the samples inside the starts: a valley in their density with a
seventh of them or more on each side, and wider than the clock's own steps. Differences between
starts do not count.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from benchbook.core.number_format import duration, number, share
from benchbook.detect import Judged, Seen, artefact, first_unknown, is_known
from benchbook.detect.inputs.waits import Waits, waits
from benchbook.findings import Finding

NEEDED = ("modes", "mode_centres", "mode_shares", "shape_samples", "sample_ns")
LEAST_APART = 1.25  # slower groups ÷ faster: below, one figure serves them all
LEAST_SHARE = 0.15  # of the samples, on each side of a valley
LEAST_TICKS = 1.5  # between two groups
MOST = 0.6  # of the samples: the median lies well inside this group
LEAST_CHANGES = 0.5  # of those in random order
ARTEFACT = artefact("bimodal")


def detect(seen: Seen) -> Judged:
    """One finding for all points with groups a quarter apart.

    Abstains below 20 steady samples, where the groups may be who waited for a CPU and who not, and
    where they come in stretches: then the machine may have changed its speed.
    """
    judged = Judged()
    split = []
    for row in seen.rows():
        if first_unknown(row, NEEDED):
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("no-shape")
        elif row["modes"] > 1 and _told_apart(row):
            waited = waits(seen.starts_of(row["where"]), row)
            if waited is not None and _is_waiting(row, waited):
                judged.abstained[row["where"]] = ARTEFACT.cannot_tell("waited", waited=waited.share)
            elif is_known(row.get("mode_changes")) and row["mode_changes"] < LEAST_CHANGES:
                judged.abstained[row["where"]] = ARTEFACT.cannot_tell(
                    "in-stretches", changes=row["mode_changes"]
                )
            else:
                split.append(row)
    if split:
        judged.findings.append(_finding(split))
    return judged.rest_is_clean(row["where"] for row in seen.rows())


def _apart(row: dict[str, Any]) -> float:
    return float(row["mode_centres"][-1] / row["mode_centres"][0])


def _told_apart(row: dict[str, Any]) -> bool:
    """Whether some valley has many samples on each side, and is wider than the clock's steps."""
    step = row["clock_step_ns"] if is_known(row.get("clock_step_ns")) else 0.0
    centres, shares = row["mode_centres"], row["mode_shares"]
    for k, (low, high) in enumerate(pairwise(centres), 1):
        (faster, fast), (slower, slow) = (
            (sum(shares[part]), _mean(centres[part], shares[part]))
            for part in (slice(None, k), slice(k, None))
        )
        wide = (high - low) * row["sample_ns"] > LEAST_TICKS * step
        if wide and min(faster, slower) >= LEAST_SHARE and slow / fast >= LEAST_APART:
            return True
    return False


def _mean(centres: list[float], shares: list[float]) -> float:
    products = (centre * share for centre, share in zip(centres, shares, strict=True))
    return sum(products) / sum(shares)


def _is_waiting(row: dict[str, Any], waited: Waits) -> bool:
    """Whether each slower group may be samples that waited."""
    fastest, *slower = row["mode_centres"]
    return all(
        waited.explain((centre - fastest) * row["sample_ns"], part * row["shape_samples"])
        for centre, part in zip(slower, row["mode_shares"][1:], strict=True)
    )


def _finding(rows: list[dict[str, Any]]) -> Finding:
    row = max(rows, key=_apart)
    centres, shares = list(row["mode_centres"]), list(row["mode_shares"])
    timed = is_known(row.get("time_ns"))
    sizes = [
        f"about {duration(centre * row['time_ns'])}" if timed else f"{number(centre)} medians"
        for centre in centres
    ]
    words = {
        "shape_samples": row["shape_samples"],
        "modes": row["modes"],
        "centres": centres,
        "shares": shares,
        "groups": [f"{share(part)} take {size}" for part, size in zip(shares, sizes, strict=True)],
        "apart": _apart(row),
        "has_large": max(shares) > MOST,
    }
    return ARTEFACT.finding(rows, words)
