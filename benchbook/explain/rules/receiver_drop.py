"""receiver-drop: datagrams that found no room in a socket are called lost in the network.

Decided where no network was there to lose them, because both ends are on one host, or where the log
shows that the kernel counted as many for which a socket had no room.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.core.number_format import count
from benchbook.core.sizes import format_bytes
from benchbook.detect.detectors.receiver_drop import REMEDY
from benchbook.detect.detectors.sender_rate import LEAST_MISSING
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import Machine
from benchbook.explain.rules.common.addresses import stays_in_host
from benchbook.explain.rules.common.transfer_ends import Told, heard, met, over_udp, wholes
from benchbook.findings import Finding, proof

ARTEFACT = "receiver-drop"
CONFIDENCE = 0.95
AS_MANY = 0.02  # of them: others may have lost some, too


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report of datagrams lost within one host."""
    del machine
    receivers = heard(reports)
    for report in over_udp(reports):
        lost = [one for told in wholes(report) for one in _lost(told)]
        if not lost and (both := met(report, receivers)):
            lost = list(_missing(*both))
        if not lost:
            continue
        most = max(lost, key=lambda one: one.value)
        errors = report.facts.get("receive_buffer_errors")
        counted = errors is not None and is_number(most.value)
        if counted and abs(errors - most.value) <= AS_MANY * most.value:
            yield _finding(
                report,
                most,
                f"the kernel counted {count(errors)} for which that socket had no room (line "
                f"{report.facts['receive_buffer_errors_in_line']})",
            )
        elif stays_in_host(report):
            yield _finding(
                report, most, "both ends are on one host, where no wire and no switch can lose any"
            )


def _lost(told: Told) -> Iterator[Result]:
    """What the receiver says that it lost; of one that only says what it got, what is missing."""
    said = [
        one
        for name in ("lost datagrams", "dropped messages")
        for end in ("receiver", "")
        if (one := told.of(end, name))
    ]
    yield from (one for one in said if one.value > 0)
    sent, got = told.of("sender", "datagrams"), told.of("receiver", "datagrams")
    if not said and sent and got:
        yield from _missing(sent, got)


def _missing(sent: Result, got: Result) -> Iterator[Result]:
    """What was not received of what was sent."""
    if 0 <= got.value < (1 - LEAST_MISSING) * sent.value:
        lost = sent.value - got.value
        yield Result(f"lost {got.unit}", lost, got.unit, got.line, got.statistic)


def _finding(report: Report, lost: Result, because: str) -> Finding:
    room = report.facts.get("socket_buffer_bytes")
    buffer = f" of {format_bytes(int(room))}" if room else ""
    return Finding(
        artefact=ARTEFACT,
        effect="explains",
        where=[lost.where],
        confidence=CONFIDENCE,
        evidence=[proof(lost.name, lost.value, lost.unit, f"line {lost.line}")],
        explanation=(
            f"The {count(lost.value)} {lost.name} of line {lost.line} found the buffer of the "
            f"receiving socket{buffer} full: {because}. The receiver was too slow, not the network."
        ),
        remedy=REMEDY,
    )
