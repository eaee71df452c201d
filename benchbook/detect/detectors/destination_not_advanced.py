"""destination-not-advanced: a block copy that writes the same destination block again and again.

Decided by how much of the destination was written, not by time; for a foreign program by the
lines that one repetition writes in a cache simulation.
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
from benchbook.detect.inputs.timed_work import times
from benchbook.findings import Artefact, Finding, proof

NEEDED = ("bytes", "blocks_declared", "destination_written_fraction")
EXACT = 1.0
END = "goes to the same place, and the stores never leave the cache."
ROUNDING = 1.001  # of a printed share
ARTEFACT = Artefact(
    "destination-not-advanced",
    "Advance the destination pointer with every block, check that all of the destination was "
    "written, and set the figure aside: it is no rate of writing memory.",
)


def detect(seen: Seen) -> Judged:
    """One finding per point that wrote one block only of a destination of several.

    Abstains where neither the destination was looked at nor its lines were simulated; what copies
    in no blocks has no later ones.
    """
    judged = Judged()
    rows = seen.rows()
    for row in rows:
        if not is_known(row.get("block_bytes")):
            continue
        lines = simulated_lines(seen, row["where"], "lines_written")
        if not (missing := first_unknown(row, NEEDED)):
            written = row["destination_written_fraction"] * row["bytes"]
            if row["blocks_declared"] > 1 and 0 < written <= ROUNDING * row["block_bytes"]:
                judged.findings.append(_finding(row, beside_honest(row, rows)))
        elif lines is None:
            judged.abstained[row["where"]] = f"{missing} was not observed"
        elif is_one_block(row, lines):
            judged.findings.append(finding_by_lines(ARTEFACT, row, lines, "writes", END))
    return judged.rest_is_clean(row["where"] for row in rows if is_known(row.get("block_bytes")))


def _finding(row: dict[str, Any], factor: float | None) -> Finding:
    blocks, block = count(row["blocks_declared"]), format_bytes(int(row["block_bytes"]))
    written = share(row["destination_written_fraction"])
    text = (
        f"The program declares {blocks} blocks of {block} and wrote one of them {blocks} times: "
        f"{written} of the destination of {format_bytes(int(row['bytes']))} was written, the rest "
        "is as it was before, and the stores never leave the cache."
    )
    if factor is not None:
        text += (
            f" The same copy with both pointers advancing takes {times(factor)} times as long on "
            "this machine."
        )
    units = {"bytes": "bytes", "block_bytes": "bytes", "blocks_declared": "blocks"}
    return ARTEFACT.finding(
        effect="invalidates",
        factor=factor,
        where=[row["where"]],
        confidence=EXACT,
        evidence=[
            proof(name, float(row[name]), units.get(name, "1"), "destination check")
            for name in (*NEEDED, "block_bytes", "work_done_fraction")
            if is_known(row.get(name))
        ],
        explanation=text,
    )
