"""inconsistent-report: rates and times of a row that contradict each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.results import grouped
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

TOOL = "table"
MIDDLES = ("", "mean", "median", "best")
LEAST_ROWS = 3
SLACK, FAR = 0.02, 0.2  # of the product, beyond its digits


class _Row(NamedTuple):
    """A time and a rate of one row, and the work that they make together."""

    time: Result
    rate: Result
    work: float
    slack: float


def _rows(report: Report) -> list[_Row]:
    """Rows with one time and one rate; the work is a share of the bytes of the row where it has
    them."""
    made = []
    for row in grouped(report.results, lambda result: result.line).values():
        middles = [own for own in row if own.statistic in MIDDLES and own.is_positive]
        times = [own for own in middles if own.is_time]
        rates = [own for own in middles if own.unit.endswith("/s")]
        if len(times) != 1 or len(rates) != 1:
            continue
        time, rate = times[0], rates[0]
        size = rate.of.get("message_bytes")
        work = time.base_value / 1e9 * (rate.rate or rate.value)
        work /= size if is_number(size) and size > 0 and rate.rate else 1.0
        slack = time.half / time.value + rate.half / rate.value + SLACK
        made.append(_Row(time, rate, work, slack))
    return made


@rule
def rate_against_time(report: Report) -> Iterator[Finding]:
    """A row whose time and rate do not make the work that those of most other rows make.

    Decided where two thirds of the rows agree to their digits, and one is off by a fifth.
    """
    rows = _rows(report) if report.tool == TOOL else []
    if len(rows) < LEAST_ROWS or len({row.rate.unit for row in rows}) > 1:
        return
    best: list[_Row] = []
    for row in rows:
        near = [own for own in rows if abs(own.work / row.work - 1) <= own.slack + row.slack]
        best = max(best, near, key=len)
    wrong = [row for row in rows if row not in best]
    if not wrong or len(best) < 2 or 3 * len(best) < 2 * len(rows):
        return
    usual = sorted(row.work for row in best)[len(best) // 2]
    off = [row for row in wrong if abs(row.work / usual - 1) > FAR]
    if len(off) == len(wrong):
        first = off[0]
        words: dict[str, Any] = {"time": first.time, "rate": first.rate, "count": len(best)}
        words |= {"factor": first.work / usual, "made": first.rate.value * usual / first.work}
        yield finding("rate-against-time", words, about=[own for row in off for own in row[:2]])
