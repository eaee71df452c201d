"""waiting, core-clock: what a machine prints of itself next to a benchmark. CPU time that a limit
took away, and clocks that were lowered: cpu.stat of a control group, and lists of clocks with
temperatures. What vmstat, mpstat and top print, readers of their own read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchbook.core.number_format import listed
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log, Report, Result
from benchbook.explain.printed_digits import LONGEST
from benchbook.explain.readers.common import gpu_topology
from benchbook.explain.rules import network_states
from benchbook.explain.rules.clock_limits import clocks_of_limits
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

_MOST_ROWS = 10_000
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
    every = [*_limits(log), *_steps(log), *_clocks(log)]
    every += [State(*found) for found in clocks_of_limits(log)]
    every += [State(report, made=own) for report, own in network_states.states(log)]
    every += [_pairs(report) for report in (gpu_topology.read(log) if log.has("GPU0") else ())]
    return sorted(every, key=lambda state: state.report.line)


_OVER_HOST = {
    "PHB": "a bridge of the host",
    "NODE": "the way across the processor",
    "SYS": "the way between NUMA nodes",
    "SOC": "the way between NUMA nodes",
}


def _pairs(report: Report) -> State:
    """Pairs of GPUs that are connected over the host, with all kinds of connections."""
    pairs = report.facts["pairs_by_link"]
    if not any(kind in gpu_topology.BY_HOST for kind in pairs):
        return State(report)
    kinds = [f"{kind}: {gpu_topology.in_words(own)}" for kind, own in pairs.items()]
    has_links = any(kind.startswith("NV") for kind in pairs)
    several = "The GPUs are connected in several ways"
    means = [f"{kind} is {way}" for kind, way in _OVER_HOST.items() if kind in pairs]
    words: dict[str, Any] = {"kinds": "; ".join(kinds), "line": report.line}
    words |= {"first": report.results[0], "means": listed(means)}
    words["ways"] = several if len(pairs) > 1 else "All pairs of GPUs are connected in one way"
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
