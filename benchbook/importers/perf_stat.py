"""perf stat: its text (once, -r, -I, per CPU or socket), -x fields, and -j lines."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from benchbook.importers import Line, Log, Report, Result
from benchbook.logs.patterns import late
from benchbook.logs.printed import LONGEST, half_digit

TOOL = "perf-stat"
LOOKS_FOR = "perf stat: 'Performance counter stats for …', fields of -x, JSON lines of -j"
WORDS = (
    "Performance counter stats for",
    "seconds time elapsed",
    '"counter-value"',
    "<not supported>",
    "<not counted>",
    "task-clock",
    "cpu-clock",
    "cycles",
    "instructions",
    "page-faults",
    "context-switches",
    "branches",
    "cache-references",
    "cache-misses",
    "counts unit events",
    "CPUs utilized",
    "per cycle",
    "of all branches",
)
SIGNS = late(
    r'Performance counter stats for|seconds time elapsed|"counter-value"'
    r"|<not (?:supported|counted)>"
    r"|[,;\t|](?:task-clock|cpu-clock|cycles|instructions|page-faults|context-switches|branches"
    r"|cache-(?:misses|references))(?::\w+)?[,;\t|]|counts unit events"
    r"|# +[\d.,]+ +(?:CPUs utilized|insns? per cycle)|# +[\d.,]+ ?% +of all branches"
    # A row that was pasted without what stands above and below it.
    r"|\d[ \t]++(?:msec[ \t]++)?(?:task-clock|cpu-clock|cycles|instructions|page-faults"
    r"|context-switches|branches|cache-(?:misses|references))(?::\w++)?[ \t]++"
    r"(?:#[ \t]++\d|[(\[] ?\d++[.,]\d\d%)"
)

_HEAD = late(r"^Performance counter stats for (?P<what>.+?)(?: \((?P<runs>\d+) runs\))?:?$")
# It begins later, leaves children out, or is asked while it runs.
_IN_PART = late(r"^(?:-\w*[Dipt]|--(?:delay|no-inherit|control|pid|tid)\b)")
_INTERVAL_HEAD = late(r"^# +time +(?:\w+ +(?:cpus|ctrs) +)?counts +unit +events")
_UNITS = {
    "msec": "ms", "usec": "us", "nsec": "ns", "sec": "s", "ns": "ns", "Joules": "J",
    "Watts": "W", "C": "°C", "Bytes": "B", "B": "B", "KiB": "KiB", "MiB": "MiB", "GiB": "GiB",
    "MB": "MB",
}  # fmt: skip
_UNIT = "|".join(_UNITS)
_NUMBER = r"(?:\d{1,3}(?: \d{3})+(?:[.,]\d+)?|\d[\d.,'\u00a0\u202f\u2019]*)"
# Names of several words are those of the first versions, in 2009.
_EVENT = (
    r"(?:task clock ticks|context switches|CPU (?:migrations|cycles)|cache (?:references|misses)"
    r"|[A-Za-z][\w.:/,=@?-]*)"
)
_ROW = late(
    # Behind the sign of a diff: a count has none.
    rf"^(?:[+-]\s+)?(?:(?P<at>\d+[.,]\d{{6,9}})\s+)?"
    rf"(?:(?P<place>CPU\d+|S\d+(?:-[A-Z]+\d+)*|N\d+|[\w./:-]+-\d+)\s+(?:\d+\s+)?)?"
    rf"(?P<value><not (?:supported|counted)>|-?{_NUMBER})\s+(?:(?P<unit>{_UNIT})\s+)?"
    rf"(?P<event>{_EVENT})(?P<rest>(?:\s+[\[#(].*|\s+[\w./-]+)?)$"
)
_RUNNING = late(r"[(\[] *(\d+(?:[.,]\d+)?) *%[)\]]")  # in square ones by Linux 3
_SPREAD = late(r"\( *\+- *([\d.,]+) *% *\)")
_METRIC = late(rf"# +({_NUMBER}) *(?:([A-Za-z/%](?:[^(\[]*[^(\[ ])?) *)?(?:[(\[]|$)")
_RATE = late(r"^([KMG]?)/sec$")
_THOUSAND = late(r"\d{1,3}[.,]\d{3}")
_SPACES = {ord(one): None for one in "'\u00a0\u202f\u2019 "}
# Since the end of 2025 the name of the metric follows its unit.
_NAMED = late(r"^(?P<unit>\S+) {2,}(?P<name>\w+)$")
_RENAMED = {
    "CPUs_utilized": ("1", " CPUs utilized"),
    "insn_per_cycle": ("1", " insn per cycle"),
    "cycles_frequency": ("GHz", " clock"),
}
_ELAPSED = late(rf"^({_NUMBER})(?: +\+- +({_NUMBER}))? +seconds (time elapsed|user|sys)\b(.*)$")
_FIRST_ELAPSED = late(r"^Wall-clock time elapsed: +(\d+\.\d+) msecs")
# Its last line is often all that is kept, behind somebody's name for it.
_ALONE = late(
    rf"^(?:(?P<label>[^:]{{1,80}}):\s+)?"
    rf"(?P<rest>{_NUMBER} +\+- +{_NUMBER} +seconds time elapsed +\( *\+- .*)$"
)
_KNOWN = late(
    r"^(?:task-clock|cpu-clock|page-faults|minor-faults|major-faults|context-switches|cs|faults"
    r"|cpu-migrations|migrations|(?:cpu-|ref-)?cycles|instructions|branch(?:es|-misses)"
    r"|cache-(?:references|misses)|(?:L1-[di]cache|LLC|dTLB|iTLB|branch)-(?:load|store)\S*"
    r"|stalled-cycles-\w+|bus-cycles|duration_time)(?:[:/]\S*)?$"
)
_COUNT = late(r"\d+(?:[.,]\d+)?")
_AT = late(r"\d+[.,]\d{6,9}")
# By separator; before the count may stand time, core, and how many were summed.
_FIELDS = {
    separator: late(
        rf"\s*+(?P<before>(?:[^{one}]*{one}){{0,3}}?)\s*+"
        rf"(?P<printed><not (?:supported|counted)>|\d+(?:{point}\d+)?)\s*+{one}\s*+"
        rf"(?:(?P<unit>{_UNIT})\s*+)?{one}\s*+(?P<event>{_EVENT})\s*+{one}(?:[^{one}%]*%\s*+{one})?"
        rf"\s*+\d+\s*+{one}\s*+(?P<share>\d{{1,3}}[.,]\d+)\s*+"
        rf"(?:{one}(?:\s*+(?P<metric>\d+(?:{point}\d+)?)\s*+{one}(?P<said>[^{one}]*))?|$)"
    )
    for separator, one, point in (
        (",", ",", r"\."),
        (";", ";", "[.,]"),
        ("\t", r"\t", "[.,]"),
        ("|", r"\|", "[.,]"),
    )
}
# Behind a number that is of a hundred, which fields and JSON do not say.
_OF_HUNDRED = late(r"^of all |cycles idle$")
# Another metric in a line of its own, where the fields of an event are empty.
_MORE = late(
    r"(?:[^,;\t|]*+[,;\t|]){5,8}(?P<metric>\d+(?:[.,]\d+)?)[,;\t|]"
    r"(?P<said>% +tma_\w+|stalled cycles per insn)\s*$"
)
_SIZES = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9}
_CLOCK = late(r"^(?:(?:task|cpu)-clock(?::\w+)?|task clock ticks)$")
# By Linux 2.6, which wrote the unit into the name.
_OLD_CLOCK = late(r"^((?:task|cpu)-clock)-msecs$")
_OLD_METRICS = {"CPUs": " CPUs utilized", "IPC": " insn per cycle"}


@dataclass
class _Run:
    line: int = 0
    facts: dict[str, Any] = field(default_factory=dict)
    rows: list[Result] = field(default_factory=list)
    headed: bool = False
    ended: bool = False
    event: str = ""  # of the last row, and its line
    last: int = 0


def read(log: Log) -> list[Report]:
    """One report for each start of perf stat."""
    reports = [*_of_text(log), *_of_fields(log), *_of_json(log)]
    return sorted(reports, key=lambda report: report.line)


def _of_text(log: Log) -> list[Report]:
    reports: list[Report] = []
    run = _Run()
    asked = [one.number for one in log.commands]
    for line in log.like(_may_be_of_text):
        text = line.text.strip()
        if head := _HEAD.match(text):
            _finish(run, reports)
            run = _Run(line.number, {"program": _program(head["what"])}, headed=True)
            if head["runs"]:
                run.facts["repetitions"] = int(head["runs"])
            if at := bisect_left(asked, line.number):
                run.facts["asked_in_line"] = asked[at - 1]
                if any(_IN_PART.match(word) for word in log.commands[at - 1].words):
                    run.facts["counted_in_part"] = True
        elif _INTERVAL_HEAD.match(text):
            # It stands again over every 25 intervals.
            if run.ended:
                _finish(run, reports)
                run = _Run()
            if not run.rows:
                run.headed, run.line = True, line.number
        elif (ended := _ELAPSED.match(text)) and (run.rows or run.headed):
            if not (run.ended and ended[2] and ended[3] == "time elapsed"):
                _elapsed(line, ended, run)
                continue
            _finish(run, reports)
            run = _Run(line.number)
            _elapsed(line, ended, run)
        elif "seconds time elapsed" in text and (alone := _ALONE.match(text)):
            _finish(run, reports)
            run = _Run(line.number, {"program": alone["label"]} if alone["label"] else {})
            if ended := _ELAPSED.match(alone["rest"]):
                _elapsed(line, ended, run)
        elif run.headed and (first := _FIRST_ELAPSED.match(text)):
            run.rows.append(Result("time elapsed", float(first[1]), "ms", line.number))
            run.ended = True
        elif text.startswith(("#  ", "Topdown")):
            if not run.ended and (run.rows or run.headed) and line.number - run.last <= 2:
                _more(line, text, run)
        elif not run.ended and (row := _ROW.match(text)):
            known = _KNOWN.match(row["event"])
            # A stamp and a place, or a unit behind it: no other table has both.
            told = row["at"] and (row["place"] or row["unit"])
            if run.headed or told or (known and (row["rest"] or row["unit"] or run.rows)):
                run.line = run.line or line.number
                run.event, run.last = row["event"], line.number
                _row(line, row, run)
    _finish(run, reports)
    return reports


def _may_be_of_text(line: str) -> bool:
    """Whether a line is one of those below."""
    text = line.strip()
    return len(line) <= LONGEST and bool(
        _ROW.match(text)
        or text.startswith(("#  ", "Topdown"))
        or "seconds time elapsed" in text
        or any(one.match(text) for one in (_HEAD, _INTERVAL_HEAD, _ELAPSED, _FIRST_ELAPSED))
    )


def _program(what: str) -> str:
    """What was counted: a command line stands between quotation marks."""
    return what[1:-1] if what.startswith("'") and what.endswith("'") else what


def _finish(run: _Run, reports: list[Report]) -> None:
    if not run.rows or (not run.headed and not run.ended and len(run.rows) < 2):
        return
    notes = [] if run.headed else ["The head of what perf stat printed is missing."]
    reports.append(Report(TOOL, run.rows, run.line, "", run.facts, notes))


def _row(line: Line, row: re.Match[str], run: _Run) -> None:
    rest = row["rest"]
    of: dict[str, Any] = {}
    if row["at"]:
        of["interval_end_s"] = float(row["at"].replace(",", "."))
    if row["place"]:
        of["place"] = row["place"]
    if running := _RUNNING.search(_SPREAD.sub("", rest)):
        of["running_fraction"] = float(running[1].replace(",", ".")) / 100
    unit = _UNITS.get(row["unit"] or "", "events")
    statistic = "mean" if "repetitions" in run.facts else ("sample" if row["at"] else "")
    event = _OLD_CLOCK.sub(r"\1", row["event"])
    _add(run.rows, line, event, row["value"], unit, statistic, of)
    metric = _METRIC.search(rest)
    if metric and metric[2] and not row["value"].startswith("<"):
        _add_metric(run.rows, line, event, metric[1], metric[2].strip(), statistic, of)


def _more(line: Line, text: str, run: _Run) -> None:
    """Another metric in a line of its own: of the event above it, or of several."""
    run.last = line.number
    if (metric := _METRIC.search(text)) and metric[2]:
        statistic = "mean" if "repetitions" in run.facts else ""
        _add_metric(run.rows, line, run.event, metric[1], metric[2].strip(), statistic, {})


def _add_metric(
    rows: list[Result],
    line: Line,
    event: str,
    printed: str,
    said: str,
    statistic: str,
    of: dict[str, Any],
) -> None:
    """What is made of a count and printed with it; those of the top-down method are of many."""
    value = number(printed, counts=False)
    if value is not None and said:
        size, unit, title = _metric(said)
        name = title.strip() if title.startswith(" tma_") else f"{event}{title}"
        if title == " rate":
            of = {**of, "rate_error_per_s": size * half_digit(printed.replace(",", "."))}
        rows.append(Result(name, value * size, unit, line.number, statistic, of))


def _metric(said: str) -> tuple[float, str, str]:
    """What is printed behind #: (a size, the unit, what it adds to the name of the event)."""
    if named := _NAMED.match(said):
        unit, name = named["unit"], named["name"]
        if name in _RENAMED:
            return 1.0, *_RENAMED[name]
        return 1.0, "%" if unit == "%" else "1/s" if unit.endswith("/sec") else "1", f" {name}"
    if rate := _RATE.match(said):
        return _SIZES[rate[1]], "1/s", " rate"
    if said.startswith("%"):
        return 1.0, "%", f" {said[1:].strip()}".rstrip()
    if said == "GHz":
        return 1.0, "GHz", " clock"
    if said in _OLD_METRICS:
        return 1.0, "1", _OLD_METRICS[said]
    return 1.0, "1", f" {said}"


def _add(
    rows: list[Result],
    line: Line,
    event: str,
    printed: str,
    unit: str,
    statistic: str,
    of: dict[str, Any],
) -> None:
    """A count; one that is not there has no value, and says so. Clocks are in ms, which old
    versions write behind them or not at all."""
    if unit == "events" and _is_clock(event):
        unit = "ms"
    if printed.startswith("<"):
        absent = {**of, "state": "absent", "reason": printed}
        rows.append(Result(event, math.nan, unit, line.number, statistic, absent))
        return
    value = number(printed, counts=unit == "events")
    if value is not None:
        rows.append(Result(event, value, unit, line.number, statistic, {**of, "state": "ok"}))


@lru_cache
def _is_clock(event: str) -> bool:
    return _CLOCK.match(event) is not None


def number(text: str, *, counts: bool) -> float | None:
    """A number as the locale wrote it; what groups digits is known from what the number is of."""
    if text.isdecimal():
        return float(text)
    if text.startswith("-"):  # as no count is
        value = number(text[1:], counts=counts)
        return None if value is None else -value
    plain = text.translate(_SPACES)
    commas, points = plain.count(","), plain.count(".")
    if commas and points:
        plain = plain.replace("," if plain.find(",") < plain.find(".") else ".", "")
    elif commas + points > 1 or (counts and _THOUSAND.fullmatch(plain)):
        plain = plain.replace(".", "").replace(",", "")
    try:
        return float(plain.replace(",", "."))
    except ValueError:
        return None


def _elapsed(line: Line, ended: re.Match[str], run: _Run) -> None:
    value = number(ended[1], counts=False)
    if value is None:
        return
    share = _SPREAD.search(ended[4])
    percent = number(share[1], counts=False) if share else None
    statistic = "mean" if ended[2] or share else ""
    name = ended[3] if ended[3] == "time elapsed" else f"{ended[3]} time"
    run.rows.append(Result(name, value, "s", line.number, statistic))
    if ended[2] and (spread := number(ended[2], counts=False)) is not None:
        run.rows.append(
            Result(name, spread, "s", line.number, "standard error", {"error_percent": percent})
        )
    elif percent is not None:  # before 4.17 as a share only
        of = {"computed": True}
        error = value * percent / 100
        run.rows.append(Result(name, error, "s", line.number, "standard error", of))
    run.ended = True


def _of_fields(log: Log) -> list[Report]:
    """What -x prints: value, unit, event, perhaps a spread, run time in ns, share of it in %."""
    reports: list[Report] = []
    before, event = -2, ""
    for line in log.like(_may_be_of_fields):
        if (found := _cells(line.text)) is None:
            if line.number - before <= 2 and (more := _MORE.match(line.text)):
                before, said = line.number, _said(more["said"])
                _add_metric(reports[-1].results, line, event, more["metric"], said, "", {})
            continue
        separator, cells = found
        fields, printed, unit, name, share, metric, said = cells.groups()
        rows: list[Result] = []
        of: dict[str, Any] = {"running_fraction": _fraction(share)}
        places = [one.strip() for one in fields.split(separator)[:-1]] if fields else []
        if places and _AT.fullmatch(places[0]):
            of["interval_end_s"] = float(places.pop(0).replace(",", "."))
        if places:
            of["place"] = separator.join(places)
        _add(rows, line, name, printed, _UNITS.get(unit or "", "events"), "", of)
        if not rows:
            continue
        if metric and not printed.startswith("<"):
            _add_metric(rows, line, name, metric, _said(said), "", of)
        event = name
        if line.number - before > 2:
            reports.append(Report(TOOL, [], line.number))
        before = line.number
        reports[-1].results += rows
    return reports


def _may_be_of_fields(text: str) -> bool:
    """Whether a line is one of these."""
    if len(text) > LONGEST or text.startswith("{"):
        return False
    return _cells(text) is not None or _MORE.match(text) is not None


def _cells(text: str) -> tuple[str, re.Match[str]] | None:
    """What separates the cells of a row, and the row."""
    for separator, pattern in _FIELDS.items():
        if text.count(separator) >= 4 and (found := pattern.match(text)):
            return separator, found
    return None


@lru_cache
def _fraction(percent: str) -> float:
    """Nearly all are the same."""
    return float(percent.replace(",", ".")) / 100


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
                _add_metric(rows, Line(document.number, ""), event, metric, _said(said), "", {})
            continue
        printed, share = str(value["counter-value"]), _share(value.get("pcnt-running", 100))
        if share is None or not (printed.startswith("<") or _COUNT.fullmatch(printed)):
            continue
        of: dict[str, Any] = {"running_fraction": share}
        if "interval" in value:
            of["interval_end_s"] = value["interval"]
        if (core := str(value.get("cpu", ""))).isdecimal():
            of["core"] = int(core)
        if "thread" in value:  # of --per-thread
            of["place"] = str(value["thread"])
        said = str(value.get("unit") or "").replace("(null)", "")
        unit = _UNITS.get(said, said) or "events"
        line, event = Line(document.number, ""), str(value["event"])
        _add(rows, line, event, printed, unit, "", of)
        metric = str(value.get("metric-value", ""))
        if _COUNT.fullmatch(metric) and not printed.startswith("<"):
            _add_metric(rows, line, event, metric, _said(str(value.get("metric-unit", ""))), "", of)
    return [Report(TOOL, rows, rows[0].line)] if rows else []


def _said(unit: str) -> str:
    """The unit of a metric as the text has it, where % stands at the number."""
    unit = unit.strip().replace("(null)", "")
    return f"% {unit}" if _OF_HUNDRED.search(unit) else unit


def _share(percent: Any) -> float | None:
    """Of 1; None where it is no number."""
    try:
        return float(percent) / 100
    except (OverflowError, TypeError, ValueError):
        return None
