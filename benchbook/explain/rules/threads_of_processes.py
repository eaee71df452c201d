"""thread-scaling: processes with threads of their own, which together are more than the cores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import Machine, rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

MORE, WORSE = 1.9, 1.2  # times the threads in all; times as slow


@rule
def threads_of_processes(reports: Sequence[Report], machine: Machine) -> Iterator[Finding]:
    """Runs of several processes with several threads each, of which the one with more of both in
    all is slower.

    Decided by the product of both and the times; the log or a sentence of it may name the cores.
    """
    for report in reports:
        runs = [own for own in report.results if _threads(own) > 1 and own.is_time]
        crowded = [own for own in runs if own.of["processes"] > 1 and own.of["threads"] > 1]
        if not crowded:
            continue
        most = max(crowded, key=_threads)
        others = [own for own in runs if own.name == most.name and own.unit == most.unit]
        first = min(others, key=_threads)
        is_worse = most.value >= WORSE * first.value and _threads(most) >= MORE * _threads(first)
        cores, line = _cores(report, machine)
        is_above = is_number(cores) and _threads(most) > cores
        words: dict[str, Any] = {"most": most, "all": _threads(most), "first": first}
        words |= {"processes": most.of["processes"], "threads": most.of["threads"]}
        words |= {"cores": cores if is_above else None, "line": line if is_above else None}
        if is_worse:  # others may be on several machines
            kind = "more-than-cores-in-all" if is_above else "threads-of-each-process"
            yield finding(kind, words, about=[most, first], times=most.value / first.value)
            return


def _threads(own: Result) -> int:
    """Threads of all processes of a run; 0 where one of both numbers is not known."""
    processes, threads = own.of.get("processes"), own.of.get("threads")
    if not isinstance(processes, int) or not isinstance(threads, int) or not own.is_positive:
        return 0
    return processes * threads


def _cores(report: Report, machine: Machine) -> tuple[int | None, object]:
    """The cores of the machine, and the line that says so in words."""
    known = machine.cores or report.facts.get("cores")
    if known:
        return int(known), None
    said = report.facts.get("cores_in_words")
    return (int(said), report.facts["cores_in_words_line"]) if said else (None, None)
