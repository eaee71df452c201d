"""timer-granularity: exchanges that took no time at all, by a clock whose ticks are longer.

Decided by the zeros themselves: of pings that print decimals half at least, of those that print
whole milliseconds the mean, where none took two, of a sweep over sizes any. Where the tool says
that its clock was set, that is why.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from benchbook.core.number_format import number, plural
from benchbook.detect.detectors.timer_granularity import REMEDY
from benchbook.explain.model import Report, Result
from benchbook.explain.rules import Machine
from benchbook.explain.rules.common.latencies import NAMES
from benchbook.explain.units import in_base
from benchbook.findings import Finding, proof

ARTEFACT = "timer-granularity"
LEAST_SHARE = 0.5  # of replies
LEAST = 2  # replies
WITH_DECIMALS = "Take a ping that prints microseconds, or read it as: below one millisecond."


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report with such zeros."""
    del machine
    for report in reports:
        if report.facts.get("below_tick", 0) >= LEAST and not report.facts.get("clock_step_ns"):
            timed = [one for one in report.being("sample") if one.name in NAMES]
            none = [one for one in timed if one.value == 0]
            if len(none) >= LEAST_SHARE * len(timed):
                yield _finding(none, _next(timed))
        elif none := _all_of(report):
            many, mean = "all" if len(none) > 1 else "most", none[0]
            text = (
                f"The mean round trip in line {mean.line} is 0 ms: {many} replies came before the "
                "clock went on. It is shorter than what that can tell, and no mean of such numbers "
                "is a time."
            )
            found = replace(_finding(none, ""), explanation=text)
            yield replace(found, effect="informs", remedy=WITH_DECIMALS)
        elif "message_bytes" in report.columns and (none := list(_sent_in_none(report))):
            yield _finding(none, "")


def _all_of(report: Report) -> list[Result]:
    """The mean of round trips in whole milliseconds where it is none, and the longest one if that
    is none as well; two ticks or more are told by those that took them."""
    ends = report.kind("round trip", "mean", "max")
    if len(ends) != 2 or any(one.unit != "ms" for one in ends):
        return []
    mean, most = sorted(ends, key=lambda one: one.statistic, reverse=True)
    return (
        [one for one in (mean, most) if one.value == 0]
        if mean.value == 0 <= most.value <= 1
        else []
    )


def _sent_in_none(report: Report) -> Iterator[Result]:
    """Sizes whose mean time is printed as zero."""
    for (_, statistic, unit), several in report.groups.items():
        if statistic == "mean" and in_base(1.0, unit)[1] == "ns":
            yield from (one for one in several if one.value == 0 and one.of.get("message_bytes"))


def _next(timed: list[Result]) -> str:
    """What the others say of the tick."""
    least = min((one for one in timed if one.value > 0), key=lambda one: one.value, default=None)
    if least is None:
        return ""
    return f", and the next longer time is {number(least.value)} {least.unit} (line {least.line})"


def _finding(none: list[Result], more: str) -> Finding:
    first = none[0]
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=[one.where for one in none],
        confidence=1.0,
        evidence=[proof(first.name, first.value, first.unit, f"line {first.line}")],
        explanation=(
            f"{first.name} is 0 {first.unit} {plural(len(none), 'time')}, as in line "
            f"{first.line}{more}. Nothing takes no time: it is shorter than what the clock can "
            "tell, and no mean of such numbers is a time."
        ),
        remedy=REMEDY,
    )
