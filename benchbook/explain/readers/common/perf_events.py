"""What perf stat prints of an event: its count, and the metric that is made of it; rows of -x."""

from __future__ import annotations

import math
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report, Result
from benchbook.explain.printed_digits import LONGEST, as_float, half_digit

TOOL = "perf-stat"
UNITS = {
    "msec": "ms", "usec": "us", "nsec": "ns", "sec": "s", "ns": "ns", "Joules": "J",
    "Watts": "W", "C": "°C", "Bytes": "B", "B": "B", "KiB": "KiB", "MiB": "MiB", "GiB": "GiB",
    "MB": "MB",
}  # fmt: skip
UNIT = "|".join(UNITS)
NUMBER = r"(?:\d{1,3}(?: \d{3})+(?:[.,]\d+)?|\d[\d.,'\u00a0\u202f\u2019]*)"
# Names of several words are those of the first versions, in 2009.
EVENT = (
    r"(?:task clock ticks|context switches|CPU (?:migrations|cycles)|cache (?:references|misses)"
    r"|[A-Za-z][\w.:/,=@?-]*)"
)
_THOUSAND = late(r"\d{1,3}[.,]\d{3}")
_SPACES = {ord(mark): None for mark in "'\u00a0\u202f\u2019 "}
_CLOCK = late(r"^(?:(?:task|cpu)-clock(?::\w+)?|task clock ticks)$")
_WHOLE_NS = late(r"\d{1,3}(?:([.,'\u00a0\u202f\u2019 ])\d{3})(?:\1\d{3})+|\d{8,}")
_RATE = late(r"^([KMG]?)/sec$")
_SIZES = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9}
# Since the end of 2025 the name of the metric follows its unit.
_NAMED = late(r"^(?P<unit>\S+) {2,}(?P<name>\w+)$")
_RENAMED = {
    "CPUs_utilized": ("1", " CPUs utilized"),
    "insn_per_cycle": ("1", " insn per cycle"),
    "cycles_frequency": ("GHz", " clock"),
}
_OLD_METRICS = {"CPUs": " CPUs utilized", "IPC": " insn per cycle"}
# Behind a number that is of a hundred, which fields and JSON do not say.
_OF_HUNDRED = late(r"^of all |cycles idle$")
# Rows of -x: value, unit, event, perhaps a spread, run time in ns, share of it in %.
_CELLS = 4  # separators of a row, at least
_APART = 2  # lines: beyond it a row is of another start
_AT = late(r"\d+[.,]\d{6,9}")
# By separator; before the count may stand time, core, and how many were summed.
_FIELDS = {
    separator: late(
        rf"\s*+(?P<before>(?:[^{mark}]*{mark}){{0,3}}?)\s*+"
        rf"(?P<printed><not (?:supported|counted)>|\d+(?:{point}\d+)?)\s*+{mark}\s*+"
        rf"(?:(?P<unit>{UNIT})\s*+)?{mark}\s*+(?P<event>{EVENT})\s*+{mark}(?:[^{mark}%]*%\s*+{mark})?"
        rf"\s*+\d+\s*+{mark}\s*+(?P<share>\d{{1,3}}[.,]\d+)\s*+"
        rf"(?:{mark}(?:\s*+(?P<metric>\d+(?:{point}\d+)?)\s*+{mark}(?P<words>[^{mark}]*))?|$)"
    )
    for separator, mark, point in (
        (",", ",", r"\."),
        (";", ";", "[.,]"),
        ("\t", r"\t", "[.,]"),
        ("|", r"\|", "[.,]"),
    )
}
# Another metric in a line of its own, where the fields of an event are empty.
_MORE = late(
    r"(?:[^,;\t|]*+[,;\t|]){5,8}(?P<metric>\d+(?:[.,]\d+)?)[,;\t|]"
    r"(?P<words>% +tma_\w+|stalled cycles per insn)\s*$"
)


def add_count(
    rows: list[Result],
    line: Line,
    event: str,
    printed: str,
    unit: str,
    statistic: str,
    of: dict[str, Any],
) -> None:
    """Add a count; one in whose place words stand has no value, and says so. Clocks are in ms,
    which old versions write behind them or not at all; whole numbers of millions are ns."""
    if unit == "events" and _CLOCK.match(event):
        unit = "ns" if _WHOLE_NS.fullmatch(printed) else "ms"
    absent = printed.startswith("<")
    value = math.nan if absent else number(printed, counts=unit == "events")
    if value is not None:
        state = {"state": "absent", "reason": printed} if absent else {"state": "ok"}
        rows.append(Result(event, value, unit, line.number, statistic, {**of, **state}))


def add_metric(
    rows: list[Result],
    line: Line,
    event: str,
    printed: str,
    words: str,
    statistic: str,
    of: dict[str, Any],
) -> None:
    """Add what is made of a count and printed with it, by the words behind it; those of the
    top-down method are of many events."""
    value = number(printed, counts=False)
    if value is None or not words:
        return
    size, unit, title = _metric(words)
    if title == " rate":
        of = {**of, "rate_error_per_s": size * half_digit(printed.replace(",", "."))}
    name = title.strip() if title.startswith(" tma_") else f"{event}{title}"
    rows.append(Result(name, value * size, unit, line.number, statistic, of))


def _metric(words: str) -> tuple[float, str, str]:
    """What is printed behind #: (a size, the unit, what it adds to the name of the event)."""
    if named := _NAMED.match(words):
        unit, name = named["unit"], named["name"]
        if name in _RENAMED:
            return 1.0, *_RENAMED[name]
        return 1.0, "%" if unit == "%" else "1/s" if unit.endswith("/sec") else "1", f" {name}"
    if rate := _RATE.match(words):
        return _SIZES[rate[1]], "1/s", " rate"
    if words.startswith("%"):
        return 1.0, "%", f" {words[1:].strip()}".rstrip()
    if words == "GHz":
        return 1.0, "GHz", " clock"
    if words in _OLD_METRICS:
        return 1.0, "1", _OLD_METRICS[words]
    return 1.0, "1", f" {words}"


def words_of(unit: str) -> str:
    """The unit of a metric as the text has it, where % stands at the number."""
    unit = unit.strip().replace("(null)", "")
    return f"% {unit}" if _OF_HUNDRED.search(unit) else unit


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
    return as_float(plain.replace(",", "."))


def separated(log: Log) -> list[Report]:
    """One report for each start of perf stat -x."""
    starts: list[Report] = []
    before, event = -_APART - 1, ""  # the number of the last row, and its event
    for line in log.like(_may_be_one):
        near = line.number - before <= _APART
        own: list[Result] = []
        if row := _row(line.text):
            _add(own, line, row)
        elif near and (more := _MORE.match(line.text)):
            add_metric(own, line, event, more["metric"], words_of(more["words"]), "", {})
            before = line.number
        if own:
            if not near:
                starts.append(Report(TOOL, [], line.number))
            starts[-1].results.extend(own)
            before, event = line.number, row["event"] if row else event
    return starts


def _may_be_one(text: str) -> bool:
    """Whether a line is one of these."""
    if len(text) > LONGEST or text.startswith("{"):
        return False
    return _row(text) is not None or _MORE.match(text) is not None


def _row(text: str) -> dict[str, str] | None:
    """The cells of a row by name, whatever separates them."""
    for separator, pattern in _FIELDS.items():
        if text.count(separator) >= _CELLS and (found := pattern.match(text)):
            return {"separator": separator, **found.groupdict("")}
    return None


def _add(results: list[Result], line: Line, row: dict[str, str]) -> None:
    """Add its count, and the metric next to it; nothing where it cannot be read."""
    of: dict[str, Any] = {"running_fraction": _seconds(row["share"]) / 100}
    places = [place.strip() for place in row["before"].split(row["separator"])[:-1]]
    if places and _AT.fullmatch(places[0]):
        of["interval_end_s"] = _seconds(places.pop(0))
    if place := row["separator"].join(places):
        of["place"] = place
    unit = UNITS.get(row["unit"], "events")
    add_count(results, line, row["event"], row["printed"], unit, "", of)
    if results and not row["printed"].startswith("<"):
        add_metric(results, line, row["event"], row["metric"], words_of(row["words"]), "", of)


def _seconds(text: str) -> float:
    return float(text.replace(",", "."))
