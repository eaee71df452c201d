"""bimodal, timer-granularity: quartiles and histograms of BenchmarkDotNet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from benchbook.explain.model import Report, Result
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

TOOL = "benchmarkdotnet"
QUARTILES = ("min", "p25", "median", "p75", "max")
TICK_NS, MOST_TICKS = 100.0, 20  # of the clock of .NET
WHOLE = 1e-6  # of a tick
BIMODAL = 3.2  # mValue, from which the library speaks of several modes
OF_GROUP, FEW = 0.1, 10  # of all values; of values
Bin = tuple[float, float, int, str, int]  # from, to, count, unit, line


def _in_ticks(report: Report) -> dict[str, Result]:
    """The first row whose quartiles are all a few whole ticks; {} where none is."""
    rows: dict[str, dict[str, Result]] = {}
    for own in report.being(*QUARTILES):
        if own.is_time:
            rows.setdefault(own.name, {})[own.statistic] = own
    for row in rows.values():
        ticks = [row[name].base_value / TICK_NS for name in QUARTILES if name in row]
        is_whole = all(abs(count - round(count)) <= WHOLE for count in ticks)
        if len(ticks) == len(QUARTILES) and is_whole and 0 < ticks[-1] <= MOST_TICKS:
            return row
    return {}


@rule
def quartiles_in_ticks(report: Report) -> Iterator[Finding]:
    """Quartiles that are all a few whole ticks of .NET's clock: single operations were timed."""
    row = _in_ticks(report) if report.tool == TOOL else {}
    if row:
        words: dict[str, Any] = {"least": row["min"], "most": row["max"]}
        words |= {"median": row["median"], "zero": row["min"] if row["min"].value == 0 else None}
        words["ticks"] = round(row[QUARTILES[-1]].base_value / TICK_NS)
        yield finding("quartiles-in-ticks", words, about=[row["median"]])


@rule
def modes_of_methods(report: Report) -> Iterator[Finding]:
    """Methods whose mValue is one of several modes, where the library's warning is not there, and
    the modes are no ticks of the clock."""
    modes = [own for own in report.facts.get("modes", ()) if own[1] >= BIMODAL]
    if not modes or "said_modes_line" in report.facts or _in_ticks(report):
        return
    name, value, line = max(modes, key=lambda own: own[1])
    means = [own for own in report.being("mean") if own.of.get("benchmark") == name]
    spreads = [own for own in report.being("stddev") if own.of.get("benchmark") == name]
    words: dict[str, Any] = {"name": name or "the method", "value": value, "line": line}
    words |= {"mean": means[0] if means else None, "spread": spreads[0] if spreads else None}
    yield finding("modes-of-method", words, about=means[:1] or [f"line {line}"])


@rule
def groups_in_histograms(report: Report) -> Iterator[Finding]:
    """Histograms with an empty bin between two groups, each of a tenth of all values."""
    found = []
    for name, bins in report.facts.get("histograms", ()):
        if (parts := _groups(bins)) is not None:
            found.append((name, *parts))
    if found:
        name, low, high = found[0]
        words: dict[str, Any] = {"name": name or "the method"}
        words |= {"low": _text(low), "high": _text(high), "below": _count(low)}
        words |= {"above": _count(high), "line": low[0][4], "last": high[-1][4]}
        lines = range(low[0][4], high[-1][4] + 1)
        about = [own for own in report.results if own.of.get("benchmark") == name]
        about = [own for own in about if name or own.line in lines][:1]
        yield finding("groups-in-histogram", words, about=about or [f"line {low[0][4]}"])


def _groups(bins: Sequence[Bin]) -> tuple[Sequence[Bin], Sequence[Bin]] | None:
    """The bins below and above the first empty one that parts two groups."""
    every = _count(bins)
    for index, own in enumerate(bins):
        below, above = bins[:index], bins[index + 1 :]
        if own[2] or not below or not above:
            continue
        least = min(_count(below), _count(above))
        if every >= FEW and least >= max(2, OF_GROUP * every):
            return below, above
    return None


def _count(bins: Sequence[Bin]) -> int:
    return sum(own[2] for own in bins)


def _text(bins: Sequence[Bin]) -> str:
    used = [own for own in bins if own[2]]
    return f"{used[0][0]:g} to {used[-1][1]:g} {used[0][3]}"


WIDE = 1.5  # upper ÷ lower edge
LEAST = 20


@rule
def wide_histogram(report: Report) -> Iterator[Finding]:
    """Histograms alone, without a mean, whose values reach from one edge to far above it."""
    if report.being("mean"):
        return
    for name, bins in report.facts.get("histograms", ()):
        used = [own for own in bins if own[2]]
        if _count(bins) >= LEAST and _groups(bins) is None and used[0][0] > 0:
            times = used[-1][1] / used[0][0]
            if times >= WIDE:
                words = {"name": name or "the method", "times": times, "text": _text(bins)}
                words |= {"line": used[0][4], "count": _count(bins)}
                yield finding("wide-histogram", words, about=report.results[:1])
                return
