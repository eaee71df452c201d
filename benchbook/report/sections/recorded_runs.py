"""Recorded runs beside a figure: what they are called, their rows beside those of this machine."""

from __future__ import annotations

from typing import Any

from benchbook.core import number_format
from benchbook.report.wording import Paper

FEW = 12  # rows that stand open; more are folded
MARKS = "Stars on thin grey lines: recorded, not here ({})."
Row = dict[str, Any]


def description(paper: Paper, run: Row) -> str:
    """`AMD EPYC, 2 cores, 2026-11-22, preset tiny, 8 rounds, commit 0ede7313 with changes`."""
    where = " (a machine like this one)" if run["host"] == paper["host"] else ""
    changed = " with changes" if run["changed"] else ""
    return (
        f"{run['model']}{where}, {number_format.plural(run['cores'], 'core')}, {run['date']}, "
        f"preset {run['preset']}, {number_format.plural(run['blocks'], 'round')}, "
        f"commit {run['commit'][:8]}{changed}"
    )


def short_name(run: Row) -> str:
    """`R1: AMD EPYC, 2026-11-22`."""
    return f"{run['name']}: {run['model']}, {run['date']}"


def recorded_values(figure: dict[str, Any], rows: str, number: int) -> list[tuple[Row, Row]]:
    """What was recorded for one of a figure's `rows` or `ranges`, by its number: (run, row)."""
    pairs = ((run, run[rows][number]) for run in figure["recorded"] if run[rows])
    return [(run, row) for run, row in pairs if row["rerun"] is not None]


def table(figure: dict[str, Any]) -> list[tuple[Row, Row, Row]]:
    """All that was recorded for a figure: (its own row, recorded run, recorded row)."""
    rows = "rows" if figure["rows"] else "ranges"
    return [
        (own, *pair)
        for k, own in enumerate(figure[rows])
        for pair in recorded_values(figure, rows, k)
    ]


def columns(figure: dict[str, Any], rows: str, unit: str) -> dict[str, list[float | None]]:
    """Column of a CSV -> a value for each of a figure's `rows` or `ranges`; `unit`: as names have
    it. Values, and the ends of their 95 % intervals, of each recorded run by its name."""
    return {
        f"recorded_{run['name']}_{end}{unit}": [row[key] for row in run[rows]]
        for run in figure["recorded"]
        if run[rows]
        for key, end in (("rerun", ""), ("low", "low95_"), ("high", "high95_"))
    }


def how_to_read(figure: dict[str, Any]) -> str:
    """How to read the marks of recorded values, in the pictures that have some."""
    shown = {run["name"]: short_name(run) for _, run, _ in table(figure)}
    return "" if figure["grid"] or not shown else f" {MARKS.format('; '.join(shown.values()))}"


def plot_marks(recorded: list[tuple[Row, Row]]) -> list[tuple[float, float | None, float | None]]:
    """What a picture draws of them: value, ends of the interval."""
    return [(row["rerun"], row["low"], row["high"]) for _, row in recorded]


def in_words(recorded: list[tuple[Row, Row]], unit: str = "") -> str:
    """Recorded values in words, for pictures: `, recorded 7.7 (R1: AMD EPYC, 2026-11-22)`."""
    parts = [
        f"{number_format.number(row['rerun'], row['low'], row['high'])}{unit} ({short_name(run)})"
        for run, row in recorded
    ]
    return f", recorded {number_format.listed(parts)}" if parts else ""
