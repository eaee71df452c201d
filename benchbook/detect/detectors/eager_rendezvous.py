"""eager-rendezvous: from some size on, a message is asked for before it is sent.

Decided by whether a message left while its receiver waited for something else; where a sweep with
another threshold stands beside, the change has to have moved with it. Times tell what it costs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchbook.core.number_format import plural
from benchbook.core.sizes import format_bytes
from benchbook.detect import Judged, Row, Seen
from benchbook.detect.inputs.messages import ENVIRONMENT, SIZE, WINDOW, bytes_of, groups, messages
from benchbook.detect.inputs.timed_work import number_of, span, strongest, times
from benchbook.findings import Artefact, Effect, Finding, proof
from benchbook.stats.ratios import Ratio, time_ratio

EARLY = "sent_before_received"
CERTAIN, LIKELY = 1.0, 0.95  # with a threshold that was moved, and without
ARTEFACT = Artefact(
    "eager-rendezvous",
    "Draw the sweep with its change of protocol marked and fit no line across it; where that size "
    "matters, move the threshold (MPICH: UCX_RNDV_THRESH; Open MPI: btl_tcp_eager_limit, "
    "btl_vader_eager_limit) and measure both.",
)


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
            judged.abstained[row["where"]] = "whether messages are sent ahead was not observed"
        else:
            rows.append(row)
    changes: list[Change] = []
    moved: list[list[Change]] = []
    for family in groups(rows, but=[ENVIRONMENT]):
        own = []
        for sweep in groups(family):
            if not _is_ordered(sweep):
                why = "messages of a smaller size are asked for, and of a larger one sent ahead"
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
    dips = [change.ratio.estimate for change in changes if change.ratio and change.ratio.low > 1]
    sizes = _sizes(changes)
    text = (
        f"In {plural(len(changes), 'sweep')} messages of up to {sizes[0]} leave before their "
        f"receiver is ready, and those from {sizes[1]} on wait until it has asked for them."
    )
    if dips:
        text += f" Right there a byte takes {span(dips, times)} times as long as just below."
    if moved:
        to = ", ".join(
            format_bytes(int(size)) for size in sorted({float(c.asked[SIZE]) for c in moved[0]})
        )
        text += f" With the threshold moved, the change moved too: it is at {to}."
    effect: Effect = "explains" if dips else "informs"
    first = changes[0]
    return ARTEFACT.finding(
        effect=effect,
        where=sorted({row["where"] for change in changes for row in (change.ahead, change.asked)}),
        confidence=CERTAIN if moved else LIKELY,
        factor=strongest(1 / dip for dip in dips),
        evidence=[
            proof("largest that is sent ahead", float(first.ahead[SIZE]), "bytes", "kernel"),
            proof("smallest that is asked for", float(first.asked[SIZE]), "bytes", "kernel"),
            proof("messages in its window", number_of(first.asked, WINDOW), "messages", "kernel"),
            *(proof("time per byte ÷ before", dip, "1", "paired blocks") for dip in sorted(dips)),
        ],
        explanation=text,
    )


def _sizes(changes: list[Change]) -> tuple[str, str]:
    """Ranges of the sizes beside the changes."""

    def write(size: float) -> str:
        return format_bytes(int(size))

    return (
        span([float(change.ahead[SIZE]) for change in changes], write),
        span([float(change.asked[SIZE]) for change in changes], write),
    )
