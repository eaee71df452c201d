"""dead-code: the compiler removed the work, because nobody uses its result.

Decided by the machine code: no access to memory is left in a loop of the timed function, and it
calls nothing, while its declared bytes in its time are more than any core moves. Where the code was
not seen, sizes decide: more work in the same time.
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

SEEN, MAY_BE_FOLDED, BY_TIME = 1.0, 0.7, 0.8
ARTEFACT = artefact("dead-code")


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
    more, longer = same_time.get(largest["where"], (None, None))
    words = {
        **claimed(rows),
        "by_code": is_by_code(rows),
        "more": more,
        "longer": longer,
        "unseen": more is None and not is_by_code(rows),
    }
    return ARTEFACT.finding(
        rows, words, confidence=min(map(_confidence, rows)), evidence=evidence(largest)
    )


def _confidence(row: Row) -> float:
    """Memory that was written cannot have been folded away; of other memory both may be true."""
    if not is_by_code([row]):
        return BY_TIME
    held = bytes_held(row)
    return MAY_BE_FOLDED if held is not None and held.is_absent else SEEN
