"""wall-clock-step: the clock that timed a tool's samples was set while it ran.

Decided by the tool's own word that its clock went back, or by an exchange that took less than no
time.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.artefacts import Finding, proof
from benchbook.digits import duration, plural
from benchbook.importers import Report, Result
from benchbook.logs.latencies import NAMES
from benchbook.logs.rules import Machine
from benchbook.logs.units import in_base

ARTEFACT = "wall-clock-step"
CERTAIN = 1.0
WRAP_NS = 2**32 * 1e3  # 71 minutes
LONGEST_NS = 10e9  # a step of the clock that looks so


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report whose clock was seen to go back."""
    del machine
    for report in reports:
        negative = [
            one
            for (name, statistic, unit), several in report.groups.items()
            if name in NAMES and statistic in ("sample", "min", "max")
            for one in _below_none(several, unit)
        ]
        step_ns, line = report.facts.get("clock_step_ns"), report.facts.get("clock_step_line")
        where = [one.where for one in negative]
        if step_ns:
            yield _finding(
                [f"line {line}: clock", *where],
                f"the tool says so itself: by {duration(step_ns)} (line {line})",
                proof("clock_step_ns", step_ns, "ns", f"line {line}"),
            )
        elif negative:
            first = negative[0]
            wraps = (
                f", which is {duration(_short_ns(first))} below 2^32 us" if first.value > 0 else ""
            )
            yield _finding(
                where,
                f"{plural(len(negative), 'exchange')} took less than no time, as "
                f"{first.value:,.10g} {first.unit} in line {first.line}{wraps}",
                proof(first.name, first.value, first.unit, f"line {first.line}"),
            )


def _short_ns(one: Result) -> float:
    """How much it is below the last number that a clock of microseconds has in 32 bits."""
    return WRAP_NS - in_base(one.value, one.unit)[0]


def _below_none(several: list[Result], unit: str) -> list[Result]:
    """Those below 0, and those of which a difference below 0 was printed as the number above."""
    size, base = in_base(1.0, unit)
    if base != "ns":
        return []
    least, most = (WRAP_NS - LONGEST_NS) / size, WRAP_NS / size
    return [one for one in several if one.value < 0 or least <= one.value <= most]


def _finding(where: list[str], seen: str, evidence: dict[str, object]) -> Finding:
    # Not above: what detectors stand on takes longer to load than a log to read.
    from benchbook.artefacts.wall_clock_step import REMEDY

    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=where,
        confidence=CERTAIN,
        evidence=[evidence],
        explanation=(
            f"The clock that timed these exchanges went back while they ran: {seen}. Those around "
            "it are wrong by that much, and so are minimum, mean and deviation of all."
        ),
        remedy=REMEDY,
    )
