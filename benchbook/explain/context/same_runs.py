"""Figures of several runs that are the same in all that is known of them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Mapping, Sequence
from itertools import islice
from typing import Any

from benchbook.explain.model import SUM, Command, Key, Report, Result
from benchbook.explain.units import bytes_per_s, in_base

# Of one run, a figure of the whole of it.
WHOLE = ("mean", "best", "median", "total", "sum", "")
MOST = 500  # runs of a log, and figures of a run: more are another matter
# Columns and facts that are measured, or of one start alone: they differ from run to run.
MEASURED = frozenset(
    {"elapsed_s", "elapsed_error_s", "took_s", "bytes_moved", "start_s", "end_s", "repetitions"}
    | {"rate_error_per_s", "iterations", "validated", "test_ns", "clock_ticks", "duration_s"}
    | {"uptime_s", "pid", "near_port", "asked_in_line", "heading", "heading_line"}
    | {"titled", "said_above"}
)

Figure = tuple[Report, Result]


def of_same(reports: Sequence[Report]) -> list[list[Figure]]:
    """Rates and times of whole runs, those together that differ in nothing: neither tool, setting
    nor the command above them; in their order. Of streams their sum stands for all, where it is
    there."""
    if len(reports) > MOST:
        return []
    figures: dict[Hashable, list[Figure]] = {}
    for report in reports:
        keys = list(islice(filter(_is_of_whole, report.groups), MOST + 1))
        if sum(len(report.groups[key]) for key in keys) > MOST:
            continue
        own = report.of_keys(set(keys).__contains__)
        summed = any(result.of.get("stream") == SUM for result in own)
        of_run = report.tool, report.version, report.asked, plain(report.facts)
        for result in own:
            if not summed or result.of.get("stream") == SUM:
                key = of_run, result.name, result.statistic, result.unit, plain(result.of)
                figures.setdefault(key, []).append((report, result))
    return list(figures.values())


def lines_of_results(reports: Sequence[Report]) -> set[int]:
    """The numbers of all lines that have results."""
    return {result.line for report in reports for result in report.results}


# Commands that only show or set something: no test's output is theirs.
_LOOKING = frozenset(
    ("ethtool", "cd", "ls", "lscpu", "uname", "lspci", "echo", "export", "source", "mkdir", "rm")
)


def tell_commands(commands: Sequence[Command], reports: Sequence[Report]) -> None:
    """Give each report the words of the last command above it, and what was set for that."""
    for report in reports if commands else ():
        if report.asked:
            continue  # its own output has its options
        if above := bisect_left(commands, report.line, key=lambda command: command.number):
            last = commands[above - 1]
            if report.line > last.holds_to or report.facts.get("is_of_another"):
                continue  # its output contradicts it
            if last.words and last.words[0].rpartition("/")[2] in _LOOKING:
                continue  # it shows what there is, and starts no test
            end = report.results[-1].line if report.results else report.line
            if any(own.words != last.words for own in _within(commands, above, end, last)):
                continue  # rows further down are of another command
            report.asked = (
                *(f"{name}={value}" for name, value in last.environment.items()),
                *last.words,
            )


def _within(commands: Sequence[Command], begin: int, end: int, last: Command) -> list[Command]:
    """The commands from `begin` on, down to a line, that start the same program as `last`."""
    own = commands[begin : bisect_left(commands, end, key=lambda command: command.number)]
    return [command for command in own if command.words[:1] == last.words[:1]]


def _is_of_whole(key: Key) -> bool:
    _, statistic, unit = key
    return statistic in WHOLE and (
        bytes_per_s(1.0, unit) is not None or in_base(1.0, unit)[1] == "ns"
    )


def plain(columns: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """What columns or facts set, without what is measured."""
    settings = ((name, repr(value)) for name, value in columns.items() if name not in MEASURED)
    return tuple(sorted(settings))
