"""Measure before and after each step next to each other now, the largest steps first."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from benchbook.core.processes import measuring_lock
from benchbook.history import built_points, kept_commits
from benchbook.history.confirmation import Confirmation, Job, Outcome, Outcomes
from benchbook.history.series import AB, Series

LEAST_S = 5.0  # for a further step; with less it is not tried


def confirmed(
    root: Path,
    host: str,
    subject: str,
    series: Sequence[Series],
    budget_s: float,
    say: Callable[[str], None],
) -> list[Series]:
    """The series with a confirmation at each step; waits for other measurements on this host.

    `budget_s`: for all steps together. `say` gets a sentence where it has to wait.
    """
    if subject.startswith(AB):
        outcomes, jobs = kept_commits.jobs(root, series)
    else:
        outcomes, jobs = built_points.jobs(root, host, subject, series)
    if jobs:
        with measuring_lock(f"history {subject}", root.absolute(), say) as lock:
            outcomes |= _measured(jobs, budget_s, lock)
    return [
        replace(
            item,
            steps=[
                replace(found, confirmation=outcomes[number, index])
                for index, found in enumerate(item.steps)
            ],
        )
        for number, item in enumerate(series)
    ]


def _measured(jobs: Sequence[Job], budget_s: float, lock: int) -> Outcomes:
    """The jobs, the largest first, each with its share of the time that is there by then."""
    outcomes: Outcomes = {}
    until = time.monotonic() + budget_s
    for number, job in enumerate(sorted(jobs, key=lambda job: -job.size)):
        left_s = until - time.monotonic()
        if number and left_s < LEAST_S:
            outcomes |= dict.fromkeys(job.steps, Confirmation(Outcome.NO_TIME))
            continue
        share_s = max(left_s / (len(jobs) - number), min(left_s, LEAST_S))
        outcomes |= job.measure(share_s, lock)
    return outcomes
