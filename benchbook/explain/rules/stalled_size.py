"""heavy-tail: a size of a sweep, or two, take many times as long as the next smaller and the next
larger.

Decided by the sweep: no protocol makes a message dearer than one of more bytes, so that few of its
exchanges, which waited for something else, are in the mean. Where all waited for a known time, the
rule of that time tells it.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.core.number_format import number
from benchbook.core.sizes import format_bytes
from benchbook.explain.model import Report, Result
from benchbook.explain.rules import Machine
from benchbook.explain.rules.delayed_ack import is_delay
from benchbook.explain.sweeps import Sweep
from benchbook.explain.units import in_base
from benchbook.findings import Finding, proof

ARTEFACT = "heavy-tail"
NEEDS = ("message_bytes",)
FAR = 10.0  # times both neighbours
MOST_SIZES = 2  # beside each other
CONFIDENCE = 0.85
REMEDY = (
    "Do not use the figure of this size: measure it again, with the median beside the mean where "
    "the tool has it, and look for what made it wait (a lost packet, another program, a lock)."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report with such a size, of the farthest one."""
    del machine
    for report in reports:
        if "message_bytes" not in report.columns:
            continue
        stalls = [
            stall
            for sweep in report.sweeps
            for stall in stalls_of(sweep)
            if not is_delayed(stall[1])
        ]
        if stalls:
            times, one = max(stalls, key=lambda stall: stall[0])
            yield _finding(times, one, [other for _, other in stalls])


def is_delayed(one: Result) -> bool:
    """Whether it takes as long as an acknowledgement that is kept back, once or both ways: half of
    the round trip is printed."""
    ns, base = in_base(one.value, one.unit)
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
            if 0 < FAR * most <= least and max(times[first : last + 1]) < float("inf"):
                for index in range(first, last + 1):
                    yield times[index] / most, sweep[index]


def _finding(times: float, one: Result, every: list[Result]) -> Finding:
    size = format_bytes(one.of["message_bytes"])
    return Finding(
        artefact=ARTEFACT,
        effect="biases",
        where=[other.where for other in every],
        confidence=CONFIDENCE,
        evidence=[proof(f"{one.name} at {size}", one.value, one.unit, f"line {one.line}")],
        explanation=(
            f"{one.name} at {size} (line {one.line}: {one.value:,.6g} {one.unit}) is of exchanges "
            f"that take {number(times)} times as long as those of the next smaller and the next "
            "larger size. No protocol does that: few exchanges that waited make this mean."
        ),
        remedy=REMEDY,
    )
