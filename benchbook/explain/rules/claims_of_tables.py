"""inconsistent-report, undecided-ratio: what a text claims next to a table, and what all rows of a
table say together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import comb, exp, log
from statistics import fmean
from typing import Any, NamedTuple

from benchbook.explain.context.claims import TOOLS, WINS
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import half_of_last_digit
from benchbook.explain.results import grouped
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

FIGURES = ("", "mean", "median", "best")
SLACK = 0.1  # of a claimed ratio
POINTS = 3.0  # of a claimed change
MOST_OF_COLUMN = 40  # rows whose pairs are looked at
FAR = 0.15  # of each other: the mean of ratios, and the ratio of the sums


class _Claim(NamedTuple):
    value: float
    is_percent: bool
    is_more: bool
    of: str
    line: int


def _rows(report: Report) -> list[list[Result]]:
    """The figures of each row that are of one quantity."""
    rows = grouped(report.results, lambda result: result.line).values()
    return [
        [own for own in row if own.statistic in FIGURES and own.is_positive and own.unit != "1"]
        for row in rows
    ]


def _ratios(reports: Sequence[Report]) -> list[float]:
    """All ratios that the tables print or that two figures of a row make, each at least 1."""
    ratios = []
    for report in reports:
        ratios += [own.value for own in report.being("ratio") if own.is_positive]
        rows = _rows(report)
        if report.tool != "table":
            rows = [[own for row in rows for own in row][:20]]
        for row in rows:
            for first, second in combinations(row[:8], 2):
                if first.unit and first.is_time == second.is_time:
                    ratios.append(first.base_value / second.base_value)
    return [max(ratio, 1 / ratio) for ratio in ratios if ratio > 0]


def _is_made(claim: _Claim, ratio: float) -> bool:
    """Whether a ratio makes what is claimed: so many times as fast, times faster, or per cent."""
    if claim.is_percent:
        made = [100 * (1 - 1 / ratio), 100 * (ratio - 1), 100 * ratio]
        return any(abs(claim.value - value) <= max(POINTS, SLACK * value) for value in made)
    half = half_of_last_digit(claim.value)
    made = [ratio, ratio - 1] if claim.is_more else [ratio]
    return any(abs(claim.value - value) <= max(SLACK * value, half) for value in made)


def _ratios_of_columns(reports: Sequence[Report]) -> list[float]:
    """All ratios of two rows in one quantity, and those of the changes that the tables print.

    A table may hold its sides in rows, so what a text claims can stand there as well.
    """
    changes = [own.value for report in reports for own in report.being("change")]
    ratios = [1 + value / 100 for value in changes if value > -100]
    for report in reports:
        figures = [own for row in _rows(report) for own in row]
        for column in grouped(figures, lambda own: own.name).values():
            pairs = combinations(column[:MOST_OF_COLUMN], 2)
            ratios += [first.base_value / second.base_value for first, second in pairs]
    return [max(ratio, 1 / ratio) for ratio in ratios if ratio > 0]


@rule
def claims_without_rows(reports: Sequence[Report]) -> Iterator[Finding]:
    """A speed-up in the text that no two figures make, and that is not between those of the rows.

    Decided by all ratios of figures of a row or of a column, in both directions.
    """
    tables = [report for report in reports if report.tool in TOOLS]
    claims = [_Claim(*own) for report in tables for own in report.facts.get("claims", ())]
    ratios = _ratios(tables) if claims else []
    of_columns = _ratios_of_columns(tables) if ratios else []
    for claim in claims:
        if not ratios or any(_is_made(claim, ratio) for ratio in ratios + of_columns):
            continue
        least, most = min(ratios), max(ratios)
        ends = [100 * (1 - 1 / least), 100 * (most - 1)] if claim.is_percent else [least - 1, most]
        if ends[0] <= claim.value <= ends[1] and (most > 1.5 * least or claim.of):
            continue
        words: dict[str, Any] = {"claim": claim.value, "line": claim.line, "least": least}
        words |= {"most": most, "single": None, "many": None}
        words["single" if most <= 1.02 * least else "many"] = most
        words["what"] = "percent" if claim.is_percent else "times"
        about = [own for report in tables for row in _rows(report) for own in row]
        yield finding("claim-without-rows", words, about=about)
        return


LEAST_OF_MEAN = 3  # rows


@rule
def mean_of_ratios(reports: Sequence[Report]) -> Iterator[Finding]:
    """An average speed-up that is the mean of the rows' ratios, where the sums of their times make
    another one."""
    for report in reports:
        if report.tool not in TOOLS:
            continue
        claims = [_Claim(*own) for own in report.facts.get("claims", ())]
        claims = [claim for claim in claims if claim.of == "average" and not claim.is_percent]
        pairs = [row for row in _rows(report) if len(row) == 2 and all(own.is_time for own in row)]
        if not claims or len(pairs) < LEAST_OF_MEAN:
            continue
        ratios = [old.base_value / new.base_value for old, new in pairs]
        old, new = (sum(own[side].base_value for own in pairs) for side in (0, 1))
        mean, together = fmean(ratios), old / new
        claim = claims[0]
        is_mean = abs(claim.value - mean) <= max(0.03 * mean, half_of_last_digit(claim.value))
        if is_mean and abs(mean / together - 1) >= FAR:
            words: dict[str, Any] = {
                "claim": claim.value,
                "line": claim.line,
                "old": old,
                "new": new,
            }
            words |= {"count": len(pairs), "together": together}
            words["geometric"] = exp(fmean(log(ratio) for ratio in ratios))
            yield finding("mean-of-ratios", words, about=[own for pair in pairs for own in pair])
            return


LEAST_ROWS, MOST_APART = 4, 0.08
MOST = 5000  # figures of a table that people write
LEAST_APART = 0.001
CHANCE = 0.1


@rule
def both_ways(report: Report) -> Iterator[Finding]:
    """Tables of two columns of times, without errors, whose rows differ by a few per cent in both
    directions as often as chance makes it.

    Decided by the signs of the rows alone.
    """
    if report.tool != "table" or report.being("error", "stddev", "range", "confidence 99.9 %"):
        return
    if report.knowing("p_value", "change_low_percent") or len(report.results) > MOST:
        return
    pairs = [row for row in _rows(report) if row]
    if len(pairs) < LEAST_ROWS or any(len(row) != 2 for row in pairs):
        return
    names = {tuple(own.name for own in row) for row in pairs}
    if len(names) != 1 or not all(own.is_time for row in pairs for own in row):
        return
    changes = [new.base_value / old.base_value - 1 for old, new in pairs]
    apart = [change for change in changes if abs(change) > LEAST_APART]
    slower = sum(change > 0 for change in apart)
    fewer = min(slower, len(apart) - slower)
    if len(apart) < LEAST_ROWS or max(map(abs, changes)) > MOST_APART or not fewer:
        return
    by_chance = 2 * sum(comb(len(apart), k) for k in range(fewer + 1)) / 2 ** len(apart)
    if by_chance > CHANCE:
        old, new = pairs[0]
        words: dict[str, Any] = {"slower": slower, "faster": len(apart) - slower, "new": new}
        words |= {"old": old, "least": min(map(abs, apart)), "most": max(map(abs, apart))}
        words |= {"by_chance": min(by_chance, 1.0), "count": len(pairs)}
        yield finding("both-ways", words, about=[own for row in pairs for own in row])


@rule
def not_always_faster(reports: Sequence[Report]) -> Iterator[Finding]:
    """A text that says that one column is faster in all rows, and rows in which it is not.

    Decided by the times, and by the only column that the sentence names.
    """
    for report in reports:
        said = str(report.facts.get("said_always", "")).lower()
        if report.tool != "table" or not said:
            continue
        rows = [[own for own in row if own.is_time] for row in _rows(report)]
        rows = [row for row in rows if len(row) > 1]
        named = {own.name for row in rows for own in row if _is_in(own.name, said)}
        wins = WINS.search(said)
        before = [name for name in named if wins and said.find(name.lower()) < wins.start()]
        if len(before) != 1:
            continue  # nobody knows what is said to be faster
        (mine,) = before
        slower, count = list[tuple[Result, Result]](), 0
        for row in rows:
            own = [result for result in row if result.name == mine]
            others = [result for result in row if result.name != mine]
            if len(own) != 1 or not others:
                continue
            count += 1
            best = min(others, key=lambda result: result.base_value)
            if own[0].base_value > (1 + LEAST_SLOWER) * best.base_value:
                slower.append((own[0], best))
        if slower:
            first, best = slower[0]
            words: dict[str, Any] = {"line": report.facts["said_always_line"], "own": first}
            words |= {"best": best, "slower": len(slower), "count": count}
            yield finding("not-always-faster", words, about=[own for own, _ in slower])
            return


LEAST_SLOWER = 0.03
LEAST_NAME = 3  # letters of a head


def _is_in(name: str, said: str) -> bool:
    """Whether a sentence names the column with this head."""
    return len(name) >= LEAST_NAME and name.lower() in said
