"""timeit of Python and of IPython: a line for each statement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log, Report
from benchbook.explain.readers.common.command_lines import last_above
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "timeit"
_UNIT = r"(?:nsec|usec|msec|sec|ns|us|µs|μs|ms|s)"
_COUNT = r"\d[\d,]*"
_BEST = late(
    rf"^(?:(?P<label>[\w(][^:\n]{{0,60}}): +)?(?P<loops>{_COUNT}) loops?, best of "
    rf"(?P<repeats>\d+): (?P<best>\d+(?:\.\d+)?) "
    rf"(?P<unit>{_UNIT}) per loop$"
)
_MEAN = late(
    rf"^(?P<mean>\d+(?:\.\d+)?) (?P<unit>{_UNIT}) (?:±|\+-) (?P<spread>\d+(?:\.\d+)?) "
    rf"(?P<spread_unit>{_UNIT}) per loop \(mean (?:±|\+-) std\. ?dev\. of (?P<repeats>\d+) runs?, "
    rf"(?P<loops>{_COUNT}) loops? each\)$"
)
_AVERAGE = late(  # IPython before version 6
    rf"^(?P<loops>{_COUNT}) loops?, average of "
    rf"(?P<repeats>\d+): (?P<mean>\d+(?:\.\d+)?) (?P<unit>{_UNIT}) (?:±|\+-) "
    rf"(?P<spread>\d+(?:\.\d+)?) (?P<spread_unit>{_UNIT}) per loop "
    r"\(using standard deviation\)$"
)
_UNITS = {"nsec": "ns", "usec": "us", "µs": "us", "μs": "us", "msec": "ms", "sec": "s"}
# What was timed: the line above that asks for it.
_ASKED = late(r"^(?:In \[\d+\]: |>>> )?(?P<statement>%%?timeit\b.*)$")
_NEAR = 6  # lines
_SLOWEST = late(r"^The slowest run took (?P<times>\d+(?:\.\d+)?) times longer than the fastest\.")


@dataclass
class _Run(Run):
    """One timed statement; `asked` is what the line above says of it, and where it stands."""

    asked: tuple[str, int] = ("", 0)
    slowest: tuple[float, int] = (0.0, 0)

    def finish(self) -> bool:
        """Keep what was asked for if it stands near."""
        statement, line = self.asked
        if statement and self.line - line <= _NEAR:
            self.facts["command"] = statement
        times, warned = self.slowest
        if times and self.line - warned <= _NEAR:
            self.facts |= {"slowest_over_fastest": times, "warned_in_line": warned}
        return bool(self.results)


def _line(reading: Reading[_Run], text: str) -> None:
    if " per loop" not in text:
        if "timeit" in text and (found := _ASKED.match(text)):
            reading.above["asked"] = (found["statement"], reading.line.number)
        elif found := _SLOWEST.match(text):
            reading.above["slowest"] = (float(found["times"]), reading.line.number)
        return
    text, _, comment = text.partition("  # ")
    text = text.rstrip()
    found = _BEST.match(text) or _MEAN.match(text) or _AVERAGE.match(text)
    if found is None:
        return
    reading.begin()
    if comment:
        reading.run.facts["command"] = comment.strip()
    reading.above.pop("slowest", None)
    of: dict[str, Any] = {
        "repetitions": int(found["repeats"]),
        "iterations": int(found["loops"].replace(",", "")),
    }
    unit = _UNITS.get(found["unit"], found["unit"])
    figures = found.groupdict()
    if figures.get("label"):
        reading.run.facts.setdefault("command", figures["label"])
    if figures.get("best"):
        reading.add("time", figures["best"], unit, "best", of)
    else:
        spread_unit = _UNITS.get(figures["spread_unit"], figures["spread_unit"])
        reading.add("time", figures["mean"], unit, "mean", of)
        reading.add("time", figures["spread"], spread_unit, "stddev", of)


_READER = LineReader(TOOL, _Run, _line)


def read(log: Log) -> list[Report]:
    """One report for each statement, with the command that timed it."""
    reports = _READER(log)
    for report in reports:
        command = last_above(log.commands, report.line)
        is_near = command is not None and report.line - command.number <= _NEAR
        if command is not None and is_near and "command" not in report.facts:
            report.facts["command"] = " ".join(command.words)
    return reports
