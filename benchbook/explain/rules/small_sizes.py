"""fixed-cost: times that hardly grow from the smallest size to the next, or never."""

from __future__ import annotations

import math
from collections.abc import Iterator

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.explain.units import TIMES

MICRO_TOOLS = (
    "google-benchmark", "go-bench", "criterion", "cargo-bench", "divan", "tinybench", "mitata",
    "vitest-bench", "nanobench", "pytest-benchmark", "catch2", "tasty-bench", "benchee",
)  # fmt: skip
TOOLS = ("table", *MICRO_TOOLS)
STATISTICS = ("", "mean", "median")
LEAST_RATIO = 8  # of two sizes
# Columns that count who works: such a number is no size.
WORKERS = ("threads", "processes", "devices", "streams", "concurrency", "queue_depth", "cpus_given")
FLAT = 0.3  # power of the size by which the time grows at first
STEEP = 0.8  # and at last: the work is in proportion then
FLATTER, STEEPER = 0.25, 0.3  # at first; and more at last, if it never is in proportion
LEAST_SIZES = 3
LEAST_FLAT_SIZES = 4
LEAST_SPAN = 1000.0  # of the sizes whose time is the same
EVEN = 1.1  # largest ÷ smallest time that are the same
LEAST_NS = 1000.0  # of a time that is not that of a single look-up
LEAST_LOOP_NS = 10.0  # of a time that a loop over elements takes
LEAST_EACH_NS = 0.02  # for an element: less than any loop over memory takes
_POWERS = {"": 1.0, "k": 1e3, "K": 1e3, "m": 1e6, "M": 1e6}
_SIZE = late(
    r"(?P<first>\d{1,12}) ?(?P<of_first>[kKmM]?)"
    r"(?:[*x\u00d7](?P<second>\d{1,12})(?P<of_second>[kKmM]?))?"
)
_IN_NAME = late(
    r"^(?P<before>.*[/_A-Za-z-])(?P<size>\d{1,12}[kKmM]?)"
    r"(?P<after>(?:/(?:real|manual|process)_time)*(?:-\d{1,3})?(?: (?:real )?time)?)$"
)


def _size(text: str) -> float:
    """`100*100`, `1K*1K` or `4096` as a number of elements; 0 where it is none."""
    if (found := _SIZE.fullmatch(text.strip())) is None:
        return 0.0
    size = float(found["first"]) * _POWERS[found["of_first"]]
    if found["second"]:
        size *= float(found["second"]) * _POWERS[found["of_second"]]
    return size


def sized_times(report: Report) -> dict[str, list[tuple[float, Result]]]:
    """Times by what they are of, each with its size: a number in a name, in the head of a column
    or in the label of a row."""
    series: dict[str, list[tuple[float, Result]]] = {}
    for time in report.results:
        if time.unit not in TIMES or time.statistic not in STATISTICS or not time.is_positive:
            continue
        label = str(time.of.get("label", ""))
        named = _IN_NAME.match(time.name)
        if size := _size(time.name):
            series.setdefault(f"{label} by column", []).append((size, time))
        elif label and not time.of.keys().isdisjoint(WORKERS):
            continue
        elif label and (size := _size(label)):
            series.setdefault(f"{time.name} by row", []).append((size, time))
        elif named and not time.name.endswith("cpu time"):
            key = named["before"] + named["after"]
            series.setdefault(key, []).append((_size(named["size"]), time))
    return series


@rule
def fixed_cost(report: Report) -> Iterator[str]:
    """A note on times that hardly grow at the smallest sizes, and in proportion at the largest.

    Decided by the powers of the size by which they grow at both ends.
    """
    if report.tool not in TOOLS:
        return
    for several in report.kept(sized_times).values():
        sizes = [size for size, _ in several]
        if len(sizes) < LEAST_SIZES or sizes != sorted(set(sizes)) or sizes[0] <= 0:
            continue
        (small, first), last = several[0], several[-1]
        larger = [entry for entry in several if entry[0] >= LEAST_RATIO * small]
        smaller = [entry for entry in several if LEAST_RATIO * entry[0] <= last[0]]
        if not larger or not smaller:
            continue
        (following, second), before = larger[0], smaller[-1]
        start, end = _power(several[0], larger[0]), _power(before, last)
        bends = start <= FLATTER and end >= start + STEEPER
        if is_number(start) and start <= FLAT and (end >= STEEP or bends):
            words = {"first": first, "second": second, "times": following / small}
            yield finding("fixed-cost", words).explanation
            return


def _power(small: tuple[float, Result], large: tuple[float, Result]) -> float:
    """The power of the size by which a time grows."""
    grows = large[1].base_value / small[1].base_value
    return math.log(grows) / math.log(large[0] / small[0]) if grows > 0 else math.nan


@rule
def size_without_effect(report: Report) -> Iterator[str]:
    """A note on times that are the same for sizes a thousand times apart, at the largest of which
    an element would take less time than any loop over memory takes."""
    if report.tool not in MICRO_TOOLS:
        return
    for several in report.kept(sized_times).values():
        sizes = [size for size, _ in several]
        times = [time.base_value for _, time in several]
        if len(sizes) < LEAST_FLAT_SIZES or min(sizes) <= 0 or len(set(sizes)) < len(sizes):
            continue
        (least, first), (most, last) = (
            several[sizes.index(min(sizes))],
            several[sizes.index(max(sizes))],
        )
        each = last.base_value / most
        is_flat = max(times) <= EVEN * min(times) and most >= LEAST_SPAN * least
        if is_flat and min(times) >= LEAST_NS and each <= LEAST_EACH_NS:
            words = {"first": first, "last": last, "times": most / least, "each": each * 1000}
            yield finding("size-without-effect", words).explanation
            return


SAME = 0.02  # of each other, two times
LEAST_APART = 9.9  # times the size
# What takes as long for every size by its nature.
_LOOK_UP = late(
    r"(?i)get|find|look|contain|has|index|push|pop|peek|insert|add|remove|delete|len|size|clone|copy"
    r"|arc|ref|access|read|hit|miss|key|nth|first|last|next|thread|worker|client|connection|core|bit"
    r"|port|version|v\d|sleep|wait|page|offset|const|seed|case|test|issue"
)


# Words that say it even where a column gives the size.
_BY_NATURE = late(r"(?i)get|find|look|contain|has|peek|pop|size|hit|miss|len")
GROWS = 3.0  # times as long at its largest size, another benchmark of the table


@rule
def same_for_all_parameters(report: Report) -> Iterator[str]:
    """A note on benchmarks of JMH that are as fast at all sizes of the column of parameters, where
    another benchmark of the table slows down with them."""
    if report.tool != "jmh":
        return
    series: dict[str, list[tuple[float, Result]]] = {}
    for own in report.being("mean"):
        parameters = str(own.of.get("parameters", ""))
        if parameters.isdecimal() and own.is_positive and ":" not in own.name:
            series.setdefault(own.name, []).append((float(parameters), own))
    spans = {
        name: (min(several, key=_first), max(several, key=_first), _extent(several))
        for name, several in series.items()
        if len({size for size, _ in several}) == len(several) >= LEAST_SIZES
    }
    grown = [name for name, (small, large, extent) in spans.items() if extent >= GROWS]
    for name, (small, large, extent) in spans.items():
        is_far = large[0] >= LEAST_SPAN / 10 * small[0]
        if grown and is_far and extent <= EVEN and not _BY_NATURE.search(name.rsplit(".", 1)[-1]):
            words = {"first": small[1], "last": large[1], "times": large[0] / small[0]}
            words |= {"other": spans[grown[0]][1][1], "grows": spans[grown[0]][2]}
            yield finding("same-for-all-parameters", words).explanation
            return


def _first(entry: tuple[float, Result]) -> float:
    return entry[0]


def _extent(several: list[tuple[float, Result]]) -> float:
    """How many times the largest figure is the smallest."""
    values = [own.value for _, own in several]
    return max(values) / min(values)


@rule
def same_at_all_sizes(report: Report) -> Iterator[str]:
    """A note on times that are the same for sizes at least ten times apart, of benchmarks whose
    name does not say that they look up or take one of many."""
    if report.tool not in MICRO_TOOLS:
        return
    for several in report.kept(sized_times).values():
        sizes = [size for size, _ in several]
        times = [time.base_value for _, time in several]
        if len(sizes) < 2 or min(sizes) <= 1 or len(set(sizes)) < len(sizes):
            continue
        first, last = several[sizes.index(min(sizes))], several[sizes.index(max(sizes))]
        is_same = max(times) <= (1 + SAME) * min(times) and min(times) >= LEAST_LOOP_NS
        if not is_same or last[0] < LEAST_APART * first[0] or _LOOK_UP.search(first[1].name):
            continue
        words = {"first": first[1], "last": last[1], "times": last[0] / first[0]}
        yield finding("same-at-all-sizes", words).explanation
        return


STEEPEST = 1.6  # power of the size from which on it is more than a table of caches makes


@rule
def steep_growth(report: Report) -> Iterator[str]:
    """A note on times that grow far more than the size, from its smallest to its largest."""
    if report.tool not in TOOLS:
        return
    for several in sized_times(report).values():
        sizes = [size for size, _ in several]
        if len(sizes) < 2 or sizes != sorted(set(sizes)) or sizes[0] < 1:
            continue
        (least, first), (most, last) = several[0], several[-1]
        power = _power(several[0], several[-1])
        if most >= LEAST_RATIO * least and first.base_value >= LEAST_NS and power >= STEEPEST:
            words = {"first": first, "last": last, "times": most / least, "power": power}
            words["grows"] = last.base_value / first.base_value
            yield finding("steep-growth", words).explanation
            return
