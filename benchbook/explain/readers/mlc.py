"""Intel Memory Latency Checker 3.x, on Linux and Windows: all of its tests, or one of them.

Its MB/sec are 10^6 bytes, also where the bytes of its buffers are told as MB and are 2^20.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.printed_digits import is_number, unremarked
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "mlc"
_BANNER = late(r"Memory Latency Checker - v(?P<version>\d[\w.]*)")
_ASKED = late(r"^Command line parameters:\s*(?P<options>.*)$")
# Of one thread; what is written has a buffer of its own.
_BUFFER = late(
    r"^Using buffer size of (?P<size>[\d.,]+)\s?Mi?B(?P<each>/thread)?"
    r"(?: for reads and an additional (?P<written>[\d.,]+)\s?Mi?B/thread for writes)?"
)
_SECTION = late(
    r"^Measuring (?:"
    r"(?P<idle>[Ii]dle [Ll]atencies)(?: for (?P<access>sequential|random) access)? \((?:in )?ns\)"
    r"|(?P<peak>(?:Peak Injection|Peak|Maximum)) Memory Bandwidths for the system"
    r"|(?P<nodes>Memory Bandwidths between nodes)"
    r"|(?P<loaded>Loaded Latencies)"
    r"|(?P<caches>cache-to-cache transfer latency) \(in ns\))"
)
_RANDOM = late(r"So, enabling random access for latency measurements")
_TRAFFIC = late(r"^Using (?P<traffic>\S[^:]{0,60}?) traffic type$")
_MIX = late(
    r"^(?P<mix>(?:ALL|All) (?:Reads|(?:NT )?[Ww]rites)"
    r"|\d{1,2}:\d{1,2} Reads?-(?:NT )?[Ww]rites?|Stream-triad like)"
    r"\s*(?::|[ \t])\s*(?P<rate>\d[\d.,]*)(?: MB/sec)?$"
)
_ITERATION = late(
    r"^Each iteration took\s+(?P<clocks>\d[\d.,]*)\s+(?:core|base frequency) clocks\s*"
    r"\(\s*(?P<ns>\d[\d.,]*)\s*ns\s*\)"
)
_LOADED_HEAD = late(r"^Inject(?: Delay)?\s+Latency(?: \(ns\))?\s+Bandwidth(?: \(MB/sec\))?$")
_LOADED = late(r"^(?P<delay>\d{5,6})\s+(?P<ns>\d[\d.,]*)\s+(?P<rate>\d[\d.,]*)$")
_FROM_CACHE = late(
    r"^(?P<where>Local|Remote) Socket (?P<caches>\w{2,4}->\w{2,4} HITM?)\s+latency"
    r"(?:\s+\(data address homed in (?P<home>writer|reader) socket\)|\s+(?P<ns>\d[\d.,]*))$"
)
_HEAD = late(r"^(?:Writer )?(?:(?:Numa|NUMA) [Nn]ode|Socket)\s+(?P<nodes>\d{1,4}(?:\s+\d{1,4})*)$")
_OVER_HEAD = late(r"^(?:(?:Reader )?(?:Numa|NUMA) [Nn]ode|Memory node|Reader Socket)$")
_CELLS = late(r"^(?P<node>\d{1,4})\s+(?P<cells>(?:\d[\d.,]*|-)(?:\s+(?:\d[\d.,]*|-))*)$")
_RULE = late(r"^[=*-]+$")
# What may stand between a title and its rows.
_BETWEEN = ("Using ", "Bandwidths are in", "Will take ", "Inject", "Delay", "***", "* ")
_MOST_THREADS = 10_000  # of any machine
_FEW = 3  # lines of another kind within a table
_CPUS = late(r"-k(\d[\d,-]{0,200})$")
_ARRAYS = {"ALL Reads": 1, "All Reads": 1, "Stream-triad like": 3}  # others read and write two
_LAST = "loaded bandwidth"  # the last figure of a row of that table
_READ_ONLY = "Read-only"
_ANY_CACHE = 256 << 10  # bytes of one thread that every core keeps to itself


@dataclass
class _Run(Run):
    """One start, and which of its tables the next lines are of."""

    done: set[str] = field(default_factory=set)  # its tests so far, each of which it makes once
    section: str = ""
    others: int = 0  # lines since its last row that are none of it
    name: str = ""  # of the cells of a matrix
    statistic: str = ""  # of the rates of mixtures
    nodes: list[int] | None = None  # of the columns of a matrix
    of: dict[str, Any] = field(default_factory=dict)  # what all rows of the section have in common
    buffers: tuple[int, int] = (0, 0)  # of each thread in bytes: for what is read and written
    walked: int = 0  # bytes that the one core of an idle system goes through
    threads: int = 0


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if text.startswith("Command line parameters") and (found := _ASKED.match(text)):
        run = _another(reading, has_results=True)
        run.facts["options"] = found["options"].strip()
        run.threads = _threads(found["options"].split())
    elif text.startswith("Using buffer size") and (found := _BUFFER.match(text)):
        _keep_buffers(reading, found)
    elif _RANDOM.search(text):
        run.facts["idle_order"] = "random"
    elif text.startswith("Measuring") and (found := _SECTION.match(text)):
        _begin(reading, found)
    elif "clocks" in text and (found := _ITERATION.match(text)):
        _iteration(reading, found)
    elif found := _MIX.match(text):
        _mix(reading, found)
    elif found := _FROM_CACHE.match(text):
        _from_cache(reading, found)
    elif _LOADED_HEAD.match(text):
        if run.section != "loaded" or (run.results and run.results[-1].name == _LAST):
            run = _another(reading, "loaded")
            run.section, run.of = "loaded", {}
    elif run.section and (_row(reading, text) or text.startswith(_BETWEEN)):
        run.others = 0
    elif run.section and not _RULE.match(text):
        run.others += 1  # somebody's word in a table, or what follows it
        if run.others > _FEW:
            run.section, run.nodes, run.others = "", None, 0


def _another(reading: Reading[_Run], test: str = "", *, has_results: bool = False) -> _Run:
    """The run that the line is of: a new one where the last one has this test already, or where
    what stands at the begin of each comes behind results."""
    run = reading.run
    if (test and test in run.done) or (has_results and run.results):
        run = reading.begin(version=run.version)
    run.line = run.line or reading.line.number
    if test:
        run.done.add(test)
    return run


def _threads(options: list[str]) -> int:
    """How many threads make the load, where the CPUs are named; 0 if nobody says."""
    found = next(filter(None, map(_CPUS.match, options)), None)
    count = 0
    for part in found[1].split(",") if found else ():
        first, _, last = part.partition("-")
        if not first.isdecimal() or not (last or first).isdecimal():
            return 0
        count += max(0, int(last or first) - int(first) + 1)
    return count if count <= _MOST_THREADS else 0


def _keep_buffers(reading: Reading[_Run], found: re.Match[str]) -> None:
    run = _another(reading, has_results=True)
    sizes = [reading.number(found[name] or "0") for name in ("size", "written")]
    read_bytes, written = (round(size * 2**20) if is_number(size) else 0 for size in sizes)
    if found["each"]:
        run.buffers = (read_bytes, written)
        run.facts["buffer_bytes"] = read_bytes
    elif read_bytes:
        run.walked = read_bytes


def _begin(reading: Reading[_Run], found: re.Match[str]) -> None:
    """A title."""
    section = str(found.lastgroup if found.lastgroup != "access" else "idle")
    run = _another(reading, section)
    run.section, run.nodes, run.of, run.name = section, None, {}, ""
    if section == "idle":
        run.name = "idle latency"
        if found["access"]:
            run.facts["idle_order"] = found["access"]
    elif section == "nodes":
        run.name = "bandwidth between nodes"
    elif section == "peak":
        # It tries several delays, and tells the best.
        run.statistic = "best" if found["peak"] == "Maximum" else ""


def _iteration(reading: Reading[_Run], found: re.Match[str]) -> None:
    """The one figure of --idle_latency, in clocks and in ns."""
    run = _another(reading, "iteration")
    run.section = ""
    clocks, ns = reading.number(found["clocks"]), reading.number(found["ns"])
    if clocks is None or ns is None:
        return
    of: dict[str, Any] = {"clocks": clocks}
    if run.walked:
        of["working_set_bytes"] = run.walked
    reading.add("idle latency", ns, "ns", "", of)
    reading.add("idle latency clocks", clocks, "clocks")


def _mix(reading: Reading[_Run], found: re.Match[str]) -> None:
    """The rate of one mixture of reads and writes; somebody may have left out what is above it."""
    rate, mix = reading.number(found["rate"]), found["mix"]
    if rate is None:
        return
    run = _another(reading, f"mix {mix}")
    if run.section != "peak":
        run.section, run.of, run.statistic = "peak", {}, ""
    of = {"mix": mix, **_moved(run, _ARRAYS.get(mix, 2))}
    reading.add(mix, rate, "MB/s", run.statistic, of)


def _moved(run: _Run, arrays: int) -> dict[str, Any]:
    """What a rate is of. All threads have buffers of their own; where nobody says how many there
    are, their sum is known only if each of them fits in the cache of its core."""
    of: dict[str, Any] = {"arrays_moved": arrays}
    size = run.buffers[0] if arrays == 1 else sum(run.buffers)
    if size and (run.threads or size <= _ANY_CACHE):
        threads = max(run.threads, 1)
        of |= {"array_bytes": run.buffers[0] * threads, "working_set_bytes": size * threads}
    return of | ({"threads": run.threads} if run.threads else {})


def _from_cache(reading: Reading[_Run], found: re.Match[str]) -> None:
    """A line that another core's cache answers: with its time, or above a matrix of them."""
    run = reading.run
    name = f"{found['where']} Socket {found['caches']}"
    test = f"{name} {found['home']}"
    if run.section != "caches" or test in run.done:
        run = _another(reading, test)
    run.done.add(test)
    run.section, run.name, run.nodes = "caches", name, None
    run.of = {"homed_in": found["home"]} if found["home"] else {}
    reading.add(name, found["ns"], "ns")


def _row(reading: Reading[_Run], text: str) -> bool:
    """A row of the table that is under way, or its head."""
    run = reading.run
    traffic = _TRAFFIC.match(text) if run.section in ("loaded", "nodes") else None
    if traffic and traffic["traffic"] != _READ_ONLY:  # the usual load
        run.of["traffic"] = traffic["traffic"]
    if traffic or run.section == "loaded":
        return bool(traffic) or _loaded(reading, text)
    if not run.name:
        return False
    if head := _HEAD.match(text):
        run.nodes = [int(node) for node in head["nodes"].split()]
    elif run.nodes and (found := _CELLS.match(text)):
        _cells(reading, int(found["node"]), run.nodes, found["cells"].split())
    else:
        return bool(_OVER_HEAD.match(text))
    return True


def _arrays(run: _Run) -> int:
    return 2 if "traffic" in run.of else 1


def _loaded(reading: Reading[_Run], text: str) -> bool:
    """A row of loaded latencies: clocks between two accesses of the others, latency and rate."""
    if (found := _LOADED.match(text)) is None:
        return False
    ns, rate = reading.number(found["ns"]), reading.number(found["rate"])
    if ns is not None and rate is not None:
        of = {"inject_delay": int(found["delay"]), **reading.run.of}
        reading.add("loaded latency", ns, "ns", "", of)
        reading.add(_LAST, rate, "MB/s", "", of | _moved(reading.run, _arrays(reading.run)))
    return True


def _cells(reading: Reading[_Run], row: int, nodes: list[int], cells: list[str]) -> None:
    """The cells of a row of a matrix: from a node, or the one that wrote, to each; some have a dash
    for themselves."""
    run = reading.run
    is_rate = run.section == "nodes"
    for node, cell in zip(nodes, cells, strict=False):
        of: dict[str, Any] = {"from_node": row, "to_node": node, **run.of}
        if is_rate:
            of |= _moved(run, _arrays(run))
        reading.add(run.name, None if cell == "-" else cell, "MB/s" if is_rate else "ns", "", of)


def _clean(text: str) -> str:
    """A line without what others write into it: a remark at its end, the bars of a table."""
    text = text.strip()
    return " ".join(text.replace("|", " ").split()) if text[:1] == "|" else unremarked(text)


read = LineReader(TOOL, _Run, _line, _BANNER, clean=_clean)
