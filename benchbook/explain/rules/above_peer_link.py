"""above-ceiling: more between two devices than the links that they have carry.

Decided by the name of the devices, which tells the generation of NVLink and how many of them there
are, or that there are none and PCIe is all. What stays within one device is judged by its memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from benchbook.core.number_format import number
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import Machine
from benchbook.explain.rules.above_link import PCIE_GB_PER_S, REMEDY, generation_of
from benchbook.explain.units import bytes_per_s
from benchbook.findings import Finding, proof

ARTEFACT = "above-ceiling"
NEEDS = ("ways",)
BEYOND_LINK = 1.02
BY_NAME = 0.9
# One direction of all NVLinks of a device in GB/s by its data sheet, of the fastest variant that
# has the name. Bridges of cards count as plugged in.
_LINKS = (
    (late(r"\bG?B[123]00\b"), 900.0),
    (late(r"\bG?H200\b|\bGH\d|\bH20\b"), 450.0),
    (late(r"\bH100 (?:PCIe|NVL)", re.I), 300.0),
    (late(r"\bH100\b"), 450.0),
    (late(r"\b[AH]800\b"), 200.0),
    (late(r"\bA100\b"), 300.0),
    (late(r"V100-PCIE|P100-PCIE", re.I), 0.0),
    (late(r"\bV100\b"), 150.0),
    (late(r"\bA30\b|\bGV100\b"), 100.0),
    (late(r"\bP100\b"), 80.0),
    (late(r"\bA40\b|\bRTX A[456][05]00\b|\bRTX 3090\b"), 56.25),
    (late(r"\bQuadro RTX [568]000\b|\bTITAN RTX\b|\bRTX 2080\b"), 50.0),
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report with such rates."""
    del machine
    for report in reports:
        ceiling, whose = _ceiling(str(report.facts.get("device", "")))
        above = [
            (rate / (ceiling * ways), one)
            for one in (report.knowing("ways") if ceiling else ())
            for ways in [report.column(one, "ways")]
            if ways in (1, 2) and one.of.get("row") != one.of.get("column")
            if is_number(one.value) and (rate := bytes_per_s(one.value, one.unit))
            if rate > BEYOND_LINK * ceiling * ways
        ]
        if above:
            yield _finding(above, ceiling, f"{whose} of {report.facts['device']}")


@lru_cache(maxsize=64)
def _ceiling(device: str) -> tuple[float, str]:
    """One direction between two such devices in bytes/s, and of what; 0 where nobody knows."""
    linked = next((rate for pattern, rate in _LINKS if pattern.search(device)), 0.0)
    generation = generation_of(device)
    bus = PCIE_GB_PER_S[generation] if generation else 0.0
    if linked > bus:
        return linked * 1e9, "all NVLinks"
    return bus * 1e9, f"sixteen lanes of PCIe {generation}"


def _finding(above: list[tuple[float, Result]], ceiling: float, whose: str) -> Finding:
    factor, one = max(above, key=lambda entry: entry[0])
    both = one.of.get("ways") == 2
    most = ceiling * (2 if both else 1)
    ways = "both directions together" if both else "one direction"
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        factor=factor,
        where=[other.where for _, other in above],
        confidence=BY_NAME,
        evidence=[
            proof("rate", one.value, one.unit, f"line {one.line}"),
            proof("ceiling", most, "bytes/s", "data sheet of the link"),
        ],
        explanation=(
            f"{one.name} from device {one.of.get('row')} to {one.of.get('column')} in line "
            f"{one.line} is {one.value:,.6g} {one.unit}, more than the {number(most / 1e9)} GB/s "
            f"that {whose} carry in {ways}."
        ),
        remedy=REMEDY,
    )
