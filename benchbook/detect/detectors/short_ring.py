"""short-ring: frames found no room in the ring of the end that they came to, and were sent again.

Decided by the frames that the kernel dropped in front of an end's ring; the network lost none of
these. Each is sent again after a time-out, so that a rate or a time shows the ring, not the link.
"""

from __future__ import annotations

from benchbook.detect import Judged, Row, Seen, artefact
from benchbook.detect.inputs.comparisons import surely_longer, twins
from benchbook.detect.inputs.timed_work import columns, number_of, strongest
from benchbook.findings import Finding

DROPPED, RESENT, ROOM = "frames_dropped", "frames_resent", "ring_frames"
LEAST_SHARE = 0.01  # of the messages: on a busy machine an end may be late once
# What two points have in common that differ in their ring only.
SAME = (
    *("payload_bytes", "bytes_per_call", "link_bits_per_s", "lost_per_million", "spinning"),
    *("queued", "interrupting", "timed_one_way"),
)
ARTEFACT = artefact("short-ring")


def detect(seen: Seen) -> Judged:
    """One finding for all points over rings that dropped a part of the frames; abstains where their
    drops were not counted."""
    judged = Judged()
    rows = [row for row in seen.rows() if number_of(row, ROOM)]
    short = []
    for row in rows:
        dropped = number_of(row, DROPPED)
        if dropped is None:
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("not-counted")
        elif dropped > LEAST_SHARE * (number_of(row, "messages_looked_at") or 0):
            short.append(row)
    if short:
        judged.findings.append(_finding(seen, short, rows))
    return judged.rest_is_clean(row["where"] for row in rows)


def _finding(seen: Seen, short: list[Row], rows: list[Row]) -> Finding:
    row = max(short, key=lambda row: number_of(row, DROPPED) or 0.0)
    pairs = [
        (row, peer)
        for row, peer in twins(short, rows, SAME)
        if (number_of(peer, ROOM) or 0) > (number_of(row, ROOM) or 0)
    ]
    longer = surely_longer(seen, pairs)
    words = {
        **columns(row, DROPPED, RESENT, ROOM),
        "larger": sorted({number_of(peer, ROOM) or 0.0 for _, peer in pairs}) if longer else [],
        "longer": longer,
    }
    return ARTEFACT.finding(short, words, factor=strongest(longer))
