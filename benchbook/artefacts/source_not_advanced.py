"""source-not-advanced: a block copy that reads the same source block again and again.

Decided by what arrived, not by time: the source differs in every cache line, so the destination
tells which source block each of its blocks came from.
"""

from __future__ import annotations

import pandas as pd

from benchbook.artefacts import Finding, Judged, Seen, first_unknown, is_known, proof
from benchbook.digits import count, share
from benchbook.sizes import format_bytes

ARTEFACT = "source-not-advanced"
NEEDED = ("blocks_declared", "distinct_source_blocks", "last_source_block", "work_done_fraction")
REMEDY = (
    "Advance the source pointer with every block, check that the destination equals the source, "
    "and set the figure aside: it is no rate of copying memory."
)


def detect(seen: Seen) -> Judged:
    """One finding per point whose later blocks came from the first source block.

    Abstains where the destination was not looked at (a foreign program's figure); what copies in no
    blocks has no later ones.
    """
    judged = Judged()
    for row in seen.rows():
        if not is_known(row.get("block_bytes")):
            continue
        if missing := first_unknown(row, NEEDED):
            judged.abstained[row["where"]] = f"{missing} was not observed"
        elif row["blocks_declared"] > 1 and row["last_source_block"] == 0:
            judged.findings.append(_finding(row, _honest(seen.points, row)))
    return judged.rest_is_clean(
        row["where"] for row in seen.rows() if is_known(row.get("block_bytes"))
    )


def _honest(rows: pd.DataFrame, row: dict) -> pd.Series | None:
    """The point that moves the same bytes in blocks of the same size, and did all its work."""
    twins = rows[
        (rows["bytes"] == row["bytes"])
        & (rows["bytes_per_call"] == row["bytes_per_call"])
        & (rows["block_bytes"] == row["block_bytes"])
        & (rows["work_done_fraction"] == 1)
        & (rows["distinct_source_blocks"] == rows["blocks_declared"])
    ]
    return None if twins.empty else twins.sort_values("time_ns").iloc[0]


def _finding(row: dict, honest: pd.Series | None) -> Finding:
    blocks = int(row["blocks_declared"])
    block = format_bytes(int(row["block_bytes"]))
    moved = row.get("destination_written_fraction")
    factor = None if honest is None else float(honest["time_ns"] / row["time_ns"])
    text = (
        f"The program declares {count(blocks)} blocks of {block} and copied source block 0 each "
        "time: "
        f"{count(row['distinct_source_blocks'])} distinct source block arrived, and only "
        f"{share(row['work_done_fraction'])} of the declared bytes stand where they belong. "
        f"The {block} that it reads again and again stay in cache"
    )
    if moved is not None and moved < 1:
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
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        factor=factor,
        where=[row["where"]],
        confidence=1.0,
        evidence=[
            proof(
                name,
                float(row[name]),
                "blocks" if name.endswith(("blocks", "block", "declared")) else "1",
                "destination check",
            )
            for name in (*NEEDED, "destination_written_fraction")
            if not pd.isna(row.get(name))
        ],
        explanation=text,
        remedy=REMEDY,
    )
