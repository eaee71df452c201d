"""short-run, not-optimised, timer-granularity, scaling: scores of processors (CoreMark, Geekbench,
John the Ripper) that are none, or of something else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

COREMARK, GEEKBENCH, JOHN = "coremark", "geekbench", "john"
LEAST_S = 10.0  # by the rules of CoreMark
TICKS = (1e3, 1e6)  # a second, as most ports count them
CUT = 0.01  # of the rate: less is not said
_LEVEL = late(r"(?:^|\s)-O(?P<level>[0-3sgz]|fast)?(?=\s|$)")
LITTLE = 0.6  # of the threads: CPUs that were busy
LEAST_THREADS = 4


@rule
def score_of_coremark(report: Report) -> Iterator[Finding]:
    """A run that is too short for a score, was built without optimisation, has errors, or was
    timed in whole seconds."""
    if report.tool != COREMARK:
        return
    time, rate = report.only("time"), report.only("rate")
    if time is not None and 0 <= time.value < LEAST_S:
        words = {"time": time, "rate": rate, "none": time.value == 0 or None}
        yield finding("score-too-short", words, about=[time])
    elif line := report.facts.get("errors_line"):
        yield finding("score-with-errors", line=line, about=[rate or f"line {line}"])
    levels = [found["level"] for found in _LEVEL.finditer(report.facts.get("compiler_flags", ""))]
    if levels and levels[-1] == "0" and rate is not None:
        line = report.facts["compiler_flags_line"]
        yield finding("score-not-optimised", rate=rate, line=line, about=[rate])
    yield from _whole_seconds(report)


def _whole_seconds(report: Report) -> Iterator[Finding]:
    """A rate of a time whose part of a second was cut off."""
    time, rate, ticks = report.only("time"), report.only("rate"), report.only("ticks")
    done = report.only("iterations")
    if not report.facts.get("is_whole_seconds") or time is None or time.value < 1:
        return
    if rate is None or ticks is None or done is None:
        return
    for a_second in TICKS:
        took = ticks.value / a_second
        if time.value < took < time.value + 1:
            made = done.value / took
            words = {"time": time, "ticks": ticks, "rate": rate, "took": took, "made": made}
            if rate.value > (1 + CUT) * made:
                yield finding("seconds-cut", words, factor=rate.value / made)
            return


@rule
def scores_of_cores(reports: Sequence[Report]) -> Iterator[Finding]:
    """All cores that score no more than one, and two pairs of which only that of one core fell."""
    pairs = [
        (single, every)
        for report in reports
        if report.tool == GEEKBENCH
        if (single := report.only("score of one core"))
        and (every := report.only("score of all cores"))
    ]
    for single, every in pairs:
        if 0 < every.value <= single.value:
            yield finding("all-cores-no-more", one=single, every=every)
            return
    if len(pairs) == 2 and all(single.value > 0 for single, _ in pairs):
        (slow, slow_all), (fast, fast_all) = sorted(pairs, key=lambda pair: pair[0].value)
        part, of_all = slow.value / fast.value, slow_all.value / fast_all.value
        if part < 0.7 and of_all > part + 0.2:
            words = {"slow": slow, "fast": fast, "slow_all": slow_all, "fast_all": fast_all}
            yield finding("one-core-held", words, part=part, of_all=of_all)


@rule
def samples_of_unixbench(reports: Sequence[Report]) -> Iterator[str]:
    """A note on tests of UnixBench that were done once each."""
    for report in reports:
        if report.tool == "unixbench" and report.results:
            counts = {own.of.get("repetitions") for own in report.results}
            once = report.facts.get("repetitions") == 1 or counts == {1}
            if once and len(report.results) > 1:
                yield finding("tests-done-once", first=report.results[0]).explanation
                return


@rule
def cpus_of_guesses(reports: Sequence[Report]) -> Iterator[Finding]:
    """Threads of John the Ripper that had fewer CPUs: its rates in real and in CPU time tell it."""
    most: tuple[float, Report] | None = None
    for report in reports:
        if report.tool == JOHN:
            threads = float(report.facts.get("threads") or 0)
            most = (
                max(most, (threads, report), key=lambda own: own[0]) if most else (threads, report)
            )
    if most is None:
        return
    threads, report = most
    real, cpu = report.only("rate"), report.only("rate by CPU time")
    if real is None or cpu is None or not (real.is_positive and cpu.is_positive):
        return
    busy = real.value / cpu.value
    if threads >= LEAST_THREADS and busy <= LITTLE * threads:
        yield finding(
            "fewer-cpus-than-threads", real=real, cpu=cpu, busy=busy, threads=int(threads)
        )
