"""resend-in-mean: lost frames that were sent again after a time-out hide in a mean of round trips.

Decided by the frames that the ends sent again, less those that had arrived before: these were late,
not lost, as on a busy machine. A round trip that waits for a time-out takes a thousand times as
long as the others, so that a few of them make the mean. The median shows none of it.
"""

from __future__ import annotations

import statistics

from benchbook.detect import Judged, Row, Seen, artefact, is_known
from benchbook.detect.inputs.timed_work import columns, number_of, strongest
from benchbook.findings import Finding

RESENT, REPEATED, TRIPS = "frames_resent", "frames_repeated", "round_trips"
LEAST = 1.1  # mean ÷ median, from which on the mean says something else
ARTEFACT = artefact("resend-in-mean")


def detect(seen: Seen) -> Judged:
    """One finding for all points whose mean is made by time-outs; abstains where frames were lost
    and no start has a mean."""
    judged = Judged()
    rows = [row for row in seen.rows() if _lost(row) is not None and number_of(row, TRIPS)]
    hidden: dict[str, float] = {}
    for row in rows:
        if not _lost(row):
            continue
        ratio = _mean_to_median(seen, row["where"])
        if ratio is None:
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("not-summarised")
        elif ratio >= LEAST:
            hidden[row["where"]] = ratio
    if hidden:
        judged.findings.append(_finding([row for row in rows if row["where"] in hidden], hidden))
    return judged.rest_is_clean(row["where"] for row in rows)


def _lost(row: Row) -> float | None:
    """Frames in a start that never arrived; None where they were not counted."""
    resent, repeated = number_of(row, RESENT), number_of(row, REPEATED)
    return None if resent is None or repeated is None else max(0.0, resent - repeated)


def _mean_to_median(seen: Seen, where: str) -> float | None:
    """The usual mean ÷ median of a start of this point; None where no start has both."""
    ratios = [
        start["mean_ns"] / start["median_ns"]
        for start in seen.start_rows_of(where)
        if is_known(start.get("mean_ns")) and start.get("median_ns")
    ]
    return statistics.median(ratios) if ratios else None


def _finding(rows: list[Row], ratios: dict[str, float]) -> Finding:
    row = max(rows, key=lambda row: (_lost(row) or 0.0) / (number_of(row, TRIPS) or 1.0))
    words = {
        **columns(row, RESENT, REPEATED, TRIPS, "resend_timeout_ns"),
        "lost": _lost(row),
        "ratios": sorted(ratios.values()),
    }
    return ARTEFACT.finding(rows, words, factor=strongest(ratios.values()))
