"""A figure's or a sweep's values as CSV: published next to rerun, the unit in the column names."""

from __future__ import annotations

from typing import Any

from benchbook.core.units import in_names
from benchbook.report.csv_text import csv_text
from benchbook.report.sections import recorded_runs

# Columns of a figure's CSV -> keys of its rows.
RANGES = {
    "row": "label",
    "column": "column",
    "printed_percent": "printed",
    "rerun_percent": "rerun",
    "rerun_low95_percent": "low",
    "rerun_high95_percent": "high",
    "state": "state",
    "reason": "reason",
}
RECOMPUTED = {
    "number": "where",
    "printed": "printed",
    "recomputed": "recomputed",
    "consistent": "consistent",
}


def _csv(rows: list[dict[str, Any]], columns: dict[str, str]) -> str:
    return csv_text(columns, ([row[key] for key in columns.values()] for row in rows))


def figure_csv(figure: dict[str, Any]) -> str:
    """A figure's rows as CSV: printed beside rerun, the unit in the column names."""
    if figure["ranges"]:
        theirs = recorded_runs.columns(figure, "ranges", "percent")
        return _csv(_with(figure["ranges"], theirs), RANGES | {name: name for name in theirs})
    if figure["recomputed"]:
        return _csv(figure["recomputed"], RECOMPUTED)
    unit = in_names(figure["y_unit"])
    names = {
        "printed": f"printed_{unit}",
        "rerun": f"rerun_{unit}",
        "low": f"rerun_low95_{unit}",
        "high": f"rerun_high95_{unit}",
        "paper_statistic": f"rerun_papers_statistic_{unit}",
        "paper_samples": "n",
        "blocks": "blocks",
        "printed_ratio": "printed_ratio",
    }
    columns = [figure["x"], "column", *names.values(), "rerun_ratio", "rerun_ratio_low95"]
    theirs = recorded_runs.columns(figure, "rows", unit)
    columns += ["rerun_ratio_high95", "point", "state", "reason", *theirs]
    rows = [
        [row["group"] or row["label"], row["column"], *(row[key] for key in names)]
        + [(row["ratio"] or {}).get(key) for key in ("ratio", "low95", "high95")]
        + [row["point"], "simulated" if row["emulates"] else row["state"], row["reason"]]
        + [row[name] for name in theirs]
        for row in _with(figure["rows"], theirs)
    ]
    return csv_text(columns, rows)


def runs_csv(figure: dict[str, Any]) -> str:
    """The single runs behind a figure as CSV: a row each, the unit in the column's name."""
    columns = [figure["x"], "column", "run", f"value_{in_names(figure['y_unit'])}", "disturbed"]
    rows = [
        [row["group"] or row["label"], row["column"], number, run["rerun"], run["disturbed"]]
        for row in figure["rows"]
        for number, run in enumerate(row["invocations"], 1)
    ]
    return csv_text(columns, rows)


def _with(rows: list[dict[str, Any]], more: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """The rows with more columns."""
    return [
        row | {name: own[number] for name, own in more.items()} for number, row in enumerate(rows)
    ]


def sweep_csv(sweep: dict[str, Any]) -> str:
    """A sweep's points as CSV: printed beside rerun, the unit in the column names."""
    unit = in_names(sweep["unit"])
    names = {
        "series": "series",
        sweep["over"]: "at",
        f"printed_{unit}": "printed",
        f"rerun_{unit}": "rerun",
        f"rerun_low95_{unit}": "low",
        f"rerun_high95_{unit}": "high",
        "point": "point",
        "state": "state",
        "reason": "reason",
    }
    rows = [
        value
        | {"series": series["id"], "state": "simulated" if value["emulates"] else value["state"]}
        for series in sweep["series"]
        for value in series["values"]
    ]
    return _csv(rows, names)
