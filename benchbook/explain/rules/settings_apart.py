"""settings-apart: two runs of a tool in one log that were not made alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchbook.core.number_format import listed
from benchbook.core.sizes import format_bytes
from benchbook.explain.model import Report
from benchbook.explain.results import grouped
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding

# What may make two runs incomparable, as people call it.
WORDS: Mapping[str, str] = {
    "threads": "threads", "processes": "processes", "streams": "streams", "array_bytes": "arrays",
    "block_bytes": "blocks", "message_bytes": "messages", "working_set_bytes": "working set",
    "operation": "operation", "scope": "scope", "test": "test",
    "engine": "engine", "queue_depth": "queue depth", "host_memory": "host memory",
    "precision": "precision", "problem_class": "class", "implementation": "implementation",
    "device": "device", "cpu": "CPU", "cores": "CPUs", "data_type": "type of data",
}  # fmt: skip
OF_SCALING = ("threads", "processes", "streams")
MOST = 3  # settings that a sentence lists
APART = 1.1  # larger ÷ smaller figure of the two: what people compare
STATISTICS = ("", "mean", "best", "median", "total", "sum")


@rule
def settings_apart(reports: Sequence[Report]) -> Iterator[str]:
    """A note on the only two runs of a tool, whose settings or versions differ while they share
    figures that are apart: which of the two makes the difference, the log does not say."""
    for several in grouped(reports, lambda report: report.tool).values():
        if len(several) != 2 or not several[0].tool or not _are_compared(several):
            continue
        first, second = several
        settings = list(_apart(first, second))
        scaled = [setting for setting in settings if setting.startswith(OF_SCALING)]
        if len(settings) > len(scaled):  # who varies only these, does it on purpose
            shown, left = settings[:MOST], len(settings) - MOST
            shown += [f"{left} more settings"] if left > 0 else []
            words = {"first": first.line, "second": second.line, "settings": listed(shown)}
            about = [first.results[0], second.results[0]]
            yield finding("settings-apart", words, about=about).explanation


def _are_compared(several: Sequence[Report]) -> bool:
    """Whether a figure of the first is in the second, and they are apart."""
    figures = [
        {
            (own.name, own.statistic, own.unit): own.value
            for own in report.results
            if own.statistic in STATISTICS and own.is_positive
        }
        for report in several
    ]
    return any(
        max(value, figures[1][key]) >= APART * min(value, figures[1][key])
        for key, value in figures[0].items()
        if key in figures[1]
    )


def _apart(first: Report, second: Report) -> Iterator[str]:
    if first.version and second.version and first.version != second.version:
        yield f"version ({first.version} and {second.version})"
    for name, called in WORDS.items():
        values = [report.facts.get(name) for report in (first, second)]
        if None not in values and values[0] != values[1]:
            yield f"{called} ({_shown(name, values[0])} and {_shown(name, values[1])})"


def _shown(name: str, value: Any) -> str:
    return format_bytes(int(value)) if name.endswith("_bytes") else str(value)[:60]
