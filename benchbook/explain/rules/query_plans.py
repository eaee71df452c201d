"""where-the-time-went, warm-up, inconsistent-report: what the plan of a query shows of its time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

TOOL = "query-plan"
WHOLES = ("Execution Time", "Total runtime")
LEAST_ROWS = 1000  # that a step read
MOST_KEPT = 0.05  # of them
LARGE = 0.3  # of the time of the query
MOST = 0.5
_SCAN = late(r"(?:Seq Scan|Table scan|Full scan)\b")
_BELOW = late(r"^(?:Parallel|Partial)\b")
_CALL = late(r"^\(+(?P<part>[a-z_]\w{0,60}\([^()]{1,80}\)|[a-z_]\w{0,60} [-+*/%] [\w.']{1,40})")
_PATTERN = late(r"~~\*? '%")


def _whole(report: Report) -> Result | None:
    """The time that the query took in all."""
    named = [own for own in report.called(*WHOLES) if own.is_positive]
    return named[0] if len(named) == 1 else None


def _steps(report: Report) -> list[Result]:
    return [own for own in report.results if "depth" in own.of]


def _read(step: Result) -> float:
    """The rows that a step read in all loops."""
    return float((step.of["rows"] + step.of.get("removed_rows", 0)) * step.of["loops"])


def _plans(reports: Sequence[Report]) -> list[Report]:
    return [report for report in reports if report.tool == TOOL]


@rule
def scan_for_few(reports: Sequence[Report]) -> Iterator[Finding]:
    """Steps that read a whole table and keep few of its rows, and take a large part of the time.

    Decided by the rows that the filter removed, and by the step's time. A parallel step shows the
    time of one process, as all steps below a Gather do.
    """
    for report in _plans(reports):
        whole = _whole(report)
        for step in _steps(report):
            read, kept = _read(step), step.of["rows"] * step.of["loops"]
            if whole is None or not _SCAN.search(step.of["benchmark"]) or read < LEAST_ROWS:
                continue
            loops = 1 if _BELOW.search(step.of["benchmark"]) else step.of["loops"]
            share = step.value * loops / whole.value
            if kept > MOST_KEPT * read or not LARGE <= share <= 1.1:
                continue
            # Of several loops a plan prints rounded means.
            most = int((step.of["rows"] + 0.5) * step.of["loops"])
            words: dict[str, Any] = {"step": step, "whole": whole, "read": read}
            words |= {"about": most, "exactly": None}
            if step.of["loops"] == 1:
                words |= {"about": None, "exactly": kept}
            words |= {"name": step.of["benchmark"], "took": step.value * loops}
            filtered = str(step.of.get("row_filter", ""))
            called = _CALL.search(filtered)
            words["part"] = called["part"] if called else None
            words["pattern"] = True if _PATTERN.search(filtered) else None
            yield finding("scan-for-few", words, about=[step])
            return


FAR = 100.0  # times the rows that were expected


@rule
def rows_unforeseen(reports: Sequence[Report]) -> Iterator[Finding]:
    """The innermost step with a hundred times as many rows as the planner expected."""
    for report in _plans(reports):
        far = [
            step
            for step in _steps(report)
            if step.of["expected_rows"] and step.of["rows"] >= FAR * step.of["expected_rows"]
            if step.of["rows"] * step.of["loops"] >= LEAST_ROWS
        ]
        if far:
            step = max(far, key=lambda own: own.of["depth"])
            words = {"step": step, "name": step.of["benchmark"], "rows": step.of["rows"]}
            words |= {"expected": step.of["expected_rows"]}
            words["times"] = step.of["rows"] / step.of["expected_rows"]
            yield finding("rows-unforeseen", words, about=[step])
            return


@rule
def many_loops(reports: Sequence[Report]) -> Iterator[Finding]:
    """A step that was run a thousand times, one after the other, and took most of the time so."""
    for report in _plans(reports):
        whole = _whole(report)
        often = [
            step
            for step in _steps(report)
            if step.of["loops"] >= LEAST_ROWS and whole is not None
            if MOST <= step.value * step.of["loops"] / whole.value <= 1.1
        ]
        if often and whole is not None:
            step = max(often, key=lambda own: own.value * own.of["loops"])
            words = {"step": step, "name": step.of["benchmark"], "loops": step.of["loops"]}
            words |= {"whole": whole, "all": step.value * step.of["loops"]}
            yield finding("many-loops", words, about=[step])
            return


FASTER = 1.3  # one run of a plan than another


@rule
def same_plan_twice(reports: Sequence[Report]) -> Iterator[Finding]:
    """Two runs with the same steps of which the later one is faster.

    Decided by the names of the steps and the rows that they gave.
    """
    plans = [(report, whole) for report in _plans(reports) if (whole := _whole(report))]
    for (first, slow), (second, fast) in pairwise(plans):
        rows = [
            [(own.of["rows"], own.of["loops"]) for own in _steps(each)] for each in (first, second)
        ]
        names = [[own.of["benchmark"] for own in _steps(each)] for each in (first, second)]
        if names[0] == names[1] and rows[0] == rows[1] and slow.value >= FASTER * fast.value:
            words = {"slow": slow, "fast": fast, "times": slow.value / fast.value}
            words |= {"first": _steps(first)[0], "second": _steps(second)[0]}
            yield finding("same-plan", words, about=[slow, fast])
            return


LEAST_MS = 1.0


@rule
def besides_the_steps(reports: Sequence[Report]) -> Iterator[Finding]:
    """What takes longer than the steps of a query: its planning, the compiling of expressions, the
    way to the client; and sorts that did not fit into their memory."""
    for report in _plans(reports):
        if (whole := _whole(report)) is None:
            continue
        planning, asked = report.only("Planning Time"), report.only("Time")
        if planning and planning.value >= max(LEAST_MS, 2 * whole.value):
            yield finding("planning", planning=planning, whole=whole)
        compiling = report.only("JIT compiling")
        if compiling and LARGE * whole.value <= compiling.value <= whole.value:
            share = compiling.value / whole.value
            yield finding("compiling", compiling=compiling, whole=whole, share=share)
        inside = whole.value + (planning.value if planning else 0.0)
        if asked and asked.value - inside >= max(LEAST_MS, LARGE * asked.value):
            words = {"asked": asked, "inside": inside, "whole": whole}
            yield finding("way-to-client", words, rest=asked.value - inside, about=[asked])
        if disk := report.called("sort on disk"):
            yield finding("sort-on-disk", disk=max(disk, key=lambda own: own.value))


@rule
def part_of_execution(reports: Sequence[Report]) -> Iterator[Finding]:
    """A part of a query's time that is longer than the time that it is called a part of."""
    for report in _plans(reports):
        whole = report.only("Execution Time")
        parts = [own for own in report.results if own.name.endswith(" Execution Time")]
        longer = [part for part in parts if whole and part.value > whole.value]
        if whole is not None and longer:
            yield finding("part-of-execution", part=longer[0], whole=whole)
