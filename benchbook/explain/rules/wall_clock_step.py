"""wall-clock-step: the clock that timed a tool's samples was set while it ran.

Decided by the tool's own word that its clock went back, by what took less than no time, or by an
interval many times as long as the others in which no more was moved than in one of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import chain

from benchbook.core.number_format import duration, plural
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.results import Group
from benchbook.explain.rules import Machine
from benchbook.explain.rules.common.latencies import NAMES
from benchbook.explain.units import bytes_per_s, in_base
from benchbook.findings import Finding, proof

ARTEFACT = "wall-clock-step"
NEEDS = (*NAMES, "pattern", "elapsed_s", "clock_step_ns")
CERTAIN = 1.0
WRAP_NS = 2**32 * 1e3  # 71 minutes
LONGEST_NS = 10e9  # a step of the clock that looks so
LEAST_INTERVALS = 4
LONGER = 10.0  # times the usual interval; a stall does not keep the tool from telling of it
AS_MUCH = 1.5  # times what is moved in a usual one
LIKELY = 0.85


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report whose clock was seen to go back, or far forward."""
    del machine
    for report in reports:
        negative, timed = list(_exchanges(report)), list(_rates(report))
        step_ns, line = report.facts.get("clock_step_ns"), report.facts.get("clock_step_line")
        where = [one.where for one in negative]
        if step_ns:
            yield _finding(
                [f"line {line}: clock", *where],
                f"the tool says so itself: by {duration(step_ns)} (line {line})",
                proof("clock_step_ns", step_ns, "ns", f"line {line}"),
            )
        elif negative:
            first = negative[0]
            wraps = (
                f", which is {duration(_short_ns(first))} below 2^32 us" if first.value > 0 else ""
            )
            yield _finding(
                where,
                f"{plural(len(negative), 'exchange')} took less than no time, as "
                f"{first.value:,.10g} {first.unit} in line {first.line}{wraps}",
                proof(first.name, first.value, first.unit, f"line {first.line}"),
            )
        elif timed:
            first = timed[0]
            yield _finding(
                [one.where for one in timed],
                f"{first.name} in line {first.line} took {_lasted(first):,.6g} s",
                proof("elapsed", _lasted(first), "s", f"line {first.line}"),
            )
        elif jump := _jump(report):
            yield _jumped(*jump, told=_resent(report, jump[0]) is not None)


def goes_back(report: Report) -> bool:
    """Whether that is told of it."""
    return any(_exchanges(report)) or any(_rates(report))


def _exchanges(report: Report) -> Iterator[Result]:
    """Those that took less than no time."""
    for (name, statistic, unit), several in report.groups.items():
        if _is_of_sizes(report, name) or (name in NAMES and statistic in ("sample", "min", "max")):
            yield from _below_none(several, unit)


def _rates(report: Report) -> Iterator[Result]:
    """Rates that were made of less than no time; the times that stand beside them have the same."""
    for (_, _, unit), several in report.groups.items():
        if "elapsed_s" in several[0].of and bytes_per_s(1.0, unit) is not None:
            lasted = _lasting(several)
            if min(lasted) < 0:
                yield from (several[at] for at, one in enumerate(lasted) if one < 0)


def _is_of_sizes(report: Report, name: str) -> bool:
    """Whether it is what messages of some size took, the mean of many."""
    return "pattern" in report.facts and name.endswith(("latency", "time"))


def _short_ns(one: Result) -> float:
    """How much it is below the last number that a clock of microseconds has in 32 bits."""
    return WRAP_NS - in_base(one.value, one.unit)[0]


def _below_none(several: list[Result], unit: str) -> list[Result]:
    """Those below 0, and those of which a difference below 0 was printed as the number above."""
    size, base = in_base(1.0, unit)
    if base != "ns":
        return []
    least, most = (WRAP_NS - LONGEST_NS) / size, WRAP_NS / size
    return [one for one in several if one.value < 0 or least <= one.value <= most]


def _lasted(one: Result) -> float:
    return _seconds(one.of.get("elapsed_s"))


def _lasting(several: Group) -> Sequence[float]:
    """How long each took; 0 where that is not known."""
    column = several.column("elapsed_s")
    usual = set(map(type, column)) == {float} and all(map(math.isfinite, column))
    return column if usual else list(map(_seconds, column))


def _seconds(value: object) -> float:
    return float(value) if is_number(value) else 0.0


def _jump(report: Report) -> tuple[Result, float] | None:
    """An interval far longer than the others in which no more was moved, and what they last."""
    groups = [several for _, several in report.alike("throughput", "interval")]
    lasted = [*chain.from_iterable(map(_lasting, groups))]
    if len(lasted) < LEAST_INTERVALS or max(lasted) < LONGER * min(lasted):
        return None  # as nearly all are
    intervals = list(chain.from_iterable(groups))
    usual = sorted(lasted)[len(lasted) // 2]
    moved = sorted(one.of.get("bytes_moved") or 0 for one in intervals)[len(intervals) // 2]
    for one in intervals:
        of = one.of.get("bytes_moved")
        if _lasted(one) >= LONGER * usual > 0 and is_number(of) and 0 < of <= AS_MUCH * moved:
            return None if _resent(report, one) else (one, usual)
    return None


def _resent(report: Report, interval: Result) -> float | None:
    """The segments that were sent again in it, as where nothing came through for a while; None
    where the line does not tell."""
    told = (one.value for one in report.called("retransmits") if one.line == interval.line)
    return next(told, None)


def _jumped(one: Result, usual_s: float, *, told: bool) -> Finding:
    """`told`: whether the log says that nothing was sent again in it."""
    # Not above: what detectors stand on takes longer to load than a log to read.
    from benchbook.detect.detectors.wall_clock_step import REMEDY

    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=[one.where],
        confidence=LIKELY,
        evidence=[
            proof("interval", _lasted(one), "s", f"line {one.line}"),
            proof("usual interval", usual_s, "s", "log"),
        ],
        explanation=(
            f"The interval of line {one.line} lasts {duration(_lasted(one) * 1e9)} by the tool's "
            f"clock, the others {duration(usual_s * 1e9)}, and no more was moved in it than in one "
            f"of them{', with nothing sent again' if told else ''}: the clock was put forward, or "
            "the machine slept, if nothing else held the transfer up. The rates of that interval "
            "and of the whole are divided by a time in which nothing was measured."
        ),
        remedy=REMEDY,
    )


def _finding(where: list[str], seen: str, evidence: dict[str, object]) -> Finding:
    # Not above: what detectors stand on takes longer to load than a log to read.
    from benchbook.detect.detectors.wall_clock_step import REMEDY

    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=where,
        confidence=CERTAIN,
        evidence=[evidence],
        explanation=(
            f"The clock that timed these exchanges went back while they ran: {seen}. Those around "
            "it are wrong by that much, and so are minimum, mean and deviation of all."
        ),
        remedy=REMEDY,
    )
