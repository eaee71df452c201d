"""Comparisons of points, paired within blocks."""

import math
from collections.abc import Hashable, Iterable, Iterator

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from benchbook.core.errors import BenchbookError
from benchbook.stats.checks import Floats, finite, need_columns, positive_logs
from benchbook.stats.intervals import adjusted_level, signed_rank_interval
from benchbook.stats.states import MIXED

POINTWISE = 0.95
INTERVAL_COLUMNS = (
    "comparison",
    "blocks",
    "ratio",
    "low",
    "high",
    "low95",
    "high95",
    "half_width",
    "attained",
)


def _matrix(summaries: pd.DataFrame, column: str) -> pd.DataFrame:
    """Blocks down, points across."""
    if summaries.duplicated(["block", "point"]).any():
        raise BenchbookError("A block has two summaries of one point; give one per invocation.")
    return summaries.pivot(index="block", columns="point", values=column).sort_index()


def _both_sides(
    summaries: pd.DataFrame, pairs: pd.DataFrame
) -> Iterator[tuple[Hashable, Hashable, Hashable, pd.DataFrame]]:
    """Each comparison with its two points and the blocks that have both."""
    if pairs.empty:
        return
    need_columns(pairs, ("comparison", "numerator", "denominator"), "Pairs")
    # No summary at all is what a run leaves whose every invocation failed: nothing to compare.
    if summaries.empty:
        summaries = pd.DataFrame(columns=["block", "point", "value"])
    need_columns(summaries, ("block", "point", "value"), "Summaries")
    if pairs["comparison"].duplicated().any():
        raise BenchbookError("Two comparisons have one name; name each pair once.")
    if len(summaries):
        positive_logs(summaries["value"], "Summaries")
    values = _matrix(summaries, "value")
    for pair in pairs.itertuples(index=False):
        if pair.numerator == pair.denominator:
            raise BenchbookError(
                f"{pair.comparison} compares a point with itself; give the second one its own name."
            )
        both = values.reindex(columns=[pair.numerator, pair.denominator]).dropna()
        yield pair.comparison, pair.numerator, pair.denominator, both


def paired_log_ratios(summaries: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """Summaries [block, point, value] and pairs -> [comparison, block, log_ratio].

    Pairs: [comparison, numerator, denominator], the last two points. One row per comparison and
    block that has both points, the natural logarithm of numerator over denominator; the other
    blocks are left out, and `pair_counts` says how many. With a column `state` in the summaries,
    the result has one too: the state of both sides, else "mixed". Value: anything above zero.
    Error: none but rounding.
    """
    with_state = "state" in summaries.columns and len(summaries) > 0
    states = _matrix(summaries, "state") if with_state else None
    tables = []
    for comparison, numerator, denominator, both in _both_sides(summaries, pairs):
        logs = np.log(both.to_numpy(dtype=np.float64))
        table = pd.DataFrame(
            {"comparison": comparison, "block": both.index, "log_ratio": logs[:, 0] - logs[:, 1]}
        )
        if states is not None and len(both):
            top, bottom = (
                states.loc[both.index, point].to_numpy(dtype=object)
                for point in (numerator, denominator)
            )
            table["state"] = np.where(top == bottom, top, MIXED)
        if len(table):
            tables.append(table)
    if tables:
        return pd.concat(tables, ignore_index=True)
    columns = ["comparison", "block", "log_ratio", *(["state"] if with_state else [])]
    return pd.DataFrame(columns=columns)


def pair_counts(summaries: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """Summaries and pairs as in `paired_log_ratios` -> [comparison, blocks, left_out]: blocks used,
    and those missing a side."""
    total = summaries["block"].nunique() if "block" in summaries.columns else 0
    rows = [
        (comparison, len(both), total - len(both))
        for comparison, _, _, both in _both_sides(summaries, pairs)
    ]
    return pd.DataFrame(rows, columns=["comparison", "blocks", "left_out"])


def ratio_intervals(
    log_ratios: pd.DataFrame,
    claims: int,
    level: float = 0.95,
    comparisons: Iterable[Hashable] | None = None,
) -> pd.DataFrame:
    """[comparison, block, log_ratio] -> one row per comparison, its ratio with two intervals.

    Columns: comparison, blocks, ratio (Hodges-Lehmann), low, high (simultaneous over `claims` at
    `level`), low95, high95 (pointwise), half_width (log, of the simultaneous one), attained (its
    exact level). Too few blocks: 0 to infinity. `comparisons` names those that get a row even
    without a block (ratio NaN).

    Error: as `signed_rank_interval`; pairs within a randomised block are symmetric when both
    variants vary alike, whatever the machine does. Simulated coverage with stopping, flips and
    drift: 94 to 96 %. If only one variant's invocations are strongly skewed (exponential,
    lognormal(1)), the ratio is of pseudo-medians, and the median ratio is covered in 86 to 95 %.
    """
    need_columns(log_ratios, ("comparison", "block", "log_ratio"), "Log ratios")
    each = adjusted_level(claims, level)
    if log_ratios.duplicated(["comparison", "block"]).any():
        raise BenchbookError("A comparison has two log ratios in one block; give one per block.")
    groups: dict[Hashable, pd.DataFrame] = {}
    for comparison, group in log_ratios.groupby("comparison", sort=False):
        groups[comparison] = group
    rows: list[tuple[object, ...]] = []
    for name in groups if comparisons is None else comparisons:
        if name not in groups:
            rows.append((name, 0, math.nan, 0.0, math.inf, 0.0, math.inf, math.inf, 1.0))
            continue
        values = finite(groups[name]["log_ratio"], f"Log ratios of {name}")
        rows.append((name, *_ratio_of(values, each)))
    return pd.DataFrame(rows, columns=list(INTERVAL_COLUMNS))


def ratio_interval(log_ratios: ArrayLike, claims: int, level: float = 0.95) -> dict[str, float]:
    """`ratio_intervals` of the log ratios (blocks,) of one comparison: ratio, low, high, low95,
    high95, half_width, blocks. Error: as there."""
    values = finite(log_ratios, "Log ratios")
    made = zip(INTERVAL_COLUMNS[1:], _ratio_of(values, adjusted_level(claims, level)), strict=True)
    row = dict(made)
    return {name: row[name] for name in ("ratio", *INTERVAL_COLUMNS[3:8], "blocks")}


def _ratio_of(values: Floats, level: float) -> tuple[float, ...]:
    both, point = signed_rank_interval(values, level), signed_rank_interval(values, POINTWISE)
    ends = np.exp([both.estimate, both.low, both.high, point.low, point.high])
    return (both.n, *ends.tolist(), (both.high - both.low) / 2, both.attained)


def ratio_intervals_by_state(
    log_ratios: pd.DataFrame, claims: int, level: float = 0.95
) -> pd.DataFrame:
    """[comparison, block, log_ratio, state] -> `ratio_intervals` with a first column, state.

    "all" (every block, the primary estimate) comes first, then each state and "mixed" by name.
    Error: each row holds by itself; the rows of the states are not simultaneous with one another.
    """
    need_columns(log_ratios, ("comparison", "block", "log_ratio", "state"), "Log ratios")
    parts = [("all", log_ratios)]
    parts += [(str(state), part) for state, part in log_ratios.groupby("state", sort=True)]
    tables = []
    for state, part in parts:
        table = ratio_intervals(part, claims, level)
        table.insert(0, "state", state)
        tables.append(table)
    return pd.concat(tables, ignore_index=True)
