"""source-not-advanced: a block copy that reads the same source block again and again.

Decided by what arrived, not by time: the source differs in every cache line, so the destination
tells which source block each of its blocks came from. For a foreign program by the lines that one
repetition reads in a cache simulation.
"""

from __future__ import annotations

from benchbook.detect import Judged, Row, Seen, artefact
from benchbook.detect.inputs.blocks import judge_block_copies

NEEDED = ("blocks_declared", "distinct_source_blocks", "last_source_block", "work_done_fraction")
ARTEFACT = artefact("source-not-advanced")


def detect(seen: Seen) -> Judged:
    """One finding per point whose later blocks came from the first source block.

    Abstains where neither the destination was looked at nor the source's lines were simulated; what
    copies in no blocks has no later ones.
    """
    return judge_block_copies(seen, ARTEFACT, NEEDED, "lines_read", _is_stuck)


def _is_stuck(row: Row) -> bool:
    """Whether all of several blocks came from the first."""
    only_first = row["distinct_source_blocks"] == 1 and row["last_source_block"] == 0
    return bool(row["blocks_declared"] > 1 and only_first)
