"""page-bounce: processes write words of their own that stand on one page of shared memory.

Pages that several processes wrote between two meetings are counted (exact); each is fetched and
compared again each time. What this costs is shown by a padded control build: the same work with the
words of each process on a page of its own.
"""

from __future__ import annotations

from benchbook.detect import Judged, Row, Seen, artefact
from benchbook.detect.inputs.comparisons import surely_longer, twins
from benchbook.detect.inputs.timed_work import columns, number_of, strongest
from benchbook.findings import Finding

SEVERAL, FETCHED, APART = "pages_written_by_several", "pages_fetched", "apart_bytes"
# What two points have in common that differ only in the distance of the words.
SAME = ("values_verified", "node_count")
ARTEFACT = artefact("page-bounce")


def detect(seen: Seen) -> Judged:
    """One finding for all points that are slower for pages that several processes write; abstains
    where these were not counted, or no padded control was measured."""
    judged = Judged()
    rows = [row for row in seen.rows() if number_of(row, FETCHED) is not None]
    padded = [row for row in rows if number_of(row, APART) and number_of(row, SEVERAL) == 0]
    slower: list[tuple[Row, Row, float]] = []
    for row in rows:
        several = number_of(row, SEVERAL)
        if several is None:
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("not-counted")
        elif several > 0:
            pairs = list(twins([row], padded, SAME)) if number_of(row, APART) else []
            longer = [(pair, surely_longer(seen, [pair])) for pair in pairs]
            if not pairs:
                judged.abstained[row["where"]] = ARTEFACT.cannot_tell("no-padded-control")
            slower += [(*pair, factors[0]) for pair, factors in longer if factors]
    if slower:
        judged.findings.append(_finding(slower))
    return judged.rest_is_clean(row["where"] for row in rows)


def _finding(slower: list[tuple[Row, Row, float]]) -> Finding:
    row, control, factor = max(
        slower, key=lambda each: (each[2], -(number_of(each[0], APART) or 0))
    )
    words = {
        **columns(row, SEVERAL, FETCHED, APART),
        "padded": number_of(control, APART),
        "longer": factor,
    }
    points = list({each["where"]: each for each, _, _ in slower}.values())
    return ARTEFACT.finding(points, words, factor=strongest([factor]))
