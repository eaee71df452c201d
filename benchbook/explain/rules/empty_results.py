"""load-errors, unmeasured: programs that no reader knows and that did no work, as there are as many
errors as requests, or all rates are 0."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

OF_TEXT = ("figures", "figures in JSON", "text", "lines alike")
_OF_ERRORS = late(r"(?i)(?:errors?|failed|failures?)$")
_OF_ALL = late(
    r"(?i)^(?:total|num(?:ber of)?|all|completed?)?[ _]?(?:requests|operations|queries)$"
)
LEAST_ERRORS, SHARE, LEAST_RATES = 2, 0.01, 3


@rule
def errors_beside_all(report: Report) -> Iterator[Finding]:
    """Errors next to the number of all requests, where they are 1 % of it or more."""
    if report.tool not in OF_TEXT:
        return
    plain = [own for own in report.results if own.unit in ("", "1") and own.is_positive]
    errors = [own for own in plain if _OF_ERRORS.search(own.name)]
    every = [own for own in plain if _OF_ALL.match(own.name)]
    if len(errors) != 1 or len(every) != 1:
        return
    failed, whole = errors[0], every[0]
    if LEAST_ERRORS <= failed.value <= whole.value and failed.value >= SHARE * whole.value:
        kind = "all-are-errors" if failed.value == whole.value else "some-are-errors"
        share = failed.value / whole.value
        yield finding(kind, {"failed": failed, "whole": whole, "share": share})


@rule
def rates_of_zero(report: Report) -> Iterator[Finding]:
    """Three rates and more in lines of one kind, of which each is 0."""
    if report.tool not in (*OF_TEXT, "table"):
        return
    rates = [own for own in report.results if own.unit.endswith("/s") and own.is_number]
    if any("flop" in own.unit.lower() for own in rates):
        return  # a profiler's: a program without such arithmetic has none
    if len(rates) >= LEAST_RATES and not any(map(_is_some, rates)):
        words = {"count": len(rates), "first": rates[0]}
        yield finding("every-rate-is-zero", words, about=rates)


def _is_some(rate: Result) -> bool:
    return rate.value != 0
