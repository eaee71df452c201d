"""inconsistent-report: statistics of latencies that are not what those beside them make.

A variation is the deviation over the mean, an interval holds it, and there are no more observations
than replies.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.core.number_format import listed
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import Machine
from benchbook.explain.rules.common.latencies import NAMES, Latencies, latencies
from benchbook.findings import Finding, proof

ARTEFACT = "inconsistent-report"
NEEDS = (*NAMES, "duplicated messages", "per_cent_of_repetitions")
OF_RATIO = 0.0015  # three decimals, of which the last may be cut
OF_SHARE = 0.05  # of what two printed numbers make
OF_HUNDREDTH = 0.011  # two decimals
REMEDY = (
    "Do not use these figures before it is known which of them is wrong: ask whoever copied or "
    "edited the log, and whether two runs were mixed into one."
)
Odd = tuple[str, list[Result]]


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report with such statistics."""
    del machine
    for report in reports:
        odd = [each for own in latencies(report) for each in _odd(report, own)]
        if odd := odd + list(_counts(report)):
            yield _finding(odd)


def _odd(report: Report, own: Latencies) -> Iterator[Odd]:
    mean, sd = own.by_statistic.get("mean"), own.by_statistic.get("sd")
    if mean is None or not is_number(mean.value) or mean.value <= 0:
        return
    means = report.groups.get((own.name, "mean", mean.unit), [])
    if any(one.of.get("said_again") for one in means):
        return  # nobody knows which of them the others go with
    low, high = (report.facts.get(f"interval_{end}_us") for end in ("from", "to"))
    if is_number(low) and is_number(high) and not low <= mean.value <= high:
        yield (
            f"the interval from {low:,.10g} to {high:,.10g} us does not hold the mean, "
            f"{own.said('mean')}",
            [mean],
        )
    if sd is None or not is_number(sd.value):
        return
    said, made = report.facts.get("variation"), sd.value / mean.value
    if is_number(said) and abs(said - made) > OF_RATIO + OF_SHARE * made:
        yield (
            f"cv is {said:g}, but the deviation, {own.said('sd')}, is {made:.3g} of the mean, "
            f"{own.said('mean')}",
            [sd, mean],
        )


def _counts(report: Report) -> Iterator[Odd]:
    """Observations and replies, where one server gives one reply to a message."""
    count, each = (report.facts.get(n) for n in ("repetitions", "per_cent_of_repetitions"))
    if is_number(count) and is_number(each) and abs(count / 100 - each) > OF_HUNDREDTH:
        yield f"a hundredth of {count:,} observations is {count / 100:,.2f}, not {each:,.2f}", []
    twice = report.called("duplicated messages")
    if report.facts.get("servers", 1) > 1 or not twice or any(one.value for one in twice):
        return
    valid = {
        one.name: one
        for one in report.called("messages sent", "messages received")
        if one.of.get("part") == "valid"
    }
    sent, got = valid.get("messages sent"), valid.get("messages received")
    if sent and got and got.value > sent.value:
        yield (
            f"{got.value:,} replies were received to {sent.value:,} messages (line {got.line})",
            [sent, got],
        )
    elif got and is_number(count) and count > got.value:
        yield f"{count:,} observations are of {got.value:,} replies (line {got.line})", [got]


def _finding(odd: list[Odd]) -> Finding:
    shown = [one for _, several in odd for one in several]
    text = f"{listed([said for said, _ in odd])}. No run has such statistics."
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=list(dict.fromkeys(one.where for one in shown)),
        confidence=1.0,
        evidence=[proof(one.where, one.value, one.unit, f"line {one.line}") for one in shown],
        explanation=text[0].upper() + text[1:],
        remedy=REMEDY,
    )
