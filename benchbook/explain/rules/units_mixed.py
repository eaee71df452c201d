"""unit-mix: figures that differ by what their units or their ways of counting differ by."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from itertools import combinations, pairwise
from typing import Any, NamedTuple

from benchbook.explain.context.quoted_rates import QUOTED
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.explain.units import bytes_per_s, is_binary
from benchbook.findings import Finding

# What figures are called, or kernels -> the quantity, and how often a tool counts each byte.
_QUANTITIES = (
    (late(r"Copy|copy(_sse|_avx|_avx512)?"), "copy", 2),
    (late(r"MEMCPY|bw_mem bcopy|standard memcpy"), "copy", 1),
    (late(r"Scale|Mul"), "scale", 2),
    (late(r"Add"), "add", 3),
    (late(r"Triad|stream(_sse|_avx|_avx512)?"), "triad", 3),
)
_PREFERRED = ("best", "mean", "")
_CONSTANTS = {1.024: "10³ and 2¹⁰", 1.048576: "10⁶ and 2²⁰", 1.073741824: "10⁹ and 2³⁰"}
_EXACTLY, _EQUAL, _TWICE = 0.001, 0.002, 0.01
_ABOUT = 0.01  # how far the other quantities of the two may be from the constant that one has
_MOST = 100  # reports of a log that are compared with each other
_MOST_FIGURES = 1000  # of a report; a table of rates is short
LIKELY = 0.6


class _Figure(NamedTuple):
    report: Report
    result: Result
    quantity: str
    counted: int
    rate: float


@rule
def unit_mix(reports: list[Report]) -> Iterator[Finding]:
    """Two tools of one log that differ by what their units or their ways of counting differ by.

    Decided by the same quantity of two tools, with as many threads: their figures are the same in
    units of another name, or apart by exactly such a constant. What a machine makes is seldom that
    close, so that the tolerance is small where only the number speaks.
    """
    if len({report.tool for report in reports}) < 2:
        return
    figures = [figure for report in reports[:_MOST] for figure in _figures(report)]
    ratios: dict[tuple[int, int], list[float]] = {}  # of two reports, how far each quantity is
    alike = []
    for pair in combinations(figures, 2):
        tools = frozenset(figure.report.tool for figure in pair)
        if len(tools) == 2 and pair[0].quantity == pair[1].quantity and _as_many(*pair):
            alike.append((tools, pair))
            key = id(pair[0].report), id(pair[1].report)
            ratios.setdefault(key, []).append(_ratio(*pair))
    decided: set[frozenset[str]] = set()
    for tools, (first, second) in alike:
        of_reports = ratios[id(first.report), id(second.report)]
        if tools not in decided and (why := _why(first, second, of_reports)):
            decided.add(tools)
            words = {"first": first, "second": second}
            shown = [first.result, second.result]
            factor = first.rate / second.rate
            yield finding("tools-apart", words, about=shown, factor=factor, **why)


def _figures(report: Report) -> Iterator[_Figure]:
    """The figure of each quantity that a report has."""
    by_quantity: dict[str, _Figure] = {}
    for statistic in _PREFERRED:
        for result in report.results[:_MOST_FIGURES]:
            rate = result.rate
            if result.statistic != statistic or not result.is_number or result.value <= 0:
                continue
            kernel = str(report.facts.get("kernel", ""))
            name = kernel if result.name == "bandwidth" else result.name
            for pattern, quantity, counted in _QUANTITIES if rate is not None else ():
                if rate is not None and pattern.fullmatch(name):
                    by_quantity.setdefault(
                        quantity, _Figure(report, result, quantity, counted, rate)
                    )
    yield from by_quantity.values()


def _as_many(first: _Figure, second: _Figure) -> bool:
    """Whether as many threads worked. What does not say so uses all, or counts as one does."""
    threads = [figure.report.column(figure.result, "threads") for figure in (first, second)]
    if first.counted == second.counted and None in threads:
        return True
    return (threads[0] or 1) == (threads[1] or 1)


def _ratio(first: _Figure, second: _Figure) -> float:
    return max(first.rate, second.rate) / min(first.rate, second.rate)


def _why(first: _Figure, second: _Figure, ratios: list[float]) -> dict[str, Any]:
    """Words that say what the two differ by, and how sure that is the cause where it is not
    certain; none where it is not known. `ratios`: of all that both have."""
    ratio = _ratio(first, second)
    if first.counted != second.counted:
        more, few = sorted((first, second), key=lambda figure: -figure.counted)
        if math.isclose(more.rate / few.rate, more.counted / few.counted, rel_tol=_TWICE):
            return {"why": "counted", "ratio": ratio, "more": more, "few": few}
        return {}
    if math.isclose(ratio, 1, rel_tol=_EQUAL) and first.result.unit != second.result.unit:
        return {"why": "same"}
    for constant, sizes in _CONSTANTS.items():
        all_near = all(math.isclose(each, constant, rel_tol=_ABOUT) for each in ratios)
        if all_near and math.isclose(ratio, constant, rel_tol=_EXACTLY):
            return {"why": "units", "ratio": ratio, "sizes": sizes, "confidence": LIKELY}
    return {}


MOST_REPORTS = 200  # of a log
EQUAL = 0.01
_WHOLE = ("total", "mean", "best", "")
_SETTING = ("direction", "reverse", "end", "host_memory", "threads", "streams")
LAST = 4  # sizes of a sweep: small ones have few digits


@rule
def units_of_runs(reports: list[Report]) -> Iterator[Finding]:
    """Two runs of one tool that are the same, and only their units make them look apart.

    Decided by all rates that both have: one run prints units of 2¹⁰, the other of 10³ or bits, and
    in bytes they are equal. Whoever compares the digits finds a gain that is none.
    """
    for before, after in pairwise(reports) if len(reports) <= MOST_REPORTS else ():
        if before.tool == after.tool and (pair := _equal_rates(before, after)):
            yield finding("units-of-runs", first=pair[0], second=pair[1])


def _equal_rates(before: Report, after: Report) -> tuple[Result, Result] | None:
    """The last rates that both have; none where they are not equal, or of units of one kind."""
    for setting in (_SETTING, (*_SETTING, "message_bytes")):
        rates, rates_after = _rates(before, setting), _rates(after, setting)
        both = [(rates[key], rates_after[key]) for key in rates if key in rates_after]
        pairs = [pair for pair in both if pair[0].value or pair[1].value]
        are_two = all(is_binary(first.unit) != is_binary(second.unit) for first, second in pairs)
        if pairs and are_two and all(_are_equal(pair) for pair in pairs[-LAST:]):
            return pairs[-1]
    return None


def _rates(report: Report, setting: tuple[str, ...]) -> dict[Hashable, Result]:
    """Its rates by what they are of; none of what it has several of."""
    by_setting: dict[Hashable, Result] = {}
    twice: set[Hashable] = set()
    for (name, statistic, unit), several in report.groups.items():
        for rate in several if statistic in _WHOLE and bytes_per_s(1.0, unit) else ():
            key = name, statistic, *(report.column(rate, column) for column in setting)
            twice |= {key} & by_setting.keys()
            by_setting[key] = rate
    return {key: rate for key, rate in by_setting.items() if key not in twice}


def _are_equal(pair: Sequence[Result]) -> bool:
    if not all(result.is_positive for result in pair):
        return False
    rates = [result.rate or 0.0 for result in pair]
    return abs(rates[0] - rates[1]) <= EQUAL * max(rates)


@rule
def quoted_in_bits(report: Report) -> Iterator[Finding]:
    """A rate that somebody repeats with its digits, and calls bytes bits, or bits bytes."""
    for quoted in report.being(QUOTED):
        printed, line = str(quoted.of["quoted_from_unit"]), quoted.of["quoted_from_line"]
        rates = [bytes_per_s(quoted.value, unit) or 0.0 for unit in (quoted.unit, printed)]
        words = {"quoted": quoted, "printed": printed, "line": line, "tool": report.tool}
        words |= {"times": max(rates) / min(rates)}
        yield finding("quoted-in-bits", words, factor=rates[0] / rates[1] if rates[1] else None)
