"""loopback: what is called a network never left the host.

Decided by the addresses of both ends, by the device, or by segments of a size that no wire takes.
Virtual devices and containers beside each other do not leave it either.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.model import Report
from benchbook.explain.rules import Machine
from benchbook.explain.rules.common.addresses import (
    are_containers,
    is_loopback,
    stays_in_host,
    virtual_device,
)
from benchbook.findings import Finding, proof

ARTEFACT = "loopback"
CERTAIN, BY_SIZE, BY_CUSTOM = 1.0, 0.9, 0.75
LEAST_MSS = 16_000  # bytes: jumbo frames take 9,000 or so
OVER_INFINIBAND = range(65_400, 65_481)  # IP over InfiniBand has frames of 65,520


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report whose figures are of one host talking to itself."""
    del machine
    for report in reports:
        if not report.results or report.facts.get("tunnelled"):
            continue
        if stays_in_host(report):
            yield _finding(report, _by_address(report), CERTAIN)
            continue
        mss = report.facts.get("mss_bytes") or 0
        if mss >= LEAST_MSS and mss not in OVER_INFINIBAND:
            said = f"its segments have {mss:,} bytes, and no network takes such frames"
            yield _finding(report, said, BY_SIZE)
        elif device := virtual_device(report):
            said = f"both sides of {device}, a virtual device, are in one kernel"
            yield _finding(report, said, BY_CUSTOM)
        elif are_containers(report):
            said = (
                "both ends have addresses of 172.17.0.0/24, which Docker gives to containers of "
                "one host: its bridge there leads to no other"
            )
            yield _finding(report, said, BY_CUSTOM)


def _by_address(report: Report) -> str:
    near, far = (report.facts.get(name) for name in ("near_address", "far_address"))
    if near and far and str(near) == str(far) and not is_loopback(near):
        return f"both ends are {near}, and what a host sends to itself goes over loopback"
    if report.facts.get("device") == "lo":
        return "the device is lo"
    own = next((one for one in (far, near) if one and is_loopback(one)), "")
    return f"the address {own} is the host itself"


def _finding(report: Report, why: str, confidence: float) -> Finding:
    # Not above: what detectors stand on takes longer to load than a log to read.
    from benchbook.detect.detectors.loopback import REMEDY

    facts = {
        name: report.facts[name]
        for name in ("near_address", "far_address", "device", "mss_bytes")
        if name in report.facts
    }
    return Finding(
        artefact=ARTEFACT,
        effect="biases",
        where=[one.where for one in report.results if one.statistic == "total"][:3]
        or [report.results[0].where],
        confidence=confidence,
        evidence=[proof(name, value, "", f"line {report.line}") for name, value in facts.items()],
        explanation=(
            f"The {report.tool} of line {report.line} never left its host: {why}. No driver, no "
            "wire and no other host is in its figures, which are those of copying memory in one "
            "kernel."
        ),
        remedy=REMEDY,
    )
