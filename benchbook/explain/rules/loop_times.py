"""cpu-clock-rate, few-repetitions, busy-machine, undecided-ratio: what libraries that time loops
print next to their times, and what these times leave out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.explain.rules.common.samples import cold
from benchbook.findings import Effect, Finding

WAITS = 2.0  # times the CPU time, the elapsed time
LEAST_NS = 1e3  # of an elapsed time
RATES = ("items_per_second", "bytes_per_second")
OF_CLOCK = ("/real_time", "/manual_time")  # benchmarks whose rates are made of elapsed time
OF_PROCESS = "/process_time"  # whose CPU time is that of all threads


@rule
def rate_of_cpu_time(report: Report) -> Iterator[Finding]:
    """Loops of Google Benchmark whose elapsed and CPU time are far apart, and their rates.

    Decided by both times: the library makes rates of the CPU time of the thread that measures, of
    all threads where it was asked for the process's, and of elapsed time only where it was asked
    for that, which the name of the benchmark then says.
    """
    if report.tool != "google-benchmark" or any(own.value < 0 for own in report.results):
        return  # a clock that goes back makes no time of either kind
    lines: dict[int, dict[str, Result]] = {}
    for result in report.knowing("benchmark"):
        if result.statistic in ("", "sample", "mean", "median"):
            name = result.name.removeprefix(str(result.of["benchmark"])).strip()
            lines.setdefault(result.line, {})[name] = result
    apart = [
        (own, real, cpu)
        for own in lines.values()
        if (real := own.get("real time")) and (cpu := own.get("cpu time"))
        if not any(mark in str(real.of["benchmark"]) for mark in (*OF_CLOCK, OF_PROCESS))
        if real.base_value >= LEAST_NS and cpu.value >= 0 and real.of.get("threads", 1) == 1
    ]
    waiting = [entry for entry in apart if entry[1].base_value >= WAITS * entry[2].base_value]
    several = [
        (own, real, cpu)
        for own in lines.values()
        if (real := own.get("real time")) and (cpu := own.get("cpu time"))
        if OF_PROCESS in str(real.of["benchmark"]) and real.is_positive
        if not any(mark in str(real.of["benchmark"]) for mark in OF_CLOCK)
        if cpu.base_value >= WAITS * real.base_value
    ]
    for kind, found in (("waits", waiting), ("all-threads", several)):
        if not found:
            continue
        rated = [entry for entry in found if any(name in entry[0] for name in RATES)]
        own, real, cpu = (rated or found)[0]
        rate = next((own[name] for name in RATES if name in own), None)
        words: dict[str, Any] = {"real": real, "cpu": cpu}
        words |= {"real_ns": real.base_value, "cpu_ns": cpu.base_value}
        words |= {"benchmark": real.of["benchmark"], "rate": None, "unit": None, "by_clock": None}
        words["part"] = 1 - cpu.base_value / real.base_value
        if rate is not None and cpu.is_positive:
            by_clock = rate.value * cpu.base_value / real.base_value
            words |= {"rate": rate.value, "unit": rate.unit, "by_clock": by_clock}
        effect: Effect = "biases" if words["rate"] is not None else "informs"
        yield finding(kind, words, about=[real, cpu], effect=effect)
        return


DIVIDED = (0.75, 1.15)  # of CPU time ÷ elapsed time ÷ threads, where one was divided by threads


@rule
def time_over_threads(report: Report) -> Iterator[str]:
    """A note on rows of several threads whose elapsed time is their CPU time over the threads."""
    if report.tool != "google-benchmark":
        return
    cpus = {
        (own.line, own.statistic): own for own in report.results if own.name.endswith("cpu time")
    }
    divided = []
    for real in report.knowing("benchmark"):
        cpu = cpus.get((real.line, real.statistic))
        threads = real.of.get("threads", report.facts.get("threads"))
        if cpu is None or not real.name.endswith("real time") or not real.is_positive:
            continue
        if not is_number(threads) or threads < 2 or OF_PROCESS in str(real.of["benchmark"]):
            continue
        times = cpu.base_value / real.base_value
        if DIVIDED[0] * threads <= times <= DIVIDED[1] * threads:
            divided.append((real, cpu, threads))
    if divided:
        real, cpu, threads = divided[0]
        words = {"real": real, "cpu": cpu, "threads": threads}
        yield finding("over-threads", words).explanation


LONG_NS = 5e8  # one iteration that takes so long is all that a library runs by default
OF_GO = "go-bench"


@rule
def one_iteration(report: Report) -> Iterator[Finding | str]:
    """Benchmarks that rest on one iteration; of Go a finding where one takes so little that it was
    asked for, because what the first one needs is then in the figure."""
    if report.tool not in ("google-benchmark", OF_GO):
        return
    alone = [
        time
        for time in report.knowing("iterations")
        if time.of.get("iterations") == 1 and time.statistic in ("", "sample") and time.is_time
        if not time.name.endswith(" cpu time")
    ]
    short = [time for time in alone if time.base_value < LONG_NS]
    if report.tool == OF_GO and short:
        many = [
            time
            for time in report.knowing("iterations")
            if time.of.get("benchmark") == short[0].of["benchmark"] and time.of["iterations"] > 1
        ]
        other = next((time for time in many if time.is_time and time.is_positive), None)
        words = {"first": short[0], "left": len(short) - 1 or None, "other": other}
        yield finding("one-iteration-asked", words, about=short)
    elif alone:
        words = {"first": alone[0], "left": len(alone) - 1 or None}
        yield finding("one-iteration", words).explanation


BUSY = 0.75  # of the CPUs


@rule
def busy_machine(report: Report) -> Iterator[Finding]:
    """A load average that says that most of the CPUs were busy before the run."""
    load, cores = report.facts.get("load_average"), report.facts.get("cores")
    if is_number(load) and is_number(cores) and load >= max(1.0, BUSY * cores):
        words = {"load": load, "cores": cores, "line": report.facts["load_line"]}
        yield finding("busy-machine", words, about=report.results[:1])


# Operations in a nanosecond that one of each unit is.
_PER_NS = {"operations/s": 1e-9, "operations/ms": 1e-6, "operations/us": 1e-3, "operations/ns": 1.0}
A_CYCLE_NS = 0.15  # of no core it is shorter
FASTEST = 1.3  # operations in a nanosecond: each takes less than three cycles


@rule
def rate_of_nothing(report: Report) -> Iterator[Finding]:
    """Rates of operations so high that each takes as little as an empty loop.

    Decided by the rate of one thread; where the log does not say how many there were, several
    threads are the other reading.
    """
    if report.tool != "jmh":
        return
    fast = [
        rate
        for rate in report.being("mean")
        if rate.unit in _PER_NS and rate.value * _PER_NS[rate.unit] >= FASTEST
    ]
    threads = report.facts.get("threads", 1)
    if fast and threads == 1:
        ns = 1 / (fast[0].value * _PER_NS[fast[0].unit])
        words = {"first": fast[0], "ns": ns, "left": len(fast) - 1 or None}
        words |= {"part": None, "cycles": ""} if ns >= A_CYCLE_NS else {"part": "", "cycles": None}
        words["unknown"] = None if "threads" in report.facts else ""
        yield finding("rate-of-nothing", words, about=fast)


MAGNITUDE_NS = 1.0  # of the time of an operation: an empty method takes as long


@rule
def magnitude_of_nothing(report: Report) -> Iterator[Finding]:
    """Times of which JMH prints the order of magnitude only, and that are those of no work."""
    times = [time for time in report.being("magnitude") if time.is_time]
    none = [time for time in times if time.base_value <= ROUND * MAGNITUDE_NS]
    if none:
        yield finding("magnitude", about=none, first=none[0], left=len(none) - 1 or None)


ROUND = 1.001  # a power of ten in other units


@rule
def few_iterations(report: Report) -> Iterator[str]:
    """A note on results of JMH of one iteration, which have no error, and on the short job of
    BenchmarkDotNet."""
    line = report.facts.get("short_job_line")
    if line and report.results:
        called = " (ShortRun)" if report.facts.get("is_short_run") else ""
        yield finding("short-job", line=line, called=called, about=report.results[:1]).explanation
    if report.tool != "jmh":
        return
    means = report.being("mean")
    errors = {(error.name, error.line) for error in report.being("confidence 99.9 %")}
    # Counts of profilers next to it (`run:·gc.count`) are sums, which have none.
    # In JSON the error stands in the next line.
    alone = [
        own
        for own in means
        if ":" not in own.name
        if not {(own.name, own.line), (own.name, own.line + 1)} & errors
    ]
    if alone:
        words = {"first": alone[0], "left": len(alone) - 1 or None}
        words["runs"] = alone[0].of.get("repetitions")
        yield finding("no-error", words).explanation


_OF_PROFILER = late(r"[·:]")  # in a name: `run:·gc.time`, `run:counter`


@rule
def unit_of_mode(report: Report) -> Iterator[Finding]:
    """A result of JMH whose unit is not one of its mode: avgt is a time, thrpt a rate."""
    if report.tool != "jmh":
        return
    wrong = [
        mean
        for mean in report.being("mean")
        if not _OF_PROFILER.search(mean.name)  # those count what they like
        if (mean.of.get("mode") == "avgt" and mean.unit in _PER_NS)
        or (mean.of.get("mode") == "thrpt" and mean.is_time)
    ]
    if wrong:
        words = {"first": wrong[0], "mode": wrong[0].of["mode"], "left": len(wrong) - 1 or None}
        yield finding("unit-of-mode", words, about=wrong)


WIDE_PERCENT = 25


@rule
def builds_with_spread(report: Report) -> Iterator[Finding | str]:
    """Tables of benchstat without a test, and medians with a wide interval."""
    if report.tool != OF_GO:
        return
    compared = [
        result
        for result in report.knowing("build")
        if result.of.get("build") == "new" and not result.of.get("is_single")
    ]
    untested = [
        result for result in compared if "p_value" not in result.of and not result.of.get("is_same")
    ]
    if untested and len(untested) == len(compared):
        yield finding("no-test", about=untested, first=untested[0])
    spread = [
        (own.of["spread_percent"], own)
        for own in report.knowing("spread_percent")
        if is_number(own.of.get("spread_percent")) and own.of["spread_percent"] >= WIDE_PERCENT
    ]
    if spread:
        width, widest = max(spread, key=lambda entry: entry[0])
        words = {"widest": widest, "width": width}
        yield finding("wide-median", words).explanation


@rule
def same_by_test(report: Report) -> Iterator[Finding]:
    """Rows of Google Benchmark's compare.py that its test does not tell apart, or that nobody
    tested."""
    if report.tool != "google-benchmark":
        return
    new = [result for result in report.knowing("build") if result.of.get("build") == "new"]
    same = [result for result in new if result.of.get("is_same")]
    if same:
        words = {"first": same[0], "p": same[0].of["p_value"], "left": len(same) - 1 or None}
        yield finding("u-test-same", words, about=same)
    elif new and not any("p_value" in result.of for result in new):
        yield finding("no-u-test", about=new, first=new[0])


LEAST_ALIKE = 4  # benchmarks
LEAST_CHANGE = 0.5  # per cent
ALIKE = 0.35  # of their median, the range of all changes
MOST_CHANGE = 15.0  # per cent: a change of the machine that is larger is seen otherwise


@rule
def same_change(report: Report) -> Iterator[Finding]:
    """All benchmarks of a comparison change by nearly the same per cent.

    Decided by the changes: what a change of one function does, it does not do to all of them.
    """
    changes = [
        (change.value, change)
        for change in report.knowing("change_low_percent")
        if change.is_number
    ]
    pairs: dict[object, dict[str, Result]] = {}
    of_builds = report.knowing("build")
    for result in [own for own in of_builds if own.is_time] or of_builds:
        if result.is_positive and not result.of.get("is_same"):
            side = str(result.of.get("build"))
            pairs.setdefault(result.name.removesuffix(f" {side}"), {})[side] = result
    changes += [
        (100 * (pair["new"].base_value / pair["old"].base_value - 1), pair["new"])
        for pair in pairs.values()
        if {"old", "new"} <= pair.keys()
    ]
    values = sorted(value for value, _ in changes)
    if len(values) < LEAST_ALIKE or values[0] * values[-1] <= 0:
        return
    middle = values[len(values) // 2]
    if LEAST_CHANGE <= abs(middle) <= MOST_CHANGE and values[-1] - values[0] <= ALIKE * abs(middle):
        words = {"count": len(values), "low": values[0], "high": values[-1]}
        yield finding("same-change", words, about=[change for _, change in changes])


@rule
def ratio_to_baseline(report: Report) -> Iterator[Finding | str]:
    """Ratios of BenchmarkDotNet: one of a baseline that is not 1, and those within their deviation
    of 1."""
    if report.tool != "benchmarkdotnet":
        return
    ratios = {ratio.line: ratio for ratio in report.being("to baseline") if ratio.is_number}
    spreads = {own.line: own for own in report.being("deviation") if own.is_number}
    baseline = [ratio for ratio in ratios.values() if ratio.of.get("is_baseline")]
    off = [ratio for ratio in baseline if abs(ratio.value - 1) > OFF]
    if off:
        yield finding("baseline-off", about=off, baseline=off[0])
    near = [
        (ratio, spreads[line])
        for line, ratio in ratios.items()
        if line in spreads and spreads[line].value > 0 and not ratio.of.get("is_baseline")
        if 0 < abs(ratio.value - 1) <= spreads[line].value
    ]
    if near:
        ratio, spread = near[0]
        words = {"ratio": ratio, "spread": spread.value, "left": len(near) - 1 or None}
        yield finding("ratio-near-one", words, about=[entry for entry, _ in near])


@rule
def overlapping_means(report: Report) -> Iterator[Finding]:
    """Two rows, or one and its baseline, whose means differ by less than their errors together.

    Decided by the printed errors, half of a 99.9 % interval each. Of tables with one pair only:
    of many rows some are always near each other.
    """
    if report.tool not in ("benchmarkdotnet", "jmh"):
        return
    errors = {(own.name, own.line): own for own in report.being("confidence 99.9 %")}
    means = [mean for mean in report.being("mean") if (mean.name, mean.line) in errors]
    if len(means) != PAIR or means[0].unit != means[1].unit:
        return
    first, second = means
    both = [errors[mean.name, mean.line].value for mean in means]
    if 0 < abs(first.value - second.value) <= (both[0] ** 2 + both[1] ** 2) ** 0.5:
        words = {"first": first, "second": second, "first_error": both[0]}
        yield finding("overlapping-means", words, second_error=both[1])


PAIR = 2
OFF = 0.05
SKEWED = 1.25  # mean ÷ median
LEAST_SKEWED_NS = 1.0


OF_SAMPLES = ("google-benchmark",)  # of which other rules say more where they are printed
OF_BOTH = ("benchmarkdotnet", "google-benchmark", "table")  # others have rules of their own for it


@rule
def mean_beyond_median(report: Report) -> Iterator[str]:
    """A note on means that a few slow runs pull far from the median, in one line or in two."""
    if report.tool not in OF_BOTH or (report.tool in OF_SAMPLES and report.being("sample")):
        return
    # Google Benchmark has a line for each statistic; of a table a row is of one benchmark.
    in_rows = report.tool != "google-benchmark"
    medians = {_row_of(own, in_rows=in_rows): own for own in report.being("median")}
    far = [
        (mean, median)
        for mean in (report.being("mean") if medians else ())
        if (median := medians.get(_row_of(mean, in_rows=in_rows))) and median.unit == mean.unit
        if median.is_time and median.base_value >= LEAST_SKEWED_NS
        if mean.value >= SKEWED * median.value
    ]
    if far:
        mean, median = max(far, key=lambda pair: pair[0].value / pair[1].value)
        times = mean.value / median.value
        words = {"mean": mean, "median": median, "times": times}
        yield finding("mean-beyond-median", words).explanation


def _row_of(result: Result, *, in_rows: bool) -> object:
    """What a mean and a median of the same runs have in common."""
    return result.line if in_rows else result.name


STEADY_OF = ("jmh", "go-bench", "google-benchmark", "table", "text", "timeit")
LEAST_SAMPLES, MOST_SAMPLES = 4, 19  # of more, their shape is judged elsewhere
DRIFTS = 1.2  # first ÷ last, or the other way round
LEAST_STEPS = 5  # four that go one way by chance are no rarity
SPREADS = 1.3  # largest ÷ smallest


@rule
def unsteady_repetitions(report: Report) -> Iterator[str]:
    """A note on few repetitions that go one way from each to the next, or lie far apart."""
    if report.tool not in STEADY_OF:
        return
    drifting, apart = [], []
    for several in report.series:
        samples = several[0]
        if not LEAST_SAMPLES <= len(samples) <= MOST_SAMPLES:
            continue
        values = samples.values
        if min(values) <= 0 or samples[0].name.endswith(" cpu time"):
            continue
        if samples[0].is_time and cold(values):
            continue  # a first one is told as what it is
        steps = [after - before for before, after in pairwise(values)]
        one_way = all(step >= 0 for step in steps) or all(step <= 0 for step in steps)
        times = max(values) / min(values)
        if one_way and times >= DRIFTS and len(steps) >= LEAST_STEPS:
            drifting.append((times, samples[0], samples[-1]))
        elif times >= SPREADS:
            low, high = (pick(samples, key=_of_value) for pick in (min, max))
            apart.append((times, low, high))
    for kind, found in (("repetitions-drifting", drifting), ("repetitions-spread", apart)):
        if found:
            times, first, last = max(found, key=lambda entry: entry[0])
            words = {"first": first, "last": last, "left": len(found) - 1 or None}
            yield finding(kind, words, times=times).explanation


def _of_value(result: Result) -> float:
    return result.value


TWICE_APART = 1.3  # slower ÷ faster mean of the same command
ERRORS = 3.0  # times the error of their difference


@rule
def same_command_apart(reports: Sequence[Report]) -> Iterator[Finding]:
    """The same command that hyperfine timed twice in one log, with means far apart.

    Decided by the means and their deviations: what lies between the two is not in the log.
    """
    means: dict[str, list[tuple[Result, float]]] = {}
    for report in reports:
        command = str(report.facts.get("command", ""))
        mean, spread = report.only("time", "mean"), report.only("time", "stddev")
        if report.tool == "hyperfine" and command and mean is not None and mean.is_positive:
            means.setdefault(command, []).append((mean, spread.base_value if spread else 0.0))
    apart = [
        (slow[0].base_value / fast[0].base_value, command, slow, fast)
        for command, several in means.items()
        if len(several) > 1
        for fast, slow in [
            (
                min(several, key=lambda entry: entry[0].base_value),
                max(several, key=lambda entry: entry[0].base_value),
            )
        ]
    ]
    for times, command, slow, fast in sorted(apart, key=lambda entry: -entry[0]):
        gap = slow[0].base_value - fast[0].base_value
        runs = min(own[0].of.get("repetitions") or 1 for own in (slow, fast))
        error = (slow[1] ** 2 + fast[1] ** 2) ** 0.5 / runs**0.5
        if times >= TWICE_APART and gap > ERRORS * error:
            words = {"slow": slow[0], "fast": fast[0], "times": times, "command": command[:60]}
            yield finding("same-command", words)
        return


FEW_RUNS = 3


@rule
def few_runs(reports: Sequence[Report]) -> Iterator[str]:
    """A note on commands that hyperfine ran three times or less."""
    few = [
        mean
        for report in reports
        if report.tool == "hyperfine" and (mean := report.only("time", "mean")) is not None
        if is_number(runs := mean.of.get("repetitions")) and runs <= FEW_RUNS
    ]
    if few:
        runs = few[0].of["repetitions"]
        words = {"first": few[0], "runs": runs}
        yield finding("few-runs", words).explanation
