"""STREAM: stream.c 4.0 to 5.10, its Fortran, OpenMP and MPI versions, and builds of vendors."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from benchbook.explain.decimal_marks import number
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Command, Line, Log, Report, Result, Twice
from benchbook.explain.printed_digits import (
    LONGEST,
    About,
    decimals,
    half_digit,
    is_number,
    unremarked,
)
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.relations import Printed, product
from benchbook.explain.units import bytes_per_s

TOOL = "stream"
_OF_TABLE = r"(?:\w{0,20} ?:[ \t]*(?:\d\S*+|\+?[Ii]nf\w*+)\s++\d\S*+\s++\d| *(?:: *)?\||:?[;,])"

KERNELS = {"Copy": 2, "Scale": 2, "Add": 3, "Triad": 3}  # arrays that one repetition moves
_OLD = {"Assignment": 2, "Scaling": 2, "Summing": 3, "SAXPYing": 3}  # in Fortran, before 4.0
_TABLE = late(
    r"Function\b.*?\bRate\s*(?:\(\s*)?(?P<unit>[MG]i?B)/s\s*(?:\)\s+)?(?<=\s)"
    r"(?P<mid>Avg|RMS|Average)\s+time\s+"
    r"Min\s+time\s+Max\s+time",
    re.IGNORECASE,
)
_ROW = late(r"(?P<name>[A-Za-z]\w*(?: \w+)?)\s*:\s*(?P<cells>\S+(?:\s+\S+)*)$")
_OWN_ROW = late(
    r"(?<![^\s:\]|])(?P<name>Copy|Scale|Add|Triad)\s*:\s*(?P<cells>[-\d+Ii]\S*(?:\s+\S+)*)$"
)
_CELL = late(r"-?[\d.,]*\d(?:[eE][+-]?\d+)?|\+?inf(?:inity)?|-?nan", re.IGNORECASE)
_PLAIN = ("MB/s", "mean")  # where the head of the table is missing
# A row as stream.c 5 prints it, and nothing else that is known: it needs no others beside it.
_DIGITS_OF_5 = (1, 6, 6, 6)
_COLUMNS = 4
_CELLED = tuple(
    f"{entry}{mark}" for entry in ("Function", *KERNELS) for mark in (";", ",", ":;", ":,")
)
# Of an array told in MiB with one decimal: from here on rounding is less than 1 % of it.
_WELL_ROUNDED = 5 << 20
_ROUNDED = 0.01
_CLOCK_NS = 1000  # gettimeofday, which it asks for the time
_ARRAYS = 3
_SIZES = (4, 8)  # bytes of an element
_NEARLY = 2**0.5  # times: half of the way from one of them to the other
# Of builds that print nothing but rates, and of who took them out of the table.
_RATE_ALONE = late(
    r"(?P<name>Set|Copy|Scale|Add|Triad)(?:\s*:)?\s+(?P<rate>[\d.,]+)\s*(?P<unit>[MG]i?B/s)(?:ec)?"
)
_CLOSE = 3  # lines from one of them to the next
_HEADLESS = "The head of its table is missing: the columns are read as stream.c has them."
_ONLY_RATES = "Only rates remain: the table has no times."
_MIXED = "The rows of several processes are mixed"


def _mib(text: str) -> int | None:
    value = number(text, decimal_comma="," in text)
    return round(value * 2**20) if is_number(value) else None


def _microseconds(text: str) -> int:
    return int(text) * 1000


_PEAK = "memory_peak_bytes_per_s"
# fact -> what tells it
_FACTS = {
    "version": late(r"STREAM version \$?Revision: *([\d.]+\w*)", re.I),
    "bytes_per_element": late(
        r"(?:uses|Assuming) +(\d+) bytes per (?:array element|[A-Z]+ PRECISION)"
    ),
    "array_elements": late(r"\bArray size *= *(\d+)(?: *\(elements\))?"),
    "offset_elements": late(r"\bOffset *= *(\d+)"),
    "array_mib": late(r"\bMemory per array *= *([\d.,]+) MiB"),
    "total_mib": late(
        r"(?:Total memory required *=|total memory requirement is|Aggregate memory required *=)"
        r" *([\d.,]+) Mi?B"
    ),
    "runs": late(r"(?:executed|running each test|Each test is run) +(\d+) +times", re.I),
    "threads": late(r"Number of Threads(?: requested(?: for each MPI rank)?)? *= *(\d+)"),
    "threads_counted": late(r"Number of Threads counted[\w ]*= *(\d+)"),
    "processes": late(r"distributed across (\d+) MPI ranks"),
    "clock_resolution_ns": late(r"granularity/precision appears to be +(\d+) *microseconds"),
    "test_ns": late(r"take on the order of +(\d+) microseconds"),
    "clock_ticks": late(r"\(= *(\d+) (?:clock|timer) ticks\)"),
    _PEAK: late(r"-bit = (\d{1,6}(?:\.\d+)?) GB/s PEAK"),  # of each device, by the port to CUDA
}
# How a fact is read that is no whole number.
_KINDS: dict[str, Callable[[str], Any]] = {
    "version": str,
    "array_mib": _mib,
    "total_mib": _mib,
    "clock_resolution_ns": _microseconds,
    "test_ns": _microseconds,
    _PEAK: lambda text: float(text) * 1e9,
}
# Of these numbers: what they are called, and what their digits leave open.
_TOLD = {
    "array_elements": ("elements", 0.0),
    "bytes_per_element": ("bytes of an element", 0.0),
    "array_mib": ("memory per array", 0.05),
    "total_mib": ("memory required", 0.05),
    "test_ns": ("nanoseconds of a test", 1000.0),
    "clock_resolution_ns": ("nanoseconds of the clock", 0.0),
    "clock_ticks": ("clock ticks", 1.0),
}
# A line that tells a fact has one of these.
_TELLING = (
    *("Validat", "Revision", "bytes per", "rray size", "Offset", "per array", "emory requir"),
    *("times", "Number of Threads", "MPI ranks", "granularity", "on the order of"),
    *("ticks)", "GB/s PEAK"),
)
_MAY_TELL = late("|".join(map(re.escape, _TELLING)))
# Lines without any of these say nothing.
_READ = (":", "Function", *KERNELS, *_TELLING, "errors were found")
_PORTS = (
    *("GPU", "CUDA", "HIP", "MPI", "mpi", "HPX", "Kokkos", "SYCL", "OpenCL", "pthread", "TBB"),
    *("ARTS", "rank", "Fortran", "openmp", "OpenMP"),
)
_FAILED = late(r"Failed Validation on array (?P<array>\w)\b")
_OFF = late(r"\bAvgRelAbsErr: *(?P<error>\d\S*)$")
_COUNTED = late(r"\bFor array (?P<array>\w)\[\], (?P<count>\d+) errors were found")
_LINES_TO_CLOCK = 4  # in its head, where no threads stand between
_DERIVED = 0.02  # of each other: arrays by different loops
_CHECKED = late(r"Solution Validates|Failed Validation")
# What can only stand above a table: a new run begins there.
_HEAD = {"version", "bytes_per_element", "array_elements", "runs", "threads", "threads_counted"}
_HEAD.add(_PEAK)


_Asked = list[tuple[int, dict[str, int]]]  # line of a command, what was asked for down to it


@dataclass
class _Run(Run):
    """What was read of one run so far."""

    unit: str = ""
    middle: str = ""
    rows: list[list[Result]] = field(default_factory=list)  # the figures of each line
    told: dict[str, Printed] = field(default_factory=dict)  # the numbers of its head
    is_sure: bool = True  # all rows are as version 5 prints them
    is_judged: bool = False  # a verdict stands below its rows: another one is of another run
    failed: str = ""  # the array whose check is being printed
    checks: list[Result] = field(default_factory=list)
    head_lines: dict[str, int] = field(default_factory=dict)  # where its head tells what

    @property
    def names(self) -> list[str]:
        return [row[0].name for row in self.rows]

    def finish(self) -> bool:
        """Whether it has a table; without its head only if it has all rows, or sure ones."""
        kernels = {*self.names}
        return bool(kernels) and (bool(self.unit) or len(kernels) >= len(KERNELS) or self.is_sure)


def read(log: Log) -> list[Report]:
    """One report for each table of rates; what stands above it are its facts."""
    asked = _all_asked(log)
    said = _said(log)
    reports = [_report(table, asked, said) for run in _READER.runs(log) for table in _tables(run)]
    if any(map(log.has, _PORTS)):
        for report in reports:
            report.facts.pop("is_serial", None)  # a port has the same head
    headless = [report for report in reports if _HEADLESS in report.notes]
    for report in headless[1:]:
        report.notes.remove(_HEADLESS)
    return sorted([*reports, *_rates_alone(log)], key=lambda report: report.line)


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if run.rows and _check(reading, text):
        return
    told = _told(text) if _MAY_TELL.search(text) else {}
    head = text.find("Function")
    table = _TABLE.match(text, head) if head >= 0 else None
    if run.rows and (table or not _HEAD.isdisjoint(told)):
        run = reading.begin()
    if told or table:
        run.line = run.line or reading.line.number
        peaks = [facts[_PEAK] for facts in (run.facts, told) if _PEAK in facts]
        run.facts |= _of_this(told, run)
        _keep(reading.line, told, run)
        run.head_lines |= dict.fromkeys(told, reading.line.number)
        if peaks:
            run.facts[_PEAK] = max(peaks)  # it may have run on any of its devices
    if table:
        run.unit = f"{table['unit']}/s"
        run.middle = "rms" if table["mid"].upper() == "RMS" else "mean"
    elif not told and ":" in text:
        if "validated" in run.facts and run.rows and not run.unit and _OWN_ROW.search(text):
            run = reading.begin()
        _row(reading, text)


def _check(reading: Reading[_Run], text: str) -> bool:
    """The figures of a check that failed; whether the line has one."""
    run, number = reading.run, reading.line.number
    if found := _FAILED.search(text):
        run.failed = found["array"]
        return False
    if run.failed and (found := _OFF.search(text)):
        name, value, unit = f"array {run.failed} relative error", found["error"], "1"
    elif found := _COUNTED.search(text):
        name, value, unit = f"array {found['array']} errors", found["count"], "elements"
    else:
        return False
    if (figure := reading.number(value)) is not None:
        run.checks.append(Result(name, figure, unit, number))
    return True


def _rates_alone(log: Log) -> list[Report]:
    """One report for each four of them that stand together."""
    reports: list[Report] = []
    rows: dict[str, Result] = {}
    last = 0
    for line in log.having("Set", *KERNELS):
        found = _RATE_ALONE.fullmatch(line.text.strip()) if len(line.text) < LONGEST else None
        value = log.number(found["rate"]) if found else None
        if found is None or value is None:
            continue
        if found["name"] in rows or line.number > last + _CLOSE:
            rows = {}
        rows[found["name"]] = Result(found["name"], value, found["unit"], line.number)
        last = line.number
        if rows.keys() >= KERNELS.keys():
            results = list(rows.values())
            reports.append(Report(TOOL, results, results[0].line, "", {}, [_ONLY_RATES]))
            rows = {}
    return reports


def _of_this(told: dict[str, Any], run: _Run) -> dict[str, Any]:
    """The facts without a verdict on other arrays: each run judges its own once, below its table.
    Processes that print at once judge theirs one after the other, and one that failed counts."""
    if "validated" not in told:
        return told
    names = run.names
    if not names or (run.is_judged and len({*names}) == len(names)):
        return {}
    before = run.facts.get("validated", True) if run.is_judged else True
    run.is_judged = True
    return {"validated": before and told["validated"]}


def _keep(line: Line, told: dict[str, Any], run: _Run) -> None:
    """The numbers of the head that others of them make."""
    for name, value in told.items():
        if name in _TOLD and is_number(value):
            words, half = _TOLD[name]
            size = 2**20 if name.endswith("_mib") else 1
            run.told[name] = Printed(words, value / size, half, line.number)


def _twice(told: dict[str, Printed]) -> list[Twice]:
    """The head's own sums: arrays by their elements, all by one, ticks by the time of a test."""
    of_array = ["array_elements", "bytes_per_element"]
    return [
        *product(told, "array_mib", of_array, scale=2**-20, unit="MiB"),
        *product(told, "total_mib", ["array_mib"], count=_ARRAYS, unit="MiB"),
        *product(told, "clock_ticks", ["test_ns"], ["clock_resolution_ns"]),
    ]


def _without_bars(text: str) -> str:
    """A row of a Markdown table, or of a spreadsheet's text, as STREAM prints it."""
    if text[:1] != "|" and not text.startswith(_CELLED):
        return text
    mark = next((separator for separator in "|;," if separator in text), "")
    cells = [cell.strip().strip('"') for cell in text.strip("|").split(mark)] if mark else []
    if len(cells) != 1 + _COLUMNS:
        return text
    if cells[0] in KERNELS:
        cells[0] += ":"
    return " ".join(cells)


def _told(text: str) -> dict[str, Any]:
    """The facts that a line tells: nearly all of them stand in every run."""
    if "Validat" in text:
        return {"validated": "Failed" not in text} if _CHECKED.search(text) else {}
    return {
        name: value
        for name, pattern in _FACTS.items()
        if (match := pattern.search(text))
        and (value := _KINDS.get(name, int)(match[1])) is not None
    }


def _row(reading: Reading[_Run], text: str) -> None:
    """The results of a line of the table; a cut one is noted."""
    run = reading.run
    if not run.unit and not any(kernel in text for kernel in KERNELS):
        return
    found = _OWN_ROW.search(text) or _ROW.match(text)
    if found and found["name"] in KERNELS and (plain := unremarked(text)) != text:
        found = _OWN_ROW.search(plain) or found
    if found is None or not (run.unit or found["name"] in KERNELS):
        return
    name, cells = found["name"], found["cells"].split()
    if not all(_CELL.fullmatch(cell) for cell in cells):
        return
    digits = tuple(map(decimals, cells))
    uneven = len({*digits[1:_COLUMNS]}) > 1
    if len(cells) != _COLUMNS or (uneven and "e" not in text.lower()[len(name) :]):
        if (run.unit or run.rows) and (name in KERNELS or len(cells) > 1):
            cut = f"Line {reading.line.number} is cut or has other columns; it was not read."
            run.notes.append(cut)
        return
    values = [value for cell in cells if (value := reading.number(cell)) is not None]
    if len(values) == _COLUMNS:
        _add(reading, name, cells[2], values, digits)


def _add(
    reading: Reading[_Run], name: str, printed: str, values: list[float], digits: tuple[int, ...]
) -> None:
    """A row: its rate, and its times in the mean, the least (as printed) and the most."""
    run, number = reading.run, reading.line.number
    rate, middle, least, most = values
    unit, statistic = (run.unit, run.middle) if run.unit else _PLAIN
    run.line = run.line or number
    run.is_sure &= 0 < least <= middle <= most and digits == _DIGITS_OF_5
    timed: dict[str, Any] = {"elapsed_s": least, "elapsed_error_s": half_digit(printed)}
    if arrays := KERNELS.get(name):
        timed["arrays_moved"] = arrays
    times = ((statistic, middle), ("min", least), ("max", most))
    run.rows.append(
        [
            Result(name, rate, unit, number, "best", timed),
            *(Result(f"{name} time", value, "s", number, which) for which, value in times),
        ]
    )


def _tables(run: _Run) -> Iterator[_Run]:
    """The run, or parts of it: several where tables without heads follow each other."""
    names = run.names
    several = len({*names})
    if run.unit or any(name != names[at % several] for at, name in enumerate(names)):
        several = len(names)
    yield replace(run, rows=run.rows[:several], facts=dict(run.facts))
    for at in range(several, len(names), several):
        rows = run.rows[at : at + several]
        yield _Run(rows[0][0].line, facts=dict(run.facts), middle=run.middle, rows=rows)


def _report(run: _Run, asked: _Asked, said: _Asked) -> Report:
    facts, notes = run.facts, run.notes
    facts.pop("test_ns", None)
    facts = run.facts = _asked_above(asked, run.rows[0][0].line) | facts
    if facts.keys().isdisjoint(("array_elements", "array_mib", "total_mib")):
        facts |= _said_above(said, run)
    told = not facts.keys().isdisjoint(("bytes_per_element", "array_mib", "total_mib"))
    if not told and (size := _size_by_rates(run, facts.get("array_elements", 0))):
        facts["bytes_per_element"] = size
        notes.append(f"The size of its elements was not read: {size} B are next to its rates.")
    if facts.keys().isdisjoint({"clock_ticks", "clock_resolution_ns"}):
        facts["usual_clock_ns"] = _CLOCK_NS
    is_exact = {"array_elements", "bytes_per_element"} <= facts.keys()
    array_bytes = _array_bytes(facts)
    is_made = not array_bytes and _PEAK not in facts
    if is_made and (array_bytes := _array_by_rates(run)):
        notes.append(f"Its rates and times make arrays of {_mb(array_bytes)}.")
    is_known = array_bytes and (is_exact or array_bytes >= _WELL_ROUNDED)
    repetitions = facts.pop("runs", None)
    run.version = str(facts.pop("version", ""))
    if array_bytes:
        # Of MPI it tells the arrays of all ranks together; each works on its own.
        own = array_bytes // (facts.get("processes") or 1)
        kind = About if is_made else int
        facts |= {"array_bytes": kind(own), "working_set_bytes": kind(_ARRAYS * own)}
    if repetitions:
        # Version 4 counts the first one in, and prints the root mean square.
        facts["repetitions"] = repetitions if run.middle == "rms" else repetitions - 1
    counted = facts.pop("threads_counted", None)
    if counted is not None and facts.setdefault("threads", counted) != counted:
        notes.append(f"{facts['threads']} threads were requested, and {counted} ran.")
    if not run.unit:
        notes.append(_HEADLESS)
    run.results = [_with_bytes(item, array_bytes if is_known else None) for item in _numbered(run)]
    run.results += run.checks
    run.twice = _twice(run.told)
    lines = run.head_lines
    to_clock = lines.get("clock_resolution_ns", 0) - lines.get("runs", 0)
    if {"version", "runs", "clock_resolution_ns"} <= lines.keys():
        facts["is_serial"] = 0 < to_clock <= _LINES_TO_CLOCK and "processes" not in facts
    return run.report(TOOL)


def _mb(size: int) -> str:
    return f"{size / 1e6:.3g} MB each"


def _array_by_rates(run: _Run) -> int | None:
    """One array in bytes as rates and times make it, to three digits; None where the loops differ
    or the digits of the times leave it open."""
    made = [
        rate * best.of["elapsed_s"] / best.of["arrays_moved"]
        for best, *_ in run.rows
        if "arrays_moved" in best.of and is_number(rate := bytes_per_s(best.value, best.unit))
        if best.of["elapsed_error_s"] <= _ROUNDED * best.of["elapsed_s"]
    ]
    if len(made) < len(KERNELS) or max(made) > (1 + _DERIVED) * min(made) or min(made) < 1:
        return None
    return int(float(f"{sum(made) / len(made):.3g}"))


def _numbered(run: _Run) -> list[Result]:
    """All figures; several processes that print at once mix their rows."""
    results: list[Result] = []
    seen: dict[str, int] = {}
    for row in run.rows:
        process = seen[row[0].name] = seen.get(row[0].name, -1) + 1
        own = {"process": process} if process else {}
        results += [replace(item, of={**item.of, **own}) for item in row] if own else row
    if max(seen.values()):
        run.notes.append(f"{_MIXED}; their rates were not measured at one time.")
    return results


def _array_bytes(facts: dict[str, Any]) -> int | None:
    """One array: exactly where elements and their size are told, else as rounded in MiB."""
    elements, size = facts.get("array_elements"), facts.pop("bytes_per_element", None)
    of_array, of_all = facts.pop("array_mib", None), facts.pop("total_mib", None)
    rounded = of_array or (of_all // _ARRAYS if of_all else None)
    if elements and rounded and not size:
        size = next(
            (item for item in _SIZES if abs(rounded / elements - item) < _ROUNDED * item), None
        )
    if elements and size:
        return int(elements * size)
    return rounded


def _size_by_rates(run: _Run, elements: int) -> int | None:
    """The bytes of an element that rates, times and their number make nearly; None where they make
    neither: then the number is that of one of several processes, or of something else."""
    made = sorted(
        rate * best.of["elapsed_s"] / (best.of["arrays_moved"] * elements)
        for best, *_ in (run.rows if elements else ())
        if "arrays_moved" in best.of and is_number(rate := bytes_per_s(best.value, best.unit))
    )
    middle = made[len(made) // 2] if made else 0.0
    sizes = [size for size in _SIZES if size < _NEARLY * middle and middle < _NEARLY * size]
    return min(sizes, key=lambda size: abs(size - middle), default=None)


def _all_asked(log: Log) -> _Asked:
    """What the command lines ask for, each with those above it; a variable set before a command
    is set for it alone."""
    asked: _Asked = []
    lasting: dict[str, int] = {}
    for command in log.commands:
        own = _asked(command)
        lasting |= {name: value for name, value in own.items() if name != "threads"}
        if command.words[0] == "export":
            lasting |= own
        is_start = any("stream" in word.lower() for word in command.words)
        if own or (is_start and asked):
            asked.append((command.number, {**lasting, **own}))
    return asked


def _said(log: Log) -> _Asked:
    """What lines that are no commands say of compilers' options, such as one in a sentence."""
    typed = {command.number for command in log.commands}
    lines = log.having("-DSTREAM_ARRAY_SIZE=", "-DN=")
    own = [(line.number, _options(_WORDS.split(line.text[:LONGEST]))) for line in lines]
    return [(number, options) for number, options in own if options and number not in typed]


_WORDS = late(r"[\s`'\"]+")


def _said_above(said: _Asked, run: _Run) -> dict[str, int]:
    """The last options above a table of which its rates and times make the same arrays; {} where
    there are none."""
    above = said[: bisect_left(said, run.rows[0][0].line, key=lambda own: own[0])]
    made = _array_by_rates(run) if above else None
    options = above[-1][1] if above else {}
    size = options.get("array_elements", 0) * options.get("bytes_per_element", 8)
    return options if made and abs(size - made) <= _DERIVED * made else {}


def _asked_above(asked: _Asked, line: int) -> dict[str, int]:
    """What was asked for above a line, where the run does not tell so itself."""
    at = bisect_left(asked, line, key=lambda command: command[0])
    return asked[at - 1][1] if at else {}


def _asked(command: Command) -> dict[str, int]:
    asked = {}
    if command.environment.get("OMP_NUM_THREADS", "").isdecimal():
        asked["threads"] = int(command.environment["OMP_NUM_THREADS"])
    return asked | _options(command.words)


def _options(words: Iterable[str]) -> dict[str, int]:
    """What words of a command say of threads and arrays."""
    asked = {}
    for word in words:
        if found := re.fullmatch(r"OMP_NUM_THREADS=(\d{1,5})", word):
            asked["threads"] = int(found[1])
        elif found := re.fullmatch(r"-D(?:STREAM_ARRAY_SIZE|N)=(\d+)", word):
            asked |= {"array_elements": int(found[1]), "bytes_per_element": 8}
        elif word == "-DSTREAM_TYPE=float":
            asked["bytes_per_element"] = 4
    return asked


def _with_bytes(row: Result, array_bytes: int | None) -> Result:
    arrays = KERNELS.get(row.name) or _OLD.get(row.name)
    if row.statistic != "best" or not arrays or not array_bytes:
        return row
    return replace(row, of={**row.of, "bytes_moved": arrays * array_bytes})


_READER = LineReader(
    TOOL,
    _Run,
    _line,
    clean=lambda text: _without_bars(text.strip()),
    lines=lambda log: (line for line in log.having(*_READ) if len(line.text) <= LONGEST),
)
