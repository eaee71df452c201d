"""How numbers, units and columns of results are written for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from benchbook.core import number_format
from benchbook.core.sizes import format_bytes, parse_bytes
from benchbook.explain.lazy_regex import late
from benchbook.explain.printed_digits import About, is_number
from benchbook.explain.results import GIVEN, Result
from benchbook.explain.units import in_base

MOST_DIGITS = 20
_FEW_BYTES = 10**7
MOST_DECIMALS, MOST_OF_DECIMALS = 6, 1e15
_UNITS = {
    "kB/s": "kB/s (10³)", "MB/s": "MB/s (10⁶)", "GB/s": "GB/s (10⁹)",
    "KiB/s": "KiB/s (2¹⁰)", "MiB/s": "MiB/s (2²⁰)", "GiB/s": "GiB/s (2³⁰)",
    "kbit/s": "kbit/s (10³)", "Mbit/s": "Mbit/s (10⁶)", "Gbit/s": "Gbit/s (10⁹)", "us": "µs",
}  # fmt: skip
# What is for rules, or follows from the others.
HIDDEN = {
    "label_parts",
    "shown_statistic",
    "class_width",
    "cpu_user_percent",
    "cpu_system_percent",
    "elapsed_error_s",
    "rate_error_per_s",
    "bytes_moved",
    "arrays_moved",
    "repetition",
}
# Names and other figures tell them.
HIDDEN |= {"mix", "clocks", "repetitions_at_most", "benchmark", "is_same", "flags"}
HIDDEN |= {"usual_clock_ns"}  # which the log does not say
HIDDEN |= {"unpinned", "binding_unseen", "heading", "limit_low", "limit_high", "spread_percent"}
HIDDEN |= {"quoted_from_line", "quoted_from_unit"}  # their finding says them
HIDDEN |= {"setting", "reference_parts", "titled"}
HIDDEN |= {"side", "quantity", "geometric_mean_of", "failed_benchmarks", "said_alike"}
HIDDEN |= {"usual_clock_ns", "watched_line", "profile_sum_s", "samples_of_profile"}
HIDDEN |= {"is_average", "cpu_of_run_s", "wall_of_run_s", "end_of_run_line"}
HIDDEN |= {"said_regressions", "said_unstable_rows", "is_whole"}
HIDDEN |= {"modes", "histograms", "unsatisfied", "recommended", "asked_per_s"}
HIDDEN |= {"failed_are_counted", "said_again", "printed_by", "printed_sign", "options_of"}
HIDDEN |= {"plan", "depth", "row_filter"}  # of the steps of a query
HIDDEN |= {"claims", "said_way", "is_typed"}
_INTERNAL = late(
    r"^(?:said|warned|fastest|debug|unmeasured|checksum|clock_step|has_head|below_tick|is_"
    r"|asked_in|counted_in|cached_on|first_run)|_line$|_in_line$"
)
_TRIVIAL = {"state": "ok", "kind": "event"}  # what is so everywhere else
_LARGE_COUNT, _FEW_DECIMALS = 5, 2  # characters of `1234.0` are more; decimals
ERRORS = ("error", "stddev", "standard error", "deviation")  # statistics of another figure
INTERVAL = ("change_low_percent", "change_high_percent")  # of a change, shown in its cell
# How the names of columns end, longest first; what has one says it in its value.
_ENDINGS = {
    "_bits_per_s": "bit/s", "_bytes_per_s": "B/s", "_bytes": "B", "_mib": "MiB",
    "_ns": "ns", "_us": "us", "_ms": "ms", "_s": "s",
}  # fmt: skip
_CALLED = {"start_s": "from", "end_s": "until", "core": "CPU"}  # `end` is a column, too
_OF_LABEL = "label: "  # in front of a head of the log that is a setting
Settings = tuple[tuple[str, Any], ...]


def visible(text: str) -> str:
    """Without what would speak to a terminal, and with nothing that cannot be written."""
    if text.isascii() and text.isprintable():
        return text
    shown = "".join(character if character.isprintable() else " " for character in text)
    return shown.encode("utf-8", "replace").decode("utf-8")


def settings_of(result: Result) -> Settings:
    """The settings of a result that are for people, with its benchmark where its short name has
    lost that."""
    own: Settings = (
        (("benchmark", result.of["benchmark"]),) if short_name(result) != result.name else ()
    )
    parts = result.of.get("label_parts")
    if isinstance(parts, Mapping):  # each below the head that the log gives it
        own += tuple((f"{_OF_LABEL}{head}", text) for head, text in parts.items())
    return own + tuple(
        (name, value)
        for name, value in result.of.items()
        if value is not None and name not in INTERVAL and is_for_people(name, value)
        if not (parts and name == "label")
    )


def short_name(result: Result) -> str:
    """Its name without that of its benchmark, which is then a setting of it."""
    benchmark = result.of.get("benchmark")
    if not isinstance(benchmark, str) or not result.name.startswith(benchmark):
        return result.name
    rest = result.name[len(benchmark) :]
    if rest[:1] not in ("", " ") or (not rest and result.statistic == "sample"):
        return result.name
    return rest.strip()


def shown_statistic(result: Result) -> str:
    """What a number is of several, for people: also of one that is only shown."""
    if result.statistic == GIVEN:
        return str(result.of.get("shown_statistic") or "")
    return result.statistic


def lines_words(lines: Sequence[int]) -> str:
    """The first and the last of these lines: `4`, `4-9`."""
    if not lines:
        return ""
    least, most = min(lines), max(lines)
    return str(least) if least == most else f"{least}-{most}"


def unit_words(unit: str) -> str:
    """A unit with the power that its prefix means, where it has one."""
    return _UNITS.get(unit, unit)


def decimals_of(values: Iterable[Any]) -> int | None:
    """The decimals that all numbers of one kind are shown with; None where they have too many, or
    where a large count among them would get decimals that nobody printed."""
    parts = [repr(value) for value in values if is_number(value)]
    if any("e" in part for part in parts):
        return None
    most = max((len(part.partition(".")[2].rstrip("0")) for part in parts), default=0)
    has_count = any(len(part) > _LARGE_COUNT and part.endswith(".0") for part in parts)
    return None if most > MOST_DECIMALS or (has_count and most > _FEW_DECIMALS) else most


def number_words(value: Any, decimals: int | None) -> str:
    """A printed number with so many decimals; with ten digits where None is given."""
    if not is_number(value):
        return str(value)[:MOST_DIGITS]
    if decimals is None or abs(value) >= MOST_OF_DECIMALS:
        return f"{value:,.10g}"
    return f"{value:,.{decimals}f}"


def value_words(result: Result, decimals: int | None) -> str:
    """Its number; a change with its sign, and with its interval where it has one."""
    sign = result.of.get("printed_sign", "")
    number = f"{sign}{number_words(result.value, decimals)}"
    if result.statistic != "change":
        return number
    ends = [result.of.get(name) for name in INTERVAL]
    signed = [f"{end:+,.10g}" for end in ends if is_number(end)]
    interval = f" [{', '.join(signed)}]" if len(signed) == len(INTERVAL) else ""
    return f"{'+' if result.value > 0 else ''}{number}{interval}"


def in_base_words(result: Result) -> str:
    """The same rate in GB/s, in which others are compared; "" where it is no large rate."""
    value, unit = in_base(result.value, result.unit)
    if unit == "bit/s" and result.unit != unit:
        return f"= {number_format.number(value / 8e9)} GB/s" if value >= 1e8 else ""
    if unit == "B/s" and result.unit != "GB/s":
        return f"= {number_format.number(value / 1e9)} GB/s" if value >= 1e7 else ""
    return ""


def columns_of(settings: Sequence[Mapping[str, Any]]) -> tuple[list[str], dict[str, Any]]:
    """Columns in which results differ, and those that all have alike, with their value. `settings`:
    the `of` of each."""
    every = list(dict.fromkeys(chain.from_iterable(dict.fromkeys(map(tuple, settings)))))
    shown = [name for name in every if name not in HIDDEN and name not in INTERVAL]
    first = settings[0] if settings else {}
    same = {
        name: first[name]
        for name in shown
        if name in first and all(name in of and of[name] == first[name] for of in settings)
    }
    return [name for name in shown if name not in same], same


def bytes_words(count: int) -> str:
    """A number of bytes in the largest unit that keeps it whole; in bytes where one does not, and
    somebody chose it."""
    text = format_bytes(count)
    is_chosen = count < _FEW_BYTES or count % 1000 == 0
    return f"{count:,} B" if is_chosen and parse_bytes(text) != count else text


def words(column: str) -> str:
    """A column's name for people, without the unit that its value has."""
    if column.startswith(_OF_LABEL):
        return column.removeprefix(_OF_LABEL)
    if column in _CALLED:
        return _CALLED[column]
    ending = next((name for name in _ENDINGS if column.endswith(name)), "")
    return column.removesuffix(ending).replace("_", " ")


def is_for_people(column: str, value: Any) -> bool:
    """Whether a fact is for people: some are for rules only, whose findings say them."""
    return (
        not isinstance(value, Mapping)
        and column not in HIDDEN
        and not _INTERNAL.search(column)
        and _TRIVIAL.get(column) != value
    )


def shown_as(column: str, value: Any) -> str:
    """A column's value with its unit."""
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if not is_number(value):
        return str(value)[:MOST_DIGITS]
    if column.endswith("bytes") and 0 <= value < 1 << 62 and value == int(value):
        about = "about " if isinstance(value, About) else ""
        return f"{about}{bytes_words(int(value))}"
    unit = next((unit for ending, unit in _ENDINGS.items() if column.endswith(ending)), "")
    return f"{value:,.10g} {unit_words(unit)}".rstrip()
