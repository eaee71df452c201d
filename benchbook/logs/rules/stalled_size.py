"""heavy-tail: one size of a sweep takes many times as long as the next smaller and the next larger.

Decided by the sweep: no protocol makes a message dearer than one of more bytes, so that few of its
exchanges, which waited for something else, are in the mean.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.artefacts import Finding, proof
from benchbook.digits import number
from benchbook.importers import Report, Result
from benchbook.logs.rules import Machine
from benchbook.logs.rules.eager_rendezvous import sweeps, time_of
from benchbook.sizes import format_bytes

ARTEFACT = "heavy-tail"
FAR = 10.0  # times both neighbours
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
        stalls = [stall for sweep in sweeps(report) for stall in _stalls(sweep)]
        if stalls:
            times, one = max(stalls, key=lambda stall: stall[0])
            yield _finding(times, one, [other for _, other in stalls])


def _stalls(sweep: list[Result]) -> Iterator[tuple[float, Result]]:
    """Those between two others, by how many times as long as the longer of both they take."""
    for before, one, after in zip(sweep, sweep[1:], sweep[2:], strict=False):
        most = max(time_of(before), time_of(after))
        if 0 < FAR * most <= time_of(one) < float("inf"):
            yield time_of(one) / most, one


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
