"""Steps in kept comparisons of commits: the commit before a step against the one after it."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from pathlib import Path

from benchbook.ab.revisions import RevisionPair, of_revisions
from benchbook.ab.rounds import Limits, measure
from benchbook.core.errors import BenchbookError
from benchbook.history.confirmation import Confirmation, Job, Key, Outcome, Outcomes, outcome_of
from benchbook.history.series import FoundStep, Series

EQUAL_MOST = 0.01


def jobs(root: Path, series: Sequence[Series]) -> tuple[Outcomes, list[Job]]:
    """What can be said of steps without a measurement, and how the others are measured."""
    outcomes: Outcomes = {}
    to_measure: list[Job] = []
    for number, item in enumerate(series):
        for index, found in enumerate(item.steps):
            key = (number, index)
            commits = _commits(found)
            if isinstance(commits, Confirmation):
                outcomes[key] = commits
            else:
                to_measure.append(_job(root, key, found, commits))
    return outcomes, to_measure


def _commits(found: FoundStep) -> RevisionPair | Confirmation:
    """The commits before and after the step with what builds and runs them, or why there are none
    to compare. Both are held against the same commit, so that a step is theirs."""
    before, after = found.before.revisions, found.after.revisions
    if before is None or after is None:
        return Confirmation(Outcome.NO_COMMITS)
    if before == after:
        return Confirmation(Outcome.SAME_PROGRAM)
    if (before.build, before.command) != (after.build, after.command):
        return Confirmation(Outcome.COMMAND_CHANGED)
    if before.commits[0] != after.commits[0]:
        about = {"before": before.commits[0], "after": after.commits[0]}
        return Confirmation(Outcome.REFERENCE_CHANGED, about=about)
    return RevisionPair((before.commits[1], after.commits[1]), after.build, after.command)


def _job(root: Path, key: Key, found: FoundStep, pair: RevisionPair) -> Job:
    size = abs(math.log(found.step.ratio))
    equal = min(
        EQUAL_MOST, math.expm1(size / 2)
    )  # so that it goes on while half of the step may be

    def measured(budget_s: float, lock: int) -> Outcomes:
        del lock  # `ab` holds it by this process
        limits = Limits(budget_s, equal=equal)
        words, commits = list(pair.command), list(pair.commits)
        try:
            with of_revisions(
                commits, pair.build, words, root.absolute(), found.after.metric
            ) as case:
                outcome = measure(case, limits, random.Random()).outcome
        except BenchbookError as why:
            return {key: Confirmation(Outcome.CANNOT_RUN, about={"reason": str(why)})}
        return {
            key: Confirmation(
                outcome_of(found.step, outcome.factor),
                outcome.factor,
                outcome.null,
                outcome.rounds,
            )
        }

    return Job([key], size, measured)
