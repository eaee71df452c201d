"""waiting, core-clock: what monitors of a machine print next to a benchmark. CPU time that a
hypervisor or a limit took away, swapping, and clocks that were lowered.

top, vmstat, mpstat, iostat, cpu.stat of a control group, and lists of clocks with temperatures.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report, Result
from benchbook.explain.printed_digits import LONGEST
from benchbook.explain.readers.common import gpu_topology
from benchbook.explain.results import GIVEN
from benchbook.explain.rules import network_states
from benchbook.explain.rules.clock_limits import clocks_of_limits
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

_MOST_ROWS = 10_000
LEAST_STEAL, LEAST_IO_WAIT = 2.0, 20.0  # per cent of the CPU time
LEAST_SWAPPED = 100.0  # KiB a second, on average
LEAST_THROTTLED = 0.05  # of the periods
LEAST_BELOW = 0.1  # of the time, below the highest clock
LEAST_LINES, HOT, FELL = 4, 80.0, 0.97


@dataclass(frozen=True)
class State:
    """What one monitor printed, and what it means where it means something; `kind` is one of
    findings.toml, "" where nothing is wrong; `made`: a finding that was made elsewhere."""

    report: Report
    kind: str = ""
    words: dict[str, Any] = field(default_factory=dict)
    made: Finding | None = None

    @property
    def finding(self) -> Finding | None:
        """The finding of its kind; None where nothing is wrong."""
        return finding(self.kind, self.words) if self.kind else self.made


def states(log: Log) -> list[State]:
    """All of a log, in its order."""
    every = [*_limits(log), *_shares(log), *_steps(log), *_clocks(log)]
    every += [State(*found) for found in clocks_of_limits(log)]
    every += [State(report, made=own) for report, own in network_states.states(log)]
    every += [_pairs(report) for report in (gpu_topology.read(log) if log.has("GPU0") else ())]
    return sorted(every, key=lambda state: state.report.line)


def _pairs(report: Report) -> State:
    """Pairs of GPUs that are connected over the host, with all kinds of connections."""
    pairs = report.facts["pairs_by_link"]
    if not any(kind in gpu_topology.BY_HOST for kind in pairs):
        return State(report)
    kinds = [f"{kind}: {gpu_topology.in_words(own)}" for kind, own in pairs.items()]
    has_links = any(kind.startswith("NV") for kind in pairs)
    words = {"kinds": "; ".join(kinds), "line": report.line, "first": report.results[0]}
    words["none"] = None if has_links else "No pair has NVLink"
    return State(report, "gpus-over-host", words)


_LIMITED = late(
    r"^[\s#]*(?P<name>nr_periods|nr_throttled|throttled_time|throttled_usec)[ \t:=]+"
    r"(?P<value>\d{1,18})(?=\s|$|,)"
)
_OF_LIMITS = {
    "nr_periods": ("periods", 1.0, "periods"),
    "nr_throttled": ("throttled periods", 1.0, "periods"),
    "throttled_time": ("throttled time", 1e-9, "s"),
    "throttled_usec": ("throttled time", 1e-6, "s"),
}


def _limits(log: Log) -> Iterator[State]:
    """The counts of a control group; where it is printed several times, by how much they grew."""
    printed: dict[str, list[Result]] = {}
    for line in log.having("nr_throttled", "nr_periods", "throttled_"):
        if found := _LIMITED.match(line.text):
            name, size, unit = _OF_LIMITS[found["name"]]
            value = float(found["value"]) * size
            printed.setdefault(name, []).append(Result(name, value, unit, line.number))
    if not printed.keys() >= {"periods", "throttled periods"}:
        return
    several = min(map(len, printed.values())) > 1
    own = {
        name: rows[-1].value - (rows[0].value if several else 0.0) for name, rows in printed.items()
    }
    results = [result for rows in printed.values() for result in rows]
    report = Report("cgroup", results, min(result.line for result in results))
    share = own["throttled periods"] / own["periods"] if own["periods"] > 0 else 0.0
    words = {
        "stopped": printed["throttled periods"][-1],
        "count": own["throttled periods"],
        "periods": own["periods"],
        "share": share,
        "took": own.get("throttled time"),
    }
    is_stopped = LEAST_THROTTLED <= share <= 1
    yield State(report, "throttled-by-limit" if is_stopped else "", words if is_stopped else {})


_TOP = late(r"^%?Cpu(?:\(s\)|\d{1,4}) *: *\d")
_PART = late(r"(?P<share>\d{1,3}(?:[.,]\d{1,2})?) ?%? ?(?P<name>us|sy|ni|id|wa|hi|si|st)\b")
_VMSTAT = late(r"\bus +sy +id +wa(?: +st)?\b")
_SAR = late(r"%(?:usr|user)\b.*%(?:iowait)\b.*%idle\b|%(?:usr|user)\b.*%steal\b")
_NUMBERS = late(r"\d+(?:[.,]\d+)?")
_NAMES = {
    "us": "user", "sy": "system", "id": "idle", "wa": "waiting for disks", "st": "stolen",
    "%usr": "user", "%user": "user", "%sys": "system", "%system": "system", "%idle": "idle",
    "%iowait": "waiting for disks", "%steal": "stolen", "si": "swapped in", "so": "swapped out",
}  # fmt: skip
# Of vmstat, what is only shown. Its memory is in KiB, unless -S asks for another unit.
_SHOWN = {
    "r": ("running", "1"), "b": ("blocked", "1"), "swpd": ("swapped", "KiB"),
    "free": ("free", "KiB"), "buff": ("buffers", "KiB"), "cache": ("cache", "KiB"),
    "bi": ("blocks in", "blocks/s"), "bo": ("blocks out", "blocks/s"),
    "in": ("interrupts", "interrupts/s"), "cs": ("switches", "switches/s"),
}  # fmt: skip
_OTHER_UNIT = late(r"^-\w*S")


def _shares(log: Log) -> Iterator[State]:
    """Shares of the CPU time as top, vmstat, mpstat and iostat print them."""
    for tool, rows in _rows(log):
        results = [result for row in rows for result in row]
        if not results:
            continue
        report = Report(tool, results, results[0].line)
        # The first row of vmstat is the mean since the machine was started.
        of_time = rows[1:] if tool == "vmstat" and len(rows) > 1 else rows
        kind, words = _meaning(of_time)
        is_single = tool == "vmstat" and len(rows) == 1
        yield State(report, kind, {**words, "single": is_single or None} if kind else words)


def _meaning(rows: Sequence[Sequence[Result]]) -> tuple[str, dict[str, Any]]:
    """The kind of finding of these rows, and its words."""
    by_name: dict[str, list[Result]] = {}
    for row in rows:
        for result in row:
            by_name.setdefault(result.name, []).append(result)

    def mean(name: str) -> float:
        own = by_name.get(name, [])
        return sum(result.value for result in own) / len(own) if own else 0.0

    for name, least, kind in (
        ("stolen", LEAST_STEAL, "stolen-time"),
        ("swapped in", LEAST_SWAPPED, "swapping-now"),
        ("swapped out", LEAST_SWAPPED, "swapping-now"),
        ("waiting for disks", LEAST_IO_WAIT, "waiting-for-disks"),
    ):
        if mean(name) >= least:
            most = max(by_name[name], key=lambda result: result.value)
            return kind, {"most": most, "mean": mean(name), "count": len(by_name[name])}
    return "", {}


def _rows(log: Log) -> Iterator[tuple[str, list[list[Result]]]]:
    """The rows of each monitor."""
    tops = [
        [
            Result(_NAMES[part["name"]], value, "%", line.number)
            for part in _PART.finditer(line.text)
            if part["name"] in ("us", "sy", "id", "wa", "st")
            and (value := log.number(part["share"])) is not None
        ]
        for line in log.having("Cpu(s)")[:_MOST_ROWS]
        if _TOP.match(line.text.strip())
    ]
    yield "top", [row for row in tops if row]
    heads = [(line, "vmstat") for line in log.having("us sy") if _VMSTAT.search(line.text)]
    heads += [(line, "mpstat") for line in log.having("%idle", "%steal") if _SAR.search(line.text)]
    by_tool: dict[str, list[list[Result]]] = {}
    for head, tool in heads:
        by_tool.setdefault(tool, []).extend(_below(log, head, tool))
    yield from by_tool.items()


def _below(log: Log, head: Line, tool: str) -> Iterator[list[Result]]:
    """The rows below a head, as long as they have its columns; read from the right, because what
    stands before them may have blanks."""
    names = head.text.split()
    at = bisect_right(log.lines, head.number, key=lambda line: line.number)
    for line in log.lines[at : at + _MOST_ROWS]:
        cells = line.text.split()
        if not cells and tool == "mpstat":
            break
        if len(line.text) > LONGEST or not cells:
            continue
        numbers = [cell for cell in cells if _NUMBERS.fullmatch(cell)]
        wanted = [name for name in names if name in _NAMES or name.startswith("%")]
        if tool == "vmstat":
            wanted = names[: names.index("wa") + (2 if "st" in names else 1)]
        if len(numbers) < len(wanted):
            break
        many = len(wanted)
        numbers = numbers[:many] if tool == "vmstat" else numbers[-many:]
        own = dict(zip(wanted, numbers, strict=True))
        row = [
            Result(_NAMES[name], value, "KiB/s" if name in ("si", "so") else "%", line.number)
            for name, cell in own.items()
            if name in _NAMES and (value := log.number(cell)) is not None
        ]
        if tool == "vmstat":
            row = [*_shown(log, line, own), *row]
        yield row


def _shown(log: Log, line: Line, cells: dict[str, str]) -> Iterator[Result]:
    """The other figures of a row of vmstat."""
    asked = next((own for own in reversed(log.commands) if own.number < line.number), None)
    is_other = asked is not None and any(map(_OTHER_UNIT.match, asked.words))
    for column, (name, unit) in _SHOWN.items():
        if column in cells and (value := log.number(cells[column])) is not None:
            own = "1" if unit == "KiB" and is_other else unit
            yield Result(name, value, own, line.number, GIVEN)


_STEP = late(r"^\s*(?P<mhz>\d{3,4}) MHz: +(?P<time>\d+(?:\.\d+)?) sec$")


def _steps(log: Log) -> Iterator[State]:
    """How long CPUs were at each clock, as sbc-bench prints it."""
    if not log.has("Throttling statistics"):
        return
    group: list[Result] = []
    for line in log.having("Throttling statistics", " MHz:"):
        if "Throttling statistics" in line.text:
            yield from _of_steps(group)
            group = []
        elif found := _STEP.match(line.text):
            of = {"clock_mhz": int(found["mhz"])}
            name = f"time at {found['mhz']} MHz"
            group.append(Result(name, float(found["time"]), "s", line.number, "", of))
    yield from _of_steps(group)


def _of_steps(group: Sequence[Result]) -> Iterator[State]:
    whole = sum(step.value for step in group)
    if not group or whole <= 0:
        return
    highest = max(group, key=lambda step: step.of["clock_mhz"])
    below = 1 - highest.value / whole
    others = [step for step in group if step is not highest]
    longest = max(others, key=lambda step: step.value, default=highest)
    words = {"highest": highest, "below": below, "longest": longest, "whole": whole}
    words |= {"most": highest.of["clock_mhz"], "at": longest.of["clock_mhz"]}
    is_low = below >= LEAST_BELOW
    report = Report("sbc-bench", list(group), group[0].line)
    yield State(report, "clock-steps" if is_low else "", words if is_low else {})


_CLOCK = late(r"(?<![\d/.])(?P<mhz>\d{3,4}) ?MHz\b")
_HEAT = late(r"(?<![\d.])(?P<heat>\d{2,3}(?:\.\d{1,2})?) ?(?:\u00b0|\u00ba|')C\b")
_STAMP = late(r"^\W*\d{1,2}:\d\d:\d\d\b")


def _clocks(log: Log) -> Iterator[State]:
    """Lines of a monitor with a time, a clock and a temperature."""
    rows: list[tuple[Result, Result]] = []
    for line in log.having("MHz")[:_MOST_ROWS]:
        text = line.text.strip()
        if len(text) > LONGEST or not _STAMP.match(text):
            continue
        clock, heat = _CLOCK.search(text), _HEAT.search(text)
        if clock and heat:
            of = line.number, "sample"
            rows.append(
                (
                    Result("clock", float(clock["mhz"]), "MHz", *of),
                    Result("temperature", float(heat["heat"]), "\u00b0C", *of),
                )
            )
    if len(rows) < LEAST_LINES:
        return
    results = [result for row in rows for result in row]
    report = Report("monitor", results, results[0].line)
    first = max((clock for clock, _ in rows[: len(rows) // 2]), key=lambda clock: clock.value)
    last, _ = rows[-1]
    hottest = max((heat for _, heat in rows), key=lambda heat: heat.value)
    if hottest.value >= HOT and last.value < FELL * first.value:
        yield State(report, "hot-clock-falls", {"first": first, "last": last, "hottest": hottest})
    else:
        yield State(report)
