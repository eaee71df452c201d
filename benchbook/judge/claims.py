"""Claims -> verdicts by the interval rule, the machine's own null first.

I is the simultaneous interval, R the region that counts as holding: I within R reproduced, I and
R disjoint not reproduced, else inconclusive. Where the same binary measured twice differs, every
interval is wider by that difference; where programs waited for a CPU in most rounds, by what that
may have added to their times.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchbook import stats
from benchbook.analyse.null_tests import furthest, smallest_effect
from benchbook.core.reason_codes import Code, Reason
from benchbook.core.units import RATE
from benchbook.define.points import Point
from benchbook.estimands import Estimate, Known, Roles, kind_of, names_of, published, widened
from benchbook.judge.resolved_claim import MEASURES, Claim, ResolvedClaim, estimate

REPRODUCED, NOT_REPRODUCED = "reproduced", "not_reproduced"
INCONCLUSIVE, NOT_MEASURABLE = "inconclusive", "not_measurable_here"
MOST_WAITED = 0.99  # of its time: what did nothing but wait has an interval all the same
LEAST_OVERLAP = 0.8  # of the time of all processes together, for rates that are added
BY_INTERVAL = {
    REPRODUCED: Code.WITHIN,
    NOT_REPRODUCED: Code.OUTSIDE,
    INCONCLUSIVE: Code.OVER_THE_EDGE,
}


@dataclass(frozen=True)
class Robustness:
    """How many other choices, out of those tried, give the same verdict by the interval alone;
    those with too few blocks for an interval are counted apart."""

    verdict: str
    same: int
    tried: int
    too_few_blocks: int

    def as_json(self) -> dict[str, Any]:
        """The four by name."""
        return dict(vars(self))


@dataclass(frozen=True)
class Verdict:
    """The verdict of one claim: reproduced, not_reproduced, inconclusive or not_measurable_here.

    `interval` is simultaneous over `intervals`, `pointwise` at 95 %, both None without an estimate
    and with None for an open end. `published` are the source's own numbers. `beside`, `price`,
    `elsewhere`, `settled` and `dependence` are what was looked at besides, None where there is
    nothing: the same under other factors, what it would cost to settle it, where it would hold, the
    runs that settled it, the artefacts that it rests on. `resolved` is the claim on the run that
    decided, None of a fact.
    """

    claim: Claim
    verdict: str
    reason: Reason
    points: dict[str, str | list[str] | None] = field(default_factory=dict)
    published: list[float] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    intervals: int = 0
    estimate: float | None = None
    interval: list[float | None] | None = None
    pointwise: list[float | None] | None = None
    blocks: int = 0
    smallest_effect: float | None = None
    notes: dict[str, Any] = field(default_factory=dict)
    robustness: Robustness | None = None
    beside: dict[str, Any] | None = None
    price: dict[str, Any] | None = None
    elsewhere: dict[str, Any] | None = None
    settled: dict[str, Any] | None = None
    dependence: dict[str, Any] | None = None
    resolved: ResolvedClaim | None = None

    def as_json(self) -> dict[str, Any]:
        """As paper.json has it: the claim, and the reason by its code."""
        estimand = self.claim.estimand
        own = {name: value for name, value in vars(self).items() if name not in _BY_OTHER_NAMES}
        return {
            "claim": self.claim.id,
            "kind": estimand["kind"],
            "unit": kind_of(estimand).unit(estimand),
            "shown_in": estimand.get("unit", ""),
            **{key: getattr(self.claim, key) for key in _OF_CLAIM},
            **own,
            "reason": self.reason.as_json(),
            "robustness": self.robustness and self.robustness.as_json(),
            "through": self.dependence,
        }


_OF_CLAIM = ("text", "region", "region_reason", "scope", "statistic", "requires", "repeats")
_BY_OTHER_NAMES = ("claim", "reason", "robustness", "dependence", "resolved")


def judge_claim(
    resolved: ResolvedClaim,
    null: dict[str, Any],
    printed: dict[str, list[float]] | None = None,
    quantity: str = RATE,
) -> Verdict:
    """The verdict of a claim on measured points.

    `null` is the twins', `printed` the source's cells by point, which are rates or, as `quantity`
    says, times in ns.
    """
    verdict = Verdict(
        claim=resolved.claim,
        verdict=NOT_MEASURABLE,
        reason=resolved.missing or _no_block(resolved.estimand),
        points={role: _ids(resolved.estimand, own) for role, own in resolved.roles.items()},
        published=published(resolved.estimand, resolved.roles, printed or {}, quantity),
        left_out=resolved.left_out,
        intervals=resolved.intervals,
        resolved=resolved,
    )
    if resolved.missing:
        return verdict
    if resolved.estimate is None:
        return replace(verdict, verdict=INCONCLUSIVE)
    decided = outcome(resolved, resolved.estimate, null)
    made, reason = decided.estimate, decided.reason
    if resolved.left_out:
        counts = {"points": len(names_of(resolved.used)), "of": len(names_of(resolved.roles))}
        reason = replace(reason, parameters=reason.parameters | counts)
    return replace(
        verdict,
        verdict=decided.verdict,
        reason=reason,
        estimate=_number(made.value),
        interval=[_number(made.low), _number(made.high)],
        pointwise=[_number(made.low95), _number(made.high95)],
        blocks=len(made.values),
        smallest_effect=_number(_smallest(made, null).ratio),
        notes=made.notes,
        robustness=robustness(resolved),
    )


class Outcome(NamedTuple):
    """A verdict with its reason, and the estimate whose interval, widened, gave it."""

    verdict: str
    reason: Reason
    estimate: Estimate


def outcome(resolved: ResolvedClaim, made: Estimate, null: dict[str, Any]) -> Outcome:
    """The verdict of a claim on its estimate `made`, at the level of that and of the twins'
    `null`."""
    made, widening = _beside_null(resolved.estimand, made, null)
    waited = waited_fraction(resolved)
    if waited:
        lost = min(waited * _parties(resolved), MOST_WAITED)
        made = widened(resolved.estimand, made, -math.log1p(-lost))
    verdict, reason = _decided(resolved.claim, made, null)
    said = {"widened_by": widening, "waited": waited}
    reason = replace(reason, parameters=reason.parameters | {k: v for k, v in said.items() if v})
    if apart := _processes_apart(resolved.used, resolved.run.known):
        return Outcome(INCONCLUSIVE, apart, made)
    return Outcome(verdict, reason, made)


def judge_fact(claim: Claim, facts: dict[str, Any]) -> Verdict:
    """The verdict of a claim about a fact, such as a limit of the linker: a number without noise.

    `facts`: {limits, trials} of the evidence, {audit} of the paper, {content} of the experiment's
    definition, {sizes, points} of the run.
    """
    fact = kind_of(claim.estimand).look(claim.estimand, facts)
    if fact.value is None:
        return Verdict(claim, NOT_MEASURABLE, fact.reason)
    ends = [fact.value, fact.value]
    return Verdict(
        claim,
        claim.holds(*ends),
        fact.reason,
        estimate=fact.value,
        interval=ends,
        pointwise=ends,
    )


def _processes_apart(roles: Roles, points: Known) -> Reason | None:
    """Why rates of processes cannot be added: they did not run at the same time."""
    for name in names_of(roles):
        overlap = points[name].get("observations", {}).get("overlap_fraction")
        if overlap is not None and overlap < LEAST_OVERLAP:
            return Reason(Code.PROCESSES_APART, {"point": name, "overlap": overlap})
    return None


def _no_block(estimand: dict[str, Any]) -> Reason:
    if estimand["kind"] == "explained_share":
        return Reason(Code.NO_FACTOR)
    return Reason(Code.NO_COMMON_BLOCK)


def _beside_null(
    estimand: dict[str, Any], made: Estimate, null: dict[str, Any]
) -> tuple[Estimate, float | None]:
    """The estimate, and the factor by which its interval is wider on each side because the same
    binary measured twice differs by as much here; None where it does not differ."""
    if null["passes"] is not False:
        return made, None
    apart = furthest(null["again"])
    return widened(estimand, made, apart), math.exp(apart)


def waited_fraction(resolved: ResolvedClaim) -> float:
    """The share of its time that the point of a claim which waited longest for a CPU did so in the
    median round; 0 where most rounds were undisturbed. Without the wait it would have taken less
    time by at most that, where it waits for no other program."""
    summaries = resolved.run.summaries
    if "waited_fraction" not in summaries:
        return 0.0
    own = summaries[summaries["point"].isin(names_of(resolved.used))]
    return float(own.groupby("point")["waited_fraction"].median().max())


def _parties(resolved: ResolvedClaim) -> int:
    """How many programs of a point wait for each other, at most. The wait of one is known; those
    of the others look like work, where it spins until they answer."""
    points = [point for points in resolved.used.values() for point in points]
    return max((point.parties for point in points), default=1)


def _decided(claim: Claim, made: Estimate, null: dict[str, Any]) -> tuple[str, Reason]:
    if null["passes"] is None:
        return INCONCLUSIVE, Reason(Code.NO_TWIN)
    verdict = claim.holds(made.low, made.high)
    smallest = _smallest(made, null)
    # Either way the verdict would rest on a difference that nothing may have made.
    # A bound that is no effect itself divides effects: then either verdict rests on one.
    rests = True
    if made.null is not None and made.null not in claim.region:
        holds = claim.holds(made.null, made.null) == REPRODUCED
        rests = verdict == (NOT_REPRODUCED if holds else REPRODUCED)
    if verdict != INCONCLUSIVE and rests and made.effect < smallest.log_effect:
        sizes = {
            "factor": math.exp(made.effect),
            "smallest": smallest.ratio,
            "limit": smallest.limit,
        }
        return INCONCLUSIVE, Reason(Code.SMALL_EFFECT, sizes)
    return verdict, Reason(BY_INTERVAL[verdict])


def robustness(resolved: ResolvedClaim) -> Robustness | None:
    """The verdict under other choices: statistic, disturbed blocks, states, and the other
    variants in which all points were measured. None without an estimate."""
    claim, summaries, primary = resolved.claim, resolved.run.summaries, resolved.estimate
    if primary is None:
        return None
    expected = claim.holds(primary.low, primary.high)
    parts = {"all": summaries, "undisturbed": summaries[~summaries["disturbed"]]}
    parts |= {f"state {state}": part for state, part in summaries.groupby("machine_state")}
    # The same rows under two names are one choice.
    distinct = {tuple(part.index): part for part in parts.values()}
    same, tried, too_few = 0, 0, 0
    for roles in _in_variants(resolved.used, summaries):
        for part in distinct.values():
            for measure in MEASURES.values():
                made = estimate(claim, roles, part, resolved.intervals, measure)
                if made is None or not np.isfinite(made.half_width):
                    too_few += 1
                    continue
                tried += 1
                same += claim.holds(made.low, made.high) == expected
    return Robustness(expected, same, tried, too_few)


def _in_variants(roles: Roles, summaries: pd.DataFrame) -> list[Roles]:
    """The claim's own points, and the same in every other variant in which all were measured."""
    measured = set(summaries["point"])
    own = {point.variant for points in roles.values() for point in points}
    if len(own) > 1:
        return [roles]  # the claim itself compares variants
    names = sorted({point.variant for point in map(Point.of_id, measured) if not point.twin})
    candidates = [with_variant(roles, name) for name in names]
    return [candidate for candidate in candidates if set(names_of(candidate)) <= measured]


def with_variant(roles: Roles, variant: str) -> Roles:
    """The points at the same factors in another variant."""

    def moved(point: Point) -> Point:
        return replace(point, variant=variant)

    return {role: [moved(point) for point in points] for role, points in roles.items()}


def _smallest(made: Estimate, null: dict[str, Any]) -> stats.SmallestEffect:
    return smallest_effect({"half_width": made.half_width}, null)


def _ids(estimand: dict[str, Any], points: list[Point]) -> str | list[str] | None:
    """The one point of a side as paper.yaml has it, or the list."""
    names = [point.id for point in points]
    if estimand["kind"] == "range" or len(names) > 1:
        return names
    return names[0] if names else None


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
