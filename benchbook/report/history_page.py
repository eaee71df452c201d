"""The page of `benchbook history`: a picture of each series, its steps, and a table of its runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchbook.core.number_format import plural
from benchbook.history.series import Series
from benchbook.report import history_sentences
from benchbook.report.index_page import write_page
from benchbook.report.plots.history import over_runs
from benchbook.report.render import svg_of

PICTURES_MOST = 40  # of series without a step; the tables have all of them
NS_IN = {"ns": 1.0, "µs": 1e3, "ms": 1e6, "s": 1e9}


def make_page(subject: str, series: Sequence[Series], output: Path) -> None:
    """Write the page; series with a step come first."""
    ordered = sorted(series, key=lambda item: not item.steps)
    write_page(
        output,
        "history.html.j2",
        f"{subject} over all runs",
        subject=subject,
        summary=history_sentences.summary(subject, series),
        items=[
            _item(subject, item, bool(item.steps) or number < PICTURES_MOST)
            for number, item in enumerate(ordered)
        ],
        environment="",
    )


def _item(subject: str, series: Series, is_drawn: bool) -> dict[str, Any]:
    values = [entry.value for entry in series.entries]
    unit, factor = _unit(series)
    runs = plural(len(values), "run")
    sentences = [history_sentences.step(found) for found in series.steps]
    alt = f"{series.name}: {runs}. {' '.join(sentences) or 'No step was seen.'}"
    picture = None
    if is_drawn and len(values) > 1:
        scaled = [value / factor for value in values]
        steps = [found.step.at for found in series.steps]
        picture = over_runs(f"history-{subject}-{series.name}", alt, scaled, steps, unit)
    return {
        "name": series.name,
        "runs": runs,
        "sentences": sentences,
        "svg": svg_of(picture),
        "entries": [
            {
                "run": entry.run,
                "value": history_sentences.value(entry.value, series.unit),
                "starts": entry.starts,
                "steps": any(found.after is entry for found in series.steps),
            }
            for entry in series.entries
        ],
    }


def _unit(series: Series) -> tuple[str, float]:
    """The unit in which the largest value has few digits, and by what values are divided."""
    if series.unit != "ns":
        return series.unit, 1.0
    largest = max(entry.value for entry in series.entries)
    return [(unit, ns) for unit, ns in NS_IN.items() if ns <= largest or ns == 1.0][-1]
