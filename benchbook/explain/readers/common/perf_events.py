"""What perf stat prints of an event: its count, and the metric that is made of it."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Result
from benchbook.explain.printed_digits import half_digit

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
_SPACES = {ord(one): None for one in "'\u00a0\u202f\u2019 "}
_CLOCK = late(r"^(?:(?:task|cpu)-clock(?::\w+)?|task clock ticks)$")
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


class Metric(NamedTuple):
    """What is made of a count: its name, the size of its unit, and the unit."""

    name: str
    size: float
    unit: str
    is_rate: bool


def add_count(
    rows: list[Result],
    line: Line,
    event: str,
    printed: str,
    unit: str,
    statistic: str,
    of: dict[str, Any],
) -> None:
    """A count; one that is not there has no value, and says so."""
    unit = unit_of(event, unit)
    value = count_of(printed, unit)
    if value is not None:
        rows.append(Result(event, value, unit, line.number, statistic, {**of, **state(printed)}))


def count_of(printed: str, unit: str) -> float | None:
    """Its value, not a number where it is absent; None where it cannot be read."""
    return math.nan if is_absent(printed) else number(printed, counts=unit == "events")


def is_absent(printed: str) -> bool:
    """Whether words stand in its place."""
    return printed.startswith("<")


def state(printed: str) -> dict[str, str]:
    """Whether it is there, and if not the reason."""
    return {"state": "absent", "reason": printed} if is_absent(printed) else {"state": "ok"}


def unit_of(event: str, unit: str) -> str:
    """Clocks are in ms, which old versions write behind them or not at all."""
    return "ms" if unit == "events" and _is_clock(event) else unit


def add_metric(
    rows: list[Result],
    line: Line,
    event: str,
    printed: str,
    said: str,
    statistic: str,
    of: dict[str, Any],
) -> None:
    """What is made of a count and printed with it."""
    value = number(printed, counts=False)
    if value is not None and said:
        metric = metric_of(event, said)
        if metric.is_rate:
            of = {**of, "rate_error_per_s": rate_error_per_s(metric, printed)}
        rows.append(
            Result(metric.name, value * metric.size, metric.unit, line.number, statistic, of)
        )


def rate_error_per_s(metric: Metric, printed: str) -> float:
    """What the digits of a rate leave open."""
    return metric.size * half_digit(printed.replace(",", "."))


@lru_cache
def metric_of(event: str, said: str) -> Metric:
    """What is said behind the number; those of the top-down method are of many events."""
    size, unit, title = _metric(said)
    name = title.strip() if title.startswith(" tma_") else f"{event}{title}"
    return Metric(name, size, unit, title == " rate")


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


def said_of(unit: str) -> str:
    """The unit of a metric as the text has it, where % stands at the number."""
    unit = unit.strip().replace("(null)", "")
    return f"% {unit}" if _OF_HUNDRED.search(unit) else unit


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
