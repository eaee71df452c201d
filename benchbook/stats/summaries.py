"""One summary per invocation and point, out of all its samples."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchbook.core.errors import BenchbookError
from benchbook.stats.checks import finite, need_columns
from benchbook.stats.processes import KEYS, add_processes

SAMPLE_COLUMNS = (*KEYS, "sample", "warm_up", "time_ns", "bytes_declared")


def invocation_summaries(samples: pd.DataFrame, paper_samples: int | None = None) -> pd.DataFrame:
    """One row per sample -> one row per block, invocation and point; times in ns.

    Columns: block, invocation, point, samples (warm-ups not counted), median_ns, mean_ns, best_ns,
    p10_ns, p90_ns, p99_ns, paper_samples, paper_mean_ns, paper_best_ns, bytes_declared (of one
    sample). `paper_samples` asks for the paper's own statistic, over its first N samples after the
    warm-ups; the column of that name says how many were there, and both figures are missing if
    there were fewer. An invocation with warm-ups alone gets no row. With a column `process`, each
    process is summarised for itself, and `add_processes` makes one row of them.

    Error: quantiles interpolate between neighbours, so p10, p90 and p99 of few samples are near
    the extremes. The best falls as samples are added; it is per invocation, compared like any other
    summary, and never bootstrapped. Nothing here is an interval: samples of one invocation are
    not independent.
    """
    need_columns(samples, SAMPLE_COLUMNS, "Samples")
    if paper_samples is not None and paper_samples < 1:
        raise BenchbookError(f"The paper's number of samples is {paper_samples}; give at least 1.")
    keys = [*KEYS, *(["process"] if "process" in samples else [])]
    ordered = samples.sort_values([*keys, "sample"])
    # One number a group: keys of several columns take pandas three times as long.
    is_next = _differs(ordered, keys)
    if not (is_next | _differs(ordered, ["sample"])).all():
        raise BenchbookError("A sample occurs twice in one invocation; load each run once.")
    if len(samples) and (finite(samples["time_ns"], "Sample times") < 0).any():
        raise BenchbookError("A sample has a negative duration; its clock is not monotonic.")
    kept = ordered.assign(group=is_next.cumsum())[~ordered["warm_up"].to_numpy(dtype=bool)]
    groups = kept.groupby("group")
    declared = groups["bytes_declared"]
    if (declared.max() > declared.min()).any():
        raise BenchbookError(
            "The samples of one invocation declare different bytes; split the point."
        )
    time = groups["time_ns"]
    wanted = paper_samples or 0
    first = groups.head(wanted).groupby("group")["time_ns"]
    table = kept[["group", *keys]].drop_duplicates("group").set_index("group")
    table = table.assign(
        samples=time.size(),
        median_ns=time.median(),
        mean_ns=time.mean(),
        best_ns=time.min(),
        p10_ns=time.quantile(0.1),
        p90_ns=time.quantile(0.9),
        p99_ns=time.quantile(0.99),
        paper_samples=first.size().reindex(table.index, fill_value=0),
    )
    enough = (table["paper_samples"] == wanted) & (wanted > 0)
    table["paper_mean_ns"] = first.mean().reindex(table.index).where(enough)
    table["paper_best_ns"] = first.min().reindex(table.index).where(enough)
    table["bytes_declared"] = declared.first()
    table = table.reset_index(drop=True)
    return add_processes(table) if "process" in table else table


def _differs(ordered: pd.DataFrame, columns: list[str]) -> NDArray[np.bool_]:
    """Whether each row differs from the one before it in a column (n,); the first one does."""
    differs = np.ones(len(ordered), dtype=bool)
    values = [ordered[name].to_numpy() for name in columns]
    differs[1:] = np.any([column[1:] != column[:-1] for column in values], axis=0)
    return differs
