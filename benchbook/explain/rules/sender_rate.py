"""sender-rate: what a sender handed over is called throughput, whether it arrived or not.

Decided by what the other end got, where the log has it, or of datagrams by the losses that it told;
a log of these that has nothing of the other end tells no throughput at all. Over TCP the rest was
still on its way when a test ended, which matters where the test was short.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

from benchbook.core.number_format import bit_rate, share
from benchbook.detect.detectors.sender_rate import LEAST_MISSING, REMEDY
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import Machine
from benchbook.explain.rules.common.transfer_ends import Told, each, heard, met, over_udp, wholes
from benchbook.explain.units import in_base
from benchbook.findings import Finding, proof

ARTEFACT = "sender-rate"
CERTAIN, UNSEEN = 1.0, 0.8
RATES = ("transferred", "throughput")
IN_BUFFERS = 0.2  # of what was sent over TCP: more than the end of a test is worth
HEARD = (*RATES, "loss", "messages")  # what tells that a receiver was asked


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each transfer whose sender's figure is not what arrived, or stands alone."""
    del machine
    for report in reports:
        if report.facts.get("protocol") == "tcp":
            yield from _in_buffers(report)
    of_datagrams = list(over_udp(reports))
    receivers = heard(reports)
    totals = [(one, whole := wholes(one), any(map(_has_receiver, whole))) for one in of_datagrams]
    roles = Counter(one.facts.get("role") for one, _, asked in totals if asked)
    for report, whole, asked in totals:
        seen_elsewhere = (asked and _is_of_its_own(report)) or _is_other_end(report, roles, asked)
        if not whole and not seen_elsewhere and (rate := _last_interval(report)):
            yield _alone(rate)
        for told in whole:
            sent = told.of("sender", "throughput")
            if sent is None or sent.value <= 0:
                continue
            arrived = None if _is_blank(told) else _arrived(told)
            if arrived is not None and arrived < 1 - LEAST_MISSING:
                yield _lost(told, sent, arrived)
            elif arrived is None and not seen_elsewhere:
                yield _alone(sent)
            elif arrived is None and (both := met(report, receivers)):
                count, handled = both
                if handled.value < (1 - LEAST_MISSING) * count.value:
                    yield _unmet(sent, count, handled)


def _in_buffers(report: Report) -> Iterator[Finding]:
    """One finding for the stream of which least arrived."""
    late = []
    for told in each(report):
        sent, got = (told.of(end, "throughput") for end in ("sender", "receiver"))
        if sent is None or got is None or not 0 < got.value < math.inf:
            continue
        handed, arrived = (in_base(one.value, one.unit)[0] for one in (sent, got))
        if arrived < (1 - IN_BUFFERS) * handed < math.inf:
            late.append((arrived / handed, sent, got))
    if late:
        arrived, sent, got = min(late, key=lambda one: one[0])
        yield _early(sent, got, arrived)


def _is_of_its_own(report: Report) -> bool:
    """Whether what it received may be what it sent: of both ways, what came says nothing of what
    went."""
    return "direction" not in report.columns


def _is_other_end(report: Report, roles: Counter[Any], asked: bool) -> bool:
    """Whether the other end may be another report in which a receiver told. `roles`: those of all
    of them (one server has several tests); `asked`: whether this report is one."""
    role, every = report.facts.get("role"), roles.total()
    return every > (asked if role is None else roles[role])


def _last_interval(report: Report) -> Result | None:
    """The last rate of a sender whose totals are cut off; None where the receiver tells too."""
    if any(one.of.get("end") == "receiver" for one in report.knowing("end")):
        return None
    rates = (one for one in reversed(report.called("throughput")) if one.value > 0)
    return next((one for one in rates if one.of.get("end") == "sender"), None)


def _is_blank(told: Told) -> bool:
    """Whether it has zeros of the receiver without a loss: nothing arrived, or the test was over
    before the receiver told."""
    got, lost = told.of("receiver", "throughput"), told.of("receiver", "lost datagrams")
    return got is not None and got.value == 0 and not (lost and lost.value)


def _has_receiver(told: Told) -> bool:
    if _is_blank(told):
        return False
    heard = (told.of("receiver", name) for name in HEARD)
    return any(one is not None and is_number(one.value) for one in heard)  # 0 of 0 is no share


def _arrived(told: Told) -> float | None:
    """The share of what was sent that arrived; None where nothing tells."""
    for name in RATES:
        sent, got = told.of("sender", name), told.of("receiver", name)
        if sent and got and sent.value > 0:
            # What is far less is printed in a smaller unit.
            (all_sent, unit), (arrived, of_it) = (
                in_base(one.value, one.unit) for one in (sent, got)
            )
            if unit == of_it:
                return arrived / all_sent
    rates = told.of("sender", "throughput"), told.of("receiver", "throughput")
    lost = told.of("receiver", "loss")
    if None in rates and lost is not None and 0 <= lost.value <= 100:
        return 1 - lost.value / 100
    return None


def _said(one: Result, share_of: float = 1.0) -> str:
    value = one.value * share_of
    return bit_rate(value) if one.unit == "bit/s" else f"{value:,.10g} {one.unit}"


def _lost(told: Told, sent: Result, arrived: float) -> Finding:
    lost = told.of("receiver", "loss")
    got = told.of("receiver", "throughput") or told.of("receiver", "transferred")
    seen = f"no more than {share(arrived)} of it arrived"
    if got is not None:
        seen = f"the receiver got {_said(got)} (line {got.line}), {share(arrived)} of it"
    elif lost is not None:
        seen = (
            f"{lost.value:g} % of it was lost (line {lost.line}), so that at most "
            f"{_said(sent, arrived)} arrived"
        )
    evidence = [sent, *(one for one in (got, lost) if one is not None)]
    return Finding(
        artefact=ARTEFACT,
        effect="biases",
        factor=1 / arrived if arrived > 0 else None,
        where=[sent.where],
        confidence=CERTAIN,
        evidence=[proof(one.name, one.value, one.unit, f"line {one.line}") for one in evidence],
        explanation=(
            f"Line {sent.line} says {_said(sent)} of what the sender handed to "
            f"its socket, but {seen}. A sender of datagrams is never told what became of them."
        ),
        remedy=REMEDY,
    )


def _unmet(sent: Result, count: Result, handled: Result) -> Finding:
    arrived = handled.value / count.value
    return Finding(
        artefact=ARTEFACT,
        effect="biases",
        factor=1 / arrived if arrived else None,
        where=[sent.where],
        confidence=CERTAIN,
        evidence=[
            proof(one.name, one.value, one.unit, f"line {one.line}")
            for one in (sent, count, handled)
        ],
        explanation=(
            f"Line {sent.line} says {_said(sent)} of what the sender handed to its socket, but of "
            f"its {count.value:,.0f} {count.name} (line {count.line}) the receiver got no more "
            f"than {handled.value:,.0f} (line {handled.line}), {share(arrived)}. A sender of "
            "datagrams is never told what became of them."
        ),
        remedy=REMEDY,
    )


def _early(sent: Result, got: Result, arrived: float) -> Finding:
    return Finding(
        artefact=ARTEFACT,
        effect="biases",
        factor=1 / arrived if arrived else None,
        where=[sent.where],
        confidence=CERTAIN,
        evidence=[proof(one.name, one.value, one.unit, f"line {one.line}") for one in (sent, got)],
        explanation=(
            f"Line {sent.line} says {_said(sent)} of what the sender handed to its socket, but "
            f"the receiver got {_said(got)} (line {got.line}), {share(arrived)} of it. The rest "
            "was still in the buffers between them when the sender stopped its clock."
        ),
        remedy=REMEDY,
    )


def _alone(sent: Result) -> Finding:
    return Finding(
        artefact=ARTEFACT,
        effect="biases",
        where=[sent.where],
        confidence=UNSEEN,
        evidence=[proof(sent.name, sent.value, sent.unit, f"line {sent.line}")],
        explanation=(
            f"The {_said(sent)} of line {sent.line} are what the sender handed "
            "to its socket. The log has nothing from the receiver, and a sender of datagrams ends "
            "as well when none of them arrives."
        ),
        remedy=REMEDY,
    )
