"""likwid-bench: what it prints of one kernel, versions 3 to 5."""

from __future__ import annotations

import re
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report, Result, Twice
from benchbook.explain.printed_digits import half_digit, printed_lines
from benchbook.explain.rules.common.relations import Printed, printed, product

TOOL = "likwid-bench"
LOOKS_FOR = "likwid-bench: 'LIKWID MICRO BENCHMARK', 'Test: …', 'MByte/s: …'"
WORDS = ("LIKWID MICRO BENCHMARK", "MByte/s:")

_TEST = late(r"^Test: +(\S+)")
_OF_REGISTERS = "peakflops"  # kernels that are about arithmetic, and load next to nothing
_GROUPS = late(r"^Using (\d+) work ?groups?")
_THREADS = late(r"^Using (\d+) threads?")
_ON = late(r"running on (?:hwthread|core|hardware thread) (\d+)", re.IGNORECASE)
_FIGURE = late(r"^([A-Z][\w ()/.:-]*?):\s+([\d.,]+(?:e[+-]?\d+)?)(?: (sec))?$")
# what it prints -> what it is, in which unit
_RESULTS = {
    "MByte/s": ("bandwidth", "MB/s"),
    "MFlops/s": ("arithmetic rate", "MFLOP/s"),
    "Data volume (Byte)": ("data volume", "B"),
    "Time": ("time", "s"),
    "Cycles": ("cycles", "cycles"),
    "Instructions": ("instructions", "instructions"),
    "UOPs": ("micro-operations", "micro-operations"),
    "Cycles per update": ("cycles per update", "cycles"),
    "Cycles per cacheline": ("cycles per cache line", "cycles"),
}
_FACTS = {
    "Size (Byte)": "working_set_bytes",
    "Size": "working_set_bytes",
    "Size per thread": "bytes_per_thread",
    "Iterations per thread": "loops",
    "CPU Clock": "cpu_clock_hz",
    "Cycle Clock": "cycle_clock_hz",
    "Number of Flops": "operations",
}
_BESIDE = ("Cycle Clock", "Iterations", "Loads per update", "Stores per update", "Load/store ratio")
_IN_A_LINE = (4, 8, 16, 32, 64)  # elements of a cache line

_Numbers = dict[str, Printed]  # of one report, by the words before them


def read(log: Log) -> list[Report]:
    """One report for each test."""
    reports: list[Report] = []
    numbers: list[_Numbers] = []
    for line in printed_lines(log):
        text = line.text.strip()
        if test := _TEST.match(text):
            facts: dict[str, Any] = {"kernel": test[1]}
            if test[1].startswith(_OF_REGISTERS):
                facts["cached_on_purpose"] = True
            reports.append(Report(TOOL, [], line.number, "", facts))
        elif found := _FIGURE.match(text):
            _figure(log, line, found, reports)
            numbers += [{} for _ in reports[len(numbers) :]]
            _beside(log, line, found, numbers)
        elif reports and (groups := _GROUPS.match(text)):
            reports[-1].facts["workgroups"] = int(groups[1])
        elif reports and (threads := _THREADS.match(text)):
            reports[-1].facts["threads"] = int(threads[1])
        elif reports and (on := _ON.search(text)):
            known = str(reports[-1].facts.get("cpus", ""))
            reports[-1].facts["cpus"] = f"{known},{on[1]}".lstrip(",")
    for report, own in zip(reports, numbers, strict=False):
        report.twice += _twice(report, own)
    return [_finished(one) for one in reports if _is_known(one)]


def _beside(log: Log, line: Line, found: re.Match[str], numbers: list[_Numbers]) -> None:
    name, value = found[1], log.number(found[2])
    known = name in _RESULTS or name in _FACTS or name in _BESIDE
    if known and numbers and value is not None:
        numbers[-1].setdefault(name, printed(name, value, found[2], line.number))


def _twice(report: Report, own: _Numbers) -> list[Twice]:
    """What it computes of what it prints, as its sources do since version 3."""
    size = "Size (Byte)" if "Size (Byte)" in own else "Size"
    volume = "Data volume (Byte)"
    moves = volume in own and own[volume].value > 0
    told = [
        *product(own, "Time", ["Cycles"], ["Cycle Clock"], unit="s"),
        *product(own, "MFlops/s", ["Number of Flops"], ["Time"], scale=1e-6, unit="MFLOP/s"),
        # A kernel of arithmetic says that it moves none.
        *(product(own, volume, [size, "Iterations per thread"], unit="bytes") if moves else ()),
        *product(own, "Load/store ratio", ["Loads per update"], ["Stores per update"]),
    ]
    if report.facts.get("workgroups", 1) == 1:  # others may have sizes of their own
        shares = "Iterations", "Iterations per thread"
        told += product(own, size, ["Size per thread", shares[0]], [shares[1]], unit="bytes")
    return told + _of_a_line(own)


def _of_a_line(own: _Numbers) -> list[Twice]:
    """Cycles of a cache line are those of as many updates as it has elements: 8 or 16, mostly."""
    update, line = (own.get(f"Cycles per {one}") for one in ("update", "cacheline"))
    if update is None or line is None or update.value <= 0:
        return []
    elements = min(_IN_A_LINE, key=lambda one: abs(one * update.value - line.value))
    return product(own, line.name, [update.name], count=elements, unit="cycles")


def _is_known(report: Report) -> bool:
    """Common words count only where its own are among them."""
    return any(one.name in ("bandwidth", "cycles per update") for one in report.results)


def _figure(log: Log, line: Line, found: re.Match[str], reports: list[Report]) -> None:
    name, value = found[1], log.number(found[2])
    if value is None or not (name in _RESULTS or name in _FACTS):
        return
    if not reports or _has(reports[-1], name):
        notes = ["The head of its output is missing: which kernel ran is not known."]
        reports.append(Report(TOOL, [], line.number, "", {}, notes))
    report = reports[-1]
    if name in _FACTS:
        report.facts[_FACTS[name]] = int(value) if value.is_integer() else value
    else:
        title, unit = _RESULTS[name]
        error = {"elapsed_error_s": half_digit(found[2])} if name == "Time" else {}
        report.results.append(Result(title, value, unit, line.number, "", error))


def _has(report: Report, name: str) -> bool:
    """Whether it says that already: then another run's output follows, without its head."""
    if name in _FACTS:
        return _FACTS[name] in report.facts
    return any(one.name == _RESULTS[name][0] for one in report.results)


def _finished(report: Report) -> Report:
    """The bandwidth with the bytes and the time that it was made of."""
    moved = next((one.value for one in report.results if one.name == "data volume"), None)
    time = next((one for one in report.results if one.name == "time"), None)
    of: dict[str, Any] = {}
    if moved:
        of["bytes_moved"] = moved
    if time is not None:
        of |= {"elapsed_s": time.value, **time.of}
    report.results = [
        Result(one.name, one.value, one.unit, one.line, one.statistic, of)
        if one.name == "bandwidth"
        else Result(one.name, one.value, one.unit, one.line, one.statistic)
        for one in report.results
    ]
    return report
