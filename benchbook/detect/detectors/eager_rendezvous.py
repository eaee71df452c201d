"""eager-rendezvous: from some size on, a message is asked for before it is sent.

Decided by whether a message left while its receiver waited for something else; where a sweep with
another threshold stands beside, the change has to have moved with it. Times tell what it costs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchbook.core.sizes import format_bytes
from benchbook.detect import Judged, Row, Seen, artefact
from benchbook.detect.inputs.messages import ENVIRONMENT, SIZE, WINDOW, bytes_of, groups, messages
from benchbook.detect.inputs.timed_work import number_of, strongest
from benchbook.findings import Finding
from benchbook.stats.ratios import Ratio, time_ratio

EARLY = "sent_before_received"
ARTEFACT = artefact("eager-rendezvous")


@dataclass(frozen=True)
class Change:
    """In one sweep: the largest size that was sent ahead, the smallest that was asked for."""

    ahead: Row
    asked: Row
    ratio: Ratio | None  # of times, for each byte


def detect(seen: Seen) -> Judged:
    """One finding for all sweeps that change their protocol; abstains where it was not observed,
    and where sizes go to and fro."""
    judged = Judged()
    rows = []
    for row in messages(seen):
        if number_of(row, EARLY) is None:
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("not-observed")
        else:
            rows.append(row)
    changes: list[Change] = []
    moved: list[list[Change]] = []
    for family in groups(rows, but=[ENVIRONMENT]):
        own = []
        for sweep in groups(family):
            if not _is_ordered(sweep):
                why = ARTEFACT.cannot_tell("to-and-fro")
                judged.abstained |= {row["where"]: why for row in sweep}
            elif (change := _change(seen, sweep)) is not None:
                own.append(change)
        changes += own
        if len({float(switch.asked[SIZE]) for switch in own}) > 1:
            moved.append(own)
    if changes:
        judged.findings.append(_finding(changes, moved))
    return judged.rest_is_clean(row["where"] for row in rows)


def _is_ahead(row: Row) -> bool:
    return float(row[EARLY]) >= 0.5


def _is_ordered(sweep: list[dict[str, Any]]) -> bool:
    """Once a size is asked for, all larger ones are."""
    ahead = [_is_ahead(row) for row in sweep]
    return ahead == sorted(ahead, reverse=True)


def _change(seen: Seen, sweep: list[dict[str, Any]]) -> Change | None:
    ahead = [row for row in sweep if _is_ahead(row)]
    rendezvous = [row for row in sweep if not _is_ahead(row)]
    if not ahead or not rendezvous:
        return None
    last, first = ahead[-1], rendezvous[0]
    ratio = time_ratio(seen.starts, first["where"], last["where"])
    longer = bytes_of(first) / bytes_of(last) if bytes_of(last) else None
    each = ratio.scaled(1 / longer) if ratio and longer else None
    return Change(last, first, each)


def _finding(changes: list[Change], moved: list[list[Change]]) -> Finding:
    """A byte that takes longer in a larger message: only the change of protocol is between."""
    dips = sorted(
        change.ratio.estimate for change in changes if change.ratio and change.ratio.low > 1
    )
    first = changes[0]
    places = sorted({float(change.asked[SIZE]) for change in moved[0]}) if moved else []
    words = {
        "sweeps": len(changes),
        "ahead": [float(change.ahead[SIZE]) for change in changes],
        "asked": [float(change.asked[SIZE]) for change in changes],
        "dips": dips,
        "moved": ", ".join(format_bytes(int(size)) for size in places) or None,
        "first_ahead": float(first.ahead[SIZE]),
        "first_asked": float(first.asked[SIZE]),
        "window": number_of(first.asked, WINDOW),
    }
    return ARTEFACT.finding(
        [row for change in changes for row in (change.ahead, change.asked)],
        words,
        "with-threshold-moved" if moved else "observed",
        effect="explains" if dips else "informs",
        factor=strongest(1 / dip for dip in dips),
    )
