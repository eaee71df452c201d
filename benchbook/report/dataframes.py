"""Results as tidy tables for a notebook: one row per point or per sample, units in column names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from benchbook.core.errors import BenchbookError

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
        tables.append(pd.read_parquet(path))
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()
