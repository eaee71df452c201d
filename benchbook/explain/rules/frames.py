"""waits-for-refresh: frame rates of a screen, frames that nobody saw, and tests that never ran."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from benchbook.core.number_format import listed
from benchbook.explain.model import Report, Result
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

_TOOLS = ("glmark2", "vkmark", "glxgears")
SCREENS = (30, 50, 60, 72, 75, 90, 100, 120, 144, 165, 240)  # frames a second
NEAR, LEAST_SCENES = 0.015, 3
NO_SCREEN = 400.0  # frames a second
APART = 1.2


@rule
def waits_for_refresh(report: Report) -> Iterator[Finding]:
    """Frame rates that are those of a screen, of several scenes or where the program says that it
    waits for the screen; and one that says so and cannot have waited."""
    if report.tool not in _TOOLS:
        return
    rates = [own for own in report.results if own.unit == "frames/s" and own.is_positive]
    line = report.facts.get("refresh_line")
    if not rates:
        return
    screens = {_screen(own) for own in rates}
    if len(screens) == 1 and None not in screens and (line or len(rates) >= LEAST_SCENES):
        words = {"first": rates[0], "screen": screens.pop(), "count": len(rates), "line": line}
        yield finding("waits-for-refresh", words, about=rates)
    elif line and min(own.value for own in rates) >= NO_SCREEN:
        yield finding("not-synchronised", {"rate": rates[0], "line": line}, about=rates[:1])


def _screen(rate: Result) -> int | None:
    return next((each for each in SCREENS if abs(rate.value / each - 1) <= NEAR), None)


@rule
def other_version(reports: list[Report]) -> Iterator[Finding]:
    """Scores of two versions of the benchmark on one device, which differ."""
    own = [report for report in reports if report.tool in _TOOLS and report.version]
    for first, second in pairwise(own):
        one, other = _score(first), _score(second)
        is_same_device = first.facts.get("device") == second.facts.get("device")
        if not (one and other and is_same_device and first.version != second.version):
            continue
        ratio = max(one.value, other.value) / min(one.value, other.value)
        if ratio < APART:
            continue
        drivers = [report.facts.get("driver_version") for report in (first, second)]
        words = {"one": one, "other": other, "ratio": ratio, "tool": first.tool}
        words |= {"old": first.version, "new": second.version}
        apart = all(drivers) and drivers[0] != drivers[1]
        words |= {"driver": drivers[0] if apart else None, "newer": drivers[1] if apart else None}
        yield finding("other-version", words, about=[one, other])
        return


def _score(report: Report) -> Result | None:
    score = report.only("score")
    if score is None or not score.is_positive:
        return None
    return score


@rule
def tests_of_zero(report: Report) -> Iterator[Finding]:
    """Tests of a device that printed 0: it or its driver does not have that kind of number."""
    names = list(report.facts.get("not_run") or ())
    if names:
        line = report.facts["not_run_line"]
        shown = listed(list(names[:4]) + ([f"{len(names) - 4} more"] if len(names) > 4 else []))
        words = {"names": shown, "line": line, "count": len(names)}
        yield finding("zero-rates", words, about=[f"line {line}"])
