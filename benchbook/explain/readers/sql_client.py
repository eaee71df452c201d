"""What clients of databases print of the time of a statement: mysql, psql with \\timing, sqlite3
with .timer on, ClickHouse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log, Report
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "sql-client"
_PROMPT = late(
    r"^(?:[\w:.@-]{0,40}=\*?[#>(]|mysql>|MariaDB \[[^\]\n]{0,60}\]>|sqlite>|\w{0,40}:\)) ?"
    r"(?P<statement>[A-Za-z\\].{1,2000})$"
)
_NEXT = late(r"^(?:[\w:.@-]{0,40}[-'(]\*?[#>]|->|\.\.\.>|:-\]) ?(?P<statement>\S.{0,2000})$")
_MYSQL = late(
    r"^(?:\d{1,12} rows? in set|Query OK, \d{1,12} rows? affected|Empty set)"
    r"(?:, \d{1,9} warnings?)? \((?:(?P<hours>\d{1,4}) hours? )?(?:(?P<minutes>\d{1,3}) min )?"
    r"(?P<seconds>\d{1,9}\.\d{1,3}) sec\)$"
)
_PSQL = late(r"^Time: (?P<ms>\d{1,12}[.,]\d{1,3}) ms(?: \([\d:. d]{3,20}\))?$")
_SQLITE = late(r"^Run Time: real (?P<seconds>\d{1,9}\.\d{1,9}) user \d[\d.]* sys \d[\d.]*$")
_CLICKHOUSE = late(r"^\d{1,12} rows? in set\. Elapsed: (?P<seconds>\d{1,9}\.\d{1,6}) sec\.")
_LONGEST = 100  # characters of a statement that are shown
_ENDS = (";", "\\G", "\\g")


@dataclass
class _Run(Run):
    """All statements of a log; `statement`: the last that was typed."""

    statement: str = ""
    count: int = 0


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if found := _PROMPT.match(text):
        statement = found["statement"].strip()
        run.statement = "" if statement.startswith("\\") else statement
        return
    if run.statement and (found := _NEXT.match(text)):
        run.statement += f" {found['statement'].strip()}"
        return
    unit = "s"
    value: float | None = None
    if found := _MYSQL.match(text):
        value = 3600 * int(found["hours"] or 0) + 60 * int(found["minutes"] or 0)
        value += float(found["seconds"])
    elif found := _SQLITE.match(text) or _CLICKHOUSE.match(text):
        value = float(found["seconds"])
    elif found := _PSQL.match(text):
        unit, value = "ms", reading.number(found["ms"])
    if value is None:
        return
    run.count += 1
    # Of what goes on in lines without a prompt nobody knows the end.
    is_typed = run.statement.endswith(_ENDS)
    called = run.statement.removesuffix(";")[:_LONGEST] if is_typed else f"statement {run.count}"
    of: dict[str, Any] = {"benchmark": called}
    if is_typed and len(run.statement) <= _LONGEST:
        of["is_typed"] = True
    reading.add(called, value, unit, "", of)
    run.line = run.line or reading.line.number
    run.statement = ""


_READER = LineReader(TOOL, _Run, _line)


def read(log: Log) -> list[Report]:
    """One report of all statements; none of a plan, whose own reader has the times."""
    return [] if log.has("(actual time=") else _READER(log)
