"""scaling: figures by threads, processes or devices that stop growing, fall, or grow too fast."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain, pairwise

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Command, Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.readers.common.command_lines import option
from benchbook.explain.readers.common.table_columns import UNSTATED
from benchbook.explain.rules import Machine, rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

# Columns that count, and what people call it.
COUNTS = {
    "threads": "threads", "processes": "processes", "devices": "devices", "streams": "streams",
    "cpus_given": "CPUs (GOMAXPROCS)", "nodes": "nodes",
}  # fmt: skip
SIZES = (
    "array_bytes", "message_bytes", "block_bytes", "working_set_bytes", "operation", "kernel",
    "setting", "matrix_order", "block_rows", "benchmark", "problem_class", "test", "scope", "mode",
)  # fmt: skip
TABLE = "table"
# Times that are no figure of the whole: of all threads together, or of a program that has one.
_NOT_ELAPSED = late(r"(?i)\b(?:user|sys|system|cpu|latency)\b")
# What does not use the threads, and stands next to them for comparison.
_OF_CPUS = late(r"(?i)\bcpu\b")
_OF_ONE = late(r"(?i)(?:^|[\W_])(?:seq|sequential|serial|single|scalar|baseline)(?:[\W_]|$)")
_OF_MODEL = "traffic by its model"  # of HPCG: its rating says the same
_ONE_WORK = late(r"(?i)\btokens?\b")  # times of what all threads do together
_SPEED_UP = late(r"(?i)^speed-?up\b")
_COUNT_IN_NAME = late(r"/threads:\d{1,5}")
STATISTICS = ("", "mean", "best", "total", "median", "sum")
LEAST_COUNTS, MOST_COUNTS = 3, 1000
GAIN = 1.1  # from a count to all larger ones: less is none
FELL = 0.8  # of the best
SLOWER = 1.3  # times the time with the fewest: more than threads with work of their own cost
SHARED = 1.3  # times as fast with several: the work is shared, not given to each
SAME = 1.02  # times as fast: no better
TOO_FAST = 1.25  # times the ratio of the counts
BRIEF_NS = 1e8
MANY = 8  # of them: fewer may do nothing because none was started
_PER_SECOND = ("/s", "ops", "iops", "/day")
Sweep = list[tuple[int, Result]]


@rule
def scaling(reports: Sequence[Report], machine: Machine) -> Iterator[Finding]:
    """A figure for three numbers of threads and more that stops growing before the last, falls
    again, or grows faster than the number.

    Decided by the figures alone: nothing but the number differs between them, as far as the log
    shows.
    """
    kinds: set[str] = set()
    # Who prints a speed-up says that the work is shared.
    shared_lines = {
        own.line
        for report in reports
        if report.tool == TABLE
        for own in report.results
        if _SPEED_UP.search(own.name)
    }
    reports = [report for report in reports if not is_weak(report)]  # told by weak_scaling
    sweeps = sorted(_sweeps(reports), key=lambda pair: pair[1][0][1].rate is None)
    known = {report.facts.get("cores") for report in reports} - {None}
    cores = machine.cores or (known.pop() if len(known) == 1 else None)
    judged = [
        (counts, sweep, *_judged(sweep, sweep[0][1].line in shared_lines))
        for counts, sweep in sweeps
    ]
    of_figure = Counter(_figure_of(sweep) for _, sweep, _, _ in judged)
    of_kind = Counter((_figure_of(sweep), kind) for _, sweep, kind, _ in judged)
    looked = 0
    for counts, sweep, kind, words in judged:
        figure = _figure_of(sweep)
        # What holds of the smallest of several problems alone is no fault of the figure.
        is_usual = 2 * of_kind[figure, kind] >= of_figure[figure]
        if kind and is_usual and kind not in kinds:
            if kind in ENDED and looked < MOST_LOOKED:
                looked += 1
                if _is_better_elsewhere(reports, counts, sweep, words["full"]):
                    continue
            kinds.add(kind)
            is_beyond = is_number(cores) and counts != "devices" and sweep[-1][0] > cores
            words |= {"counts": COUNTS[counts], "cores": cores if is_beyond else None}
            words["brief"] = True if _is_brief(sweep[0][1]) else None
            is_apart = _are_apart(counts, sweep)
            kind_of_apart = "devices" if counts == "devices" else "nodes"
            words |= {"advice": kind_of_apart if is_apart else "cpus"}
            words |= {"hinder": "by_exchange" if is_apart else "by_locks"}
            words |= {"tools": "mpi_tools" if is_apart else "cpu_tools"}
            words |= {"nowhere": "on_none" if is_apart else "on_one_core"}
            how = "bytes" if sweep[0][1].rate is not None else "apart" if is_apart else "work"
            yield finding(kind, words, about=[own for _, own in sweep], how=how)


MOST_LOOKED = 20  # sweeps whose table is searched for better rows: each takes its length
ENDED = ("stops-scaling", "never-scales", "flat-from-many", "falls-with-more")


def _texts(own: Result) -> dict[str, str]:
    """The words of a row, without numbers."""
    return {name: _words_of(word) for name, word in own.of.items() if isinstance(word, str)}


def _is_better_elsewhere(
    reports: Sequence[Report], counts: str, sweep: Sweep, full: object
) -> bool:
    """Whether another row of the same table, with more of them, is far better than the best: then
    something else that the rows differ in holds the others."""
    best, lines = max(_speed(own) for _, own in sweep), {own.line for _, own in sweep}
    table = next((own for own in reports if own.tool == TABLE and sweep[0][1] in own.results), None)
    return table is not None and any(
        is_number(count := table.column(own, counts))
        and is_number(full)
        and count > full
        and _speed(own) > GAIN * best
        for own in table.groups.get((sweep[0][1].name, sweep[0][1].statistic, sweep[0][1].unit), ())
        if own.line not in lines and own.is_positive and _texts(own) == _texts(sweep[0][1])
    )


BELOW_IDEAL = 0.85  # of the ratio of two counts
LESS_WITH_MORE = 0.9  # of the rate with fewer
LEAST_TIMES = 2  # the larger count ÷ the smaller
OF_CORES = (
    "stream", "sysbench", "mbw", "likwid-bench", "babelstream", "npb", "hpl", "hpcg", "text",
    "google-benchmark", "lines alike", "go-bench",
)  # fmt: skip


@rule
def two_counts(reports: Sequence[Report]) -> Iterator[Finding | str]:
    """A note on a rate with two numbers of threads that grows by less than the number, and a time
    that is longer with more."""
    own = [own for own in reports if own.tool in (*OF_CORES, TABLE) and not is_weak(own)]
    # Of lists of figures the threads are only known where a line above each sets them.
    own += [own for own in reports if own.tool == "figures" and len(own.results) == 1]
    for counts, sweep in _sweeps(own, 2):
        (least, first), (most, last) = sweep[0], sweep[-1]
        if len(sweep) != 2 or most < LEAST_TIMES * least:
            continue
        if any(first.of.get(kind) != last.of.get(kind) for kind in COUNTS if kind != counts):
            continue  # threads_of_processes.py looks at both together
        if _is_duration(first):
            times = last.base_value / first.base_value
            is_text = any(first in report.results for report in own if report.tool == "text")
            if counts == "devices" and is_text:
                continue  # devices_together.py tells it
            if first.is_time and times >= SLOWER:
                words = {"first": first, "last": last, "least": least, "most": most}
                words |= {"counts": COUNTS[counts], "times": times}
                kind = "slower-with-cpus" if counts == "cpus_given" else "slower-with-two"
                yield finding(kind, words)
                return
            continue
        times, ideal = last.base_value / first.base_value, most / least
        if times <= LESS_WITH_MORE and counts in ("threads", "processes", "cpus_given"):
            words = {"first": first, "last": last, "least": least, "most": most}
            words |= {"counts": COUNTS[counts], "part": 1 - times}
            yield finding("less-with-two", words)
            return
        if 1 <= times < BELOW_IDEAL * ideal:
            words = {"first": first, "last": last, "least": least, "most": most, "times": times}
            words |= {"ideal": ideal, "part": times / ideal, "counts": COUNTS[counts]}
            yield finding("below-ideal", words).explanation
            return


_EFFICIENCY = late(r"(?i)\beffic")
WEAK_FITS, WEAK_LOW = 1.5, 80.0  # per cent: of each other; an efficiency that says something


def is_weak(report: Report) -> bool:
    """Whether a table has efficiencies that are the first time divided by each: the work of each
    node, process or device stays."""
    shares = {own.line: own.value for own in _efficiencies(report)}
    times: dict[tuple[str, str], list[Result]] = {}
    for own in report.results:
        if own.is_time and own.is_positive and own.line in shares:
            times.setdefault((own.name, own.statistic), []).append(own)
    return any(
        len(several) >= LEAST_COUNTS
        and all(
            abs(100 * several[0].value / own.value - shares[own.line]) <= WEAK_FITS
            for own in several
        )
        for several in times.values()
    )


def _efficiencies(report: Report) -> list[Result]:
    is_table = report.tool == TABLE and len(report.results) <= MOST_COUNTS
    return [
        own
        for own in (report.results if is_table else ())
        if own.unit == "%" and _EFFICIENCY.search(own.name)
    ]


@rule
def weak_scaling(report: Report) -> Iterator[Finding]:
    """A table of weak scaling: between which two rows most of the efficiency is lost.

    Decided by a column of efficiencies that are the first time divided by each of its times.
    """
    shares = [own for own in _efficiencies(report) if own.is_positive]
    if (
        len(shares) < LEAST_COUNTS
        or not is_weak(report)
        or min(own.value for own in shares) >= WEAK_LOW
    ):
        return
    before, after = min(pairwise(shares), key=lambda pair: pair[1].value / pair[0].value)
    counts = next((kind for kind in reversed(COUNTS) if kind in after.of), "")
    if not counts or after.value >= before.value:
        return
    words: dict[str, object] = {"before": before, "after": after, "last": shares[-1]}
    words |= {"counts": COUNTS[counts], "few": before.of[counts], "many": after.of[counts]}
    yield finding("weak-scaling", words)


BELOW_EFFICIENCY = 0.75
BREAK, STAYS_BAD = 3.0, 2.0  # times as long with the next number; of it, with all larger ones


@rule
def efficiency_of_counts(reports: Sequence[Report]) -> Iterator[str]:
    """A note on three numbers of threads and more with which the work is done faster and faster,
    but by far less than the numbers grow; where most of it is lost."""
    own = [own for own in reports if own.tool in (*OF_CORES, TABLE) and not is_weak(own)]
    for counts, sweep in _sweeps(own):
        (least, first), (most, last) = sweep[0], sweep[-1]
        speeds = [_speed(result) for _, result in sweep]
        times, ideal = speeds[-1] / speeds[0], most / least
        if _judged(sweep)[0] or times < SHARED or times >= BELOW_EFFICIENCY * ideal:
            continue
        if first.rate is not None or any(after < before for before, after in pairwise(speeds)):
            continue  # what memory carries has a limit of its own
        steps = [
            (speeds[at] / speeds[at - 1] * sweep[at - 1][0] / sweep[at][0], at)
            for at in range(1, len(sweep))
        ]
        part, at = min(steps)
        words = {"first": first, "last": last, "least": least, "most": most, "times": times}
        words |= {"ideal": ideal, "part": times / ideal, "counts": COUNTS[counts], "step": part}
        words |= {"before": sweep[at - 1][0], "after": sweep[at][0]}
        words["shared"] = "by_exchange" if _are_apart(counts, sweep) else "on_host"
        words["name"] = last.name.replace(f"/threads:{most}", "")
        yield finding("efficiency-of-counts", words).explanation
        return


@rule
def breaks_between(reports: Sequence[Report]) -> Iterator[Finding]:
    """A CPU time that is several times as long with one more process or thread, and stays so.

    Decided by two neighbours: work that is shared, or of each, needs no more than twice as much
    for twice the number. Times of the whole are judged above.
    """
    for report in reports:
        if report.tool != TABLE:
            continue
        for counts in ("processes", "threads"):
            counted = {
                result.of[counts]: result
                for result in report.results
                if isinstance(result.of.get(counts), int) and result.is_time and result.is_positive
                if _OF_CPUS.search(result.name)
            }
            ordered = sorted(counted.items())
            for (fewer, before), (more, after) in pairwise(ordered):
                later = [own.base_value for count, own in ordered if count >= more]
                worse = after.base_value / before.base_value
                stays = min(later) >= STAYS_BAD * before.base_value
                if more <= 2 * fewer and worse >= BREAK and stays and len(ordered) >= LEAST_COUNTS:
                    words = {"before": before, "after": after, "fewer": fewer, "more": more}
                    words |= {"counts": COUNTS[counts], "times": worse}
                    yield finding("breaks-between", words)
                    return


def _sweeps(
    reports: Sequence[Report], least_counts: int = LEAST_COUNTS
) -> Iterator[tuple[str, Sweep]]:
    """Figures by the numbers of one kind, each with these numbers in order."""
    for counts in COUNTS:
        counted = [
            report
            for report in reports
            if counts in report.columns or counts in report.facts
            if not report.facts.get("pattern")  # of messages: more processes are more work
        ]
        numbers = {report.facts.get(counts) for report in counted}
        numbers |= {of.get(counts) for report in counted for of in report.settings}
        if not least_counts <= len(numbers - {None}) <= MOST_COUNTS:
            continue
        sweeps: dict[tuple[object, ...], list[dict[int, Result]]] = {}
        mixed: set[tuple[object, ...]] = set()
        for report in counted:
            of_size = [name for name in SIZES if name in report.columns or name in report.facts]
            names = {
                key: _COUNT_IN_NAME.sub("", key[0])
                for key, several in report.groups.items()
                if key[1] in STATISTICS and _is_figure(several[0])
            }
            for result in report.results:
                count = report.column(result, counts)
                name = names.get((result.name, result.statistic, result.unit))
                if not isinstance(count, int) or count < 1 or name is None:
                    continue
                if not result.is_positive and result.value != 0:
                    continue
                columns = ((size, report.column(result, size)) for size in of_size)
                sizes = [
                    (size, _COUNT_IN_NAME.sub("", str(column)))
                    for size, column in columns
                    if column is not None
                ]
                label = _words_of(result.of.get("label"))
                figure = report.tool, name, result.statistic, result.unit
                # Of several tables nobody knows what differs between them.
                table = report.line if report.tool == TABLE else 0
                key = (*figure, table, label, *sizes)
                if result.value == 0:
                    if _is_duration(result):
                        mixed.add(key)  # shorter than the digits: where it is best, nobody sees
                    continue
                own = sweeps.setdefault(key, [{}])
                # The same numbers from the beginning again: another problem or another size.
                if count in own[-1] and count < max(own[-1]):
                    own.append({})
                known = own[-1].setdefault(count, result)
                # Twice with one number, and far apart: more differs than the number.
                if known is not result and report.tool != TABLE:
                    slower, faster = sorted((_speed(known), _speed(result)))
                    if faster > SLOWER * slower:
                        mixed.add(key)
        for key in mixed:
            sweeps.pop(key, None)
        for by_count in chain.from_iterable(sweeps.values()):
            if len(by_count) >= least_counts:
                yield counts, sorted(by_count.items())


MANY_PROCESSES = 256  # more than a host has cores, mostly


def _are_apart(counts: str, sweep: Sweep) -> bool:
    """Whether what is counted has memory of its own: devices, nodes, or processes on several."""
    return counts in ("devices", "nodes") or (
        counts == "processes" and sweep[-1][0] >= MANY_PROCESSES
    )


def _figure_of(sweep: Sweep) -> tuple[str, str, str]:
    """What the figures of a sweep are called; those of other sizes are called the same."""
    first = sweep[0][1]
    return first.name, first.statistic, first.unit


def _words_of(label: object) -> str:
    """What a row is called, without numbers: those may be figures of the row."""
    return " ".join(word for word in str(label or "").split() if not word[0].isdigit())


def _is_figure(result: Result) -> bool:
    unit = result.unit.lower()
    if _OF_ONE.search(result.name):
        return False
    if _is_duration(result):
        return not _NOT_ELAPSED.search(result.name)
    if result.name.startswith(_OF_MODEL) or "by CPU time" in result.name:
        return False
    return result.rate is not None or unit.endswith(_PER_SECOND)


def _is_duration(result: Result) -> bool:
    return result.is_time or result.unit == UNSTATED


def _is_brief(first: Result) -> bool:
    """Whether a time is that of little work, and of no single operation."""
    is_whole = first.unit in ("s", "ms") and not first.of.get("is_per_operation")
    return is_whole and first.base_value < BRIEF_NS


def _speed(result: Result) -> float:
    return 1 / result.base_value if _is_duration(result) else result.base_value


def _judged(sweep: Sweep, is_shared: bool = False) -> tuple[str, dict[str, object]]:
    """The kind of finding of a sweep and its words; "" where it grows as it should."""
    (least, first), (most, last) = sweep[0], sweep[-1]
    speeds = [_speed(own) for _, own in sweep]
    best_behind = list(accumulate(reversed(speeds), max))[::-1]  # from each count on
    at = next(index for index, speed in enumerate(speeds) if best_behind[index] <= GAIN * speed)
    full, best = sweep[at]
    words: dict[str, object] = {
        "first": first, "best": best, "last": last, "least": least, "full": full, "most": most,
        "times": speeds[at] / speeds[0], "fell": speeds[-1] / max(speeds),
        "times_as_long": max(speeds) / speeds[-1],
        "worse": "longer" if _is_duration(first) else "lower",
        "improves": "hardly" if max(speeds[at:]) > SAME * speeds[at] else "no_longer",
    }  # fmt: skip
    is_one_work = is_shared or _ONE_WORK.search(first.name) is not None
    if _is_duration(first) and speeds[at] < SHARED * speeds[0] and not is_one_work:
        falls = all(after < before for before, after in pairwise(speeds))
        if first.is_time and falls and speeds[0] >= SLOWER * speeds[-1]:
            return "slower-with-each", words
        if first.is_time and all(speed * SLOWER <= speeds[0] for speed in speeds[1:]):
            words["low"] = min((own for _, own in sweep[1:]), key=lambda own: own.base_value)
            words["high"] = max((own for _, own in sweep[1:]), key=lambda own: own.base_value)
            return "slower-with-several", words
        return "", words  # each may have its own share of the work
    if speeds[-1] < FELL * max(speeds) and most > full:
        return "falls-with-more", words
    if full > least and most >= 2 * full:
        return "stops-scaling", words
    if full == least and most >= 4 * least:
        return "never-scales", words
    if full == least and least >= MANY and len(sweep) > LEAST_COUNTS and most >= 1.5 * least:
        return "flat-from-many", words
    if speeds[-1] / speeds[0] > TOO_FAST * most / least:
        return "scales-too-well", words
    return "", words


MORE_THREADS = 1.25  # times the threads of the other run
LONGER = 1.2  # times its latency


@rule
def no_more_events(reports: Sequence[Report]) -> Iterator[Finding]:
    """Two runs of sysbench, of which the one with more threads does no more in a second.

    Decided by events over time, or the rate that it prints; both runs differ in nothing else that
    the log shows.
    """
    runs = [
        (int(threads), rate, report)
        for report in reports
        if report.tool == "sysbench" and is_number(threads := report.facts.get("threads"))
        if (rate := _events_per_s(report)) > 0
    ]
    if len(runs) != 2 or runs[0][0] == runs[1][0]:
        return
    (fewer, rate, first), (more, rate_with_more, second) = sorted(runs, key=lambda run: run[0])
    settings = [[run.facts.get(name) for name in (*SIZES, "scope", "test")] for *_, run in runs]
    if settings[0] != settings[1] or more < MORE_THREADS * fewer or rate_with_more > GAIN * rate:
        return
    short, long = (run.only("latency", "mean") for run in (first, second))
    is_longer = short and long and long.base_value >= LONGER * short.base_value
    words: dict[str, object] = {"fewer": fewer, "more": more}
    words |= {"rate": rate, "with_more": rate_with_more}
    words |= {"short": short if is_longer else None, "long": long if is_longer else None}
    about = [own for run in (first, second) for own in run.results[:1]]
    yield finding("no-more-events", words, about=about)


SEVERAL = 1.5  # queries in a transaction


@rule
def queries_of_transactions(report: Report) -> Iterator[str]:
    """A note on latencies of transactions that have several queries."""
    if report.tool != "sysbench":
        return
    queries, transactions = report.only("query rate"), report.only("transaction rate")
    if queries and transactions and transactions.is_positive:
        each = queries.value / transactions.value
        if is_number(each) and each >= SEVERAL:
            words = {"queries": queries, "transactions": transactions, "each": each}
            yield finding("queries-of-transactions", words).explanation


LIMIT_S, LATE_S = 10.0, 0.15  # the default of --time; how much later the last events end


@rule
def ended_by_time(report: Report) -> Iterator[Finding | str]:
    """A run of sysbench that its time limit ended: a note where it prints no rate of events, and a
    finding where its command asks for more events than were done.

    Decided by a total time of the default limit.
    """
    total, events = report.only("total time"), report.facts.get("events")
    if report.tool != "sysbench" or total is None or not is_number(events) or events <= 0:
        return
    if not LIMIT_S <= total.value < LIMIT_S + LATE_S:
        return
    limit = option(Command(report.line, report.asked), "--time", "--max-time")
    if limit not in ("", f"{LIMIT_S:g}"):
        return  # another limit, which did not end it
    asked = next((word for word in report.asked if word.startswith("--events=")), "").partition("=")
    if asked[2].isdecimal() and events < int(asked[2]):
        words = {"total": total, "asked": int(asked[2]), "done": int(events)}
        yield finding("fewer-events-than-asked", words, about=[total])
    elif not any(report.has(name) for name in _RATES):
        words = {"total": total, "done": int(events), "rate": round(events / total.value)}
        yield finding("limit-of-time", words).explanation


_RATES = ("event rate", "transfer rate", "operation rate", "transaction rate", "query rate")


def _events_per_s(report: Report) -> float:
    rate = report.only("event rate")
    if rate is not None:
        return rate.value
    events, elapsed = report.facts.get("events"), report.facts.get("elapsed_s")
    return events / elapsed if is_number(events) and is_number(elapsed) and elapsed > 0 else 0.0
