"""layout-bias: where code, stack and buffers happen to lie decides part of the speed.

Every start has a random environment size and random places of its buffers in their pages, so a
time that goes with one of them goes with nothing else: chance alone is to be excluded. A twin that
was linked with other padding tells the same of the code.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from benchbook.detect import Judged, Seen, artefact
from benchbook.findings import Finding
from benchbook.stats.association import association, circular, draws_for, odds, quarters_ratio
from benchbook.stats.intervals import signed_rank_interval

CHANCE = 0.001  # shared by all points that are asked
LEAST_STARTS = 12
LEAST_FACTOR = 1.02
SEEN_FROM = 1.5  # where only more would show, nothing is said
PAGE_BYTES, LINE_BYTES = 4096, 64
WORDS = {
    "environment": "size of the environment, which moves the stack",
    "environment_in_line": "size of the environment within a cache line, which moves the stack",
    "source": "offset of the source in its page",
    "destination": "offset of the destination in its page",
    "distance": "distance of the two buffers within a page",
}
ARTEFACT = artefact("layout-bias")


@dataclass(frozen=True)
class Moved:
    """One point whose times go with its layout."""

    where: str
    what: str
    factor: float  # times of the quarter of the starts with the worst places ÷ the best
    share: float
    starts: int
    visible: float  # the smallest factor that nine of ten such tables would show


def detect(seen: Seen) -> Judged:
    """One finding for all points that go with the same part of the layout, one for each relinked
    twin that differs; abstains where the layout was not recorded or the starts are few."""
    judged = Judged()
    tested = {}
    for row in seen.rows():
        starts = _timed(seen, row["where"])
        features = _features(starts)
        if not features:
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("no-layout")
        elif len(starts) < LEAST_STARTS:
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell(
                "too-few-starts", starts=len(starts)
            )
        else:
            tested[row["where"]] = starts
    chance = CHANCE / max(len(tested), 1)
    tried = [_moved(where, starts, draws_for(chance)) for where, starts in tested.items()]
    moved = [layout for layout in tried if layout.share <= chance and layout.factor >= LEAST_FACTOR]
    for layout in tried:
        if layout not in moved and layout.visible > SEEN_FROM:
            judged.abstained[layout.where] = ARTEFACT.cannot_tell(
                "too-noisy", visible=layout.visible
            )
    for what in WORDS:
        if same := [layout for layout in moved if layout.what == what]:
            judged.findings.append(_finding(what, same, len(tested)))
    judged.findings += _relinked(seen)
    return judged.rest_is_clean(tested)


def _timed(seen: Seen, where: str) -> pd.DataFrame:
    """The starts that took a time that the clock could tell."""
    starts = seen.starts_of(where)
    return starts[starts["median_ns"] > 0] if len(starts) else starts


def _features(starts: pd.DataFrame) -> dict[str, np.ndarray]:
    """Every recorded part of the layout that varied, as a place on a circle."""
    columns = {
        "environment": "environment_padding_bytes",
        "source": "source_address_mod_4096",
        "destination": "destination_address_mod_4096",
    }
    places = {
        name: starts[column].to_numpy(dtype=float)
        for name, column in columns.items()
        if column in starts and starts[column].notna().all()
    }
    features = {name: circular(place, PAGE_BYTES) for name, place in places.items() if len(place)}
    if "environment" in features:
        features["environment_in_line"] = circular(places["environment"], LINE_BYTES)
    if "source" in features and "destination" in features:
        features["distance"] = circular(places["destination"] - places["source"], PAGE_BYTES)
    return {
        name: feature
        for name, feature in features.items()
        if np.abs(feature - feature[0]).max() > 1e-9
    }


def _moved(where: str, starts: pd.DataFrame, draws: int) -> Moved:
    features = _features(starts)
    times = starts["median_ns"].to_numpy(dtype=float)
    placed = association(features, np.log(times), draws)
    if placed is None:
        return Moved(where, "", 1.0, 1.0, len(starts), 1.0)
    factor = quarters_ratio(features[placed.name], times)
    return Moved(where, placed.name, factor, placed.share, len(starts), _visible(times))


def _visible(times: np.ndarray) -> float:
    """From end to end; at 24 starts it is four standard deviations (stats/association.py)."""
    low, high = np.quantile(np.log(times), [0.25, 0.75])
    return math.exp(4 * (high - low) / 1.349 * math.sqrt(24 / len(times)))


def _finding(what: str, moved: list[Moved], points: int) -> Finding:
    middle = float(np.median([layout.factor for layout in moved]))
    chance = max(layout.share for layout in moved)
    words = {
        "part": WORDS[what],
        "moved": len(moved),
        "tried": points,
        "middle": middle,
        "reach": max(layout.factor for layout in moved),
        "starts": min(layout.starts for layout in moved),
        "chance": chance,
        "odds": odds(chance),
    }
    where = [layout.where for layout in moved]
    return ARTEFACT.finding(where, words, "goes-with-place", factor=1 / middle)


def _relinked(seen: Seen) -> list[Finding]:
    """Twins linked with other padding that differ where the same binary, measured twice, does not.

    At this level the exact interval needs 11 blocks; with fewer there is none and nothing is said.
    """
    if seen.twins.empty or "again" not in seen.twins:
        return []
    findings = []
    for row in seen.rows():
        twins = seen.twins[seen.twins["twin"] == row.get("twin")]
        by_kind = {str(kind): str(own["where"].min()) for kind, own in twins.groupby("again")}
        if "relinked" not in by_kind:
            continue
        relinked = _interval(seen, row["where"], by_kind["relinked"])
        same = _interval(seen, row["where"], by_kind["again"]) if "again" in by_kind else None
        if (
            relinked is None
            or relinked[1] <= 0 <= relinked[2]
            or same is None
            or not same[1] <= 0 <= same[2]
        ):
            continue
        factor = math.exp(relinked[0])
        if max(factor, 1 / factor) >= LEAST_FACTOR:
            findings.append(_relinked_finding(row["where"], relinked, same))
    return findings


def _interval(seen: Seen, first: str, second: str) -> tuple[float, float, float] | None:
    """Log of other ÷ one in the same block, with its ends; None where it has no finite ones."""
    both = [
        _timed(seen, where).groupby("block")["median_ns"].median().map(math.log)
        for where in (first, second)
        if len(_timed(seen, where))
    ]
    if len(both) < 2:
        return None
    logs = (both[1] - both[0]).dropna()
    if logs.empty:
        return None
    interval = signed_rank_interval(logs.to_numpy(), 1 - CHANCE)
    ends = (interval.low, interval.high)
    return (float(logs.median()), *ends) if all(map(math.isfinite, ends)) else None


def _relinked_finding(
    where: str, relinked: tuple[float, float, float], same: tuple[float, float, float]
) -> Finding:
    longer, low, high = map(math.exp, relinked)
    words = {
        "longer": longer,
        "low": low,
        "high": high,
        "cases": 1 / CHANCE,
        "again": math.exp(same[0]),
        "again_apart": math.exp(abs(same[0])),
    }
    return ARTEFACT.finding([where], words, "relinked", factor=1 / longer)
