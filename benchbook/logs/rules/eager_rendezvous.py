"""eager-rendezvous: a time or a rate jumps where MPI takes another protocol for larger messages.

Decided by the sweep over sizes: within one protocol a message of twice the size takes at most twice
as long, and no less, and each doubling adds twice what the one before it added.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from benchbook.artefacts import Finding, proof
from benchbook.digits import number
from benchbook.importers import Report, Result
from benchbook.logs.rules import Machine
from benchbook.logs.units import bytes_per_s, in_base
from benchbook.sizes import format_bytes

ARTEFACT = "eager-rendezvous"
LEAST_BYTES, MOST_BYTES = 512, 512 * 1024  # thresholds lie there; beyond, caches make steps too
TIMES = 1.8  # longer than a message of half the size
EXCESS = 0.5  # of the time before, above what the last doubling lets expect
STAYS = 0.95  # of it, at the next size; of one of a quarter of the size
SHORTER = 0.7  # than a message of half the size
FALLS = 0.9  # of a rate, from one size to its double
CONFIDENCE = 0.85
REMEDY = (
    "Do not draw one line through sizes on both sides of it. Measure once more with the threshold "
    "moved (UCX_RNDV_THRESH, MPIR_CVAR_CH4_…_EAGER_…, btl_…_eager_limit, I_MPI_EAGER_THRESHOLD): "
    "the jump moves with it."
)


_SLOWER = (
    "above the threshold the sender first asks whether the receiver has a buffer (rendezvous) "
    "instead of sending at once (eager)"
)
_FASTER = (
    "above the threshold it takes another way, which would have been the faster one for smaller "
    "messages too"
)


class _Jump(NamedTuple):
    before: Result
    after: Result
    times: float  # as long, for a message of twice the size


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each sweep between two processes that has such a jump."""
    del machine
    for report in reports:
        if report.facts.get("pattern") != "point to point":
            continue
        jumps = [jump for sweep in _sweeps(report) for jump in _jumps(sweep)]
        if jumps:
            yield _finding(max(jumps, key=lambda one: (one.times > 1, abs(one.times - 1))))


def _sweeps(report: Report) -> Iterator[list[Result]]:
    """Means by the size of the message, ascending."""
    by_name: dict[str, dict[int, Result]] = {}
    for one in report.being("mean"):
        size = one.of.get("message_bytes")
        timed = in_base(1.0, one.unit)[1] == "ns" or bytes_per_s(1.0, one.unit) is not None
        if size and timed and one.value > 0:
            by_name.setdefault(one.name, {}).setdefault(size, one)
    timed_ones = {name: own for name, own in by_name.items() if _is_time(own)}
    for own in (timed_ones or by_name).values():
        yield [own[size] for size in sorted(own)]


def _is_time(own: dict[int, Result]) -> bool:
    """Whether it is measured, and not computed of times that stand beside it."""
    return all(bytes_per_s(1.0, one.unit) is None for one in own.values())


def _time(one: Result) -> float:
    """In any unit that is the same for all of a sweep."""
    rate = bytes_per_s(one.value, one.unit)
    return one.value if rate is None else float(one.of["message_bytes"]) / rate


def _jumps(sweep: list[Result]) -> Iterator[_Jump]:
    for index in range(1, len(sweep) - 1):
        before, after, beyond = sweep[index], sweep[index + 1], sweep[index + 2 : index + 3]
        size = after.of["message_bytes"]
        if size != 2 * before.of["message_bytes"] or not LEAST_BYTES <= size <= MOST_BYTES:
            continue
        last, now, then = _time(sweep[index - 1]), _time(before), _time(after)
        halved = before.of["message_bytes"] == 2 * sweep[index - 1].of["message_bytes"]
        expected = now + 2 * (now - last) if halved and now >= last else 2 * now
        stays = not beyond or _time(beyond[0]) >= STAYS * then
        is_rate = bytes_per_s(1.0, after.unit) is not None
        jumps = after.value < FALLS * before.value if is_rate else then >= TIMES * now
        rises = (
            now > 0
            and stays
            and jumps
            and then - min(expected, 2 * now) >= (0 if is_rate else EXCESS) * now
        )
        falls = halved and 0 < then < min(STAYS * last, SHORTER * now)
        if rises or (falls and all(_time(one) < 2 * now for one in beyond)):
            yield _Jump(before, after, then / now)


def _finding(jump: _Jump) -> Finding:
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
            f"twice the size takes {number(times)} times as long. So MPI changes its protocol "
            f"there: {_SLOWER if times > 1 else _FASTER}."
        ),
        remedy=REMEDY,
    )
