"""unit-mix: two tools of one log differ by what their units or their ways of counting differ by.

Decided by the same quantity of two tools, with as many threads: their figures are the same in
units of another name, or apart by exactly such a constant. What a machine makes is seldom that
close, so that the tolerance is small where only the number speaks.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from benchbook.core.number_format import number
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import Machine
from benchbook.explain.units import bytes_per_s
from benchbook.findings import Finding, proof

ARTEFACT = "unit-mix"
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
CERTAIN, LIKELY = 0.9, 0.6
REMEDY = (
    "Give both in one unit, with what is counted: bytes copied, or bytes read and written, of 10⁶ "
    "or of 2²⁰."
)


class _Figure(NamedTuple):
    report: Report
    result: Result
    quantity: str
    counted: int
    rate: float


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each two tools that differ so."""
    del machine
    if len({report.tool for report in reports}) < 2:
        return
    figures = [one for report in reports[:_MOST] for one in _figures(report)]
    told: set[frozenset[str]] = set()
    beside: dict[tuple[int, int], list[float]] = {}  # of two reports, how far each quantity is
    alike = []
    for one, other in combinations(figures, 2):
        tools = frozenset((one.report.tool, other.report.tool))
        if len(tools) == 2 and one.quantity == other.quantity and _as_many(one, other):
            alike.append((tools, one, other))
            pair = id(one.report), id(other.report)
            beside.setdefault(pair, []).append(_ratio(one, other))
    for tools, one, other in alike:
        ratios = beside[id(one.report), id(other.report)]
        if tools not in told and (why := _why(one, other, ratios)):
            told.add(tools)
            yield _finding(one, other, *why)


def _figures(report: Report) -> Iterator[_Figure]:
    """The figure of each quantity that a report has."""
    found: dict[str, _Figure] = {}
    for statistic in _PREFERRED:
        for one in report.results[:_MOST_FIGURES]:
            if one.statistic != statistic or not is_number(one.value) or one.value <= 0:
                continue
            rate = bytes_per_s(one.value, one.unit)
            name = str(report.facts.get("kernel", "")) if one.name == "bandwidth" else one.name
            if rate is None:
                continue
            for pattern, quantity, counted in _QUANTITIES:
                if pattern.fullmatch(name):
                    found.setdefault(quantity, _Figure(report, one, quantity, counted, rate))
    yield from found.values()


def _as_many(one: _Figure, other: _Figure) -> bool:
    """Whether as many threads worked. What does not say so uses all, or counts as one does."""
    threads = [each.report.column(each.result, "threads") for each in (one, other)]
    if one.counted == other.counted and None in threads:
        return True
    return (threads[0] or 1) == (threads[1] or 1)


def _ratio(one: _Figure, other: _Figure) -> float:
    return max(one.rate, other.rate) / min(one.rate, other.rate)


def _why(one: _Figure, other: _Figure, ratios: list[float]) -> tuple[str, float] | None:
    """What the two differ by, and how sure that is the cause; `ratios`: of all that both have."""
    ratio = _ratio(one, other)
    if one.counted != other.counted:
        more = one if one.counted > other.counted else other
        few = other if more is one else one
        if math.isclose(more.rate / few.rate, more.counted / few.counted, rel_tol=_TWICE):
            return (
                f"are apart by {number(ratio)}: {more.report.tool} counts what is read and what "
                f"is written, and {few.report.tool} each copied byte once",
                CERTAIN,
            )
        return None
    if math.isclose(ratio, 1, rel_tol=_EQUAL) and one.result.unit != other.result.unit:
        return "are the same rate: only the units have other names", CERTAIN
    for constant, sizes in _CONSTANTS.items():
        all_near = all(math.isclose(each, constant, rel_tol=_ABOUT) for each in ratios)
        if all_near and math.isclose(ratio, constant, rel_tol=_EXACTLY):
            return (
                f"are apart by {number(ratio)}, which is what units of {sizes} bytes differ by: "
                "one of them may have the other's name",
                LIKELY,
            )
    return None


def _finding(one: _Figure, other: _Figure, why: str, confidence: float) -> Finding:
    both = (one, other)
    said = " and ".join(
        f"{each.result.value:,.10g} {each.result.unit} of {each.report.tool} (line "
        f"{each.result.line})"
        for each in both
    )
    return Finding(
        artefact=ARTEFACT,
        effect="explains",
        factor=one.rate / other.rate,
        where=[each.result.where for each in both],
        confidence=confidence,
        evidence=[
            proof(each.result.name, each.result.value, each.result.unit, f"line {each.result.line}")
            for each in both
        ],
        explanation=f"For {one.quantity}, {said} {why}.",
        remedy=REMEDY,
    )
