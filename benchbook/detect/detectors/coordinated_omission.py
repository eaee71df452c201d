"""coordinated-omission: the load generator waits with the service that it measures.

Decided by the generator's own account: which requests left later than intended, by how much, and
from when their time counts. A request that had to wait for the one before it is late, and where
time counts from the sending, what it waited is in no figure; nor is it where the machine kept the
generator from sending.
"""

from __future__ import annotations

from typing import Any

from benchbook.detect import Judged, Row, Seen, artefact, first_unknown, is_known
from benchbook.detect.inputs.timed_work import number_of, strongest
from benchbook.findings import Finding

NEEDED = ("timed_from_intended", "requests_sent", "sends_late", "lateness_ns")
NOTICED = 0.05  # of the mean, that is not in it
ARTEFACT = artefact("coordinated-omission")


def detect(seen: Seen) -> Judged:
    """One finding for all points that leave out what their requests waited before they were sent;
    abstains where a schedule was kept and nobody tells how well."""
    judged = Judged()
    rows = [
        row
        for row in seen.rows()
        if number_of(row, "open_schedule") or is_known(row.get("timed_from_intended"))
    ]
    omitted = []
    for row in rows:
        if unknown := first_unknown(row, NEEDED):
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("schedule-unknown", what=unknown)
        elif not is_known(_mean_ns(seen, row)):
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("mean-unknown")
        elif not row["timed_from_intended"] and _omitted(seen, row) >= NOTICED:
            omitted.append(row)
    if omitted:
        judged.findings.append(_finding(seen, omitted))
    return judged.rest_is_clean(row["where"] for row in rows)


def _mean_ns(seen: Seen, row: Row) -> float | None:
    starts = seen.starts_of(row["where"])
    return float(starts["mean_ns"].median()) if "mean_ns" in starts else None


def _omitted(seen: Seen, row: Row) -> float:
    """The share of the mean from the intended sending that is not in the figure: time from there
    is time from the sending and lateness, for each request, and so for their means."""
    late_ns = float(row["lateness_ns"])
    whole = (_mean_ns(seen, row) or 0.0) + late_ns
    return late_ns / whole if whole > 0 else 0.0


def _finding(seen: Seen, rows: list[dict[str, Any]]) -> Finding:
    most = max(rows, key=lambda row: _omitted(seen, row))
    means = [_mean_ns(seen, row) or 0.0 for row in rows]
    whole = [mean + row["lateness_ns"] for mean, row in zip(means, rows, strict=True)]
    words = {
        **{name: most[name] for name in NEEDED},
        "late": most["sends_late"] / most["requests_sent"],
        "whole": whole,
        "means": means,
    }
    factor = strongest(honest / mean for honest, mean in zip(whole, means, strict=True) if mean > 0)
    return ARTEFACT.finding(rows, words, factor=factor)
