"""undecided-ratio: figures that stand in a log twice, before a change and after it, with errors."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from typing import Any, NamedTuple

from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.readers.common.load_lines import TIME
from benchbook.explain.results import grouped
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.errors_of_means import half_interval
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

MIDDLES = ("", "mean", "median", "best")
SPREADS = ("confidence 99.9 %", "standard error", "stddev", "error", "range", "sd")
OF_RUNS = ("stddev", "sd", "range")
SETTINGS = ("benchmark", "parameters", "label", "mode", "message_bytes", "threads")
# Whose deviation is that of single requests, and no error of the mean of thousands.
OF_REQUESTS = (TIME, "time to connect", "time to the first byte", "rate of a thread")
OF_SINGLE = ("ping", "ioping", "fio", "mtr")  # the same, of single echoes and requests
OF_OWN_RULES = ("perf-stat",)  # which have another one for two starts
OF_LINES = ("google-benchmark",)  # which have a line for each statistic
MOST = 500  # reports of a log


class _Known(NamedTuple):
    """A figure, half of its interval in base units, and which report it is of."""

    result: Result
    error: float
    report: int


@rule
def blocks_within_errors(reports: Sequence[Report]) -> Iterator[Finding]:
    """Figures that two blocks of a log have, and that differ by less than their printed errors.

    Decided by the errors. Only of what stands in the log exactly twice: of more blocks nobody knows
    which are compared. Tools that compare two builds themselves have rules of their own.
    """
    pairs = list(_pairs(reports)) if len(reports) <= MOST else []
    near = [(first, again) for first, again in pairs if _is_near(first, again)]
    if not near:
        return
    (first, again), count = near[0], len(pairs)
    apart = next((pair for pair in pairs if pair not in near), None)
    words = {"first": first.result, "again": again.result, "near": len(near)}
    words |= {"count": count if count > 1 else None}
    words |= {"first_error": _printed(first), "again_error": _printed(again)}
    words |= {"apart": apart[0].result if apart else None}
    words |= {"other": apart[1].result if apart else None}
    about = [known.result for pair in near for known in pair]
    yield finding("blocks-within-errors", words, about=about)


def _pairs(reports: Sequence[Report]) -> Iterator[tuple[_Known, _Known]]:
    known = [
        (key, figure)
        for at, report in enumerate(reports)
        if report.tool not in OF_OWN_RULES and "build" not in report.columns
        if not {"build", "said_times"} & report.facts.keys()
        for key, figure in _known(report, at)
    ]
    if any("said_times" in report.facts for report in reports):
        return  # what is compared are the commands of a block
    for several in grouped(known, lambda entry: entry[0]).values():
        if len(several) == 2 and several[0][1].report != several[1][1].report:
            yield several[0][1], several[1][1]


def _known(report: Report, at: int) -> Iterator[tuple[Hashable, _Known]]:
    if report.tool in OF_SINGLE:
        return
    in_rows = report.tool not in OF_LINES
    printed = [own for own in report.being(*SPREADS) if own.is_number and own.value >= 0]
    printed.sort(key=lambda own: own.statistic not in OF_RUNS)  # an error of the mean comes last
    spreads = {(own.name, own.line * in_rows): own for own in printed}
    for figure in report.being(*MIDDLES) if spreads else ():
        spread = spreads.get((figure.name, figure.line * in_rows))
        if spread is None or not figure.is_positive or figure.name in OF_REQUESTS:
            continue
        if spread.statistic in OF_RUNS and not figure.of.get("repetitions"):
            continue  # single runs deviate so; how well their mean is known, their number says
        error = half_interval(figure, spread)
        settings = tuple(str(report.column(figure, name)) for name in SETTINGS)
        command = str(report.facts.get("command", ""))
        yield (
            (report.tool, figure.name, figure.statistic, command, settings),
            _Known(figure, error, at),
        )


def _is_near(first: _Known, again: _Known) -> bool:
    apart = abs(first.result.base_value - again.result.base_value)
    error = math.hypot(first.error, again.error)
    if apart <= first.result.base_half + again.result.base_half:
        return False  # one figure in two forms
    return is_number(apart) and error > 0 and apart <= error


def _printed(known: _Known) -> float:
    """The error in the unit of the figure, with three digits."""
    value = known.result.value
    error = known.error * value / known.result.base_value if value else known.error
    return float(f"{error:.3g}")


PAIR = 2


@rule
def two_commands(reports: Sequence[Report]) -> Iterator[str]:
    """A note on the only two commands that hyperfine timed in a log, without its summary, whose
    means differ by less than the errors of both."""
    timed = [report for report in reports if report.tool == "hyperfine"]
    if len(timed) != PAIR or any("said_times" in report.facts for report in timed):
        return
    known = [figure for at, report in enumerate(timed) for _, figure in _known(report, at)]
    known = [figure for figure in known if figure.result.name == "time"]
    commands = {str(report.facts.get("command", "")) for report in timed}
    if len(known) == PAIR == len(commands) and _is_near(*known):
        first, second = known
        words: dict[str, Any] = {"first": first.result, "second": second.result}
        words |= {"first_error": _printed(first), "second_error": _printed(second)}
        yield finding("overlapping-means", words).explanation


SMALL = 0.03  # of the figure, every change
LEAST_PAIRS = 3
OF_ONE_PROCESS = ("benchmarkdotnet", "criterion", "pytest-benchmark", "divan", "nanobench")


@rule
def small_changes_of_blocks(reports: Sequence[Report]) -> Iterator[str]:
    """A note on figures of two blocks that all change by at most 3 %, some up and some down, and by
    more than their errors: these are of one start of the program."""
    if any(report.tool not in OF_ONE_PROCESS for report in reports) or len(reports) > MOST:
        return
    pairs = [(old.result, new.result) for old, new in _pairs(reports) if not _is_near(old, new)]
    changes = [new.base_value / old.base_value - 1 for old, new in pairs]
    if len(pairs) < LEAST_PAIRS or max(map(abs, changes)) > SMALL:
        return
    up = [pair for pair, change in zip(pairs, changes, strict=True) if change > 0]
    if 0 < len(up) < len(pairs):
        words: dict[str, Any] = {"most": max(map(abs, changes)), "old": up[0][0], "new": up[0][1]}
        yield finding("small-changes-of-blocks", words).explanation
