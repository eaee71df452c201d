"""`benchbook history` as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchbook.core.files import storable
from benchbook.core.number_format import duration, number, plural, with_interval
from benchbook.history.series import FoundStep, Series
from benchbook.history.steps import LEAST_RUNS

VERSION = 1
HOW_TO_CONFIRM = (
    "Each step is seen, not confirmed: measure before and after next to each other with "
    "`benchbook ab --rev BEFORE --rev AFTER --build COMMAND -- PROGRAM`."
)


def as_text(subject: str, series: Sequence[Series]) -> str:
    """The steps of each measurement, those with steps first, and how long each series is."""
    stepped = [item for item in series if item.steps]
    runs = max(len(item.entries) for item in series)
    lines = [f"{subject}: {plural(len(series), 'measurement')} in {plural(runs, 'run')}."]
    if runs < LEAST_RUNS:
        lines.append(f"Too few runs for a step: it takes {LEAST_RUNS}.")
    for item in stepped:
        lines += [item.name, *(f"  {_step(item, step)}" for step in item.steps)]
    if stepped:
        lines.append(HOW_TO_CONFIRM)
    elif runs >= LEAST_RUNS:
        lines.append("No step was seen.")
    lines += ["", *_table(series)]
    return "\n".join(lines)


def _step(series: Series, found: FoundStep) -> str:
    factor = with_interval(found.step.ratio, found.step.low, found.step.high, edges=[1.0])
    changes = "; ".join(f"{item.what} {item.a} → {item.b}" for item in found.changes)
    what = f"Changed between these two runs: {changes}." if changes else "Nothing else changed."
    verb = "slower" if found.step.ratio > 1 else "faster"
    return f"{verb} from run {found.after.run} on: {factor} times as long as before. {what}"


def _table(series: Sequence[Series]) -> list[str]:
    """One line a measurement: first, median and last run."""
    rows: list[tuple[str, ...]] = [("measurement", "runs", "first", "median", "last", "steps")]
    for item in series:
        values = [entry.value for entry in item.entries]
        middle = sorted(values)[len(values) // 2]
        texts = (_value(value, item.unit) for value in (values[0], middle, values[-1]))
        rows.append((item.name, str(len(values)), *texts, str(len(item.steps))))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _value(value: float, unit: str) -> str:
    return duration(value) if unit == "ns" else number(value)


def as_json(subject: str, series: Sequence[Series]) -> dict[str, Any]:
    """All series with their runs and steps."""
    content: dict[str, Any] = storable(
        {
            "version": VERSION,
            "subject": subject,
            "items": [
                {
                    "name": item.name,
                    "unit": item.unit,
                    "runs": [
                        {"run": entry.run, "value": entry.value, "starts": entry.starts}
                        for entry in item.entries
                    ],
                    "steps": [
                        {
                            **vars(found.step),
                            "run": found.after.run,
                            "confirmed": False,
                            "changes": [dict(vars(change)) for change in found.changes],
                        }
                        for found in item.steps
                    ],
                }
                for item in series
            ],
        }
    )
    return content
