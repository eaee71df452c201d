"""source-not-advanced: a tool's block copy reads the same block again and again."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.model import Report
from benchbook.explain.rules import Machine
from benchbook.explain.rules.common.block_copies import (
    BEYOND_PATHS,
    Compared,
    compared,
    destination_stands,
    source_stands,
)
from benchbook.findings import Finding, proof

ARTEFACT = "source-not-advanced"
SURE, LIKELY, MAYBE = 1.0, 0.9, 0.7
REMEDY = (
    "Set this figure aside, and measure again with mbw 1.3 or newer, which reads the whole source; "
    "take the copy of the whole for the rate of memory until then."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each run whose block copy is faster than reading its source allows."""
    for one in compared(reports):
        if source_stands(one):
            yield _finding(one, both=destination_stands(one, machine))


def _finding(one: Compared, *, both: bool) -> Finding:
    which = one.report.version or "before 1.3"
    why = f"mbw {which} reads the same source block for all of its {one.blocks}"
    confidence = SURE
    if not one.version:
        confidence = LIKELY if one.sure_factor > BEYOND_PATHS + 0.2 else MAYBE
        if not both:
            why += ", and no other way of copying is that much faster than a copy of the whole"
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=[one.block.where],
        confidence=confidence,
        evidence=[
            proof("block copy", one.block.value, one.block.unit, f"line {one.block.line}"),
            proof("copy of the whole", one.whole.value, one.whole.unit, f"line {one.whole.line}"),
        ],
        explanation=(
            f"{one.figures}. {why}: that block stays in cache, so the figure is no rate of copying "
            "memory. (Before 1.4 its labels MEMCPY and DUMB are exchanged, too.)"
        ),
        remedy=REMEDY,
        factor=one.factor,
    )
