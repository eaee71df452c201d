"""Whether a claim that was reproduced holds through an artefact only.

The points that a claim compares may carry findings that invalidate or bias them. Where such a
finding tells the factor of a point (seen ÷ honest, of the rate), the point's times are multiplied
by it and the claim is estimated anew from the same blocks: what no longer holds held through the
artefact. Where a finding tells one factor for several points, the strongest or their middle, it can
only say that the claim may not hold without it. A finding about a comparison of two sides says
nothing of a claim whose points are all on one side. Error: a factor is taken as it is, its own
uncertainty is not in the interval.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchbook.detect.detectors import above_ceiling
from benchbook.estimands import Estimate, names_of
from benchbook.judge.resolved_claim import MEASURES, ResolvedClaim, estimate

EFFECTS = ("invalidates", "biases")  # the graver first
ONLY, UNDECIDED, UNKNOWN = "only", "undecided", "unknown"


@dataclass
class Blamed:
    """One artefact at the points of one claim: their own factors, those of findings about several
    points, the points of which no factor is known, and all that it invalidates or biases."""

    artefact: str
    effect: str = "biases"
    own: dict[str, float] = field(default_factory=dict)
    shared: dict[str, float] = field(default_factory=dict)
    unknown: set[str] = field(default_factory=set)
    marked: set[str] = field(default_factory=set)

    @property
    def has_points(self) -> bool:
        """Whether it does something to a point."""
        return bool(self.own or self.shared or self.unknown)


@dataclass(frozen=True)
class Part:
    """How a claim rests on some artefacts.

    kind: `only` (without them the claim is not reproduced), `undecided` (whether it would be stays
    open), `unknown` (nothing tells how it would be). `without` is the estimate without them, None
    where there is none. Where their factor is not told of each point alone, `points` are those that
    they touch, `effect` is what they do to them, and `factor` the largest, None if it is unknown.
    """

    kind: str
    artefacts: list[str]
    without: Estimate | None = None
    points: int | None = None
    effect: str | None = None
    factor: float | None = None

    def as_json(self) -> dict[str, Any]:
        """By name; the estimate as its value and its interval."""
        made = self.without
        return dict(vars(self)) | {
            "without": made and made.value,
            "interval": made and [made.low, made.high],
        }


def dependence(
    resolved: ResolvedClaim, findings: Iterable[dict[str, Any]]
) -> dict[str, Any] | None:
    """{kind, artefacts, without, interval, parts} of a reproduced claim that rests on an artefact:
    all artefacts, the rest as of the gravest part. None where it holds without them too.

    `findings` are those of the claim's experiment. Each artefact is taken out alone: two at one
    point may be two words for one factor. What biases all compared points alike, by factors that
    are not known of each, blames nobody. Nor do the artefacts that the claim is `about`: it says
    that they are there. For the same reason a share that a removed cause explains is never one that
    rests on it.
    """
    if resolved.estimand["kind"] == "explained_share" or resolved.missing:
        return None
    points = names_of(resolved.used)
    blamed = blame(points, _but_those_told(resolved.claim.about, points, findings))
    parts = [
        part
        for names, factors in _exact(blamed)
        if (part := _taken_out(resolved, names, factors)) is not None
    ]
    unknown: dict[tuple[frozenset[str], str], list[str]] = {}
    for artefact in blamed:
        alike = artefact.effect == "biases" and artefact.marked >= set(points)
        if artefact.unknown and not alike:
            key = (frozenset(artefact.unknown), artefact.effect)
            unknown.setdefault(key, []).append(artefact.artefact)
        elif artefact.shared and not alike and (part := _shared(resolved, artefact)) is not None:
            parts.append(part)
    parts += [
        Part(UNKNOWN, names, points=len(at), effect=effect)
        for (at, effect), names in unknown.items()
    ]
    if not parts:
        return None
    parts.sort(key=lambda part: (ONLY, UNDECIDED, UNKNOWN).index(part.kind))
    as_json = [part.as_json() for part in parts]
    artefacts = list(dict.fromkeys(name for part in parts for name in part.artefacts))
    gravest = {key: as_json[0][key] for key in ("kind", "without", "interval")}
    return gravest | {"artefacts": artefacts, "parts": as_json}


def _but_those_told(
    about: Sequence[str], points: Sequence[str], findings: Iterable[dict[str, Any]]
) -> list[dict[str, Any]]:
    """The findings but those of these artefacts, and but rates that cannot be at their points."""
    every = list(findings)
    places = {
        where for finding in every if finding["artefact"] in about for where in finding["where"]
    }

    def is_told(finding: dict[str, Any]) -> bool:
        if finding["artefact"] == above_ceiling.ARTEFACT.id:
            return set(finding["where"]) & set(points) <= places
        return finding["artefact"] in about

    return [finding for finding in every if not is_told(finding)]


def blame(points: Sequence[str], findings: Iterable[dict[str, Any]]) -> list[Blamed]:
    """The artefacts that invalidate or bias any of these points, the graver effect first."""
    by_name: dict[str, Blamed] = {}
    for finding in findings:
        at = [point for point in points if point in finding["where"]]
        if finding["effect"] not in EFFECTS or not at or not _crosses_sides(points, finding):
            continue
        blamed = by_name.setdefault(finding["artefact"], Blamed(finding["artefact"]))
        blamed.marked |= set(at)
        if finding["effect"] == "invalidates":
            blamed.effect = "invalidates"
        whole, single = finding["factor"], finding.get("factors") or {}
        if len(finding["where"]) == 1:
            single = {at[0]: whole} | single
        for point in at:
            if (own := single.get(point)) and own > 0:
                blamed.own[point] = own
            elif whole and whole > 0:
                blamed.shared[point] = whole
            else:
                blamed.unknown.add(point)
    for blamed in by_name.values():
        blamed.shared = {
            point: factor for point, factor in blamed.shared.items() if point not in blamed.own
        }
        blamed.unknown -= blamed.own.keys() | blamed.shared.keys()
    guilty = [blamed for blamed in by_name.values() if blamed.has_points]
    causes = [blamed for blamed in guilty if blamed.artefact != above_ceiling.ARTEFACT.id]
    explained = set().union(*(blamed.marked for blamed in causes if blamed.effect == "invalidates"))
    symptom = by_name.get(above_ceiling.ARTEFACT.id)
    if symptom and symptom.marked <= explained:
        guilty = causes  # a rate that cannot be is what they made, and no further cause
    return sorted(guilty, key=lambda blamed: (EFFECTS.index(blamed.effect), blamed.artefact))


def _crosses_sides(points: Sequence[str], finding: dict[str, Any]) -> bool:
    """Whether these points are on two sides of the comparison that the finding is about; true of a
    finding that is about no comparison."""
    sides = finding.get("sides") or []
    return not sides or sum(not set(side).isdisjoint(points) for side in sides) > 1


def _exact(blamed: Iterable[Blamed]) -> list[tuple[list[str], dict[str, float]]]:
    """Artefacts with their factors, where these are known of each point; those that take the same
    factors out are one with two names."""
    names: dict[tuple[tuple[str, float], ...], list[str]] = {}
    for artefact in blamed:
        if artefact.own and not artefact.shared and not artefact.unknown:
            names.setdefault(tuple(sorted(artefact.own.items())), []).append(artefact.artefact)
    return [(artefacts, dict(factors)) for factors, artefacts in names.items()]


def _without(resolved: ResolvedClaim, factors: dict[str, float]) -> tuple[Estimate | None, str]:
    """The claim's estimate with these factors, by point, taken out of the times, and its verdict by
    the interval alone; nothing left to estimate does not hold."""
    summaries = resolved.run.summaries
    by_row = summaries["point"].map(factors).fillna(1.0)
    honest = {column: summaries[column] * by_row for column in MEASURES.values()}
    table = summaries.assign(**honest)
    made = estimate(resolved.claim, resolved.used, table, max(resolved.intervals, 1))
    if made is None:
        return None, "not_reproduced"
    return made, resolved.claim.holds(made.low, made.high)


def _taken_out(resolved: ResolvedClaim, names: list[str], factors: dict[str, float]) -> Part | None:
    """What is left of the claim without these; None where it holds all the same."""
    made, verdict = _without(resolved, factors)
    if verdict == "reproduced":
        return None
    return Part(ONLY if verdict == "not_reproduced" else UNDECIDED, names, made)


def _shared(resolved: ResolvedClaim, blamed: Blamed) -> Part | None:
    """That it may not hold without an artefact whose factor is told of several points at once."""
    made, verdict = _without(resolved, blamed.shared | blamed.own)
    if verdict == "reproduced":
        return None
    largest = max(blamed.shared.values(), key=lambda factor: max(factor, 1 / factor))
    touched = len(blamed.shared)
    return Part(UNDECIDED, [blamed.artefact], made, touched, blamed.effect, largest)
