"""destination-not-advanced: a block copy that writes the same destination block again and again.

Decided by how much of the destination was written, not by time; for a foreign program by the
lines that one repetition writes in a cache simulation.
"""

from __future__ import annotations

from benchbook.detect import Judged, Row, Seen, artefact
from benchbook.detect.inputs.blocks import judge_block_copies

NEEDED = ("bytes", "blocks_declared", "destination_written_fraction")
ROUNDING = 1.001  # of a printed share
ARTEFACT = artefact("destination-not-advanced")


def detect(seen: Seen) -> Judged:
    """One finding per point that wrote one block only of a destination of several.

    Abstains where neither the destination was looked at nor its lines were simulated; what copies
    in no blocks has no later ones.
    """
    return judge_block_copies(seen, ARTEFACT, NEEDED, "lines_written", _is_stuck)


def _is_stuck(row: Row) -> bool:
    """Whether one block was written, of several."""
    written = row["destination_written_fraction"] * row["bytes"]
    return bool(row["blocks_declared"] > 1 and 0 < written <= ROUNDING * row["block_bytes"])
