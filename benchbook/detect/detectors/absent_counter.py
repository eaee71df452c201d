"""absent-counter: a counter that is not there, and that some tools print as 0 and end well.

Decided by what was asked and what answered: rows of counters without a value, with the tool's own
words, and zeros that a program which did work cannot have.
"""

from __future__ import annotations

import re

from benchbook.detect import Judged, Row, Seen, artefact, is_known
from benchbook.detect.inputs.tools import COUNTERS, WITH_VALUE, first_names, proof_of
from benchbook.findings import Finding

# What no program that ran has none of, as perf and likwid call it.
NEVER_ZERO = re.compile(
    r"^((cpu-|ref-)?cycles|instructions|branches|branch-instructions|(L1-dcache-)?(loads|stores))"
    r"(:\w+)?$|^(INSTR?_RETIRED_ANY|RETIRED_INSTRUCTIONS|CPU_CLK_UNHALTED|CPU_CLOCKS_UNHALTED"
    r"|RETIRED_BRANCH_INSTR|BR_INST_RETIRED_ALL|MEM_(INST|UOPS?)_RETIRED_(ALL_)?(LOADS|STORES))",
    re.IGNORECASE,
)
# Events that say nothing by their zero, even with all others.
MAY_BE_ZERO = re.compile(r"switch|migration|fault|^cs$|error|nan", re.IGNORECASE)
FIRST_SENTENCE = re.compile(r"(?<=[^.\s])\.\s.*", re.DOTALL)
EVIDENCE = 5
NO_ANSWER = ("absent", "denied")
ARTEFACT = artefact("absent-counter")


def detect(seen: Seen) -> Judged:
    """One finding for the run where counters were asked and did not answer, or answered a 0 that
    nothing counted. Where none was asked, the question does not arise."""
    judged = Judged()
    rows = [row for row in seen.evidence if COUNTERS.match(str(row.get("source", "")))]
    absent = [row for row in rows if row.get("state") in NO_ANSWER]
    zeros = _false_zeros(rows)
    if absent or zeros:
        judged.findings.append(_finding(absent, zeros, len(rows)))
    return judged.rest_is_clean(row["where"] or "host" for row in rows)


def _false_zeros(rows: list[Row]) -> list[Row]:
    """Of a program that ran: 0 of what it must have had, or of all that a tool counted of it."""
    counted = [row for row in rows if _is_count(row)]
    some = {_tool(row) for row in counted if row["value"] != 0}
    return [
        row
        for row in counted
        if row["value"] == 0 and (NEVER_ZERO.search(str(row["name"])) or _tool(row) not in some)
    ]


def _tool(row: Row) -> tuple[str, str]:
    return str(row["source"]), str(row["where"])


def _is_count(row: Row) -> bool:
    """Whether it has a value, of a program that was called."""
    value = row.get("value")
    worked = any(is_known(row.get(name)) and row[name] > 0 for name in ("calls", "run_time_s"))
    return (
        row.get("state") in WITH_VALUE
        and is_known(value)
        and not isinstance(value, str | list | dict)
        and worked
        and not MAY_BE_ZERO.search(str(row["name"]))
    )


def _finding(absent: list[Row], zeros: list[Row], answers: int) -> Finding:
    rows = sorted([*absent, *zeros], key=_order)
    reasons = dict.fromkeys(_reason(row) for row in rows)
    words = {
        "empty": len(rows),
        "answers": answers,
        "have": "has" if len(rows) == 1 else "have",
        "names": first_names(rows),
        "reasons": "; ".join(list(reasons)[:2]),
        "zero": min(zeros, key=_order)["name"] if zeros else None,
    }
    evidence = [proof_of(row) for row in rows[:EVIDENCE]]
    for row, shown in zip(rows, evidence, strict=False):
        if row.get("state") in NO_ANSWER:
            shown["value"] = None
    return ARTEFACT.finding(rows, words, evidence=evidence)


def _order(row: Row) -> tuple[str, str, str]:
    return str(row["source"]), str(row["name"]), str(row["where"])


def _reason(row: Row) -> str:
    words = FIRST_SENTENCE.sub("", str(row.get("reason") or "").strip()).rstrip(".")
    reason = words or "it gave no reason"
    if row.get("state") not in NO_ANSWER:
        reason = "0 where there was work to count"
    return f"{row['source']}: {reason}"
