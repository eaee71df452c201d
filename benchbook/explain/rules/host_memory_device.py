"""host-memory-device: the device of a transfer is the host itself, so that no bus is in the figure.

Decided by what the log calls the platform and the device; of a mapping by a rate that no link has.
A device in one chip with the host has no bus to it, either.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.detect.detectors.host_memory_device import REMEDY
from benchbook.explain.model import Report, Result
from benchbook.explain.rules import Machine
from benchbook.explain.rules.common.devices import is_host, shares_memory
from benchbook.explain.units import bytes_per_s
from benchbook.findings import Finding, proof

ARTEFACT = "host-memory-device"
NEEDS = ("direction", "zero_copy")
CONFIDENCE = 0.95
LINK_BYTES_PER_S = 1e12  # no device has a faster one to its host


def _mapped(report: Report) -> Iterator[Finding]:
    """Mappings of memory that host and device share: there was nothing to move."""
    own = report.knowing("zero_copy")
    fast = [one for one in own if (bytes_per_s(one.value, one.unit) or 0) > LINK_BYTES_PER_S]
    mapped = [one for one in fast if one.of.get("zero_copy")]
    if mapped:
        most = max(mapped, key=lambda one: one.value)
        yield Finding(
            artefact=ARTEFACT,
            effect="invalidates",
            where=[one.where for one in mapped],
            confidence=CONFIDENCE,
            evidence=[proof(most.name, most.value, most.unit, f"line {most.line}")],
            explanation=(
                f"{most.name} in line {most.line} is {most.value:,.6g} {most.unit}, which no link "
                "between host and device carries: the buffer lies in the host's own memory, and "
                "mapping it moved nothing."
            ),
            remedy=REMEDY,
        )


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report of transfers to such a device."""
    del machine
    for report in reports:
        moved = [one for one in report.knowing("direction") if report.column(one, "direction")]
        if moved and is_host(report):
            what = "is the host's own processor"
            yield _finding(report, moved, what, "copies within its memory, or no copies at all")
        elif moved and shares_memory(report):
            of_host = [one for one in moved if "host" in str(report.column(one, "direction"))]
            what = "has no memory but that of its host"
            if of_host:
                yield _finding(report, of_host, what, "copies within that memory")
        else:
            yield from _mapped(report)


def _finding(report: Report, moved: list[Result], what: str, are: str) -> Finding:
    platform, device = (str(report.facts.get(name, "")) for name in ("platform", "device"))
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=[one.where for one in moved],
        confidence=CONFIDENCE,
        evidence=[
            proof(name, value, "", f"line {report.line}")
            for name, value in (("platform", platform), ("device", device))
            if value
        ],
        explanation=(
            f"The device of line {report.line}, {device or platform}, {what}: the "
            f"{len(moved)} transfers are {are}, and no bus is in their figures."
        ),
        remedy=REMEDY,
    )
