"""The page of `benchbook ab`: the answer, each round as a dot, and every figure in a table."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchbook.ab.answer import Interval
from benchbook.ab.counted import Count
from benchbook.ab.rounds import Measured
from benchbook.core.number_format import duration, number
from benchbook.report import ab_sentences
from benchbook.report.index_page import write_page
from benchbook.report.plots.forest import Row, forest
from benchbook.report.render import svg_of

WAITED = 0.05  # of a run's time: its round is drawn as disturbed


def make_page(results: Sequence[tuple[Measured, Sequence[Count]]], output: Path) -> None:
    """Write the page of one or several comparisons."""
    output.parent.mkdir(parents=True, exist_ok=True)
    title = ab_sentences.headline(results[0][0]) if len(results) == 1 else "Commands compared"
    write_page(
        output,
        "ab.html.j2",
        title,
        cases=[_case(*result) for result in results],
        environment="",
    )


def _case(measured: Measured, counts: Sequence[Count]) -> dict[str, Any]:
    outcome = measured.outcome
    logs = measured.logs()
    waited = [
        any(run.delay_share > WAITED for runs in rounds.values() for run in runs)
        for rounds in measured.rounds
    ]
    unit = "ratio of times" if not measured.case.metric else "ratio of figures, below 1 is better"
    rows = [
        _row("B over A", [b - (a + again) / 2 for a, again, b in logs], waited, outcome.factor),
        _row("A over itself", [again - a for a, again, _ in logs], waited, outcome.null),
    ]
    return {
        "name": measured.case.name,
        "names": ab_sentences.names(measured.case),
        "headline": ab_sentences.headline(measured),
        "sentences": [
            ab_sentences.null(measured),
            ab_sentences.method(measured),
            *ab_sentences.symptom_sentences(measured),
        ],
        "counted": ab_sentences.counted(counts),
        "svg": svg_of(
            forest(
                f"ab-{measured.case.name}",
                f"{ab_sentences.headline(measured)} {ab_sentences.null(measured)}",
                rows,
                unit=unit,
                label_at_1="1",
                columns=("", "ratio"),
            )
        ),
        "arms": [
            {
                "name": name,
                "runs": len(measured.runs_of(arm)),
                "median": duration(statistics.median(run.wall_ns for run in measured.runs_of(arm))),
                "cpu": duration(statistics.median(run.cpu_ns for run in measured.runs_of(arm))),
                "waited": duration(statistics.median(r.delay_ns for r in measured.runs_of(arm))),
            }
            for arm, name in (("a", "A"), ("again", "A again"), ("b", "B"))
        ],
    }


def _row(label: str, logs: Sequence[float], waited: Sequence[bool], interval: Interval) -> Row:
    return Row(
        label,
        value=interval.ratio,
        low=interval.low,
        high=interval.high,
        here=number(interval.ratio, interval.low, interval.high),
        dots=[(math.exp(log), was) for log, was in zip(logs, waited, strict=True)],
    )
