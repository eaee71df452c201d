"""coordinated-omission: who sends the next message only after the last answer counts a stall once.

Decided by the share of the time that stalls took, which the mean beside the median tells: an
arrival at any moment would have met them with that share, whatever the percentiles say; or by how
many messages were due while the longest exchange lasted, where there are more of them than the
99th percentile leaves out. Where a pace was asked for, by how far the sender fell behind it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product

from benchbook.core.number_format import number, share
from benchbook.detect.detectors.coordinated_omission import REMEDY
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import Machine
from benchbook.explain.rules.common.latencies import Latencies, latencies
from benchbook.findings import Finding, proof

ARTEFACT = "coordinated-omission"
NEEDS = ("asked_per_s", "median")
LEAST_SHARE = 0.5  # of the time, in stalls
LEAST_S = 0.5  # of a test: shorter ones are over before the pace is found
CALM = 10.0  # times the median: percentiles that tell of the stalls themselves need no rule
LEAST_DUE = 0.02  # of all messages with those that were due: half of them waited half of it
CONFIDENCE = 0.9
BEHIND = 0.9  # sent ÷ asked for: less is more than the ends of a test make
ONE_AT_A_TIME = 0.2  # exchanges on their way: how far the average may be from one


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each closed loop whose percentiles hide stalls."""
    del machine
    for report in reports:
        asked, sent = report.facts.get("asked_per_s"), _sent_per_s(report)
        if asked and sent and sent[0] < BEHIND * asked and latencies(report):
            yield _behind(report, asked, *sent)
            continue
        if not report.being("median"):
            continue
        for own in latencies(report):
            mean, median, far = own.ns("mean"), own.ns("median"), own.ns("p99")
            if mean and median and far and "max" in own.by_statistic:
                stalled = 1 - median / mean
                if far >= CALM * median:
                    continue
                if stalled >= LEAST_SHARE and _is_closed(report):
                    yield _finding(own, stalled)
                elif due := _due(report, own, median, far):
                    yield _of_longest(own, *due)


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
        (one.name, one.of.get("part")): one.value
        for one in report.called("messages sent", "messages received")
    }
    sent, got = counts.get(("messages sent", "all")), counts.get(("messages received", "all"))
    return sent is not None and got is not None and 0 <= sent - got <= 1


def _sent_per_s(report: Report) -> tuple[float, Result] | None:
    """At which pace messages were sent in the time that counts, and how many."""
    by = {(one.name, one.of.get("part")): one for one in report.called("messages sent", "run time")}
    for part in ("valid", "all"):
        sent, took = by.get(("messages sent", part)), by.get(("run time", part))
        if sent and took and took.value >= LEAST_S:
            return sent.value / took.value, sent
    return None


def _behind(report: Report, asked: int, per_s: float, sent: Result) -> Finding:
    shown = [one for own in latencies(report) for one in own.by_statistic.values()]
    return Finding(
        artefact=ARTEFACT,
        effect="biases",
        factor=asked / per_s if per_s else None,
        where=[one.where for one in (sent, *shown)],
        confidence=CONFIDENCE,
        evidence=[
            proof("asked for", asked, "messages/s", f"line {report.facts['asked_in_line']}"),
            proof("sent", per_s, "messages/s", f"line {sent.line}"),
        ],
        explanation=(
            f"{asked:,} messages a second were asked for (line {report.facts['asked_in_line']}), "
            f"but only {number(per_s)} were sent (line {sent.line}): the sender waited. Those that "
            "were due meanwhile are in no percentile, and the latency is not that of the pace that "
            "was asked for."
        ),
        remedy=REMEDY,
    )


def _of_longest(own: Latencies, due: int, part: float) -> Finding:
    return _told(
        own,
        f"The next message was sent only after the last answer, so that the longest exchange, "
        f"{own.said('max')}, is counted once. At the pace of the others, a median of "
        f"{own.said('median')}, {due:,} messages were due while it lasted, {share(part)} of all "
        f"with them: the 99th percentile, {own.said('p99')}, is not what those would have met.",
    )


def _finding(own: Latencies, stalled: float) -> Finding:
    return _told(
        own,
        f"The next message was sent only after the last answer. With a median of "
        f"{own.said('median')} and a mean of {own.said('mean')}, stalls of up to "
        f"{own.said('max')} took {share(stalled)} of the time, but each is counted once: the "
        f"99th percentile, {own.said('p99')}, is not what messages at a given pace would meet.",
    )


def _told(own: Latencies, text: str) -> Finding:
    shown = [own.by_statistic[name] for name in ("mean", "median", "p99", "max")]
    return Finding(
        artefact=ARTEFACT,
        effect="biases",
        where=[one.where for one in shown],
        confidence=CONFIDENCE,
        evidence=[proof(one.where, one.value, one.unit, f"line {one.line}") for one in shown],
        explanation=text,
        remedy=REMEDY,
    )
