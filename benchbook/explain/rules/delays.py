"""delayed-ack, eager-rendezvous, coordinated-omission: what exchanges of messages wait for."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from typing import NamedTuple

from benchbook.detect import detector
from benchbook.explain.addresses import is_near
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.explain.rules.common.latencies import Latencies, latencies
from benchbook.explain.sweeps import Sweep
from benchbook.explain.units import bytes_per_s, in_base
from benchbook.findings import Finding

FAST = 0.25  # of the delay: faster exchanges of the same connection
BY_NEARNESS = 0.75
LONG_NS = 200e6  # what Windows waits, and Linux at most; a lost segment is sent again as late
_LOOKED_AT = ("median", "p75", "p90", "p99", "p99.9")


@rule
def delayed_ack(reports: list[Report]) -> Iterator[Finding]:
    """Exchanges over TCP that last the 40 ms, or 200 ms, for which a receiver keeps its
    acknowledgement back.

    Decided by a mode at that time beside faster exchanges; where all last so long, only if the
    other end is near: by its address, or by exchanges with it in the same log that are not over
    TCP.
    """
    for report in reports:
        slow, soon = (
            [
                result
                for (name, _, _), own in report.groups.items()
                if name.startswith(kind)
                for result in own
                if is_so(result.base_value)
            ]
            for kind, is_so in (("TCP latency", is_delay), ("UDP latency", is_fast))
        )
        if slow and soon:
            who = who_waits(slow[0].base_value)
            yield finding("delayed-beside-udp", about=slow[:1], slow=slow[0], soon=soon[0], who=who)
    over_tcp = [report for report in reports if report.facts.get("protocol") == "tcp"]
    far, soon_ends = _answers(reports) if over_tcp else (set(), set())
    for report in over_tcp:
        if _ends(report).isdisjoint(far):
            yield from _delays(report, answers_soon=not _ends(report).isdisjoint(soon_ends))


def _delays(report: Report, *, answers_soon: bool) -> Iterator[Finding]:
    for own in latencies(report):
        if quantile := _delayed(report, own):
            yield _of_quantile(own, *quantile)
    for rate in report.called("transaction rate"):
        each_ns = 1e9 / rate.value * (rate.of.get("outstanding") or 1) if rate.value > 0 else 0.0
        if is_delay(each_ns) and (answers_soon or is_near(report)):
            kind = "delayed-rate-by-ping" if answers_soon else "delayed-rate-by-address"
            yield finding(kind, rate=rate, each=each_ns, who=who_waits(each_ns))


def _delay_ns() -> tuple[float, float]:
    """How long Linux waits, and how near to it a time has to be."""
    delays = detector("delayed-ack")
    return delays.DELAY_NS, delays.MODE_NS


def is_delay(ns: float | None, *, of_most: bool = True) -> bool:
    """`of_most`: whether it is of half of the exchanges at least, as few are of lost segments."""
    delay_ns, mode_ns = _delay_ns()
    delays = (delay_ns, LONG_NS) if of_most else (delay_ns,)
    return ns is not None and any(abs(ns - delay) <= mode_ns for delay in delays)


def is_fast(ns: float) -> bool:
    """Whether it is far below any such delay."""
    return 0 < ns < FAST * _delay_ns()[0]


def who_waits(ns: float) -> str:
    """Who keeps an acknowledgement back for so long."""
    return "Windows, and Linux at most," if ns > LONG_NS / 2 else "Linux"


def _answers(reports: list[Report]) -> tuple[set[object], set[object]]:
    """Ends whose every answer takes as long where it is not over TCP, as one to a ping; and ends
    whose slowest one is far faster."""
    far, soon = set[object](), set[object]()
    for report in reports:
        if "protocol" in report.facts or not (ends := _ends(report)):
            continue
        for own in latencies(report):
            if (own.ns("min") or 0) >= _delay_ns()[0] / 2:
                far |= ends
            if is_fast(own.ns("max") or 0):
                soon |= ends
    return far, soon


def _ends(report: Report) -> set[object]:
    """What the other end is called."""
    return {report.facts[name] for name in ("far_host", "far_address") if report.facts.get(name)}


def _delayed(report: Report, own: Latencies) -> tuple[str, float | None] | None:
    """The lowest quantile at the delay, and how sure that is where it is not by a mode."""
    ways = 2 if own.name == "latency" else 1  # half of a round trip was printed
    at = [
        name
        for name in _LOOKED_AT
        if is_delay((own.ns(name) or 0) * ways, of_most=name == "median")
    ]
    if not at and "median" not in own.by_statistic and is_delay((own.ns("mean") or 0) * ways):
        at = ["mean"]
    if not at:
        return None
    least = own.ns("min")
    if least is not None and least * ways < FAST * _delay_ns()[0]:
        return at[0], None
    return (at[0], BY_NEARNESS) if is_near(report) else None


def _of_quantile(own: Latencies, statistic: str, confidence: float | None) -> Finding:
    is_half = own.name == "latency"
    return finding(
        "delayed-quantile",
        about=[own.by_statistic[statistic]],
        confidence=confidence,
        time=own.by_statistic[statistic],
        who=who_waits((own.ns(statistic) or 0) * (2 if is_half else 1)),
        passes="half" if is_half else "whole",
        network="near" if confidence else "any",
        fastest=own.by_statistic.get("min"),
    )


FAR = 10.0  # times both neighbours
MOST_SIZES = 2  # beside each other
MOST_DELAYED_SIZES = 8  # beside each other: the time itself tells


@rule
def delayed_sizes(report: Report) -> Iterator[Finding]:
    """Sizes of a sweep that take as long as an acknowledgement is kept back, while smaller and
    larger ones take far less."""
    sweeps = report.sweeps if "message_bytes" in report.columns else []
    stalls = [stall for sweep in sweeps for stall in stalls_of(sweep, MOST_DELAYED_SIZES)]
    if delayed := [stall for stall in stalls if is_delayed(stall[1])]:
        times, worst = max(delayed, key=lambda stall: stall[0])
        about, who = [result for _, result in delayed], who_waits(worst.base_value)
        yield finding("delayed-sizes", about=about, worst=worst, times=times, who=who)


def is_delayed(result: Result) -> bool:
    """Whether it takes as long as an acknowledgement that is kept back, once or both ways: half of
    the round trip is printed."""
    ns, base = in_base(result.value, result.unit)
    return base == "ns" and (is_delay(ns) or is_delay(2 * ns))


def stalls_of(sweep: Sweep, several: int = MOST_SIZES) -> Iterator[tuple[float, Result]]:
    """So many at most between two others, by how many times as long as the longer of both they
    take."""
    times = sweep.times
    for first in range(1, len(sweep) - 1):
        if times[first] < FAR * times[first - 1]:
            continue  # as nearly all are
        for last in range(first, min(first + several, len(sweep) - 1)):
            most, least = max(times[first - 1], times[last + 1]), min(times[first : last + 1])
            if 0 < FAR * most <= least and max(times[first : last + 1]) < math.inf:
                for index in range(first, last + 1):
                    yield times[index] / most, sweep[index]


LEAST_BYTES, MOST_BYTES = 512, 512 * 1024  # thresholds lie there; beyond, caches make steps too
# Where the larger message is the faster one, no cache made the step.
MOST_FASTER = 16 * 1024 * 1024
FAR_COLLECTIVE = 4.0  # for a collective, whose algorithms change with the size by less than that
TIMES = 1.8  # longer than a message of half the size
EXCESS = 0.5  # of the time before, above what the last doubling lets expect
STAYS = 0.95  # of it, at the next size
LATER = 0.5  # of it, at any larger size: no protocol is dearer for the smaller message
FALLS = 0.9  # of a rate, from one size to its double
SHORTER = 0.75  # than a message of half the size, where the other protocol is the faster one
LEAST = 0.1  # of it: what takes ten times as long waits for something else
LESS, FITS = 0.6, 0.05  # of what a doubling should add; how far off the others may be
GROWS = 1.5  # from one size to the next, where the bytes make most of the time
OFF = 0.1  # of a time, from what the doublings before it let expect: more is an outlier
LEAST_TIMER_NS, HANDSHAKES = 2e6, 100  # a wait; in times of the smallest message
DOUBLES = 2.2  # at most, from one size to the next


class _Jump(NamedTuple):
    before: Result
    after: Result
    times: float  # as long, for a message of twice the size


@rule
def eager_rendezvous(report: Report) -> Iterator[Finding | str]:
    """A time or a rate jumps where MPI takes another protocol for larger messages; a note where
    the larger ones only add less time than before, as they may.

    Decided by the sweep over sizes: within one protocol a message of twice the size takes at most
    twice as long, and no less, and each doubling adds twice what the one before it added.
    """
    pattern = report.facts.get("pattern")
    is_collective = pattern == "collective"
    if (pattern != "point to point" and not is_collective) or _has_none(report):
        return
    jumps = [jump for sweep in report.sweeps for jump in _jumps(sweep)]
    if is_collective:
        jumps = [jump for jump in jumps if jump.times >= FAR_COLLECTIVE]
    if jumps:
        worst = max(jumps, key=lambda jump: (jump.times >= TIMES, abs(jump.times - 1)))
        slower = "algorithm" if is_collective else "slower"
        why = slower if worst.times >= TIMES else "faster"
        times = [
            time for time in report.knowing("message_bytes") if time.is_time and time.value > 0
        ]
        least = min(times, key=lambda time: time.base_value) if times else None
        if least is not None and _is_of_timer(worst, least):
            yield finding("timer-jump", worst._asdict() | {"least": least})
        elif worst.after.is_time and 1 <= worst.times < TIMES:
            yield finding("protocol-step", worst._asdict()).explanation
        else:
            yield finding("protocol-jump", worst._asdict(), why=why)


def _is_of_timer(jump: _Jump, least: Result) -> bool:
    """Whether a message waits longer than any handshake takes that is a few small messages."""
    if not jump.after.is_time or jump.times < TIMES:
        return False
    more = jump.after.base_value - 2 * jump.before.base_value
    return more >= max(LEAST_TIMER_NS, HANDSHAKES * least.base_value)


def _has_none(report: Report) -> bool:
    """Whether a message took no time: then its clock makes steps, too."""
    return any(
        mean.value == 0 and bool(mean.of.get("message_bytes"))
        for mean in report.being("mean")
        if mean.is_time
    )


def _jumps(sweep: Sweep) -> Iterator[_Jump]:
    times, sizes = sweep.times, sweep.sizes
    for index in range(1, len(sweep) - 1):
        size = sizes[index + 1]
        if size != 2 * sizes[index] or not LEAST_BYTES <= size <= MOST_FASTER:
            continue
        last, now, then = times[index - 1 : index + 2]
        if now <= 0 or then < LEAST * now:
            continue
        around = slice(index - 2, index + 4) if index >= 2 else slice(0)
        if (
            (then >= TIMES * now and size <= MOST_BYTES and _becomes_slower(sweep, times, index))
            or (then <= SHORTER * now and _becomes_faster(sizes[around][:5], times[around][:5]))
            or (then <= LESS * (3 * now - 2 * last) and _adds_less(sizes[around], times[around]))
        ):
            yield _Jump(sweep[index], sweep[index + 1], then / now)


def _becomes_slower(sweep: Sweep, times: list[float], index: int) -> bool:
    """Whether the size behind this one takes more than twice the bytes let expect, and larger ones
    take no less."""
    before, after = sweep[index : index + 2]
    last, now, then = times[index - 1 : index + 2]
    halved = before.of["message_bytes"] == 2 * sweep[index - 1].of["message_bytes"]
    expected = now + 2 * (now - last) if halved and now >= last else 2 * now
    if now < (1 - OFF) * last:
        return False  # less than a message of half the size: the one before it is the odd one
    stays = index + 2 == len(times) or times[index + 2] >= STAYS * then
    is_rate = bytes_per_s(1.0, after.unit) is not None
    jumps = not is_rate or after.value < FALLS * before.value
    enough = then - min(expected, 2 * now) >= (0 if is_rate else EXCESS * now)
    return stays and jumps and enough and min(times[index + 1 :]) >= LATER * then


def _are_doubled(sizes: Sequence[int], count: int) -> bool:
    return len(sizes) >= count and all(after == 2 * before for before, after in pairwise(sizes))


def _becomes_faster(sizes: list[int], times: list[float]) -> bool:
    """Whether the last but one of five sizes takes far less time than the one before it, which was
    no outlier, as the one before that was none, and the last goes on from there."""
    if not _are_doubled(sizes, 5):
        return False
    first, last, now, then, beyond = times
    usual = now <= (1 + OFF) * last + 2 * max(last - first, 0.0) and last <= DOUBLES * first
    falls = LEAST * now <= then <= SHORTER * now and then > 0
    return usual and falls and STAYS * then <= beyond <= DOUBLES * then


def _adds_less(sizes: list[int], times: list[float]) -> bool:
    """Whether in the middle of six sizes twice the bytes add far less than before, while on either
    side each doubling adds twice what the one before it added."""
    if not _are_doubled(sizes, 6):
        return False
    made = [now + 2 * (now - last) for last, now in pairwise(times[:-1])]  # of the third one on
    fits = [abs(time - own) <= FITS * time for time, own in zip(times[2:], made, strict=True)]
    then, beyond = times[3], times[4]
    return fits[0] and fits[3] and then <= LESS * made[1] and beyond >= GROWS * then


LEAST_SHARE = 0.5  # of the time, in stalls
LEAST_S = 0.5  # of a test: shorter ones are over before the pace is found
CALM = 10.0  # times the median: percentiles that tell of the stalls themselves need no rule
LEAST_DUE = 0.02  # of all messages with those that were due: half of them waited half of it
BEHIND = 0.9  # sent ÷ asked for: less is more than the ends of a test make
ONE_AT_A_TIME = 0.2  # exchanges on their way: how far the average may be from one


@rule
def coordinated_omission(report: Report) -> Iterator[Finding]:
    """Who sends the next message only after the last answer counts a stall once.

    Decided by the share of the time that stalls took, which the mean beside the median tells: an
    arrival at any moment would have met them with that share, whatever the percentiles say; or by
    how many messages were due while the longest exchange lasted, where there are more of them than
    the 99th percentile leaves out. Where a pace was asked for, by how far the sender fell behind
    it.
    """
    wanted, pace = report.facts.get("asked_per_s"), _pace(report)
    if wanted and pace and pace[0] < BEHIND * wanted and latencies(report):
        per_s, sent = pace
        shown = [result for own in latencies(report) for result in own.by_statistic.values()]
        words = {"sent": sent, "wanted": wanted, "per_s": per_s}
        words["line"] = report.facts["asked_in_line"]
        factor = wanted / per_s if per_s else None
        yield finding("behind", words, about=[sent, *shown], factor=factor)
        return
    for own in latencies(report) if report.being("median") else ():
        mean, median, far = own.ns("mean"), own.ns("median"), own.ns("p99")
        if not (mean and median and far and "max" in own.by_statistic) or far >= CALM * median:
            continue
        statistics = {name: own.by_statistic[name] for name in ("mean", "median", "p99", "max")}
        stalled = 1 - median / mean
        if stalled >= LEAST_SHARE and _is_closed(report):
            yield finding("stalls", statistics, stalled=stalled)
        elif due := _due(report, own, median, far):
            yield finding("due", statistics, due=due[0], part=due[1])


def _due(report: Report, own: Latencies, median: float, far: float) -> tuple[int, float] | None:
    """How many messages were due while the longest exchange lasted, and their share of all, where
    that makes the 99th percentile wrong."""
    most = own.by_statistic["max"]
    longest, several = own.ns("max") or 0.0, report.column(most, "repetitions")
    if not is_number(longest) or not is_number(several) or longest < 2 * CALM * far:
        return None
    due = longest / median
    part = due / (several + due)
    return (round(due), part) if part >= LEAST_DUE and _is_closed(report) else None


def _is_closed(report: Report) -> bool:
    """Whether one message at a time was on its way: as it was called, or by what it counted."""
    mode = report.facts.get("mode")
    if mode is not None:
        return bool(mode == "ping-pong")
    rates = report.called("transaction rate")
    for own, rate in product(latencies(report) if rates else (), rates):
        mean = own.ns("mean")
        if own.name == "round trip" and mean and rate.value > 0:
            return math.isclose(rate.value * mean / 1e9, 1, rel_tol=ONE_AT_A_TIME)  # Little's law
    counts = {
        result.name: result.value
        for result in report.called("messages sent", "messages received")
        if result.of.get("part") == "all"
    }
    sent, got = counts.get("messages sent"), counts.get("messages received")
    return sent is not None and got is not None and 0 <= sent - got <= 1


def _pace(report: Report) -> tuple[float, Result] | None:
    """At which pace messages were sent in the time that counts, and how many."""
    by = {(row.name, row.of.get("part")): row for row in report.called("messages sent", "run time")}
    for part in ("valid", "all"):
        sent, took = by.get(("messages sent", part)), by.get(("run time", part))
        if sent and took and took.value >= LEAST_S:
            return sent.value / took.value, sent
    return None
