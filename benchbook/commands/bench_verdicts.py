"""Whole quick runs on simulated machines: how often are the papers' claims decided rightly?

Each measured claim of each figure is in turn put inside of its region, outside of it, and at its
edges; what all claims of that figure are then worth is known. The machines are those of
benchbook/stats/simulated_machine.py. What judges their runs is what judges real ones.
"""

from __future__ import annotations

import itertools
import math
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchbook.core.units import RATE
from benchbook.define import catalogue
from benchbook.define.points import Point, expand
from benchbook.estimands import Roles, kind_of, names_of, roles_of
from benchbook.judge.claims import INCONCLUSIVE, REPRODUCED, outcome
from benchbook.judge.resolved_claim import Claim, Measured, resolve_claim
from benchbook.judge.step_down import step_down
from benchbook.stats.simulated_machine import (
    DRIFTING,
    FLIPPING,
    QUIET,
    SHARED,
    SKEWED,
    Machine,
    Order,
    simulate,
)

MIB = 2**20
SIZES: dict[str, Any] = dict.fromkeys(("LLC", "stated LLC", "total LLC"), 32 * MIB)
SIZES |= {"L1d": 2**15, "L2": MIB, "RAM": 2**34, "memory": 2**33, "cores": 2}
BLOCKS, SAMPLES = 16, 7
TIME_NS, BYTES = 20_000.0, 4096  # of a call at every point, before a claim moves it
MACHINES = {
    "quiet": QUIET,
    "flips within seconds": FLIPPING,
    "flips within half a minute": replace(FLIPPING, dwell_s=30.0),
    "drift": DRIFTING,
    "neighbours": SHARED,
    "skewed samples": SKEWED,
}
ORDERS: tuple[Order, ...] = ("blocks", "turns")
STATE_FACTORS = (1.5, 2.5)
# Distances from an edge of the region, on the scale on which noise adds, in units of its kind.
UNITS = {"difference": 8.0, "slope": 4.0, "range": 0.2}
UNIT = 0.5
DISTANCES = (1.0, 0.1, 1e-6, -1e-6, -0.1, -1.0)
BOUNDS = {"far": 0.3, "near an edge": 1e-3, "a hair": 0.0}
NEVER_NEGATIVE, LEAST = ("range", "unevenness"), 0.2  # of the edge, where nothing is below zero
SHIFTS = np.linspace(-6, 6, 61)  # logs by which points are moved to give a claim its value
HALVINGS = 50
RIGHT, UNDECIDED, WRONG = "right", "undecided", "wrong"
Truth = dict[str, float]  # point -> log of its time, before noise


class Judged(NamedTuple):
    """What came of one claim in one simulated run."""

    machine: str
    kind: str
    place: str
    answer: str


class Simulated(NamedTuple):
    """The measured claims of a figure with their points, and the times that put each of them inside
    of its region, outside of it and at its edges."""

    claims: list[Claim]
    content: dict[str, Any]
    roles: list[Roles]
    truths: list[Truth]


def figures(root: Path) -> list[Simulated]:
    """The figures of all papers with their measured claims."""
    made = []
    for name in catalogue.papers(root):
        for figure in catalogue.paper(root, name)["figures"]:
            claims = [Claim.of(claim) for claim in figure.get("claims", [])]
            claims = [claim for claim in claims if claim.is_measured]
            content = catalogue.definition(root, figure["experiment"])
            claims = _in_quick(claims, content)
            if claims:
                made.append(_figure(claims, content))
    return made


def _in_quick(claims: list[Claim], content: dict[str, Any]) -> list[Claim]:
    """The claims whose points all are in the preset quick."""
    points = expand(content, catalogue.crosses(content, "quick"), SIZES)[0]
    measured = {point.id for point in points}
    return [
        claim
        for claim in claims
        if measured.issuperset(names_of(roles_of(claim.estimand, content, SIZES)))
    ]


def _figure(claims: list[Claim], content: dict[str, Any]) -> Simulated:
    roles = [roles_of(claim.estimand, content, SIZES) for claim in claims]
    base: Truth = {name: 0.0 for own in roles for name in names_of(own)}
    for claim, own in zip(claims, roles, strict=True):
        base |= _base(claim, own)
    truths = [
        truth
        for claim, own in zip(claims, roles, strict=True)
        for distance in DISTANCES
        for truth in _placed(claim, own, base, distance)
    ]
    return Simulated(claims, content, roles, truths)


def _base(claim: Claim, roles: Roles) -> Truth:
    """Times at which a claim is worth something, where they may not all be alike: they grow evenly
    where it is about growth, lie apart where it compares ranges, and one is odd where it explains
    that."""
    match claim.kind:
        case "slope" | "unevenness":
            over = claim.estimand["over"]
            return {point.id: math.log1p(float(point.factors[over])) for point in roles["points"]}
        case "ratio_of_ranges":
            wide = [point.id for point in roles["denominator"] if point not in roles["numerator"]]
            return {name: float(place) for place, name in enumerate(wide, 1)}
        case "explained_share":
            return {roles["odd"][0].id: -math.log(9)}
    return {}


def value_of(claim: Claim, roles: Roles, truth: Truth) -> float:
    """What a claim is worth where its points take these times, on the scale on which noise adds."""
    estimand, kind = claim.estimand, kind_of(claim.estimand)
    logs = {name: math.log(TIME_NS) + truth[name] for name in names_of(roles)}
    if estimand["quantity"] == RATE:
        logs = {name: math.log(BYTES) - log for name, log in logs.items()}
    if hasattr(kind, "of_cells"):
        return float(kind.scale(kind.of_cells(estimand, roles, {k: [v] for k, v in logs.items()})))
    return float(kind.scale(kind.of_one(estimand, roles, logs)))


def _placed(claim: Claim, roles: Roles, base: Truth, distance: float) -> Iterator[Truth]:
    """The times, moved as little as need be, that put a claim at this distance from each edge of
    its region; inside, where there is room for it."""
    scale = kind_of(claim.estimand).scale
    low, high = (None if edge is None else scale(edge) for edge in claim.region)
    unit = UNITS.get(claim.kind, UNIT)
    for edge, inwards in ((low, 1), (high, -1)):
        if edge is None:
            continue
        wanted = edge + inwards * distance * unit
        if distance > 0 and low is not None and high is not None:
            wanted = min(max(wanted, low), high) if distance < 1 else (low + high) / 2
        if claim.kind in NEVER_NEGATIVE:
            wanted = max(wanted, LEAST * edge)
        truth = _moved(claim, roles, base, wanted)
        if truth is not None:
            yield truth


def _moved(claim: Claim, roles: Roles, base: Truth, wanted: float) -> Truth | None:
    """The times with the last point of each group shifted until the claim is worth `wanted`; None
    where no shift does it."""
    moving = _moving(claim, roles)

    def off(shift: float) -> float:
        return value_of(claim, roles, shifted(shift)) - wanted

    def shifted(shift: float) -> Truth:
        return base | {name: base[name] + shift for name in moving}

    values = np.array([off(shift) for shift in SHIFTS])
    crossings = np.flatnonzero(np.diff(np.sign(values)) != 0)
    if not len(crossings):
        return None
    first = min(crossings, key=lambda k: abs(SHIFTS[k]))
    low, high = float(SHIFTS[first]), float(SHIFTS[first + 1])
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if off(low) * off(middle) <= 0 else (middle, high)
    return shifted((low + high) / 2)


def _moving(claim: Claim, roles: Roles) -> list[str]:
    """The points whose times give a claim its value: one of every range, else the last of the side
    that it is about."""
    if claim.kind == "range":
        over = claim.estimand["over"]
        groups: dict[tuple[Any, ...], str] = {}
        for point in roles["points"]:
            key = (point.variant, *(v for k, v in point.factors.items() if k != over))
            groups[key] = point.id
        return list(groups.values())
    side = next(k for k in ("removed", "minuend", "numerator", "points") if k in roles)
    elsewhere = {point.id for k, points in roles.items() if k != side for point in points}
    return [name for name in names_of({side: roles[side]}) if name not in elsewhere][-1:]


def judge_run(
    figure: Simulated, truth: Truth, machine: Machine, order: Order, dice: np.random.Generator
) -> list[str]:
    """The verdicts of a figure's claims on one simulated run of its points and of the twins of the
    first."""
    first = Point.of_id(next(iter(truth)))
    twins = {replace(first, twin=twin).id: twin for twin in ("again", "relinked")}
    whole = truth | dict.fromkeys(twins, truth[first.id])
    made = simulate(
        replace(machine, samples=SAMPLES), dice, 1, BLOCKS, tuple(whole.values()), order
    )
    times = TIME_NS * np.exp(made.log_times[0])  # blocks, points, samples
    block, point = (index.ravel() for index in np.indices(times.shape[:2]))
    summaries = pd.DataFrame(
        {
            "block": block,
            "point": np.array(list(whole))[point],
            "median_ns": np.median(times, axis=2).ravel(),
            "mean_ns": times.mean(axis=2).ravel(),
            "best_ns": times.min(axis=2).ravel(),
            "bytes_declared": BYTES,
        }
    )
    points = [
        {"point": name, "twin": twins.get(name, ""), "state": "ok", "reason": ""} for name in whole
    ]
    run = Measured(points, summaries)
    resolved = [resolve_claim(claim, figure.content, SIZES, run) for claim in figure.claims]
    return [
        outcome(step.resolved, estimate, step.null).verdict
        if (estimate := step.resolved.estimate)
        else INCONCLUSIVE
        for step in step_down(resolved, run)[0]
    ]


def quick_run(simulated: list[Simulated], number: int, seed: int) -> Iterator[Judged]:
    """One run of all figures on a machine drawn for each; the claims take turns to be at the
    places. A claim about an absolute time has no single truth where the machine changes its speed,
    and is measured on a quiet one."""
    dice = np.random.default_rng([seed, number])
    for figure in simulated:
        truth = figure.truths[int(dice.integers(len(figure.truths)))]
        is_absolute = any(hasattr(kind_of(claim.estimand), "ABSOLUTE") for claim in figure.claims)
        name = "quiet" if is_absolute else str(dice.choice(list(MACHINES)))
        machine = MACHINES[name]
        if machine.state_factor > 1:
            machine = replace(machine, state_factor=dice.uniform(*STATE_FACTORS))
        order = ORDERS[int(dice.integers(len(ORDERS)))]
        verdicts = judge_run(figure, truth, machine, order, dice)
        for claim, roles, verdict in zip(figure.claims, figure.roles, verdicts, strict=True):
            place, is_inside = place_of(claim, value_of(claim, roles, truth))
            answer = UNDECIDED
            if verdict != INCONCLUSIVE:
                answer = RIGHT if (verdict == REPRODUCED) == is_inside else WRONG
            yield Judged(f"{name}, {order}", claim.kind, place, answer)


def place_of(claim: Claim, value: float) -> tuple[str, bool]:
    """Where a claim's value (on the scale on which noise adds) lies, in words; and whether it is
    in the region."""
    scale = kind_of(claim.estimand).scale
    low, high = claim.region
    inwards = [value - scale(low)] if low is not None else []
    inwards += [scale(high) - value] if high is not None else []
    inside = min(inwards) >= 0
    distance = abs(min(inwards)) / UNITS.get(claim.kind, UNIT)
    how_far = next(word for word, bound in BOUNDS.items() if distance >= bound)
    return f"{how_far}, {'inside' if inside else 'outside'}", inside


def table(root: Path, seconds: float, seed: int = 1) -> Iterator[tuple[str, str]]:
    """Rows for `make bench`: what was simulated, and how many claims were decided rightly, not at
    all, or wrongly; in as many runs as there is time for."""
    simulated, judged = figures(root), list[Judged]()
    until = time.monotonic() + seconds
    for number in itertools.count():
        judged += quick_run(simulated, number, seed)
        if time.monotonic() > until:
            break
    yield f"simulated runs of quick, {number + 1}: all claims", _counts(judged)
    for field in ("place", "kind", "machine"):
        for value in dict.fromkeys(getattr(entry, field) for entry in judged):
            some = [entry for entry in judged if getattr(entry, field) == value]
            yield f"simulated: {value.replace('_', ' ')}", _counts(some)


def _counts(judged: list[Judged]) -> str:
    counts = Counter(entry.answer for entry in judged)
    return ", ".join(f"{answer} {counts[answer]}" for answer in (RIGHT, UNDECIDED, WRONG))
