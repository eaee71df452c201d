"""dead-code, undecided-ratio: operations that take no time, and changes that may be none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import rule
from benchbook.explain.rules.ceilings import NO_LOOP_NS as LEAST_OF_LOOP_NS
from benchbook.explain.rules.ceilings import batched
from benchbook.explain.rules.common.findings import finding
from benchbook.explain.units import BASE, TIMES
from benchbook.findings import Finding

LIBRARIES = (
    "go-bench", "jmh", "criterion", "benchmarkdotnet", "cargo-bench", "timeit", "divan",
    "nanobench", "haskell-criterion", "benchmarktools", "mitata", "catch2", "celero", "deno-bench",
    "benchee", "tinybench", "tasty-bench",
)  # fmt: skip
LEAST_NS = 0.5  # for an operation: two cycles of a fast core, which an empty loop takes
NO_LOOP_NS = 0.1  # less than a third of a cycle: not even an empty loop
MOST_CYCLES = 0.5  # of the printed clock, above which a core may go
WIDE = 0.5  # of the mean, half of its interval
FEW_RUNS = 5  # iterations, whose interval is wide for that reason alone
LEAST_RUNS = 4  # a side, of which benchstat can tell two medians apart (p < 0.05)
MEANS = ("", "mean", "median", "sample")
# Libraries that subtract the cost of their loop: what remains is no loop's time.
LESS_THEIR_LOOP = {"benchmarkdotnet": "BenchmarkDotNet", "divan": "Divan"}
_BY_DESIGN = late(r"(?i)(?:^|[^a-z])warm[_-]?up(?:[^a-z]|$)")


@rule
def no_operation(report: Report) -> Iterator[Finding]:
    """Operations that take less than the loop around them.

    Decided by the time alone: whatever is called, loaded or computed takes a few cycles.
    """
    is_table = report.tool == "table" and "is_per_operation" in report.columns
    if report.tool not in LIBRARIES and not is_table:
        return
    none: list[Result] = []
    for (_, statistic, unit), several in report.groups.items():
        if statistic in MEANS and unit in TIMES:
            least = LEAST_NS / BASE[unit][0]
            none += [
                time
                for time in several
                if 0 <= time.value < least and not time.name.endswith(" estimate")
                if not _BY_DESIGN.search(str(time.of.get("benchmark", time.name)))
                if (not is_table or "is_per_operation" in time.of)
            ]
    if none and report.tool in LESS_THEIR_LOOP:
        shortest, library = min(none, key=_time), LESS_THEIR_LOOP[report.tool]
        yield finding("less-than-the-loop", about=none, first=shortest, library=library)
        return
    once = [time for time in none if 0 < time.base_value < NO_LOOP_NS]
    if once:
        count = once[0].of.get("iterations")
        words = {"first": once[0], "left": len(once) - 1 or None, "iterations": count}
        words["all"] = once[0].base_value * count if is_number(count) else None
        yield finding("not-once-each", words, about=once)
    if none := [time for time in none if not 0 < time.base_value < NO_LOOP_NS]:
        yield finding("no-operation", about=none, first=none[0], left=len(none) - 1 or None)


def _time(result: Result) -> float:
    return result.base_value


OF_RATES = ("benchmark.js", "vitest-bench", "tinybench", "benchmark-ips")
MOST_RATE = 8e8  # operations a second, each of a few cycles with the loop and the call around it


@rule
def rates_of_loops(report: Report) -> Iterator[Finding]:
    """Rates of libraries of JavaScript and Ruby that are those of an empty loop."""
    if report.tool not in OF_RATES:
        return
    none = [
        own
        for own in report.being("mean")
        if own.unit == "operations/s" and own.is_number and own.value >= MOST_RATE
    ]
    if none:
        first = max(none, key=lambda own: own.value)
        words = {"first": first, "each": 1e9 / first.value, "left": len(none) - 1 or None}
        yield finding("rate-of-a-loop", words, about=none)


@rule
def untimed(report: Report) -> Iterator[Finding]:
    """Rows of Go that print no time: a billion iterations took less than half a nanosecond of it
    each."""
    none = [row for row in report.knowing("is_untimed") if row.of.get("is_untimed")]
    if none:
        names = {row.of["benchmark"] for row in none}
        words = {"first": none[0], "left": len(names) - 1 or None}
        yield finding("untimed", words, about=none)


NEAR_NS = 1.0  # for an operation: as little as a loop with hardly anything in it
OF_LOOPS = (
    "go-bench",
    "criterion",
    "nanobench",
    "divan",
)  # which time a loop that their user wrote, or a closure


@rule
def near_nothing(report: Report) -> Iterator[str]:
    """A note on operations that take two to four cycles, where others of the log take more."""
    if report.tool not in OF_LOOPS:
        return
    times = [
        time
        for (_, statistic, unit), several in report.groups.items()
        if statistic in MEANS and unit in TIMES
        for time in several
        if time.is_positive
    ]
    near = [time for time in times if LEAST_NS <= time.base_value < NEAR_NS]
    if near and not any(time.base_value < LEAST_NS for time in times):
        words = {"first": near[0], "left": len(near) - 1 or None}
        yield finding("near-nothing", words).explanation


@rule
def below_cycle(report: Report) -> Iterator[Finding]:
    """Loops of Google Benchmark whose iteration takes less than half a cycle of the named clock.

    Decided by the CPU time of an iteration times the clock that the library prints, of one thread;
    half, because a clock may rise above the printed one. What is below a tenth of any cycle is
    another rule's, and so are iterations that are counted in batches.
    """
    hz = report.facts.get("cpu_clock_hz")
    if report.tool != "google-benchmark" or not is_number(hz) or hz <= 0:
        return
    ghz = hz / 1e9
    in_batches = batched(report)
    short = [
        time
        for time in report.knowing("iterations")
        if time.name.endswith(" cpu time") and time.is_time and time.is_positive
        if time.of.get("threads", 1) == 1 and time.of.get("benchmark") not in in_batches
        if LEAST_OF_LOOP_NS <= time.base_value < MOST_CYCLES / ghz
    ]
    if short:
        cycles = short[0].base_value * ghz
        words = {"first": short[0], "left": len(short) - 1 or None, "cycles": cycles, "ghz": ghz}
        yield finding("below-cycle", words, about=short)


@rule
def undecided_change(report: Report) -> Iterator[Finding]:
    """Changes whose interval has 0 in it, and means that are not known to half of themselves."""
    if report.tool not in LIBRARIES:
        return
    for change in report.knowing("change_low_percent"):
        low, high = change.of.get("change_low_percent"), change.of.get("change_high_percent")
        if is_number(low) and is_number(high) and low <= 0 <= high:
            yield finding("change-with-none", change=change, low=low, high=high)
    same = [result for result in report.knowing("is_same") if result.of.get("is_same")]
    pairs = {result.of["benchmark"]: result for result in same if result.of.get("build") == "new"}
    if pairs:
        first = next(iter(pairs.values()))
        words = {"new": first, "p": first.of.get("p_value"), "left": len(pairs) - 1 or None}
        runs = first.of.get("repetitions")
        words |= {"runs": runs if is_number(runs) and runs < LEAST_RUNS else None}
        words["needed"] = LEAST_RUNS
        yield finding("benchstat-same", words, about=list(pairs.values()))
    yield from _wide(report)


OUTSTANDING, USUAL = 0.15, 0.05  # of the mean: one error, and the middle one of all rows
LEAST_ROWS = 4


@rule
def one_wide_row(report: Report) -> Iterator[str]:
    """A note on the row of a table whose error is far wider than those of most others."""
    if report.tool not in ("jmh", "benchmarkdotnet"):
        return
    means = {(own.name, own.line): own for own in report.being("mean") if own.is_positive}
    shares = sorted(
        (
            (error.value / mean.value, mean.line, mean, error)
            for error in report.being("confidence 99.9 %")
            if error.is_number and (mean := means.get((error.name, error.line)))
        ),
        key=lambda entry: entry[:2],
    )
    if len(shares) < LEAST_ROWS or shares[len(shares) // 2][0] > USUAL:
        return
    share, _, mean, error = shares[-1]
    if OUTSTANDING <= share <= WIDE:
        words = {"mean": mean, "error": error, "share": share, "usual": shares[len(shares) // 2][0]}
        yield finding("one-wide-row", words).explanation


MANY_WIDE = 0.1  # of the mean: the middle error of the rows


@rule
def all_rows_wide(report: Report) -> Iterator[str]:
    """A note on tables of JMH whose means are known to a tenth at the middle, or worse."""
    if report.tool != "jmh":
        return
    means = {(own.name, own.line): own for own in report.being("mean") if own.is_positive}
    shares = sorted(
        (
            (error.value / mean.value, mean.line, mean, error)
            for error in report.being("confidence 99.9 %")
            if error.is_number and (mean := means.get((error.name, error.line)))
            if (mean.of.get("repetitions") or 0) > FEW and ":" not in mean.name
        ),
        key=lambda entry: entry[:2],
    )
    if len(shares) < LEAST_ROWS or shares[len(shares) // 2][0] < MANY_WIDE:
        return
    if shares[-1][0] <= WIDE:
        words = {"mean": shares[-1][2], "error": shares[-1][3], "share": shares[-1][0]}
        words |= {"middle": shares[len(shares) // 2][0], "count": len(shares)}  # half and more
        yield finding("all-rows-wide", words).explanation


FEW, KNOWN_TO = 5, 0.1  # iterations; of the mean, half of its interval


@rule
def few_iterations_wide(report: Report) -> Iterator[str]:
    """A note on means of five iterations or less that are known to a tenth of them, or worse."""
    if report.tool != "jmh":
        return
    means = {(own.name, own.line): own for own in report.being("mean") if own.is_positive}
    wide = [
        (error.value / mean.value, mean, error)
        for error in report.being("confidence 99.9 %")
        if error.is_number and (mean := means.get((error.name, error.line)))
        if is_number(runs := mean.of.get("repetitions")) and runs <= FEW
        if KNOWN_TO <= error.value / mean.value <= WIDE and ":" not in mean.name
    ]
    if wide:
        share, mean, error = max(wide, key=lambda entry: entry[0])
        words = {"mean": mean, "error": error, "share": share, "left": len(wide) - 1 or None}
        words["runs"] = mean.of["repetitions"]
        yield finding("few-iterations-wide", words).explanation


def _wide(report: Report) -> Iterator[Finding]:
    means = {(result.name, result.line): result for result in report.being("mean")}
    wide = [
        (mean, error)
        for error in report.being("confidence 99.9 %")
        if (mean := means.get((error.name, error.line))) and _is_wide(mean, error)
    ]
    if wide:
        mean, error = max(wide, key=lambda pair: pair[1].value / pair[0].value)
        about = [result for pair in wide for result in pair]
        runs = mean.of.get("repetitions")
        words: dict[str, Any] = {"mean": mean, "error": error, "few": None, "many": None}
        words["how"] = report.tool if report.tool in ("jmh", "benchmarkdotnet") else "other"
        if is_number(runs):
            words["few" if runs <= FEW_RUNS else "many"] = runs
        yield finding("wide-mean", words, about=about)


def _is_wide(mean: Result, error: Result) -> bool:
    if not (mean.is_positive and error.is_number) or ":" in mean.name:
        return False  # what a profiler counts next to it scatters
    is_none = mean.is_time and mean.base_value < LEAST_NS  # which has a finding of its own
    return error.value > WIDE * mean.value and not is_none
