"""heavy-tail: a few samples take far longer than the others, and carry much of the time.

Decided by the shape of the samples inside the starts: what lies far out, and what that does to the
mean. Time in which the program waited for a CPU is taken off first: that is no tail of the work.
"""

from __future__ import annotations

from typing import Any

from benchbook.detect import Judged, Seen, artefact, first_unknown
from benchbook.detect.inputs.waits import Waits, waits
from benchbook.findings import Finding

NEEDED = (
    "heavy_tail",
    "mean_over_median",
    "mean_over_median_but_worst",
    "p99_over_median",
    "tail_share",
    "tail_time_share",
    "tail_starts_share",
    "shape_samples",
)
LEAST_MEAN = 1.1  # mean ÷ median, without the worst start; clean runs reach 1.04. And ÷ the mean
# without the tail: a skewed body is none.
LEAST_WAIT = 0.01
LEAST_STARTS = 0.5  # of them have such samples: one burst of the machine is no tail
ARTEFACT = artefact("heavy-tail")


def detect(seen: Seen) -> Judged:
    """One finding for all points whose mean is a tenth or more above the median by what is far out.

    The worst start of a point does not count, so that one burst of the machine is no tail. Abstains
    below 20 steady samples, and where waiting for a CPU may be what is far out.
    """
    judged = Judged()
    tailed: list[tuple[dict[str, Any], Waits | None]] = []
    for row in seen.rows():
        if first_unknown(row, NEEDED):
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("no-shape")
        elif (
            row["heavy_tail"]
            and row["tail_starts_share"] >= LEAST_STARTS
            and _by_tail(row) >= LEAST_MEAN
        ):
            waited = waits(seen.starts_of(row["where"]), row)
            waiting = waited.share if waited else 0.0
            own = row["mean_over_median_but_worst"] * (1 - waiting)
            # The more was waited, the less is known of what is left.
            if own >= LEAST_MEAN + waiting:
                tailed.append((row, waited))
            elif own >= LEAST_MEAN:
                judged.abstained[row["where"]] = ARTEFACT.cannot_tell("waited", waited=waiting)
    if tailed:
        judged.findings.append(_finding(tailed))
    return judged.rest_is_clean(row["where"] for row in seen.rows())


def _by_tail(row: dict[str, Any]) -> float:
    """Mean ÷ mean of the samples that are not far out."""
    return float((1 - row["tail_share"]) / (1 - row["tail_time_share"]))


def _finding(points: list[tuple[dict[str, Any], Waits | None]]) -> Finding:
    row, waited = max(points, key=lambda pair: pair[0]["mean_over_median"])
    words = {
        **{name: row[name] for name in NEEDED},
        "is_waited_known": waited is not None,
        "never_waited": waited is not None and waited.share < LEAST_WAIT,
        "waited": waited is not None and waited.share >= LEAST_WAIT,
        "waited_share": waited.share if waited else None,
    }
    return ARTEFACT.finding([point for point, _ in points], words)
