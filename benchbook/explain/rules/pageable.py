"""pageable: the host's side of a transfer is ordinary memory, which the driver copies once more."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.core.number_format import number
from benchbook.explain.model import Report, Result
from benchbook.explain.rules import Machine
from benchbook.explain.units import bytes_per_s
from benchbook.findings import Finding, proof

ARTEFACT = "pageable"
NEEDS = ("host_memory",)
CERTAIN = 1.0


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report with such transfers."""
    del machine
    pinned = {
        _transfer(report, one): one
        for report in reports
        for one in report.knowing("host_memory")
        if report.column(one, "host_memory") == "pinned"
    }
    for report in reports:
        known = report.knowing("host_memory")
        paged = [one for one in known if report.column(one, "host_memory") == "pageable"]
        if paged:
            yield _finding(report, paged, pinned)


def _finding(
    report: Report, paged: list[Result], pinned: dict[tuple[object, ...], Result]
) -> Finding:
    # Not above: what detectors stand on takes longer to load than a log to read.
    from benchbook.detect.detectors.pageable import REMEDY, VISIBLE

    largest = max(paged, key=lambda one: report.column(one, "message_bytes") or 0)
    twin = pinned.get(_transfer(report, largest))
    text = (
        f"The host's side of {largest.name} (line {largest.line}: {largest.value:,.6g} "
        f"{largest.unit}) is pageable memory, which the device cannot reach by itself: the driver "
        "copies it through pinned memory of its own, and the figure has that copy in it."
    )
    ratio = None
    if twin is not None:
        rates = [bytes_per_s(one.value, one.unit) or 0.0 for one in (twin, largest)]
        ratio = rates[0] / rates[1] if rates[1] else None
        if ratio:
            text += f" Pinned memory carries {number(ratio)} times as much (line {twin.line})."
    return Finding(
        artefact=ARTEFACT,
        effect="biases",
        factor=1 / ratio if ratio and ratio > VISIBLE else None,
        where=[one.where for one in paged],
        confidence=CERTAIN,
        evidence=[
            proof(one.where, one.value, one.unit, f"line {one.line}")
            for one in (largest, twin)
            if one is not None
        ],
        explanation=text,
        remedy=REMEDY,
    )


def _transfer(report: Report, one: Result) -> tuple[object, ...]:
    """What two transfers have in common that differ in the host's memory."""
    return one.name, *(report.column(one, name) for name in ("direction", "message_bytes"))
