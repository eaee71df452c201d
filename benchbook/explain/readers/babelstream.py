"""BabelStream (and GPU-STREAM, its older name): its table and its CSV, in MB or MiB, and the rates
that somebody took out of its table."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report, Result
from benchbook.explain.printed_digits import half_digit, printed_lines, whole
from benchbook.explain.rules.common.relations import Printed, product

TOOL = "babelstream"
LOOKS_FOR = "BabelStream: 'Function  MBytes/sec  Min (sec)  Max  Average', or its CSV"
WORDS = ("BabelStream", "GPU-STREAM", "ytes/sec", "bytes_per_sec", "Running kernels")

_ARRAYS = {"Copy": 2, "Mul": 2, "Add": 3, "Triad": 3, "Dot": 2, "Nstream": 4}
# Programs made after it write its units in other words.
_TABLE = late(r"^Function +(?:(Mi?)Bytes/sec|MB/s) +Min \(sec\) +Max(?: \(sec\))? +Average")
_ROW = late(r"^([A-Z]\w+) +([\d.,]+) +([\d.,]+) +([\d.,]+) +([\d.,]+)$")
_TAKEN_OUT = late(
    r"^(Copy|Mul|Add|Triad|Dot|Nstream):? +([\d.,]+) *([MG]i?)(?:B/s|Bytes/s)(?:ec)?$"
)
_SIZE = late(r"^(?P<name>Array|Total) size: ([\d.,]+) (KB|MB|KiB|MiB)")
_TIMES = late(r"^Running (?:kernels|triad|all) (\d+) times")
_PRECISION = late(r"^Precision: (float|double)")
_IMPLEMENTATION = late(r"^Implementation: (\S.*)")
_DEVICE = late(r"^Using (?:\w+ )?device:? (\S.*)", re.IGNORECASE)
_VERSION = late(r"^Version: (\d[\w.]*)")
_FAILED = late(r"^Validation failed on ")
_TRIAD_TIME = late(r"^Runtime \(seconds\): +([\d.,]+)")
_TRIAD_RATE = late(r"^Bandwidth \((Gi?)B/s\): +([\d.,]+)")
_BYTES = {"KB": 10**3, "MB": 10**6, "KiB": 2**10, "MiB": 2**20}
_CSV = late(
    r"^function([,;\t])num_times\1n_elements\1sizeof\1max_(mi?)bytes_per_sec"
    r"\1min_runtime\1max_runtime\1avg_runtime(?:\1|$)"
)
# What 5.0 times once before and behind its kernels.
_PHASE = late(r"^(Init|Read): +([\d.,]+) s \(= ?([\d.,]+) (Mi?)Bytes/sec\)")
_PHASES = late(r"^phase([,;\t])n_elements\1sizeof\1max_(mi?)bytes_per_sec\1runtime$")
_OWN_COLUMNS, _PHASE_COLUMNS = 8, 5
_OF_A_RUN = 3  # arrays
_ROUNDED = 0.025  # of an array: more does not say what was moved


@dataclass
class _Run:
    line: int = 0
    version: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    unit: str = ""
    separator: str = ""
    columns: int = 0  # of its CSV: who runs it again and again adds some
    size_error_bytes: float = 0.0  # how far the digits of the size leave an array open
    sizes: dict[str, Printed] = field(default_factory=dict)
    rows: list[Result] = field(default_factory=list)
    phases: list[Result] = field(default_factory=list)


def read(log: Log) -> list[Report]:
    """One report for each run."""
    reports: list[Report] = []
    run = _Run()
    for line in printed_lines(log):
        text = line.text.strip()
        if text.startswith("|"):  # a table that somebody made of it
            text = " ".join(text.replace("|", " ").split())
        if text in ("BabelStream", "GPU-STREAM") or (run.rows and _TABLE.match(text)):
            _finish(run, reports)
            # A log with both streams has what was complained of before all that was buffered.
            failed = not run.rows and run.facts.get("validated") is False
            run = _Run(line.number, facts={"validated": False} if failed else {})
        if run.rows and _FAILED.match(text):
            # The results are checked before the table is printed: this is about the next one.
            _finish(run, reports)
            run = _Run(line.number)
        _fact(log, line, text, run)
        if table := _TABLE.match(text):
            run.line, run.unit = run.line or line.number, f"{table[1] or 'M'}B/s"
        elif phase := _PHASE.match(text):
            elapsed, rate = log.number(phase[2]), log.number(phase[3])
            _phase(run, line, phase[1], rate, f"{phase[4]}B/s", elapsed)
        elif csv := _CSV.match(text) or _PHASES.match(text):
            phases, run.phases = ([], run.phases) if run.rows else (run.phases, [])
            _finish(run, reports)
            unit, columns = f"{csv[2].replace('m', 'M')}B/s", text.count(csv[1]) + 1
            begun = phases[0].line if phases else line.number
            run = _Run(begun, unit=unit, separator=csv[1], columns=columns, phases=phases)
        elif run.separator and text.count(run.separator) + 1 == run.columns:
            cells = text.split(run.separator)[:_OWN_COLUMNS]
            if run.columns == _PHASE_COLUMNS:
                _csv_phase(line, cells, run)
                continue
            if any(row.name == cells[0] for row in run.rows):
                _finish(run, reports)
                run = replace(run, line=line.number, facts={}, rows=[], phases=[])
            _csv_row(line, cells, run)
        elif run.unit and (row := _ROW.match(text)):
            _row(log, line, row, run)
        elif "repetitions" in run.facts and (rate := _TAKEN_OUT.match(text)):
            _add(run, line, rate[1], log.number(rate[2]), f"{rate[3]}B/s", "best", {})
        elif rate := _TRIAD_RATE.match(text):
            _add(run, line, "Triad", log.number(rate[2]), f"{rate[1]}B/s", "mean", {})
    _finish(run, reports)
    return reports


def _fact(log: Log, line: Line, text: str, run: _Run) -> None:
    if size := _SIZE.match(text):
        value, unit = (log.number(size[2]) or 0) * _BYTES[size[3]], _BYTES[size[3]]
        name, half = f"{size['name']} size", half_digit(size[2]) * unit
        run.sizes[name] = Printed(name, value, half, line.number)
        if size["name"] == "Array":
            run.facts["array_bytes"] = whole(value) or None
            run.size_error_bytes = half
    elif times := _TIMES.match(text):
        run.facts["repetitions"] = int(times[1]) - 1  # the first is left out
    elif precision := _PRECISION.match(text):
        run.facts["precision"] = precision[1]
    elif version := _VERSION.match(text):
        run.version = version[1]
    elif device := _DEVICE.match(text):
        run.facts["device"] = device[1]
    elif implementation := _IMPLEMENTATION.match(text):
        run.facts["implementation"] = implementation[1]
    elif _FAILED.match(text):
        run.facts["validated"] = False
    elif elapsed := _TRIAD_TIME.match(text):
        run.facts["runtime_s"] = log.number(elapsed[1])


def _row(log: Log, line: Line, row: re.Match[str], run: _Run) -> None:
    rate, least, most, mean = (log.number(row[at]) for at in range(2, 6))
    if rate is None or least is None or most is None or mean is None:
        return
    _figures(line, row[1], run, (rate, least, most, mean), half_digit(row[3]))


def _csv_row(line: Line, cells: list[str], run: _Run) -> None:
    try:
        times, elements, size = (int(cell) for cell in cells[1:4])
        rate, least, most, mean = (float(cell) for cell in cells[4:])
    except ValueError:
        return
    run.facts |= {"array_bytes": elements * size, "repetitions": times - 1}
    _figures(line, cells[0], run, (rate, least, most, mean), half_digit(cells[5]))


def _csv_phase(line: Line, cells: list[str], run: _Run) -> None:
    try:
        array_bytes, rate, elapsed = int(cells[1]) * int(cells[2]), float(cells[3]), float(cells[4])
    except ValueError:
        return
    run.facts["array_bytes"] = array_bytes
    _phase(run, line, cells[0], rate, run.unit, elapsed)


def _phase(
    run: _Run, line: Line, name: str, rate: float | None, unit: str, elapsed: float | None
) -> None:
    if rate is not None and elapsed is not None:
        of: dict[str, Any] = {"elapsed_s": elapsed, "repetitions": 1}
        array = run.facts.get("array_bytes")
        if array and run.size_error_bytes <= _ROUNDED * array:
            of["bytes_moved"] = _OF_A_RUN * array
        run.phases.append(Result(name, rate, unit, line.number, "", of))


def _figures(
    line: Line, name: str, run: _Run, values: tuple[float, float, float, float], error: float
) -> None:
    rate, least, most, mean = values
    array, arrays = run.facts.get("array_bytes"), _ARRAYS.get(name)
    of: dict[str, Any] = {"elapsed_s": least, "elapsed_error_s": error}
    if array and arrays and run.size_error_bytes <= _ROUNDED * array:
        of["bytes_moved"] = array * arrays
    elif arrays:
        of["arrays_moved"] = arrays
    _add(run, line, name, rate, run.unit, "best", of)
    for statistic, value in (("min", least), ("max", most), ("mean", mean)):
        _add(run, line, f"{name} time", value, "s", statistic, {})


def _add(
    run: _Run,
    line: Line,
    name: str,
    value: float | None,
    unit: str,
    statistic: str,
    of: dict[str, Any],
) -> None:
    if value is not None:
        run.rows.append(Result(name, value, unit, line.number, statistic, of))


def _finish(run: _Run, reports: list[Report]) -> None:
    if rows := run.phases + run.rows:
        facts = {name: one for name, one in run.facts.items() if one is not None}
        if "array_bytes" in facts:
            facts["working_set_bytes"] = _OF_A_RUN * facts["array_bytes"]
        twice = product(run.sizes, "Total size", ["Array size"], count=_OF_A_RUN, unit="bytes")
        line = run.line or rows[0].line
        reports.append(Report(TOOL, rows, line, run.version, facts, twice=twice))
