"""siege: transactions, their rate and their times; its list of figures, or the same as JSON."""

from __future__ import annotations

from dataclasses import dataclass

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.load_lines import COUNT, FAILED, NUMBER, RATE, TIME

TOOL = "siege"
_ROW = late(
    rf"^\"?(?P<what>[A-Za-z][a-z_ ]{{5,30}})\"?:\s+(?P<value>{NUMBER})"
    r"\s*(?:hits|%|secs|ms|MB|trans/sec|MB/sec)?,?$"
)
_TIMES = {
    "response time": "mean",
    "longest transaction": "max",
    "shortest transaction": "min",
}


@dataclass
class _Run(Run):
    """One list."""

    transactions: float | None = None
    transactions_line: int = 0

    def finish(self) -> bool:
        """Whether it has the figures that only siege prints together."""
        names = {own.name for own in self.results}
        return {RATE, "availability"} <= names


def _line(reading: Reading[_Run], text: str) -> None:
    found = _ROW.match(text.lstrip("{ \t"))
    if found is None:
        return
    run, what = reading.run, found["what"].lower().replace("_", " ")
    unit = "ms" if text.rstrip(",").endswith(" ms") else "s"
    value = float(found["value"])
    if what == "transactions":
        run = reading.begin()
        run.transactions, run.transactions_line = value, reading.line.number
        reading.add(COUNT, value, "requests", "total")
    elif run.transactions is None:
        return
    elif what == "availability":
        reading.add("availability", value, "%")
    elif what == "elapsed time":
        run.facts["elapsed_s"] = value
    elif what in _TIMES:
        reading.add(TIME, value, unit, _TIMES[what])
    elif what == "transaction rate":
        reading.add(RATE, value, "requests/s", "mean")
    elif what == "throughput":
        reading.add("throughput", value, "MB/s", "mean")
    elif what == "concurrency":
        reading.add("requests under way", value, "requests", "mean")
    elif what == "successful transactions":
        reading.add("successful requests", value, "requests", "total")
        if value == 0 and run.transactions:
            reading.add(FAILED, run.transactions, "requests", "", {"failure": "status"})
    elif what == "failed transactions" and value:
        reading.add(FAILED, value, "requests", "", {"failure": "failed"})


read = LineReader(TOOL, _Run, _line)
