"""warm-up: the first samples of each start are not steady yet, and count all the same.

Decided by timing alone: a change point in the samples of each start, the first ones against the
rest. What is marked as warm-up beforehand is no part of it.
"""

from __future__ import annotations

from typing import Any

from benchbook.detect import Judged, Seen, artefact, first_unknown, is_known
from benchbook.detect.inputs.timed_work import columns
from benchbook.findings import Effect, Finding

NEEDED = (
    "unsteady_samples",
    "unsteady_starts_share",
    "warm_up_factor",
    "median_over_steady",
    "unsteady_over_steady",
)
LEAST_FACTOR = 1.25  # of the means; clean runs on small machines reach 1.11
LEAST_STARTS = 0.6  # of them show it: one burst at the start of one is none
LEAST_COUNT = 3  # starts that show it: in two of three the machine may have changed its speed
LEAST_LEVEL = 1.2  # of the medians: single delays make a mean, but no warm-up
LEAST_MEDIAN = 1.02  # from here on the median is no steady figure either
ARTEFACT = artefact("warm-up")


def detect(seen: Seen) -> Judged:
    """One finding per point whose median the warm-up moves, one for all whose mean only.

    Abstains below 10 samples a start, and where fewer than three starts show it.
    """
    judged = Judged()
    unmoved = []
    for row in seen.rows():
        if first_unknown(row, NEEDED):
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("too-few-samples")
        elif (
            row["unsteady_samples"] > 0
            and row["unsteady_starts_share"] >= LEAST_STARTS
            and _off(row["warm_up_factor"]) >= LEAST_FACTOR
            and _off(row["unsteady_over_steady"]) >= LEAST_LEVEL
        ):
            starts = len(seen.starts_of(row["where"])) or row.get("blocks") or 0
            if round(row["unsteady_starts_share"] * starts) < LEAST_COUNT:
                judged.abstained[row["where"]] = ARTEFACT.cannot_tell(
                    "too-few-starts", starts=starts
                )
            elif _off(row["median_over_steady"]) >= LEAST_MEDIAN:
                judged.findings.append(_finding([row], moved=True))
            else:
                unmoved.append(row)
    if unmoved:
        judged.findings.append(_finding(unmoved, moved=False))
    return judged.rest_is_clean(row["where"] for row in seen.rows())


def _off(factor: float) -> float:
    """A factor either way, as one above 1."""
    return max(factor, 1 / factor) if factor > 0 else float("inf")


def _finding(rows: list[dict[str, Any]], moved: bool) -> Finding:
    row = max(rows, key=lambda row: _off(row["warm_up_factor"]))
    is_counted = is_known(row.get("samples")) and is_known(row.get("blocks"))
    words = {
        **columns(row, "first_over_steady", *NEEDED),
        "samples": row["samples"] / row["blocks"] if is_counted else None,
        "is_plural": row["unsteady_samples"] > 1,
        "is_faster": row["first_over_steady"] < 1,
        "moved": moved,
    }
    effect: Effect = "biases" if moved else "informs"
    factor = 1 / row["median_over_steady"] if moved else None
    return ARTEFACT.finding(rows, words, effect=effect, factor=factor)
