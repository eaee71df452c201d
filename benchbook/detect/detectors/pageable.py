"""pageable: the host's side is not pinned, so the driver copies it through memory that is.

Decided by the kind of the allocation; what it costs is told where the same transfer was measured
with pinned memory.
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from benchbook.detect import Judged, Row, Seen, artefact, is_known
from benchbook.detect.inputs.transfers import WORK, over_bus
from benchbook.findings import Effect, Finding

if TYPE_CHECKING:
    from benchbook.stats.ratios import Ratio

VISIBLE = 1.05  # times as long: what lies nearer is told, and no bias
ARTEFACT = artefact("pageable")


def detect(seen: Seen) -> Judged:
    """One finding for the points that pinned memory makes faster, and one for the others; abstains
    where the kind of memory was not observed. A device that is host memory needs no copy."""
    judged = Judged()
    rows = over_bus(seen)
    slower: list[tuple[Row, Ratio | None]] = []
    others: list[tuple[Row, Ratio | None]] = []
    for row in rows:
        if not is_known(row.get("host_memory_is_pinned")):
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("not-observed")
        elif row["host_memory_is_pinned"] == 0:
            ratio = _beside(seen, row, rows)
            costs = ratio is not None and ratio.low > VISIBLE
            (slower if costs else others).append((row, ratio))
    judged.findings += [_finding(group) for group in (slower, others) if group]
    return judged.rest_is_clean(row["where"] for row in rows)


def _beside(seen: Seen, row: Row, rows: list[Row]) -> Ratio | None:
    """Its time over that of the same transfer with pinned memory; None without one."""
    from benchbook.stats.ratios import time_ratio  # slow to load, and logs have no blocks

    for twin in rows:
        alike = all(str(row.get(name)) == str(twin.get(name)) for name in WORK)
        if twin.get("host_memory_is_pinned") == 1 and alike:
            return time_ratio(seen.starts, row["where"], twin["where"])
    return None


def _finding(pairs: list[tuple[Row, Ratio | None]]) -> Finding:
    ratios = sorted(ratio.estimate for _, ratio in pairs if ratio is not None)
    slower = any(ratio is not None and ratio.low > VISIBLE for _, ratio in pairs)
    effect: Effect = "biases" if slower else "informs"
    factor = 1 / float(median(ratios)) if slower else None
    words = {"pinned": 0, "ratios": ratios}
    return ARTEFACT.finding([row for row, _ in pairs], words, effect=effect, factor=factor)
