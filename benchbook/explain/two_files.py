"""What differs between two logs, and how much of the ratio of their figures that may explain."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from benchbook.core.number_format import listed, number
from benchbook.explain.context.same_runs import MEASURED
from benchbook.explain.explanation import Explained
from benchbook.explain.figures.cells import is_for_people, shown_as, words
from benchbook.explain.model import Report, Result
from benchbook.explain.rules import Machine
from benchbook.explain.rules.perf_differences import differences_of_counts
from benchbook.explain.units import in_base, is_binary
from benchbook.findings import Finding

# What a rate of many may grow with; a figure of more of them is no better figure.
IN_PROPORTION = ("threads", "processes", "streams", "devices", "queue_depth", "queue_pairs")
SIZES = ("message_bytes", "array_bytes", "block_bytes", "working_set_bytes", "matrix_order")
CAUSES = ("kernel", "protocol", "direction", "engine", "operation", "access", "host_memory")
STATISTICS = ("", "mean", "best", "median", "total", "sum")
MOST_FIGURES, MOST_WORDS = 12, 8
EQUAL = 0.005  # of a ratio: not worth a line


def differences(first: Explained, second: Explained) -> list[str]:
    """Sentences about the runs that both have, in their order; empty where they have none alike."""
    lines: list[str] = []
    for before, after in _pairs(first, second):
        settings = list(_settings(before, after))
        figures = list(_figures(before, after))
        title = f"{before.tool} (line {before.line} of the first, {after.line} of the second)"
        lines.append(f"{title}: {len(figures)} figures in common")
        lines += settings or ["  settings: none that the logs show differ"]
        lines += [line for line, _ in figures[:MOST_FIGURES]]
        if len(figures) > MOST_FIGURES:
            lines.append(f"  and {len(figures) - MOST_FIGURES} more")
        lines += _explained(before, after, [ratio for _, ratio in figures])
        for cause in differences_of_counts.check([before, after], Machine()):
            if isinstance(cause, Finding):
                lines.append(f"  each line in its own log: {cause.explanation}")
    return lines


def _pairs(first: Explained, second: Explained) -> Iterator[tuple[Report, Report]]:
    """Runs of the same tool, the first with the first, and so on."""
    left = list(second.reports)
    for report in first.reports:
        same = next((candidate for candidate in left if candidate.tool == report.tool), None)
        if same is not None:
            left.remove(same)
            yield report, same


def _facts(report: Report) -> Mapping[str, Any]:
    """Settings of a run: its facts, and columns that all of its results have alike."""
    facts = dict(report.facts)
    for column in report.columns:
        values = {repr(of.get(column)) for of in report.settings}
        if len(values) == 1:
            facts.setdefault(column, report.settings[0][column])
    kept = ((name, fact) for name, fact in facts.items() if name not in MEASURED)
    return {name: fact for name, fact in kept if is_for_people(name, fact)}


def _settings(before: Report, after: Report) -> Iterator[str]:
    if before.version != after.version:
        versions = " → ".join(report.version or "not shown" for report in (before, after))
        yield f"  version: {versions}"
    one_side, far_side = _facts(before), _facts(after)
    for name in dict.fromkeys((*one_side, *far_side)):
        values = [facts.get(name) for facts in (one_side, far_side)]
        if values[0] != values[1]:
            shown = " → ".join(shown_as(name, value) or "not shown" for value in values)
            yield f"  {words(name)}: {shown}"
    for asked, without, whose in (
        (before.asked, after.asked, "first"),
        (after.asked, before.asked, "second"),
    ):
        only = [word for word in asked if word not in without][:MOST_WORDS]
        if only and before.asked and after.asked:
            yield f"  only in the command of the {whose}: {' '.join(only)}"


def _key(report: Report, result: Result) -> tuple[object, ...]:
    sizes = tuple(report.column(result, name) for name in (*SIZES, "stream", "end", "direction"))
    return result.name, result.statistic, in_base(1.0, result.unit)[1], sizes


def _figures(before: Report, after: Report) -> Iterator[tuple[str, float]]:
    """A line for each figure that both have, with the ratio of second to first."""
    of_first = {
        _key(before, result): result
        for result in before.results
        if result.statistic in STATISTICS and result.is_positive
    }
    for result in after.results:
        own = of_first.pop(_key(after, result), None)
        if own is None or not result.is_positive:
            continue
        ratio = result.base_value / own.base_value
        name = f"{own.name} {own.statistic}".strip()
        figures = " → ".join(f"{each.value:,.6g} {each.unit}" for each in (own, result))
        spread = _spread(before, own), _spread(after, result)
        note = ""
        if all(spread) and abs(ratio - 1) <= ratio * math.hypot(*spread):
            note = ", within the spread of single runs"
        elif own.unit != result.unit and is_binary(own.unit) != is_binary(result.unit):
            note = ", in units of powers of 2 and of 10"
        measured = ratio if own.is_time or "/" in own.unit else 1.0  # a count of work is none
        yield f"  {name}: {figures}, {number(ratio)} times{note}", measured


def _spread(report: Report, mean: Result) -> float:
    """The deviation of a mean's runs as a share of it; 0 where the log does not tell."""
    deviation = report.only(mean.name, "stddev") if mean.statistic == "mean" else None
    return deviation.base_value / mean.base_value if deviation else 0.0


def _explained(before: Report, after: Report, ratios: list[float]) -> Iterator[str]:
    """How much of the middle ratio the settings may explain."""
    apart = sorted(ratio for ratio in ratios if abs(ratio - 1) > EQUAL)
    if not apart:
        return
    ratio = apart[len(apart) // 2]
    one_side, far_side = _facts(before), _facts(after)
    most, of = 1.0, list[str]()
    for name in IN_PROPORTION:
        values = [facts.get(name) for facts in (one_side, far_side)]
        counts = [value for value in values if isinstance(value, int) and value > 0]
        if len(counts) == len(values) and counts[0] != counts[1]:
            most *= max(counts) / min(counts)
            of.append(words(name))
    changed = [
        words(name)
        for name in (*SIZES, *CAUSES)
        if name in one_side and name in far_side and one_side[name] != far_side[name]
    ]
    if of:
        yield (
            f"  {listed(of)} may explain up to {number(most)} times of the "
            f"{number(max(ratio, 1 / ratio))} times between the figures"
        )
    if changed:
        yield f"  {listed(changed)} differ: the figures may not be of the same thing"
    if not of and not changed:
        yield "  no size or number of both explains the ratio: look at the machines and their load"
