"""spin-against-block: one point asks on and on for its answer, another sleeps until it is woken.

Decided by how the ends waited. What differs in that alone shows what it makes; what differs in
something else too is no comparison of that, unless one side was measured both ways.
"""

from __future__ import annotations

from itertools import product
from typing import Any

from benchbook.detect import Judged, Seen, artefact, is_known
from benchbook.detect.inputs.comparisons import ratios
from benchbook.detect.inputs.round_trips import differ_in, round_trips, switches_each
from benchbook.detect.inputs.timed_work import number_of, strongest
from benchbook.findings import Effect, Finding

WAITING = "spinning"
# Who compares two points compares them at one size and one pace.
SAME = {"payload_bytes", "gap_ns", "open_schedule", "timed_from_intended"}
ARTEFACT = artefact("spin-against-block")
Pair = tuple[dict[str, Any], dict[str, Any]]  # spinning, asleep


def detect(seen: Seen) -> Judged:
    """One finding for points that differ in how they wait alone, one for those of which no point
    tells what it makes; abstains where how they wait is not known."""
    judged = Judged()
    rows = round_trips(seen)
    for row in rows:
        if not is_known(row.get(WAITING)):
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("not-observed")
    spinning = [row for row in rows if number_of(row, WAITING)]
    asleep = [row for row in rows if number_of(row, WAITING) == 0]
    pairs = [
        (pair, differ)
        for pair in product(spinning, asleep)
        if not SAME & (differ := differ_in(*pair))
    ]
    like = [pair for pair, differ in pairs if differ == {WAITING}]
    in_pairs = {row["where"] for pair in like for row in pair}
    unlike = [pair for pair, _ in pairs if not in_pairs & {row["where"] for row in pair}]
    for alike, is_alike in ((like, True), (unlike, False)):
        if alike:
            judged.findings.append(_finding(seen, alike, is_alike))
    return judged.rest_is_clean(row["where"] for row in rows)


def _longer(seen: Seen, pairs: list[Pair]) -> list[float]:
    """Times asleep ÷ times spinning, as far as they are beyond noise."""
    asleep_first = ratios(seen, ((asleep, spinning) for spinning, asleep in pairs))
    return sorted(ratio.estimate for ratio in asleep_first if ratio.low > 1)


def _switches(pairs: list[Pair]) -> tuple[list[float], list[float]]:
    """How often the near ends gave up their CPU, spinning and asleep; none where that was not
    accounted for all of them."""
    spun, slept = ([switches_each(row) for row in side] for side in zip(*pairs, strict=True))
    if None in (*spun, *slept):
        return [], []
    return [switches or 0.0 for switches in spun], [switches or 0.0 for switches in slept]


def _finding(seen: Seen, pairs: list[Pair], is_alike: bool) -> Finding:
    """What waiting alone makes; or, of unlike points, what is no comparison of anything else."""
    rows = {row["where"]: row for pair in pairs for row in pair}
    longer, (spun, slept) = _longer(seen, pairs), _switches(pairs)
    spinning = [row for row in rows.values() if row[WAITING]]
    asleep = [row for row in rows.values() if not row[WAITING]]
    words = {
        "is_one_pair": len(pairs) == 1,
        "pairs": len(pairs),
        "is_alike": is_alike,
        "spun": spun,
        "slept": slept,
        "longer": longer,
        "is_alike_and_same": is_alike and not longer,
        "is_unlike_and_same": not is_alike and not longer,
        "spinning": len(spinning),
        "asleep": len(asleep),
        "switches_spinning": _distinct_switches(spinning),
        "switches_asleep": _distinct_switches(asleep),
    }
    shown: Effect = "explains" if is_alike else "biases"
    # Of two unlike points, nobody knows how much of it is the waiting.
    factor = strongest(longer) if is_alike else None
    return ARTEFACT.finding(
        rows,
        words,
        effect=shown if longer else "informs",
        factor=factor,
        sides=(spinning, asleep),
    )


def _distinct_switches(rows: list[dict[str, Any]]) -> list[float]:
    each = {switches_each(row) for row in rows}
    return sorted(switches for switches in each if switches is not None)
