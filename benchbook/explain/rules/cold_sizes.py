"""warm-up: the first size of a sweep takes far longer than larger ones that came after it.

Decided by the sweep: nothing makes a small message slower than larger ones but what came first, a
connection that was opened or pages that were touched inside the timed loop.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.core.number_format import number
from benchbook.core.sizes import format_bytes
from benchbook.explain.model import Report, Result
from benchbook.explain.rules import Machine
from benchbook.explain.units import in_base
from benchbook.findings import Finding, proof

ARTEFACT = "warm-up"
NEEDS = ("pattern",)
FAR = 3.0  # times what larger ones take
LEAST_OTHERS = 4
ALIKE = 2.0  # slowest ÷ fastest of the next larger ones, behind the second
LARGEST_BYTES = 4096  # of those that it is held against
LIKELY = 0.8
REMEDY = (
    "Let the untimed rounds before each size be (osu_latency -x, N_WARMUP of IMB), more of them "
    "where the first connection is slow, or leave the first size out."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report whose sweep begins like that."""
    del machine
    for report in reports:
        # A collective may have a bad algorithm for few bytes.
        if report.facts.get("pattern") != "point to point" or "message_bytes" not in report.columns:
            continue
        for (_, statistic, unit), several in report.groups.items():
            if statistic == "mean" and in_base(1.0, unit)[1] == "ns" and _is_cold(several):
                yield _finding(several)
                break


def _is_cold(sweep: list[Result]) -> bool:
    """Whether the first one, which has the smallest size, is far above those behind it."""
    sizes = [one.of.get("message_bytes", -1) for one in sweep]
    if len(sweep) <= LEAST_OTHERS or sizes != sorted(set(sizes)):
        return False
    times = [
        one.value for one, size in zip(sweep, sizes, strict=True) if 0 <= size <= LARGEST_BYTES
    ]
    near = times[2 : 1 + LEAST_OTHERS]
    if len(near) < LEAST_OTHERS - 1 or min(near) <= 0:
        return False
    return times[0] >= FAR * max(times[1], *near) and max(near) <= ALIKE * min(near)


def _finding(sweep: list[Result]) -> Finding:
    first, later = sweep[0], sweep[2]
    sizes = [format_bytes(one.of["message_bytes"]) for one in (first, later)]
    return Finding(
        artefact=ARTEFACT,
        effect="biases",
        factor=first.value / later.value,
        where=[first.where],
        confidence=LIKELY,
        evidence=[
            proof(f"{one.name} at {size}", one.value, one.unit, f"line {one.line}")
            for one, size in zip((first, later), sizes, strict=True)
        ],
        explanation=(
            f"{first.name} at {sizes[0]}, the first size of all, is {first.value:,.6g} "
            f"{first.unit} (line {first.line}), and {later.value:,.6g} {later.unit} at {sizes[1]} "
            f"(line {later.line}): {number(first.value / later.value)} times as long for less. "
            "What had to be done once is in its figure: the first connection, the first touch of "
            "the buffers."
        ),
        remedy=REMEDY,
    )
