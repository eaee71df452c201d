"""load-imbalance, thread-scaling, short-run: what programs that simulate particles (LAMMPS, SPARTA,
GROMACS) print of how their work is shared out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

LAMMPS, GROMACS = "lammps", "gromacs"
WAITS = 90.0  # per cent of a CPU, of processes with one thread
LITTLE = 0.6  # of the threads of a process: those that had a CPU
UNEVEN = 1.15  # slowest ÷ mean
LEAST_SHARE = 15.0  # per cent of the loop: a section that counts
MOSTLY_MESSAGES = 35.0  # per cent
FEW = 1000  # particles of a process
SHORT_S = 1.0


@rule
def loop_of_particles(report: Report) -> Iterator[Finding]:
    """A loop whose processes had too few CPUs, unequal work, or mostly messages to send."""
    if report.tool != LAMMPS:
        return
    loop = report.only("loop time")
    if loop is None or not loop.is_positive:
        return
    yield from _cpus(report, loop)
    processes = report.facts.get("processes", 1)
    each = report.facts.get("particles", 0) / max(1, processes)
    comm = _first(report, "Comm share")
    if processes > 1:
        if uneven := _uneven(report):
            yield finding("uneven-processes", uneven)
        if comm is not None and comm.value >= MOSTLY_MESSAGES:
            words = {"comm": comm, "processes": processes, "each": each}
            yield finding("mostly-messages", words, few=True if each < FEW else None)
    wrong, builds = _first(report, "dangerous builds"), _first(report, "builds of neighbour lists")
    if wrong is not None and wrong.value > 0 and builds is not None and builds.is_positive:
        yield finding("dangerous-builds", wrong=wrong, builds=builds)
    if loop.value < SHORT_S:
        yield finding("short-loop", loop=loop, steps=report.facts.get("steps", 0))


def _first(report: Report, name: str) -> Result | None:
    return next(iter(report.called(name)), None)


def _cpus(report: Report, loop: Result) -> Iterator[Finding]:
    use, threads = _first(report, "CPU use of a process"), report.facts.get("threads", 1)
    if use is None:
        return
    if threads > 1 and use.value < 100 * LITTLE * threads:
        words = {"use": use, "threads": threads, "busy": use.value / 100}
        yield finding("threads-without-cpus", words)
    elif threads == 1 and use.value < WAITS and loop.value >= SHORT_S:
        yield finding("processes-without-cpus", use=use, processes=report.facts["processes"])


def _uneven(report: Report) -> dict[str, Any] | None:
    """The words of the section in which processes differ most."""
    found: list[tuple[float, dict[str, Any]]] = []
    for share in report.results:
        name = share.name.removesuffix(" share")
        if name == share.name or name == "Comm" or share.value < LEAST_SHARE:
            continue
        least, mean, most = (_first(report, f"{name} time {own}") for own in ("min", "mean", "max"))
        if least and mean and most and mean.is_positive and most.value >= UNEVEN * mean.value:
            words = {"least": least, "mean": mean, "most": most, "name": name, "share": share}
            found.append((most.value - mean.value, words))
    if not found:
        return None
    words = max(found, key=lambda own: own[0])[1]
    local = [_first(report, f"Nlocal {own}") for own in ("min", "max")]
    comm = _first(report, "Comm share")
    few, many = local
    is_known = few is not None and many is not None and many.value >= UNEVEN * max(1.0, few.value)
    return words | {"few": few if is_known else None, "many": many, "comm": comm}


LEAST_LOST = 5.0  # per cent
LEAST_S = 60.0


@rule
def balance_of_molecules(report: Report) -> Iterator[Finding | str]:
    """Time that a run of GROMACS lost, as it says itself, and a note on a run of seconds."""
    if report.tool != GROMACS:
        return
    lost = [own for own in report.results if own.name.startswith("time lost to ")]
    most = max(lost, key=lambda own: own.value, default=None)
    if most is not None and most.value >= LEAST_LOST:
        words: dict[str, Any] = {"most": most, "why": most.name.removeprefix("time lost to ")}
        load = _first(report, "load of PME by that of forces")
        yield finding("lost-to-imbalance", words | {"load": load})
    elapsed = _first(report, "elapsed")
    if elapsed is not None and 0 < elapsed.value < LEAST_S and report.has("rate"):
        yield finding("short-dynamics", elapsed=elapsed).explanation


@rule
def rates_of_molecules(reports: list[Report]) -> Iterator[str]:
    """A note on two runs of GROMACS with as many steps whose rates differ by much."""
    rated = [
        (report, rate)
        for report in reports
        if report.tool == GROMACS and (rate := report.only("rate")) and rate.is_positive
    ]
    if len(rated) != 2 or rated[0][0].facts.get("steps") != rated[1][0].facts.get("steps"):
        return
    (_, slow), (_, fast) = sorted(rated, key=lambda own: own[1].value)
    times = fast.value / slow.value
    if is_number(times) and times >= 1.3 and rated[0][0].facts.get("steps"):
        yield finding("apart-dynamics", slow=slow, fast=fast, times=times).explanation


MOSTLY_BUSY, LEAST_WALL_S = 0.8, 10.0


@rule
def waiting_simulations(report: Report) -> Iterator[str]:
    """A note on a simulation whose process had a CPU for less of the time than it took."""
    cpu, wall = (report.facts.get(name) for name in ("cpu_of_run_s", "wall_of_run_s"))
    if not (is_number(cpu) and is_number(wall)) or wall < LEAST_WALL_S:
        return
    if 0 < cpu < MOSTLY_BUSY * wall:
        words = {"cpu": cpu, "wall": wall, "line": report.facts["end_of_run_line"]}
        yield finding("simulation-waits", words, part=1 - cpu / wall).explanation


WRITES = 0.15  # of the printed times


@rule
def writing_models(report: Report) -> Iterator[Finding]:
    """A model (WRF) that spends a good part of its time with writing files."""
    if report.tool != "wrf":
        return
    steps = [own for own in report.results if own.name.startswith("step ")]
    writes = [own for own in report.results if own.name.startswith("writing ")]
    whole, written = (sum(own.value for own in several) for several in (steps, writes))
    if writes and len(steps) > len(writes) and written >= WRITES * (whole + written):
        most = max(writes, key=lambda own: own.value)
        words = {"most": most, "count": len(writes), "written": written, "whole": whole + written}
        yield finding("mostly-writes", words, part=written / (whole + written))
