"""BabelStream (and GPU-STREAM, its older name): its table and its CSV, in MB or MiB, and the rates
that somebody took out of its table."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Result
from benchbook.explain.printed_digits import half_digit, whole
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.relations import Printed, product

TOOL = "babelstream"

_ARRAYS = {"Copy": 2, "Mul": 2, "Add": 3, "Triad": 3, "Dot": 2, "Nstream": 4}
# Programs made after it write its units in other words.
_TABLE = late(r"^Function +(?:(Mi?)Bytes/sec|MB/s) +Min \(sec\) +Max(?: \(sec\))? +Average")
_ROW = late(r"^([A-Z]\w+) +([\d.,]+) +([\d.,]+) +([\d.,]+) +([\d.,]+)$")
# Where the log ends inside of a row: its rate is whole.
_CUT_ROW = late(r"^([A-Z]\w+) +([\d.,]+) +[\d.,]+(?: +[\d.,]+){0,2}$")
_TAKEN_OUT = late(
    r"^(Copy|Mul|Add|Triad|Dot|Nstream):? +([\d.,]+) *([MG]i?)(?:B/s|Bytes/s)(?:ec)?$"
)
_SIZE = late(r"^(?P<name>Array|Total) size: ([\d.,]+) (KB|MB|KiB|MiB)")
_TIMES = late(r"^Running (?:kernels|triad|all) (\d+) times")
_VERSION = late(r"^Version: (\d[\w.]*)")
_FACTS = {
    "precision": late(r"^Precision: (float|double)"),
    "implementation": late(r"^Implementation: (\S.*)"),
    "device": late(r"^Using (?:\w+ )?device:? (\S.*)", re.IGNORECASE),
}
_FAILED = late(r"^Validation failed on (?:sum\. Error (?P<error>\d+(?:\.\d+)?(?:e[+-]?\d+)?)$)?")
_FLOAT = 2.0**-23  # the precision of a float
_ROUNDINGS = 100  # by which a sum of many floats may be off
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
class _Run(Run):
    """One run."""

    unit: str = ""
    separator: str = ""
    columns: int = 0  # of its CSV: who runs it again and again adds some
    size_error_bytes: float = 0.0  # how far the digits of the size leave an array open
    sizes: dict[str, Printed] = field(default_factory=dict)
    phases: list[Result] = field(default_factory=list)

    @property
    def exact_array(self) -> int:
        """The bytes of an array; 0 where they are not known, or too roughly."""
        array = self.facts.get("array_bytes") or 0
        return array if self.size_error_bytes <= _ROUNDED * array else 0

    def finish(self) -> bool:
        """Put phases before kernels, and the sizes together."""
        self.results = self.phases + self.results
        self.facts = {name: fact for name, fact in self.facts.items() if fact is not None}
        if "array_bytes" in self.facts:
            self.facts["working_set_bytes"] = _OF_A_RUN * self.facts["array_bytes"]
        if not self.version.startswith("1."):
            self.twice = product(
                self.sizes, "Total size", ["Array size"], count=_OF_A_RUN, unit="bytes"
            )
        return bool(self.results)


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if text in ("BabelStream", "GPU-STREAM") or (run.results and _TABLE.match(text)):
        # A log with both streams has what was complained of before all that was buffered.
        failed = not run.results and run.facts.get("validated") is False
        run = reading.begin(facts={"validated": False} if failed else {})
    if run.results and _FAILED.match(text):
        # The results are checked before the table is printed: this is about the next one.
        run = reading.begin()
    _fact(reading, text)
    if table := _TABLE.match(text):
        run.line, run.unit = run.line or reading.line.number, f"{table[1] or 'M'}B/s"
    elif phase := _PHASE.match(text):
        elapsed, rate = reading.number(phase[2]), reading.number(phase[3])
        _phase(reading, phase[1], rate, f"{phase[4]}B/s", elapsed)
    elif csv := _CSV.match(text) or _PHASES.match(text):
        phases, run.phases = ([], run.phases) if run.results else (run.phases, [])
        unit, columns = f"{csv[2].replace('m', 'M')}B/s", text.count(csv[1]) + 1
        run = reading.begin(unit=unit, separator=csv[1], columns=columns, phases=phases)
        run.line = phases[0].line if phases else run.line
    elif run.separator and text.count(run.separator) + 1 == run.columns:
        _csv(reading, text.split(run.separator)[:_OWN_COLUMNS])
    elif run.unit and (row := _ROW.match(text)):
        values = [reading.number(row[cell]) for cell in range(2, 6)]
        numbers = [value for value in values if value is not None]
        if len(numbers) == len(values):
            _figures(reading, row[1], numbers, half_digit(row[3]))
    elif run.unit and (row := _CUT_ROW.match(text)) and row[1] in _ARRAYS:
        if reading.line.number == reading.last_line:
            reading.add(row[1], row[2], run.unit, "best")
            run.notes.append(f"line {reading.line.number} is cut: only its rate was read")
    elif "repetitions" in run.facts and (kernel := _TAKEN_OUT.match(text)):
        reading.add(kernel[1], kernel[2], f"{kernel[3]}B/s", "best")
    elif kernel := _TRIAD_RATE.match(text):
        reading.add("Triad", kernel[2], f"{kernel[1]}B/s", "mean")


def _fact(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if size := _SIZE.match(text):
        # The first version counted them by powers of 2, and a fork of it has five arrays.
        is_first = run.version.startswith("1.") and size[3] == "MB"
        unit = _BYTES["MiB" if is_first else size[3]]
        value, half = (reading.number(size[2]) or 0) * unit, half_digit(size[2]) * unit
        name = f"{size['name']} size"
        run.sizes[name] = Printed(name, value, half, reading.line.number)
        if size["name"] == "Array":
            run.facts["array_bytes"] = whole(value) or None
            run.size_error_bytes = half
    elif times := _TIMES.match(text):
        run.facts["repetitions"] = int(times[1]) - 1  # the first is left out
    elif version := _VERSION.match(text):
        run.version = version[1]
    elif failed := _FAILED.match(text):
        off = float(failed["error"]) if failed["error"] else math.inf
        if _may_be_rounded(off, run.facts.get("precision")):
            run.facts |= {"sum_error": off, "sum_error_line": reading.line.number}
        else:
            run.facts["validated"] = False
    elif elapsed := _TRIAD_TIME.match(text):
        run.facts["runtime_s"] = reading.number(elapsed[1])
    for fact, pattern in _FACTS.items():
        if found := pattern.match(text):
            run.facts[fact] = found[1]


def _may_be_rounded(off: float, precision: str | None) -> bool:
    """Whether a sum misses its value by no more than the rounding of floats may make."""
    return precision == "float" and off <= _ROUNDINGS * _FLOAT


def _csv(reading: Reading[_Run], cells: list[str]) -> None:
    """A row of the CSV, of a kernel or of a phase."""
    run = reading.run
    is_phase = run.columns == _PHASE_COLUMNS
    if not is_phase and any(row.name == cells[0] for row in run.results):
        run = reading.begin(
            version=run.version,
            unit=run.unit,
            separator=run.separator,
            columns=run.columns,
            size_error_bytes=run.size_error_bytes,
            sizes=run.sizes,
        )
    counts = 2 if is_phase else 3
    try:
        *times, elements, size = (int(cell) for cell in cells[1 : 1 + counts])
        rate, *elapsed = (float(cell) for cell in cells[1 + counts :])
    except ValueError:
        return
    run.facts["array_bytes"] = elements * size
    if is_phase:
        _phase(reading, cells[0], rate, run.unit, elapsed[0])
    else:
        run.facts["repetitions"] = times[0] - 1
        _figures(reading, cells[0], [rate, *elapsed], half_digit(cells[5]))


def _phase(
    reading: Reading[_Run], name: str, rate: float | None, unit: str, elapsed: float | None
) -> None:
    if rate is not None and elapsed is not None:
        run, of = reading.run, dict[str, Any](elapsed_s=elapsed, repetitions=1)
        if run.exact_array:
            of["bytes_moved"] = _OF_A_RUN * run.exact_array
        run.phases.append(Result(name, rate, unit, reading.line.number, "", of))


def _figures(reading: Reading[_Run], name: str, values: list[float], error: float) -> None:
    """The rate of a kernel, and its times in the least, the most and the mean."""
    rate, *times = values
    array, arrays = reading.run.exact_array, _ARRAYS.get(name)
    of: dict[str, Any] = {"elapsed_s": times[0], "elapsed_error_s": error}
    if array and arrays:
        of["bytes_moved"] = array * arrays
    elif arrays:
        of["arrays_moved"] = arrays
    reading.add(name, rate, reading.run.unit, "best", of)
    for statistic, value in zip(("min", "max", "mean"), times, strict=True):
        reading.add(f"{name} time", value, "s", statistic)


def _without_bars(text: str) -> str:
    """A line; of a table that somebody made of it, a row without its bars."""
    text = text.strip()
    return " ".join(text.replace("|", " ").split()) if text.startswith("|") else text


read = LineReader(TOOL, _Run, _line, clean=_without_bars)
