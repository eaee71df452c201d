"""inconsistent-report: more was counted than came, by another count of the same things.

Replies that a ping lists beside those that it says it received, observations of sockperf beside the
messages that it received in the time that counts.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.artefacts import Finding, proof
from benchbook.importers import Report, Result
from benchbook.logs.latencies import NAMES
from benchbook.logs.printed import is_number
from benchbook.logs.rules import Machine

ARTEFACT = "inconsistent-report"
APART = 0.01  # of messages
REMEDY = (
    "Do not use these figures before it is known which of them is wrong: the tool, who copied or "
    "edited the log, or two runs that were mixed into one."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report with such counts."""
    del machine
    for report in reports:
        if got := report.called("packets received"):
            yield from _listed(report, got)
        elif is_number(several := report.facts.get("repetitions")):
            yield from _observed(report, several)


def _listed(report: Report, got: list[Result]) -> Iterator[Finding]:
    """More replies than were received, with those that came twice."""
    replies = [one for one in report.being("sample") if one.name in NAMES]
    counts = [*got, *report.called("duplicates")]
    if len(got) != 1 or not replies or not all(is_number(one.value) for one in counts):
        return
    if len(replies) > sum(one.value for one in counts):
        yield _finding(
            counts,
            f"{len(replies):,} replies are listed (lines {replies[0].line} to {replies[-1].line}), "
            f"but line {got[0].line} says {got[0].value:,.0f} received",
        )


def _observed(report: Report, several: float) -> Iterator[Finding]:
    valid = [one for one in report.called("messages received") if one.of.get("part") == "valid"]
    if len(valid) == 1 and abs(valid[0].value - several) > APART * several:
        yield _finding(
            valid,
            f"The statistics are of {several:,.0f} observations, but line {valid[0].line} says "
            f"{valid[0].value:,.0f} messages received",
        )


def _finding(counts: list[Result], said: str) -> Finding:
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=[one.where for one in counts],
        confidence=1.0,
        evidence=[proof(one.where, one.value, one.unit, f"line {one.line}") for one in counts],
        explanation=f"{said}: these are counts of the same things.",
        remedy=REMEDY,
    )
