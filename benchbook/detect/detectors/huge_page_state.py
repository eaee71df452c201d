"""huge-page-state: some starts have their memory in huge pages and others in small ones.

Decided by AnonHugePages of the buffers in each start, between starts of one point and between
points of one binary at one setting. What it costs is the time of the ones ÷ that of the others.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from statistics import median
from typing import Any

from benchbook.detect import Judged, Seen, artefact, is_known
from benchbook.detect.inputs.timed_work import working_set_bytes
from benchbook.findings import Effect, Finding

APART = 0.5  # of the buffers: two starts differ where their shares in huge pages lie so far apart
NO_DIFFERENCE = 1.03
LEAST_STARTS = 4  # on each side; by chance 8 are parted so once in 35
ARTEFACT = artefact("huge-page-state")


@dataclass(frozen=True)
class _Start:
    where: str
    huge_bytes: float
    buffers_bytes: float
    time_ns: float | None

    @property
    def share(self) -> float:
        """Of the buffers in huge pages; neighbours in the same mapping may add to it."""
        return min(1.0, self.huge_bytes / self.buffers_bytes)


def detect(seen: Seen) -> Judged:
    """One finding per binary and setting whose starts differ; abstains where the pages of the
    buffers were not observed. What has no buffers has no pages."""
    judged = Judged()
    rows = [row for row in seen.rows() if _has_buffers(seen, row)]
    groups: dict[Hashable, list[_Start]] = {}
    for row in rows:
        starts = _starts(seen, row)
        if not starts:
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("not-observed")
        key = tuple(str(row.get(name)) for name in ("setting", "compiler", "flags_asked"))
        groups.setdefault(key, []).extend(starts)
    for group in groups.values():
        shares = [start.share for start in group]
        if shares and max(shares) - min(shares) >= APART:
            judged.findings.append(_finding(group, (max(shares) + min(shares)) / 2))
    compared = [start.where for group in groups.values() if len(group) > 1 for start in group]
    return judged.rest_is_clean(compared)


def _has_buffers(seen: Seen, row: dict[str, Any]) -> bool:
    starts = seen.starts_of(row["where"])
    of_starts = "buffers_bytes" in starts and (starts["buffers_bytes"] > 0).any()
    return bool(working_set_bytes(row) or of_starts)


def _starts(seen: Seen, row: dict[str, Any]) -> list[_Start]:
    """What is known of each start of a point; of the point itself where no start is told."""
    needed = {"anon_huge_bytes", "buffers_bytes"}
    is_told = needed <= set(seen.starts.columns)
    times = "median_ns" if is_told else "time_ns"
    rows = seen.start_rows_of(row["where"]) if is_told else [row]
    return [
        _Start(
            row["where"],
            float(start["anon_huge_bytes"]),
            float(start["buffers_bytes"]),
            float(start[times]) if is_known(start.get(times)) else None,
        )
        for start in rows
        if all(is_known(start.get(name)) for name in needed) and start["buffers_bytes"] > 0
    ]


def _finding(group: list[_Start], between: float) -> Finding:
    huge = [start for start in group if start.share > between]
    small = [start for start in group if start.share <= between]
    sides = [[start.time_ns for start in side if start.time_ns] for side in (huge, small)]
    faster = median(sides[1]) / median(sides[0]) if all(sides) else None
    apart = all(len(side) >= LEAST_STARTS for side in sides) and (
        max(sides[0]) < min(sides[1]) or max(sides[1]) < min(sides[0])
    )
    no_effect = faster is None or not apart or 1 / NO_DIFFERENCE < faster < NO_DIFFERENCE
    words = {
        "buffers": int(max(start.buffers_bytes for start in group)),
        "typical_huge": int(median(start.huge_bytes for start in huge)),
        "typical_small": int(median(start.huge_bytes for start in small)),
        "huge_starts": len(huge),
        "small_starts": len(small),
        "most": int(max(start.huge_bytes for start in huge)),
        "least": int(min(start.huge_bytes for start in small)),
        "faster": faster,
        "proven": faster is not None and apart,
        "unproven": faster is not None and not apart,
    }
    effect: Effect = "informs" if no_effect else "explains"
    return ARTEFACT.finding([start.where for start in group], words, effect=effect)
