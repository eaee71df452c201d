"""undecided-ratio, inconsistent-report: comparisons in tables of Markdown, as pull requests have
them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.results import grouped
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.compared import NEW, OLD
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

TOOL = "table"
FIGURES = ("", "mean", "median")
COMPARING = ("change", "ratio", "noise")  # statistics of a figure that compares others


class _Row(NamedTuple):
    """The figures of a row, and what compares them."""

    figures: list[Result]
    errors: dict[str, Result]
    changes: list[Result]
    ratios: list[Result]
    noise: list[Result]


def _rows(report: Report) -> list[_Row]:
    return [
        _Row(
            [own for own in several if own.statistic in FIGURES and own.is_positive],
            {own.name: own for own in several if own.statistic == "error"},
            [own for own in several if own.statistic == "change"],
            [own for own in several if own.statistic == "ratio"],
            [own for own in several if own.statistic == "noise"],
        )
        for several in grouped(report.results, lambda result: result.line).values()
    ]


@rule
def changes_in_tables(report: Report) -> Iterator[Finding]:
    """Changes whose printed interval has 0 in it, or that are below the printed noise."""
    if report.tool != TOOL or not report.being(*COMPARING):
        return
    with_none, below = list[Result](), list[tuple[Result, Result]]()
    count = 0
    for row in _rows(report):
        for change in row.changes:
            low, high = change.of.get("change_low_percent"), change.of.get("change_high_percent")
            count += low is not None
            if is_number(low) and is_number(high) and low <= 0 <= high:
                with_none.append(change)
        if row.noise and (apart := _change(row)) is not None and apart <= row.noise[0].value:
            below.append(((row.ratios or row.changes or row.figures)[0], row.noise[0]))
    if with_none:
        first = with_none[0]
        words = {"first": first, "none": len(with_none), "count": count}
        words |= {name: first.of[f"change_{name}_percent"] for name in ("low", "high")}
        yield finding("intervals-with-none", words, about=with_none)
    if below:
        first, noise = below[0]
        words = {"first": first, "noise": noise, "left": len(below) - 1 or None}
        yield finding("below-noise", words, about=[own for own, _ in below])


def _change(row: _Row) -> float | None:
    """How far the row's figures are apart in per cent, by what it prints of that."""
    if row.ratios:
        return abs(row.ratios[0].value - 1) * 100
    if row.changes:
        return abs(row.changes[0].value)
    return None


@rule
def within_errors(report: Report) -> Iterator[Finding]:
    """Rows whose two figures differ by less than their printed errors together."""
    if report.tool != TOOL or not report.being("error"):
        return
    compared = [
        (first, second, (row.errors[first.name].value ** 2 + row.errors[second.name].value ** 2))
        for row in _rows(report)
        if len(row.figures) == 2 and len(row.errors) == 2
        for first, second in [row.figures]
        if first.unit == second.unit and {first.name, second.name} == row.errors.keys()
    ]
    near = [
        (first, second)
        for first, second, square in compared
        if 0 < abs(first.value - second.value) <= square**0.5
    ]
    if near:
        first, second = near[0]
        words = {"first": first, "second": second, "near": len(near), "count": len(compared)}
        yield finding("rows-within-errors", words, about=[own for own, _ in near])


SLACK = 0.01  # of a ratio, beyond its digits
LEAST_ROWS = 2  # that fit, before one that does not is told


@rule
def ratios_of_rows(report: Report) -> Iterator[Finding]:
    """A ratio or change of a row that its two figures do not make, where those of the other rows
    do.

    Decided by the printed figures and their digits, for a ratio in either direction and a change
    of either side.
    """
    if report.tool != TOOL or not report.being(*COMPARING):
        return
    fits, wrong = 0, list[tuple[Result, Result, Result, float]]()
    for row in _rows(report):
        pair = _pair(row.figures)
        printed = [*row.ratios, *row.changes]
        if pair is None or len(printed) != 1:
            continue
        old, new = pair
        made = _made(old, new, printed[0])
        if any(abs(printed[0].value - value) <= _slack(old, new, printed[0]) for value in made):
            fits += 1
        else:
            nearest = min(made, key=lambda value: abs(value - printed[0].value))
            wrong.append((printed[0], old, new, nearest))
    if wrong and fits >= max(LEAST_ROWS, 2 * len(wrong)):
        said, old, new, nearest = wrong[0]
        words = {"printed": said, "old": old, "new": new, "made": nearest, "fits": fits}
        yield finding("ratio-of-row", words, about=[own for own, *_ in wrong])


def _pair(figures: Sequence[Result]) -> tuple[Result, Result] | None:
    """The figures before and after a change, by the heads of their columns, or as they stand; None
    where the row has others, or they are of another unit."""
    if len(figures) != 2 or figures[0].unit != figures[1].unit:
        return None
    old = [own for own in figures if OLD.search(own.name)]
    new = [own for own in figures if NEW.search(own.name) and own not in old]
    return (old[0], new[0]) if len(old) == len(new) == 1 else (figures[0], figures[1])


def _made(old: Result, new: Result, printed: Result) -> list[float]:
    up, down = new.value / old.value, old.value / new.value
    if printed.unit == "%":
        changes = [100 * (up - 1), 100 * (down - 1), 100 * up, 100 * down]
        return [*changes, *(-change for change in changes[:2])]
    return [up, down]


def _slack(old: Result, new: Result, printed: Result) -> float:
    """What the digits of all three leave open."""
    relative = old.half / old.value + new.half / new.value + SLACK
    size = 100 + abs(printed.value) if printed.unit == "%" else printed.value
    return printed.half + relative * size


LEAST_OF_COLUMN = 3  # rows that fit one way of computing
_Way = Callable[[Result, Result, int], float]  # from the reference, the row, and its threads
_WAYS: dict[str, _Way] = {
    "ratio": lambda reference, own, _: own.base_value / reference.base_value,
    "inverse": lambda reference, own, _: reference.base_value / own.base_value,
    "efficiency": lambda reference, own, count: reference.base_value / own.base_value / count,
    "rate by one": lambda reference, own, count: own.base_value / reference.base_value / count,
    "more": lambda reference, own, _: own.base_value / reference.base_value - 1,
    "less": lambda reference, own, _: 1 - own.base_value / reference.base_value,
    "faster": lambda reference, own, _: reference.base_value / own.base_value - 1,
}


@rule
def ratios_of_column(report: Report) -> Iterator[Finding]:
    """A ratio or share of a column that its figure and that of the first row do not make, where
    those of most other rows do in one way of computing."""
    if report.tool != TOOL or not report.being("ratio", "change"):
        return
    rows = _rows(report)
    single = [row for row in rows if len(row.figures) == 1]
    told = [row for row in single if len(row.ratios) + len(row.changes) == 1]
    if len(told) < LEAST_OF_COLUMN or len(single) < len(rows):
        return
    reference = single[0].figures[0]
    best: tuple[int, list[tuple[Result, Result, float]]] = (0, [])
    for way in _WAYS.values():
        fits, wrong = 0, []
        for row in told:
            own, printed = row.figures[0], (row.ratios or row.changes)[0]
            if own is reference:
                continue
            made = way(reference, own, int(own.of.get("threads") or 1))
            made *= 100 if printed.unit == "%" else 1
            near = abs(abs(printed.value) - abs(made)) <= _slack(reference, own, printed)
            fits += near
            wrong += [] if near else [(printed, own, made)]
        best = max(best, (fits, wrong), key=lambda entry: entry[0])
    fits, wrong = best
    if wrong and fits >= max(LEAST_OF_COLUMN, 3 * len(wrong)):
        printed, own, made = wrong[0]
        words = {"printed": printed, "old": reference, "new": own, "made": made, "fits": fits}
        yield finding("ratio-of-row", words, about=[entry[0] for entry in wrong])


NEAR_UNITS = 0.005  # of two rates that are the same


@rule
def units_of_row(report: Report) -> Iterator[Finding]:
    """Two rates of a row in units of powers of 2 and of 10, or in bits and bytes, which are the
    same rate, or of which the other is the larger one than the digits say."""
    if report.tool != TOOL:
        return
    mixed = []
    for row in _rows(report):
        rates = [own for own in row.figures if own.rate]
        if len(rates) != 2 or rates[0].unit == rates[1].unit:
            continue
        first, second = rates
        in_bytes = [own.rate or 0.0 for own in rates]
        is_same = abs(in_bytes[0] / in_bytes[1] - 1) <= NEAR_UNITS
        turns = (first.value - second.value) * (in_bytes[0] - in_bytes[1]) < 0
        if is_same or turns:
            mixed.append((first, second, "same" if is_same else "turned"))
    if mixed:
        first, second, how = mixed[0]
        words = {"first": first, "second": second, "how": how, "left": len(mixed) - 1 or None}
        words |= {"one": first.rate, "other": second.rate}
        yield finding("units-of-row", words, about=[own for own, *_ in mixed])
