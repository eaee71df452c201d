"""delayed-ack: sizes of a sweep that take as long as an acknowledgement is kept back, while smaller
and larger ones take far less."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.core.number_format import number
from benchbook.core.sizes import format_bytes
from benchbook.explain.model import Report, Result
from benchbook.explain.rules import Machine
from benchbook.explain.rules.delayed_ack import who_waits
from benchbook.explain.rules.stalled_size import is_delayed, stalls_of
from benchbook.explain.units import in_base
from benchbook.findings import Finding, proof

ARTEFACT = "delayed-ack"
NEEDS = ("message_bytes",)
MOST_SIZES = 8  # beside each other: the time itself tells
CONFIDENCE = 0.85


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report with such sizes."""
    del machine
    for report in reports:
        if "message_bytes" not in report.columns:
            continue
        stalls = [stall for sweep in report.sweeps for stall in stalls_of(sweep, MOST_SIZES)]
        if delayed := [stall for stall in stalls if is_delayed(stall[1])]:
            times, one = max(delayed, key=lambda stall: stall[0])
            yield _finding(times, one, [other for _, other in delayed])


def _finding(times: float, one: Result, every: list[Result]) -> Finding:
    # Not above: what detectors stand on takes longer to load than a log to read.
    from benchbook.detect.detectors.delayed_ack import REMEDY

    size = format_bytes(one.of["message_bytes"])
    return Finding(
        artefact=ARTEFACT,
        effect="explains",
        where=[other.where for other in every],
        confidence=CONFIDENCE,
        evidence=[proof(f"{one.name} at {size}", one.value, one.unit, f"line {one.line}")],
        explanation=(
            f"{one.name} at {size} (line {one.line}: {one.value:,.6g} {one.unit}) is "
            f"{number(times)} times that of the next smaller and the next larger size. It is the "
            f"time for which {who_waits(in_base(one.value, one.unit)[0])} keeps an "
            "acknowledgement back, while the other side keeps a small segment back until it comes."
        ),
        remedy=REMEDY,
    )
