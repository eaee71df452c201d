"""Plans of queries with their times, as EXPLAIN ANALYZE of PostgreSQL, its relatives and MySQL has
them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.results import GIVEN

TOOL = "query-plan"
_NODE = late(
    r"^(?P<indent>[^A-Za-z]{0,200}?)(?:-> +)?(?P<node>[A-Z][^()\n]{2,120}?(?:: \(.{1,200}\))?) +"
    r"\(cost=\d[\d.]{0,30}(?:\.\.\d[\d.]{0,30})? rows=(?P<expected>\d[\d.e+]{0,20})[^)]{0,40}\) "
    r"\(actual time=\d+(?:\.\d+)?\.\.(?P<time>\d+(?:\.\d+)?) rows=(?P<rows>\d+(?:\.\d+)?) "
    r"loops=(?P<loops>\d+)\)"
)
_TOTAL = late(
    r"^(?P<name>(?:[A-Z][a-z]+ ){0,3}(?:Planning|Execution|Total runtime|Time)(?: Time)?): "
    r"(?P<value>\d+(?:\.\d+)?) ms(?: \(.{1,20}\))?$",
)
_REMOVED = late(r"^Rows Removed by (?:Join )?(?:Filter|Index Recheck): (?P<rows>\d+)$")
_FILTER = late(r"^Filter: (?P<filter>.{1,1000})$")
_DISK = late(r"^Sort Method: external \w+ +Disk: (?P<size>\d+)kB$")
_JIT = late(r"^Timing: .{0,300}\bTotal (?P<value>\d+(?:\.\d+)?) ms$")
_BORDER = " |+#*/\"'`"


@dataclass
class _Run(Run):
    """One plan; `last`: the columns of the node above, which the lines below it complete."""

    last: dict[str, Any] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)

    def finish(self) -> bool:
        """Keep it if it has a node that ran."""
        self.facts["plan"] = [
            (own.of["benchmark"], own.of["depth"]) for own in self.results if "depth" in own.of
        ]
        return bool(self.facts["plan"])


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if "actual time=" in text and (found := _NODE.match(text)):
        depth = found.start("node")
        if not run.line or run.names or "->" not in text[:depth]:
            run = reading.begin()
        of: dict[str, Any] = {"benchmark": found["node"].strip(), "depth": depth}
        of["expected_rows"] = reading.number(found["expected"])
        of["rows"], of["loops"] = reading.number(found["rows"]), int(found["loops"])
        run.last = of
        reading.add(f"{of['benchmark']} time", found["time"], "ms", GIVEN, of)
        return
    if not run.line:
        return
    text = text.strip(_BORDER)
    if found := _TOTAL.match(text):
        run.names.add(found["name"])
        reading.add(found["name"], found["value"], "ms", GIVEN)
    elif found := _REMOVED.match(text):
        run.last["removed_rows"] = int(found["rows"])
    elif found := _FILTER.match(text):
        run.last["row_filter"] = found["filter"]
    elif found := _DISK.match(text):
        reading.add("sort on disk", found["size"], "KiB", GIVEN)
    elif found := _JIT.match(text):
        reading.add("JIT compiling", found["value"], "ms", GIVEN)


def _unquoted(text: str) -> str:
    """A line without marks of comments and borders of a table, with its indentation."""
    return text.rstrip(" |+\"'`").lstrip("|#*\"'`").removeprefix("--").lstrip("|#*\"'`")


read = LineReader(TOOL, _Run, _line, clean=_unquoted)
