"""Runs of one tool that have few figures each, as one table: what they differ in is in its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from benchbook.explain.figures.cells import is_for_people
from benchbook.explain.model import Report

_LEAST_RUNS = 3
_MOST_FIGURES = 6  # of a run
_NAMED = ("titled", "benchmark", "section")  # which a table of several runs shows, too


def together(reports: Sequence[Report]) -> list[tuple[Report, int]]:
    """Reports in their order, each with how many runs it is of: runs that stand behind each other
    and have the same few figures are one."""
    shown: list[tuple[Report, int]] = []
    at = 0
    while at < len(reports):
        end = at + 1
        if len(reports[at].results) <= _MOST_FIGURES:
            while end < len(reports) and _is_alike(reports[at], reports[end]):
                end += 1
        if end - at >= _LEAST_RUNS:
            shown.append((_joined(reports[at:end]), end - at))
        else:
            shown += [(report, 1) for report in reports[at:end]]
        at = end
    return shown


def _is_alike(first: Report, other: Report) -> bool:
    same = (first.tool, first.version) == (other.tool, other.version)
    return same and _figures(first) == _figures(other) and bool(first.results)


def _figures(report: Report) -> list[tuple[str, str]]:
    return sorted((name, statistic) for name, statistic, _ in report.groups)


def _joined(reports: Sequence[Report]) -> Report:
    """One report of all: facts that differ are settings of its figures."""
    first = reports[0]
    same = {
        name: value
        for name, value in first.facts.items()
        if all(name in report.facts and report.facts[name] == value for report in reports)
    }
    results = []
    for report in reports:
        own: dict[str, Any] = {
            _CALLED.get(name, name): value
            for name, value in report.facts.items()
            if name not in same and (name in _NAMED or is_for_people(name, value))
        }
        results += [replace(result, of={**own, **result.of}) for result in report.results]
    return Report(first.tool, results, first.line, first.version, same)


_CALLED = {"titled": "title", "benchmark": "measured"}  # names that are shown in a table
