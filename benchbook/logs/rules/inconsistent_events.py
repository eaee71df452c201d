"""inconsistent-report: events that together took another time than their number times their mean,
and a test that was asked to move something and did nothing."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.artefacts import Finding, proof
from benchbook.importers import Report, Result
from benchbook.logs.printed import half_of_last_digit, is_number
from benchbook.logs.rules import Machine
from benchbook.logs.units import in_base
from benchbook.sizes import format_bytes

ARTEFACT = "inconsistent-report"
TOLERANCE = 0.02  # of the mean, beside what its digits leave open
HALF_NS = 5e3  # latencies are printed with two decimals of a millisecond
REMEDY = (
    "Do not use these figures before it is known which of them is wrong: ask whoever copied or "
    "edited the log."
)
OF_NOTHING = (
    "Set this run aside, and ask for more: each thread must have at least one whole block to do, "
    "and many of them to be timed."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report with such a time, or with nothing done."""
    del machine
    for report in reports:
        events = report.facts.get("events")
        if not is_number(events):
            continue
        if events > 0:
            yield from _took(report, int(events))
        elif is_number(asked := report.facts.get("total_bytes")) and asked > 0:
            yield from _nothing(report, int(asked))


def _took(report: Report, events: int) -> Iterator[Finding]:
    latencies = report.called("latency")
    means = [one for one in latencies if one.statistic == "mean" and is_number(one.value)]
    sums = [one for one in latencies if one.statistic == "sum" and is_number(one.value)]
    if len(means) != 1 or len(sums) != 1:
        return
    mean, took = means[0], in_base(sums[0].value, sums[0].unit)[0]
    printed, unit_ns = in_base(mean.value, mean.unit)[0], in_base(1.0, mean.unit)[0]
    made = took / events
    digits = max(HALF_NS, half_of_last_digit(mean.value) * unit_ns)
    if took < 0 or abs(printed - made) <= TOLERANCE * made + digits:
        return
    yield Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        factor=printed / made if made > 0 else None,
        where=[one.where for one in (mean, *sums)],
        confidence=1.0,
        evidence=[
            proof(mean.where, mean.value, mean.unit, f"line {mean.line}"),
            proof("all events", took / 1e9, "s", "log"),
            proof("events", events, "events", "log"),
        ],
        explanation=(
            f"Line {mean.line} gives {mean.value:,.6g} {mean.unit} as the mean latency, but "
            f"{events:,} events that took {took / 1e9:,.6g} s together have a mean of "
            f"{made / unit_ns:,.4g} {mean.unit}."
        ),
        remedy=REMEDY,
    )


def _nothing(report: Report, asked: int) -> Iterator[Finding]:
    rates: list[Result] = [one for one in report.called("transfer rate") if one.value == 0]
    if rates:
        yield Finding(
            artefact=ARTEFACT,
            effect="invalidates",
            where=[one.where for one in rates],
            confidence=1.0,
            evidence=[
                proof("asked", asked, "bytes", "log"),
                proof(rates[0].where, rates[0].value, rates[0].unit, f"line {rates[0].line}"),
            ],
            explanation=(
                f"{format_bytes(asked)} were to be moved, and not one operation was done: the 0 of "
                f"line {rates[0].line} is no rate of anything."
            ),
            remedy=OF_NOTHING,
        )
