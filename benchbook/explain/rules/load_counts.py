"""inconsistent-report, load-errors, closed-loop: counts, times and rates of load tools that do not
fit each other, and loads that could not keep the rate that was asked for."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Command, Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.readers.common.command_lines import option
from benchbook.explain.readers.common.load_lines import COUNT, FAILED, RATE, TIME
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

FAR = 1.5  # printed rate ÷ count over time, or the other way round
THOUSAND = 0.02  # how near to a power of a thousand
NO_RUN_S = 3e7  # a year
KEPT = 1_000_000  # answers of which hey keeps the statistics


@rule
def rate_of_counts(report: Report) -> Iterator[Finding]:
    """A printed rate that is not the printed count over the printed time."""
    rate, count = report.only(RATE, "mean"), report.only(COUNT, "total")
    took = report.facts.get("elapsed_s")
    if rate is None or not is_number(took) or took <= 0 or not rate.is_number:
        return
    if took > NO_RUN_S:
        if count and count.is_positive:
            yield _no_such_time(report, count, took)
        return
    if count and count.is_positive and count.value >= 10 and rate.value > 0:
        made = count.value / took
        times = rate.value / made
        if not 1 / FAR <= times <= FAR and not _is_of_successes(report, rate, count, took):
            unit = next((size for size in (1e3, 1e6) if _is_near(times, size)), None)
            words = {"rate": rate, "count": count, "took": took, "made": made}
            yield finding("rate-of-counts", words, factor=times, unit=unit)


def _is_of_successes(report: Report, rate: Result, count: Result, took: float) -> bool:
    """Whether the rate is that of the requests that did not fail: h2load counts the others too."""
    failed = max((own.value for own in report.called(FAILED) if own.is_positive), default=0.0)
    return 0 < failed < count.value and 1 / FAR <= rate.value * took / (count.value - failed) <= FAR


def _is_near(value: float, size: float) -> bool:
    return abs(value / size - 1) <= THOUSAND


def _no_such_time(report: Report, count: Result, took: float) -> Finding:
    """A clock that went over its end; the time that was asked for makes the rate, where it is
    known."""
    asked = _seconds(option(Command(report.line, report.asked), "-d", "--duration", "-z"))
    words = {"count": count, "years": took / 3.15576e7, "asked": asked}
    return finding("no-such-time", words, made=count.value / asked if asked else None)


_TIME = late(r"^(\d{1,6})(s|m|h)?$")


def _seconds(text: str) -> float | None:
    found = _TIME.match(text)
    return float(found[1]) * {"m": 60, "h": 3600}.get(found[2] or "s", 1) if found else None


USUAL_WAIT_S = 2.0  # of wrk, unless its command says another


def waits_ns(report: Report) -> float:
    """How long a load waits for an answer at most; infinite where neither tool nor command says."""
    asked = _seconds(option(Command(report.line, report.asked), "-T", "--timeout"))
    return 1e9 * (asked or (USUAL_WAIT_S if report.tool == "wrk" else math.inf))


@rule
def kept_answers(report: Report) -> Iterator[Finding]:
    """Counts of answers that end at a round million, below rate times time."""
    rate, took = report.only(RATE, "mean"), report.facts.get("elapsed_s")
    answers = [own for own in report.called("responses") if own.is_number]
    got = sum(own.value for own in answers)
    if report.tool != "hey" or got != KEPT or rate is None or not is_number(took):
        return
    made = rate.value * took
    if made > 1.02 * got:
        words = {"got": got, "made": made, "rate": rate}
        yield finding("kept-answers", words, about=answers[:1])


NOT_OPENED = "failed connects"
OPEN_FILES, OTHERS = (
    (256, 1024, 4096),
    32,
)  # usual limits of open files, and how many others are open


def is_some_of(report: Report, failed: Result) -> bool:
    """Whether fewer connects failed than connections were asked for."""
    asked = report.facts.get("concurrency")
    return is_number(asked) and 0 < failed.value < asked


@rule
def connections_not_opened(report: Report) -> Iterator[Finding]:
    """Connects that failed, fewer than there are connections: the rest did the work.

    wrk does not try again where the client itself has no more open files. Then the rest lies just
    below the limit of these.
    """
    for failed in report.called(FAILED):
        if failed.of.get("failure") != NOT_OPENED or not is_some_of(report, failed):
            continue
        asked = int(report.facts["concurrency"])
        rest = asked - int(failed.value)
        limit = next((size for size in OPEN_FILES if size - OTHERS <= rest < size), None)
        words = {"failed": failed, "asked": asked, "rest": rest, "limit": limit}
        yield finding("connections-not-opened", words, about=[failed])


# What asks each tool for a load at a fixed rate, where its reader does not look for it.
_PACES = {
    "wrk": ("-R", "--rate"), "cassandra-stress": ("fixed=", "throttle="),
    "redis-benchmark": ("--rps",), "ycsb": ("-target", "--target"), "pgbench": ("-R", "--rate"),
}  # fmt: skip


def is_paced(report: Report) -> bool:
    """Whether the requests were sent at a fixed rate. Then times may count from when each was due,
    and rate times time is no number of requests under way."""
    if report.facts.get("is_paced"):
        return True
    if report.tool == "wrk" and any(word.rpartition("/")[2] == "wrk2" for word in report.asked):
        return True
    names = _PACES.get(report.tool, ())
    return bool(
        option(Command(report.line, report.asked), *names)
        or any(word.startswith(name) for name in names if "=" in name for word in report.asked)
    )


BEHIND, LEAST_S = 0.95, 1e9
_RATE = late(r"^(\d{1,9}(?:\.\d{1,6})?)([kKmM]?)$")
_NAMES = {"wrk": ("-R", "--rate"), "hey": ("-q",)}


@rule
def behind_its_rate(report: Report) -> Iterator[Finding]:
    """A load at a fixed rate that the tool could not send, so that the waiting grows with time.

    Decided by the rate that the command asks for, the one that was reached (of all, or of each
    thread times their number), and latencies of a second and more.
    """
    command = Command(report.line, report.asked)
    asked = _many(option(command, *_NAMES[report.tool])) if report.tool in _NAMES else 0.0
    mean = report.only(TIME, "mean")
    if not asked or mean is None or not mean.is_positive:
        return
    rate, each = report.only(RATE, "mean"), report.only("rate of a thread", "mean")
    threads = report.facts.get("threads")
    reached, shown = 0.0, rate
    if rate and rate.is_positive:
        reached = rate.value
    elif each and each.is_positive and is_number(threads):
        reached, shown = each.value * threads, each
    if report.tool == "wrk" and 0 < reached < BEHIND * asked and mean.base_value >= LEAST_S:
        words: dict[str, Any] = {"asked": asked, "reached": reached, "mean": mean, "shown": shown}
        yield finding("behind-its-rate", words, about=[mean])
    elif report.tool == "hey" and reached:
        yield from _paced(report, asked, reached, mean)


def _paced(report: Report, asked: float, reached: float, mean: Result) -> Iterator[Finding]:
    """Connections that wait for their turn under a limit of the rate for all."""
    connections, least = report.facts.get("concurrency"), report.only(TIME, "min")
    if not is_number(connections) or connections < 2 or least is None or not least.is_positive:
        return
    turn_ns = connections / asked * 1e9
    is_limited = abs(reached / asked - 1) <= 0.1
    fits = 0.3 * turn_ns <= mean.base_value <= 1.1 * turn_ns
    if is_limited and fits and mean.base_value >= 10 * least.base_value:
        words = {"asked": asked, "connections": connections, "turn_ns": turn_ns}
        yield finding("waits-for-pace", words, mean=mean, least=least)


def _many(text: str) -> float:
    found = _RATE.match(text)
    return float(found[1]) * {"k": 1e3, "m": 1e6}.get(found[2].lower(), 1) if found else 0.0


@rule
def no_transaction(report: Report) -> Iterator[Finding]:
    """A list of siege with no transaction and successful ones."""
    count, well = report.only(COUNT, "total"), report.only("successful requests", "total")
    if report.tool == "siege" and count and well and count.value == 0 and well.is_positive:
        yield finding("no-transaction", count=count, well=well)


LOST = 0.005  # of the queries


@rule
def lost_queries(report: Report) -> Iterator[Finding]:
    """Queries of names that had no answer in time."""
    sent, lost = report.only("queries sent", "total"), report.only("queries lost", "total")
    if sent and lost and sent.is_positive and lost.value >= LOST * sent.value:
        words = {"lost": lost, "sent": sent, "share": lost.value / sent.value}
        yield finding("lost-queries", words, about=[lost])


BELOW = 0.6  # of the fastest: what no rounding of an edge makes


@rule
def bins_below_fastest(report: Report) -> Iterator[Finding]:
    """A histogram whose first filled bin ends below the fastest time.

    Decided by times in seconds: other units are those of the whole summary.
    """
    edge, least = report.facts.get("least_bin_s"), report.only(TIME, "min")
    if edge is None or least is None or least.unit != "s" or not least.is_positive:
        return
    if edge < BELOW * least.value and edge + 0.001 < least.value:
        line = report.facts["bins_line"]
        yield finding("bins-below-fastest", about=[least], edge=edge, least=least, line=line)


FAILED_CHECKS = 0.01  # of the checks


@rule
def failed_checks(report: Report) -> Iterator[Finding]:
    """Checks of k6 that answers did not pass: no answer counts as failed for that."""
    every, failed = report.only("checks", "total"), report.only("failed checks", "total")
    if every and failed and failed.value >= FAILED_CHECKS * every.value > 0:
        yield finding("failed-checks", every=every, failed=failed)


LONGER, FEW_OTHERS = 1.5, 0.01


@rule
def requests_beyond_iterations(report: Report) -> Iterator[Finding]:
    """Requests of k6 that take longer than the iterations in which they are made.

    Decided by both sums and both longest ones, where there is about one request in an iteration:
    those of setup() may be in no iteration, but they are few and no longer than the longest.
    """
    if report.tool != "k6":
        return
    requests, iterations = report.only(COUNT, "total"), report.only("iterations", "total")
    request, iteration = report.only(TIME, "mean"), report.only("iteration", "mean")
    most, longest = report.only(TIME, "max"), report.only("iteration", "max")
    if not (requests and iterations and request and iteration and most and longest):
        return
    others = requests.value - iterations.value
    if iterations.value < 100 or not 0 <= others <= FEW_OTHERS * iterations.value:
        return
    all_requests = requests.value * request.base_value / 1e9
    all_iterations = iterations.value * iteration.base_value / 1e9
    elsewhere = others * most.base_value / 1e9
    is_beyond = all_requests - elsewhere > LONGER * all_iterations
    if is_beyond and most.base_value > longest.base_value:
        words = {"requests": requests, "iterations": iterations, "request": request, "most": most}
        words |= {"iteration": iteration, "longest": longest}
        sums = {"all_requests": all_requests, "all_iterations": all_iterations}
        yield finding("requests-beyond-iterations", {**words, **sums})


WAITS_NS, FLAT, EMPTY, LEAST_ALIKE, JUST_ABOVE = 2e8, 0.05, 1 << 16, 3, 0.005


@rule
def waits_for_the_end(report: Report) -> Iterator[Finding]:
    """Requests of ab whose first byte comes at once, and whose end takes as long for each of them:
    a timer closes the connection."""
    if report.tool != "ab" or report.facts.get("keeps_connections"):
        return
    first, whole, least, most = (
        _given(report, name, statistic)
        for name, statistic in (
            ("waiting", "max"), ("processing", "median"), ("processing", "min"),
            ("processing", "max"),
        )
    )  # fmt: skip
    size = report.facts.get("response_bytes")
    if not (first and whole and least and most and is_number(size)) or size > EMPTY:
        return
    is_late = whole.base_value >= WAITS_NS and first.value <= 0.1 * whole.value
    count = report.only(COUNT, "total")
    is_several = count is None or count.value >= LEAST_ALIKE
    # With one or two requests only a time of whole seconds points to a timer.
    seconds = whole.base_value / 1e9
    is_timer = 0 <= seconds - round(seconds) <= JUST_ABOVE * round(seconds)
    is_flat = most.value - least.value <= FLAT * whole.value
    if is_late and is_flat and (is_several or is_timer):
        words: dict[str, Any] = {"first": first, "whole": whole, "least": least, "most": most}
        words["several"] = is_several or None
        yield finding("waits-for-the-end", words, about=[whole])


def _given(report: Report, name: str, statistic: str) -> Result | None:
    several = [own for own in report.called(name) if own.of.get("shown_statistic") == statistic]
    return several[0] if len(several) == 1 else None


_SEVERAL = late(r"^-{0,2}inputs=\S+,\S")


@rule
def joined_attacks(report: Report) -> Iterator[str]:
    """A note for a report of vegeta over several files, whose rate has the pauses in between."""
    rate = report.only(RATE, "mean")
    if report.tool == "vegeta" and rate and any(map(_SEVERAL.match, report.asked)):
        yield (
            f"line {rate.line}: the report joins several files. {rate.value:g} {rate.unit} is the "
            "count over the time from the first request to the last of all, with the pauses "
            "between the attacks. The rate of each attack is in its own report"
        )


WITHIN_MS = 100.0
LIMITS = (1000.0, 2000.0, 5000.0, 10_000.0, 20_000.0, 30_000.0, 60_000.0, 120_000.0)


@rule
def at_its_limit(report: Report) -> Iterator[str]:
    """A note where failures stand next to a longest time that is a round limit of seconds."""
    failed = [own for own in report.called(FAILED) if own.is_positive]
    most = report.only(TIME, "max")
    if not failed or most is None or not most.is_positive:
        return
    milliseconds = most.base_value / 1e6
    for limit in LIMITS:
        if limit <= milliseconds <= limit + min(WITHIN_MS, 0.01 * limit):
            yield (
                f"line {most.line}: the longest time of {most.value:,.6g} {most.unit} is just "
                f"above {limit / 1e3:g} s. Most likely a limit gave up waiting there (of the "
                "tool, a proxy or the server), so the longest waits were cut"
            )


ACCOUNTED, MANY = 0.4, 16  # of the connections, those that latencies account for
GIVES_UP_NS = (1.8e9, 2e9)  # what wrk waits for, unless it is told otherwise


@rule
def time_without_answers(report: Report) -> Iterator[Finding]:
    """Connections of wrk that are always busy, and latencies that account for few of them.

    Decided by count, mean and time: what a connection waits for is in its latencies, unless the
    request timed out or failed.
    """
    count, mean = report.only(COUNT, "total"), report.only(TIME, "mean")
    took, most = report.facts.get("elapsed_s"), report.facts.get("concurrency")
    if report.tool != "wrk" or not (is_number(took) and is_number(most)) or most < MANY:
        return
    if not (count and mean and count.is_positive and mean.is_positive and 0 < took < NO_RUN_S):
        return
    under_way = count.value * mean.base_value / 1e9 / took
    if under_way < ACCOUNTED * most and not is_paced(report) and count.value > most:
        longest = report.only(TIME, "max")
        is_cut = longest and GIVES_UP_NS[0] <= longest.base_value <= GIVES_UP_NS[1]
        words: dict[str, Any] = {"count": count, "mean": mean, "took": took, "most": most}
        words |= {"under_way": under_way, "longest": longest if is_cut else None}
        yield finding("time-without-answers", words, about=[mean])
