"""inconsistent-report: a metric that is not made of the counts which are printed with it.

A rate is the operations over their time, and what was moved is as many blocks as there were
operations. What is made of the counters of a CPU is in inconsistent_events and
inconsistent_metrics.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.core.sizes import format_bytes
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import Machine
from benchbook.explain.rules.common.quotients import (
    REMEDY,
    TOLERANCE,
    contradiction,
    is_off,
    made_of,
)
from benchbook.findings import Finding, proof

ARTEFACT = "inconsistent-report"
# metric -> what it is the ratio of, in base units (ns, events), and times what
MADE_OF = {
    "operation rate": ("operations", "total time", 1e9),
    "message rate": ("messages", "run time", 1e9),
    "event rate": ("events", "total time", 1e9),
}
NAMES = {*MADE_OF, *(name for parts in MADE_OF.values() for name in parts[:2])}
NEEDS = NAMES


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report with such a metric."""
    del machine
    for report in reports:
        own: dict[str, list[Result]] = {}
        for one in report.called(*NAMES):
            if one.statistic != "standard error" and is_number(one.value):
                own.setdefault(one.name, []).append(one)
        for metric, (above, below, times) in MADE_OF.items() if own else ():
            several = [own.get(name, []) for name in (metric, above, below)]
            if all(len(one) == 1 for one in several):
                parts = [one[0] for one in several]
                made = made_of(parts[1], parts[2], times)
                if made and is_off(parts[0], made):
                    yield contradiction(parts[0], parts[1], parts[2], made)
        yield from _blocks(report)


def _blocks(report: Report) -> Iterator[Finding]:
    """Bytes that are not the operations times the block of each."""
    operations = report.called("operations")
    moved = [one for one in report.called("transfer rate") if is_number(one.of.get("bytes_moved"))]
    if len(operations) != 1 or len(moved) != 1:
        return
    count, rate = operations[0], moved[0]
    block, said = report.column(count, "array_bytes"), float(rate.of["bytes_moved"])
    if not is_number(block) or not is_number(count.value) or min(block, count.value, said) <= 0:
        return
    made = block * count.value
    if abs(said - made) <= TOLERANCE * made:
        return
    yield Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        factor=said / made,
        where=[rate.where, count.where],
        confidence=1.0,
        evidence=[
            proof("bytes_moved", said, "bytes", f"line {rate.line}"),
            proof("operations", count.value, "operations", f"line {count.line}"),
            proof("array_bytes", block, "bytes", "log"),
        ],
        explanation=(
            f"Line {rate.line} says that {format_bytes(round(said))} were moved, but "
            f"{count.value:,.0f} operations (line {count.line}) on blocks of {format_bytes(block)} "
            f"move {format_bytes(round(made))}."
        ),
        remedy=REMEDY,
    )
