"""shallow-queue: a link that is said to have a rate lets each single frame pass at once.

Decided by the time of a round trip against the size of its datagrams: a link of a rate takes each
frame in and gives it on bit by bit, so that every byte costs its wire time there and back. What
only limits the mean rate, as a token bucket does, adds no such slope.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchbook.core.number_format import interval, number
from benchbook.detect import Judged, Row, Seen, artefact
from benchbook.detect.inputs.round_trips import by_block, groups, over_blocks, round_trips
from benchbook.detect.inputs.timed_work import number_of, strongest
from benchbook.findings import Finding, proof
from benchbook.stats.intervals import Interval

BITS = 8
LEAST_FRAME_BYTES = 84  # on a wire, with preamble and gap
OVERHEAD_BYTES = 66  # of a datagram on a wire: UDP, IP, Ethernet, preamble and gap
LEAST_SHARE = 0.75  # of the slope that a link would have
ARTEFACT = artefact("shallow-queue")


@dataclass(frozen=True)
class _Slope:
    """Points that differ in size only; ns per byte of payload."""

    rows: list[dict[str, Any]]
    seen: Interval
    of_link: float

    @property
    def factor(self) -> float:
        """Rate ÷ what it would be over a link, at the largest size, where most is missing."""
        row = self.rows[-1]
        missing = (self.of_link - self.seen.estimate) * _wire_bytes(row)
        return 1 + missing / float(row["time_ns"])


def detect(seen: Seen) -> Judged:
    """One finding for all points over links whose wire time is not in the round trips; abstains
    where one size only was measured, or noise hides the slope."""
    judged = Judged()
    rows = [row for row in round_trips(seen) if _concerns(row)]
    shallow = []
    for group in groups(rows, "payload_bytes"):
        where = [row["where"] for row in group]
        of_link = _slope_of_link(group[0])
        slope = _slope(seen, group)
        if len({_wire_bytes(row) for row in group}) < 2:
            why = ARTEFACT.cannot_tell("one-size")
            judged.abstained |= dict.fromkeys(where, why)
        elif slope is None:
            judged.abstained |= dict.fromkeys(where, ARTEFACT.cannot_tell("too-few-blocks"))
        elif slope.high < LEAST_SHARE * of_link:
            shallow.append(_Slope(group, slope, of_link))
        elif slope.low < LEAST_SHARE * of_link:
            judged.abstained |= dict.fromkeys(where, ARTEFACT.cannot_tell("too-noisy"))
    if shallow:
        judged.findings.append(_finding(shallow))
    return judged.rest_is_clean(row["where"] for row in rows)


def _concerns(row: Row) -> bool:
    """It has a link of some rate, and round trips one after the other."""
    has_link = (number_of(row, "link_bits_per_s") or 0) > 0 and number_of(
        row, "payload_bytes"
    ) is not None
    return has_link and not number_of(row, "open_schedule")


def _slope_of_link(row: Row) -> float:
    """There and back through each switch that is emulated, or through the one link; ns per byte."""
    links = max(1.0, number_of(row, "emulated_switches") or 0)
    return 2 * links * BITS * 1e9 / float(row["link_bits_per_s"])


def _wire_bytes(row: Row) -> float:
    return max(float(row["payload_bytes"]) + OVERHEAD_BYTES, LEAST_FRAME_BYTES)


def _slope(seen: Seen, rows: list[dict[str, Any]]) -> Interval | None:
    """Of the median times of each block that has all sizes, by least squares."""
    times = [by_block(seen, row["where"]) for row in rows]
    blocks = sorted(set.intersection(*(set(time) for time in times)))
    sizes = np.array([_wire_bytes(row) for row in rows])
    sizes -= sizes.mean()
    square = float(sizes @ sizes)
    if not square:
        return None
    return over_blocks(
        float(sizes @ np.array([time[block] for time in times])) / square for block in blocks
    )


def _finding(groups: list[_Slope]) -> Finding:
    rows = [row for group in groups for row in group.rows]
    groups = sorted(groups, key=lambda group: (group.of_link, group.seen.estimate))
    words = {
        "sizes": [row["payload_bytes"] for row in rows],
        "slopes": [_per_byte(group.seen) for group in groups],
        "rates": [row["link_bits_per_s"] / 1e6 for row in rows],
        "of_link": [group.of_link for group in groups],
    }
    evidence = [
        row
        for group in groups
        for row in (
            proof("link_bits_per_s", group.rows[0]["link_bits_per_s"], "bit/s", "definition"),
            proof("slope of the link", group.of_link, "ns/byte", "arithmetic"),
            proof("slope seen", group.seen.estimate, "ns/byte", "paired blocks"),
        )
    ]
    factor = strongest(group.factor for group in groups)
    return ARTEFACT.finding(rows, words, evidence=evidence, factor=factor)


def _per_byte(slope: Interval) -> str:
    return f"{number(slope.estimate)} ({interval(slope.low, slope.high)})"
