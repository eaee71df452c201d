"""state-flip: the machine changes between two states or more, and the figures change with it.

Decided by anchor and probe, which know nothing of the samples: their states must tell the fast
starts of a point from its slow ones. That is a matter of timing, so chance is excluded by ranks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from benchbook.core.number_format import plural
from benchbook.detect import Judged, Seen, artefact
from benchbook.findings import Finding, proof
from benchbook.stats.association import association, draws_for, odds, ranked
from benchbook.stats.states import LEAST_READINGS, MIXED

CHANCE = 0.001  # shared by all points that are asked
LEAST_STARTS = 10
LEAST_EACH = 3
LEAST_FACTOR = 1.05
LEAST_CHANGES = 3  # below, whatever else changed at that moment would look the same
ARTEFACT = artefact("state-flip")


@dataclass(frozen=True)
class Flip:
    """One point whose starts go with the machine's states."""

    where: str
    medians_ns: dict[str, float]
    starts: dict[str, int]
    share: float
    changes: int  # of state, from start to start

    @property
    def factor(self) -> float:
        """Slowest ÷ fastest state."""
        return max(self.medians_ns.values()) / min(self.medians_ns.values())


def detect(seen: Seen) -> Judged:
    """One finding for all points that follow the states; abstains where states cannot be told, or
    a point has too few starts in them. A machine of one state says nothing."""
    judged = Judged()
    rows = seen.rows()
    if trouble := _untold(seen.readings):
        judged.abstained |= dict.fromkeys((row["where"] for row in rows), trouble)
        return judged
    states = sorted({int(state) for state in seen.readings["state"].dropna()})
    if len(states) < 2:
        return judged.rest_is_clean(row["where"] for row in rows)
    tested = {}
    for row in rows:
        own = _known(seen.starts_of(row["where"]))
        counts = own["machine_state"].value_counts() if len(own) else pd.Series(dtype=int)
        if len(own) < LEAST_STARTS or (counts >= LEAST_EACH).sum() < 2:
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell(
                "too-few-starts", states=len(states), starts=_in_words(counts)
            )
        else:
            tested[row["where"]] = own[own["machine_state"].map(counts) >= LEAST_EACH]
    for where in [where for where, own in tested.items() if _rarest(own) > CHANCE / len(tested)]:
        own = tested.pop(where)
        judged.abstained[where] = ARTEFACT.cannot_tell(
            "by-chance", starts=_in_words(own["machine_state"].value_counts())
        )
    draws = draws_for(CHANCE / max(len(tested), 1))
    tried = [_flip(where, own, draws) for where, own in tested.items()]
    flips = [
        flip for flip in tried if flip.share <= CHANCE / len(tried) and flip.factor >= LEAST_FACTOR
    ]
    if flips:
        judged.findings.append(_finding(flips, len(tried), seen.readings))
    return judged.rest_is_clean(tested)


def _untold(readings: pd.DataFrame) -> str:
    if readings.empty:
        return ARTEFACT.cannot_tell("no-readings")
    if "state" not in readings or readings["state"].isna().all():
        return ARTEFACT.cannot_tell("no-states")
    most = int(readings["name"].value_counts().max())
    if most < LEAST_READINGS:
        return ARTEFACT.cannot_tell("too-few-readings", readings=most)
    return ""


def _known(starts: pd.DataFrame) -> pd.DataFrame:
    """Starts that lie in one state and took a time that the clock could tell."""
    if "machine_state" not in starts:
        return starts[:0]
    in_one = starts["machine_state"].notna() & (starts["machine_state"] != MIXED)
    return starts[in_one & (starts["median_ns"] > 0)]


def _rarest(own: pd.DataFrame) -> float:
    """How often chance alone puts all starts of a state at one end: no test can say less."""
    return 2 / math.comb(len(own), int(own["machine_state"].value_counts().min()))


def _in_words(counts: pd.Series) -> str:
    if counts.empty:
        return "0 runs that were in one of them"
    by_state = counts.sort_index().items()
    return " and ".join(f"{plural(count, 'run')} in state {state}" for state, count in by_state)


def _flip(where: str, own: pd.DataFrame, draws: int) -> Flip:
    times = own["median_ns"].astype(float)
    flip = association({"state": ranked(own["machine_state"].astype(int))}, times, draws)
    groups = times.groupby(own["machine_state"].astype(str))
    in_order = own["machine_state"].astype(int).to_numpy()
    return Flip(
        where=where,
        medians_ns={str(state): float(part.median()) for state, part in groups},
        starts={str(state): len(part) for state, part in groups},
        share=1.0 if flip is None else flip.share,
        changes=int((np.diff(in_order) != 0).sum()),
    )


def _finding(flips: list[Flip], points: int, readings: pd.DataFrame) -> Finding:
    strongest = max(flips, key=lambda flip: flip.factor)
    by_speed = sorted(strongest.medians_ns, key=lambda state: strongest.medians_ns[state])
    marked = readings.dropna(subset=["state"])
    by_state = marked.groupby(marked["state"].astype(int))["value"].median()
    chance = max(flip.share for flip in flips)
    often = max(flip.changes for flip in flips) >= LEAST_CHANGES
    words = {
        "states": len(by_state),
        "piece": _piece(marked),
        "levels": float(by_state.max() / by_state.min()),
        "flipped": len(flips),
        "tried": points,
        "slower": [flip.factor for flip in flips],
        "odds": odds(chance),
        "often": often,
        "chance": chance,
    }
    evidence = [
        proof(f"readings in state {state}", int(count), "readings", "anchor and probe")
        for state, count in marked["state"].astype(int).value_counts().sort_index().items()
    ]
    for state in (by_speed[0], by_speed[-1]):
        name = f"median of {strongest.starts[state]} starts in state {state}"
        evidence.append(proof(name, strongest.medians_ns[state], "ns", "samples"))
    return ARTEFACT.finding(
        [flip.where for flip in flips],
        words,
        "often" if often else "seldom",
        evidence=evidence,
        factor=1 / float(np.median([flip.factor for flip in flips])),
    )


def _piece(marked: pd.DataFrame) -> str:
    """What the readings that tell the states are of."""
    names = sorted(set(marked["name"]))
    if all(str(name).startswith("pair") for name in names):
        return "a round trip between two cores"
    return "a fixed piece of work"
