"""dead-code: times of so many iterations, as their titles count them, that none of them can be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.outlines import telling
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding

TOOLS = ("figures", "table", "text", "time", "hyperfine")
FIGURES = ("", "mean", "median", "best", "min")
_COUNTED = late(
    r"(?i)(?<![\w.])(?P<count>\d[\d,_']{0,15}(?:\.\d+)?)"
    r"(?: ?(?P<power>k|m|g|b|million|billion|thousand))?"
    r"[ -]?(?:iterations?|iters?|operations?|ops|calls|loops?)\b(?! ?(?:/|per))"
)
_POWERS = {"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6, "g": 1e9, "b": 1e9, "billion": 1e9}
_FIBONACCI = late(r"(?i)\bfib(?:onacci)?[ _]?(?:\( ?)?(?:n ?= ?)?(?P<n>[2-9]\d)\b\)?")
MOST = 5000  # figures of a list that people write titles for
LEAST_EACH_NS = 0.05  # a sixth of a cycle
LEAST_CALL_NS = 0.3  # a cycle


def _title(report: Report, own: Result) -> str:
    parts = (report.column(own, name) for name in ("titled", "label", "benchmark", "command"))
    return " ".join(str(part) for part in (*parts, own.name) if part)


def _times(reports: Sequence[Report]) -> Iterator[tuple[Result, str]]:
    for report, several in telling(reports, _times_of):
        for own in several:
            yield own, _title(report, own)


def _times_of(report: Report) -> list[Result]:
    if report.tool not in TOOLS or len(report.results) > MOST:
        return []
    return [own for own in report.being(*FIGURES) if own.is_time and own.is_positive]


@rule
def counted_iterations(reports: Sequence[Report]) -> Iterator[str]:
    """A note on times that make less than a sixth of a cycle for each iteration of their title."""
    for own, title in _times(reports):
        counts = list(_COUNTED.finditer(title))
        if len(counts) != 1:
            continue
        digits = counts[0]["count"].replace(",", "").replace("_", "").replace("'", "")
        count = float(digits) * _POWERS.get((counts[0]["power"] or "").lower(), 1.0)
        if count > 0 and own.base_value / count < LEAST_EACH_NS:
            words = {"first": own, "count": count, "each": own.base_value / count * 1e3}
            yield finding("counted-iterations", words).explanation
            return


@rule
def fibonacci_calls(reports: Sequence[Report]) -> Iterator[str]:
    """A note on Fibonacci numbers that took less than a cycle for each call of the recursion."""
    for own, title in _times(reports):
        found = _FIBONACCI.search(title)
        if found is None:
            continue
        previous, last = 0, 1
        for _ in range(int(found["n"])):
            previous, last = last, previous + last
        calls = 2 * last - 1
        if own.base_value / calls < LEAST_CALL_NS:
            words = {"first": own, "n": int(found["n"]), "calls": calls}
            words["each"] = own.base_value / calls
            yield finding("fibonacci-calls", words).explanation
            return
