"""inconsistent-report: a change in a table that its own two figures do not make."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.readers.common import unit_tables
from benchbook.explain.results import grouped
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

_CHANGE = late(r"(?i)^(?:delta|change|diff(?:erence)?|improvement|speed-?up|gain|Δ)$")
CHANGES, FIGURES = ("", "change", "ratio"), ("", "mean")
POINTS, SHARE = 1.5, 0.05  # how far digits and rounding may be off


@rule
def change_of_row(report: Report) -> Iterator[Finding]:
    """A change or speed-up in a row that no ratio of its two figures makes.

    Decided where a row has two figures of one unit and one column that says it is the change;
    whichever way round that was computed.
    """
    if report.tool != unit_tables.TOOL:
        return
    for row in grouped(report.results, lambda result: result.line).values():
        changes = [
            own
            for own in row
            if own.unit in ("%", "1") and own.statistic in CHANGES and _CHANGE.match(own.name)
        ]
        figures = [own for own in row if own.unit not in ("%", "1") and own.statistic in FIGURES]
        if len(changes) != 1 or len(figures) != 2 or figures[0].unit != figures[1].unit:
            continue
        first, second = figures
        if first.is_positive and second.is_positive and not _follows(changes[0], first, second):
            change, ratio = second.value / first.value - 1, second.value / first.value
            sign = " %" if changes[0].unit == "%" else " times"
            words: dict[str, object] = {"delta": changes[0], "first": first, "second": second}
            printed = f"{changes[0].value:g}{sign}"
            words |= {"printed": printed, "ratio": max(ratio, 1 / ratio)}
            yield finding("delta-of-row", words, change=100 * abs(change))
            return


def _follows(change: Result, first: Result, second: Result) -> bool:
    ratio = second.value / first.value
    ratios = (ratio, 1 / ratio)
    if change.unit == "1":
        return any(abs(change.value / own - 1) <= SHARE + change.half / own for own in ratios)
    printed = abs(change.value)
    made = [100 * abs(own - 1) for own in ratios] + [100 * own for own in ratios]
    return any(abs(printed - own) <= POINTS + SHARE * own for own in made)
