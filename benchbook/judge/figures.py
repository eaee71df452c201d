"""One published table with its rerun: printed cell and estimate, ranges, recomputed numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from benchbook import stats
from benchbook.analyse import pairwise
from benchbook.analyse.sample_quality import UNTOLD
from benchbook.analyse.tables import rate
from benchbook.audit.rounding import rounded
from benchbook.core.errors import BenchbookError
from benchbook.core.reason_codes import Code, Reason
from benchbook.core.units import TIME, UNITS, VALUES, quantity_of
from benchbook.define.models import Figure, RangeSeries, Series
from benchbook.define.points import NOT_IN_PRESET, resolve
from benchbook.define.published import beyond, labels, read_table
from benchbook.estimands import Known, names_of
from benchbook.judge.resolved_claim import Claim, Measured, resolve_claim

SIZE_UNKNOWN = "a size that the claim names is unknown here"
KEPT = ("id", "title", "table", "experiment", "x", "published", "y_unit", "machine", "comparable")


def rerun_figure(
    root: Path,
    paper: str,
    figure: Figure,
    analysis: dict[str, Any],
    summaries: pd.DataFrame,
    content: dict[str, Any],
    audited: list[dict[str, Any]],
) -> dict[str, Any]:
    """One figure without its claims: printed and rerun value per row.

    `content` is the experiment's definition, `audited` the checks of the paper's own numbers.
    """
    run = Measured(analysis["points"], summaries)
    table = _Table(
        paper,
        figure,
        read_table(root, paper, figure.table),
        labels(root, paper, figure.table),
        run,
        content,
        analysis["sizes"],
    )
    rows = [table.row(series) for series in figure.select]
    if rows:
        pairwise.add_ratios(rows, summaries, figure.y_unit)
    for row in rows:
        row["run_groups"] = _run_groups([run["rerun"] for run in row["invocations"]])
    return {
        **{key: getattr(figure, key) for key in KEPT},
        "quantity": quantity_of(figure.y_unit),
        "grid": figure.grid is not None,
        "not_rerun": table.not_rerun(),
        "whole": None if figure.grid else beyond(root, paper, figure.model_dump(exclude_none=True)),
        "rows": rows,
        "traffic": table.traffic(),
        "ranges": [table.range(series) for series in figure.ranges or []],
        "recomputed": [
            check
            for check in audited
            if (check["table"], check["rule"]) == (figure.table, figure.recomputed)
        ],
    }


@dataclass(frozen=True)
class _Table:
    """A figure's table as printed, with the run whose points rerun it."""

    paper: str
    figure: Figure
    cells: list[dict[str, str]]
    as_printed: dict[str, str]  # column -> its heading
    run: Measured
    content: dict[str, Any]
    sizes: dict[str, Any]

    @cached_property
    def points(self) -> Known:
        """Those of the run by id."""
        return self.run.known

    def printed(self, series: Series | RangeSeries) -> dict[str, Any]:
        """The cell that a series names, and where it stands."""
        column = series.y or self.figure.y or ""
        origin = f"{self.paper}/{self.figure.table}"
        printed = cell(self.cells, series.row, column, origin)
        return {"row": series.row, "column": column, "printed": printed}

    def row(self, series: Series) -> dict[str, Any]:
        """Printed cell and rerun of one point."""
        figure, printed = self.figure, self.printed(series)
        name = None if series.point is None else resolve(self.content, series.point, self.sizes)
        point = self.points.get(name or "", {"state": "not_in_preset", "reason": NOT_IN_PRESET})
        if series.beyond_host:
            point = {"state": "beyond_host", "reason": series.beyond_host}
        label, column = str(series.row.get(figure.x, "")), printed["column"]
        return {
            **printed,
            # Rows of a grid stand in one group for each of its lines, labelled by column.
            "group": label if figure.grid else "",
            "label": self.as_printed.get(column, column) if figure.grid else label,
            "point": name,
            "state": point["state"],
            "reason": point["reason"],
            "emulates": point.get("emulates", ""),
            **_rerun(point, figure.y_unit),
        }

    def traffic(self) -> list[dict[str, Any]]:
        """{label, messages_per_s, message_bytes, at_most} of each program, as printed. A size that
        is printed as 0 is the largest that rounds to it, and `at_most` is true."""
        named = self.figure.traffic
        if named is None:
            return []
        sizes = [rounded(row[named.message_size]) for row in self.cells]
        return [
            {
                "label": row[self.figure.x],
                "messages_per_s": float(row[named.messages_per_s]),
                "message_bytes": float((size.middle or size.high) * named.size_bytes),
                "at_most": size.middle == 0,
            }
            for row, size in zip(self.cells, sizes, strict=True)
        ]

    def range(self, series: RangeSeries) -> dict[str, Any]:
        """A printed range and that of the rerun, (max - min) ÷ max of medians, both in percent;
        `low`, `high` are pointwise 95 %, `null` what points of equal truth would show here."""
        printed = self.printed(series)
        named = [printed["column"].removesuffix("_percent").replace("_", " ")] if series.y else []
        estimand = {"kind": "range", "quantity": "rate", "holds": "all"}
        claim = Claim(estimand | {"points": series.points, "over": series.over}, statistic="median")
        resolved = resolve_claim(claim, self.content, self.sizes, self.run).estimated(1)
        row = {
            **printed,
            "label": ", ".join([*map(str, series.row.values()), *named]),
            "points": names_of(resolved.used),
            "left_out": resolved.left_out,
            **_state(resolved.missing),
            **dict.fromkeys(("rerun", "low", "high", "null")),
        }
        made = resolved.estimate
        if made is None:
            return row
        null = next(iter(made.notes["ranges"].values())).get("of_medians")
        return row | {
            "rerun": 100 * made.value,
            "low": 100 * made.low95,
            "high": 100 * made.high95,
            "null": null and {key: 100 * value for key, value in null.items()},
        }

    def not_rerun(self) -> list[dict[str, str]]:
        """Cells of a grid's table that it does not rerun, such as failures that stand for a
        rate."""
        figure = self.figure
        if figure.grid is None:
            return []
        rerun = {figure.x, *figure.grid.columns}
        return [
            {
                "row": row[figure.x],
                "label": self.as_printed.get(column, column),
                "printed": printed,
            }
            for row in self.cells
            for column, printed in row.items()
            if column not in rerun and printed
        ]


def _run_groups(values: list[float]) -> list[dict[str, Any]]:
    """The two groups into which the runs of a point fall, as {runs, low, high}; empty where they
    make one."""
    groups = stats.two_groups(values) if values else None
    return [
        {"runs": len(group), "low": float(group[0]), "high": float(group[-1])}
        for group in groups or ()
    ]


def _state(missing: Reason | None) -> dict[str, str]:
    """State and reason of a range, as those of a point."""
    if missing is None:
        return {"state": "ok", "reason": ""}
    if missing.code == Code.NOT_IN_PRESET:
        return {"state": "not_in_preset", "reason": NOT_IN_PRESET}
    return {"state": "cannot_run", "reason": missing.parameters.get("why", SIZE_UNKNOWN)}


def cell(rows: list[dict[str, str]], wanted: dict[str, Any], column: str, origin: str) -> str:
    """The one cell of a table that a row's values and a column name, as printed."""
    matching = [
        row for row in rows if all(row.get(key) == str(value) for key, value in wanted.items())
    ]
    if len(matching) != 1 or column not in matching[0]:
        raise BenchbookError(
            f"{origin}: {wanted} must name one row with a column {column!r}; "
            f"it names {len(matching)}"
        )
    return matching[0][column]


def _rerun(point: dict[str, Any], unit: str) -> dict[str, Any]:
    """The rerun of one row in the published unit; empty values where there is none."""
    per = UNITS[unit]
    names = VALUES[quantity_of(unit)]
    values = {
        key: point[name] / per if point.get(name) is not None else None
        for key, name in names.items()
    }
    of_paper = point.get("paper_ns")
    if of_paper and quantity_of(unit) != TIME:
        of_paper = rate(point["bytes_per_call"], of_paper)
    return {
        **values,
        "paper_statistic": of_paper / per if of_paper else None,
        "paper_statistic_name": point.get("paper_statistic"),
        "paper_samples": point.get("paper_samples"),
        "blocks": point.get("blocks", 0),
        "samples": point.get("samples", 0),
        "observations": point.get("observations", {}),
        "inside": point.get("inside") or UNTOLD,
        "other_blocks": {
            name: {key: part[name] / per if part[name] else None for key, name in names.items()}
            | {"blocks": part["blocks"]}
            for name, part in _parts(point).items()
        },
    }


def _parts(point: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Estimates over some of the blocks: the undisturbed ones, and each machine state."""
    states = point.get("by_machine_state", {})
    parts = {"undisturbed blocks": point.get("undisturbed")}
    parts |= {f"machine state {name}": part for name, part in states.items()}
    return {name: part for name, part in parts.items() if part}
