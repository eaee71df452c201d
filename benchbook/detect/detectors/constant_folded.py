"""constant-folded: the result is right, but the compiler knew it beforehand.

A static array that nothing ever writes holds zeros, and a compiler that sees so adds up nothing.
Decided as for dead code, by the code or else by the time, together with a right result or with an
array of which no page is in memory.
"""

from __future__ import annotations

from typing import Any

from benchbook.core.sizes import format_bytes
from benchbook.detect import Judged, Row, Seen
from benchbook.detect.inputs.removed_work import (
    bytes_held,
    claim,
    evidence,
    is_by_code,
    is_result_right,
    removed,
)
from benchbook.findings import Artefact, Finding, proof

BOTH, BY_RESULT, ONE = 1.0, 0.9, 0.7
BY_TIME = 0.8  # at most, where the code was not seen
ARTEFACT = Artefact(
    "constant-folded",
    "Write to the array at run time, with values that the compiler cannot know (from an argument "
    "or a clock), and check the result; then see that twice the work takes twice the time.",
)


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


def _finding(found: list[dict[str, Any]]) -> Finding:
    largest = max(found, key=lambda row: (row["bytes_per_call"], row["time_ns"]))
    held, right = bytes_held(largest), is_result_right(largest)
    cause = (
        "no instruction in a loop of the timed function accesses memory"
        if is_by_code(found)
        else "no core moves bytes that fast, so the work cannot have been done"
    )
    text = f"{claim(found)}; {cause}{', yet the result is right' if right else ''}. "
    if held is not None and held.is_absent:
        whose = "the whole process" if held.of_process else "the array"
        text += (
            f"The {format_bytes(int(held.need))} were never written, {whose} holds "
            f"{format_bytes(int(held.held))} of memory: the compiler saw that they are zeros and "
            "put the result in instead of the work."
        )
    else:
        text += "The compiler, or something before the clock started, knew it beforehand."
    if not right:
        text += " The result was not checked, so that code which nobody uses would look the same."
    rows = evidence(largest)
    if held is not None:
        name, source = (
            ("resident_bytes", "statm") if held.of_process else ("anonymous_bytes", "smaps")
        )
        rows.append(proof(name, int(held.held), "bytes", f"/proc/self/{source}"))
    if right:
        rows.append(proof("result_is_right", 1, "1", "result check"))
    return ARTEFACT.finding(
        effect="invalidates",
        where=sorted(row["where"] for row in found),
        confidence=min(map(_confidence, found)),
        evidence=rows,
        explanation=text,
    )
