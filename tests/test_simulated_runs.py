"""Whole quick runs on simulated machines (make bench prints many of them), a few with a fixed
seed: what is decided is decided rightly, and what is clear is decided."""

from __future__ import annotations

from functools import cache

import pytest

from benchbook.commands import bench_verdicts
from benchbook.commands.bench_verdicts import RIGHT, UNDECIDED, WRONG, Judged, Simulated
from benchbook.commands.options import ROOT
from benchbook.judge.resolved_claim import Claim

SEED, RUNS = 3, 3


@cache
def figures() -> list[Simulated]:
    return bench_verdicts.figures(ROOT)


@cache
def judged() -> list[Judged]:
    made: list[Judged] = []
    for number in range(RUNS):
        made += bench_verdicts.quick_run(figures(), number, SEED)
    return made


def answers(where: str) -> list[str]:
    return [entry.answer for entry in judged() if entry.place.startswith(where)]


def test_no_claim_is_decided_wrongly() -> None:
    assert len(judged()) == RUNS * sum(len(figure.claims) for figure in figures())
    assert not any(entry.answer == WRONG for entry in judged())


def test_what_is_far_from_an_edge_is_decided_and_what_is_on_it_is_not() -> None:
    far, close = answers("far"), answers("a hair")
    assert far.count(RIGHT) > 0.9 * len(far) > 20
    assert close.count(UNDECIDED) > 0.9 * len(close) > 20


def test_every_kind_of_claim_is_in_every_run() -> None:
    kinds = {claim.kind for figure in figures() for claim in figure.claims}
    assert kinds == set(bench_verdicts.UNITS) | {
        "ratio",
        "explained_share",
        "ratio_of_ranges",
        "unevenness",
    }


@pytest.mark.parametrize(
    ("value", "place", "is_inside"),
    [
        (0.5, "far, inside", True),
        (0.34, "near an edge, inside", True),
        (0.33, "near an edge, outside", False),
        (0.0, "far, outside", False),
        (1 / 3, "a hair, inside", True),
    ],
)
def test_a_place_is_told_by_the_distance_from_the_edge(
    value: float, place: str, is_inside: bool
) -> None:
    claim = Claim({"kind": "explained_share"}, (1 / 3, None))
    assert bench_verdicts.place_of(claim, value) == (place, is_inside)


def test_truths_put_claims_on_both_sides_of_every_edge() -> None:
    for figure in figures():
        for claim, roles in zip(figure.claims, figure.roles, strict=True):
            places = {
                bench_verdicts.place_of(claim, bench_verdicts.value_of(claim, roles, truth))
                for truth in figure.truths
            }
            assert {is_inside for _, is_inside in places} == {True, False}, claim.id
            assert {place.split(",")[0] for place, _ in places} == set(bench_verdicts.BOUNDS)
