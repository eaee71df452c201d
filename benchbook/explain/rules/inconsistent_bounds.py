"""inconsistent-report: a mean that samples between this minimum and this maximum cannot have.

One of n samples is the minimum and one is the maximum: even if all others are the one or the other,
the mean stays so far from both. Of two processes it is half of their sum.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import half_of_last_digit, is_number
from benchbook.explain.rules import Machine
from benchbook.explain.rules.common.latencies import NAMES
from benchbook.findings import Finding, proof

ARTEFACT = "inconsistent-report"
THREE = ("min", "mean", "max")
DIGITS = 2.0  # halves of the last one: some tools cut what they do not print
NEARLY = 0.005  # of a mean: processes may leave out a part of what each of them timed
REMEDY = (
    "Do not use these figures before it is known which of them is wrong: the tool, which may take "
    "the extremes or the count of other samples, or who copied or edited the log."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report, of the first mean that is nearer to an end than it can be."""
    del machine
    for report in reports:
        if found := next(_outside(report), None):
            yield found


def _outside(report: Report) -> Iterator[Finding]:
    if report.has("duplicates"):
        return  # they are in the times and not in the count
    if not any(map(report.has, NAMES)) and not report.knowing("processes_timed"):
        return  # of how many samples they are is not told
    lines: dict[tuple[str, str, int], dict[str, Result]] = {}
    for one in report.being(*THREE):
        lines.setdefault((one.name, one.unit, one.line), {})[one.statistic] = one
    for own in lines.values():
        if len(own) == len(THREE) and all(is_number(one.value) for one in own.values()):
            mean = own["mean"]
            count = _count(report, mean)
            samples = report.groups.get((mean.name, "sample", mean.unit), [])
            if len(samples) == count:
                continue  # the samples themselves tell which figure is wrong: other rules say it
            if count >= 2 and (found := _judged(own, count)):
                yield found


def _count(report: Report, mean: Result) -> int:
    """Of how many samples they are: exchanges, or the times of processes; 0 if unknown."""
    if mean.name in NAMES:
        of = mean.of.get("repetitions")
    elif "group" in mean.of:
        return 0  # of all groups together, whose number is not told
    else:
        of = report.column(mean, "processes_timed")
    return int(of) if is_number(of) else 0


def _judged(own: dict[str, Result], count: int) -> Finding | None:
    least, mean, most = (own[name].value for name in THREE)
    low, high = ((a + (count - 1) * b) / count for a, b in ((most, least), (least, most)))
    slack = DIGITS * sum(half_of_last_digit(one.value) for one in own.values()) + NEARLY * mean
    if not 0 <= least <= mean <= most or low - slack <= mean <= high + slack:
        return None  # a mean that is not between them at all is told by others
    shown = [own[name] for name in THREE]
    unit, line = own["mean"].unit, own["mean"].line
    side, bound = ("most", high) if mean > high else ("least", low)
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=[one.where for one in shown],
        confidence=1.0,
        evidence=[
            *(proof(one.statistic, one.value, unit, f"line {line}") for one in shown),
            proof("samples", count, "1", f"line {line}"),
        ],
        explanation=(
            f"Line {line} gives {mean:,.6g} {unit} as the mean of {count:,} samples, but one of "
            f"them is {least:,.6g} {unit} and another {most:,.6g} {unit}: their mean is at {side} "
            f"{bound:,.6g} {unit}."
        ),
        remedy=REMEDY,
    )
