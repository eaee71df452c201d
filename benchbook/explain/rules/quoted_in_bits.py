"""unit-mix: somebody repeats a rate with its digits, and calls bytes bits, or bits bytes."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.core.number_format import number
from benchbook.explain.context.quoted_rates import QUOTED
from benchbook.explain.model import Report
from benchbook.explain.rules import Machine
from benchbook.explain.rules.unit_mix import REMEDY
from benchbook.explain.units import bytes_per_s
from benchbook.findings import Finding, proof

ARTEFACT = "unit-mix"
LIKELY = 0.9


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each such rate."""
    del machine
    for report in reports:
        for one in report.being(QUOTED):
            printed, line = str(one.of["quoted_from_unit"]), one.of["quoted_from_line"]
            rates = [bytes_per_s(one.value, unit) or 0.0 for unit in (one.unit, printed)]
            yield Finding(
                artefact=ARTEFACT,
                effect="invalidates",
                factor=rates[0] / rates[1] if rates[1] else None,
                where=[one.where],
                confidence=LIKELY,
                evidence=[
                    proof(one.name, one.value, one.unit, f"line {one.line}"),
                    proof(one.name, one.value, printed, f"line {line}"),
                ],
                explanation=(
                    f"Line {one.line} says {one.value:,.10g} {one.unit}, with the digits of the "
                    f"{one.value:,.10g} {printed} that {report.tool} printed for {one.name} (line "
                    f"{line}): one of them has the other's unit, and they are "
                    f"{number(max(rates) / min(rates))} times apart."
                ),
                remedy=REMEDY,
            )
