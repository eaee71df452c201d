"""Lists of figures, a label and a value with its unit on each line, as small benchmarks print them:
`Triad  260235.19 MB/s`, `memcpy: 2823.1 MB/s (2.4%)`, `Total time (seconds): 17.27`.

They are read where nothing else was recognised, and only where a text has two lines of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report, Result
from benchbook.explain.printed_digits import LONGEST
from benchbook.explain.readers.common.text.grammar import (
    LONG_UNIT,
    NUMBER,
    UNIT,
    is_plural,
    unit_of,
)
from benchbook.explain.readers.common.text.named import pairs_of

TOOL = "figures"
LOOKS_FOR = (
    "lists of figures with units, one a line: `Triad  260235.19 MB/s`, `Total time (s): 3.2`"
)
_TIMES = ("x", "×")
_LABEL = r"(?P<label>[*#]?[A-Za-z][\w /.,+*#'()-]{0,60}?)"
_ROWS = (
    # Label: value unit, or the unit behind the label, and what stands behind it in brackets.
    late(
        rf"^{_LABEL}(?:[ _]?[(\[](?P<own>{UNIT})[)\]]| in (?P<named>{UNIT}))?\s*[:=]\s{{0,40}}"
        rf"(?P<value>{NUMBER}) ?(?P<unit>{UNIT}|[x×](?=$))?(?:\s{{0,3}}[,;(].{{0,80}})?$"
    ),
    # Value unit, a gap, label.
    late(
        rf"^(?P<value>{NUMBER}) ?(?P<unit>{LONG_UNIT})(?:\s{{2,60}}|\s{{1,4}}(?:-|\u2013"
        rf"|:)\s{{1,4}})"
        r"(?P<label>[A-Za-z(][\w /.,+*#'():-]{0,60})$"
    ),
    # A name without blanks, value unit.
    late(
        rf"^(?P<label>(?=\S*[_\d/.-])[A-Za-z][\w/.:+-]{{3,60}}) (?P<value>{NUMBER}) "
        rf"(?P<unit>{LONG_UNIT})$"
    ),
    # Label, a gap, value unit.
    late(
        rf"^{_LABEL}\s{{2,60}}(?P<value>{NUMBER}) (?P<unit>{LONG_UNIT})(?:\s*\([^()]{{0,60}}\))?"
        r"(?:\s+(?:\u2190|<-+|#|//) .{0,80})?$"
    ),
)
_COUNT = late(
    r"(?i)^(?:number of |num(?:ber)? )?(?:mpi |openmp |hardware )?"
    r"(?P<what>processes|ranks|threads)(?: \([\w ]{1,30}\))?(?: requested| used)?\s*[:=]\s{0,40}"
    r"(?P<count>\d{1,5})$"
)
# Settings and states that have a unit and are no figure of anything.
_SETTING = late(
    r"(?i)\b(?:time-?out|interval|delay|ttl|age|up-?time|limit|threshold|expires?|retention|period"
    r"|sleep|wait|granularity|resolution|tolerance|duration|rated|max(?:imum)? speed|link speed)\b"
)
_SPEED_UP = late(r"(?i)speed-?up|faster|ratio")
_LABEL_ALONE = late(rf"^[A-Za-z][\w /-]{{1,60}} in (?:{LONG_UNIT}):$")
_ALONE = late(rf"^{NUMBER}$")
_LEAST, _MOST = 2, 2000
_EDGES = " \t>|`"


def read(log: Log) -> list[Report]:
    """One report for each list; a label that comes again, or a count of threads, begins another."""
    reports: list[Report] = []
    last = 0
    above = ""  # a label that stands on a line of its own, with its unit
    for line, may_say in log.marked(_may_say):
        if not may_say:
            above = ""
            continue
        text = line.text.strip(_EDGES)
        if above and _ALONE.match(text):
            text = f"{above} {text}"
        above = text if _LABEL_ALONE.match(text) else ""
        if not text or len(text) > LONGEST or not any(map(str.isdigit, text)):
            continue
        if found := _COUNT.match(text):
            what = "threads" if found["what"].lower() == "threads" else "processes"
            if not reports or reports[-1].results:
                reports.append(Report(TOOL, [], line.number))
            reports[-1].facts[what] = int(found["count"])
        elif last < _MOST and (several := _of_line(log, line, text)):
            if not reports or _come_again(reports[-1], several):
                reports.append(Report(TOOL, [], line.number))
            reports[-1].results += several
            last += len(several)
    kept = [report for report in reports if report.results]
    return kept if sum(len(report.results) for report in kept) >= _LEAST else []


def _may_say(line: str) -> bool:
    """Whether a line has a figure, or is the label or the number of one."""
    text = line.strip(_EDGES)
    if text.endswith(":") and _LABEL_ALONE.match(text):
        return True
    patterns = (_ALONE, _COUNT, *_ROWS) if any(map(str.isdigit, text)) else ()
    is_figure = text.count("=") > 1 or any(pattern.match(text) for pattern in patterns)
    return len(text) <= LONGEST and is_figure


def _come_again(report: Report, several: Sequence[Result]) -> bool:
    """Whether one of these figures is in the list already, of the same thing."""
    known = {(own.name, own.of.get("label")) for own in report.results}
    return any((own.name, own.of.get("label")) in known for own in several)


def _of_line(log: Log, line: Line, text: str) -> list[Result]:
    """The figures of a line: one with its label, or several of one thing."""
    if text.count("=") > 1 and (pairs := list(pairs_of(log, line, text, 2))):
        return pairs
    own = _figure(log, line, text)
    return [own] if own else []


def _figure(log: Log, line: Line, text: str) -> Result | None:
    for row in _ROWS:
        if found := row.match(text):
            of_label = found.groupdict()
            label = found["label"].strip(" *#-")
            value = log.number(found["value"])
            if value is None or not label or "  " in label or _SETTING.search(label):
                return None
            if is_plural(text, label):
                return None
            unit = unit_of(found["unit"] or of_label.get("own") or of_label.get("named") or "")
            if found["unit"] in _TIMES:
                if not _SPEED_UP.search(label):
                    return None
                return Result(label, value, "1", line.number, "ratio", {})
            return Result(label, value, unit, line.number, "", {}) if unit else None
    return None
