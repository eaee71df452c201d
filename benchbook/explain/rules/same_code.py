"""same-code, few-repetitions: what a comparison shows whose sides are known to be alike, or of
which each side is one run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.results import grouped
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.compared import FIGURES, SIDES, Compared, compared
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

LEAST_PERCENT = 1.0  # of a change: less is what the best of machines differ by
SIGNIFICANT = 0.05


@rule
def same_code(reports: Sequence[Report]) -> Iterator[Finding]:
    """Changes between two sides of which the text says that they are the same code.

    Decided by the words of the text and the printed figures: what differs then is the machine.
    """
    told = [report.facts for report in reports if "said_same_line" in report.facts]
    if not told:
        return
    pairs = list(compared(reports))
    printed = {
        (change.line, change.name.removesuffix(" change")): change.value
        for report in reports
        for change in report.being("change")
        if change.is_number
    }
    changes = [
        (printed.get((pair.new.line, pair.new.name.removesuffix(" new")), pair.percent), pair.new)
        for pair in pairs
    ]
    changes += [
        (change.value, change)
        for report in reports
        for change in report.knowing("change_low_percent")
        if change.is_number
    ]
    changes = changes or list(_of_blocks(reports))
    differ = told[0].get("said_same_differ")
    if not changes and differ:
        said, line = told[0]["said_same"], told[0]["said_same_line"]
        about = [own for report in reports for own in report.results]
        yield finding("said-to-differ", about=about, said=said, line=line, differ=differ)
    if not changes:
        return
    most, result = max(changes, key=lambda entry: abs(entry[0]))
    if abs(most) < LEAST_PERCENT:
        return
    sure = sum(_is_sure(pair) for pair in pairs)
    sure += sum(
        float(result.of["p_value"]) < SIGNIFICANT
        for _, result in changes[len(pairs) :]
        if "p_value" in result.of
    )
    words: dict[str, Any] = {"said": told[0]["said_same"], "line": told[0]["said_same_line"]}
    words |= {"most": most, "result": result, "sure": sure or None}
    yield finding("same-code", words, about=[result for _, result in changes])


def _of_blocks(reports: Sequence[Report]) -> Iterator[tuple[float, Result]]:
    """The changes from the first of the only two runs of a tool to the second."""
    for several in grouped(reports, lambda report: report.tool).values():
        commands = {str(report.facts.get("command", "")) for report in several}
        if len(several) != len(SIDES) or len(commands) > 1:
            continue
        first, second = (
            {
                (own.name, own.statistic, own.unit, str(own.of.get("label"))): own
                for own in reversed(report.results)
                if own.statistic in WHOLE and own.is_positive and _is_figure(own)
            }
            for report in several
        )
        for key in first:
            if key in second:
                change = 100 * (second[key].value / first[key].value - 1)
                if is_number(change):
                    yield change, second[key]


WHOLE = (*FIGURES, "total", "sum")


def _is_figure(result: Result) -> bool:
    return result.is_time or result.unit.lower().endswith(("/s", "ops"))


def _is_sure(pair: Compared) -> bool:
    return pair.p_value is not None and pair.p_value < SIGNIFICANT


SMALL_PERCENT = 10.0
DIGITS = 3.0  # times what the last printed digits leave open: less may be another change


def _rounding_percent(pair: Compared) -> float:
    """How much of a change the last digits of both sides leave open."""
    sides = [own for own in (pair.old, pair.new) if own.is_positive]
    return sum(100 * own.half / own.value for own in sides)


@rule
def single_runs(report: Report) -> Iterator[str]:
    """A note on small changes of a table that compares one run of each side."""
    alone = [pair for pair in compared([report]) if pair.new.of.get("is_single")]
    alone = [pair for pair in alone if abs(pair.percent) > DIGITS * _rounding_percent(pair)]
    small = [pair for pair in alone if abs(pair.percent) < SMALL_PERCENT]
    if small and "said_same_line" not in report.facts:
        first = small[0]
        words = {"old": first.old, "new": first.new, "percent": first.percent}
        yield finding("single-runs", words).explanation


OF_RANGES = ("cargo-bench", "benchmark.js", "asv", "benchmark-action")


def _spread(pair: Compared) -> float:
    """What two figures have to be apart to differ: both errors together, or the larger range."""
    spreads = [own.base_value for own in pair.spreads if own is not None]
    if len(spreads) < len(pair.spreads):
        return 0.0
    is_error = pair.spreads[0] is not None and pair.spreads[0].statistic == "error"
    return math.hypot(*spreads) if is_error else max(spreads)


@rule
def within_ranges(report: Report) -> Iterator[Finding]:
    """Pairs that differ by less than the range that is printed of each side."""
    pairs = [
        (pair, spread)
        for pair in (compared([report]) if report.tool in OF_RANGES else ())
        if (spread := _spread(pair))
    ]
    near = [
        pair
        for pair, spread in pairs
        if 0 < abs(pair.new.base_value - pair.old.base_value) <= spread
    ]
    if near and "said_same_line" not in report.facts:
        first = near[0]
        words = {"old": first.old, "new": first.new, "near": len(near), "count": len(pairs)}
        words |= {"old_spread": first.spreads[0], "new_spread": first.spreads[1]}
        yield finding("rows-within-ranges", words, about=[pair.new for pair in near])
