"""answered-twice, released-together, queued-echoes: what the replies of a ping show of the way."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence
from itertools import pairwise

from benchbook.explain.addresses import stays_in_host
from benchbook.explain.model import Report, Result
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding


def _is_of_many(report: Report) -> bool:
    """Whether the echo went to an address that several hosts answer for."""
    text = str(report.facts.get("far_address") or report.facts.get("far_host") or "")
    asked = " ".join(report.asked)
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return "ff02::" in asked or " -b" in asked
    is_broadcast = address.version == 4 and str(address).endswith(".255")
    return address.is_multicast or is_broadcast or "ff02::" in asked or " -b " in asked


@rule
def answered_twice(report: Report) -> Iterator[Finding | str]:
    """Echoes of one host that are answered more than once; a note where many were asked."""
    again = report.facts.get("replies_again")
    totals = [own for own in report.called("duplicates") if own.value > 0]
    if report.tool != "ping" or not (again or totals):
        return
    line = report.facts.get("replies_again_line") or totals[0].line
    count = int(max([again or 0, *(own.value for own in totals)]))
    if _is_of_many(report):
        yield f"line {line}: an address of many hosts was asked, so each of them answers (DUP!)"
    else:
        yield finding("answered-twice", count=count, line=line, about=[f"line {line}"])


INTERVAL_NS, OFF, LEAST, LONG_NS = 1e9, 0.12, 3, 1.8e9


@rule
def released_together(report: Report) -> Iterator[Finding]:
    """Round trips that fall by the interval of a second from each to the next: all answers came at
    the same moment, after something held them back."""
    if report.tool != "ping":
        return
    times = [own for own in report.called("round trip") if own.statistic == "sample"]
    row: list[Result] = []
    best: list[Result] = []
    for before, after in pairwise(times):
        fell = before.base_value - after.base_value
        row = [*row, after] if row and abs(fell / INTERVAL_NS - 1) <= OFF else [after]
        if len(row) == 1 and abs(fell / INTERVAL_NS - 1) <= OFF:
            row = [before, after]
        best = max(best, row, key=len)
    if len(best) >= LEAST and best[0].base_value >= LONG_NS:
        words = {"first": best[0], "last": best[-1], "count": len(best)}
        yield finding("released-together", words, held_ns=best[0].base_value)


TIMES_LEAST, QUEUED_NS = 2.0, 2e7


@rule
def queued_echoes(reports: Sequence[Report]) -> Iterator[Finding]:
    """Round trips far above the shortest one in a log that also has a transfer: a queue on the way
    is full."""
    transfers = [
        rate
        for report in reports
        if report.tool in ("iperf", "iperf3", "netperf") and not stays_in_host(report)
        for rate in report.called("throughput")
        if rate.statistic == "total" and rate.is_positive
    ]
    for report in reports if transfers else ():
        mean, least = report.only("round trip", "mean"), report.only("round trip", "min")
        if report.tool != "ping" or mean is None or least is None or not least.is_positive:
            continue
        waited = mean.base_value - least.base_value
        if waited >= QUEUED_NS and mean.base_value >= TIMES_LEAST * least.base_value:
            words = {"mean": mean, "least": least, "waited_ns": waited, "rate": transfers[0]}
            yield finding("queued-echoes", words, about=[mean])
            return


@rule
def no_answer(report: Report) -> Iterator[Finding]:
    """A ping of which no echo at all was answered."""
    sent, got = report.only("packets sent"), report.only("packets received")
    says_why = report.facts.get("answers_of_others") or report.facts.get("answered_in_line")
    if (
        report.tool == "ping"
        and sent
        and got
        and sent.value > 0
        and got.value == 0
        and not says_why
    ):
        yield finding("no-answer", sent=sent, count=int(sent.value), about=[got])


LEAST_ECHOES, LEAST_SWING_NS = 20, 1e7


@rule
def echoes_swing(report: Report) -> Iterator[str]:
    """A note for round trips that deviate by as much as their mean."""
    mean, deviation = report.only("round trip", "mean"), report.only("round trip", "sd")
    least, most = report.only("round trip", "min"), report.only("round trip", "max")
    if report.tool != "ping" or not (mean and deviation and least and most):
        return
    swing = most.base_value - least.base_value
    echoes = mean.of.get("repetitions") or 0
    if deviation.value >= mean.value and swing >= LEAST_SWING_NS and echoes >= LEAST_ECHOES:
        yield (
            f"line {mean.line}: round trips go from {least.value:g} to {most.value:g} {most.unit} "
            f"and deviate by more than their mean ({mean.value:g}). Look for a radio link, a "
            "full queue or a busy host"
        )


FAR_ABOVE, LONG_MEAN_NS = 5.0, 4e7


@rule
def mean_far_above_shortest(reports: Sequence[Report]) -> Iterator[str]:
    """A note for a mean far above the shortest of many round trips, where no transfer is in the log
    and their deviation is small: most of them wait, and not a few."""
    if any(report.tool in ("iperf", "iperf3", "netperf") for report in reports):
        return
    for report in reports:
        named = {own.statistic: own for own in report.called("round trip") if own.is_positive}
        mean, least, deviation = (named.get(name) for name in ("mean", "min", "sd"))
        if report.tool != "ping" or not (mean and least and deviation):
            continue
        is_most = deviation.base_value < mean.base_value
        waited = mean.base_value - least.base_value
        many = (mean.of.get("repetitions") or 0) >= LEAST_ECHOES
        if many and is_most and waited >= LONG_MEAN_NS and mean.value >= FAR_ABOVE * least.value:
            yield (
                f"line {mean.line}: the mean of {mean.value:g} {mean.unit} is "
                f"{mean.value / least.value:,.3g} times the shortest round trip "
                f"({least.value:g}), so the way itself is short and most echoes wait. A radio "
                "link with power saving does that (100 ms from beacon to beacon), and so does a "
                "full queue. Ping more often (-i 0.01), and switch power saving off"
            )
            return


LEAST_MISSING, LEAST_REPLIES = 0.005, 4  # of the echoes; replies that a log shows


@rule
def numbers_missing(report: Report) -> Iterator[Finding]:
    """Numbers of echoes without a reply, in a log that has no count of them."""
    missing, last = report.facts.get("missing_numbers"), report.facts.get("last_number")
    replies = report.called("round trip")
    if report.tool != "ping" or not missing or not last or len(replies) < LEAST_REPLIES:
        return
    if report.facts.get("unreachable_answers"):
        return  # those were never sent, and the log says why
    share = missing / (missing + len(replies))
    if share >= LEAST_MISSING and not report.called("packets sent"):
        longest = report.facts["longest_gap"]
        words = {"missing": missing, "last": last, "longest": longest if longest > 1 else None}
        words |= {"line": report.facts["gap_line"], "share": share}
        yield finding("numbers-missing", words, about=replies[:1])


LEAST_WAITING, WAIT_NS = 5, 1.5e9


@rule
def echoes_wait(report: Report) -> Iterator[Finding]:
    """Echoes of which half take longer than any way in the world."""
    times = [own for own in report.called("round trip") if own.statistic == "sample"]
    if report.tool != "ping" or len(times) < LEAST_WAITING:
        return
    middle = sorted(own.base_value for own in times)[len(times) // 2]
    if middle >= WAIT_NS:
        words = {"first": times[0], "last": times[-1], "count": len(times)}
        yield finding("echoes-wait", words, middle=middle, about=times[:1])


FAR_HOP, LONG_HOP_NS, DEVIATES = 4.0, 1e8, 0.25  # worst ÷ mean; the worst; deviation ÷ mean


@rule
def worst_of_path(report: Report) -> Iterator[str]:
    """A note for the end of a path whose worst time is far above its mean, with a deviation that a
    few such make."""
    if report.tool != "mtr" or {"-T", "--tcp"} & {*report.asked}:
        return  # what TCP lost it asks for again after a second
    ends = {own.line: own for own in report.called("hop time") if own.statistic == "mean"}
    if not ends or not (mean := ends[max(ends)]).is_positive:
        return
    of_end = [own for own in report.called("hop time") if own.line == mean.line]
    named = {own.statistic: own for own in of_end}
    worst, deviation = named.get("max"), named.get("stddev")
    if worst is None or deviation is None or worst.base_value < LONG_HOP_NS:
        return
    if worst.value >= FAR_HOP * mean.value and deviation.value >= DEVIATES * mean.value:
        yield (
            f"line {mean.line}: the worst time of {worst.value:g} ms is far above the mean of "
            f"{mean.value:g} ms, with a deviation of {deviation.value:g} ms. So some probes waited "
            f"on the way. {_where(report, worst)}"
        )


ALREADY = 0.4  # of the worst time at the end of the path


def _where(report: Report, worst: Result) -> str:
    """The first hop from which on all that answer have such times, in words."""
    times = [own for own in report.called("hop time") if own.statistic == "max" and own.is_positive]
    least = {own.line: own for own in report.called("hop time") if own.statistic == "min"}
    begin: Result | None = None
    for own in reversed([own for own in times if own.line <= worst.line]):
        if own.base_value < ALREADY * worst.base_value:
            break
        begin = own
    if begin is None or len(times) < 2 or begin.line == worst.line:
        return "Look at which hop it begins"
    best = least.get(begin.line)
    at_best = f", {best.value:g} at best" if best else ""
    hop = begin.of.get("hop")
    host = f" ({begin.of['host']})" if begin.of.get("host") else ""
    own_net = (
        ". That is the first one, so the way to it is slow already: a radio link, or a router that "
        "is full"
        if hop == 1
        else ""
    )
    return (
        f"It begins at hop {hop}{host}, line {begin.line}: up to {begin.value:,.6g} ms{at_best}"
        f"{own_net}"
    )
