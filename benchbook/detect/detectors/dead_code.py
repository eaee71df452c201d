"""dead-code: the compiler removed the work, because nobody uses its result.

Decided by the machine code: no access to memory is left in a loop of the timed function, and it
calls nothing, while its declared bytes in its time are more than any core moves. Where the code was
not seen, sizes decide: more work in the same time.
"""

from __future__ import annotations

from typing import Any

from benchbook.detect import Judged, Row, Seen
from benchbook.detect.inputs.removed_work import (
    bytes_held,
    claim,
    evidence,
    is_by_code,
    is_result_right,
    removed,
)
from benchbook.detect.inputs.timed_work import times
from benchbook.findings import Artefact, Finding

SEEN, MAY_BE_FOLDED, BY_TIME = 1.0, 0.7, 0.8
ARTEFACT = Artefact(
    "dead-code",
    "Use the result where the compiler cannot see through it: store it to memory that is read "
    "later, check it, or hand it to an empty assembler statement; then see that twice the work "
    "takes twice the time.",
)


def detect(seen: Seen) -> Judged:
    """One finding for all points whose work was removed and whose result nobody checked.

    Abstains where bytes move too fast for any core and the code was not seen, or where no access
    was found in a loop of the timed function although it takes the time that the work would.
    """
    judged = Judged()
    gone = removed(seen.rows())
    judged.abstained |= gone.unclear
    dead = [row for row in gone.rows if is_result_right(row) is not True]
    if dead:
        judged.findings.append(_finding(dead, gone.same_time))
    return judged.rest_is_clean(gone.judged)


def _finding(rows: list[dict[str, Any]], same_time: dict[str, tuple[float, float]]) -> Finding:
    largest = max(rows, key=lambda row: (row["bytes_per_call"], row["time_ns"]))
    by_code = is_by_code(rows)
    cause = (
        "no instruction in a loop of the timed function accesses memory and it calls nothing, so "
        "the compiler has removed the work, because nobody uses its result"
        if by_code
        else "no core moves bytes that fast, so the work cannot have been done; most likely the "
        "compiler removed it, because nobody uses its result"
    )
    text = f"{claim(rows)}: {cause}."
    if largest["where"] in same_time:
        more, longer = same_time[largest["where"]]
        text += f" {more:.0f} times the work takes {times(longer)} times as long."
    elif not by_code:
        text += " Its machine code was not seen."
    return ARTEFACT.finding(
        effect="invalidates",
        where=sorted(row["where"] for row in rows),
        confidence=min(map(_confidence, rows)),
        evidence=evidence(largest),
        explanation=text,
    )


def _confidence(row: Row) -> float:
    """Memory that was written cannot have been folded away; of other memory both may be true."""
    if not is_by_code([row]):
        return BY_TIME
    held = bytes_held(row)
    return MAY_BE_FOLDED if held is not None and held.is_absent else SEEN
