"""frequency: the clock of the CPU changed, and the figures changed with it.

Decided by the frequency that was read at each start: where it moves, the times must move the other
way. A guest of a hypervisor sees no frequency, and says so.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from benchbook.core.number_format import plural
from benchbook.detect import Judged, Seen
from benchbook.findings import Artefact, Finding, proof
from benchbook.stats.association import association, draws_for, quarters_ratio, ranked

CHANCE = 0.001  # shared by all points that are asked
LEAST_STARTS = 8
LEAST_MOVE = 1.03  # of the frequency, largest ÷ smallest
LEAST_FACTOR = 1.02
TREND = 0.01
ARTEFACT = Artefact(
    "frequency",
    "Fix the clock (cpupower frequency-set -g performance, turbo off), let the machine warm up "
    "first and cool in between, and give rates per cycle beside those per second.",
    is_about_host=True,
    is_timing_only=True,
)


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
            judged.abstained[row["where"]] = "the clock frequency was not observed"
        elif read["frequency_khz"].max() < LEAST_MOVE * read["frequency_khz"].min():
            continue
        elif len(timed) < LEAST_STARTS:
            judged.abstained[row["where"]] = (
                f"the clock frequency moved, and {plural(len(timed), 'start')} are too few to tell "
                "whether the times went with it"
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
    slow, fast = (
        min(point.slow_khz for point in followed),
        max(point.fast_khz for point in followed),
    )
    factor = float(np.median([point.factor for point in followed]))
    allowed = float(np.median([point.allowed for point in followed]))
    directions = [point.falling for point in followed if point.falling is not None]
    course = ""
    if len(directions) > len(followed) / 2:
        course = " and fell as time went by" if np.mean(directions) > 0.5 else " and rose with time"
    chance = max(point.share for point in followed)
    text = (
        f"The CPU’s clock moved between {slow / 1e6:.2f} and {fast / 1e6:.2f} GHz{course}. "
        f"{len(followed)} of {plural(points, 'point')} went with it: in the quarter of the starts "
        f"with the lowest clock they took {factor:.2f} times as long as in that with the highest, "
        f"where the clock alone explains {allowed:.2f}. The frequency was read once a start, so "
        "what it was in each sample is not known."
    )
    return ARTEFACT.finding(
        effect="explains",
        factor=1 / factor,
        where=sorted(point.where for point in followed),
        confidence=0.95,
        evidence=[
            proof("lowest frequency", slow, "kHz", "cpufreq"),
            proof("highest frequency", fast, "kHz", "cpufreq"),
            proof("time at lowest clock ÷ at highest", factor, "1", "samples"),
            proof("highest ÷ lowest clock of these starts", allowed, "1", "cpufreq"),
            proof(
                "starts of a point", min(point.starts for point in followed), "starts", "journal"
            ),
            proof("share of orders as extreme", chance, "1", "permutation"),
        ],
        explanation=text,
    )
