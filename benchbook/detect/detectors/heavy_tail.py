"""heavy-tail: a few samples take far longer than the others, and carry much of the time.

Decided by the shape of the samples inside the starts: what lies far out, and what that does to the
mean. Time in which the program waited for a CPU is taken off first: that is no tail of the work.
"""

from __future__ import annotations

from typing import Any

from benchbook.core.number_format import count, number, share
from benchbook.detect import Judged, Seen, first_unknown
from benchbook.detect.inputs.waits import Waits, waits
from benchbook.findings import Artefact, Finding, proof

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
SURE = 0.9
ARTEFACT = Artefact(
    "heavy-tail",
    "Give the median and the 99th percentile instead of mean and standard deviation, show the "
    "samples, and look for what delays the few: the program (growing, flushing, collecting) or "
    "the machine.",
    needs_quiet=True,
    is_timing_only=True,
)


def detect(seen: Seen) -> Judged:
    """One finding for all points whose mean is a tenth or more above the median by what is far out.

    The worst start of a point does not count, so that one burst of the machine is no tail. Abstains
    below 20 steady samples, and where waiting for a CPU may be what is far out.
    """
    judged = Judged()
    tailed: list[tuple[dict[str, Any], Waits | None]] = []
    for row in seen.rows():
        if first_unknown(row, NEEDED):
            judged.abstained[row["where"]] = (
                "fewer than 20 steady samples, or times that are not above zero, have no shape"
            )
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
                judged.abstained[row["where"]] = (
                    f"its starts waited for a CPU for {share(waiting)} of their time, and that may "
                    "be all that is far out"
                )
    if tailed:
        judged.findings.append(_finding(tailed))
    return judged.rest_is_clean(row["where"] for row in seen.rows())


def _by_tail(row: dict[str, Any]) -> float:
    """Mean ÷ mean of the samples that are not far out."""
    return float((1 - row["tail_share"]) / (1 - row["tail_time_share"]))


def _finding(points: list[tuple[dict[str, Any], Waits | None]]) -> Finding:
    row, waited = max(points, key=lambda pair: pair[0]["mean_over_median"])
    where = sorted(point["where"] for point, _ in points)
    begin = "" if len(points) == 1 else f"At {count(len(points))} points, most of all where "
    text = (
        f"{begin}{share(row['tail_share'])} of {count(row['shape_samples'])} samples lie far above "
        f"the others and take {share(row['tail_time_share'])} of the time: the mean is "
        f"{number(row['mean_over_median'])} times the median, the 99th percentile "
        f"{number(row['p99_over_median'])} times. "
        "A mean with a standard deviation hides that, and changes with the luck of each run. "
        f"It shows in {share(row['tail_starts_share'])} of the starts"
    )
    if waited is None:
        text += "; whether the program or the machine does it, these samples cannot tell."
    elif waited.share < LEAST_WAIT:
        text += ", which did not wait for a CPU."
    else:
        text += (
            f", which waited for a CPU for {share(waited.share)} of their time: that explains no "
            "more than a part of it."
        )
    evidence = [proof(name, row[name], "1", "samples") for name in NEEDED[1:-1]]
    evidence.append(proof("shape_samples", row["shape_samples"], "samples", "samples"))
    if waited is not None:
        evidence.append(proof("waited_share", waited.share, "1", "process times"))
    return ARTEFACT.finding(
        effect="informs",
        where=where,
        confidence=SURE,
        evidence=evidence,
        explanation=text,
    )
