"""seldom-polled: a far end that is said to spin looks for messages so seldom that they wait for it.

Decided by how often the far end looked while it served, against the time of a round trip: an end
that does nothing else looks many times in each. What arrives between two looks waits for the next.
"""

from __future__ import annotations

from benchbook.detect import Judged, Row, Seen, artefact
from benchbook.detect.inputs.comparisons import surely_longer
from benchbook.detect.inputs.round_trips import differ_in, round_trips
from benchbook.detect.inputs.timed_work import columns, number_of, strongest
from benchbook.findings import Finding

POLLS, SERVING = "far_polls", "far_serving_ns"
LEAST = 0.5  # of a round trip, from which on a gap between two looks counts
ARTEFACT = artefact("seldom-polled")


def detect(seen: Seen) -> Judged:
    """One finding for all points whose far end looked less than twice in a round trip; abstains
    where its looks were counted and not the time that it served."""
    judged = Judged()
    rows = [row for row in round_trips(seen) if _concerns(row)]
    seldom = []
    for row in rows:
        share = _share(row)
        if share is None:
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("not-timed")
        elif share >= LEAST:
            seldom.append(row)
    if seldom:
        judged.findings.append(_finding(seen, seldom, rows))
    return judged.rest_is_clean(row["where"] for row in rows)


def _concerns(row: Row) -> bool:
    """Its far end polls for messages of ours; an interrupt brings others."""
    is_counted = number_of(row, POLLS) is not None
    return is_counted and bool(number_of(row, "spinning")) and not number_of(row, "interrupting")


def _gap_ns(row: Row) -> float | None:
    """The mean time between two looks of the far end."""
    polls, serving_ns = number_of(row, POLLS), number_of(row, SERVING)
    return None if not polls or serving_ns is None else serving_ns / polls


def _share(row: Row) -> float | None:
    """Gap ÷ round trip; one way is half of it."""
    gap_ns, time_ns = _gap_ns(row), number_of(row, "time_ns")
    if gap_ns is None or not time_ns:
        return None
    return gap_ns / (2 * time_ns if number_of(row, "timed_one_way") else time_ns)


def _finding(seen: Seen, seldom: list[Row], rows: list[Row]) -> Finding:
    row = max(seldom, key=lambda row: _share(row) or 0.0)
    often = [peer for peer in rows if (_share(peer) or LEAST) < LEAST]
    pairs = [(row, peer) for row in seldom for peer in often if not differ_in(row, peer)]
    longer = surely_longer(seen, pairs)
    words = {
        **columns(row, POLLS, SERVING),
        "gap_ns": _gap_ns(row),
        "share": _share(row),
        "longer": longer,
    }
    return ARTEFACT.finding(seldom, words, factor=strongest(longer))
