"""spin-against-block: one point asks on and on for its answer, another sleeps until it is woken.

Decided by how the ends waited. What differs in that alone shows what it makes; what differs in
something else too is no comparison of that, unless one side was measured both ways.
"""

from __future__ import annotations

from itertools import product
from typing import Any

from benchbook.detect import Judged, Seen, is_known
from benchbook.detect.inputs.round_trips import differ_in, round_trips, switches_each
from benchbook.detect.inputs.timed_work import number_of, span, strongest, times
from benchbook.findings import Artefact, Effect, Finding, proof
from benchbook.stats.ratios import Ratio, time_ratio

WAITING = "spinning"
# Who compares two points compares them at one size and one pace.
SAME = {"payload_bytes", "gap_ns", "open_schedule", "timed_from_intended"}
CERTAIN = 1.0
ARTEFACT = Artefact(
    "spin-against-block",
    "Compare like with like: measure both sides spinning and both asleep, and say of each figure "
    "how it waited and how many CPUs that kept busy.",
)
Pair = tuple[dict[str, Any], dict[str, Any]]  # spinning, asleep


def detect(seen: Seen) -> Judged:
    """One finding for points that differ in how they wait alone, one for those of which no point
    tells what it makes; abstains where how they wait is not known."""
    judged = Judged()
    rows = round_trips(seen)
    for row in rows:
        if not is_known(row.get(WAITING)):
            judged.abstained[row["where"]] = "how its ends waited was not observed"
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
    if like:
        judged.findings.append(_explains(seen, like))
    if unlike:
        judged.findings.append(_warns(seen, unlike))
    return judged.rest_is_clean(row["where"] for row in rows)


def _ratios(seen: Seen, pairs: list[Pair]) -> list[Ratio]:
    """Times asleep ÷ times spinning, as far as they are beyond noise."""
    ratios = [
        time_ratio(seen.starts, asleep["where"], spinning["where"]) for spinning, asleep in pairs
    ]
    return [ratio for ratio in ratios if ratio and ratio.low > 1]


def _explains(seen: Seen, pairs: list[Pair]) -> Finding:
    """What waiting alone makes."""
    ratios = _ratios(seen, pairs)
    text = f"{_differ(pairs)} in nothing but how the ends wait{_switches(pairs)}. "
    if ratios:
        longer = span([ratio.estimate for ratio in ratios], times)
        text += (
            f"Asleep, a round trip takes {longer} times as long as spinning: so much of any "
            "difference between a point that spins and one that sleeps is the waiting, whatever "
            "else they differ in."
        )
    else:
        text += "This run shows no difference between them beyond its noise."
    return _finding("explains" if ratios else "informs", pairs, ratios, text)


def _warns(seen: Seen, pairs: list[Pair]) -> Finding:
    """What is no comparison, unless it is of waiting."""
    ratios = _ratios(seen, pairs)
    text = f"{_differ(pairs)} in how the ends wait{_switches(pairs)} and in something else too. "
    if ratios:
        longer = span([ratio.estimate for ratio in ratios], times)
        text += f"Those asleep take {longer} times as long, and "
    else:
        text += "This run shows no difference between them beyond its noise, but "
    text += "no point of either side was measured both ways, so what the waiting makes is unknown."
    return _finding("biases" if ratios else "informs", pairs, ratios, text)


def _differ(pairs: list[Pair]) -> str:
    return "Two points differ" if len(pairs) == 1 else f"{len(pairs)} pairs of points differ"


def _switches(pairs: list[Pair]) -> str:
    """How often the near ends slept, in words; empty where that was not accounted."""
    sides = [[switches_each(row) for row in side] for side in zip(*pairs, strict=True)]
    if any(None in side for side in sides):
        return ""
    spun, slept = (span([switches or 0.0 for switches in side], _few) for side in sides)
    return f" (giving up their CPU {spun} times in a round trip, or {slept} times)"


def _few(value: float) -> str:
    return f"{value:.1f}"


def _finding(effect: Effect, pairs: list[Pair], ratios: list[Ratio], text: str) -> Finding:
    rows = {row["where"]: row for pair in pairs for row in pair}
    longer = [ratio.estimate for ratio in ratios]
    counted = [(row[WAITING], switches_each(row)) for row in rows.values()]
    return ARTEFACT.finding(
        effect=effect,
        where=sorted(rows),
        confidence=CERTAIN,
        # Of two unlike points, nobody knows how much of it is the waiting.
        factor=strongest(longer) if effect == "explains" else None,
        evidence=[
            *(
                proof(name, value, "1", "kernel")
                for name, value in (
                    ("points that spin", sum(1 for spins, _ in counted if spins)),
                    ("points that sleep", sum(1 for spins, _ in counted if not spins)),
                )
            ),
            *(
                proof(
                    f"voluntary switches in a round trip, {how}", switches, "1", "operating system"
                )
                for spins, how in ((1, "spinning"), (0, "asleep"))
                for switches in sorted(
                    {switches for own, switches in counted if own == spins and switches is not None}
                )
            ),
            *(
                proof("time asleep ÷ spinning", ratio, "1", "paired blocks")
                for ratio in sorted(longer)
            ),
        ],
        explanation=text,
    )
