"""mtr: the report of a path, hop by hop."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "mtr"
_HEAD = late(r"^(?:HOST:? |Host\b|My traceroute|Packets).*$")
_COLUMNS = late(
    r"\bLoss%\s+(?:Drop\s+)?Snt\s+(?:Rcv\s+)?Last\s+Avg\s+Best\s+Wo?rst(?:\s+StDev)?(?:\s+[A-Z][a-z]{2,4}){0,4}$"
)
_ROW = late(
    r"^(?P<hop>\d{1,3})\.(?:\|--)?\s+(?:AS\S{1,12}\s+)?(?P<host>\S.{0,160}?)\s+"
    r"(?P<loss>\d{1,3}(?:\.\d{1,2})?)%?(?P<values>(?:\s+\d{1,9}(?:\.\d{0,3})?){5,11})$"
)
# One row that somebody quotes without its hop.
_ALONE = late(r"^(?P<loss>\d{1,3}(?:\.\d{1,2})?)%(?P<values>(?:\s+\d{1,9}(?:\.\d{0,3})?){5,7})$")
_STATISTICS = ("last", "mean", "min", "max", "stddev")


@dataclass
class _Run(Run):
    """One report."""

    columns: list[str] = field(default_factory=list)


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if found := _COLUMNS.search(text):
        run = reading.begin(columns=found[0].split())
    elif run.columns and (found := _ROW.match(text) or _ALONE.match(text)):
        values = dict(zip(run.columns[1:], found["values"].split(), strict=False))
        named = found.groupdict()
        of: dict[str, Any] = {}
        if named.get("hop"):
            of = {"hop": int(named["hop"]), "host": named["host"]}
        reading.add("loss", found["loss"], "%", "", of)
        reading.add("packets sent", values.get("Snt"), "packets", "", of)
        worst = "Wrst" if "Wrst" in values else "Worst"
        for statistic, column in zip(
            _STATISTICS, ("Last", "Avg", "Best", worst, "StDev"), strict=True
        ):
            if statistic == "last":
                reading.show("last", values.get(column), "ms", of=of)
            else:
                reading.add("hop time", values.get(column), "ms", statistic, of)
        reading.show("dropped", values.get("Drop"), "packets", of=of)


read = LineReader(TOOL, _Run, _line)
