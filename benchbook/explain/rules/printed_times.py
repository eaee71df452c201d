"""timer-granularity, inconsistent-report: times of benchmarks whose digits or whose clock are too
coarse for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.results import grouped
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

OF_ONE_RUN = ("min", "max", "p75", "p99", "p99.5", "p99.9")
TICKS = (0.1, 1.0)  # ms: what browsers and virtual machines round their clocks to
LEAST_TICKS = 4  # different values of a table
LEAST_ROWS = 2


@rule
def ticks_of_the_clock(report: Report) -> Iterator[Finding | str]:
    """Times of single runs that are all multiples of a tenth of a millisecond, or printed as 0.

    Decided by the digits: the table prints ten-thousandths of a millisecond.
    """
    if report.tool != "vitest-bench":
        return
    times = [own for own in report.being(*OF_ONE_RUN) if own.is_number]
    rows = {own.name for own in times}
    values = {own.value for own in times if own.value > 0}
    for tick in reversed(TICKS):
        whole = all(abs(value / tick - round(value / tick)) < 1e-6 for value in values)
        if whole and len(values) >= LEAST_TICKS and len(rows) >= LEAST_ROWS:
            rates = [own for own in report.being("mean") if own.unit == "operations/s"]
            short = [own for own in rates if 1e3 / own.value < tick] if rates else []
            words: dict[str, Any] = {"tick": tick, "count": len(times), "first": times[0]}
            words |= {"short": len(short) or None, "rows": len(rows)}
            yield finding("clock-of-tenths", words, about=times[:1])
            return
    none = [own for own in report.being("mean") if own.is_time and own.value == 0]
    if none:
        of_lines = {own.line: own for own in report.being("mean") if own.unit == "operations/s"}
        rate = of_lines.get(none[0].line)
        if rate is not None and rate.is_positive:
            words = {"first": none[0], "rate": rate, "made": 1e9 / rate.value}
            yield finding("mean-of-no-digit", words).explanation


ONE_DIGIT = 0.1  # half of the last digit ÷ figure
HALF_OF_WHOLE = 0.5  # of a number without a point
CONTRADICTS = 3.0  # mean × iterations × samples ÷ estimate, or the other way round


@rule
def digits_of_catch2(report: Report) -> Iterator[Finding | str]:
    """Means of Catch2 that have a digit only, and those that its own estimate contradicts."""
    if report.tool != "catch2":
        return
    means = [own for own in report.being("mean") if own.is_positive and own.is_time]
    short = [own for own in means if own.of.get("is_whole") and _is_coarse(own)]
    if short:
        words: dict[str, Any] = {"first": short[0]}
        words["share"] = HALF_OF_WHOLE / short[0].value
        yield finding("mean-of-one-digit", words).explanation
    estimates = {own.of.get("benchmark"): own for own in report.results if _is_estimate(own)}
    for mean in means:
        own = estimates.get(mean.of.get("benchmark"))
        runs, loops = mean.of.get("repetitions"), mean.of.get("iterations")
        if own is None or mean in short or not (is_number(runs) and is_number(loops)):
            continue
        made = mean.base_value * runs * loops
        times = made / own.base_value if own.is_positive else 1.0
        if not 1 / CONTRADICTS <= times <= CONTRADICTS:
            words = {"mean": mean, "estimate": own, "made": made, "runs": runs, "loops": loops}
            yield finding("estimate-contradicts", words, about=[mean, own])
            return


def _is_coarse(result: Result) -> bool:
    return ONE_DIGIT * result.value <= HALF_OF_WHOLE


def _is_estimate(result: Result) -> bool:
    return result.name.endswith(" estimate") and result.statistic == ""


COMPILED, COLLECTED = 10.0, 10.0  # per cent of a time


@rule
def shares_of_julia(report: Report) -> Iterator[Finding | str]:
    """Times of @time that hold compilation, and those of which a part is garbage collection."""
    if report.tool != "benchmarktools":
        return
    for what, least, kind in (
        ("compilation share", COMPILED, "compiled-in-time"),
        ("GC share", COLLECTED, "collected-in-time"),
    ):
        shares = [own for own in report.results if own.name.endswith(what)]
        shares = [own for own in shares if own.is_number and own.statistic in ("", "mean")]
        for share in (own for own in shares if own.value >= least):
            by_line = grouped(report.results, lambda own: own.line)
            time = next((own for own in by_line[share.line] if own.is_time), None)
            if time is not None:
                told = finding(kind, share=share, time=time)
                yield told if kind == "compiled-in-time" else told.explanation
                break
