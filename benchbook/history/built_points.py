"""Steps of an experiment's points, and the binaries of the runs before and after each."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from benchbook.core.errors import BenchbookError
from benchbook.core.files import read_json
from benchbook.define import catalogue, peers
from benchbook.define.points import Point
from benchbook.history.confirmation import Confirmation, Job, Key, Outcome, Outcomes
from benchbook.history.paired_starts import PairedStart, settings_of_run
from benchbook.history.series import RUNS, FoundStep, Series, experiment_of
from benchbook.host import facts, memory
from benchbook.host.topology import read_topology
from benchbook.plan.plan import why_not_now
from benchbook.records import journal

BUILT = Path("build")


@dataclass(frozen=True)
class _Binary:
    """A binary of a run, as its plan names it; `commit` is empty where the plan names none."""

    run: str
    commit: str
    sha256: str
    file: Path

    def problem(self, root: Path) -> Confirmation | None:
        """Why it cannot be started; None where it can."""
        about = {"file": str(self.file), "run": self.run, "commit": self.commit}
        if not (root / self.file).is_file():
            return Confirmation(Outcome.BINARY_GONE, about=about)
        if _sha256(root / self.file) != self.sha256:
            return Confirmation(Outcome.BINARY_CHANGED, about=about)
        return None


@cache
def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


@dataclass(frozen=True)
class _Builds:
    """The binaries of a point before and after a step."""

    point: Point
    before: _Binary
    after: _Binary


def jobs(
    root: Path, host: str, subject: str, series: Sequence[Series]
) -> tuple[Outcomes, list[Job]]:
    """What can be said of steps without a measurement, and how the others are measured: points that
    share a start of the program, and whose steps are between the same two runs, together."""
    experiment, _ = experiment_of(root, subject)
    content = catalogue.definition(root, experiment)
    folder = root / RUNS / host / experiment
    outcomes: Outcomes = {}
    starts: dict[tuple[Any, ...], PairedStart] = {}
    keys: dict[tuple[Any, ...], dict[str, Key]] = {}
    for number, item in enumerate(series):
        for index, found in enumerate(item.steps):
            try:
                builds = _builds(root, folder, content, item.name, found)
            except BenchbookError as why:
                builds = Confirmation(Outcome.CANNOT_RUN, about={"reason": str(why)})
            if isinstance(builds, Confirmation):
                outcomes[number, index] = builds
                continue
            shared = (found.before.run, found.after.run, *builds.point.start(content["starts"]))
            if shared not in starts:
                starts[shared] = _start(root, content, folder / found.after.run, builds)
                keys[shared] = {}
            starts[shared].points[item.name] = builds.point
            starts[shared].steps[item.name] = found.step
            keys[shared][item.name] = (number, index)
    return outcomes, [_job(start, keys[shared]) for shared, start in starts.items()]


def _start(root: Path, content: dict[str, Any], run: Path, builds: _Builds) -> PairedStart:
    before, after = root / builds.before.file, root / builds.after.file
    return PairedStart(
        root=root,
        content=content,
        run=run,
        plan=read_json(run / journal.PLAN),
        binaries={"before": before, "again": before, "after": after},
        points={},
        steps={},
    )


def _job(start: PairedStart, keys: dict[str, Key]) -> Job:
    def measured(budget_s: float, lock: int) -> Outcomes:
        try:
            results = start.confirmations(budget_s, lock)
        except BenchbookError as why:
            failed = Confirmation(Outcome.CANNOT_RUN, about={"reason": str(why)})
            return dict.fromkeys(keys.values(), failed)
        return {keys[name]: confirmation for name, confirmation in results.items()}

    size = max(abs(math.log(step.ratio)) for step in start.steps.values())
    return Job(list(keys.values()), size, measured)


def _builds(
    root: Path, folder: Path, content: dict[str, Any], name: str, found: FoundStep
) -> _Builds | Confirmation:
    """The binaries before and after the step, or why they cannot be measured."""
    entries = (found.before, found.after)
    plans = [read_json(folder / entry.run / journal.PLAN) for entry in entries]
    point = next(Point.of_record(record) for record in plans[1]["points"] if record["id"] == name)
    before, after = (
        _binary(plan, entry.run, point) for plan, entry in zip(plans, entries, strict=True)
    )
    if before.sha256 == after.sha256:
        return Confirmation(Outcome.SAME_PROGRAM)
    if point.variant in peers.of(content):
        return Confirmation(Outcome.NOT_OURS, about={"variant": point.variant})
    if problem := before.problem(root) or after.problem(root):
        return problem
    if reason := _why_not_now(root, content, plans[1], point):
        return Confirmation(Outcome.CANNOT_RUN, about={"reason": reason})
    return _Builds(point, before, after)


def _binary(plan: dict[str, Any], run: str, point: Point) -> _Binary:
    sha256 = plan["binaries"].get(f"{point.variant}~{point.twin}", {}).get("sha256")
    if not sha256:
        raise BenchbookError(f"run {run} does not name its binary of {point.variant}")
    commit = (plan.get("benchbook") or {}).get("commit") or ""
    file = BUILT / plan["experiment"] / point.variant / sha256[:16]
    return _Binary(run, commit, sha256, file)


def _why_not_now(root: Path, content: dict[str, Any], plan: dict[str, Any], point: Point) -> str:
    """Why this host cannot start the point at the moment; empty where it can."""
    if tracer := facts.tracer():
        return facts.TRACED.format(tracer)
    usable = len(read_topology().cpus)
    available = memory.memory_available_bytes().bytes
    return why_not_now(root, point, content, settings_of_run(plan, content), usable, available)
