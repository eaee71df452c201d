"""socket-lifetime: a socket is opened and closed in each round trip, and the clock counts it.

Decided by the sockets that were opened against the round trips; what they cost is told where the
same round trips were also made with one socket.
"""

from __future__ import annotations

from typing import Any

from benchbook.detect import Judged, Seen, artefact
from benchbook.detect.inputs.comparisons import ratios
from benchbook.detect.inputs.round_trips import EACH, SOCKETS, like, round_trips, sockets_each
from benchbook.detect.inputs.timed_work import columns, strongest
from benchbook.findings import Finding
from benchbook.stats.ratios import Ratio

LEAST_ROUND_TRIPS = 10  # fewer do not tell a loop
ARTEFACT = artefact("socket-lifetime")


def detect(seen: Seen) -> Judged:
    """One finding for points that took longer for it, one for those of which it is not known, one
    for those that show nothing of it; abstains where sockets were not counted."""
    judged = Judged()
    rows = round_trips(seen)
    by_kind: dict[str, list[tuple[dict[str, Any], Ratio | None]]] = {}
    for row in rows:
        each = sockets_each(row)
        if each is None:
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("not-counted")
        elif row["round_trips"] < LEAST_ROUND_TRIPS:
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("too-few-round-trips")
        elif each >= EACH:
            # Against the same round trips with one socket, in the same blocks.
            twins = ratios(seen, ((row, twin) for twin in like(row, rows, SOCKETS)))
            ratio = next(iter(twins), None)
            kind = "unknown" if ratio is None else "longer" if ratio.low > 1 else "same"
            by_kind.setdefault(kind, []).append((row, ratio))
    judged.findings = [_finding(kind, points) for kind, points in sorted(by_kind.items())]
    return judged.rest_is_clean(row["where"] for row in rows)


def _finding(kind: str, points: list[tuple[dict[str, Any], Ratio | None]]) -> Finding:
    row, _ = max(points, key=lambda pair: pair[0]["sockets_opened"])
    longer = sorted(ratio.estimate for _, ratio in points if ratio)
    words = {
        **columns(row, "sockets_opened", "round_trips"),
        "is_longer": kind == "longer",
        "is_same": kind == "same",
        "is_unknown": kind == "unknown",
        "ratios": longer,
    }
    factor = strongest(1 / ratio for ratio in longer) if kind == "longer" else None
    return ARTEFACT.finding([point for point, _ in points], words, kind, factor=factor)
