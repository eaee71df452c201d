"""wake-up: who sleeps while it waits is woken late, the later the longer the core was idle.

Decided by time against the gap between round trips, of ends that give up their CPU: what a round
trip grows by there, and does not where the ends spin at the same gaps. An idle core is slow for
other reasons too (caches, clock), and these the spinning twin has as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchbook.detect import Judged, Row, Seen, artefact, is_known
from benchbook.detect.inputs.round_trips import (
    by_block,
    groups,
    like,
    over_blocks,
    round_trips,
    switches_each,
)
from benchbook.detect.inputs.timed_work import number_of, strongest
from benchbook.findings import Finding, proof
from benchbook.stats.intervals import Interval

LEAST_SHARE = 0.05  # of a round trip, that waking adds
WAITED = 0.05  # of a start's time, from which on its CPU was not its own
SLEEPS = 0.5  # times that the CPU is given up in a round trip, from which on its ends sleep
ARTEFACT = artefact("wake-up")


@dataclass(frozen=True)
class _Grown:
    """A point after a gap, the one of its kind with the least gap, and what it takes more; ns.

    spinning: what the same with spinning ends takes more, over the blocks that both have; None
    where no such point was measured. added: what only the sleeping ends take more.
    """

    row: dict[str, Any]
    base: dict[str, Any]
    spinning: Interval | None
    added: Interval

    @property
    def share(self) -> float:
        return self.added.estimate / float(self.row["time_ns"])


def detect(seen: Seen) -> Judged:
    """One finding for points that take longer after a gap than spinning explains, one for those of
    which no spinning twin tells; abstains where there is one gap only, or noise hides it."""
    judged = Judged()
    rows = [row for row in round_trips(seen) if _concerns(row)]
    slower: list[_Grown] = []
    for row in rows:
        if not is_known(row.get("spinning")):
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("not-observed")
    asleep = [row for row in rows if number_of(row, "spinning") == 0]
    for group in groups(asleep, "gap_ns"):
        base = group[0]
        later = [row for row in group if row["gap_ns"] > base["gap_ns"]]
        if not later:
            why = ARTEFACT.cannot_tell("one-gap")
            judged.abstained |= {row["where"]: why for row in group}
        for row in filter(_sleeps, later):
            grown = _grown(seen, row, base, rows)
            if grown is None:
                judged.abstained[row["where"]] = ARTEFACT.cannot_tell("too-few-blocks")
            elif grown.added.low > 0 and grown.share >= LEAST_SHARE:
                slower.append(grown)
            elif grown.added.high >= LEAST_SHARE * row["time_ns"]:
                judged.abstained[row["where"]] = ARTEFACT.cannot_tell("too-noisy")
    for own in (
        [grown for grown in slower if grown.spinning],
        [grown for grown in slower if not grown.spinning],
    ):
        if own:
            judged.findings.append(_finding(own))
    return judged.rest_is_clean(row["where"] for row in rows)


def _concerns(row: Row) -> bool:
    """What is sent by a schedule has no gap between round trips."""
    return is_known(row.get("gap_ns")) and not number_of(row, "open_schedule")


def _sleeps(row: Row) -> bool:
    """As far as that was accounted: an answer may be there before its end falls asleep."""
    switches = switches_each(row)
    return switches is None or switches >= SLEEPS


def _grown(
    seen: Seen, row: dict[str, Any], base: dict[str, Any], rows: list[dict[str, Any]]
) -> _Grown | None:
    own = _growth(seen, row, base)
    twins = [like(point, rows, "spinning") for point in (row, base)]
    if not all(twins):
        added = over_blocks(own.values())
        return added and _Grown(row, base, None, added)
    spinning = _growth(seen, twins[0][0], twins[1][0])
    both = sorted(own.keys() & spinning.keys())
    added = over_blocks(own[block] - spinning[block] for block in both)
    beside = over_blocks(spinning[block] for block in both)
    return _Grown(row, base, beside, added) if added and beside else None


def _growth(seen: Seen, row: Row, base: Row) -> dict[int, float]:
    """Block -> what a round trip takes more than one of the least gap."""
    times, before = (_undisturbed(seen, point) for point in (row, base))
    return {block: times[block] - before[block] for block in times.keys() & before.keys()}


def _undisturbed(seen: Seen, row: Row) -> dict[int, float]:
    """Block -> median time, without starts that waited for a CPU: its core was not idle."""
    starts = seen.starts_of(row["where"])
    times = by_block(seen, row["where"])
    if not {"run_delay_ns", "wall_ns"} <= set(starts.columns):
        return times
    waited = starts[starts["run_delay_ns"] > WAITED * starts["wall_ns"]]
    return {block: time for block, time in times.items() if block not in set(waited["block"])}


def _finding(points: list[_Grown]) -> Finding:
    bases = {grown.base["where"]: grown.base for grown in points}
    base_gaps = [float(base["gap_ns"]) for base in bases.values()]
    is_confirmed = points[0].spinning is not None
    words = {
        "gaps": [grown.row["gap_ns"] for grown in points],
        "took": [grown.row["time_ns"] for grown in points],
        "base_took": [base["time_ns"] for base in bases.values()],
        "base_gaps": base_gaps if max(base_gaps) > 0 else None,
        "spinning": [max(0.0, grown.spinning.estimate) for grown in points if grown.spinning],
        "added": [grown.added.estimate for grown in points],
    }
    factors = (1 - grown.share for grown in points if grown.share < 1)
    return ARTEFACT.finding(
        [grown.row for grown in points],
        words,
        "confirmed" if is_confirmed else "without-spinning-twin",
        evidence=[row for grown in points for row in _evidence(grown)],
        factor=strongest(factors) if is_confirmed else None,
    )


def _evidence(grown: _Grown) -> list[dict[str, Any]]:
    switches = switches_each(grown.row)
    rows = [
        proof("gap_ns", grown.row["gap_ns"], "ns", "definition of the point"),
        proof("time_ns", float(grown.row["time_ns"]), "ns", "samples"),
        proof("added by waking", grown.added.estimate, "ns", "paired blocks"),
    ]
    if grown.spinning:
        rows.append(proof("added where ends spin", grown.spinning.estimate, "ns", "paired blocks"))
    if switches is not None:
        rows.append(proof("voluntary switches in a round trip", switches, "1", "operating system"))
    return rows
