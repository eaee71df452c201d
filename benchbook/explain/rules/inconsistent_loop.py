"""inconsistent-report: more exchanges, one after another, than the time beside them allows."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.core.number_format import duration
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import half_of_last_digit, is_number
from benchbook.explain.rules import Machine
from benchbook.explain.rules.common.latencies import latencies, repetitions
from benchbook.explain.units import in_base
from benchbook.findings import Finding, proof

ARTEFACT = "inconsistent-report"
NEEDS = ("one_at_a_time",)
TOLERANCE = 0.05  # of the time: which exchanges are counted at its ends
WAYS = {"latency": 2, "round trip": 1}  # half of an exchange, or all of it
REMEDY = (
    "Do not use these figures before it is known which of them is wrong: ask whoever copied or "
    "edited the log, and whether two runs were mixed into one."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each closed loop that had no time for its exchanges."""
    del machine
    for report in reports:
        if not report.facts.get("one_at_a_time"):
            continue
        by_part = {one.of.get("part"): one for one in report.called("run time")}
        took = by_part.get("valid")
        for own in latencies(report):
            mean, count = own.by_statistic.get("mean"), repetitions(report, own)
            if took and mean and is_number(took.value) and is_number(mean.value):
                yield from _judged(took, mean, count, WAYS[own.name])


def _judged(took: Result, mean: Result, count: int, ways: int) -> Iterator[Finding]:
    had, _ = in_base(took.value + half_of_last_digit(took.value), took.unit)
    one, _ = in_base(mean.value, mean.unit)
    needed = ways * one * count
    if needed <= had * (1 + TOLERANCE):
        return
    each = "twice as long" if ways == 2 else "as long"
    yield Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        factor=needed / had if had > 0 else None,
        where=[took.where, mean.where],
        confidence=1.0,
        evidence=[
            proof(took.name, took.value, took.unit, f"line {took.line}"),
            proof(mean.where, mean.value, mean.unit, f"line {mean.line}"),
            proof("exchanges", count, "1", "log"),
        ],
        explanation=(
            f"{count:,} exchanges, each begun after the one before, take {each} as their mean of "
            f"{mean.value:,.6g} {mean.unit} (line {mean.line}): {duration(needed)} in all. Line "
            f"{took.line} gives them {took.value:,.6g} {took.unit}."
        ),
        remedy=REMEDY,
    )
