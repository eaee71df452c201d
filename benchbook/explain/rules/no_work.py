"""dead-code: so many bytes in so little time that nothing can have moved them.

Decided by the bytes that the tool says it moved and the time that it says that took, rounded in the
loop's favour: they contradict nothing, and no core has registers enough for such a rate.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.core.number_format import count, duration
from benchbook.core.sizes import format_bytes
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import Machine
from benchbook.explain.rules.above_ceiling import CORE_BYTES_PER_S, SYSTEM_BYTES_PER_S, above
from benchbook.explain.rules.above_link import OF_NETWORKS
from benchbook.explain.rules.dead_code import REMEDY
from benchbook.explain.units import bytes_per_s
from benchbook.findings import Finding, proof

ARTEFACT = "dead-code"
AS_SAID = 1.25  # times what bytes and time make at most: else one of the three is wrong
LIKELY = 0.85


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report with such a rate."""
    del machine
    for report in reports:
        far = [found for one in above(report, CORE_BYTES_PER_S) if (found := _moved(report, one))]
        # Of a transfer the launch alone may have been timed, or a counter of its bytes ran over.
        if far and not report.knowing("direction", *OF_NETWORKS, "streams"):
            yield _finding(max(far, key=lambda found: found[1] / found[2]), far)


def _moved(report: Report, one: Result) -> tuple[Result, float, float] | None:
    """The result, the bytes that it is of, and the longest time that its digits allow in s; None
    where something can have moved them."""
    rate, elapsed = bytes_per_s(one.value, one.unit), report.column(one, "elapsed_s")
    if rate is None or not is_number(elapsed) or elapsed < 0:
        return None  # without a time of its own the figure may be the one that is wrong
    threads = (report.column(one, "threads") or 0) * (report.column(one, "processes") or 1)
    most = min(SYSTEM_BYTES_PER_S, threads * CORE_BYTES_PER_S or SYSTEM_BYTES_PER_S)
    if rate <= most:
        return None
    moved = one.of.get("bytes_moved")
    if not moved:
        arrays = report.column(one, "arrays_moved"), report.column(one, "array_bytes")
        moved = arrays[0] * arrays[1] if all(map(is_number, arrays)) else 0
    error = report.column(one, "elapsed_error_s") or 0.0
    longest, shortest = elapsed + error, elapsed - error
    if not is_number(moved) or longest <= 0 or moved / longest <= most:
        return None
    return (one, moved, longest) if rate * shortest <= AS_SAID * moved else None


def _finding(
    worst: tuple[Result, float, float], every: list[tuple[Result, float, float]]
) -> Finding:
    one, moved, longest = worst
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=[other.where for other, *_ in every],
        confidence=LIKELY,
        evidence=[
            proof("bytes", moved, "B", f"line {one.line}"),
            proof("longest time", longest, "s", f"line {one.line}"),
        ],
        explanation=(
            f"{one.name} in line {one.line} is said to have moved {format_bytes(int(moved))} in "
            f"{duration(longest * 1e9)} at most, {count(moved / longest / 1e9)} GB/s: nothing has "
            "moved them. The compiler removed the work, as it does where nobody uses its result, "
            "and what was timed is an empty loop."
        ),
        remedy=REMEDY,
    )
