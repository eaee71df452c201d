"""Programs that test storage and print a few lines: pveperf, f3, filebench, dbench, db_bench,
pg_test_fsync, etcdctl check perf, spew, btest, kbench, rsync, scp, smartctl and nvme smart-log.

A line is looked at if its kind (its text with zeros for digits) fits one of the patterns of a
program whose words the log has; common/storage_lines.py has the patterns.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from benchbook.explain.model import Log, Report
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.storage_lines import PROGRAMS, UNITS, Program, Row

TOOL = "storage program"


@dataclass
class _Run(Run):
    """One start; `head`: what heads its lines."""

    head: str = ""
    names: set[tuple[str, str]] = field(default_factory=set)


def _line(program: Program, reading: Reading[_Run], text: str) -> None:
    for row in program.rows:
        if found := row.pattern.search(text):
            _row(row, reading, found)
            return


def _row(row: Row, reading: Reading[_Run], found: re.Match[str]) -> None:
    groups = {name: text or "" for name, text in found.groupdict().items()}
    if row.begins:
        run = reading.begin(head=groups.get("head", ""))
        if " " in run.head:  # a sentence, and no unit
            run.facts["test"] = run.head
        return
    run = reading.run
    if row.head:
        run.head = groups["head"]
        return
    names = [
        (figure.name.format(**{"head": run.head, **groups}).lower(), figure)
        for figure in row.figures
        if groups[figure.group]
    ]
    once = [own for own in names if own[1].statistic != "interval"]
    if any((name, figure.statistic) in run.names for name, figure in once):
        run = reading.begin(head=run.head)  # the program was started again
    run.line = run.line or reading.line.number
    facts: dict[str, Any] = {name: groups[name].strip() for name in row.facts if groups[name]}
    run.facts |= {name: int(fact) if fact.isdecimal() else fact for name, fact in facts.items()}
    for name, figure in names:
        unit = figure.unit or UNITS[groups["unit"]]
        unit = UNITS.get(run.head, "1") if unit == "head" else unit
        digits = groups[figure.group].replace("’", "").replace("'", "")
        if reading.add(name, digits, unit, figure.statistic):
            run.names.add((name, figure.statistic))


def read(log: Log) -> list[Report]:
    """One report for each start of each of the programs."""
    return [report for program in PROGRAMS for report in reports_of(program, log)]


def reports_of(program: Program, log: Log) -> list[Report]:
    """One report for each start of a program."""
    if not any(map(log.has, program.words)):
        return []
    take = partial(_line, program)
    wanted = partial(_is_wanted, program)
    reader = LineReader(program.tool, _Run, take, lines=lambda own: own.like(wanted))
    return reader(log)


def _is_wanted(program: Program, text: str) -> bool:
    own = text.strip()
    return len(own) < 400 and any(row.pattern.search(own) for row in program.rows)
