"""few-repetitions, heavy-tail, wide-spread, timer-granularity: what rows of several libraries do
not show, because they are of one run, of few digits, or a mean of rates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

OF_ITERATIONS = "phpbench"
OF_RATES = ("tinybench", "named figures", "figures")
HIGHER = 1.2  # mean ÷ median of rates
OF_HOST, HALF = "nvbench", 50.0  # per cent of noise
OF_WHOLE_NS, HALF_OF_LAST, COARSE = "cargo-bench", 0.5, 0.1
OF_GO, NEEDED = "go-bench", 6  # runs for an interval at 95 %


@rule
def one_iteration_of_php(report: Report) -> Iterator[str]:
    """A note on rows of PHPBench that are one iteration each."""
    if report.tool != OF_ITERATIONS:
        return
    one = [own for own in report.being("mean", "mode") if own.of.get("repetitions") == 1]
    names = {own.name for own in one}
    if one:
        words = {"first": one[0], "left": len(names) - 1 or None}
        yield finding("single-iteration", words).explanation


@rule
def changes_within_deviation(report: Report) -> Iterator[str]:
    """A note on changes of PHPBench that are smaller than the deviation that it prints of them."""
    if report.tool != OF_ITERATIONS:
        return
    modes = {own.line: own for own in report.being("mode") if own.of.get("build") == "new"}
    spreads = {own.line: own for own in report.being("stddev")}
    changes = [own for own in report.being("change") if own.line in modes and own.line in spreads]
    near = [
        own
        for own in changes
        if abs(own.value) * modes[own.line].base_value / 100 <= spreads[own.line].base_value
    ]
    if near:
        words = {"first": near[0], "near": len(near), "count": len(changes)}
        yield finding("within-its-deviation", words).explanation


_COUNTED = late(r"(?i)(?:num(?:ber of)? )?(?:instances|calls|count)$")
OF_TABLES, LEAST_ROWS = ("table", "named figures"), 3


@rule
def extremes_alike(report: Report) -> Iterator[Finding]:
    """Rows whose shortest and longest time are the same: each was measured once."""
    if report.tool not in OF_TABLES:
        return
    rows: dict[int, dict[str, Result]] = {}
    for own in report.results:
        called = own.name.lower()
        statistic = called[:3] if called[:3] in ("min", "max") else own.statistic
        if own.is_time and own.is_positive and statistic in ("min", "max"):
            rows.setdefault(own.line, {})[statistic] = own
    pairs = [(row["min"], row["max"]) for row in rows.values() if len(row) == len(("min", "max"))]
    columns = {name for own, _ in pairs[:1] for name in (*own.of, *own.of.get("label_parts", ()))}
    if any(map(_COUNTED.match, columns | {own.name for own in report.results})):
        return  # a profile, which says how often each was called
    if len(pairs) >= LEAST_ROWS and all(least.value == most.value for least, most in pairs):
        words = {"least": pairs[0][0], "most": pairs[0][1], "count": len(pairs)}
        yield finding("extremes-alike", words, about=[pairs[0][0]])


@rule
def rates_above_median(report: Report) -> Iterator[Finding]:
    """Means of rates that are far above their median."""
    if report.tool not in OF_RATES:
        return
    middles: dict[str, dict[str, Result]] = {}
    for own in report.being("mean", "median"):
        if own.unit.endswith("/s") and own.is_positive:
            middles.setdefault(own.name, {}).setdefault(own.statistic, own)
    far = [
        (row["mean"].base_value / row["median"].base_value, row["mean"], row["median"])
        for row in middles.values()
        if {"mean", "median"} <= row.keys() and row["mean"].unit == row["median"].unit
    ]
    far = [entry for entry in far if entry[0] >= HIGHER]
    if far:
        times, mean, median = max(far, key=lambda entry: entry[0])
        words: dict[str, Any] = {"mean": mean, "median": median, "share": times - 1}
        yield finding("mean-of-rates", words, about=[mean, median])


@rule
def noise_of_the_host(report: Report) -> Iterator[Finding]:
    """Noise of half a time and more in nvbench's tables of extremes."""
    if report.tool != OF_HOST:
        return
    longest = {own.line: own for own in report.being("max") if "CPU time" in own.name}
    wide = [
        own
        for own in report.results
        if own.name.endswith(" noise") and own.line in longest and own.value >= HALF
    ]
    if wide:
        most = max(wide, key=lambda own: own.value)
        words = {"noise": most, "left": len(wide) - 1 or None, "longest": longest[most.line]}
        yield finding("noise-of-row", words, about=[most])


@rule
def whole_nanoseconds(report: Report) -> Iterator[str]:
    """A note on times of cargo bench that are a few whole nanoseconds."""
    if report.tool != OF_WHOLE_NS:
        return
    short = [
        own
        for own in report.being("median")
        if own.of.get("is_whole") and own.is_positive and COARSE * own.value <= HALF_OF_LAST
    ]
    if short:
        rates = [own for own in report.results if own.line == short[0].line and own.rate]
        words = {"first": short[0], "share": HALF_OF_LAST / short[0].value}
        words["rate"] = rates[0] if rates else None
        yield finding("whole-nanoseconds", words).explanation


OF_R, LEAST_NS = "microbenchmark", 20.0


@rule
def below_a_call(report: Report) -> Iterator[str]:
    """A note on medians of R that are shorter than any of its calls: they are the clock's."""
    if report.tool != OF_R:
        return
    short = [own for own in report.being("median") if own.is_time and own.base_value < LEAST_NS]
    if short:
        words = {"first": short[0]}
        yield finding("below-a-call", words).explanation


@rule
def runs_without_interval(report: Report) -> Iterator[str]:
    """A note on medians of benchstat that have no interval, because they are of too few runs."""
    if report.tool != OF_GO:
        return
    few = [own for own in report.knowing("is_unbounded") if own.of.get("is_unbounded")]
    if few:
        runs = few[-1].of.get("repetitions")
        words = {"first": few[0], "runs": runs if is_number(runs) and runs < NEEDED else None}
        words["left"] = len({own.line for own in few}) - 1 or None
        yield finding("no-interval", words).explanation
