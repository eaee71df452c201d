"""inconsistent-report, unsteady: times that are the slope of a line through all samples, as
criterion of Haskell gives them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchbook.explain.model import Report, Result
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

POOR, GOOD = 0.9, 0.99  # R²: below, the line says little; its manual wants more than the second
APART = 1.5  # slope ÷ mean, or the other way round
INFLATED = 10.0  # per cent of the variance; the tool itself calls less slight
MOST = 100.0
_Row = dict[str, Result]


@rule
def fitted_times(report: Report) -> Iterator[Finding]:
    """Slopes below 0, of a line that fits badly, or far from the mean of the same samples."""
    if not report.being("fit"):
        return
    rows = _rows(report)
    negative = [row for row in rows if row["fit"].value < 0]
    poor = [row for row in rows if row not in negative and 0 <= _fit(row) < GOOD]
    apart = [row for row in rows if row not in negative and _fit(row) >= GOOD and _is_apart(row)]
    for kind, found in (("negative-slope", negative), ("poor-fit", poor), ("slope-apart", apart)):
        if found:
            row = min(found, key=_fit)
            words: dict[str, Any] = {"fit": row["fit"], "mean": row.get("mean")}
            words |= {"square": row.get("R²"), "left": len(found) - 1 or None, "little": None}
            if kind == "poor-fit" and _fit(row) < POOR:
                words["little"] = row["R²"]
            yield finding(kind, words)


@rule
def variance_by_outliers(report: Report) -> Iterator[Finding]:
    """What the tool says of outliers, and shares of the variance that none can be."""
    shares = [own for own in report.results if own.name.endswith(" variance by outliers")]
    wrong = [own for own in shares if not 0 <= own.value <= MOST]
    inflated = [own for own in shares if INFLATED <= own.value <= MOST]
    if wrong:
        own = wrong[0]
        name = str(own.of["benchmark"])
        deviation = next((each for each in report.being("stddev") if each.name == name), None)
        if deviation is not None and deviation.value != 0:
            deviation = None
        yield finding("no-share", {"share": own, "deviation": deviation}, about=[own])
    if inflated:
        own = max(inflated, key=lambda each: each.value)
        words = {"share": own, "left": len(inflated) - 1 or None}
        yield finding("inflated-variance", words, about=inflated)


def _rows(report: Report) -> list[_Row]:
    rows: dict[str, _Row] = {}
    for result in report.being("fit", "mean", "stddev"):
        if result.is_number and result.statistic not in rows.setdefault(result.name, {}):
            rows[result.name][result.statistic] = result
    for result in report.results:
        name = str(result.of.get("benchmark"))
        if result.name == f"{name} R²" and name in rows:
            rows[name].setdefault("R²", result)
    return [row for row in rows.values() if "fit" in row]


def _fit(row: _Row) -> float:
    square = row.get("R²")
    return square.value if square is not None and square.is_number else 1.0


def _is_apart(row: _Row) -> bool:
    mean, fit = row.get("mean"), row["fit"]
    if mean is None or not (mean.is_positive and fit.is_positive):
        return False
    times = fit.base_value / mean.base_value
    return not 1 / APART <= times <= APART
