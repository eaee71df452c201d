"""few-samples: shares of toplev whose events were counted for a part of the time only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchbook.explain.model import Report
from benchbook.explain.readers.toplev import TOOL, TURNS
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

MOST, FEW = 60.0, 0.2  # per cent of the time; of one row
APART = 10.0  # percentage points between two runs


@rule
def events_in_turn(reports: Sequence[Report]) -> Iterator[Finding]:
    """Shares of events that took turns, next to those of a run in which they did not."""
    runs = [report for report in reports if report.tool == TOOL]
    for report in runs:
        turns = report.only(TURNS)
        rows = [row for row in report.results if row.of.get("running_fraction") is not None]
        least = min(rows, key=lambda row: row.of["running_fraction"], default=None)
        if turns is not None and 0 < turns.value <= MOST:
            counted, part = turns, turns.value / 100
        elif least is not None and least.of["running_fraction"] <= FEW:
            counted, part = least, least.of["running_fraction"]
        else:
            continue
        words = {"counted": counted, "part": part, "line": counted.line, **_other(report, runs)}
        yield finding("slots-in-turn", words, about=[counted])
        return


def _other(report: Report, runs: Sequence[Report]) -> dict[str, object]:
    """The share that differs most in a run without turns; words without values where none does."""
    most: tuple[float, dict[str, object]] = (APART, {"own": None, "other": None})
    for run in runs:
        turns = run.only(TURNS)
        if run is report or turns is None or turns.value < 100:
            continue
        for own in report.results:
            other = run.only(own.name)
            if own.unit == "%" and own.name != TURNS and other is not None:
                apart = abs(own.value - other.value)
                if apart > most[0]:
                    most = apart, {"own": own, "other": other}
    return most[1]
