"""Why a verdict is what it is, as a code with parameters.

The sentences are written in benchbook/report/reasons.py, from what `as_json` gives.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Code(StrEnum):
    """The kinds of reasons, with the parameters that each has."""

    # The interval and the region that counts as holding; where it is wider for it, as of
    # SMALL_EFFECT, `widened_by` is the factor by which the same binary measured twice differs, and
    # `waited` the share of its time that a program waited for a CPU.
    WITHIN = "within_region"
    OUTSIDE = "outside_region"
    OVER_THE_EDGE = "over_the_edge"
    # What leaves a claim undecided although there is an interval.
    SMALL_EFFECT = "small_effect"  # factor, smallest, limit (own, a_a or relinked)
    NO_TWIN = "no_twin"
    PROCESSES_APART = "processes_apart"  # point, overlap
    # No block to estimate from.
    NO_FACTOR = "no_factor"
    NO_COMMON_BLOCK = "no_common_block"
    # Points that a claim rests on and that this host does not have.
    SIZE_UNKNOWN = "size_unknown"
    NOT_IN_PRESET = "not_in_preset"  # point, of a fact none
    POINT_MISSING = "point_missing"  # point, why
    EMULATED = "emulated"  # point, why
    BEHIND_A_LOST_TWIN = "behind_a_lost_twin"  # of a step in a chain of twins
    # Facts.
    NO_CHECK = "no_check"  # table, rule
    NUMBERS_AGREE = "numbers_agree"  # agree, of
    STATED = "stated"  # text: what the evidence or paper.yaml says


@dataclass(frozen=True)
class Reason:
    """A code and its parameters, which JSON can hold."""

    code: Code
    parameters: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """{code, and the parameters by name}."""
        return {"code": str(self.code), **self.parameters}


class Unpaired(StrEnum):
    """Why two measured points have no ratio; beyond these, a point's own state says it."""

    NOT_ACCEPTED = "not_accepted"  # the peer does not take this setting
    NO_BLOCK = "no_block"  # none holds both in one machine state
