"""perf stat: its text (once, -r, -I, per CPU or socket), -x fields, and -j lines."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report, Result
from benchbook.explain.printed_digits import LONGEST, as_float
from benchbook.explain.readers.common import command_lines
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.perf_events import (
    EVENT,
    NUMBER,
    TOOL,
    UNIT,
    UNITS,
    add_count,
    add_metric,
    number,
    separated,
    words_of,
)

_HEAD = late(r"^Performance counter stats for (?P<what>.+?)(?: \((?P<runs>\d+) runs\))?:?$")
# It begins later, leaves children out, or is asked while it runs.
_IN_PART = late(r"^(?:-\w*[Dipt]|--(?:delay|no-inherit|control|pid|tid)\b)")
_QUOTED = late(r"^'(.*)'$", re.S)  # a command line
_INTERVAL_HEAD = late(r"^# +time +(?:\w+ +(?:cpus|ctrs) +)?counts +unit +events")
_ROW = late(
    # Behind the sign of a diff: a count has none.
    rf"^(?:[+-]\s+)?(?:(?P<at>\d+[.,]\d{{6,9}})\s+)?"
    rf"(?:(?P<place>CPU\d+|S\d+(?:-[A-Z]+\d+)*|N\d+|[\w./:-]+-\d+)\s+(?:\d+\s+)?)?"
    rf"(?P<value><not (?:supported|counted)>|-?{NUMBER})\s+(?:(?P<unit>{UNIT})\s+)?"
    rf"(?P<event>{EVENT})(?P<rest>(?:\s+[\[#(].*|\s+[\w./-]+)?)$"
)
_RUNNING = late(r"[(\[] *(\d+(?:[.,]\d+)?) *%[)\]]")  # in square ones by Linux 3
_SPREAD = late(r"\( *\+- *([\d.,]+) *% *\)")
_METRIC = late(rf"# +({NUMBER}) *(?:([A-Za-z/%](?:[^(\[]*[^(\[ ])?) *)?(?:[(\[]|$)")
# Of --topdown and of -M with --metric-only: names in a line, their numbers in the next.
_METRIC_NAMES = late(r"^(?:% +tma_\w+ *)+$")
_METRIC_NUMBERS = late(r"^\d+[.,]\d+(?: +\d+[.,]\d+)*$")
_ELAPSED = late(rf"^({NUMBER})(?: +\+- +({NUMBER}))? +seconds (time elapsed|user|sys)\b(.*)$")
_FIRST_ELAPSED = late(r"^Wall-clock time elapsed: +(\d+\.\d+) msecs")
# Its last line is often all that is kept, behind somebody's name for it.
_ALONE = late(
    rf"^(?:(?P<label>[^:]{{1,80}}):\s+)?"
    rf"(?P<rest>{NUMBER} +\+- +{NUMBER} +seconds time elapsed +\( *\+- .*)$"
)
_KNOWN = late(
    r"^(?:task-clock|cpu-clock|page-faults|minor-faults|major-faults|context-switches|cs|faults"
    r"|cpu-migrations|migrations|(?:cpu-|ref-)?cycles|instructions|branch(?:es|-misses)"
    r"|cache-(?:references|misses)|(?:L1-[di]cache|LLC|dTLB|iTLB|branch)-(?:load|store)\S*"
    r"|stalled-cycles-\w+|bus-cycles|duration_time)(?:[:/]\S*)?$"
)
_COUNT = late(r"\d+(?:[.,]\d+)?")
# By Linux 2.6, which wrote the unit into the name.
MOST_METRICS = 6  # of one event, in lines of their own
_OLD_CLOCK = late(r"^((?:task|cpu)-clock)-msecs$")


@dataclass
class _Run(Run):
    headed: bool = False
    ended: bool = False
    first: str = ""  # event of the first row
    event: str = ""  # of the last row, and its line
    last: int = 0
    metrics: list[str] = field(default_factory=list)  # whose numbers are in the next line

    def finish(self) -> bool:
        """Whether these are rows of perf stat: one alone, without a head, may be of anything."""
        least = 1 if self.headed or self.ended else 2
        return len(self.results) >= least


def read(log: Log) -> list[Report]:
    """One report for each start of perf stat."""
    reports = [*_of_text(log), *separated(log), *_of_json(log)]
    return sorted(reports, key=lambda report: report.line)


def _line(reading: Reading[_Run], text: str) -> None:
    run, at = reading.run, reading.line.number
    if head := _HEAD.match(text):
        run = reading.begin(facts={"program": _QUOTED.sub(r"\1", head["what"])}, headed=True)
        if head["runs"]:
            run.facts["repetitions"] = int(head["runs"])
        if command := command_lines.last_above(reading.log.commands, at):
            run.facts["asked_in_line"] = command.number
            if any(_IN_PART.match(word) for word in command.words):
                run.facts["counted_in_part"] = True
    elif _INTERVAL_HEAD.match(text):
        # It stands again over every 25 intervals.
        run = reading.begin() if run.ended else run
        if not run.results:
            run.headed, run.line = True, at
    elif (ended := _ELAPSED.match(text)) and (run.results or run.headed):
        if run.ended and ended[2] and ended[3] == "time elapsed":
            reading.begin()
        _elapsed(reading, ended)
    elif "seconds time elapsed" in text and (alone := _ALONE.match(text)):
        reading.begin(facts={"program": alone["label"]} if alone["label"] else {})
        if ended := _ELAPSED.match(alone["rest"]):
            _elapsed(reading, ended)
    elif run.headed and (first := _FIRST_ELAPSED.match(text)):
        reading.add("time elapsed", float(first[1]), "ms")
        run.ended = True
    elif _METRIC_NAMES.match(text):
        run.metrics = [name for name in text.split() if name != "%"]
    elif run.metrics and _METRIC_NUMBERS.match(text):
        numbers = text.split()
        if len(numbers) == len(run.metrics):
            for name, printed in zip(run.metrics, numbers, strict=True):
                add_metric(run.results, reading.line, "", printed, f"%  {name}", "", {})
        run.metrics = []
    elif text.startswith(("#  ", "Topdown")):
        if not run.ended and (run.results or run.headed) and at - run.last <= 2:
            _more(reading.line, text, run)
    elif not run.ended and (row := _ROW.match(text)):
        known = _KNOWN.match(row["event"])
        # A stamp and a place, or a unit behind it: no other table has both.
        told = row["at"] and (row["place"] or row["unit"])
        if run.headed or told or (known and (row["rest"] or row["unit"] or run.results)):
            if not run.headed and not row["at"] and row["event"] == run.first:
                run = reading.begin()  # another run, whose head is missing as well
            run.first = run.first or row["event"]
            run.line = run.line or at
            run.event, run.last = row["event"], at
            _row(reading.line, row, run)


def _may_be_of_text(line: str) -> bool:
    """Whether a line is one of those below."""
    text = line.strip()
    return len(line) <= LONGEST and bool(
        _ROW.match(text)
        or text.startswith(("#  ", "Topdown", "%"))
        or _METRIC_NUMBERS.match(text)
        or "seconds time elapsed" in text
        or any(pattern.match(text) for pattern in (_HEAD, _INTERVAL_HEAD, _ELAPSED, _FIRST_ELAPSED))
    )


_of_text = LineReader(TOOL, _Run, _line, lines=lambda log: log.like(_may_be_of_text))


def _row(line: Line, row: re.Match[str], run: _Run) -> None:
    rest = row["rest"]
    of: dict[str, Any] = {}
    if row["at"]:
        of["interval_end_s"] = float(row["at"].replace(",", "."))
    if row["place"]:
        of["place"] = row["place"]
    if running := _RUNNING.search(_SPREAD.sub("", rest)):
        of["running_fraction"] = float(running[1].replace(",", ".")) / 100
    if (spread := _SPREAD.search(rest)) and "repetitions" in run.facts:
        percent = number(spread[1], counts=False)
        of |= {"error_percent": percent} if percent is not None else {}
    unit = UNITS.get(row["unit"] or "", "events")
    statistic = "mean" if "repetitions" in run.facts else ("sample" if row["at"] else "")
    event = _OLD_CLOCK.sub(r"\1", row["event"])
    add_count(run.results, line, event, row["value"], unit, statistic, of)
    metric = _METRIC.search(rest)
    if metric and metric[2] and not row["value"].startswith("<"):
        add_metric(run.results, line, event, metric[1], metric[2].strip(), statistic, of)


def _more(line: Line, text: str, run: _Run) -> None:
    """Another metric in a line of its own: of the event above it, or of several."""
    run.last = line.number
    # The share of the time stands behind the last metric of an event.
    if running := _RUNNING.search(_SPREAD.sub("", text)):
        share = {"running_fraction": float(running[1].replace(",", ".")) / 100}
        for at in range(len(run.results))[-MOST_METRICS:]:
            if (own := run.results[at]).name == run.event and "state" in own.of:
                run.results[at] = replace(own, of=share | dict(own.of))
    if (metric := _METRIC.search(text)) and metric[2]:
        statistic = "mean" if "repetitions" in run.facts else ""
        add_metric(run.results, line, run.event, metric[1], metric[2].strip(), statistic, {})


def _elapsed(reading: Reading[_Run], ended: re.Match[str]) -> None:
    reading.run.ended = True
    value = number(ended[1], counts=False)
    if value is None:
        return
    share = _SPREAD.search(ended[4])
    percent = number(share[1], counts=False) if share else None
    name = ended[3] if ended[3] == "time elapsed" else f"{ended[3]} time"
    reading.add(name, value, "s", "mean" if ended[2] or share else "")
    if ended[2]:
        spread = number(ended[2], counts=False)
        reading.add(name, spread, "s", "standard error", {"error_percent": percent})
    elif percent is not None:  # before 4.17 as a share only
        reading.add(name, value * percent / 100, "s", "standard error", {"computed": True})


def _of_json(log: Log) -> list[Report]:
    rows: list[Result] = []
    event = ""
    for document in log.documents:
        value = document.value
        if not isinstance(value, dict):
            continue
        if not {"counter-value", "event"} <= value.keys():
            metric, said = (str(value.get(name, "")) for name in ("metric-value", "metric-unit"))
            if rows and _COUNT.fullmatch(metric):
                add_metric(rows, Line(document.number, ""), event, metric, words_of(said), "", {})
            continue
        printed, percent = str(value["counter-value"]), as_float(value.get("pcnt-running", 100))
        if percent is None or not (printed.startswith("<") or _COUNT.fullmatch(printed)):
            continue
        of: dict[str, Any] = {"running_fraction": percent / 100}
        if "interval" in value:
            of["interval_end_s"] = value["interval"]
        if (core := str(value.get("cpu", ""))).isdecimal():
            of["core"] = int(core)
        if "thread" in value:  # of --per-thread
            of["place"] = str(value["thread"])
        said = str(value.get("unit") or "").replace("(null)", "")
        unit = UNITS.get(said, said) or "events"
        line, event = Line(document.number, ""), str(value["event"])
        add_count(rows, line, event, printed, unit, "", of)
        metric = str(value.get("metric-value", ""))
        if _COUNT.fullmatch(metric) and not printed.startswith("<"):
            add_metric(
                rows, line, event, metric, words_of(str(value.get("metric-unit", ""))), "", of
            )
    return [Report(TOOL, rows, rows[0].line)] if rows else []
