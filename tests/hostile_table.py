"""Hostile tests: what is broken on purpose, and what must come out.

The first line of each docstring says both; `make test-long` prints them as a table, with how often
each was tried and whether it came out so.
"""

from __future__ import annotations

import inspect
from collections import defaultdict
from pathlib import Path

import pytest

HERE = Path(__file__).parent / "hostile"

_WHAT: dict[str, tuple[str, str]] = {}  # node id -> area, what is tried and must come out
_OUTCOMES: dict[tuple[str, str], list[tuple[str, float, str]]] = defaultdict(list)


def note(items: list[pytest.Item]) -> None:
    """Mark the hostile tests, and keep what each tries."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.hostile)
            text = inspect.getdoc(item.function) or item.name
            area = (inspect.getdoc(item.module) or "").partition("\n")[0].rstrip(".")
            _WHAT[item.nodeid] = area, " ".join(text.partition("\n\n")[0].split())


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.nodeid in _WHAT and (report.when == "call" or report.outcome != "passed"):
        why = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
        tried = dict(report.user_properties).get("tried", 1)
        for _ in range(int(tried)):
            _OUTCOMES[_WHAT[report.nodeid]].append((report.outcome, report.duration / tried, why))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not _OUTCOMES:
        return
    terminalreporter.section("what was tried, and what came out")
    area_before = ""
    for (area, what), outcomes in sorted(_OUTCOMES.items()):
        if area != area_before:
            terminalreporter.write_line(area)
            area_before = area
        failed = sum(outcome == "failed" for outcome, _, _ in outcomes)
        skipped = [why for outcome, _, why in outcomes if outcome == "skipped"]
        result = f"FAILED {failed}" if failed else "as promised"
        if len(skipped) == len(outcomes):
            result = f"not tried here: {skipped[0].removeprefix('Skipped: ')}"
        spent_s = sum(duration for _, duration, _ in outcomes)
        terminalreporter.write_line(f"  {len(outcomes):4} x  {spent_s:6.1f} s  {result}: {what}")
