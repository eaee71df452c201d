"""Readers of shapes, for what no importer knows: tables, lists and sentences with figures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from benchbook.explain.model import Log, Report
from benchbook.explain.readers.common import (
    bare_rows,
    bare_tables,
    describe_lists,
    device_counts,
    event_tables,
    headless_tables,
    json_figures,
    rate_series,
    size_lists,
    stated_peaks,
    statistics_lists,
    unit_tables,
)
from benchbook.explain.readers.common.text import (
    alike,
    compared,
    counted,
    labelled,
    named,
    sentences,
)

_DIGIT = re.compile(r"\d")
# In this order, the first that finds anything; then lists in other lines.
_SHAPES: tuple[Any, ...] = (
    event_tables,
    unit_tables,
    json_figures,
    describe_lists,
    headless_tables,
    device_counts,
    stated_peaks,
    compared,
    size_lists,
    rate_series,
    counted,
)
_LISTS: tuple[Any, ...] = (named, labelled)
# What is started around another program, whose own figures nobody may know.
_ALONE = (sentences.TOOL, alike.TOOL)  # next to which others may stand
_AROUND = ("time", "perf-stat")
EVERY = (
    *_SHAPES[1:],
    *_LISTS,
    alike,
    bare_tables,
    bare_rows,
    statistics_lists,
    sentences,
)  # event_tables has the name of perf stat

TOOLS = frozenset(reader.TOOL for reader in EVERY)  # of no program that is known


def read_shapes(log: Log) -> list[Report]:
    """What the first reader finds that finds anything, and lists of figures in other lines."""
    reports: list[Report] = []
    for reader in _SHAPES:
        reports = reports or reader.read(log)
    reports = _with_lists(log, reports) or alike.read(log)
    if reports and all(report.tool in _ALONE for report in reports):
        reports += _elsewhere(sentences.read(log), reports)
    for last in (
        bare_tables.read,
        bare_rows.read,
        statistics_lists.read,
        alike.without_units,
    ):
        reports = reports or last(log)
    return reports


def _elsewhere(found: Sequence[Report], reports: Sequence[Report]) -> list[Report]:
    """The figures that none of the reports has, without a note."""
    taken = {(own.line, own.value) for report in reports for own in report.results}
    every = [own for report in found for own in report.results]
    left = [own for own in every if (own.line, own.value) not in taken]
    return [Report(sentences.TOOL, left, left[0].line)] if left else []


def _with_lists(log: Log, reports: Sequence[Report]) -> list[Report]:
    """The reports, and the lists in lines that none of them has; the longest first."""
    every: list[list[Report]] = [reader.read(log) for reader in _LISTS]
    every.sort(key=lambda found: -sum(len(report.results) for report in found))
    taken = {result.line for report in reports for result in report.results}
    kept = list(reports)
    for report in (report for found in every for report in found):
        lines = {result.line for result in report.results}
        if taken.isdisjoint(lines):
            kept.append(report)
            taken |= lines
    return kept


def read_timed(log: Log, reports: Sequence[Report]) -> list[Report]:
    """What shapes have of a program whose time or counters are all that was read; nothing where
    anything else was. Lines of those reports, and between them, are theirs."""
    if not reports or any(report.tool not in _AROUND for report in reports):
        return []
    taken = set[int]()
    for report in reports:
        lines = [report.line, *(result.line for result in report.results)]
        taken.update(range(min(lines), max(lines) + 1))
    if not any(line.number not in taken and _DIGIT.search(line.text) for line in log.lines):
        return []
    return [
        report
        for report in read_shapes(log)
        if taken.isdisjoint(result.line for result in report.results)
    ]
