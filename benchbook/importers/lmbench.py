"""lmbench 1 to 3: lines of its programs, files of its results, and its summary."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any

from benchbook.importers import Line, Log, Report, Result
from benchbook.logs.printed import half_digit, printed_lines, whole

TOOL = "lmbench"
LOOKS_FOR = "lmbench: 'Simple syscall: … microseconds', '\"stride=…' tables, its summary"
WORDS = (
    "microseconds",
    "usecs",
    "nanoseconds",
    "milliseconds",
    '"stride=',
    '"size=',
    "M B E N C H",
    "bw_mem",
    "bw_tcp",
    "bandwidth",
    "aligned",
)
# STREAM tells its clock in microseconds too, and what it computes is a bandwidth.
SIGNS = re.compile(
    r"(?:: +\d\S*+|\bin) (?:(?:micro|nano|milli)seconds|usecs)|\"stride=\d|\"size=\d|M B E N C H"
    r"|bw_mem|bw_tcp|bandwidth(?:s in |:| using |[ \t]*$)|bcopy (?:un)?aligned",
    re.MULTILINE,
)

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
_LATENCY = re.compile(
    rf"{_BEFORE}({_OPERATIONS}): +({_NUMBER}) (?:(micro|nano|milli)seconds?|usecs)$"
)
_ENDS = ("seconds", "second", "usecs")
_UNITS = {"micro": "us", "nano": "ns", "milli": "ms", None: "us"}
_RATES = (
    r"Pipe bandwidth|AF_UNIX sock stream bandwidth|Socket bandwidth using \S+"
    r"|File \S+ (?:write|read) bandwidth|STREAM2? [a-z]+ bandwidth"
)
_RATE = re.compile(rf"{_BEFORE}({_RATES}): +({_NUMBER}) (K|M)B/sec\b")
# What stands above pairs: a quotation mark and a title.
_STRIDE = re.compile(r'(?:^|")stride=(\d+)$')  # a source has its text behind quotation marks
_SWITCH = re.compile(r'^"size=(\d{1,9})k ovr=(\d+(?:\.\d+)?)$')
_BANDWIDTH = re.compile(
    r'^"?((?:libc|unrolled|Memory|Mmap|File|read)[\w /]*(?:bandwidth|bcopy (?:un)?aligned'
    r"|read open2close))$",
    re.IGNORECASE,
)
_SOCKET = re.compile(r"^(Socket bandwidth using \S+)$")
_PAIR = re.compile(rf"^({_NUMBER})[ \t]+({_NUMBER})(?: MB/sec)?$")
_OWN_MEMORY = ("rd", "wr", "rdwr", "cp", "frd", "fwr", "fcp", "bzero", "bcopy")
_OPERATION = re.compile(rf"^({'|'.join(_OWN_MEMORY)}):? +(\d.*)$")
_UNTITLED = ("bw_mem", "bw_tcp")  # programs that print pairs without saying of what
_ASKED = re.compile(r"(\d{1,9})([kKmMgG]?)")
_FEW_DIGITS = 0.01  # half of the last one ÷ the size: fewer do not say which it was
_ASKED_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}
_CALLED = re.compile(r"^(?:\S*/)?bw_mem ([\w -]+?):?$")
_SUMMARY = re.compile(r"L M B E N C H +(\d) *\. *(\d)")
_SECTION = re.compile(
    r"^\*?(?P<title>[A-Za-z*&, ]+?) (?:- times )?in "
    r"(?P<unit>microseconds|nanoseconds|MB/s|megabytes/second)"
)
_SECTION_UNITS = {
    "microseconds": "us", "nanoseconds": "ns", "MB/s": "MB/s", "megabytes/second": "MB/s",
}  # fmt: skip
_ONE_NAME = ("OS", "kernel")  # heads of tables that somebody made of several summaries
_CELL = re.compile(r"^(\d+(?:\.\d*)?|\.\d+)(K|M)?$")
_SIZES = {None: 1.0, "K": 1e3, "M": 1e6}
_WORD = re.compile(r"\S+")


@dataclass
class _State:
    report: Report
    kind: str = ""  # of the pairs that follow: stride, switch, bandwidth, socket
    title: str = ""
    others: list[str] = field(default_factory=list)  # titles of the pairs behind the next one
    of: dict[str, Any] = field(default_factory=dict)


def read(log: Log) -> list[Report]:
    """One report for the programs' lines, and one for each summary."""
    first = log.lines[0].number if log.lines else 1
    state = _State(Report(TOOL, [], first))
    state.report.line = 0
    asked = {one.number: words for one in log.commands if (words := _of_program(one.words))}
    for line in printed_lines(log):
        text = line.text.strip().rstrip('"')
        if line.number in asked:
            _begin_program(asked[line.number], state)
        elif "bw_mem" in text and (called := _CALLED.match(text)):
            _begin_bw_mem(("bw_mem", *called[1].split()), state)
        elif text.endswith(_ENDS) and (found := _LATENCY.search(text)):
            _add(log, line, state, found[1], found[2], _UNITS[found[3]], {})
        elif "B/sec" in text and (found := _RATE.search(text)):
            _add(log, line, state, found[1], found[2], {"K": "kB/s", "M": "MB/s"}[found[3]], {})
        elif asked and (operation := _OPERATION.match(text)):
            state.kind, state.title = "bandwidth", f"bw_mem {operation[1]}"
            pair = _PAIR.match(operation[2])
            if pair:
                _pair(log, line, pair, state)
        elif text and not _begin(text, state):
            pair = _PAIR.match(text) if state.kind else None
            if pair:
                _pair(log, line, pair, state)
            elif text.strip("*-=") and not text.startswith("["):
                state.kind = ""
    reports = [state.report] if state.report.results else []
    return sorted([*reports, *_summaries(log)], key=lambda report: report.line)


def _of_program(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words from the program on, wherever it stands: in a loop of the shell, behind taskset."""
    at = next((at for at, one in enumerate(words) if one.endswith(_UNTITLED)), None)
    return () if at is None else words[at:]


def _begin_program(words: tuple[str, ...], state: _State) -> None:
    if words[0].endswith("bw_mem"):
        _begin_bw_mem(words, state)
    else:
        state.kind, state.title, state.of = "socket", f"Socket bandwidth using {words[-1]}", {}


def _begin_bw_mem(words: tuple[str, ...], state: _State) -> None:
    what = [word for word in (one.rstrip(";") for one in words[1:]) if word in _OWN_MEMORY]
    state.kind = "bandwidth" if what else ""
    state.title = f"bw_mem {what[0]}" if what else ""
    state.others = [f"bw_mem {one}" for one in what[1:]]
    state.of = {}
    for word, value in pairwise(words):
        if word == "-P" and value.isdecimal():
            state.of["processes"] = int(value)
    sizes = [_bytes(size) for size, name in pairwise(words) if name in _OWN_MEMORY]
    if len(sizes) == len(what) == 1 and sizes[0]:
        state.of["asked_bytes"] = sizes[0]


def _bytes(word: str) -> int | None:
    """A size as it is asked for: 512k, 64M."""
    found = _ASKED.fullmatch(word)
    return int(found[1]) * _ASKED_UNITS[found[2].lower()] if found else None


def _begin(text: str, state: _State) -> bool:
    """Whether the line is a title of pairs."""
    if "stride=" in text and (found := _STRIDE.search(text)):
        state.kind, state.title = "stride", "memory latency"
        state.of = {"stride_bytes": int(found[1])}
    elif found := _SWITCH.match(text):
        state.kind, state.title = "switch", "context switch"
        state.of = {"bytes_per_process": int(found[1]) * 2**10, "overhead_us": float(found[2])}
    elif found := _BANDWIDTH.match(text):
        state.kind, state.title, state.of = "bandwidth", found[1], {}
    elif found := _SOCKET.match(text):
        state.kind, state.title, state.of = "socket", found[1], {}
    else:
        return False
    return True


def _pair(log: Log, line: Line, pair: re.Match[str], state: _State) -> None:
    first = log.number(pair[1])
    if first is None:
        return
    of = dict(state.of)
    if state.kind == "stride":
        of["working_set_bytes"] = whole(first * 2**20)  # here MB is 2^20, in bandwidths 10^6
    elif state.kind == "switch":
        of["processes"] = whole(first)
    elif state.kind == "bandwidth":
        of["working_set_bytes"] = whole(first * 10**6)
        if half_digit(pair[1]) > _FEW_DIGITS * first:
            of.pop("asked_bytes", None)
    else:
        of["message_bytes"] = whole(first * 10**6)
    unit = {"stride": "ns", "switch": "us"}.get(state.kind, "MB/s")
    _add(log, line, state, state.title, pair[2], unit, of)
    state.of.pop("asked_bytes", None)  # what follows may be of another size
    if state.others and state.title.startswith("bw_mem"):
        state.title = state.others.pop(0)


def _add(
    log: Log, line: Line, state: _State, name: str, printed: str, unit: str, of: dict[str, Any]
) -> None:
    value = log.number(printed)
    if value is not None:
        state.report.line = state.report.line or line.number
        state.report.results.append(Result(name, value, unit, line.number, "", of))


def _summaries(log: Log) -> list[Report]:
    """The tables of `make see`: columns are where the dashes under their heads are."""
    reports: list[Report] = []
    version, title, unit = "", "", ""
    heads: list[str] = []
    names: list[str] = []  # of the columns
    spans: list[tuple[int, int]] = []
    for line in printed_lines(log):
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
    return [one for one in reports if one.results]


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
