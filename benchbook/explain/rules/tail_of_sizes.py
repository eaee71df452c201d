"""heavy-tail: means of messages of some sizes that a few long ones make.

Decided by the quantiles that stand beside them: a mean beyond the time that nine of ten stay below.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.core.number_format import number, plural
from benchbook.core.sizes import format_bytes
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import Machine
from benchbook.explain.units import in_base
from benchbook.findings import Finding, proof

ARTEFACT = "heavy-tail"
BEYOND = 2.0  # mean ÷ p90
SURE = 0.95
REMEDY = (
    "Give the median and the quantiles instead of the mean, and look for what delays the few: "
    "another program on the core, a lost packet, memory that is registered anew."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report with such sizes."""
    del machine
    for report in reports:
        if "message_bytes" not in report.columns or not report.being("p90"):
            continue
        beside = {(one.name, one.line): one for one in report.being("p90") if _is_time(one)}
        far = [
            (one, quantile)
            for one in report.being("mean")
            if (quantile := beside.get((one.name, one.line)))
            and one.value >= BEYOND * quantile.value > 0
        ]
        if far:
            yield _finding(far)


def _is_time(one: Result) -> bool:
    return in_base(1.0, one.unit)[1] == "ns" and is_number(one.value)


def _finding(far: list[tuple[Result, Result]]) -> Finding:
    mean, quantile = max(far, key=lambda pair: pair[0].value / pair[1].value)
    size = format_bytes(int(mean.of.get("message_bytes", 0)))
    return Finding(
        artefact=ARTEFACT,
        effect="informs",
        factor=mean.value / quantile.value,
        where=[one.where for one, _ in far],
        confidence=SURE,
        evidence=[
            proof(f"{one.name} {one.statistic}", one.value, one.unit, f"line {one.line}")
            for one in (mean, quantile)
        ],
        explanation=(
            f"The mean of {mean.name} at {size}, {mean.value:,.6g} {mean.unit} (line {mean.line}), "
            f"is {number(mean.value / quantile.value)} times the {quantile.value:,.6g} "
            f"{quantile.unit} that nine of ten messages stay below: a few long ones make it, at "
            f"{plural(len(far), 'size')}."
        ),
        remedy=REMEDY,
    )
