"""constant-folded: the result is right, but the compiler knew it beforehand.

A static array that nothing ever writes holds zeros, and a compiler that sees so adds up nothing.
Decided as for dead code, by the code or else by the time, together with a right result or with an
array of which no page is in memory.
"""

from __future__ import annotations

from typing import Any

from benchbook.detect import Judged, Row, Seen, artefact
from benchbook.detect.inputs.removed_work import (
    bytes_held,
    claimed,
    evidence,
    is_by_code,
    is_result_right,
    removed,
)
from benchbook.findings import Finding

BOTH, BY_RESULT, ONE = 1.0, 0.9, 0.7
BY_TIME = 0.8  # at most, where the code was not seen
ARTEFACT = artefact("constant-folded")


def detect(seen: Seen) -> Judged:
    """One finding for all points whose work was removed though the result is right, or whose array
    was never written.

    Abstains as dead-code does: where the code was not seen, or its loop may stand elsewhere.
    """
    judged = Judged()
    gone = removed(seen.rows())
    judged.abstained |= gone.unclear
    folded = [row for row in gone.rows if _confidence(row)]
    if folded:
        judged.findings.append(_finding(folded))
    return judged.rest_is_clean(gone.judged)


def _confidence(row: Row) -> float:
    """0 where it is not this. A right result of memory that was written may have been found by
    somebody else; memory that was never written may belong to dead code."""
    held, right = bytes_held(row), is_result_right(row)
    absent = None if held is None else held.is_absent
    sure = 0.0
    if right:
        sure = BOTH if absent else BY_RESULT if absent is None else ONE
    elif right is None and absent:
        sure = ONE
    return sure if is_by_code([row]) else min(sure, BY_TIME)


def _finding(rows: list[dict[str, Any]]) -> Finding:
    largest = max(rows, key=lambda row: (row["bytes_per_call"], row["time_ns"]))
    held, right = bytes_held(largest), is_result_right(largest)
    words = {
        **claimed(rows),
        "by_code": is_by_code(rows),
        "right": right,
        "unwritten": int(held.need) if held and held.is_absent else None,
        "whose": "the whole process" if held and held.of_process else "the array",
        "held": int(held.held) if held else None,
        "resident_bytes": int(held.held) if held and held.of_process else None,
        "anonymous_bytes": int(held.held) if held and not held.of_process else None,
        "result_is_right": 1 if right else None,
    }
    return ARTEFACT.finding(
        rows, words, confidence=min(map(_confidence, rows)), evidence=evidence(largest)
    )
