"""Pairs of figures that a log itself compares: two builds, or two columns of a row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.results import grouped

FIGURES = ("", "mean", "median", "best")
COMPARING = ("change", "ratio")
OLD = late(r"(?i)\b(?:before|old|base(?:line)?|main|master|current|without|original|prev\w*)\b")
NEW = late(r"(?i)\b(?:after|new|pr|head|branch|this|patched|with|optimi[sz]ed|now|proposed)\b")
_PREVIOUS, _CURRENT = late(r"(?i)\bprev\w*\b"), late(r"(?i)\bcurrent\b")
_RUN = late(r"(?i)(?:run|iteration|trial|attempt) ?#?\d{1,3}|first|second")
SPREADS = ("error", "range", "confidence 99.9 %", "standard error", "stddev")
SIDES = ("old", "new")
OF_TABLES = "table"
OF_LINES = ("benchmark.js",)


@dataclass(frozen=True)
class Compared:
    """Two figures of one quantity, the first before and the second after a change, as far as the
    log shows which is which; their spreads where they have one."""

    old: Result
    new: Result
    spreads: tuple[Result | None, Result | None] = (None, None)

    @property
    def percent(self) -> float:
        """The change from the first to the second, in per cent of the first."""
        return 100 * (self.new.base_value / self.old.base_value - 1)

    @property
    def p_value(self) -> float | None:
        """How likely such a difference is by chance, where a test says so."""
        value = self.new.of.get("p_value", self.old.of.get("p_value"))
        return float(value) if is_number(value) else None

    @property
    def repetitions(self) -> float | None:
        """Of how many runs each is, where the log shows it."""
        runs: Any = self.new.of.get("repetitions")
        return float(runs) if is_number(runs) else None


def compared(reports: Sequence[Report]) -> Iterator[Compared]:
    """All pairs of a log that stand next to each other, in its order."""
    for report in reports:
        if "build" in report.columns:
            yield from _builds(report)
        elif report.tool == OF_TABLES:
            yield from _rows(report)
    of_reports = [report for report in reports if report.facts.get("benchmark")]
    by_line = grouped(
        (report for report in of_reports if "build" in report.facts), lambda report: report.line
    )
    for several in by_line.values():
        if len(several) == len(SIDES):
            figures = [_first(report) for report in several]
            yield from _pair(*figures, *(_spread(report) for report in several))


def _builds(report: Report) -> Iterator[Compared]:
    figures: dict[tuple[str, int], dict[str, Result]] = {}
    spreads: dict[tuple[str, int], dict[str, Result]] = {}
    for result in report.knowing("build"):
        side = str(result.of.get("build"))
        # Some tools have a line for each side.
        line = 0 if report.tool in OF_LINES else result.line
        key = result.name.removesuffix(f" {side}"), line
        if result.statistic in SPREADS:
            spreads.setdefault(key, {})[side] = result
        else:
            figures.setdefault(key, {})[side] = result
    for key, sides in figures.items():
        own = spreads.get(key, {})
        yield from _pair(*(sides.get(side) for side in SIDES), *(own.get(side) for side in SIDES))


def _rows(report: Report) -> Iterator[Compared]:
    for row in grouped(report.results, lambda result: result.line).values():
        figures = [own for own in row if own.statistic in FIGURES]
        spreads = {own.name: own for own in row if own.statistic == "error"}
        if len(figures) != len(SIDES) or figures[0].unit != figures[1].unit:
            continue
        is_told = any(own.statistic in COMPARING for own in row)
        if is_told or _are_sides(*figures):
            yield from _pair(*figures, *(spreads.get(own.name) for own in figures))


def _are_sides(first: Result, second: Result) -> bool:
    """Whether the heads of two columns are those of two sides, and not of two quantities."""
    names = (first.name, second.name)
    if all(_RUN.fullmatch(name) for name in names):
        return True
    if _PREVIOUS.search(first.name) and _CURRENT.search(second.name):
        return True  # next to that word the current one is the new side
    return any(
        OLD.search(old) and NEW.search(new) and not OLD.search(new)
        for old, new in (names, names[::-1])
    )


def _first(report: Report) -> Result | None:
    return next((own for own in report.results if own.statistic in FIGURES), None)


def _spread(report: Report) -> Result | None:
    return next((own for own in report.results if own.statistic in SPREADS), None)


def _pair(
    old: Result | None, new: Result | None, of_old: Result | None, of_new: Result | None
) -> Iterator[Compared]:
    if old is None or new is None or not (old.is_positive and new.is_positive):
        return
    if is_number(new.base_value / old.base_value):
        yield Compared(old, new, (of_old, of_new))
