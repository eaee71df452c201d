"""timer-granularity: a timed test lasts so few ticks of the clock that its figure is the clock's.

Decided by the ticks that the tool itself counts, or by its time against its clock's resolution.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from benchbook.core.number_format import duration, number, share
from benchbook.detect.detectors.timer_granularity import LEAST_TICKS, NO_NUMBER, REMEDY
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import Machine
from benchbook.findings import Finding, proof

ARTEFACT = "timer-granularity"
NEEDS = ("clock_ticks", "clock_resolution_ns")


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report with tests of under 20 ticks."""
    del machine
    for report in reports:
        few = [
            (ticks, one)
            for one in _candidates(report)
            if (ticks := _ticks(report, one)) is not None and 0 <= ticks < LEAST_TICKS
        ]
        if few:
            yield _finding(report, *min(few, key=lambda pair: pair[0]), [one for _, one in few])


def _candidates(report: Report) -> Iterable[Result]:
    """Results that may have few ticks: where one resolution holds for all, the short ones."""
    resolution = report.facts.get("clock_resolution_ns")
    own = report.columns.union(report.facts) & {"clock_ticks"} or report.columns & {
        "clock_resolution_ns"
    }
    if own == {"clock_ticks"} and "clock_ticks" not in report.columns:
        ticks = report.facts["clock_ticks"]  # of all alike
        if is_number(ticks) and not 0 <= ticks < LEAST_TICKS:
            return []
    if own or not is_number(resolution):
        return report.knowing("clock_ticks", "clock_resolution_ns")
    most = LEAST_TICKS * resolution / 1e9
    return [
        several[at]
        for several in report.groups.values()
        for at, took in enumerate(several.column("elapsed_s"))
        if is_number(took) and took < most
    ]


def _ticks(report: Report, one: Result) -> float | None:
    """Ticks of the clock in the time that a rate was made of."""
    counted = report.column(one, "clock_ticks")
    if is_number(counted):
        return float(counted)
    resolution, elapsed = report.column(one, "clock_resolution_ns"), one.of.get("elapsed_s")
    if is_number(resolution) and is_number(elapsed) and resolution > 0:
        return elapsed * 1e9 / resolution
    return None


def _finding(report: Report, ticks: float, one: Result, few: list[Result]) -> Finding:
    resolution = report.column(one, "clock_resolution_ns")
    steps = f" of {duration(float(resolution))}" if is_number(resolution) else ""
    wrong = "all of it" if ticks <= 1 else share(1 / ticks)
    evidence = [proof("clock_ticks", ticks, "ticks", f"line {one.line}")]
    if is_number(resolution):
        evidence.append(proof("clock_resolution_ns", resolution, "ns", "log"))
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates" if ticks < NO_NUMBER else "informs",
        where=[each.where for each in few],
        confidence=1.0,
        evidence=evidence,
        explanation=(
            f"What was timed for {one.name} lasts {number(ticks)} ticks{steps} of the tool's "
            f"clock, so the figure may be wrong by {wrong} for that reason alone."
        ),
        remedy=REMEDY,
    )
