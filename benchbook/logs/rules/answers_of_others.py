"""inconsistent-report: answers of a router that the host cannot be reached, counted as its replies.

Decided by the lines: those of replies and those of such answers together are what the sums call
received, so that the loss beside them is none of the host's.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.artefacts import Finding, proof
from benchbook.digits import plural
from benchbook.importers import Report, Result
from benchbook.logs.rules import Machine

ARTEFACT = "inconsistent-report"
REMEDY = (
    "Count the lines that have a time, and take the loss from these: ping of Windows calls any "
    "answer received, also one that says that the host was not there."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each run whose sums count such answers."""
    del machine
    for report in reports:
        others = report.facts.get("answers_of_others", 0)
        sent, got, lost = (_one(report, n) for n in ("packets sent", "packets received", "loss"))
        if not others or not sent or not got or sent.value <= 0:
            continue
        replies = len([one for one in report.being("sample") if one.name == "round trip"])
        if got.value == replies + others <= sent.value:
            yield _finding(report, sent, got, lost, replies)


def _one(report: Report, name: str) -> Result | None:
    own = report.called(name)
    return own[0] if len(own) == 1 else None


def _finding(
    report: Report, sent: Result, got: Result, lost: Result | None, replies: int
) -> Finding:
    others, first = report.facts["answers_of_others"], report.facts["answered_in_line"]
    shown = [one for one in (sent, got, lost) if one]
    made = 100 * (1 - replies / sent.value)
    came = plural(replies, "reply", "replies") if replies else "no reply"
    said = f", and calls {lost.value:g} % lost" if lost else ""
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=[one.where for one in shown],
        confidence=1.0,
        evidence=[
            *(proof(one.name, one.value, one.unit, f"line {one.line}") for one in shown),
            proof("answers_of_others", others, "1", f"line {first}"),
        ],
        explanation=(
            f"Line {got.line} counts {got.value:g} received of {sent.value:g}{said}, but "
            f"{plural(others, 'of them is', 'of them are')} no reply of the host: what answered "
            f"(line {first}) says why none came. It sent {came}, so that {made:.3g} % were lost."
        ),
        remedy=REMEDY,
    )
