"""eager-rendezvous: a time or a rate jumps where MPI takes another protocol for larger messages.

Decided by the sweep over sizes: within one protocol a message of twice the size takes at most twice
as long, and no less, and each doubling adds twice what the one before it added.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from benchbook.core.number_format import number
from benchbook.core.sizes import format_bytes
from benchbook.explain.model import Report, Result
from benchbook.explain.rules import Machine
from benchbook.explain.sweeps import Sweep
from benchbook.explain.units import bytes_per_s, in_base
from benchbook.findings import Finding, proof

ARTEFACT = "eager-rendezvous"
NEEDS = ("pattern",)
LEAST_BYTES, MOST_BYTES = 512, 512 * 1024  # thresholds lie there; beyond, caches make steps too
# Where the larger message is the faster one, no cache made the step.
MOST_FASTER = 16 * 1024 * 1024
COLLECTIVE = "collective"
FAR = 4.0  # for a collective, whose algorithms change with the size by less than that
TIMES = 1.8  # longer than a message of half the size
EXCESS = 0.5  # of the time before, above what the last doubling lets expect
STAYS = 0.95  # of it, at the next size
LATER = 0.5  # of it, at any larger size: no protocol is dearer for the smaller message
FALLS = 0.9  # of a rate, from one size to its double
SHORTER = 0.75  # than a message of half the size, where the other protocol is the faster one
LEAST = 0.1  # of it: what takes ten times as long waits for something else
LESS, FITS = 0.6, 0.05  # of what a doubling should add; how far off the others may be
GROWS = 1.5  # from one size to the next, where the bytes make most of the time
OFF = 0.1  # of a time, from what the doublings before it let expect: more is an outlier
DOUBLES = 2.2  # at most, from one size to the next
CONFIDENCE = 0.85
REMEDY = (
    "Do not draw one line through sizes on both sides of it. Measure once more with the threshold "
    "moved (UCX_RNDV_THRESH, MPIR_CVAR_CH4_…_EAGER_…, btl_…_eager_limit, I_MPI_EAGER_THRESHOLD): "
    "the jump moves with it."
)
SLOWER = (
    "changes its protocol there: above the threshold the sender first asks whether the receiver "
    "has a buffer (rendezvous) instead of sending at once (eager)"
)
FASTER = (
    "changes its protocol there, and the one above the threshold would have been the faster one "
    "for smaller messages too"
)
ALGORITHM = (
    "takes another algorithm there, or another protocol between its processes (rendezvous instead "
    "of eager), and a bad one for this size"
)


class _Jump(NamedTuple):
    before: Result
    after: Result
    times: float  # as long, for a message of twice the size


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each sweep between two processes that has such a jump."""
    del machine
    for report in reports:
        pattern = report.facts.get("pattern")
        if pattern not in ("point to point", COLLECTIVE) or _has_none(report):
            continue
        jumps = [jump for sweep in report.sweeps for jump in _jumps(sweep)]
        if pattern == COLLECTIVE:
            jumps = [jump for jump in jumps if jump.times >= FAR]
        if jumps:
            worst = max(jumps, key=lambda one: (one.times >= TIMES, abs(one.times - 1)))
            slower = ALGORITHM if pattern == COLLECTIVE else SLOWER
            yield _finding(worst, slower if worst.times >= TIMES else FASTER)


def _has_none(report: Report) -> bool:
    """Whether a message took no time: then its clock makes steps, too."""
    return any(
        one.value == 0 and bool(one.of.get("message_bytes"))
        for one in report.being("mean")
        if in_base(1.0, one.unit)[1] == "ns"
    )


def _jumps(sweep: Sweep) -> Iterator[_Jump]:
    times, sizes = sweep.times, sweep.sizes
    for index in range(1, len(sweep) - 1):
        size = sizes[index + 1]
        if size != 2 * sizes[index] or not LEAST_BYTES <= size <= MOST_FASTER:
            continue
        last, now, then = times[index - 1 : index + 2]
        if now <= 0 or then < LEAST * now:
            continue
        around = slice(index - 2, index + 4) if index >= 2 else slice(0)
        if (
            (then >= TIMES * now and size <= MOST_BYTES and _becomes_slower(sweep, times, index))
            or (then <= SHORTER * now and _becomes_faster(sizes[around][:5], times[around][:5]))
            or (then <= LESS * (3 * now - 2 * last) and _adds_less(sizes[around], times[around]))
        ):
            yield _Jump(sweep[index], sweep[index + 1], then / now)


def _becomes_slower(sweep: Sweep, times: list[float], index: int) -> bool:
    """Whether the size behind this one takes more than twice the bytes let expect, and larger ones
    take no less."""
    before, after = sweep[index : index + 2]
    last, now, then = times[index - 1 : index + 2]
    halved = before.of["message_bytes"] == 2 * sweep[index - 1].of["message_bytes"]
    expected = now + 2 * (now - last) if halved and now >= last else 2 * now
    stays = index + 2 == len(times) or times[index + 2] >= STAYS * then
    is_rate = bytes_per_s(1.0, after.unit) is not None
    jumps = not is_rate or after.value < FALLS * before.value
    least = 0 if is_rate else EXCESS * now
    enough = then - min(expected, 2 * now) >= least
    return stays and jumps and enough and min(times[index + 1 :]) >= LATER * then


def _becomes_faster(sizes: list[int], times: list[float]) -> bool:
    """Whether the last but one of five sizes takes far less time than the one before it, which was
    no outlier, as the one before that was none, and the last goes on from there."""
    if len(sizes) < 5 or any(after != 2 * before for before, after in pairwise(sizes)):
        return False
    first, last, now, then, beyond = times
    usual = now <= (1 + OFF) * last + 2 * max(last - first, 0.0) and last <= DOUBLES * first
    return (
        usual
        and LEAST * now <= then <= SHORTER * now
        and then > 0
        and STAYS * then <= beyond <= DOUBLES * then
    )


def _adds_less(sizes: list[int], times: list[float]) -> bool:
    """Whether in the middle of six sizes twice the bytes add far less than before, while on either
    side each doubling adds twice what the one before it added."""
    if len(sizes) < 6 or any(after != 2 * before for before, after in pairwise(sizes)):
        return False
    made = [now + 2 * (now - last) for last, now in pairwise(times[:-1])]  # of the third one on
    fits = [abs(time - one) <= FITS * time for time, one in zip(times[2:], made, strict=True)]
    then, beyond = times[3], times[4]
    return fits[0] and fits[3] and then <= LESS * made[1] and beyond >= GROWS * then


def _finding(jump: _Jump, why: str) -> Finding:
    before, after, times = jump
    sizes = [format_bytes(one.of["message_bytes"]) for one in (before, after)]
    return Finding(
        artefact=ARTEFACT,
        effect="explains",
        where=[before.where, after.where],
        confidence=CONFIDENCE,
        evidence=[
            proof(f"{one.name} at {size}", one.value, one.unit, f"line {one.line}")
            for one, size in zip((before, after), sizes, strict=True)
        ],
        explanation=(
            f"From {sizes[0]} to {sizes[1]} {after.name} goes from {before.value:,.6g} to "
            f"{after.value:,.6g} {after.unit} (lines {before.line} and {after.line}): a message of "
            f"twice the size takes {number(times)} times as long. So MPI {why}."
        ),
        remedy=REMEDY,
    )
