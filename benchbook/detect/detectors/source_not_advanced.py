"""source-not-advanced: a block copy that reads the same source block again and again.

Decided by what arrived, not by time: the source differs in every cache line, so the destination
tells which source block each of its blocks came from. For a foreign program by the lines that one
repetition reads in a cache simulation.
"""

from __future__ import annotations

from typing import Any

from benchbook.core.number_format import count, share
from benchbook.core.sizes import format_bytes
from benchbook.detect import Judged, Seen, first_unknown, is_known
from benchbook.detect.inputs.blocks import (
    beside_honest,
    finding_by_lines,
    is_one_block,
    simulated_lines,
)
from benchbook.findings import Artefact, Finding, proof

NEEDED = ("blocks_declared", "distinct_source_blocks", "last_source_block", "work_done_fraction")
EXACT = 1.0
END = "comes from the same place, and stays in cache."
ARTEFACT = Artefact(
    "source-not-advanced",
    "Advance the source pointer with every block, check that the destination equals the source, "
    "and set the figure aside: it is no rate of copying memory.",
)


def detect(seen: Seen) -> Judged:
    """One finding per point whose later blocks came from the first source block.

    Abstains where neither the destination was looked at nor the source's lines were simulated; what
    copies in no blocks has no later ones.
    """
    judged = Judged()
    rows = seen.rows()
    for row in rows:
        if not is_known(row.get("block_bytes")):
            continue
        lines = simulated_lines(seen, row["where"], "lines_read")
        if not (missing := first_unknown(row, NEEDED)):
            only_first = row["distinct_source_blocks"] == 1 and row["last_source_block"] == 0
            if row["blocks_declared"] > 1 and only_first:
                judged.findings.append(_finding(row, beside_honest(row, rows)))
        elif lines is None:
            judged.abstained[row["where"]] = f"{missing} was not observed"
        elif is_one_block(row, lines):
            judged.findings.append(finding_by_lines(ARTEFACT, row, lines, "reads", END))
    return judged.rest_is_clean(row["where"] for row in rows if is_known(row.get("block_bytes")))


def _finding(row: dict[str, Any], factor: float | None) -> Finding:
    blocks = int(row["blocks_declared"])
    block = format_bytes(int(row["block_bytes"]))
    moved = row.get("destination_written_fraction")
    text = (
        f"The program declares {count(blocks)} blocks of {block} and copied source block 0 each "
        "time: "
        f"{count(row['distinct_source_blocks'])} distinct source block arrived, and only "
        f"{share(row['work_done_fraction'])} of the declared bytes stand where they belong. "
        f"The {block} that it reads again and again stay in cache"
    )
    if is_known(moved) and moved < 1:
        text += (
            ", and so do the stores, because the destination did not move either: "
            f"{share(moved)} of "
            "it was written"
        )
    text += "."
    if factor is not None:
        text += (
            f" The same copy with the source advancing takes {factor:.2f} times as long on this "
            "machine."
        )
    return ARTEFACT.finding(
        effect="invalidates",
        factor=factor,
        where=[row["where"]],
        confidence=EXACT,
        evidence=[
            proof(
                name,
                float(row[name]),
                "blocks" if name.endswith(("blocks", "block", "declared")) else "1",
                "destination check",
            )
            for name in (*NEEDED, "destination_written_fraction")
            if is_known(row.get(name))
        ],
        explanation=text,
    )
