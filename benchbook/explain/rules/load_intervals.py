"""stalled-transfer, warm-up, closed-loop, load-errors: what the intervals of a load show, whatever
tool printed them, and rates that were asked for and not reached."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import as_float, is_number
from benchbook.explain.readers.common.load_lines import RATE
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

RATES = (
    RATE,
    "transaction rate",
    "sent",
    "transactions",
    "rate of an interval",
)  # of loads, by what was done
LEAST_INTERVALS, LEAST_DONE = 4, 8.0  # of a rate: fewer a second make zeros by chance
NONE = 0.05  # of the median


def _intervals(report: Report, name: str) -> list[Result]:
    return [own for own in report.called(name) if own.statistic == "interval" and own.is_number]


def _rates(report: Report) -> list[Result]:
    """The intervals of its first such rate."""
    return next(filter(None, (_intervals(report, name) for name in RATES)), [])


@rule
def nothing_in_intervals(report: Report) -> Iterator[Finding]:
    """Intervals of a load in which nothing, or hardly anything, was done.

    Decided by the median of all. The last interval of a run is mostly a part of one.
    """
    rates = _rates(report)
    if len(rates) < LEAST_INTERVALS or report.facts.get("is_varied"):
        return
    if fallen := _fallen(rates):
        before, first, worst = fallen
        of_fall = {"before": before, "first": first, "worst": worst}
        counts = {"count": rates.index(first), "left": len(rates) - rates.index(first)}
        yield finding("falls-and-stays", {**of_fall, **counts})
        return
    usual = statistics.median(own.value for own in rates)
    most = max(rates, key=_value)
    inner = rates[:-1] if rates[-1].value > 0 or rates[-2].value > 0 else rates
    none = [own for own in inner if own.value <= NONE * usual]
    words: dict[str, Any] = {"none": len(none), "all": len(rates), "most": most}
    times = _long_times(report) if usual < LEAST_DONE else []
    if none and none[0].value == 0 and times:
        words |= {"first": none[0], "time": max(times, key=_value)}
        yield finding("none-ended", words, about=none)
    elif none and most.value >= LEAST_DONE:
        words |= {"first": none[0], "how": "zero" if none[0].value == 0 else "few"}
        yield finding("nothing-in-intervals", words, about=none)


FALLS, STEADY_BEFORE, LEAST_BEFORE, LEAST_AFTER = 0.1, 0.5, 2, 3


def _fallen(rates: Sequence[Result]) -> tuple[Result, Result, Result] | None:
    """The last rate before a fall to less than a tenth, the first one after it, and the smallest,
    where all rates from there to the end of the log are so low, and those before were steady."""
    values = [own.value for own in rates]
    for at in range(LEAST_BEFORE, len(values) - LEAST_AFTER + 1):
        if values[at] <= FALLS * values[at - 1]:
            usual = statistics.median(values[:at])
            is_steady = min(values[:at]) >= STEADY_BEFORE * usual
            if is_steady and max(values[at:]) <= FALLS * usual and usual >= LEAST_DONE:
                return rates[at - 1], rates[at], min(rates[at:], key=_value)
            return None
    return None


def _long_times(report: Report) -> list[Result]:
    """Latencies of intervals that are a second and more."""
    times = [own for own in report.being("interval") if "latency" in own.name and own.is_time]
    return [own for own in times if own.is_positive and own.base_value >= OLD_NS]


SLOW, STEADY = 0.6, 1.25  # of the others, the first; of the others, largest ÷ smallest
RISES = 1.5  # last ÷ first, where each interval is above the one before
NEVER_BELOW, STILL = 0.99, 1.04  # of the interval before: each, and the last


@rule
def slow_first_interval(report: Report) -> Iterator[Finding]:
    """A first interval at a far lower rate than the others, or rates that rise to the end."""
    rates = [own for own in _rates(report) if own.is_positive]
    if len(rates) < LEAST_INTERVALS or rates[0].of.get("interval") != 0:
        return
    first, others = rates[0], rates[1:]
    values = [own.value for own in others]
    is_rising = all(after.value > NEVER_BELOW * before.value for before, after in pairwise(rates))
    is_last = values[-1] == max(values) and values[-1] >= STILL * values[-2]
    if is_rising and is_last and values[-1] >= RISES * first.value:
        yield finding("rises-to-the-end", first=first, last=rates[-1], count=len(rates))
        return
    usual = statistics.median(values)
    inner = values[:-1] if len(values) > LEAST_INTERVALS else values  # the last one is often cut
    if first.value <= SLOW * usual and min(inner) >= first.value:
        words = {"first": first, "usual": usual, "count": len(others)}
        yield finding("slow-first-interval", words)


FALLEN, LEAST_OF_FALL = 0.8, 9  # of the first third, the last; intervals
MOSTLY_DOWN = 0.6  # of the steps


@rule
def rate_falls(report: Report) -> Iterator[Finding]:
    """A rate of a load that falls over the whole run: the last third far below the first, and most
    steps go down."""
    rates = [own for own in _rates(report) if own.is_positive][1:]
    if len(rates) < LEAST_OF_FALL:
        return
    third = len(rates) // 3
    first, last = (
        statistics.median(own.value for own in part) for part in (rates[:third], rates[-third:])
    )
    middle = statistics.median(own.value for own in rates[third:-third])
    steps = [after.value < before.value for before, after in pairwise(rates)]
    is_down = sum(steps) >= MOSTLY_DOWN * len(steps) and last < middle < first
    if is_down and last <= FALLEN * first:
        words = {"begin": rates[0], "end": rates[-1], "first": first, "last": last}
        yield finding("rate-falls", words, part=1 - last / first)


REACHED = 0.95
OTHER_RULES = (
    "wrk",
    "hey",
    "sockperf",
    "serving-benchmark",
    "mlperf",
)  # which have a rule of their own


@rule
def rate_not_reached(report: Report) -> Iterator[Finding]:
    """A load at a fixed rate that was not reached.

    Decided by the rate that the command or the head asks for, and the one that was reached.
    """
    asked = report.facts.get("asked_per_s")
    if not is_number(asked) or asked <= 0 or report.tool in OTHER_RULES:
        return
    if "asked_in_line" not in report.facts:
        return
    rates = [own for name in RATES if (own := report.only(name, "mean")) and own.is_positive]
    if not rates:
        rates = [own for own in _rates(report) if own.is_positive]
        rates = [sorted(rates, key=_value)[len(rates) // 2]] if rates else []
    rates += [own for own in report.called("transaction rate") if not own.statistic][:1]
    if rates and rates[0].value < REACHED * asked:
        words = {
            "asked": asked,
            "rate": rates[0],
            "line": report.facts.get("asked_in_line", report.line),
        }
        yield finding("rate-not-reached", words, share=rates[0].value / asked)


def _value(own: Result) -> float:
    return own.value


SOME = 0.001  # of what was done


@rule
def ignored_errors(report: Report) -> Iterator[Finding]:
    """Errors that sysbench counted and went on, next to its transactions."""
    errors, done = report.only("ignored errors"), report.only("transactions")
    if errors and done and done.value > 0 and errors.value >= SOME * done.value:
        share = errors.value / (errors.value + done.value)
        yield finding("ignored-errors", errors=errors, done=done, share=share)


@rule
def errors_of_intervals(report: Report) -> Iterator[Finding]:
    """Errors that a load counts in its intervals."""
    if report.called("failed requests", "ignored errors"):
        return
    errors = [own for own in _intervals(report, "errors") if own.is_positive]
    rates = _rates(report)
    if not errors:
        return
    most = max(errors, key=_value)
    last = errors[-1]
    words = {"first": errors[0], "last": last, "most": most, "count": len(errors)}
    words["all"] = len(rates) or None
    yield finding("errors-in-intervals", words, about=errors)


@rule
def failing_kind(report: Report) -> Iterator[Finding]:
    """Operations of YCSB that failed, by the lines that it prints while it runs."""
    kind, line = report.facts.get("failing_kind"), report.facts.get("failing_line")
    if kind and line and not report.called("failed requests"):
        words = {"kind": kind, "line": line, "count": report.facts.get("failing_count")}
        about = [own for own in report.results if own.line == line]
        yield finding("operations-fail", words, about=about[:1])


FAR_APART, OLD_NS = 1.2, 1e9


@rule
def sent_and_received(report: Report) -> Iterator[Finding]:
    """Messages that are sent faster than they are received, or far more that are received than
    sent."""
    if report.tool != "message-queue":
        return
    pairs = _pairs(report, "mean") or _pairs(report, "interval")
    pairs = [(sent, got) for sent, got in pairs if sent.value >= LEAST_DONE]
    behind = [(sent, got) for sent, got in pairs if sent.value >= FAR_APART * got.value]
    if behind and len(behind) == len(pairs):
        sent, got = behind[-1]
        words = {"sent": sent, "got": got, "each": sent.value - got.value}
        yield finding("queue-grows", words, about=[sent, got])
        return
    ahead = [(sent, got) for sent, got in pairs if got.value >= FAR_APART * sent.value]
    if ahead and len(ahead) == len(pairs):
        sent, got = ahead[-1]
        old = [
            own
            for own in report.called("median latency", "mean latency")
            if own.base_value >= OLD_NS
        ]
        words = {"sent": sent, "got": got, "times": got.value / sent.value}
        if old:
            words |= {"old": old[-1], "old_ns": old[-1].base_value}
            yield finding("backlog-drained", words, about=[sent, got])
        else:
            yield finding("received-times-sent", words, about=[sent, got])


def _pairs(report: Report, statistic: str) -> list[tuple[Result, Result]]:
    """What was sent and received, of all or in each interval."""
    by_interval: dict[object, dict[str, Result]] = {}
    for own in report.called("sent", "received"):
        if own.statistic == statistic and own.is_number:
            by_interval.setdefault(own.of.get("interval"), {})[own.name] = own
    return [
        (own["sent"], own["received"])
        for own in by_interval.values()
        if len(own) == 2 and own["received"].value > 0
    ]


@rule
def queries_for_clients(report: Report) -> Iterator[Finding]:
    """mysqlslap with fewer queries than clients, or times at its resolution."""
    if report.tool != "mysqlslap" or not report.results:
        return
    each, clients = report.facts.get("queries_each"), report.facts.get("concurrency")
    mean, most = (report.only(_ALL, statistic) for statistic in ("mean", "max"))
    if each == 0 and mean and is_number(clients):
        yield finding("no-query-each", mean=mean, clients=clients)
    if mean and most and most.value <= TICK:
        yield finding("below-its-digits", mean=mean, most=most)


_ALL, TICK = "time for all queries", 0.002


@rule
def longest_times(report: Report) -> Iterator[Finding | str]:
    """A longest time of requests far beyond what 99 of 100 take, or the mean of all: the first."""
    for name, by_statistic in _times(report).items():
        most, far = by_statistic.get("max"), _far(by_statistic)
        if most is None or most.base_value < LONG_NS:
            continue
        words: dict[str, Any] = {"most": most, "name": name, "most_ns": most.base_value}
        if far and most.base_value >= TIMES * far.base_value:
            words |= {"far": far, "far_ns": far.base_value}
            yield finding("longest-far", words, times=most.base_value / far.base_value)
            return
        mean = by_statistic.get("mean")
        if far is None and mean and most.base_value >= TIMES_OF_MEAN * mean.base_value:
            yield (
                f"line {most.line}: the longest {name} of {most.value:,.6g} {most.unit} is "
                f"{most.base_value / mean.base_value:,.3g} times the mean. A mean does not show "
                "how many requests met such a pause: print percentiles"
            )
            return


TIMES, TIMES_OF_MEAN, LONG_NS = 20.0, 50.0, 2e7
_KIND = "response time"


def _times(report: Report) -> dict[str, dict[str, Result]]:
    """The statistics of its response times, by name."""
    every: dict[str, dict[str, Result]] = {}
    for (name, statistic, _), several in report.groups.items():
        if name.endswith(_KIND) and len(several) == 1 and several[0].is_positive:
            every.setdefault(name, {})[statistic] = several[0]
    return every


def _far(by_statistic: dict[str, Result]) -> Result | None:
    far = [
        (share, result)
        for statistic, result in by_statistic.items()
        if statistic[:1] == "p" and (share := as_float(statistic[1:])) is not None
        if 99 <= share < 100
    ]
    return max(far, key=lambda entry: entry[0])[1] if far else None


LONG_OF_DISK_NS, TIMES_OF_DISK, OF_RUN = 2e8, 50.0, 0.05


@rule
def longest_of_disk(report: Report) -> Iterator[Finding]:
    """A longest request of fio far beyond p99, which is no large part of the run: that has a rule
    of its own."""
    for way in ("read", "write") if report.tool == "fio" else ():
        most, far = (report.only(f"{way} clat", statistic) for statistic in ("max", "p99"))
        whole = report.only(f"{way} bandwidth", "mean")
        took = whole.of.get("elapsed_s") if whole else None
        if not (most and far and far.is_positive and is_number(took)):
            continue
        is_long = LONG_OF_DISK_NS <= most.base_value < max(1e9, OF_RUN * 1e9 * took)
        if is_long and most.base_value >= TIMES_OF_DISK * far.base_value:
            words: dict[str, Any] = {"most": most, "far": far, "name": most.name}
            words |= {"most_ns": most.base_value, "far_ns": far.base_value}
            yield finding("longest-far", words, times=most.base_value / far.base_value)
            return


OF_MEAN, LONG_INTERVAL_NS = 10.0, 1e8


@rule
def longest_of_intervals(report: Report) -> Iterator[Finding]:
    """Intervals of a load of which most have a request that took many times their mean."""
    means = {own.line: own for own in _intervals(report, _KIND) if own.is_positive}
    pairs = [
        (own, means[own.line])
        for own in _intervals(report, f"longest {_KIND}")
        if own.line in means
    ]
    long = [
        (own, mean)
        for own, mean in pairs
        if own.base_value >= max(LONG_INTERVAL_NS, OF_MEAN * mean.base_value)
    ]
    if len(pairs) >= LEAST_INTERVALS and 2 * len(long) > len(pairs):
        most, mean = max(long, key=lambda pair: pair[0].base_value)
        words: dict[str, Any] = {"count": len(long), "all": len(pairs), "most": most}
        words |= {"name": _KIND, "least": f"{OF_MEAN:g}", "mean": mean}
        words |= {"most_ns": most.base_value, "mean_ns": mean.base_value}
        yield finding("longest-of-intervals", words, about=[most])


NEARLY_ALL = 0.9  # of its operations
IDLE = 0.2  # of the time: less was spent on operations


@rule
def mostly_idle(report: Report) -> Iterator[Finding]:
    """Operations of YCSB that together take far less than the run, even if one came after the
    other."""
    took, rate = report.facts.get("elapsed_s"), report.only(RATE, "mean")
    if report.tool != "ycsb" or not is_number(took) or took <= 0 or rate is None:
        return
    kinds = [
        (count, mean)
        for count in report.being("total")
        if count.name.endswith(" operations") and count.is_positive
        if (mean := report.only(count.name.replace(" operations", f" {_KIND}"), "mean"))
    ]
    if not kinds or not rate.is_positive or report.called("failed requests"):
        return
    # Kinds of which the log shows nothing may take as long as those that it shows.
    mean_ns = sum(count.value * mean.base_value for count, mean in kinds)
    shown = sum(count.value for count, _ in kinds)
    mean_ns /= shown
    count = rate.value * took
    if count * mean_ns / 1e9 < IDLE * took and shown >= NEARLY_ALL * count:
        lines = f"line {kinds[0][1].line}"
        words: dict[str, Any] = {"rate": rate, "count": count, "mean_ns": mean_ns, "took": took}
        yield finding("mostly-idle", words, busy=count * mean_ns / 1e9, lines=lines)
