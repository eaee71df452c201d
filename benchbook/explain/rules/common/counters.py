"""Counts of a log as the detectors of counters want them, and the findings with their lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.findings import Finding

_OF_KIND = late(r"^\w+/")
_OF_GUESTS = late(r":\w*G\w*$")  # a host without any counts none of them
SOURCES = {"perf-stat": "perf stat", "likwid-perfctr": "likwid-perfctr"}
ALL_THE_TIME = 0.99  # what is above are the edges of starting and stopping


def events(reports: list[Report]) -> Iterator[Result]:
    """What tools of counters counted, or were asked to."""
    for report in _counting(reports):
        yield from (one for one in report.results if "state" in one.of and is_event(one))


def some_absent(reports: list[Report]) -> bool:
    """Whether a count may be absent, or 0: told without each of them."""
    return any(
        any(of.get("state") == "absent" for of in report.settings)
        or any(0 in own.values for own in report.groups.values())
        for report in _counting(reports)
    )


def some_shared(reports: list[Report]) -> bool:
    """Whether one may have been counted for a part of the time."""
    return any(
        any(of.get("multiplexed") for of in report.settings)
        or any(any(map(_in_part, own.column("running_fraction"))) for own in report.groups.values())
        for report in _counting(reports)
    )


def _counting(reports: list[Report]) -> Iterator[Report]:
    """Those of tools of counters."""
    return (one for one in reports if one.tool in SOURCES and "state" in one.columns)


def evidence(reports: list[Report]) -> list[dict[str, Any]]:
    """One row for each event that a tool counted or was asked to count; `where` is of a whole run.

    A 0 on one core where another one counted is a core without work, no number from one memory
    channel where others counted is a channel without memory, and an event that cores of one kind
    did not count and those of another did (cpu_atom, cpu_core; two of Arm) had no work there: none
    is a row.
    """
    return [
        _row(report, result)
        for report in reports
        if report.tool in SOURCES
        for counted in [{_event(one.name) for one in report.results if one.value > 0}]
        for result in report.results
        if "state" in result.of and is_event(result)
        if result.value > 0 or _event(result.name) not in counted
        if result.value != 0 or not _OF_GUESTS.search(result.name)
    ]


def _event(name: str) -> str:
    """The event, whichever kind of core counted it."""
    return _OF_KIND.sub("", name)


def is_absent(result: Result) -> bool:
    """Whether it has no value, or one that nothing counted."""
    return result.of.get("state") == "absent"


def is_shared(result: Result) -> bool:
    """Whether it was counted for a part of the time."""
    known = _in_part(result.of.get("running_fraction"))
    return not is_absent(result) and (known or bool(result.of.get("multiplexed")))


def _in_part(share: float | None) -> bool:
    return share is not None and 0 < share < ALL_THE_TIME


def placed(
    findings: list[Finding], reports: list[Report], is_meant: Callable[[Result], bool]
) -> Iterator[Finding]:
    """The findings about runs, at the lines of the events that are meant."""
    where = [one.where for one in events(reports) if is_meant(one)]
    return (replace(finding, where=list(dict.fromkeys(where))) for finding in findings)


def is_event(result: Result) -> bool:
    """Whether it is a count, and no metric made of counts."""
    return bool(result.of.get("kind", "event") == "event")


def _row(report: Report, result: Result) -> dict[str, Any]:
    absent = is_absent(result)
    running = result.of.get("running_fraction")
    counted = running is None or running >= ALL_THE_TIME
    return {
        "where": f"{report.tool} from line {report.line}",
        "name": result.name,
        "unit": result.unit,
        "source": SOURCES[report.tool],
        "state": result.of["state"],
        "reason": result.of.get("reason", ""),
        "value": None if absent else result.value,
        "run_time_s": 1.0,  # each was of a program that ran
        "multiplexed": bool(result.of.get("multiplexed")),
        "running_fraction": 1.0 if counted else running,
    }
