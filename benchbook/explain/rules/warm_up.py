"""warm-up: the first runs of a program took far longer than the others, and the mean has them in.

Decided by the runs themselves where the log has them, by the first one alone where the tool names
it. What a repetition inside a program does is told by `first-touch`; the first packet of a
connection is another matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from benchbook.core.number_format import duration, number, plural
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import half_of_last_digit, is_number
from benchbook.explain.rules import Machine
from benchbook.explain.rules.common.samples import cold, series
from benchbook.explain.rules.first_touch import moves_bytes
from benchbook.explain.units import in_base
from benchbook.findings import Finding, proof

ARTEFACT = "warm-up"
NEEDS = ("sample", "first_run_s")
LEAST_WARNED = (
    1.25  # first ÷ mean of the others, where the tool names it as far beyond their spread
)
LEAST_BIAS = 1.02  # mean of all ÷ mean of the others, where only their number is known
LEAST_RUNS = 3
SURE_DIGITS = 5.0  # mean of the others ÷ what rounding leaves open
LIKELY = 0.8
REMEDY = (
    "Let it run a few times before the clock starts (hyperfine --warmup 3), or empty the caches "
    "before every run (--prepare) where the cold start is what is asked; or give the median."
)


class _Runs(NamedTuple):
    """The first, the mean of those that are not cold, the mean of all, and how many there are."""

    first_s: float
    usual_s: float
    mean_s: float
    runs: int
    cold: int


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each command whose first run stands apart."""
    del machine
    told: set[int] = set()
    for one in series([report for report in reports if _is_of_programs(report)]):
        times = [time for time in one.times() if time]
        if not len(times) == len(one.samples) >= LEAST_RUNS or id(one.report) in told:
            continue
        if (count := cold(times)) and not moves_bytes(one):
            told.add(id(one.report))
            others = times[count:]
            usual = sum(others) / len(others)
            shown = _Runs(times[0], usual, sum(times) / len(times), len(times), count)
            yield _finding(one.report, one.mean, one.samples[0].line, shown)
    for report in reports:
        first, mean = report.facts.get("first_run_s"), _mean(report)
        if not is_number(first) or mean is None or id(report) in told:
            continue
        runs, mean_s = mean.of.get("repetitions"), in_base(mean.value, mean.unit)[0] / 1e9
        if is_number(runs) and runs >= LEAST_RUNS:
            usual = (mean_s * runs - first) / (runs - 1)
            # What rounding of the mean leaves open is open as many times as there were runs.
            half_s = in_base(half_of_last_digit(mean.value), mean.unit)[0] / 1e9
            error = half_s * runs / (runs - 1)
            biased = mean_s >= LEAST_BIAS * usual
            if biased and usual > SURE_DIGITS * error and first >= LEAST_WARNED * (usual + error):
                yield _finding(report, mean, mean.line, _Runs(first, usual, mean_s, int(runs), 1))


def _mean(report: Report) -> Result | None:
    found = report.kind("time", "mean")
    return found[0] if len(found) == 1 else None


def _is_of_programs(report: Report) -> bool:
    """Whether its samples are of programs or of functions, no passes over arrays alone."""
    return "command" in report.facts or "benchmark" in report.columns


def _finding(report: Report, mean: Result | None, line: int, own: _Runs) -> Finding:
    runs = plural(own.runs, "run")
    first = f"The first of {runs}" if own.cold == 1 else f"The first {own.cold} of {runs}"
    less = " and less" if own.cold > 1 else ""
    factor = own.mean_s / own.usual_s
    return Finding(
        artefact=ARTEFACT,
        effect="biases",
        factor=factor,
        where=[mean.where if mean else f"line {line}: {report.facts.get('command', 'first run')}"],
        confidence=LIKELY,
        evidence=[
            proof("first run", own.first_s, "s", f"line {line}"),
            proof("mean of the others", own.usual_s, "s", f"line {line}"),
        ],
        explanation=(
            f"{first} took {duration(own.first_s * 1e9)}{less}, the others "
            f"{duration(own.usual_s * 1e9)} on average: what is read or compiled for the first "
            f"time is in the mean, which is {number(factor)} times what the program takes later."
        ),
        remedy=REMEDY,
    )
