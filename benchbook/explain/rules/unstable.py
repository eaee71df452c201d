"""heavy-tail: runs so unstable that their mean and deviation do not tell what one takes; or the
error of their mean says so.

Decided by the figures: a warning of the tool alone comes with differences that nobody minds. With
none they have to be wider, for a wide deviation may be what the program does; a tool that warns
with the interval of its mean has said both. The error of a mean looks small where there were many
runs: it is the deviation over the root of their number.
A deviation that is printed with a best alone bounds that error from below: no mean is beyond it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice

from benchbook.core.number_format import number
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import Machine
from benchbook.explain.units import in_base
from benchbook.findings import Finding, proof

ARTEFACT = "heavy-tail"
NEEDS = ("standard error", "confidence interval", "benchmark", "time", "repetitions_at_most")
WIDE, WIDER = 0.25, 0.5  # deviation ÷ mean, with and without a warning
FAR, FARTHER = 1.5, 2.0  # longest ÷ mean, with and without a warning
FEW = 8  # runs, which have no tail
LIKELY = 0.8
APART, LEAST = 0.5, 3  # deviation ÷ mean that is told by itself; runs of which it is one
UNSURE = 0.1  # error to one side ÷ mean: two such means may differ by a quarter without a reason
REMEDY = (
    "Give the median and the quantiles instead of mean and deviation, and measure again on a quiet "
    "machine, with more runs."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report whose figures say it, and for each such mean."""
    del machine
    for report in reports:
        yield from _uncertain(report)
        yield from islice(_of_repetitions(report), 1)
        yield from islice(_of_bests(report), 1)
        for width in report.called("confidence interval"):
            if width.value >= 100 * 2 * UNSURE:
                yield _unsure(width)
        if not report.called("time") or _few(report):
            continue
        is_warned = bool(report.facts.get("said_unstable"))
        if not is_warned and (report.facts.get("first_run_s") or report.being("sample")):
            continue  # the first run makes it wide, or the runs themselves tell what does
        by = {one.statistic: one for one in report.called("time")}
        mean, deviation, most = _ns(by.get("mean")), _ns(by.get("stddev")), _ns(by.get("max"))
        if most is None and is_number(report.facts.get("said_longest_s")):
            most = report.facts["said_longest_s"] * 1e9
        if not (mean and deviation and most):
            continue
        wide, far = (WIDE, FAR) if is_warned else (WIDER, FARTHER)
        runs = by["mean"].of.get("repetitions")
        if deviation >= wide * mean and most >= far * mean:
            shown = [by["mean"], by["stddev"]]
            yield _finding(shown, deviation / mean, most / mean, is_warned=is_warned)
        elif is_number(runs) and deviation >= UNSURE * mean * math.sqrt(runs):
            yield _hardly_known(by["mean"], by["stddev"], deviation / mean / math.sqrt(runs), runs)


def _uncertain(report: Report) -> Iterator[Finding]:
    """Means whose printed error is that of runs which have little in common."""
    runs = report.facts.get("repetitions")
    for error in report.being("standard error"):
        mean = next((one for one in report.called(error.name) if _is_mean_of(one, error)), None)
        if mean is None or not is_number(runs) or runs < LEAST or not is_number(error.value):
            continue
        deviation = error.value * math.sqrt(runs)
        if 0 < mean.value <= max(deviation / APART, error.value / UNSURE):
            yield _apart(mean, error, deviation, int(runs))


def _of_repetitions(report: Report) -> Iterator[Finding]:
    """Means of repeated loops that these leave open, by the time of the CPU: in the other one is
    what other programs took away."""
    if "benchmark" not in report.columns:
        return
    deviations = {one.name: one for one in report.being("stddev") if is_number(one.value)}
    for mean in report.being("mean") if deviations else ():
        deviation, runs = deviations.get(mean.name), mean.of.get("repetitions")
        if deviation is None or not is_number(runs) or runs < LEAST or not _ns(mean):
            continue
        if mean.name.endswith(" cpu time") and deviation.unit == mean.unit and mean.value > 0:
            error = deviation.value / mean.value / math.sqrt(runs)
            if error >= UNSURE:
                yield _hardly_known(mean, deviation, error, runs)


def _of_bests(report: Report) -> Iterator[Finding]:
    """Bests of rates whose deviation, in per cent of them, leaves open what their mean is: that is
    no more than the best, and of so many repetitions at most."""
    bests = {one.line: one for one in report.being("best")}
    for spread in report.knowing("repetitions_at_most"):
        best, runs = bests.get(spread.line), spread.of.get("repetitions_at_most")
        if best is None or spread.unit != "%" or not (is_number(runs) and is_number(spread.value)):
            continue
        if runs >= LEAST and spread.value >= 100 * UNSURE * math.sqrt(runs):
            yield _best_of_unlike(best, spread, runs)


def _best_of_unlike(best: Result, spread: Result, runs: float) -> Finding:
    return Finding(
        artefact=ARTEFACT,
        effect="informs",
        where=[best.where],
        confidence=LIKELY,
        evidence=[proof(x.where, x.value, x.unit, f"line {x.line}") for x in (best, spread)],
        explanation=(
            f"{best.name} in line {best.line} is the best of {runs:g} repetitions at most, "
            f"{best.value:,.6g} {best.unit}, and they deviate by {number(spread.value)} % of it: "
            "what it usually does is not told, and their mean is open by a tenth or more."
        ),
        remedy=REMEDY,
    )


def _is_mean_of(one: Result, error: Result) -> bool:
    return one.statistic == "mean" and one.line == error.line and is_number(one.value)


def _apart(mean: Result, error: Result, deviation: float, runs: int) -> Finding:
    shown = (mean, error)
    return Finding(
        artefact=ARTEFACT,
        effect="informs",
        where=[mean.where],
        confidence=LIKELY,
        evidence=[proof(one.where, one.value, one.unit, f"line {one.line}") for one in shown],
        explanation=(
            f"The {runs} runs of line {mean.line} have little in common: ± {error.value:,.4g} "
            f"{error.unit} is the error of their mean, so that they deviate by {deviation:,.3g} "
            f"{error.unit}, {number(deviation / mean.value)} times the mean."
        ),
        remedy=REMEDY,
    )


def _hardly_known(mean: Result, deviation: Result, error: float, runs: float) -> Finding:
    return Finding(
        artefact=ARTEFACT,
        effect="informs",
        where=[mean.where, deviation.where],
        confidence=LIKELY,
        evidence=[proof(x.where, x.value, x.unit, f"line {x.line}") for x in (mean, deviation)],
        explanation=(
            f"A deviation of {deviation.value:,.6g} {deviation.unit} in {runs:g} runs leaves their "
            f"mean, {mean.value:,.6g} {mean.unit} (line {mean.line}), open by {100 * error:.2g} %: "
            "another start of the same may print a fifth more or less."
        ),
        remedy=REMEDY,
    )


def _few(report: Report) -> bool:
    told = (one.of.get("repetitions") for one in report.results)
    counts = [one for one in told if is_number(one)]
    return bool(counts) and max(counts) < FEW


def _ns(one: Result | None) -> float | None:
    return in_base(one.value, one.unit)[0] if one and is_number(one.value) else None


def _unsure(width: Result) -> Finding:
    return Finding(
        artefact=ARTEFACT,
        effect="informs",
        where=[width.where],
        confidence=LIKELY,
        evidence=[proof(width.where, width.value, width.unit, f"line {width.line}")],
        explanation=(
            f"The tool warns that its repetitions lie so far apart that the interval of their mean "
            f"is {number(width.value)} % wide (line {width.line}). What it prints says little "
            "of another run."
        ),
        remedy=REMEDY,
    )


def _finding(shown: list[Result], spread: float, times: float, *, is_warned: bool) -> Finding:
    few = "Few long ones make both, and neither says what it usually takes."
    what = few if times >= FARTHER else "One of these runs says little of another."
    begin = "The tool warns of unstable runs, and its figures agree: the" if is_warned else "The"
    return Finding(
        artefact=ARTEFACT,
        effect="informs",
        where=[one.where for one in shown],
        confidence=LIKELY,
        evidence=[proof(one.where, one.value, one.unit, f"line {one.line}") for one in shown],
        explanation=(
            f"{begin} deviation is {number(spread)} times the mean, and the longest took "
            f"{number(times)} times the mean (line {shown[0].line}). {what}"
        ),
        remedy=REMEDY,
    )
