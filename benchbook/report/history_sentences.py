"""`benchbook history` as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchbook.core.files import storable
from benchbook.core.number_format import duration, number, plural, with_interval
from benchbook.history.series import FoundStep, Series
from benchbook.history.steps import LEAST_RUNS
from benchbook.report import confirmation_sentences
from benchbook.report.text_table import aligned

VERSION = 1
HOW_TO_CONFIRM = (
    "Each step is seen, not confirmed: --confirm measures before and after next to each other now."
)


def as_text(subject: str, series: Sequence[Series]) -> str:
    """The steps of each measurement, those with steps first, and how long each series is."""
    first, *rest = summary(subject, series)
    lines = [first]
    for item in series:
        if item.steps:
            lines += [item.name, *(f"  {step(found)}" for found in item.steps)]
    return "\n".join([*lines, *rest, "", *_table(series)])


def summary(subject: str, series: Sequence[Series]) -> list[str]:
    """How many measurements and runs there are, and whether steps were seen."""
    runs = max(len(item.entries) for item in series)
    sentences = [f"{subject}: {plural(len(series), 'measurement')} in {plural(runs, 'run')}."]
    if runs < LEAST_RUNS:
        return [*sentences, f"Too few runs for a step: it takes {LEAST_RUNS}."]
    if not any(item.steps for item in series):
        return [*sentences, "No step was seen."]
    return [*sentences, *(confirmation_sentences.summary(series) or [HOW_TO_CONFIRM])]


def step(found: FoundStep) -> str:
    """From which run on, by how much, what else changed there, and whether it is confirmed."""
    factor = with_interval(found.step.ratio, found.step.low, found.step.high, edges=[1.0])
    changes = "; ".join(f"{item.what} {item.a} → {item.b}" for item in found.changes)
    what = f"Changed between these two runs: {changes}." if changes else "Nothing else changed."
    verb = "slower" if found.step.ratio > 1 else "faster"
    seen = f"{verb} from run {found.after.run} on: {factor} times as long as before. {what}"
    return f"{seen} {confirmation_sentences.confirmation(found)}".rstrip()


def _table(series: Sequence[Series]) -> list[str]:
    """One line a measurement: first, median and last run."""
    rows: list[tuple[str, ...]] = [("measurement", "runs", "first", "median", "last", "steps")]
    for item in series:
        values = [entry.value for entry in item.entries]
        middle = sorted(values)[len(values) // 2]
        texts = (value(amount, item.unit) for amount in (values[0], middle, values[-1]))
        rows.append((item.name, str(len(values)), *texts, str(len(item.steps))))
    return aligned(rows, {0})


def value(amount: float, unit: str) -> str:
    """A value of a series with its unit; a ratio has none."""
    return duration(amount) if unit == "ns" else number(amount)


def _confirmed(found: FoundStep) -> dict[str, Any]:
    shown, sentence = found.confirmation, confirmation_sentences.confirmation(found)
    return {
        "confirmed": confirmation_sentences.is_confirmed(shown),
        "confirmation": confirmation_sentences.as_json(shown, sentence),
    }


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
                            **_confirmed(found),
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
