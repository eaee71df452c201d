"""frequency: the clock of the CPU changed, and the figures changed with it.

Decided by the frequency that was read at each start: where it moves, the times must move the other
way. A guest of a hypervisor sees no frequency, and says so.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from benchbook.detect import Judged, Seen, artefact
from benchbook.findings import Finding
from benchbook.stats.association import association, draws_for, quarters_ratio, ranked

CHANCE = 0.001  # shared by all points that are asked
LEAST_STARTS = 8
LEAST_MOVE = 1.03  # of the frequency, largest ÷ smallest
LEAST_FACTOR = 1.02
TREND = 0.01
ARTEFACT = artefact("frequency")


@dataclass(frozen=True)
class Followed:
    """One point whose times go against the frequency."""

    where: str
    slow_khz: float
    fast_khz: float
    factor: float  # times of the quarter of the starts at lowest frequency ÷ at highest
    allowed: float  # frequencies of the one quarter ÷ of the other
    share: float
    starts: int
    falling: bool | None  # with time; None: in no order


def detect(seen: Seen) -> Judged:
    """One finding for all points that follow the clock; abstains where no frequency was read, or
    it moved and the starts are too few. A steady clock says nothing."""
    judged = Judged()
    tested = {}
    for row in seen.rows():
        starts = seen.starts_of(row["where"])
        read = starts.dropna(subset=["frequency_khz"]) if "frequency_khz" in starts else starts[:0]
        timed = read[read["median_ns"] > 0] if "median_ns" in read else read[:0]
        if read.empty:
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("not-observed")
        elif read["frequency_khz"].max() < LEAST_MOVE * read["frequency_khz"].min():
            continue
        elif len(timed) < LEAST_STARTS:
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell(
                "too-few-starts", starts=len(timed)
            )
        else:
            tested[row["where"]] = timed
    draws = draws_for(CHANCE / max(len(tested), 1))
    tried = [_followed(where, starts, draws) for where, starts in tested.items()]
    followed = [
        point
        for point in tried
        if point is not None and point.share <= CHANCE / len(tried) and point.factor >= LEAST_FACTOR
    ]
    if followed:
        judged.findings.append(_finding(followed, len(tried)))
    return judged.rest_is_clean(row["where"] for row in seen.rows())


def _followed(where: str, starts: pd.DataFrame, draws: int) -> Followed | None:
    khz = starts["frequency_khz"].astype(float).to_numpy()
    times = starts["median_ns"].astype(float).to_numpy()
    clock = association({"frequency": ranked(khz)}, times, draws)
    if clock is None or clock.direction >= 0:
        return None
    order = association({"time": ranked(starts["t_start_ns"])}, khz, draws_for(TREND))
    trend = order is not None and order.share <= TREND
    low, high = np.quantile(khz, [0.25, 0.75])
    return Followed(
        where=where,
        slow_khz=float(khz.min()),
        fast_khz=float(khz.max()),
        factor=quarters_ratio(ranked(khz), times),
        allowed=quarters_ratio(ranked(khz), khz),
        share=clock.share,
        starts=len(starts),
        falling=(order.direction < 0) if order is not None and trend and high > low else None,
    )


def _finding(followed: list[Followed], points: int) -> Finding:
    slow_khz = min(point.slow_khz for point in followed)
    fast_khz = max(point.fast_khz for point in followed)
    longer = float(np.median([point.factor for point in followed]))
    directions = [point.falling for point in followed if point.falling is not None]
    course = ""
    if len(directions) > len(followed) / 2:
        course = " and fell as time went by" if np.mean(directions) > 0.5 else " and rose with time"
    words = {
        "slow_khz": slow_khz,
        "fast_khz": fast_khz,
        "slow_ghz": slow_khz / 1e6,
        "fast_ghz": fast_khz / 1e6,
        "course": course,
        "followed": len(followed),
        "tried": points,
        "longer": longer,
        "allowed": float(np.median([point.allowed for point in followed])),
        "starts": min(point.starts for point in followed),
        "chance": max(point.share for point in followed),
    }
    return ARTEFACT.finding([point.where for point in followed], words, factor=1 / longer)
