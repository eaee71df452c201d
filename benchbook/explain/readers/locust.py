"""locust: the table of requests, and of their percentiles."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.load_lines import COUNT, FAILED, NUMBER, RATE, TIME
from benchbook.explain.results import Result

TOOL = "locust"
_HEAD = late(r"\bName\s+# ?reqs\s+# ?fails\s*\|?\s*Avg\s+Min\s+Max\s*\|?\s*Med(?:ian)?\b")
_SHARES = late(r"\bName\s.*\b50%\s+66%\s.*\b100%")
_ROW = late(
    rf"^(?P<name>\S.{{0,200}}?)\s+(?P<count>\d{{1,12}})\s+(?P<failed>\d{{1,12}})\([\d.]+%\)\s*\|?\s+"
    rf"(?P<mean>{NUMBER})\s+(?P<min>{NUMBER})\s+(?P<max>{NUMBER})\s*\|?\s+(?P<median>{NUMBER})"
    rf"\s*\|?\s+(?P<rate>{NUMBER})(?:\s+{NUMBER})?$"
)
_WHOLE = ("Aggregated", "Total")
_STATISTICS = ("mean", "min", "max", "median")


@dataclass
class _Run(Run):
    """One run: it prints its table again and again, and the last one is of all of it."""

    count: int = 0
    shares: list[str] = field(default_factory=list)
    rows: dict[str, tuple[int, int, int]] = field(default_factory=dict)

    def finish(self) -> bool:
        """Add up the rows, where the line of all of them was cut off."""
        if self.rows and not any(own.name == COUNT for own in self.results):
            every, failed = (sum(row[at] for row in self.rows.values()) for at in (0, 1))
            line = max(row[2] for row in self.rows.values())
            self.results.append(Result(COUNT, float(every), "requests", line, "total"))
            if failed:
                self.facts["failed_are_counted"] = True
                of = {"failure": "failed"}
                self.results.append(Result(FAILED, float(failed), "requests", line, "", of))
        return bool(self.results)


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if _HEAD.search(text):
        run.line, run.shares = run.line or reading.line.number, []
    elif _SHARES.search(text):
        run.shares = [word for word in text.split() if word.endswith("%")]
    elif run.shares and text.startswith(_WHOLE):
        cells = text.split()[1:]
        if len(cells) >= len(run.shares):
            for share, cell in zip(run.shares, cells, strict=False):
                statistic = f"p{share.rstrip('%')}"
                if statistic not in ("p50", "p100") and cell.isdecimal():
                    reading.add(TIME, cell, "ms", statistic)
    elif run.line and (found := _ROW.match(text)):
        _figures(reading, found.groupdict())


def _figures(reading: Reading[_Run], row: dict[str, Any]) -> None:
    """The figures of a row; those of all requests have the names that every load tool has."""
    run, count = reading.run, int(row["count"])
    is_whole = row["name"].split()[-1] in _WHOLE
    if is_whole:
        if count < run.count:
            run = reading.begin()
        run.count = count
        of_all = (COUNT, RATE, TIME, FAILED)
        run.results = [own for own in run.results if own.name not in of_all]
        reading.add(COUNT, float(count), "requests", "total")
        if int(row["failed"]):
            run.facts["failed_are_counted"] = True
            reading.add(FAILED, float(row["failed"]), "requests", "", {"failure": "failed"})
    else:
        name = " ".join(row["name"].split())
        run.rows[name] = count, int(row["failed"]), reading.line.number
    name = "" if is_whole else " ".join(row["name"].split())
    called = {what: f"{what} of {name}" if name else what for what in (RATE, TIME)}
    run.results = [own for own in run.results if not name or own.name not in called.values()]
    for statistic in _STATISTICS:
        reading.add(called[TIME], row[statistic], "ms", statistic)
    reading.add(called[RATE], row["rate"], "requests/s", "mean")


read = LineReader(TOOL, _Run, _line)
