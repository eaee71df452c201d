"""inconsistent-report: a printed mean is not the mean of the samples that are printed with it, or
a printed share of variation not the deviation over the mean."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from benchbook.core.number_format import plural
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import half_of_last_digit, is_number
from benchbook.explain.rules import Machine
from benchbook.explain.rules.common.samples import Series, series
from benchbook.explain.units import in_base
from benchbook.findings import Finding, proof

ARTEFACT = "inconsistent-report"
NEEDS = ("sample", "cv")
TOLERANCE = 0.005
OF_SHARE = 0.02  # of a share of variation, beside what digits leave open
REMEDY = (
    "Do not use the mean: compute it from the samples, and ask whoever copied or edited the log."
)

OF_THREE = (
    "Do not use these figures before it is known which of them is wrong: ask whoever copied or "
    "edited the log."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each mean that all of its own samples contradict."""
    del machine
    for one in series(reports):
        if one.mean and one.is_whole() and (found := _finding(one)):
            yield found
    for report in reports:
        yield from islice(_of_shares(report), 1)


def _of_shares(report: Report) -> Iterator[Finding]:
    """Deviations in per cent of the mean that are not what both beside them make."""
    shares = [one for one in report.being("cv") if one.unit == "%" and is_number(one.value)]
    beside = {
        (one.name, one.of.get("benchmark"), one.statistic): one
        for one in (report.being("mean", "stddev") if shares else ())
        if is_number(one.value) and one.value > 0
    }
    for share in shares:
        key = share.name, share.of.get("benchmark")
        mean, deviation = beside.get((*key, "mean")), beside.get((*key, "stddev"))
        if mean and deviation and (found := _of_share(share, mean, deviation)):
            yield found


def _of_share(share: Result, mean: Result, deviation: Result) -> Finding | None:
    made = 100 * in_base(deviation.value, deviation.unit)[0] / in_base(mean.value, mean.unit)[0]
    open_share = sum(half_of_last_digit(one.value) / one.value for one in (mean, deviation))
    slack = made * (OF_SHARE + open_share) + half_of_last_digit(share.value)
    if made <= 0 or abs(share.value - made) <= slack:
        return None
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=[one.where for one in (share, deviation, mean)],
        confidence=1.0,
        factor=share.value / made,
        evidence=[
            proof(one.where, one.value, one.unit, f"line {one.line}")
            for one in (share, deviation, mean)
        ],
        explanation=(
            f"Line {share.line} gives {share.value:g} % as the variation of {share.name}, but a "
            f"deviation of {deviation.value:,.6g} {deviation.unit} (line {deviation.line}) is "
            f"{made:.3g} % of the mean of {mean.value:,.6g} {mean.unit} (line {mean.line})."
        ),
        remedy=OF_THREE,
    )


def _finding(one: Series) -> Finding | None:
    values = one.values
    if one.mean is None or min(values) <= 0:
        return None
    # Of rates some tools print bytes over the mean time, which is the harmonic mean.
    arithmetic = sum(values) / len(values)
    harmonic = len(values) / sum(1 / value for value in values)
    printed = one.mean.value
    if harmonic * (1 - TOLERANCE) <= printed <= arithmetic * (1 + TOLERANCE):
        return None  # as nearly all are, without asking for digits
    # Some tools cut a mean off instead of rounding it.
    digits = 2 * half_of_last_digit(printed) + max(map(half_of_last_digit, values))
    low, high = harmonic * (1 - TOLERANCE) - digits, arithmetic * (1 + TOLERANCE) + digits
    if any(one.samples.column("at_most")):
        low = 0.0  # `<1ms` may be anything below
    if low <= printed <= high:
        return None
    first, last = one.samples[0].line, one.samples[-1].line
    lines = f"lines {first} to {last}" if first != last else f"line {first}"
    unit = one.mean.unit
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=[one.mean.where],
        confidence=1.0,
        factor=printed / arithmetic,
        evidence=[
            proof("printed mean", printed, unit, f"line {one.mean.line}"),
            proof("mean of the samples", arithmetic, unit, lines),
        ],
        explanation=(
            f"Line {one.mean.line} gives {printed:,.10g} {unit} as the mean of {one.mean.name}, "
            f"but its {plural(len(values), 'sample')} ({lines}) go from "
            f"{min(values):,.6g} to {max(values):,.6g} and have a mean of {arithmetic:,.6g} {unit}."
        ),
        remedy=REMEDY,
    )
