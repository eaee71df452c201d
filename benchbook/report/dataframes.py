"""Results as tidy tables for a notebook: one row per point or per sample, units in column names."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import pandas as pd

from benchbook.core.errors import BenchbookError
from benchbook.core.parquet import read_parquet
from benchbook.core.sizes import parse_bytes

ABOUT = ("experiment", "point", "variant", "twin", "state", "reason", "blocks", "samples")
NUMBERS = (
    "time_ns",
    "time_low_ns",
    "time_high_ns",
    "rate_bytes_per_s",
    "rate_low_bytes_per_s",
    "rate_high_bytes_per_s",
    "best_ns",
)
WITHIN = ("p10_ns", "p90_ns", "p99_ns", "mean_ns")
SAMPLES = "samples.parquet"


def points(content: dict[str, Any]) -> pd.DataFrame:
    """A row per point of a paper.json: ABOUT, NUMBERS (of one call) and WITHIN a start in ns and
    bytes/s, then one column per factor; what a point has not is missing."""
    rows = [
        {name: point.get(name) for name in (*ABOUT, *NUMBERS)}
        | {name: (point.get("spread_ns") or {}).get(name) for name in WITHIN}
        | point["factors"]
        for point in content["points"]
    ]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return pd.DataFrame(rows, columns=columns or [*ABOUT, *NUMBERS, *WITHIN])


def samples(content: dict[str, Any], root: Path) -> pd.DataFrame:
    """A row per sample of every experiment of a paper.json, as samples.parquet has them (times in
    ns, sizes in bytes). `root`: the checkout; BenchbookError if a table is gone."""
    tables = []
    for name, experiment in content["experiments"].items():
        path = root / experiment["results"] / SAMPLES
        if not path.exists():
            raise BenchbookError(
                f"{path} is gone, with the samples of {name}; run `snakemake {content['paper']}`"
            )
        tables.append(read_parquet(path))
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()


def filtered(
    table: pd.DataFrame, wanted: dict[str, Any], points: Collection[str] | None = None
) -> pd.DataFrame:
    """The rows of a table whose columns hold the wanted values, each one value or a list of them;
    sizes may be written as text (`bytes="32 MiB"`), and `points` keeps those points only.
    BenchbookError names the columns where one is unknown."""
    kept = table if points is None else table[table["point"].isin(points)]
    for column, value in wanted.items():
        if column not in table.columns:
            columns = ", ".join(map(str, table.columns))
            raise BenchbookError(f"there is no column {column!r}; columns are {columns}")
        values = list(value) if isinstance(value, (list, tuple, set)) else [value]
        if column.endswith("bytes"):
            values = [parse_bytes(size) for size in values]
        kept = kept[kept[column].isin(values)]
    return kept.reset_index(drop=True)


def clean(table: pd.DataFrame) -> pd.DataFrame:
    """The samples without warm-ups, control builds, and rounds that other programs disturbed or
    that were abandoned. What is only simulated stays."""
    counts = table["state"].isin(("ok", "simulated")) & ~table["warm_up"] & ~table["disturbed"]
    return table[counts & (table["twin"] == "")]
