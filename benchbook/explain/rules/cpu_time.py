"""waiting, kernel-time, thread-scaling: what elapsed time and CPU time say of each other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.results import grouped
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.explain.rules.cpus_used import uncounted_children
from benchbook.explain.rules.stressors import uncounted
from benchbook.findings import Finding

TIMED = ("time", "hyperfine")
WAITING = 1.5  # times the CPU time, the elapsed time
LEAST_NS = 5e6  # of an elapsed time; below, the start of a process is in it
IN_KERNEL = 0.6  # of the CPU time, of which a program of its own spends little there
LEAST_CPU_NS = 2e7
LEAST_BUSY = 0.25  # of the elapsed time: what a command does that mostly waits decides nothing
SEVERAL = 1.5  # CPUs that were busy on average
_SLEEPS = late(r"^(?:\S*/)?sleep \S")  # a command that does nothing else


class _Spent(NamedTuple):
    """The elapsed time of a command, and its CPU time by its parts."""

    elapsed: Result
    user: Result
    system: Result

    @property
    def on_cpus_ns(self) -> float:
        """The CPU time of all threads in ns."""
        return self.user.base_value + self.system.base_value

    @property
    def share_in_kernel(self) -> float:
        """System time as a share of the CPU time."""
        return self.system.base_value / self.on_cpus_ns if self.on_cpus_ns else 0.0


def _spent(report: Report) -> _Spent | None:
    elapsed = report.only("time elapsed") or report.only("time", "mean")
    user, system = report.only("user time"), report.only("system time")
    if elapsed is None or user is None or system is None or not elapsed.is_positive:
        return None
    return _Spent(elapsed, user, system) if user.value >= 0 and system.value >= 0 else None


@rule
def waiting(reports: Sequence[Report]) -> Iterator[str]:
    """A note on commands that waited for a third of their time or more: no change of the code that
    runs on a CPU can shorten that part.

    Decided by elapsed time over user and system time of all threads. However many there were, they
    ran for that long together at most, so that the rest is a bound from below.
    """
    if uncounted_children(reports) or any(map(uncounted, reports)):
        return  # what their CPU time is not of, nobody knows
    every = [
        own
        for report in reports
        if report.tool in TIMED and (own := _spent(report))
        if not _SLEEPS.search(str(report.facts.get("command", "")))
    ]
    waited = [
        own
        for own in every
        if own.on_cpus_ns > 0 or own.elapsed.base_value > SHORT_NS
        if own.elapsed.base_value >= max(LEAST_NS, WAITING * own.on_cpus_ns)
    ]
    if waited:
        own = max(waited, key=lambda spent: spent.elapsed.base_value / max(spent.on_cpus_ns, 1.0))
        part = math.floor(100 * (1 - own.on_cpus_ns / own.elapsed.base_value)) / 100
        words = {"elapsed": own.elapsed, "cpu": own.on_cpus_ns, "part": part}
        busy = [
            other.elapsed
            for other in every
            if 0.9 * other.elapsed.base_value <= other.on_cpus_ns < 1.1 * other.elapsed.base_value
        ]
        words["busy"] = busy[0] if busy else None
        yield finding("waiting", words, left=len(waited) - 1 or None).explanation


@rule
def kernel_time(reports: Sequence[Report]) -> Iterator[str]:
    """A note on commands whose CPU time is mostly the kernel's."""
    for report in reports:
        own = _spent(report) if report.tool in TIMED else None
        if own is None or own.on_cpus_ns < max(LEAST_CPU_NS, LEAST_BUSY * own.elapsed.base_value):
            continue
        if own.share_in_kernel >= IN_KERNEL:
            words: dict[str, Any] = {"system": own.system, "user": own.user}
            cpus = own.on_cpus_ns / own.elapsed.base_value
            words |= {"part": own.share_in_kernel, "cpus": cpus if cpus >= SEVERAL else None}
            yield finding("kernel-time", words).explanation
            return


SHORT_NS = 5e7  # of one run by `time`: as long as the start of an interpreter


@rule
def short_command(reports: Sequence[Report]) -> Iterator[str]:
    """A note on times of commands that are mostly the start of a process."""
    short = [
        own.elapsed
        for report in reports
        if report.tool == "time" and (own := _spent(report))
        if own.elapsed.base_value < SHORT_NS
    ]
    if short:
        yield finding("short-command", first=short[0]).explanation


OF_DEBUGGING = late(r"(?:target/debug|bin/Debug|cmake-build-debug|x64/Debug)/")
OF_RELEASE = late(r"(?:target/release|bin/Release|cmake-build-release|x64/Release)/")


@rule
def debug_command(reports: Sequence[Report]) -> Iterator[Finding]:
    """Timed commands that lie in a folder of builds for debugging. Where the same program was timed
    with optimisation too, its two builds are what is compared."""
    commands = [
        str(report.facts.get("command") or report.facts.get("program") or "") for report in reports
    ]
    optimised = {OF_RELEASE.sub("", command) for command in commands if OF_RELEASE.search(command)}
    for report, command in zip(reports, commands, strict=True):
        found = OF_DEBUGGING.search(command) if report.results else None
        if found and OF_DEBUGGING.sub("", command) not in optimised:
            words = {"first": report.results[0], "folder": found[0]}
            yield finding("debug-command", words)
            return


TOO_GOOD = 20.0  # times the CPU time
LEAST_OF_TWO_NS = 1e9  # of the one that took it


@rule
def hardly_any_work(reports: Sequence[Report]) -> Iterator[str]:
    """A note on the only two timed commands of a log, of which one took a small part of the CPU
    time of the other: so much is seldom saved in the same work."""
    timed = [own for report in reports if report.tool == "time" and (own := _spent(report))]
    if len(timed) != 2 or _other_arguments(reports):
        return
    small, large = sorted(timed, key=lambda own: own.on_cpus_ns)
    if large.on_cpus_ns >= LEAST_OF_TWO_NS and 0 < small.on_cpus_ns * TOO_GOOD <= large.on_cpus_ns:
        words: dict[str, Any] = {"small": small.elapsed, "large": large.elapsed}
        words |= {"small_s": small.on_cpus_ns / 1e9, "large_s": large.on_cpus_ns / 1e9}
        words["times"] = large.on_cpus_ns / small.on_cpus_ns
        yield finding("hardly-any-work", words).explanation


def _other_arguments(reports: Sequence[Report]) -> bool:
    """Whether one program was timed with different arguments, which are different work."""
    commands = [str(report.facts.get("command", "")) for report in reports if report.tool == "time"]
    return len(set(commands)) > 1 and len({command.split(" ")[0] for command in commands}) == 1


COPIED_BYTES_PER_S = 2e10  # by one core: through the kernel and back it is less than half
AS_LONG = 5.0  # times, that another command took for a file as large


@rule
def file_not_copied(reports: Sequence[Report]) -> Iterator[Finding]:
    """Timed commands on a listed file that ended sooner than its bytes can be copied, next to one
    on as large a file that took many times as long."""
    timed = [
        (own, size, report)
        for report in reports
        if is_number(size := report.facts.get("file_bytes")) and (own := _spent(report))
    ]
    if len(timed) < 2:
        return
    fast, size, report = min(timed, key=lambda entry: entry[0].elapsed.base_value)
    slow, as_large, _ = max(timed, key=lambda entry: entry[0].elapsed.base_value)
    took = fast.elapsed.base_value / 1e9
    if not (took > 0 and as_large <= 2 * size and slow.elapsed.base_value >= AS_LONG * 1e9 * took):
        return
    if size / max(took, fast.on_cpus_ns / 1e9) >= COPIED_BYTES_PER_S:
        words = {"fast": fast.elapsed, "slow": slow.elapsed, "size": size, "took": took}
        words |= {"rate": size / took, "listed": report.facts["file_line"]}
        yield finding("file-not-copied", words)


OF_LIMITS = "cgroup"
ABOVE_LEAST = 1.5  # times the minimum, the mean: something stopped it


@rule
def quota_of_container(report: Report) -> Iterator[Finding]:
    """Figures out of a container whose command gives it less CPU time than its threads can use."""
    quota, threads = report.facts.get("cpu_quota"), report.facts.get("threads") or 1
    given = [of["cpus_given"] for of in report.settings if isinstance(of.get("cpus_given"), int)]
    threads = max([threads, *given]) if is_number(threads) else threads
    if not (is_number(quota) and is_number(threads) and quota < threads and report.results):
        return
    if report.tool == OF_LIMITS:
        return  # which says itself how often it was stopped
    of_events = [own for own in report.results if own.unit.endswith("/s") and own.is_positive]
    words: dict[str, Any] = {"quota": quota, "threads": threads, "mean": None, "least": None}
    words |= {"line": report.facts["cpu_quota_line"], "rate": (of_events or report.results)[0]}
    mean, least = report.only("latency", "mean"), report.only("latency", "min")
    if mean and least and least.is_positive and mean.value >= ABOVE_LEAST * least.value:
        words |= {"mean": mean, "least": least}
    yield finding("quota", words)


SLOWER = 1.1  # times the elapsed time with fewer threads
MORE_CPU = 1.2  # times the CPU time with fewer threads
RATE_FALLS = 0.8  # of the rate with fewer threads


@rule
def scaling_of_time(reports: Sequence[Report]) -> Iterator[Finding | str]:
    """Runs of one command with different numbers of threads: whether more of them were slower, or
    cost more CPU time for the same work.

    Decided by the times of `time`. Whether the work was the same, the log says only where it shows
    the command; a text that grows the work with the threads shows CPU time in proportion.
    """
    runs = [
        (int(report.facts["threads"]), own)
        for report in reports
        if report.tool == "time" and is_number(report.facts.get("threads"))
        if (own := _spent(report))
    ]
    if len({threads for threads, _ in runs}) < 2:
        yield from _same_command(reports)
        return
    fewest, base = min(runs, key=lambda run: run[0])
    most, last = max(runs, key=lambda run: run[0])
    times = last.elapsed.base_value / base.elapsed.base_value
    cpu = last.on_cpus_ns / base.on_cpus_ns if base.on_cpus_ns else 0.0
    words = {"fewest": fewest, "most": most, "base": base.elapsed, "last": last.elapsed}
    words |= {"times": times, "cpu": cpu, "speedup": 1 / times, "ideal": most / fewest}
    each = cpu * fewest / most
    if times >= SLOWER and cpu >= MORE_CPU:
        yield finding("slower-with-threads", words, each=each)
    elif times < 1 and cpu >= MORE_CPU:
        yield finding("dearer-with-threads", words).explanation


HALF_BUSY = 0.5  # CPU time ÷ elapsed time: below it waiting makes the difference


def _same_command(reports: Sequence[Report]) -> Iterator[str]:
    """A note on a command that was once faster with more CPU time: by more threads, or others."""
    timed = [
        (str(report.facts["command"]), own)
        for report in reports
        if report.tool == "time" and report.facts.get("command") and (own := _spent(report))
    ]
    for several in grouped(timed, lambda entry: entry[0]).values():
        runs = [own for _, own in several]
        slow, fast = (pick(runs, key=_elapsed_ns) for pick in (max, min))
        if _elapsed_ns(fast) < _elapsed_ns(slow) and slow.on_cpus_ns > 0:
            cpu = fast.on_cpus_ns / slow.on_cpus_ns
            if cpu >= MORE_CPU and fast.on_cpus_ns >= HALF_BUSY * _elapsed_ns(fast):
                words = {"fast": fast.elapsed, "slow": slow.elapsed, "cpu": cpu}
                words["times"] = _elapsed_ns(slow) / _elapsed_ns(fast)
                yield finding("dearer-and-faster", words).explanation


def _elapsed_ns(own: _Spent) -> float:
    return own.elapsed.base_value


OF_RATES = ("stream", "sysbench", "npb", "mbw", "babelstream")
SETTINGS = ("array_bytes", "operation", "scope", "problem_class", "kernel", "test", "mode")


@rule
def scaling_of_rate(reports: Sequence[Report]) -> Iterator[Finding]:
    """The same test with more threads that has a lower rate in all.

    Decided by the printed rates and threads; what they wait for, the log does not say.
    """
    rates = [
        (_setting(report, rate), int(threads), rate, report)
        for report in reports
        if report.tool in OF_RATES and is_number(threads := report.facts.get("threads"))
        for rate in report.results
        if rate.statistic in ("best", "") and rate.is_positive
        if rate.rate is not None or rate.name == "rate"
    ]
    falls = []
    for several in grouped(rates, lambda entry: entry[0]).values():
        _, fewer, high, report = max(several, key=lambda entry: entry[2].value)
        beyond = [entry for entry in several if entry[1] > fewer]
        if not beyond:
            continue
        _, more, low, _ = min(beyond, key=lambda entry: entry[2].value)
        if low.value <= RATE_FALLS * high.value:
            falls.append((low.value / high.value, fewer, more, low, high, report))
    if falls:
        share, fewer, more, low, high, report = min(falls, key=lambda entry: entry[0])
        words = {"fewer": fewer, "more": more, "low": low, "high": high, "share": share}
        words["why"] = "sysbench" if report.tool == "sysbench" else "other"
        yield finding("fewer-with-threads", words)


def _setting(report: Report, rate: Result) -> tuple[object, ...]:
    own = (report.column(rate, name) for name in SETTINGS)
    return (report.tool, report.facts.get("benchmark"), rate.name, rate.unit, *own)
