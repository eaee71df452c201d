"""flushed, one-at-a-time and others: what bonnie++, pveperf, etcdctl check perf, elbencho, mdtest,
filebench, db_bench, pg_test_fsync, f3, rsync and smartctl measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from benchbook.core.number_format import listed, number
from benchbook.explain.model import Report, Result
from benchbook.explain.readers.common.load_lines import FAILED, RATE
from benchbook.explain.results import grouped
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

BUSY_CORE, STALL_NS = 90.0, 1e9


@rule
def large_file(report: Report) -> Iterator[Finding | str]:
    """Tests of bonnie++ that a core holds, or that waited for a second and more."""
    if report.tool != "bonnie++":
        return
    by_character = [
        own
        for own in report.being("mean")
        if own.name.endswith("by character") and own.of.get("cpu_percent", 0.0) >= BUSY_CORE
    ]
    if by_character:
        most = max(by_character, key=lambda own: own.of["cpu_percent"])
        yield finding("by-character", most=most, share=most.of["cpu_percent"], about=by_character)
    waits = [own for own in report.being("max") if own.is_time and own.base_value >= STALL_NS]
    if waits:
        longest = max(waits, key=lambda own: own.base_value)
        rate = report.only(longest.name, "mean")
        yield finding("long-waits", longest=longest, count=len(waits), rate=rate, about=waits)
    if fast := report.facts.get("too_fast"):
        yield (
            f"line {report.facts['too_fast_line']}: bonnie++ prints +++++ where a test was over "
            f"too soon to be timed ({fast}). Mostly these were done in memory; take more files "
            "(-n) or a larger file (-s, twice the memory)"
        )


SLOW_FLUSHES, SLOW_NAMES_MS = 250.0, 500.0


@rule
def flushes_a_second(report: Report) -> Iterator[Finding | str]:
    """Flushes of pveperf that take as long as a turn of a disk, and names that time out."""
    if report.tool != "pveperf":
        return
    rate = report.only("flush rate", "mean")
    if rate and rate.is_positive:
        each = 1e9 / rate.value
        if rate.value <= SLOW_FLUSHES:
            yield finding("slow-flushes", rate=rate, each_ns=each)
        else:
            yield (
                f"line {rate.line}: {rate.value:,.6g} flushes a second, one after the other, are "
                f"{number(each / 1e3)} us for each. That is what databases and synchronous writes "
                "wait for"
            )
    for name in ("dns ext", "dns int"):
        took = report.only(name)
        if took and took.base_value >= SLOW_NAMES_MS * 1e6:
            yield (
                f"line {took.line}: to look up a name takes {took.value:,.6g} {took.unit}, so a "
                "name server may not answer before a timeout"
            )


@rule
def paced_check(reports: Sequence[Report]) -> Iterator[Finding | str]:
    """Checks of etcd that ended with errors, or below the rate at which the tool sends."""
    own = [report for report in reports if report.tool == "etcd-perf"]
    for report in own:
        rate, longest = report.only(RATE, "mean"), report.only("response time", "max")
        failed = report.only(FAILED)
        if failed and failed.is_positive:
            words = {"failed": failed, "why": report.facts.get("why"), "longest": longest}
            yield finding("check-timed-out", words, rate=rate, about=[failed])
            return
        if rate and report.facts.get("verdict") == "FAIL":
            yield finding("check-below", rate=rate, longest=longest, about=[rate])
            return
    rates = [rate for report in own if (rate := report.only(RATE, "mean"))]
    if rates:
        yield (
            f"line {rates[0].line}: this check sends at a fixed rate, which its load sets. So "
            f"{rates[0].value:,.6g} a second is what was asked for, and not what etcd can do"
        )


SLOW_NS, SOON_S, FEW_KEYS = 1e6, 0.5, 1000
# What says how many threads or tasks it has; spew waits for each of its requests.
_ALONE = {"elbencho": "threads", "mdtest": "processes", "spew": ""}
_COUNTED = ("operations/s", "files/s", "directories/s")


@rule
def one_at_a_time(reports: Sequence[Report]) -> Iterator[Finding | str]:
    """Files and requests by one thread, each of which takes milliseconds, by elbencho, mdtest
    or spew: the first of a log."""
    for report in reports:
        if report.tool not in _ALONE:
            continue
        name = _ALONE[report.tool]
        threads = report.facts.get(name) if name else 1
        rates = [own for own in report.being("mean") if own.unit in _COUNTED and own.is_positive]
        is_alone = threads == 1 and report.facts.get("queue_depth", 1) == 1
        if not is_alone or not rates or _is_soon(report, rates):
            continue
        slow = min(rates, key=lambda own: own.value)
        each_ns = 1e9 / slow.value
        if each_ns >= SLOW_NS:
            yield finding("single-thread", rate=slow, each_ns=each_ns, about=[slow])
        else:
            yield (
                f"line {slow.line}: one thread had one request under way, so {slow.value:,.6g} a "
                f"second is one over its time, {number(each_ns / 1e3)} us. More requests at a time "
                "show what the storage can do"
            )
        return


def _is_soon(report: Report, rates: Sequence[Result]) -> bool:
    """Whether it was over in a moment, by its time or its items."""
    items = report.facts.get("items")
    took = items / min(own.value for own in rates) if items else report.facts.get("elapsed_s", 1.0)
    return bool(took < SOON_S)


@rule
def few_items(report: Report) -> Iterator[Finding]:
    """Files and directories of mdtest that were done in a moment."""
    rates = [own for own in report.being("mean") if own.unit in _COUNTED and own.is_positive]
    items = report.facts.get("items")
    if report.tool == "mdtest" and items and rates and _is_soon(report, rates):
        first = min(rates, key=lambda own: own.value)
        words: dict[str, Any] = {"items": items, "first": first, "took": items / first.value}
        yield finding("few-items", words, about=rates)


APART = 1.4


@rule
def iterations_apart(report: Report) -> Iterator[Finding]:
    """Iterations of mdtest that are far apart, by their least and largest rates."""
    if report.tool != "mdtest":
        return
    pairs = [
        (least, most)
        for most in report.being("max")
        if (least := report.only(most.name, "min")) and least.is_positive
        if not most.name.startswith("tree") and most.value >= APART * least.value
    ]
    if pairs and report.facts.get("items", FEW_KEYS) >= FEW_KEYS:
        least, most = max(pairs, key=lambda pair: pair[1].value / pair[0].value)
        words: dict[str, Any] = {"least": least, "most": most, "ratio": most.value / least.value}
        yield finding("iterations-apart", words, about=[least, most])


ONE = (0.85, 1.1)


@rule
def operations_under_way(report: Report) -> Iterator[Finding | str]:
    """What rate times time of an operation of filebench makes (Little's law)."""
    if report.tool != "filebench":
        return
    slow: list[tuple[float, Result, Result]] = []
    for time in report.being("mean"):
        if not time.name.endswith(" time") or not time.is_positive:
            continue
        rate = report.only(f"{time.name.removesuffix(' time')} rate", "mean")
        if rate and rate.is_positive and time.base_value >= SLOW_NS:
            slow.append((rate.value * time.base_value / 1e9, rate, time))
    if not slow:
        return
    under_way, rate, time = max(slow, key=lambda own: own[0])
    if ONE[0] <= under_way <= ONE[1]:
        yield finding("single-thread", rate=rate, each_ns=time.base_value, about=[rate])
    elif under_way > 2:
        words = {"under_way": under_way, "rate": rate, "time": time}
        yield finding("operations-wait", words, each_ns=1e9 / rate.value, about=[time])
    whole = report.only("time", "mean")
    if whole and whole.value * 10 < time.value:
        yield (
            f"line {whole.line}: the summary's {whole.value:g} {whole.unit} are of reads and "
            f"writes only. {time.name} ({time.value:g} {time.unit}, line {time.line}) is not in it"
        )


@rule
def keys_of_store(reports: Sequence[Report]) -> Iterator[Finding]:
    """Reads of db_bench that found only a part of their keys, and tests of few operations: the
    first of a log."""
    stores = [each for each in reports if each.tool == "db_bench"]
    for report, every in [(each, own) for each in stores for own in each.results]:
        if not every.name.endswith(" reads") or not every.is_positive:
            continue
        name = every.name.removesuffix(" reads")
        found, time = report.only(f"{name} found"), report.only(f"{name} time", "mean")
        if time is None:
            continue
        is_short, is_part = every.value < FEW_KEYS, False
        if is_short:
            yield finding("few-keys", every=every, time=time, about=[time])
        if found and found.value < 0.9 * every.value:
            is_part, share = True, found.value / every.value
            yield finding("keys-not-found", found=found, every=every, time=time, share=share)
        if is_short or is_part:
            return


FAR, SLOW_FLUSH_NS = 20.0, 5e6


@rule
def flush_methods(reports: Sequence[Report]) -> Iterator[Finding]:
    """Methods of pg_test_fsync that return far sooner than the one that reaches the medium, or that
    take as long as a turn of a disk: the first of a log."""
    for report in reports:
        if report.tool != "pg_test_fsync":
            continue
        sure = report.only("fsync_writethrough time", "mean")
        usual = report.only("fsync time", "mean") or report.only("fdatasync time", "mean")
        if usual is None or not usual.is_positive:
            continue
        if sure and sure.base_value >= FAR * usual.base_value:
            yield finding("flush-not-reached", sure=sure, usual=usual)
            return
        if usual.base_value >= SLOW_FLUSH_NS:
            yield finding("slow-flush", usual=usual)
            return


@rule
def blocks_of_probe(report: Report) -> Iterator[Finding]:
    """Writes of f3probe that take as long as a turn of a disk each."""
    took = report.only("time of a write") if report.tool == "f3" else None
    rate = report.only("sequential write", "mean")
    if took and rate and 4e6 <= took.base_value <= 3e7:
        yield finding("probe-waits", took=took, rate=rate, about=[rate])


MOSTLY_THERE = 10.0


@rule
def little_sent(reports: Sequence[Report]) -> Iterator[Finding]:
    """Runs of rsync that sent hardly anything, because the files were there already: the first."""
    for report in reports:
        speedup, rate = report.only("speedup"), report.only("transfer", "mean")
        if report.tool == "rsync" and speedup and rate and speedup.value >= MOSTLY_THERE:
            yield finding("little-sent", speedup=speedup, rate=rate, about=[rate])
            return


_FAULTS = ("media errors", "reallocated_sector_ct", "current_pending_sector",
           "offline_uncorrectable", "reported_uncorrect", "end-to-end_error",
           "uncorrectable_error_cnt", "runtime_bad_block")  # fmt: skip
_OF_CABLE = ("udma_crc_error_count", "crc_error_count")
WORN = 100.0
# Sectors that a drive replaced once; a few of them alone are no sign of a fault.
REPLACED, FEW_REPLACED = "reallocated_sector_ct", 10


@rule
def health(report: Report) -> Iterator[Finding]:
    """Drives that are worn out, hot, or have errors of their medium or their cable."""
    if report.tool != "smartctl":
        return
    faults = [own for own in report.called(*_FAULTS) if own.is_positive]
    is_one_old = all(own.name == REPLACED and own.value < FEW_REPLACED for own in faults)
    if faults and not is_one_old:
        names = listed([f"{own.value:,.0f} {own.name}" for own in faults])
        yield finding("drive-errors", names=names, first=faults[0], about=faults)
    cable = [own for own in report.called(*_OF_CABLE) if own.is_positive]
    if cable:
        yield finding("cable-errors", errors=cable[0], about=cable)
    wear = report.only("wear")
    if wear and wear.value >= WORN:
        yield finding("worn-out", wear=wear)
    hot = [own for own in report.results if own.unit == "min" and own.is_positive]
    if hot:
        yield finding("drive-was-hot", time=max(hot, key=lambda own: own.value), about=hot)


@rule
def runs_of_store(reports: Sequence[Report]) -> Iterator[str]:
    """A note for one run each of a test of db_bench, which differ by less than such runs do."""
    times = [
        time
        for report in reports
        if report.tool == "db_bench"
        for time in report.being("mean")
        if time.unit == "us" and time.is_positive
    ]
    for several in grouped(times, lambda own: own.name).values():
        if len(several) == 2 and several[0].value != several[1].value:
            first, second = several
            ratio = max(first.value, second.value) / min(first.value, second.value)
            if ratio < 1.5:
                yield (
                    f"line {second.line}: {first.name} is {first.value:g} {first.unit} (line "
                    f"{first.line}) and {second.value:g}, {100 * (ratio - 1):.0f} % apart, by one "
                    "run each. What two runs of one build differ by is not known: repeat each five "
                    "times, in turn"
                )
                return


THREADS, ROUND = 1.9, 0.02  # time × rate; how far it may be from a whole number


@rule
def threads_of_store(reports: Sequence[Report]) -> Iterator[str]:
    """A note for times of db_bench that are of one of several threads: the first of a log.

    Decided by time times rate, which is the number of operations under way.
    """
    for report in reports:
        for rate in report.being("mean") if report.tool == "db_bench" else ():
            time = report.only(f"{rate.name.removesuffix(' rate')} time", "mean")
            if time is None or not rate.name.endswith(" rate") or not rate.is_positive:
                continue
            many = rate.value * time.base_value / 1e9
            if many >= THREADS and abs(many / round(many) - 1) <= ROUND:
                yield (
                    f"line {time.line}: {time.value:g} {time.unit} times {rate.value:,.6g} a "
                    f"second is about {round(many)}. So about {round(many)} operations were under "
                    "way at a time, on as many threads. The time is what one of them took, and not "
                    "one over the rate"
                )
                return


@rule
def synced_operations(report: Report) -> Iterator[Finding]:
    """Throughputs of dbench whose operations wait until they are on the disk."""
    rate, synced = report.only("throughput", "mean"), report.facts.get("synced")
    if report.tool == "dbench" and rate and synced:
        yield finding("synced-operations", rate=rate, synced=synced)
