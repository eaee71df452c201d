"""best-of-n: best, median and mean of the same samples tell different stories.

Either the best of one point is far below what it usually takes, or two points that move the same
bytes change places with the statistic: every block's ratio is taken by best, by median and by mean,
and two of the three lie on different sides of 1, beyond their own noise.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchbook import stats
from benchbook.core.number_format import number
from benchbook.detect import Judged, Seen, artefact, is_known
from benchbook.detect.inputs.waits import waits
from benchbook.findings import Finding, proof

STATISTICS = {"best": "best_ns", "median": "median_ns", "mean": "mean_ns"}
ALIKE = ("bytes_per_call", "threads", "processes")  # what compared points have in common
LEVEL = 0.95  # of all pairs of like points together
LEAST = math.log(1.03)  # by which each of two statistics must put one of the points ahead
LEAST_BEST = 2 / 3  # best ÷ median; clean runs on small machines reach 0.77
OFTEN = 3  # starts: with fewer, the best may be one lucky sample
ARTEFACT = artefact("best-of-n")


class FarBest(NamedTuple):
    """A point whose best is far off; best and mean ÷ median, the median over starts of each."""

    where: str
    best: float
    mean: float
    median_ns: float
    starts: int
    waited: bool  # waiting for a CPU may explain it


class Turned(NamedTuple):
    """Two points, and by which two statistics which of them is ahead; ratios of their times."""

    first: str
    second: str
    ratios: dict[str, float]  # time of the first ÷ of the second, by what is beyond its noise
    blocks: int
    tried: int  # pairs


def detect(seen: Seen) -> Judged:
    """One finding for all points whose best is far off, one per set of points that change places.

    Abstains where there is no summary of the starts, where waiting for a CPU may be what is far
    from the best, and where two points seem to change places but share too few blocks to tell, or
    blocks that differ too much.
    """
    judged = Judged()
    starts = seen.starts
    if len(starts) and set(STATISTICS.values()) <= set(starts.columns):
        starts = starts.dropna(subset=list(STATISTICS.values()))
    else:
        starts = pd.DataFrame(columns=["where", "block", *STATISTICS.values()])
    rows, far = seen.rows(), []
    summarised = set(starts["where"])
    for row in rows:
        if row["where"] not in summarised:
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("not-summarised")
        else:
            far += _far_best(row, starts[starts["where"] == row["where"]])
    for extreme in [extreme for extreme in far if extreme.waited]:
        judged.abstained[extreme.where] = ARTEFACT.cannot_tell("waited")
    if sure := [extreme for extreme in far if not extreme.waited]:
        judged.findings.append(_seldom(sure))
    for alike in _groups([row for row in rows if row["where"] in summarised]):
        turned, untold = _turned(alike, starts)
        if turned:
            judged.findings.append(_ranking(turned))
        reported = {where for finding in judged.findings for where in finding.where}
        for where in sorted(untold.keys() - reported):
            judged.abstained[where] = untold[where]
    return judged.rest_is_clean(summarised & {row["where"] for row in rows})


def _far_best(row: dict[str, Any], own: pd.DataFrame) -> list[FarBest]:
    """The point, if its best is far from what it usually takes."""
    own = own[own["median_ns"] > 0]
    if own.empty or (best := float((own["best_ns"] / own["median_ns"]).median())) > LEAST_BEST:
        return []
    median_ns, waited = float(own["median_ns"].median()), waits(own, row)
    longer = (1 - best) * (row["sample_ns"] if is_known(row.get("sample_ns")) else median_ns)
    # Half of the samples are as long as the median, or longer.
    explained = waited is not None and waited.explain(longer, float(own["samples"].sum()) / 2)
    mean = float((own["mean_ns"] / own["median_ns"]).median())
    return [FarBest(row["where"], best, mean, median_ns, len(own), explained)]


def _seldom(extremes: list[FarBest]) -> Finding:
    worst = min(extremes, key=lambda extreme: (extreme.best, extreme.mean, extreme.median_ns))
    words = {
        "best": worst.best,
        "best_ns": worst.best * worst.median_ns,
        "median_ns": worst.median_ns,
        "mean": worst.mean,
        "starts": worst.starts,
        "often": worst.starts >= OFTEN,
    }
    factor = 1 / worst.best if worst.best > 0 else None
    where = [extreme.where for extreme in extremes]
    return ARTEFACT.finding(where, words, "seldom-best", factor=factor)


def _groups(rows: list[dict[str, Any]]) -> Iterator[list[str]]:
    """Points that declare the same bytes, on as many threads and processes."""
    groups: dict[tuple[Any, ...], list[str]] = {}
    for row in rows:
        values = (row.get(name) for name in ALIKE)
        key = tuple(value if is_known(value) else None for value in values)
        groups.setdefault(key, []).append(row["where"])
    return (group for key, group in groups.items() if key[0] is not None and len(group) > 1)


def _turned(alike: list[str], starts: pd.DataFrame) -> tuple[list[Turned], dict[str, str]]:
    """The pairs that change places, the furthest apart first, and the points of which it cannot be
    told, with why."""
    own = starts[starts["where"].isin(alike)]
    logs = {
        name: np.log(own.pivot_table(index="block", columns="where", values=column)[alike])
        for name, column in STATISTICS.items()
        if (own[column] > 0).all()
    }
    turned: list[Turned] = []
    untold: dict[str, str] = {}
    tried, least = math.comb(len(alike), 2), _least_blocks(alike)
    for i, j in _seeming({name: log.to_numpy() for name, log in logs.items()}):
        apart = {name: (log[alike[i]] - log[alike[j]]).dropna() for name, log in logs.items()}
        middle = {name: float(logs.median()) for name, logs in apart.items()}
        blocks = len(next(iter(apart.values())))
        sure = {
            name: log
            for name, log in middle.items()
            if abs(log) >= LEAST and _is_sure(apart[name], tried)
        }
        why = ""
        if blocks < least:
            why = f"{least} rounds are needed to distinguish that from noise"
        elif len({log > 0 for log in sure.values()}) > 1:
            # The one that the first of the statistics puts ahead comes first, whatever their ids.
            ahead = next(iter(sure.values())) < 0
            pair = (alike[i], alike[j]) if ahead else (alike[j], alike[i])
            sign = 1 if ahead else -1
            ratios = {name: math.exp(sign * log) for name, log in sure.items()}
            turned.append(Turned(*pair, ratios, blocks, tried))
        else:
            why = f"its {blocks} rounds differ too much to distinguish that from noise"
        if why:
            abstention = f"another measurement is faster by one statistic only, and {why}"
            untold |= dict.fromkeys((alike[i], alike[j]), abstention)
    return sorted(turned, key=lambda pair: -_spread(pair)), untold


def _seeming(logs: dict[str, np.ndarray]) -> list[tuple[int, int]]:
    """Pairs of columns that the medians of two statistics (blocks, points) put in another order."""
    if not logs:
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # pairs that share no block
        middle = np.stack(
            [np.nanmedian(log[:, :, None] - log[:, None, :], axis=0) for log in logs.values()]
        )
    differ = (middle >= LEAST).any(axis=0) & (middle <= -LEAST).any(axis=0)
    return [(int(i), int(j)) for i, j in np.argwhere(np.triu(differ, 1))]


def _least_blocks(alike: list[str]) -> int:
    """Fewer give no finite interval at the level that all pairs share."""
    return stats.least_blocks(math.comb(len(alike), 2), LEVEL)


def _is_sure(logs: pd.Series, tried: int) -> bool:
    interval = stats.signed_rank_interval(logs.to_numpy(), stats.adjusted_level(tried, LEVEL))
    return interval.low > 0 or interval.high < 0


def _spread(pair: Turned) -> float:
    return max(pair.ratios.values()) / min(pair.ratios.values())


def _ranking(turned: list[Turned]) -> Finding:
    worst = turned[0]
    sides = [
        f"{number(max(ratio, 1 / ratio))} times as {'fast' if ratio < 1 else 'slow'} by {name}"
        for name, ratio in worst.ratios.items()
    ]
    words = {
        "sides": sides,
        "blocks": worst.blocks,
        "pairs": len(turned),
        "more": len(turned) - 1 or None,
        "level": LEVEL,
        "tried": worst.tried,
    }
    ratios = [
        proof(f"time ratio by {name}", ratio, "1", "samples")
        for name, ratio in worst.ratios.items()
    ]
    where = [name for pair in turned for name in (pair.first, pair.second)]
    return ARTEFACT.finding(where, words, "ranking", evidence=ratios)
