"""Intel Memory Latency Checker 3.x, on Linux and Windows: all of its tests, or one of them.

Its MB/sec are 10^6 bytes, also where the bytes of its buffers are told as MB and are 2^20.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report, Result
from benchbook.explain.printed_digits import is_number, printed_lines, unremarked

TOOL = "mlc"
LOOKS_FOR = (
    "Intel MLC: 'Memory Latency Checker - v3…', 'Measuring idle latencies', 'Inject Latency "
    "Bandwidth' above rows, 'Each iteration took … clocks'"
)
WORDS = (
    "Memory Latency Checker",
    "Measuring idle latencies",
    "Memory Bandwidths",
    "Measuring Loaded Latencies",
    "Inject",
    "Each iteration took",
    "L2->L2 HIT",
    "ALL Reads",
    "Stream-triad like",
)
_BANNER = late(r"Memory Latency Checker - v(?P<version>\d[\w.]*)")
_ASKED = late(r"^Command line parameters:\s*(?P<options>.*)$")
# Of one thread; what is written has a buffer of its own.
_BUFFER = late(
    r"^Using buffer size of (?P<size>[\d.,]+)\s?Mi?B(?P<each>/thread)?"
    r"(?: for reads and an additional (?P<written>[\d.,]+)\s?Mi?B/thread for writes)?"
)
_SECTION = late(
    r"^Measuring (?:"
    r"(?P<idle>idle latencies)(?: for (?P<access>sequential|random) access)? \(in ns\)"
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
    r"\s*:\s*(?P<rate>\d[\d.,]*)(?: MB/sec)?$"
)
_ITERATION = late(
    r"^Each iteration took\s+(?P<clocks>\d[\d.,]*)\s+(?:core|base frequency) clocks\s*"
    r"\(\s*(?P<ns>\d[\d.,]*)\s*ns\s*\)"
)
_LOADED_HEAD = late(r"^Inject\s+Latency\s+Bandwidth$")
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
class _Run:
    """One start, and which of its tables the next lines are of."""

    line: int
    version: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    results: list[Result] = field(default_factory=list)
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


def read(log: Log) -> list[Report]:
    """One report for each start of mlc."""
    runs = [_Run(0)]
    for line in printed_lines(log):
        text = unremarked(line.text.strip())
        run = runs[-1]
        if not text or _RULE.match(text):
            continue
        if "Checker - v" in text and (found := _BANNER.search(text)):
            runs.append(_Run(line.number, found["version"]))
        elif text.startswith("Command line parameters") and (found := _ASKED.match(text)):
            run = _another(runs, line, has_results=True)
            run.facts["options"] = found["options"].strip()
            run.threads = _threads(found["options"].split())
        elif text.startswith("Using buffer size") and (found := _BUFFER.match(text)):
            run = _another(runs, line, has_results=True)
            _keep_buffers(log, found, run)
        elif _RANDOM.search(text):
            run.facts["idle_order"] = "random"
        elif text.startswith("Measuring") and (found := _SECTION.match(text)):
            _begin(runs, line, found)
        elif "clocks" in text and (found := _ITERATION.match(text)):
            _iteration(log, line, found, _another(runs, line, "iteration"))
        elif found := _MIX.match(text):
            _mix(log, line, found, runs)
        elif found := _FROM_CACHE.match(text):
            _from_cache(log, line, found, runs)
        elif _LOADED_HEAD.match(text):
            if run.section != "loaded" or (run.results and run.results[-1].name == _LAST):
                run = _another(runs, line, "loaded")
                run.section, run.of = "loaded", {}
        elif run.section and (_row(log, line, text, run) or text.startswith(_BETWEEN)):
            run.others = 0
        elif run.section:
            _other(run)
    return [
        Report(TOOL, one.results, one.line, one.version, one.facts) for one in runs if one.results
    ]


def _other(run: _Run) -> None:
    """A line that is none of a table: somebody's word in it, or what follows it."""
    run.others += 1
    if run.others > _FEW:
        run.section, run.nodes, run.others = "", None, 0


def _another(runs: list[_Run], line: Line, test: str = "", *, has_results: bool = False) -> _Run:
    """The run that the line is of: a new one where the last one has this test already, or where
    what stands at the begin of each comes behind results."""
    run = runs[-1]
    if (test and test in run.done) or (has_results and run.results):
        run = _Run(line.number, run.version)
        runs.append(run)
    run.line = run.line or line.number
    if test:
        run.done.add(test)
    return run


def _threads(options: list[str]) -> int:
    """How many threads make the load, where the CPUs are named; 0 if nobody says."""
    found = next((one for word in options if (one := _CPUS.match(word))), None)
    count = 0
    for part in found[1].split(",") if found else ():
        first, _, last = part.partition("-")
        if not first.isdecimal() or not (last or first).isdecimal():
            return 0
        count += max(0, int(last or first) - int(first) + 1)
    return count if count <= _MOST_THREADS else 0


def _keep_buffers(log: Log, found: re.Match[str], run: _Run) -> None:
    sizes = [log.number(found[name] or "0") for name in ("size", "written")]
    read_bytes, written = (round(one * 2**20) if is_number(one) else 0 for one in sizes)
    if found["each"]:
        run.buffers = (read_bytes, written)
        run.facts["buffer_bytes"] = read_bytes
    elif read_bytes:
        run.walked = read_bytes


def _begin(runs: list[_Run], line: Line, found: re.Match[str]) -> None:
    """A title."""
    section = str(found.lastgroup if found.lastgroup != "access" else "idle")
    run = _another(runs, line, section)
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


def _iteration(log: Log, line: Line, found: re.Match[str], run: _Run) -> None:
    """The one figure of --idle_latency, in clocks and in ns."""
    run.section = ""
    clocks, ns = log.number(found["clocks"]), log.number(found["ns"])
    if clocks is None or ns is None:
        return
    of: dict[str, Any] = {"clocks": clocks}
    if run.walked:
        of["working_set_bytes"] = run.walked
    run.results.append(Result("idle latency", ns, "ns", line.number, "", of))
    run.results.append(Result("idle latency clocks", clocks, "clocks", line.number))


def _mix(log: Log, line: Line, found: re.Match[str], runs: list[_Run]) -> None:
    """The rate of one mixture of reads and writes; somebody may have left out what is above it."""
    rate, mix = log.number(found["rate"]), found["mix"]
    if rate is None:
        return
    run = _another(runs, line, f"mix {mix}")
    if run.section != "peak":
        run.section, run.of, run.statistic = "peak", {}, ""
    arrays = _ARRAYS.get(mix, 2)
    of = {"mix": mix, **_moved(run, arrays)}
    run.results.append(Result(mix, rate, "MB/s", line.number, run.statistic, of))


def _moved(run: _Run, arrays: int) -> dict[str, Any]:
    """What a rate is of. All threads have buffers of their own; where nobody says how many there
    are, their sum is known only if each of them fits in the cache of its core."""
    of: dict[str, Any] = {"arrays_moved": arrays}
    size = run.buffers[0] if arrays == 1 else sum(run.buffers)
    if size and (run.threads or size <= _ANY_CACHE):
        threads = max(run.threads, 1)
        of |= {"array_bytes": run.buffers[0] * threads, "working_set_bytes": size * threads}
    return of | ({"threads": run.threads} if run.threads else {})


def _from_cache(log: Log, line: Line, found: re.Match[str], runs: list[_Run]) -> None:
    """A line that another core's cache answers: with its time, or above a matrix of them."""
    run = runs[-1]
    name = f"{found['where']} Socket {found['caches']}"
    test = f"{name} {found['home']}"
    if run.section != "caches" or test in run.done:
        run = _another(runs, line, test)
    run.done.add(test)
    run.section, run.name, run.nodes = "caches", name, None
    run.of = {"homed_in": found["home"]} if found["home"] else {}
    value = log.number(found["ns"]) if found["ns"] else None
    if value is not None:
        run.results.append(Result(name, value, "ns", line.number))


def _row(log: Log, line: Line, text: str, run: _Run) -> bool:
    """A row of the table that is under way, or its head."""
    if run.section == "loaded":
        if traffic := _TRAFFIC.match(text):
            _keep_traffic(traffic, run)
        elif found := _LOADED.match(text):
            run.results += _loaded(log, line, found, run)
            return True
        return bool(traffic)
    if run.section == "nodes" and (traffic := _TRAFFIC.match(text)):
        _keep_traffic(traffic, run)
        return True
    if not run.name:
        return False
    if head := _HEAD.match(text):
        run.nodes = [int(one) for one in head["nodes"].split()]
        return True
    if run.nodes and (found := _CELLS.match(text)):
        run.results += _cells(log, line, found, run)
        return True
    return bool(_OVER_HEAD.match(text))


def _keep_traffic(found: re.Match[str], run: _Run) -> None:
    """What the load is, where it is not the usual one."""
    if found["traffic"] != _READ_ONLY:
        run.of["traffic"] = found["traffic"]


def _arrays(run: _Run) -> int:
    return 2 if "traffic" in run.of else 1


def _loaded(log: Log, line: Line, found: re.Match[str], run: _Run) -> Iterator[Result]:
    """A row of loaded latencies: clocks between two accesses of the others, latency and rate."""
    ns, rate = log.number(found["ns"]), log.number(found["rate"])
    if ns is None or rate is None:
        return
    of = {"inject_delay": int(found["delay"]), **run.of}
    yield Result("loaded latency", ns, "ns", line.number, "", of)
    of = {**of, **_moved(run, _arrays(run))}
    yield Result(_LAST, rate, "MB/s", line.number, "", of)


def _cells(log: Log, line: Line, found: re.Match[str], run: _Run) -> Iterator[Result]:
    """The cells of a row of a matrix: from a node, or the one that wrote, to each; some have a dash
    for themselves."""
    for node, cell in zip(run.nodes or (), found["cells"].split(), strict=False):
        value = log.number(cell) if cell != "-" else None
        if value is None:
            continue
        of: dict[str, Any] = {"from_node": int(found["node"]), "to_node": node, **run.of}
        if run.section == "nodes":
            of |= _moved(run, _arrays(run))
        unit = "MB/s" if run.section == "nodes" else "ns"
        yield Result(run.name, value, unit, line.number, "", of)
