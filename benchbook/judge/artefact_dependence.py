"""Whether a claim that was reproduced holds through an artefact only.

The points that a claim compares may carry findings that invalidate or bias them. Where such a
finding tells the factor of a point (seen ÷ honest, of the rate), the point's times are multiplied
by it and the claim is estimated anew from the same blocks: what no longer holds held through the
artefact. Where a finding tells one factor for several points, the strongest or their middle, it can
only say that the claim may not hold without it. Error: a factor is taken as it is, its own
uncertainty is not in the interval.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from benchbook import stats
from benchbook.core import number_format
from benchbook.detect.detectors import above_ceiling
from benchbook.estimands import Estimate, Roles, is_measured, names_of, roles_of, usable
from benchbook.judge.claims import MEASURES, Verdict, estimate, region_text
from benchbook.judge.verdicts import Measured

# What such a finding says of its point, the graver effect first.
EFFECTS = {"invalidates": "invalidates", "biases": "biases by an unknown factor"}
PLURAL = {"invalidates": "invalidate", "biases": "bias by an unknown factor"}
ONLY, UNDECIDED, UNKNOWN = "only", "undecided", "unknown"
SHARES = ("range", "explained_share")  # kinds whose number is a share
Part = dict[str, Any]


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


@dataclass(frozen=True)
class Case:
    """A claim with the points that it rests on, and the run that decided it."""

    claim: dict[str, Any]
    roles: Roles
    summaries: pd.DataFrame
    intervals: int

    def without(self, factors: dict[str, float]) -> Estimate | None:
        """The claim's estimate with these factors, by point, taken out of the times."""
        by_row = self.summaries["point"].map(factors).fillna(1.0)
        honest = {column: self.summaries[column] * by_row for column in MEASURES.values()}
        return estimate(self.claim, self.roles, self.summaries.assign(**honest), self.intervals)

    def holds(self, found: Estimate | None) -> str:
        """The verdict by the interval alone; nothing left to estimate does not hold."""
        if found is None:
            return "not_reproduced"
        return str(stats.decide(found.low, found.high, *self.claim["region"]))

    def said(self, found: Estimate | None) -> str:
        """`1.1 times (1.0 to 1.2)`, of a share `3.1 %`."""
        if found is None:
            return "nothing is left to estimate"
        if self.claim["estimand"]["kind"] in SHARES:
            return number_format.share(found.value)
        value = number_format.number(found.value, found.low, found.high)
        return f"{value} times ({number_format.interval(found.low, found.high)})"


def through(
    claim: dict[str, Any],
    content: dict[str, Any],
    sizes: dict[str, Any],
    verdict: Verdict,
    run: Measured,
    findings: Iterable[dict[str, Any]],
) -> Part | None:
    """{kind, artefacts, without, interval, words} of a reproduced claim that rests on an artefact.

    kind: `only` (without it the claim is not reproduced), `undecided` (whether it would be stays
    open), `unknown` (nothing tells how it would be). `without` is the estimate without the first of
    the artefacts, None where there is none. None as a whole for a claim that holds without them
    too, was not reproduced, or compares no measured points.

    `content` is the experiment's definition, `run` the one that decided, `findings` of the same
    experiment. Each artefact is taken out alone: two at one point may be two words for one factor.
    What biases all compared points alike, by factors that are not known of each, blames nobody. Nor
    do the artefacts that the claim is `about`: it says that they are there. For the same reason a
    share that a removed cause explains is never one that holds through it.
    """
    if verdict["verdict"] != "reproduced" or not is_measured(claim["estimand"]):
        return None
    if claim["estimand"]["kind"] == "explained_share":
        return None
    roles = roles_of(claim["estimand"], content, sizes)
    used, why = usable(claim["estimand"], roles, run.known)
    if why:
        return None
    case = Case(claim, used, run.summaries, max(verdict["intervals"], 1))
    points = names_of(used)
    blamed = blame(points, _beside(claim.get("about", []), points, findings))
    parts = [one for names, factors in _exact(blamed) if (one := _taken_out(case, names, factors))]
    unknown: dict[tuple[frozenset[str], str], list[str]] = {}
    for one in blamed:
        alike = one.effect == "biases" and one.marked >= set(points)
        if one.unknown and not alike:
            unknown.setdefault((frozenset(one.unknown), one.effect), []).append(one.artefact)
        elif one.shared and not alike and (part := _shared(case, one)):
            parts.append(part)
    parts += [_unknown(names, at, effect) for (at, effect), names in unknown.items()]
    if not parts:
        return None
    parts.sort(key=lambda part: (ONLY, UNDECIDED, UNKNOWN).index(part["kind"]))
    artefacts = list(dict.fromkeys(name for part in parts for name in part["artefacts"]))
    words = "; ".join(part["words"] for part in parts)
    return parts[0] | {"artefacts": artefacts, "words": f"reproduced, {words}"}


def _beside(
    about: Sequence[str], points: Sequence[str], findings: Iterable[dict[str, Any]]
) -> list[dict[str, Any]]:
    """The findings but those of these artefacts, and but rates that cannot be at their points."""
    every = list(findings)
    places = {where for one in every if one["artefact"] in about for where in one["where"]}

    def told(one: dict[str, Any]) -> bool:
        if one["artefact"] == above_ceiling.ARTEFACT.id:
            return set(one["where"]) & set(points) <= places
        return one["artefact"] in about

    return [one for one in every if not told(one)]


def blame(points: Sequence[str], findings: Iterable[dict[str, Any]]) -> list[Blamed]:
    """The artefacts that invalidate or bias any of these points, the graver effect first."""
    found: dict[str, Blamed] = {}
    for finding in findings:
        at = [point for point in points if point in finding["where"]]
        if finding["effect"] not in EFFECTS or not at:
            continue
        one = found.setdefault(finding["artefact"], Blamed(finding["artefact"]))
        one.marked |= set(at)
        if finding["effect"] == "invalidates":
            one.effect = "invalidates"
        whole, single = finding["factor"], finding.get("factors") or {}
        if len(finding["where"]) == 1:
            single = {at[0]: whole} | single
        for point in at:
            if (own := single.get(point)) and own > 0:
                one.own[point] = own
            elif whole and whole > 0:
                one.shared[point] = whole
            else:
                one.unknown.add(point)
    for one in found.values():
        one.shared = {point: one.shared[point] for point in one.shared if point not in one.own}
        one.unknown -= one.own.keys() | one.shared.keys()
    guilty = [one for one in found.values() if one.own or one.shared or one.unknown]
    causes = [one for one in guilty if one.artefact != above_ceiling.ARTEFACT.id]
    explained = {point for one in causes if one.effect == "invalidates" for point in one.marked}
    symptom = found.get(above_ceiling.ARTEFACT.id)
    if symptom and symptom.marked <= explained:
        guilty = causes  # a rate that cannot be is what they made, and no cause beside them
    return sorted(guilty, key=lambda one: (list(EFFECTS).index(one.effect), one.artefact))


def _exact(blamed: Iterable[Blamed]) -> list[tuple[list[str], dict[str, float]]]:
    """Artefacts with their factors, where these are known of each point; those that take the same
    factors out are one with two names."""
    found: dict[tuple[tuple[str, float], ...], list[str]] = {}
    for one in blamed:
        if one.own and not one.shared and not one.unknown:
            found.setdefault(tuple(sorted(one.own.items())), []).append(one.artefact)
    return [(names, dict(factors)) for factors, names in found.items()]


def _taken_out(case: Case, names: list[str], factors: dict[str, float]) -> Part | None:
    """What is left of the claim without these; None where it holds all the same."""
    found = case.without(factors)
    holds = case.holds(found)
    if holds == "reproduced":
        return None
    without = f"without {'it' if len(names) == 1 else 'them'} {case.said(found)}"
    if holds == "not_reproduced":
        return _part(ONLY, names, found, f"only through {number_format.listed(names)}: {without}")
    words = (
        f"resting on {number_format.listed(names)}: {without}, which leaves open whether it is "
        f"{region_text(case.claim['region'])}"
    )
    return _part(UNDECIDED, names, found, words)


def _shared(case: Case, one: Blamed) -> Part | None:
    """That it may not hold without an artefact whose factor is told of several points at once."""
    found = case.without(one.shared | one.own)
    if case.holds(found) == "reproduced":
        return None
    factor = number_format.number(max(one.shared.values(), key=lambda value: max(value, 1 / value)))
    verb = EFFECTS[one.effect].split()[0]
    words = (
        f"resting on {_points(one.shared)} {one.artefact} {verb}, by a factor of {factor} over "
        f"several points together: with that taken out {case.said(found)}"
    )
    return _part(UNDECIDED, [one.artefact], found, words)


def _unknown(names: list[str], points: Iterable[str], effect: str) -> Part:
    verb = EFFECTS[effect] if len(names) == 1 else PLURAL[effect]
    words = f"resting on {_points(points)} {number_format.listed(names)} {verb}"
    return _part(UNKNOWN, names, None, words)


def _points(points: Iterable[str]) -> str:
    amount = len(list(points))
    return "a point that" if amount == 1 else f"{amount} points that"


def _part(kind: str, names: list[str], found: Estimate | None, words: str) -> Part:
    return {
        "kind": kind,
        "artefacts": names,
        "without": found and found.value,
        "interval": found and [found.low, found.high],
        "words": words,
    }
