"""The series of each measurement: one value per complete run of this host, oldest first."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchbook.ab.programs import Metric
from benchbook.ab.revisions import RevisionPair
from benchbook.analyse.bare_run import read_bare_run
from benchbook.compare.differing import Difference, facts_differences
from benchbook.core.errors import BenchbookError
from benchbook.define import catalogue
from benchbook.define.points import expand
from benchbook.history.confirmation import Confirmation, Outcome
from benchbook.history.steps import CERTAIN, Step, steps
from benchbook.host.facts import host_id
from benchbook.records import journal, seal

RUNS = Path("data/runs")
KEPT = Path("data/ab")  # comparisons of `benchbook ab --keep`, a file for each name
AB = "ab:"


@dataclass(frozen=True)
class Entry:
    """One run: its name, which begins with its time, the value (ns, or of `ab` a ratio of costs),
    how many starts it is the median of, and what is known of machine and programs. Of `ab` also
    the commits, if it compared commits, and the figure, if one was compared."""

    run: str
    value: float
    starts: int
    facts: dict[str, Any]
    revisions: RevisionPair | None = None
    metric: Metric | None = None


@dataclass(frozen=True)
class FoundStep:
    """A step, the runs before and after it, what else changed between these two, and what measuring
    both again showed, if that was wanted."""

    step: Step
    before: Entry
    after: Entry
    changes: list[Difference]
    confirmation: Confirmation | None = None

    @property
    def alarms(self) -> bool:
        """Whether something is slower, confirmed by a fresh measurement."""
        confirmation = self.confirmation
        is_confirmed = confirmation and confirmation.outcome == Outcome.CONFIRMED
        return bool(is_confirmed) and self.step.ratio > 1


@dataclass(frozen=True)
class Series:
    """A measurement by its point (or the name of an `ab`), its runs, and its steps."""

    name: str
    unit: str
    entries: list[Entry]
    steps: list[FoundStep] = field(default_factory=list)


def history(root: Path, host: str, subject: str, certainty: float = CERTAIN) -> list[Series]:
    """The series of an experiment, of a figure as PAPER/FIGURE, or of `ab:NAME`, with their steps.

    BenchbookError where there is no run of it on this host. A damaged run is left out.
    """
    if subject.startswith(AB):
        collected = {subject: list(_kept(root, host, subject.removeprefix(AB)))}
        unit = "times as long"
    else:
        experiment, settings = experiment_of(root, subject)
        content = catalogue.definition(root, experiment)
        collected = _by_point(root / RUNS / host / experiment, content, settings)
        unit = "ns"
    if not any(collected.values()):
        raise BenchbookError(
            f"{subject} has no complete run on this host; measure it first (`snakemake`), or "
            "see `benchbook plan` for what can be measured"
        )
    return [
        Series(name, unit, runs, _steps(runs, certainty))
        for name, runs in collected.items()
        if runs
    ]


def experiment_of(root: Path, subject: str) -> tuple[str, list[dict[str, Any]] | None]:
    """The experiment, and the settings that a figure shows; None of an experiment itself."""
    paper, _, name = subject.partition("/")
    if not name:
        if subject not in catalogue.experiments(root):
            raise BenchbookError(
                f"{subject!r} is no experiment; name one of "
                f"{', '.join(catalogue.experiments(root))}, PAPER/FIGURE or ab:NAME"
            )
        return subject, None
    figures = {figure["id"]: figure for figure in catalogue.paper(root, paper)["figures"]}
    if name not in figures:
        raise BenchbookError(f"{paper} has no figure {name!r}; name one of {', '.join(figures)}")
    return figures[name]["experiment"], catalogue.shown_settings(figures[name])


def _by_point(
    folder: Path, content: dict[str, Any], settings: list[dict[str, Any]] | None
) -> dict[str, list[Entry]]:
    """The series of all points, or of those of the settings."""
    collected: dict[str, list[Entry]] = {}
    for run in sorted(folder.glob("*/")):
        if run.name.endswith(catalogue.SETTLING) or not (run / journal.MANIFEST).exists():
            continue
        if seal.damage(run) is not None:
            continue
        bare = read_bare_run(run)
        facts = _facts(bare.plan)
        summaries = bare.summaries
        if settings is not None:
            shown, _ = expand(content, settings, bare.plan["sizes"])
            summaries = summaries[summaries["point"].isin([point.id for point in shown])]
        for point, rows in summaries.groupby("point"):
            values = rows["median_ns"]
            entry = Entry(run.name, float(values.median()), len(values), facts)
            collected.setdefault(str(point), []).append(entry)
    return collected


def _facts(plan: dict[str, Any]) -> dict[str, Any]:
    """What may explain a step: the host's facts, the programs, and Benchbook itself."""
    return {
        **plan["host_facts"],
        "libc contents": plan.get("libc"),
        "binaries": {name: binary["sha256"][:12] for name, binary in plan["binaries"].items()},
        "benchbook": plan.get("benchbook"),
        "door": plan["door"],
    }


def _kept(root: Path, host: str, name: str) -> Iterator[Entry]:
    """The kept comparisons of that name which were made on this host."""
    path = root / KEPT / f"{name}.jsonl"
    if not path.exists():
        return
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            content = json.loads(line)
            if host_id(content["facts"]) == host:
                yield _kept_entry(content)
        except (ValueError, KeyError, TypeError):
            raise BenchbookError(
                f"{path}: line {number} is damaged; remove that line and run again"
            ) from None


def _kept_entry(content: dict[str, Any]) -> Entry:
    revisions, pattern = content.get("revisions"), content.get("metric")
    return Entry(
        content["at"],
        content["factor"]["ratio"],
        len(content["rounds"]),
        content["facts"],
        RevisionPair.of_json(revisions) if revisions else None,
        Metric(pattern, bool(content.get("higher_is_better"))) if pattern else None,
    )


def _steps(entries: list[Entry], certainty: float) -> list[FoundStep]:
    found = []
    for step in steps([entry.value for entry in entries], certainty):
        before, after = entries[step.at - 1], entries[step.at]
        changes = facts_differences(before.facts, after.facts)
        found.append(FoundStep(step, before, after, changes))
    return found
