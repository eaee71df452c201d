"""What tells whether a copy in blocks moved on: lines in a simulation, and the same copy that did.

Rows are those of `artefacts.Seen.points`; times in ns, sizes in bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchbook.detect import Judged, Row, Seen, first_unknown, is_known
from benchbook.detect.inputs.timed_work import are_same, number_of, speed_up
from benchbook.findings import Artefact, Finding, proof

LEAST_BLOCKS = 4  # in a simulation, which counts a few lines of the program's own
_BUILD = ("compiler", "flags_asked", "environment")
_SAME = ("bytes", "bytes_per_call", "block_bytes", "blocks_declared", "processes")


def simulated_lines(seen: Seen, where: str, name: str) -> dict[str, Any] | None:
    """The row of lines (`lines_read` or `lines_written`) that one repetition touches at a point;
    None where none was simulated."""
    for row in seen.evidence:
        if row["where"] == where and row["name"] == name and is_known(row["value"]):
            return row
    return None


def is_one_block(row: Row, lines: dict[str, Any]) -> bool:
    """Whether all blocks were the same place: several are declared, and lines of one touched."""
    declared, block = lines["declared_bytes"], row["block_bytes"]
    touched = lines["value"] * lines["line_bytes"]
    return bool(declared >= LEAST_BLOCKS * block and 0 < touched <= 2 * block)


def judge_block_copies(
    seen: Seen,
    artefact: Artefact,
    needed: tuple[str, ...],
    lines_name: str,
    is_stuck: Callable[[Row], bool],
) -> Judged:
    """One finding per point whose blocks were all the same place: as the check of its destination
    says (`is_stuck`, of rows that have the columns `needed`), else the simulated lines."""
    judged = Judged()
    every = seen.rows()
    rows = [row for row in every if is_known(row.get("block_bytes"))]
    for row in rows:
        lines = simulated_lines(seen, row["where"], lines_name)
        if not (missing := first_unknown(row, needed)):
            if is_stuck(row):
                judged.findings.append(_checked(artefact, row, every))
        elif lines is None:
            judged.abstained[row["where"]] = f"{missing} was not observed"
        elif is_one_block(row, lines):
            judged.findings.append(_simulated(artefact, row, lines))
    return judged.rest_is_clean(row["where"] for row in rows)


def _checked(artefact: Artefact, row: Row, every: list[Row]) -> Finding:
    """By what the check of the destination saw."""
    names = dict.fromkeys(fact.name for fact in artefact.kinds["checked"].evidence)
    words = {name: number_of(row, name) for name in (*names, "bytes", "block_bytes")}
    written = words["destination_written_fraction"]
    words["partly_written"] = written is not None and written < 1
    return artefact.finding([row], words, "checked", factor=_over_honest(row, every))


def _simulated(artefact: Artefact, row: Row, lines: dict[str, Any]) -> Finding:
    """By the lines that one repetition touches in a simulation."""
    declared, line, touched = (
        int(lines[name]) for name in ("declared_bytes", "line_bytes", "value")
    )
    words = {
        "declared": declared,
        "touched": touched,
        "line": line,
        "lines": declared // line,
        "block": int(row["block_bytes"]),
    }
    evidence = [
        proof(lines["name"], touched, "lines", lines["source"], lines["state"]),
        proof("declared_bytes", declared, "bytes", lines["source"], lines["state"]),
    ]
    return artefact.finding([row], words, "simulated", evidence=evidence)


def _over_honest(row: Row, rows: list[Row]) -> float | None:
    """Rate ÷ rate of the same copy that did all its work, of the same build where there is one, for
    another build may copy in another way; None where there is no such point."""
    honest = [
        peer
        for peer in rows
        if all(number_of(peer, name) == number_of(row, name) for name in _SAME)
        and number_of(peer, "work_done_fraction") == 1
        and number_of(peer, "distinct_source_blocks") == number_of(peer, "blocks_declared")
        and (number_of(peer, "time_ns") or 0) > 0
    ]
    own = [peer for peer in honest if all(are_same(peer.get(key), row.get(key)) for key in _BUILD)]
    return speed_up(row, sorted(own or honest, key=lambda peer: float(peer["time_ns"]))[:1])
