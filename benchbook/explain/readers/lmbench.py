"""lmbench 1 to 3: lines of its programs, files of its results, and its summary."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report, Result, Twice
from benchbook.explain.printed_digits import half_digit, whole
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.relations import Printed, printed, product

TOOL = "lmbench"

_NUMBER = r"\d[\d.,]*(?:[eE][+-]?\d+)?"
_OPERATIONS = (
    r"Simple (?:syscall|read|write|stat|fstat|open/close)|Select on \d+ (?:tcp )?fd'?s"
    r"|Signal handler (?:installation|overhead)|Protection fault|Semaphore latency"
    r"|Fcntl lock latency|Pipe latency|AF_UNIX sock (?:stream|dgram) (?:latency|connection cost)"
    r"|Process fork\+(?:exit|execve|/bin/sh -c)|(?:TCP|UDP) latency using \S+"
    r"|TCP/IP connection cost to \S+|RPC/(?:tcp|udp) latency using \S+|Pagefaults on \S+"
    r"|FIFO latency|(?:integer|int64|uint64|unsigned|float|double) (?:bit|add|mul|div|mod)"
    r"|(?:float|double) bogomflops|Procedure call|vfork\+\S+|usleep \d+ \S+"
    r"|STREAM2? [a-z]+ latency"
)
# Who compares several writes their names before them.
_BEFORE = r"(?:^|(?<=:)|(?<=[:\]] )|(?<=  )|(?<=\t))"
_LATENCY = late(rf"{_BEFORE}({_OPERATIONS}): +({_NUMBER}) (?:(micro|nano|milli)seconds?|usecs)$")
# Two builds next to each other, as people write them in mails.
_PAIR_OF_BUILDS = late(
    rf"{_BEFORE}({_OPERATIONS}): +({_NUMBER}) / ({_NUMBER}) (micro|nano|milli)seconds?$"
)
_ARITHMETIC = late(r"\w+ (?:bit|add|mul|div|mod)")
_ENDS = ("seconds", "second", "usecs")
_UNITS = {"micro": "us", "nano": "ns", "milli": "ms", None: "us"}
_RATES = (
    r"Pipe bandwidth|AF_UNIX sock stream bandwidth|Socket bandwidth using \S+"
    r"|File \S+ (?:write|read) bandwidth|STREAM2? [a-z]+ bandwidth"
)
_RATE = late(rf"{_BEFORE}({_RATES}): +({_NUMBER}) (K|M)B/sec\b")
# Kernels of its own STREAM: arrays that one element's time goes over. Its rate is of all processes.
_KERNELS = {
    "STREAM copy": 2, "STREAM scale": 2, "STREAM add": 3, "STREAM triad": 3,
    "STREAM2 fill": 1, "STREAM2 copy": 2, "STREAM2 daxpy": 3, "STREAM2 sum": 1,
}  # fmt: skip
_IN_A_START = 4  # of either version
# What stands above pairs: a quotation mark and a title.
_STRIDE = late(r'(?:^|")stride=(\d+)$')  # a source has its text behind quotation marks
_SWITCH = late(r'^"size=(\d{1,9})k ovr=(\d+(?:\.\d+)?)$')
_BANDWIDTH = late(
    r'^"?((?:libc|unrolled|Memory|Mmap|File|read)[\w /]*(?:bandwidth|bcopy (?:un)?aligned'
    r"|read open2close))$",
    re.IGNORECASE,
)
_SOCKET = late(r"^(Socket bandwidth using \S+)$")
_PAIR = late(rf"^({_NUMBER})[ \t]+(-?{_NUMBER})(?: MB/sec)?$")
# What bw_mem is asked for; it tells it in 10^6 bytes, older ones in 2^20.
_ASKED = late(r"(\d{1,9})([kKmMgG]?)")
_ASKED_BYTES = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}
_MEGABYTES = (10**6, 2**20)
_WELL_CUT = 2**15  # it cuts sizes to 512 bytes: of so many that is nothing
_OWN_MEMORY = ("rd", "wr", "rdwr", "cp", "frd", "fwr", "fcp", "bzero", "bcopy")
_OPERATION = late(rf"^({'|'.join(_OWN_MEMORY)}):? +(\d.*)$")
_ALONE = late(rf"\W{{0,12}}({'|'.join(_OWN_MEMORY)})\W{{0,12}}")  # above a row of a loop
_UNTITLED = ("bw_mem", "bw_tcp")  # programs that print pairs without saying of what
_CALLED = late(r"^(?:\S*/)?bw_mem ([\w -]+?):?$")
_CALLED_PAIR = late(rf"^(?:\S*/)?bw_mem ([\w -]{{1,80}}): +({_NUMBER}[ \t]+{_NUMBER}(?: MB/sec)?)$")
# A loop of the shell over its operations, at once or line by line; what stands above its rows.
_LOOP = late(r"\bfor (\w{1,40}) in ([^;\n]{1,200})")
_LOOPED = late(r"\bbw_mem ([\w -]{1,80}) \"?\$\{?(\w{1,40})\b")
_AROUND = late(r"(?:do|done|\W*(?:results?|output)\W*)", re.IGNORECASE)
_SUMMARY = late(r"L M B E N C H +(\d) *\. *(\d)")
_SECTION = late(
    r"^\*?(?P<title>[A-Za-z*&, ]+?) (?:- times )?in "
    r"(?P<unit>microseconds|nanoseconds|MB/s|megabytes/second)"
)
_SECTION_UNITS = {
    "microseconds": "us", "nanoseconds": "ns", "MB/s": "MB/s", "megabytes/second": "MB/s",
}  # fmt: skip
_ONE_NAME = ("OS", "kernel")  # heads of tables that somebody made of several summaries
_CELL = late(r"^(\d+(?:\.\d*)?|\.\d+)(K|M)?$")
_SIZES = {None: 1.0, "K": 1e3, "M": 1e6}
_WORD = late(r"\S+")


@dataclass
class _Run(Run):
    kind: str = ""  # of the pairs that follow: stride, switch, bandwidth, socket
    title: str = ""
    others: list[str] = field(default_factory=list)  # titles of the pairs behind the next one
    of: dict[str, Any] = field(default_factory=dict)
    kernels: dict[str, dict[str, Any]] = field(default_factory=dict)  # timed in this start
    part: int = 0
    asked: Printed | None = None  # the size of a command, in bytes
    loops: dict[str, list[str]] = field(default_factory=dict)  # operations, by their variable
    is_loop: bool = False  # a row for each operation, and what follows has no known one

    def finish(self) -> bool:
        """Leave out what rates are made of where it is not known; whether it has results."""
        self.results = _of_whole_starts(self.results)
        return bool(self.results)


def read(log: Log) -> list[Report]:
    """One report for the programs' lines, and one for each summary."""
    asked = {
        command.number: words for command in log.commands if (words := _of_program(command.words))
    }
    reader = LineReader(
        TOOL, _Run, partial(_line, asked), clean=lambda text: text.strip().rstrip('"')
    )
    return sorted([*reader(log), *_summaries(log)], key=lambda report: report.line)


def _line(asked: dict[int, tuple[str, ...]], reading: Reading[_Run], text: str) -> None:
    run = reading.run
    for loop in _LOOP.finditer(text) if "for " in text else ():
        run.loops[loop[1]] = [word for word in loop[2].split() if word in _OWN_MEMORY]
    if run.loops and "$" in text and (called := _LOOPED.search(text)):
        _begin_bw_mem(reading, [*called[1].split(), *run.loops.get(called[2], ())])
        run.is_loop = True
    elif reading.line.number in asked:
        _begin_program(reading, asked[reading.line.number])
    elif "bw_mem" in text and (called := _CALLED.match(text)):
        _begin_bw_mem(reading, called[1].split())
    elif "bw_mem" in text and (called := _CALLED_PAIR.match(text)):
        _begin_bw_mem(reading, called[1].split())
        _pair(reading, called[2])
    elif text.endswith(_ENDS) and (found := _LATENCY.search(text)):
        of = {"arithmetic": found[1]} if _ARITHMETIC.fullmatch(found[1]) else {}
        reading.add(found[1], found[2], _UNITS[found[3]], "", of)
        if found[1].startswith("STREAM"):
            _timed(reading, found)
    elif " / " in text and (pair := _PAIR_OF_BUILDS.search(text)):
        for build, printed_time in zip(("old", "new"), (pair[2], pair[3]), strict=True):
            reading.add(pair[1], printed_time, _UNITS[pair[4]], "", {"build": build})
    elif "B/sec" in text and (found := _RATE.search(text)):
        of = run.kernels.get(found[1].removesuffix(" bandwidth"), {})
        reading.add(found[1], found[2], {"K": "kB/s", "M": "MB/s"}[found[3]], "", of)
    elif run.is_loop and (alone := _ALONE.fullmatch(text)):
        run.kind, run.title, run.others = "bandwidth", f"bw_mem {alone[1]}", []
    elif asked and (operation := _OPERATION.match(text)):
        run.kind, run.title = "bandwidth", f"bw_mem {operation[1]}"
        run.others, run.is_loop = [], False
        _pair(reading, operation[2])
    elif not _begin(text, run) and not _pair(reading, text) and not _is_around(text):
        run.kind = ""


def _is_around(text: str) -> bool:
    """Whether the line may stand between a command and its rows: no other words do."""
    return not text.strip("*-=") or text.startswith("[") or bool(_AROUND.fullmatch(text))


def _timed(reading: Reading[_Run], found: re.Match[str]) -> None:
    """What the rate of a kernel in the next line is made of."""
    run = reading.run
    kernel, value = found[1].removesuffix(" latency"), reading.number(found[2])
    version = kernel.partition(" ")[0] + " "
    if kernel in run.kernels or not all(name.startswith(version) for name in run.kernels):
        # It was started again.
        run.part, run.kernels = run.part + 1, {}
    if value is not None and found[3] == "nano" and kernel in _KERNELS:
        run.kernels[kernel] = {
            "elapsed_s": value * 1e-9,
            "elapsed_error_s": half_digit(found[2]) * 1e-9,
            "arrays_moved": _KERNELS[kernel],
            "part": run.part,
        }


def _of_whole_starts(results: list[Result]) -> list[Result]:
    """What a rate is made of, only where all kernels of a start are there: lines that were sorted
    by kernel have those of other numbers of processes beside each other."""
    kernels: dict[object, set[str]] = {}
    for result in results:
        if "part" in result.of:
            kernels.setdefault(result.of["part"], set()).add(result.name)
    cut = {part for part, names in kernels.items() if len(names) < _IN_A_START}
    return [
        Result(item.name, item.value, item.unit, item.line) if item.of.get("part") in cut else item
        for item in results
    ]


def _of_program(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words from the program on, wherever it stands: in a loop of the shell, behind taskset."""
    at = next((at for at, word in enumerate(words) if word.endswith(_UNTITLED)), None)
    return () if at is None else words[at:]


def _begin_program(reading: Reading[_Run], words: tuple[str, ...]) -> None:
    run = reading.run
    if words[0].endswith("bw_mem"):
        _begin_bw_mem(reading, words[1:])
    else:
        run.kind, run.title, run.of = "socket", f"Socket bandwidth using {words[-1]}", {}


def _begin_bw_mem(reading: Reading[_Run], words: Sequence[str]) -> None:
    """What bw_mem was asked for with these words: an operation, or several in turn."""
    run = reading.run
    titles = [
        f"bw_mem {word}" for word in (word.rstrip(";") for word in words) if word in _OWN_MEMORY
    ]
    run.kind = "bandwidth" if titles else ""
    run.title, run.others = titles[0] if titles else "", titles[1:]
    run.of, run.asked, run.is_loop = {}, None, False
    for word, value in pairwise(words):
        if word == "-P" and value.isdecimal():
            run.of["processes"] = int(value)
        if titles and titles[0] == f"bw_mem {value}" and (size := _ASKED.fullmatch(word)):
            bytes_asked = float(size[1]) * _ASKED_BYTES[size[2].lower()]
            run.asked = Printed(f"the {word} asked for", bytes_asked, 0.0, reading.line.number)


def _begin(text: str, run: _Run) -> bool:
    """Whether the line is a title of pairs."""
    if "stride=" in text and (found := _STRIDE.search(text)):
        run.kind, run.title = "stride", "memory latency"
        run.of = {"stride_bytes": int(found[1])}
    elif found := _SWITCH.match(text):
        run.kind, run.title = "switch", "context switch"
        run.of = {"bytes_per_process": int(found[1]) * 2**10, "overhead_us": float(found[2])}
    elif found := _BANDWIDTH.match(text):
        run.kind, run.title, run.of = "bandwidth", found[1], {}
    elif found := _SOCKET.match(text):
        run.kind, run.title, run.of = "socket", found[1], {}
    else:
        return False
    return True


def _pair(reading: Reading[_Run], text: str) -> bool:
    """Whether it is a row of what was begun: a size and a figure."""
    run = reading.run
    pair = _PAIR.match(text) if run.kind else None
    first = reading.number(pair[1]) if pair else None
    if pair is None or first is None:
        return pair is not None
    of = dict(run.of)
    if run.kind == "stride":
        of["working_set_bytes"] = whole(first * 2**20)  # here MB is 2^20, in bandwidths 10^6
    elif run.kind == "switch":
        of["processes"] = whole(first)
    elif run.kind == "bandwidth":
        of["working_set_bytes"] = whole(first * 10**6)
        run.twice += _size_twice(first, pair[1], reading.line.number, run)
    else:
        of["message_bytes"] = whole(first * 10**6)
    reading.add(run.title, pair[2], {"stride": "ns", "switch": "us"}.get(run.kind, "MB/s"), "", of)
    if run.title.startswith("bw_mem") and run.others:
        run.title = run.others.pop(0)
    elif run.title.startswith("bw_mem") and run.is_loop and run.kind == "bandwidth":
        run.kind = ""
    return True


def _size_twice(first: float, digits: str, line: int, run: _Run) -> list[Twice]:
    """The size that a row of bw_mem tells, by its command."""
    asked = run.asked
    if asked is None or asked.value < _WELL_CUT or not run.title.startswith("bw_mem"):
        return []
    own = {"size": printed("the size", first, digits, line), "asked": asked}
    unit = min(_MEGABYTES, key=lambda megabyte: abs(asked.value / megabyte - first))
    return product(own, "size", ["asked"], scale=1 / unit, unit="MB")


def _summaries(log: Log) -> list[Report]:
    """The tables of `make see`: columns are where the dashes under their heads are."""
    reports: list[Report] = []
    version, title, unit = "", "", ""
    heads: list[str] = []
    names: list[str] = []  # of the columns
    spans: list[tuple[int, int]] = []
    for line in log.printed_lines():
        text = line.text.rstrip()
        if "M B E N C H" in text and (banner := _SUMMARY.search(text)):
            version = f"{banner[1]}.{banner[2]}"
            reports.append(Report(TOOL, [], line.number, version))
        elif " in " in text and (section := _SECTION.match(text.strip())):
            title, unit = section["title"].replace("*", ""), _SECTION_UNITS[section["unit"]]
            heads, spans = [], []
        elif not text.strip():
            continue
        elif unit and set(text.strip()) <= {"-", " "}:
            spans = [found.span() for found in _WORD.finditer(text)]
            if len(spans) < 3:  # the line under the title of the section
                heads, spans = [], []
            names = _named(tuple(heads), tuple(spans))
        elif unit and spans:
            if not reports:
                reports.append(Report(TOOL, [], line.number))
            cells = _cells(line, text, title, unit, names, spans)
            reports[-1].results += cells
            unit = unit if cells else ""  # what follows is no table
        elif unit:
            heads.append(text)
    return [report for report in reports if report.results]


def _cells(
    line: Line, text: str, title: str, unit: str, names: list[str], spans: list[tuple[int, int]]
) -> list[Result]:
    """The numbers of a row, each under its column; the first columns name host and system."""
    host = text[: spans[0][1]].strip()
    first = 1 if names[0] in _ONE_NAME else 2
    results = []
    for found in _WORD.finditer(text):
        cell = _CELL.match(found[0])
        at = _column(found.span(), spans) if cell else None
        if cell is None or at is None or at < first or "Guesses" in names[at]:
            continue
        its_unit = "MHz" if names[at].lower() == "mhz" else unit
        value = float(cell[1]) * _SIZES[cell[2]]
        of = {"section": title, "host": host}
        results.append(Result(names[at], value, its_unit, line.number, "", of))
    return results


def _column(span: tuple[int, int], spans: Sequence[tuple[int, int]]) -> int | None:
    """The column that a word overlaps most."""
    begin, behind = span
    best, most = None, 0
    for at, (start, end) in enumerate(spans):
        if start >= behind:
            break
        if end > begin and min(behind, end) - max(begin, start) > most:
            best, most = at, min(behind, end) - max(begin, start)
    return best


@lru_cache(maxsize=64)  # the tables of one log have the same heads again and again
def _named(heads: tuple[str, ...], spans: tuple[tuple[int, int], ...]) -> list[str]:
    """The words of the head above each column, from top to bottom."""
    names: list[list[str]] = [[] for _ in spans]
    for head in heads:
        for found in _WORD.finditer(head):
            at = _column(found.span(), spans)
            if at is not None:
                names[at].append(found[0])
    return [" ".join(words) for words in names]
