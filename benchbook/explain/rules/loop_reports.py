"""undecided-ratio, few-repetitions, heavy-tail, wide-spread: what Celero, poop and deno bench show
of the loops and commands that they time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

CELERO, POOP, TABLE = "celero", "poop", "table"
MUCH = 0.2  # deviation of the samples ÷ the shortest one
FEW_RUNS = 3
TIME, WORK = "wall_time", ("instructions", "cpu_cycles")
RANGED = ("deno-bench",)  # which print mean, min and max only
FAR, LONGEST = 3.0, 5.0  # mean ÷ min; max ÷ mean


@rule
def samples_of_celero(report: Report) -> Iterator[Finding]:
    """Samples of Celero that deviate by much of the shortest one."""
    if report.tool != CELERO:
        return
    shortest = {own.of["benchmark"]: own for own in report.results if own.name.endswith(" sample")}
    wide = [
        (own.value / shortest[name].value, shortest[name], own)
        for own in report.being("stddev")
        if (name := own.of["benchmark"]) in shortest and shortest[name].is_positive
        if own.value >= MUCH * shortest[name].value
    ]
    if wide:
        share, least, spread = max(wide, key=lambda entry: entry[0])
        words: dict[str, Any] = {"least": least, "spread": spread, "share": share}
        words |= {"left": len(wide) - 1 or None, "runs": spread.of["repetitions"]}
        words["name"] = spread.of["benchmark"]
        yield finding("samples-apart", words, about=[spread])


@rule
def without_baseline(report: Report) -> Iterator[Finding]:
    """Ratios of Celero that are no numbers, because the baseline took no time."""
    count = report.facts.get("no_ratio")
    if report.tool == CELERO and count and report.results:
        words = {"count": count, "line": report.facts["no_ratio_line"]}
        yield finding("no-baseline", words, about=report.results[:1])


@rule
def few_runs_of_command(reports: Sequence[Report]) -> Iterator[str]:
    """A note on commands that poop ran three times or less."""
    few = [
        mean
        for report in reports
        if report.tool == POOP and (mean := report.only(TIME, "mean")) is not None
        if is_number(runs := mean.of.get("repetitions")) and runs <= FEW_RUNS
    ]
    if few:
        words = {"first": few[0], "runs": few[0].of["repetitions"]}
        yield finding("few-runs-of-command", words).explanation


@rule
def deltas_of_command(report: Report) -> Iterator[Finding]:
    """Changes of poop: a time whose interval has none in it, or one that changes without the work.

    Decided by the intervals that it prints.
    """
    if report.tool != POOP:
        return
    changes = {own.name: own for own in report.being("change")}
    time = changes.get(TIME)
    if time is None:
        return
    if _has_none(time):
        words = {"change": time, "low": time.of["change_low_percent"]}
        yield finding("change-with-none", words, high=time.of["change_high_percent"])
        return
    work = [changes[name] for name in WORK if name in changes]
    if len(work) == len(WORK) and all(map(_has_none, work)):
        yield finding("time-without-work", {"time": time, "work": work[0]}, about=[time])


def _has_none(change: Result) -> bool:
    return bool(change.of["change_low_percent"] <= 0 <= change.of["change_high_percent"])


@rule
def unchanged_by_the_tool(report: Report) -> Iterator[str]:
    """A note on changes that criterion itself calls none."""
    changes = report.being("change") if report.tool == "criterion-changes" else ()
    none = [own for own in changes if own.of.get("is_same")]
    if none:
        most = max(none, key=lambda own: abs(own.value))
        words = {"most": most, "none": len(none), "count": len(changes)}
        yield finding("unchanged-by-tool", words).explanation


P_VALUE = late(r"(?i)^p-?values?\b(?:.*<\s*(?P<level>0?\.\d+))?")
LEVEL, LEAST_TESTED = 0.05, 3


@rule
def rows_of_tests(report: Report) -> Iterator[Finding]:
    """Rows of tables with p-values of which most are no differences, by the level that it names."""
    if report.tool != TABLE:
        return
    tested = [
        (own, float(found["level"] or LEVEL))
        for own in report.results
        if (found := P_VALUE.match(own.name)) and own.is_number and own.value <= 1
    ]
    alike = [own for own, level in tested if own.value >= level]
    if len(tested) >= LEAST_TESTED and len(alike) * 2 >= len(tested):
        words = {"count": len(tested), "alike": len(alike), "first": alike[0]}
        yield finding("rows-alike-by-test", words, about=alike, level=tested[0][1])


@rule
def mean_above_least(report: Report) -> Iterator[Finding]:
    """Means far above the shortest run, and far below the longest one, without a median."""
    if report.tool not in RANGED:
        return
    rows: dict[str, dict[str, Result]] = {}
    for own in report.being("mean", "min", "max"):
        rows.setdefault(own.name, {})[own.statistic] = own
    far = [
        row
        for row in rows.values()
        if {"mean", "min", "max"} <= row.keys() and row["min"].is_positive
        if row["mean"].value >= FAR * row["min"].value
        and row["max"].value >= LONGEST * row["mean"].value
    ]
    if far:
        row = max(far, key=lambda own: own["mean"].value / own["min"].value)
        words: dict[str, Any] = {"mean": row["mean"], "least": row["min"], "most": row["max"]}
        words |= {"times": row["mean"].value / row["min"].value}
        yield finding("mean-above-least", words, about=[row["mean"]])
