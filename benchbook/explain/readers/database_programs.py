"""Programs that load databases and print a few lines: mysqlslap, HammerDB, tpcc-mysql, redis-cli's
latencies. A line is looked at if its kind fits one of the patterns in common/database_lines.py."""

from __future__ import annotations

from benchbook.explain.model import Log, Report
from benchbook.explain.readers.common.database_lines import PROGRAMS
from benchbook.explain.readers.storage_programs import reports_of

TOOL = "database program"


def read(log: Log) -> list[Report]:
    """One report for each start of each of the programs."""
    return [report for program in PROGRAMS for report in reports_of(program, log)]
