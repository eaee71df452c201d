"""At which level each claim of a figure is decided: Holm's step-down procedure.

Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
Statistics 6 (1979), 65-70. With m intervals in a figure, all claims are first decided at the level
1 - 0.05/m. Where the decided ones held k of these intervals, what is still open is decided at
1 - 0.05/(m - k), and so on until a step decides nothing.

A figure has a wrong verdict with a probability of at most 5 %. Before the first wrong verdict all
decided claims are right. A claim that is rightly decided needs its share no longer: intervals are
nested, so at a lower level it cannot end on the wrong side. Its share is free for those that are
left. Holm's proof does not cover that a verdict can go two ways. J. P. Shaffer ("Control of
directional errors with stagewise multiple test procedures", Annals of Statistics 8 (1980),
1342-1347) proves it for independent estimates. The claims of a figure share points, which
tests/test_verdict_simulation.py simulates.

The interval shown of a claim is that of the step at which it was decided, or of the last step. Its
`intervals` is the divisor of that level; the twins' null, the smallest effect, other choices and
the price use the same one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from benchbook.analyse.null_tests import null_of
from benchbook.judge.claims import INCONCLUSIVE, outcome
from benchbook.judge.resolved_claim import Measured, ResolvedClaim, intervals_of


class Step(NamedTuple):
    """A claim with its estimate at the level of the step that decided it, or of the last step;
    `null` is the twins' at that level."""

    resolved: ResolvedClaim
    null: dict[str, Any]

    @property
    def is_decided(self) -> bool:
        """Whether it is reproduced or not reproduced."""
        made = self.resolved.estimate
        return made is not None and outcome(self.resolved, made, self.null).verdict != INCONCLUSIVE


def step_down(claims: list[ResolvedClaim], run: Measured) -> tuple[list[Step], dict[str, Any]]:
    """Each claim of a figure at its level, in their order; and the twins' null at the first level,
    which is simultaneous over the whole figure."""
    steps, null = _at_level(claims, run, intervals_of(claims))
    while True:
        left = [k for k, step in enumerate(steps) if not (step.resolved.missing or step.is_decided)]
        divisor = intervals_of([claims[k] for k in left])
        if all(steps[k].resolved.intervals == divisor for k in left):
            return steps, null
        again, _ = _at_level([claims[k] for k in left], run, divisor)
        for k, step in zip(left, again, strict=True):
            steps[k] = step


def _at_level(
    claims: list[ResolvedClaim], run: Measured, intervals: int
) -> tuple[list[Step], dict[str, Any]]:
    null = null_of(run.points, run.summaries, intervals)
    return [Step(claim.estimated(intervals), null) for claim in claims], null
