"""false-sharing: threads write words of their own that stand on one line of the cache.

How many of them write the line of the timed word follows from the addresses (exact). What it costs
is told by a padded twin: the same threads at the same work, with the words on lines of their own.
"""

from __future__ import annotations

import math

from benchbook.detect import Judged, Row, Seen, artefact, first_unknown, is_known
from benchbook.detect.inputs.timed_work import rate_of
from benchbook.findings import Finding

WRITERS, APART = "threads_writing_the_line", "apart_bytes"
NEEDED = (WRITERS, APART, "threads_writing", "line_bytes", "bytes_per_call", "time_ns")
LEAST_FACTOR = 1.2
ALIKE = ("method", "threads", "threads_writing", "processes", "compiler", "flags_asked")
ARTEFACT = artefact("false-sharing")


def detect(seen: Seen) -> Judged:
    """One finding for all points that share a line and are slower for it; abstains where the
    addresses are not known, or no padded twin was measured."""
    judged = Judged()
    writing = [row for row in seen.rows() if is_known(row.get("threads_writing"))]
    slower: list[tuple[Row, Row]] = []
    for row in writing:
        if missing := first_unknown(row, NEEDED):
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("not-observed", what=missing)
        elif row[WRITERS] < 2:
            continue
        elif not rate_of(row):
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("time-unknown")
        elif (twin := _padded_twin(row, writing)) is None:
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("no-padded-twin")
        elif _factor(row, twin) < 1 / LEAST_FACTOR:
            slower.append((row, twin))
    if slower:
        judged.findings.append(_finding(slower))
    return judged.rest_is_clean(row["where"] for row in writing)


def _padded_twin(row: Row, rows: list[Row]) -> Row | None:
    """The fastest point of as many threads whose words stand on lines of their own."""
    twins = [
        twin
        for twin in rows
        if first_unknown(twin, NEEDED) is None
        and twin[WRITERS] == 1
        and rate_of(twin)
        and all(str(twin.get(name)) == str(row.get(name)) for name in ALIKE)
    ]
    # Of two that are as fast the one with less padding, whatever they are called.
    return max(twins, key=lambda twin: (rate_of(twin) or 0, -twin[APART]), default=None)


def _factor(row: Row, twin: Row) -> float:
    """Rate ÷ rate; both are known."""
    return (rate_of(row) or math.nan) / (rate_of(twin) or math.nan)


def _finding(pairs: list[tuple[Row, Row]]) -> Finding:
    row, twin = min(pairs, key=lambda pair: (_factor(*pair), pair[0][APART]))
    factor = _factor(row, twin)
    words = {
        "apart": int(row[APART]),
        "line": int(row["line_bytes"]),
        "writers": int(row[WRITERS]),
        "padded": int(twin[APART]),
        "faster": 1 / factor,
    }
    return ARTEFACT.finding([point["where"] for point, _ in pairs], words, factor=factor)
