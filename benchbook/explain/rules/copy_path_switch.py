"""copy-path-switch: the C library copies blocks in another way than the whole, and a little faster.

What a log cannot decide: other sizes of the block would show it. It explains, and takes no figure
away.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.model import Report
from benchbook.explain.rules import Machine
from benchbook.explain.rules.common.block_copies import NOTICED, Compared, compared, source_stands
from benchbook.findings import Finding, proof

ARTEFACT = "copy-path-switch"
VERSION_KNOWN, VERSION_UNKNOWN = 0.7, 0.5
REMEDY = (
    "Say the block size and the C library beside the figure. To make sure, run it with other block "
    "sizes (-b), and with glibc.cpu.x86_non_temporal_threshold moved by GLIBC_TUNABLES."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each run whose block copy is above that of the whole without a fault."""
    for one in compared(reports):
        if one.sure_factor >= NOTICED and not source_stands(one):
            yield _finding(one)


def _finding(one: Compared) -> Finding:
    unsure = (
        ""
        if one.version
        else " mbw before 1.3 reads one source block again and again and would be above it too, "
        "mostly by more; this log does not tell its version."
    )
    return Finding(
        artefact=ARTEFACT,
        effect="explains",
        where=[one.block.where],
        confidence=VERSION_KNOWN if one.version else VERSION_UNKNOWN,
        evidence=[
            proof("block copy", one.block.value, one.block.unit, f"line {one.block.line}"),
            proof("copy of the whole", one.whole.value, one.whole.unit, f"line {one.whole.line}"),
        ],
        explanation=(
            f"{one.figures}. The C library chooses its way of copying by the size of one call "
            f"(rep movsb, non-temporal stores), and for {one.blocks} it takes another than for the "
            f"whole array: so much is the library's choice and no fault.{unsure}"
        ),
        remedy=REMEDY,
        factor=one.factor,
    )
