"""What a text says of the two sides of a comparison: that they are the same code."""

from __future__ import annotations

import re

from benchbook.explain.context.same_runs import lines_of_results
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log, Report

_CODE = r"(?:commit|changeset|code|binary|build|version|executable|revision|branch)"
_SAID = late(
    rf"\b(?:the )?(?:same|identical|unchanged) {_CODE}\b[^.\n]{{0,60}}\b(?:twice|two times|again)\b"
    rf"|\b(?:twice|two times)\b[^.\n]{{0,40}}\b(?:same|identical) {_CODE}\b"
    r"|\bcommit [0-9a-f]{7,40} (?:twice|two times)\b"
    r"|\b(?:empty|no-?op) commit\b"
    r"|\b(?:two|three|four|five|several) consecutive (?:runs|executions)\b"
    r"|\b(?:two|three) (?:identical|equal) (?:runs|executions)\b"
    r"|\bsame (?:benchmark|test|command|program|thing|run)s? (?:twice|two times)\b"
    r"|\bre-?running the same (?:benchmarks?|tests?|code|binary)\b"
    r"|\bA/A (?:tests?|runs?|protocol|placebo|comparison)\b"
    r"|\b(?:two|both) (?:builds|runs|binaries|copies) (?:of|on|from) (?:the )?"
    rf"(?:same|(?:byte[- ])?identical) (?:\w+ )?{_CODE}\b"
    r"|\bidentical (?:configs?|configurations|builds|binaries|arms|code on both sides)\b"
    r"|\bno (?:code )?changes? (?:at all )?(?:in )?between (?:the )?(?:two )?runs\b",
    re.I,
)
_WORDS = (
    "twice", "two times", "commit", "consecutive", "identical", "equal",
    "running the same", "A/A", "again", "between", "builds", "both", "runs o",
)  # fmt: skip
_DIFFER = late(r"\bdiffer\w* by (?:up to |as much as )?(?P<percent>\d{1,3}(?:\.\d+)?) ?%")
_LONGEST, _SHOWN = 400, 80


def tell(log: Log, reports: list[Report]) -> None:
    """Give every report the first such words of the log, and where they stand."""
    result_lines = lines_of_results(reports)
    for line in log.having(*_WORDS):
        if line.number in result_lines or len(line.text) > _LONGEST:
            continue
        if found := _SAID.search(line.text):
            differ = _DIFFER.search(line.text)
            for report in reports:
                report.facts |= {"said_same": found[0][:_SHOWN], "said_same_line": line.number}
                if differ:
                    report.facts["said_same_differ"] = float(differ["percent"])
            return
