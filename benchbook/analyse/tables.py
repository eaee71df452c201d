"""Runs -> tidy tables: one row per sample. Rates are computed here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from benchbook.core.errors import BenchbookError
from benchbook.core.files import Record, naming, read_json
from benchbook.core.parquet import damaged
from benchbook.records import journal, seal
from benchbook.records.pointer import run_folder

COLUMNS = (
    ("run", pa.string()),
    ("experiment", pa.string()),
    ("variant", pa.string()),
    ("twin", pa.string()),
    ("point", pa.string()),
    ("method", pa.string()),
    ("block", pa.int32()),
    ("invocation", pa.int32()),
    ("sample", pa.int64()),
    ("process", pa.int32()),
    ("warm_up", pa.bool_()),
    ("t_start_ns", pa.int64()),
    ("time_ns", pa.int64()),
    ("loops", pa.int64()),
    ("bytes_declared", pa.int64()),
    ("rate_bytes_per_s", pa.float64()),
    ("state", pa.string()),
    ("disturbed", pa.bool_()),
)
BATCH_ROWS = 1_000_000
PART_ROWS = 250_000


def rate(declared_bytes: Any, time_ns: Any) -> Any:
    """Declared bytes ÷ time, in bytes per second: numbers, arrays or columns."""
    return declared_bytes / (time_ns / 1e9)


def factor_types(points: list[dict[str, Any]]) -> dict[str, pa.DataType]:
    """One column per factor: int64 where all its values are whole numbers, float64, else text."""
    values: dict[str, list[Any]] = {}
    for point in points:
        for name, value in point["factors"].items():
            values.setdefault(name, []).append(value)
    types = {}
    for name, seen in values.items():
        if all(isinstance(value, int) for value in seen):
            types[name] = pa.int64()
        elif all(isinstance(value, int | float) for value in seen):
            types[name] = pa.float64()
        else:
            types[name] = pa.string()
    return types


def write_samples(pointer: Path, output: Path) -> int:
    """Write samples.parquet of one run in batches; returns the number of rows.

    state: ok, simulated (its point only emulates what it stands for), abandoned (its block was
    interrupted) or void (its check failed); times in ns.
    """
    content, run = run_folder(pointer)
    plan = read_json(run / journal.PLAN)
    points = Record(
        {point["id"]: point for point in plan["points"]}, f"{run / journal.PLAN}", journal.AWAY
    )
    types = {name: kind for name, kind in factor_types(plan["points"]).items() if name != "method"}
    schema = pa.schema([*COLUMNS, *types.items()])
    done = seal.progress(run)
    complete, disturbed = set(done.complete), set(done.disturbed)
    output.parent.mkdir(parents=True, exist_ok=True)
    rows = 0
    with naming(output), pq.ParquetWriter(output, schema, compression="zstd") as writer:
        batch: list[pa.Table] = []
        for record in journal.read_lines(run / journal.JOURNAL):
            if record["kind"] != "invocation":
                continue
            samples = journal.load_samples(run, record)
            if not len(samples.time_ns):
                continue
            common = {
                "run": content["run"],
                "experiment": content["experiment"],
                "block": record["block"],
                "invocation": record["invocation"],
                "point": record["point"],
                "loops": record["loops"],
                "bytes_declared": record["bytes_declared"],
                "state": _state(record, complete, (plan.get("emulation") or {}).get("observation")),
                "disturbed": record["block"] in disturbed,
            }
            batch.append(_table(points[record["point"]], common, record, samples, schema))
            rows += len(samples.time_ns)
            if sum(len(table) for table in batch) >= BATCH_ROWS:
                writer.write_table(pa.concat_tables(batch))
                batch = []
        if batch:
            writer.write_table(pa.concat_tables(batch))
    return rows


def _state(record: dict[str, Any], complete: set[int], emulation: str | None) -> str:
    if record["state"] != "ok":
        return "void"
    if record["block"] not in complete:
        return "abandoned"
    emulates = emulation is not None and (record["observations"].get(emulation) or 0) > 0
    return "simulated" if emulates else "ok"


def _table(
    point: dict[str, Any],
    common: dict[str, Any],
    record: dict[str, Any],
    samples: journal.Samples,
    schema: pa.Schema,
) -> pa.Table:
    times = samples.time_ns
    index = pd.Series(samples.process).groupby(samples.process).cumcount().to_numpy()
    with np.errstate(divide="ignore"):
        rates = np.where(times > 0, rate(record["bytes_declared"], times), np.nan)
    constant = {
        **common,
        "variant": point["variant"],
        "twin": point["twin"],
        **point["factors"],
    }
    varying = {
        "sample": index,
        "process": samples.process,
        "warm_up": index < record["warm_up"],
        "t_start_ns": samples.t_start_ns,
        "time_ns": times,
        "rate_bytes_per_s": rates,
    }
    columns = [
        pa.array(varying[field.name], type=field.type, from_pandas=True)
        if field.name in varying
        else pa.array([constant.get(field.name)] * len(times), type=field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def merge_samples(files: list[Path], output: Path) -> None:
    """All experiments' samples in one table; a factor that an experiment lacks is null there."""
    output.parent.mkdir(parents=True, exist_ok=True)
    names = [str(path) for path in files]
    with _asking(*files) as connection:
        connection.read_parquet(names, union_by_name=True).write_parquet(
            str(output), compression="zstd"
        )


@contextmanager
def _asking(*tables: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection for questions to these tables; BenchbookError where one is cut or damaged."""
    try:
        with duckdb.connect() as connection:
            yield connection
    except duckdb.Error as error:
        raise BenchbookError(damaged(_broken(tables), error)) from None


def _broken(tables: Sequence[Path]) -> Path:
    """The first that is no whole table, else the first."""
    for path in tables:
        try:
            pq.read_metadata(path)
        except (OSError, ValueError):
            return path
    return tables[0]


_COUNTS = """
SELECT point, count(*) FROM read_parquet(?) WHERE state IN ('ok', 'simulated')
GROUP BY point ORDER BY point
"""
_CALLS = """
SELECT block, invocation, point, process, sample, warm_up, time_ns / loops AS time_ns,
       bytes_declared / loops AS bytes_declared, loops
FROM read_parquet(?) WHERE state IN ('ok', 'simulated') AND point BETWEEN ? AND ?
"""
_SPANS = """
SELECT point, block, invocation, any_value(disturbed) AS disturbed,
       min(t_start_ns) AS t_start_ns, max(t_start_ns + time_ns) AS t_end_ns,
       bool_or(state = 'simulated') AS simulated
FROM read_parquet(?) WHERE state IN ('ok', 'simulated') GROUP BY point, block, invocation
"""


def calls_in_parts(samples: Path) -> Iterator[pd.DataFrame]:
    """Valid samples, by the names of their points: as many whole points at a time as have fewer
    than PART_ROWS rows together, or one, so that memory need not hold all.

    time_ns and bytes_declared are per call of the method: a sample may loop it (`loops`).
    """
    with _asking(samples) as connection:
        counts = connection.execute(_COUNTS, [str(samples)]).fetchall()
        parts: list[list[str]] = []
        rows = PART_ROWS
        for name, count in counts:
            if rows + count > PART_ROWS:
                parts.append([])
                rows = 0
            parts[-1].append(name)
            rows += count
        for part in parts:
            yield connection.execute(_CALLS, [str(samples), part[0], part[-1]]).df()


def invocation_spans(samples: Path) -> pd.DataFrame:
    """[point, block, invocation, disturbed, t_start_ns, t_end_ns, simulated], one row per
    invocation."""
    with _asking(samples) as connection:
        return connection.execute(_SPANS, [str(samples)]).df()
