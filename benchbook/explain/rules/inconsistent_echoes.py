"""inconsistent-report: sums of a ping that its own lines contradict.

More replies than it counts, more that timed out than it calls lost, or answers of a router that the
host cannot be reached, counted as replies of the host.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.core.number_format import plural
from benchbook.explain.model import Report, Result
from benchbook.explain.rules import Machine
from benchbook.findings import Finding, proof

ARTEFACT = "inconsistent-report"
NEEDS = ("packets sent",)
OF_SUMS = (
    "Count the lines, and do not use sums and statistics before it is known why they differ: ask "
    "whoever copied or edited the log, and whether two runs were mixed into one."
)
REMEDY = (
    "Count the lines that have a time, and take the loss from these: ping of Windows calls any "
    "answer received, also one that says that the host was not there."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each run whose lines and sums differ so."""
    del machine
    for report in reports:
        sent, got, lost = (_one(report, n) for n in ("packets sent", "packets received", "loss"))
        if not sent or not got or sent.value <= 0:
            continue
        others, none = (report.facts.get(n, 0) for n in ("answers_of_others", "timed_out"))
        lines = [one for one in report.being("sample") if one.name == "round trip"]
        replies = len(lines)
        twice = sum(one.value for one in report.called("duplicates"))
        if others and got.value == replies + others <= sent.value:
            yield _of_others(report, sent, got, lost, replies)
        elif report.facts.get("has_head") and got.value + twice < replies:
            span = f"lines {lines[0].line} to {lines[-1].line}"
            came = plural(replies, "reply stands", "replies stand")
            yield _finding(sent, got, f"{came} above it ({span})")
        elif none > sent.value - got.value >= 0:
            of_lines = plural(none, "line above it says", "lines above it say")
            yield _finding(sent, got, f"{of_lines} that nothing came in time")


def _one(report: Report, name: str) -> Result | None:
    own = report.called(name)
    return own[0] if len(own) == 1 else None


def _finding(sent: Result, got: Result, seen: str) -> Finding:
    shown = (sent, got)
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=[one.where for one in shown],
        confidence=1.0,
        evidence=[proof(one.name, one.value, one.unit, f"line {one.line}") for one in shown],
        explanation=(
            f"Line {got.line} counts {got.value:g} received of {sent.value:g}, but {seen}."
        ),
        remedy=OF_SUMS,
    )


def _of_others(
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
