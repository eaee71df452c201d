"""heavy-tail: runs so unstable that their mean and deviation do not tell what one takes.

Decided by the figures: a warning of the tool alone comes with differences that nobody minds.
Without one they have to be wider, for a wide deviation may be what the program does.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.artefacts import Finding, proof
from benchbook.digits import number
from benchbook.importers import Report, Result
from benchbook.logs.printed import is_number
from benchbook.logs.rules import Machine
from benchbook.logs.units import in_base

ARTEFACT = "heavy-tail"
WIDE, WIDER = 0.25, 0.5  # deviation ÷ mean, with and without a warning
FAR = 2.0  # longest ÷ mean
FEW = 8  # runs, which have no tail
LIKELY = 0.8
REMEDY = (
    "Give the median and the quantiles instead of mean and deviation, and measure again on a quiet "
    "machine, with more runs."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report whose figures say it."""
    del machine
    for report in reports:
        if not report.called("time") or _few(report):
            continue
        is_warned = bool(report.facts.get("said_unstable"))
        if not is_warned and (report.facts.get("first_run_s") or report.being("sample")):
            continue  # the first run makes it wide, or the runs themselves tell what does
        by = {one.statistic: one for one in report.called("time")}
        mean, deviation, most = _ns(by.get("mean")), _ns(by.get("stddev")), _ns(by.get("max"))
        if most is None and is_number(report.facts.get("said_longest_s")):
            most = report.facts["said_longest_s"] * 1e9
        wide = WIDE if is_warned else WIDER
        if mean and deviation and most and deviation >= wide * mean and most >= FAR * mean:
            shown = [by["mean"], by["stddev"]]
            yield _finding(shown, deviation / mean, most / mean, is_warned=is_warned)


def _few(report: Report) -> bool:
    told = (one.of.get("repetitions") for one in report.results)
    counts = [one for one in told if is_number(one)]
    return bool(counts) and max(counts) < FEW


def _ns(one: Result | None) -> float | None:
    return in_base(one.value, one.unit)[0] if one and is_number(one.value) else None


def _finding(shown: list[Result], spread: float, times: float, *, is_warned: bool) -> Finding:
    begin = "The tool warns of unstable runs, and its figures agree: the" if is_warned else "The"
    return Finding(
        artefact=ARTEFACT,
        effect="informs",
        where=[one.where for one in shown],
        confidence=LIKELY,
        evidence=[proof(one.where, one.value, one.unit, f"line {one.line}") for one in shown],
        explanation=(
            f"{begin} deviation is {number(spread)} times the mean, and the longest took "
            f"{number(times)} times the mean (line {shown[0].line}). Few long ones make both, and "
            "neither says what it usually takes."
        ),
        remedy=REMEDY,
    )
