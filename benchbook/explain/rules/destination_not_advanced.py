"""destination-not-advanced: a tool's block copy writes the same block again and again."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.model import Report
from benchbook.explain.rules import Machine
from benchbook.explain.rules.common.block_copies import Compared, compared, destination_stands
from benchbook.findings import Finding, proof

ARTEFACT = "destination-not-advanced"
SURE, LIKELY = 1.0, 0.8
REMEDY = (
    "Set this figure aside, and measure again with mbw 1.3 or newer, which copies the whole array."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each run whose block copy is faster than writing its destination allows."""
    for one in compared(reports):
        if destination_stands(one, machine):
            yield _finding(one)


def _finding(one: Compared) -> Finding:
    if one.version:
        why = f"mbw {one.report.version} copies one block onto one block, again and again"
    else:
        why = (
            "A source that stands still would leave the stores to memory and gain a factor of 2 at "
            "most, so the destination did not move either: mbw 1.1 copies one block onto one "
            "block, again and again"
        )
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=[one.block.where],
        confidence=SURE if one.version else LIKELY,
        evidence=[
            proof("block copy", one.block.value, one.block.unit, f"line {one.block.line}"),
            proof("copy of the whole", one.whole.value, one.whole.unit, f"line {one.whole.line}"),
        ],
        explanation=f"{one.figures}. {why}, all of it within a cache.",
        remedy=REMEDY,
        factor=one.factor,
    )
