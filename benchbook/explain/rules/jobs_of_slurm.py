"""thread-scaling, waiting, inconsistent-report: what jobs of Slurm used of the cores and the memory
that they had, by seff, reportseff and sacct."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchbook.explain.model import Report, Result
from benchbook.explain.results import grouped
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

TOOL = "slurm"
LOW = 50.0  # per cent of the CPU time of all cores
LEAST_S = 30.0
LEAST_CORES = 2
LIKE = (0.8, 1.05)  # cores that were busy ÷ those of one node
ALONE = (0.7, 1.1)
Job = Mapping[str, Result]


@rule
def idle_cores(reports: Sequence[Report]) -> Iterator[Finding]:
    """Jobs that had several cores and used few of them.

    Decided by the CPU time over the elapsed time and the number of cores.
    """
    for job in _jobs(reports):
        cores, elapsed, cpu = _cores(job), job.get("elapsed time"), job.get("CPU time")
        if elapsed is None or cpu is None or elapsed.value < LEAST_S or cores < LEAST_CORES:
            continue
        busy = cpu.value / elapsed.value
        share = 100 * busy / cores
        if not 0 < share < LOW:
            continue
        nodes = int(job["nodes"].value) if "nodes" in job else 1
        words: dict[str, Any] = {"elapsed": elapsed, "cpu": cpu, "cores": cores, "busy": busy}
        words |= {"share": share, "nodes": nodes, "each": cores / nodes, "why": "few"}
        if nodes > 1 and LIKE[0] <= busy / (cores / nodes) <= LIKE[1]:
            words["why"] = "one_node"
        elif ALONE[0] <= busy <= ALONE[1]:
            words["why"] = "one_core"
        yield finding("idle-cores-of-job", words, about=[cpu, elapsed])
        return


@rule
def waiting_job(reports: Sequence[Report]) -> Iterator[Finding]:
    """A job of one core whose CPU time is far below its elapsed time."""
    for job in _jobs(reports):
        elapsed, cpu = job.get("elapsed time"), job.get("CPU time")
        if elapsed is None or cpu is None or _cores(job) != 1 or elapsed.value < LEAST_S:
            continue
        share = 100 * cpu.value / elapsed.value
        if 0 <= share < LOW:
            words = {"elapsed": elapsed, "cpu": cpu, "share": share}
            yield finding("waiting-job", words, about=[cpu, elapsed])
            return


@rule
def memory_of_jobs(reports: Sequence[Report]) -> Iterator[Finding]:
    """More memory than a job was given, and two figures of it that differ."""
    by_name: dict[object, list[Result]] = {}
    for report in reports if any(own.tool == TOOL for own in reports) else ():
        for own in report.called("memory efficiency") if report.tool == TOOL else ():
            by_name.setdefault(own.of.get("label"), []).append(own)
    for shares in by_name.values():
        above = [own for own in shares if own.value > 100]
        if above:
            other = next((own for own in shares if own.value <= 100), None)
            yield finding("memory-above-limit", share=above[0], other=other)
            return


def _cores(job: Job) -> int:
    """How many cores a job had; 0 where that is not known."""
    if "cores" in job:
        return int(job["cores"].value)
    if "cores per node" in job:
        return int(job["cores per node"].value * (job["nodes"].value if "nodes" in job else 1))
    return 0


def _jobs(reports: Sequence[Report]) -> Iterator[Job]:
    """The figures of each job by their names; steps of it are left out."""
    for report in reports:
        if report.tool != TOOL:
            continue
        for label, several in grouped(report.results, lambda own: own.of.get("label")).items():
            if "." not in str(label):
                yield {own.name: own for own in several}
