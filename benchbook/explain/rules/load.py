"""closed-loop, load-errors, same-host: what a tool that loads a server measured, by connections,
rate and times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from benchbook.core.number_format import number
from benchbook.explain.addresses import is_loopback
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import as_float, is_number
from benchbook.explain.readers.common.load_lines import COUNT, FAILED, RATE, TIME
from benchbook.explain.results import grouped
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.explain.rules.load_counts import NOT_OPENED, is_paced, is_some_of, waits_ns
from benchbook.findings import Finding

OPEN = ("k6",)  # whose users also think, or wait for several answers at a time


def _rate(report: Report) -> Result | None:
    rate = report.only(RATE, "mean")
    return rate if rate and rate.is_positive else None


def _time(report: Report, statistic: str = "mean") -> Result | None:
    time = report.only(TIME, statistic)
    return time if time and time.is_positive else None


def _at_a_time(report: Report) -> float:
    """How many requests may be under way; 0 where nobody knows."""
    connections = report.facts.get("concurrency")
    if not is_number(connections) or report.tool in OPEN:
        return 0.0
    return float(connections * (report.facts.get("pipelined") or 1))


HIDDEN, OF_TIMEOUT_NS = 0.005, 1e9  # of the requests; half of the time that wrk waits
BROKEN = 0.01  # of the requests: a few of very many change no rate
_OF_STATUS, _OF_SOCKET = "status", ("broken reads", "broken writes", "failed connects")


@rule
def failed_requests(report: Report) -> Iterator[Finding | str]:
    """Requests that were not answered, or with an error, next to a rate.

    Decided by the tool's own counts. Lengths alone that differ from the first answer's are no
    failure of a page that changes.
    """
    if any("failure" not in own.of for own in report.called(FAILED)):
        return  # served_models.py says it
    counts = {str(own.of["failure"]): own for own in report.called(FAILED) if own.is_positive}
    if counts and (kind := report.facts.get("none_succeeded")):
        yield finding("none-succeeded", kind=kind, failed=next(iter(counts.values())))
        return
    not_opened = counts.get(NOT_OPENED)
    if (connects := not_opened) and is_some_of(report, connects):
        counts.pop(NOT_OPENED)  # load_counts.py says it: these are no requests
    whole = report.only(COUNT, "total")
    every = whole.value if whole and whole.is_number else 0.0
    rate = report.only(RATE, "mean")
    if status := counts.get(_OF_STATUS):
        answered = sum(own.value for own in report.called("responses") if own.is_number) or every
        if answered and status.value >= BROKEN * answered:
            words = {"status": status, "every": answered, "rate": rate}
            yield finding("answers-with-errors", words, about=[status])
    if (timed_out := counts.get("timeouts")) is not None and _is_hidden(report, timed_out, every):
        longest = _time(report, "max")
        # Some versions of wrk time what they count as late, too.
        are_timed = longest is not None and longest.base_value > waits_ns(report)
        words = {"late": timed_out, "longest": None if are_timed else longest, "every": whole}
        words["unknown"] = "" if longest is None else None
        yield finding("timeouts-left-out", words, about=[timed_out])
    broken = [counts[kind] for kind in _OF_SOCKET if kind in counts]
    known = (_OF_STATUS, "timeouts", *_OF_SOCKET)
    broken += [own for kind, own in counts.items() if kind not in known]
    if not broken or (report.facts.get("only_lengths_differ") and len(broken) == 1):
        # The answers of another length may be the errors that the status counts.
        if broken and (status is None or status.value < broken[0].value):
            yield finding("lengths-differ", lengths=broken[0])
        return
    most = max(broken, key=lambda own: own.value)
    answers = sum(own.value for own in report.called("responses") if own.is_number)
    is_known = whole is not None or rate is None or not rate.is_positive
    if not every and not answers and is_known:
        yield finding("nothing-answered", most=most)
    elif (every or answers) and most.value >= BROKEN * (every or answers):
        are_counted = report.facts.get("failed_are_counted")
        words = {"most": most, "every": whole, "kind": most.of.get("failure")}
        words |= {"completed": None if are_counted else whole}
        words["all_of"] = whole if are_counted else None
        yield finding("requests-failed", words, about=[most])
    elif every and not not_opened:
        yield (
            f"line {most.line}: {most.value:,.0f} of {every:,.0f} requests failed "
            f"({100 * most.value / every:.2g} %)"
        )


def _is_hidden(report: Report, late: Result, every: float) -> bool:
    """Whether timeouts are many, or far beyond all latencies that the tool prints."""
    longest = _time(report, "max")
    far_below = longest is None or longest.base_value < OF_TIMEOUT_NS
    return late.value >= HIDDEN * every or far_below


@rule
def missing_answers(report: Report) -> Iterator[Finding]:
    """Requests that were asked for and have no answer in the counts by status."""
    asked = report.facts.get("requests_asked")
    answers = [own for own in report.called("responses") if own.is_number]
    if not is_number(asked) or not answers or report.called(FAILED):
        return
    got, connections = sum(own.value for own in answers), report.facts.get("concurrency") or 1
    # hey gives each connection as many as the others: what is left over it leaves out.
    wanted = asked // connections * connections if connections else asked
    if 0 < got < wanted:
        yield finding("answers-missing", wanted=wanted, got=got, first=answers[0], about=answers)


MORE = 1.25  # rate × mean ÷ connections
CORRECTED = ("wrk",)  # adds times of requests that it did not send
ALIKE = (0.8, 1.15)
LEAST_CONNECTIONS, FAR = 8, 5.0  # the mean ÷ the fastest
ONE = (0.8, 1.15)


@rule
def requests_at_a_time(report: Report) -> Iterator[Finding | str]:
    """What rate times mean latency makes of the connections (Little's law).

    More under way than there are connections contradicts itself. One at a time makes the rate one
    over the latency. As many as there are, with a fastest one that is far faster, wait in turn.
    """
    rate, mean, most = _rate(report), _time(report), _at_a_time(report)
    if rate is None or mean is None or not most or is_paced(report):
        return
    under_way = rate.value * mean.base_value / 1e9
    if not is_number(under_way):
        return
    rounded = 1 + mean.half / mean.value
    words: dict[str, Any] = {"rate": rate, "mean": mean, "most": most, "under_way": under_way}
    words["each_ns"] = 1e9 * most / rate.value
    batch = report.facts.get("pipelined")
    if under_way > MORE * rounded * most:
        kind = "more-than-connections"
        if report.tool in CORRECTED:
            kind = "corrected-or-piped" if _may_pipe(report) else "corrected-mean"
        yield finding(kind, words, about=[mean])
        return
    if most == 1 and ONE[0] <= under_way <= ONE[1]:
        yield finding("one-client", words, about=[rate])
        return
    if most < LEAST_CONNECTIONS or not ALIKE[0] <= under_way / most <= ALIKE[1]:
        return
    least, far = _time(report, "min"), _time(report, "p90")
    is_even = far is None or far.base_value <= 2 * mean.base_value
    if report.tool != "ab" and any(own.value > 0 for own in report.called(FAILED)):
        least = None  # the fastest may be one that failed at once; ab times none that did not end
    if least and mean.base_value >= FAR * least.base_value and is_even and not batch:
        yield finding("waits-in-turn", words | {"least": least}, about=[mean])
    elif not batch and JUST[0] <= under_way / most <= JUST[1]:
        per_s = f"{rate.value:,.0f}" if rate.value >= 1e3 else f"{rate.value:.6g}"
        yield (
            f"line {mean.line}: with {most:g} requests always under way the mean of "
            f"{mean.value:g} {mean.unit} is about {most:g} ÷ {per_s} a second. If "
            "the server is at its limit, it grows with the connections, and is not what the "
            "server takes for one request"
        )


def _may_pipe(report: Report) -> bool:
    """Whether a script of wrk may send several requests at a time over each connection."""
    return not report.asked or any(word.startswith(("-s", "--script")) for word in report.asked)


JUST = 0.95, 1.05  # requests under way ÷ connections, where one is just the other
APART, SAME_RATE = 1.25, 0.1


@rule
def saturated(reports: Sequence[Report]) -> Iterator[Finding]:
    """Two runs of one tool with other numbers of connections at the same rate: the server gives no
    more, and more connections only wait.

    Decided by the two rates, the two numbers and the latencies, which grow as these do.
    """
    loaded = [report for report in reports if _at_a_time(report) and _rate(report)]
    for several in grouped(loaded, _of_one).values():
        ordered = sorted(several, key=_at_a_time)
        for few, many in pairwise(ordered):
            first, second = _rate(few), _rate(many)
            before, after = _time(few), _time(many)
            ratio = _at_a_time(many) / _at_a_time(few)
            if first is None or second is None or before is None or after is None:
                continue
            grown = after.base_value / before.base_value
            if ratio < APART or second.value > (1 + SAME_RATE) * first.value:
                continue
            if second.value < (1 - SAME_RATE) * first.value or grown < 1 + (ratio - 1) / 2:
                continue
            words = {"few": _at_a_time(few), "many": _at_a_time(many), "before": before}
            yield finding("saturated", words, first=first, second=second, after=after)
            return


def _of_one(report: Report) -> tuple[object, ...]:
    names = ("served_at", "served_port", "test", "pipelined")
    return report.tool, *(report.facts.get(name) for name in names)


SOON_S, FEW_EACH, FEW = 0.3, 20, 100


@rule
def few_requests(reports: Sequence[Report]) -> Iterator[Finding]:
    """Loads that were over in a moment, or of few requests for each connection: of each kind the
    first is told."""
    told = set[str]()
    for report in reports:
        for kind, words in _few(report):
            if kind not in told:
                told.add(kind)
                yield finding(kind, words, about=[words["rate"]])


def _few(report: Report) -> Iterator[tuple[str, dict[str, Any]]]:
    rate, whole, took = _rate(report), report.only(COUNT, "total"), report.facts.get("elapsed_s")
    if rate is None or not is_number(took) or (whole and not whole.value):
        return
    if took == 0 and whole and whole.is_number:
        took = whole.value / rate.value  # shorter than the last digit of the time
    if took <= 0:
        return
    if is_paced(report):
        return  # few were asked for
    count = whole.value if whole and whole.is_number else rate.value * took
    connections = report.facts.get("concurrency") or 0
    counted = whole if whole and whole.is_number else rate
    words: dict[str, Any] = {"rate": rate, "count": round(count), "took": took, "counted": counted}
    if took < SOON_S:
        yield "load-over-soon", words
    elif count < FEW or (connections > 1 and count <= FEW_EACH * connections):
        each = count / connections if connections > 1 and report.tool != "dnsperf" else None
        yield "few-requests", words | {"each": each, "connections": connections}


SLOW, USUAL = 8.0, 3.0


@rule
def first_requests(report: Report) -> Iterator[Finding]:
    """As many slow requests as there are connections: mostly the first one on each of them."""
    connections, whole = report.facts.get("concurrency"), report.only(COUNT, "total")
    median, most = _time(report, "median"), _time(report, "max")
    if not (is_number(connections) and whole and whole.is_positive and median and most):
        return
    share = 100 * (1 - connections / whole.value)
    below = [own for own in _percentiles(report) if own[0] < share - 0.5]
    above = [own for own in _percentiles(report) if own[0] >= share]
    if connections < 2 or not below or not above:
        return
    usual, slow = below[-1][1], above[0][1]
    if slow.base_value >= SLOW * median.base_value >= SLOW / USUAL * usual.base_value:
        words = {"connections": connections, "every": whole, "usual": usual, "slow": slow}
        yield finding("first-requests", words, about=[slow])


def _percentiles(report: Report) -> list[tuple[float, Result]]:
    own = [
        (share, time)
        for time in report.called(TIME)
        if time.statistic[:1] == "p" and time.is_positive
        if (share := as_float(time.statistic[1:])) is not None
    ]
    return sorted(own, key=lambda pair: pair[0])


@rule
def same_host(reports: Sequence[Report]) -> Iterator[Finding]:
    """Loads whose tool and server are on one host, by the address that they name: the first."""
    for report in reports:
        host, rate = report.facts.get("served_at"), _rate(report)
        if host and is_loopback(host) and report.results and not report.facts.get("tunnelled"):
            about = [rate or report.results[0]]
            is_default = report.tool == "redis-benchmark" and "-h" not in report.asked
            how = (
                f"the command names no other than {host}"
                if is_default
                else f"the address is {host}"
            )
            yield finding("same-host", about=about, how=how, rate=rate)
            return


PORTS_APART = 1.3  # larger ÷ smaller rate


@rule
def two_ports(reports: Sequence[Report]) -> Iterator[str]:
    """A note for the same load on two ports of this host at rates that are far apart."""
    own = [report for report in reports if _is_here(report) and _rate(report)]
    for several in grouped(own, _of_load).values():
        for first, second in pairwise(several):
            before, after = _rate(first), _rate(second)
            ports = [report.facts.get("served_port") for report in (first, second)]
            if before is None or after is None or not all(ports) or ports[0] == ports[1]:
                continue
            least, most = sorted((before.value, after.value))
            if most >= PORTS_APART * least:
                yield (
                    f"line {after.line}: the same load at {before.value:,.6g} {before.unit} (line "
                    f"{before.line}) and at {after.value:,.6g}, through ports {ports[0]} and "
                    f"{ports[1]} of one host. If one of them only forwards (a published port of a "
                    "container, a tunnel, a proxy), the difference is the way to the server. Ask "
                    "it at its own address as well"
                )
                return


def _is_here(report: Report) -> bool:
    host = report.facts.get("served_at")
    return bool(host and is_loopback(host))


def _of_load(report: Report) -> tuple[object, ...]:
    names = ("test", "concurrency", "pipelined", "request_bytes", "threads")
    return report.tool, *(report.facts.get(name) for name in names)


@rule
def batches(report: Report) -> Iterator[str]:
    """A note for commands that are sent several at a time."""
    batch, rate = report.facts.get("pipelined"), _rate(report) or report.only(COUNT, "total")
    if is_number(batch) and rate:
        yield (
            f"line {rate.line}: {number(batch)} commands were sent at a time (pipelining). A rate "
            "of single commands is far lower, and a latency is that of a whole batch"
        )


SETTING_UP = 0.3  # of the time of a request


@rule
def before_sending(report: Report) -> Iterator[Finding]:
    """Time before a request is sent (DNS, connecting, TLS) that k6 leaves out of its duration."""
    before, mean = report.only("time before sending", "mean"), _time(report)
    is_known = before and mean and before.is_positive and report.tool == "k6"
    if is_known and before and mean and before.base_value >= SETTING_UP * mean.base_value:
        yield finding("set-up-left-out", before=before, mean=mean)


@rule
def clients_above_scale(report: Report) -> Iterator[Finding]:
    """More clients of pgbench than branches: each transaction changes the row of a branch."""
    clients, scale = (report.facts.get(name) for name in ("concurrency", "scale"))
    test, rate = str(report.facts.get("test", "")), _rate(report)
    if rate and "TPC-B" in test and is_number(clients) and is_number(scale) and clients > scale:
        words = {"clients": clients, "scale": scale}
        yield finding("clients-above-scale", words, rate=rate)
