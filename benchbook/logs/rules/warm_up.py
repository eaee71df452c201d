"""warm-up: the first runs of a program took far longer than the others, and the mean has them in.

Decided by the runs themselves where the log has them, by the first one alone where the tool names
it. What a repetition inside a program does is told by `first-touch`; the first packet of a
connection is another matter.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.artefacts import Finding, proof
from benchbook.digits import duration, number, plural
from benchbook.importers import Report, Result
from benchbook.logs.printed import half_of_last_digit, is_number
from benchbook.logs.rules import Machine
from benchbook.logs.rules.first_touch import moves_bytes
from benchbook.logs.samples import cold, series, time_s
from benchbook.logs.units import in_base

ARTEFACT = "warm-up"
LEAST_WARNED = (
    1.25  # first ÷ mean of the others, where the tool names it as far beyond their spread
)
LEAST_RUNS = 3
SURE_DIGITS = 5.0  # mean of the others ÷ what rounding leaves open
LIKELY = 0.8
REMEDY = (
    "Let it run a few times before the clock starts (hyperfine --warmup 3), or empty the caches "
    "before every run (--prepare) where the cold start is what is asked; or give the median."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each command whose first run stands apart."""
    del machine
    told: set[int] = set()
    for one in series([report for report in reports if _is_of_programs(report)]):
        times = [time for sample in one.samples if (time := time_s(sample))]
        if not len(times) == len(one.samples) >= LEAST_RUNS or id(one.report) in told:
            continue
        if (count := cold(times)) and not moves_bytes(one):
            told.add(id(one.report))
            yield _finding(one.report, one.mean, one.samples[0].line, times, count)
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
            if usual > SURE_DIGITS * error and first >= LEAST_WARNED * (usual + error):
                times = [first, *[usual] * (int(runs) - 1)]
                yield _finding(report, mean, mean.line, times, 1)


def _mean(report: Report) -> Result | None:
    found = [one for one in report.results if (one.name, one.statistic) == ("time", "mean")]
    return found[0] if len(found) == 1 else None


def _is_of_programs(report: Report) -> bool:
    """Whether its samples are of programs or of functions, no passes over arrays alone."""
    return "command" in report.facts or "benchmark" in report.columns


def _finding(
    report: Report, mean: Result | None, line: int, times: list[float], count: int
) -> Finding:
    mean_s, usual_s = (sum(own) / len(own) for own in (times, times[count:]))
    runs = plural(len(times), "run")
    first = f"The first of {runs}" if count == 1 else f"The first {count} of {runs}"
    lasted = " ".join(filter(None, (duration(times[0] * 1e9), "and less" if count > 1 else "")))
    return Finding(
        artefact=ARTEFACT,
        effect="biases",
        factor=mean_s / usual_s,
        where=[mean.where if mean else f"line {line}: {report.facts.get('command', 'first run')}"],
        confidence=LIKELY,
        evidence=[
            proof("first run", times[0], "s", f"line {line}"),
            proof("mean of the others", usual_s, "s", f"line {line}"),
        ],
        explanation=(
            f"{first} took {lasted}, the others {duration(usual_s * 1e9)} on average: what is read "
            "or compiled for the first time is in the mean, which is "
            f"{number(mean_s / usual_s)} times what the program takes later."
        ),
        remedy=REMEDY,
    )
