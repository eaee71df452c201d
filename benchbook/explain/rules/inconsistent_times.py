"""inconsistent-report: a program that ran in user and kernel for longer than it had CPUs.

perf counts the time on CPUs of all that it started; user and sys are of the same, as the kernel
tells when they end. Where perf began later or left children out, the command says so.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.core.number_format import number
from benchbook.explain.model import Report
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import Machine
from benchbook.explain.units import in_base
from benchbook.findings import Finding, proof

ARTEFACT = "inconsistent-report"
NEEDS = ("program",)
TIMES = 1.5  # as long: children and ticks of the kernel's clock make less
TICKS_NS = 50e6
CERTAIN = 0.9
PARTS = ("user time", "sys time")
REMEDY = (
    "Do not use these figures before it is known which of them is wrong: ask whoever copied or "
    "edited the log, and whether perf counted from the start on and with all children."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each such run."""
    del machine
    for report in reports:
        if "program" not in report.facts or report.facts.get("counted_in_part"):
            continue
        clocks = [one for one in report.called("task-clock") if is_number(one.value)]
        parts = [
            one
            for one in report.called(*PARTS)
            if is_number(one.value) and one.statistic != "standard error"
        ]
        if len(clocks) != 1 or len(parts) != 2 or parts[0].name == parts[1].name:
            continue
        clock = clocks[0]
        on_cpus = in_base(clock.value, clock.unit)[0]
        took = sum(in_base(one.value, one.unit)[0] for one in parts)
        if on_cpus <= 0 or took <= TIMES * on_cpus + TICKS_NS:
            continue
        shown = (*parts, clock)
        yield Finding(
            artefact=ARTEFACT,
            effect="invalidates",
            factor=took / on_cpus,
            where=[one.where for one in shown],
            confidence=CERTAIN,
            evidence=[proof(one.name, one.value, one.unit, f"line {one.line}") for one in shown],
            explanation=(
                f"User and sys time (lines {parts[0].line} and {parts[1].line}) are "
                f"{number(took / 1e9)} s, but the program was on CPUs for "
                f"{number(on_cpus / 1e9)} s (line {clock.line})."
            ),
            remedy=REMEDY,
        )
