"""`benchbook compare A B`: two runs, hosts or presets, point by point.

Conclusions and reasons are codes; benchbook/report/compare_sentences.py writes their sentences.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchbook.compare.differing import Difference, differences
from benchbook.compare.matched import ComparedExperiment, compared
from benchbook.compare.sides import Side, read_side
from benchbook.core import number_format
from benchbook.core.errors import BenchbookError


@dataclass(frozen=True)
class Comparison:
    """Two sides, the experiments that both measured, and what differs apart from the times."""

    a: Side
    b: Side
    experiments: list[ComparedExperiment]
    differences: list[Difference]

    def only(self, side: Side) -> list[str]:
        """The experiments that only this side measured."""
        shared = {experiment.name for experiment in self.experiments}
        return [name for name in side.experiments if name not in shared]


def compare(root: Path, a: str, b: str) -> Comparison:
    """The comparison of the sides that two names mean. BenchbookError without a common
    experiment."""
    sides = read_side(root, a), read_side(root, b)
    ours, theirs = (side.experiments for side in sides)
    shared = [name for name in ours if name in theirs]
    if not shared:
        raise BenchbookError(
            f"{a} has {number_format.listed(list(ours))}, {b} has "
            f"{number_format.listed(list(theirs))}: no experiment is in both; measure one of them "
            "on the other side"
        )
    experiments = [compared(ours[name], theirs[name]) for name in shared]
    return Comparison(*sides, experiments, differences(*sides))
