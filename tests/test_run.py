"""The measuring loop with programs that are made up: looks, repeats, budget, lost points."""

from __future__ import annotations

import itertools
import json
import math
import random
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

from benchbook.define.points import Point
from benchbook.define.settings import load_settings
from benchbook.measure.invocation import PointResult, Result, now_ns
from benchbook.measure.loop import ROUNDS_OF_FIGURES, Run, in_random_order
from benchbook.measure.starter import Starter
from benchbook.plan.plan import Plan, make_plan
from benchbook.records import journal


class MadeUp(Starter):
    """Answers at once: times with a spread `sd`, waits of `delays()` ms of 100, `fails(point)`."""

    sd, wall_ns = 0.2, 1_000_000
    delays = staticmethod(lambda: 0)
    fails = staticmethod(lambda point: False)
    observes = staticmethod(lambda point: {})

    def start_compared(self, groups, numbers, dice):
        return [self.start(group, numbers, dice) for group in groups]

    def try_out(self, group, numbers, dice):
        return self.start(group, numbers, dice)

    def start(self, group, numbers, dice):
        results = []
        for point in group:
            if self.fails(point):
                results += [PointResult("failed", "died")] * (len(group) - len(results))
                break
            count = numbers[point.id]["samples"] + numbers[point.id]["warmup"]
            times = [int(1e6 * math.exp(random.gauss(0, self.sd)))] * count
            usage = {"run_delay_ns": self.delays() * 1_000_000, "wall_ns": 100_000_000}
            warm_up = numbers[point.id]["warmup"]
            seen = self.observes(point)
            results.append(
                PointResult("ok", "", warm_up, [now_ns()] * count, times, 1, 8, seen, usage)
            )
        now = now_ns()
        end = now + self.wall_ns
        return self.request(group, numbers, dice), Result(
            results, {}, self.wall_ns, now, end, None, None
        )


class Quiet:
    """No anchor, no probe."""

    spent_ns = 0

    def due(self) -> bool:
        return False

    def read(self, *, full: bool = False) -> dict[int, float]:
        return {}


def planned(**changes: Any) -> Plan:
    return make_plan(ROOT, "mbw", load_settings(ROOT, {"preset": "tiny", **changes}))


def measured(folder: Path, plan: Plan, **ways: Any) -> tuple[dict, list[dict]]:
    folder.mkdir(exist_ok=True)
    random.seed(1)
    starter = MadeUp(plan, folder, ["bytes"], lambda point: Path("/bin/true"), None)
    for name, value in ways.items():
        setattr(starter, name, value)
    Run(folder, plan, starter, Quiet(), 7, lambda *said: None).measure()
    manifest = json.loads((folder / journal.MANIFEST).read_text())
    return manifest, list(journal.read_lines(folder / journal.JOURNAL))


def looks(lines: list[dict]) -> list[int]:
    return [line["blocks"] for line in lines if line["kind"] == "look"]


FOUR = {"looks": [8, 12, 16, 24], "budget_s": 75, "disturbed": {"repeats": 4}}


def test_narrow_intervals_end_a_run_at_the_first_look(tmp_path: Path) -> None:
    manifest, lines = measured(tmp_path / "r", planned(**FOUR), sd=0.001)
    assert (manifest["stopped_by"], manifest["blocks"], looks(lines)) == ("width", 8, [8])


def test_wide_intervals_take_every_look(tmp_path: Path) -> None:
    manifest, lines = measured(tmp_path / "r", planned(**FOUR), sd=0.3)
    assert manifest["stopped_by"] == "last_look"
    assert looks(lines) == [8, 12, 16, 24]


def test_what_only_emulates_takes_no_further_look(tmp_path: Path) -> None:
    plan = planned(**FOUR)
    assert plan.pairs
    plan.emulation = {"observation": "stands_in", "says": "it stands in"}
    every = measured(tmp_path / "a", plan, sd=0.3, observes=lambda point: {"stands_in": 1})
    assert (every[0]["stopped_by"], looks(every[1])) == ("width", [6])
    # What cannot run beside it is hopeless too.
    lost = plan.pairs[0]["numerator"]
    fails, observes = (lambda point: point.id == lost), (lambda point: {"stands_in": 1})
    beside = measured(tmp_path / "d", plan, sd=0.3, fails=fails, observes=observes)
    assert (beside[0]["stopped_by"], looks(beside[1])) == ("width", [6])
    none = measured(tmp_path / "b", plan, sd=0.3, observes=lambda point: {"stands_in": 0})
    assert (none[0]["stopped_by"], looks(none[1])) == ("last_look", [8, 12, 16, 24])
    # One that emulates takes its comparisons along, and leaves the others.
    shared = plan.pairs[0]["numerator"]
    left = [pair for pair in plan.pairs if shared not in pair.values()]
    assert left
    _, lines = measured(
        tmp_path / "c", plan, sd=0.3, observes=lambda point: {"stands_in": int(point.id == shared)}
    )
    (first,) = [line for line in lines if line["kind"] == "look"][:1]
    assert set(first["half_widths"]) == {pair["comparison"] for pair in left}


def test_disturbed_blocks_are_repeated_at_most_as_set(tmp_path: Path) -> None:
    plan = planned(**FOUR)
    quiet = iter(range(4 * len(plan.points)))  # the pilot, and a few blocks

    def delays() -> int:
        return 50 if next(quiet, None) is None else 0

    manifest, _ = measured(tmp_path / "r", plan, sd=0.3, delays=delays)
    assert manifest["blocks"] == 24 + 4
    assert 20 <= len(manifest["disturbed"]) < 28


def test_where_every_block_is_disturbed_none_is_repeated(tmp_path: Path) -> None:
    manifest, _ = measured(tmp_path / "r", planned(**FOUR), sd=0.3, delays=lambda: 50)
    assert manifest["blocks"] == len(manifest["disturbed"]) == 24


def test_further_look_is_taken_only_if_it_fits_the_budget(tmp_path: Path) -> None:
    plan = planned(**{**FOUR, "budget_s": 3})
    # Each invocation is booked with more than it took, so the pilot fills the budget.
    manifest, lines = measured(tmp_path / "r", plan, sd=0.3, wall_ns=70_000_000)
    assert manifest["blocks"] >= 8
    assert looks(lines)[0] == 8
    plan = planned(looks=[8, 12], budget_s=75)
    plan.settings = plan.settings.having(budget_s=0.0)
    manifest, lines = resumed(tmp_path / "b", plan)
    assert (manifest["stopped_by"], looks(lines)) == ("budget", [8])


def test_blocks_fill_the_budget_between_two_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = planned(looks=[8, 100], budget_s=75)
    plan.settings = plan.settings.having(budget_s=60.0)
    seconds = itertools.count()
    monkeypatch.setattr("benchbook.measure.loop.time.monotonic", lambda: next(seconds))
    manifest, lines = resumed(tmp_path / "r", plan)
    assert manifest["stopped_by"] == "budget"
    assert looks(lines) == [8, manifest["blocks"]]
    assert 15 < manifest["blocks"] < 30
    # An interval that is narrow enough ends it at the first look.
    plan.settings = plan.settings.having(target_half_width=10.0)
    manifest, lines = resumed(tmp_path / "narrow", plan)
    assert (manifest["stopped_by"], looks(lines)) == ("width", [8])


def resumed(folder: Path, plan: Plan) -> tuple[dict, list[dict]]:
    """A run whose pilot stands already, so that its budget is not asked about again."""
    folder.mkdir()
    numbers = {point.id: {"loops": 1, "samples": 3, "warmup": 1} for point in plan.points}
    pilot = {"kind": "pilot", "points": numbers, "failed": {}, "block_ns": 10**9, "wall_ns": 1}
    journal.append(folder / journal.JOURNAL, [pilot])
    return measured(folder, plan, sd=0.3)


def test_point_that_always_dies_is_left_out_and_named(tmp_path: Path) -> None:
    plan = planned()
    bad = next(point for point in plan.points if point.factors["method"] == "block-1.1.1")
    manifest, lines = measured(tmp_path / "r", plan, fails=lambda point: point.id == bad.id)
    assert manifest["blocks"] >= 8
    assert manifest["failed"] == {bad.id: "died"}
    measured_points = {line["point"] for line in lines if line["kind"] == "invocation"}
    assert measured_points == {point.id for point in plan.points} - {bad.id}


def test_everything_dying_ends_the_run_with_nothing(tmp_path: Path) -> None:
    manifest, _ = measured(tmp_path / "r", planned(), fails=lambda point: True)
    assert (manifest["stopped_by"], manifest["blocks"]) == ("nothing_to_measure", 0)


def test_death_in_a_block_abandons_it_and_blames_one_point(tmp_path: Path) -> None:
    plan = planned()
    bad = next(point for point in plan.points if point.factors["method"] == "block-1.2.2")
    deaths = iter([False, True])  # lives in the pilot, dies once
    manifest, lines = measured(
        tmp_path / "r", plan, fails=lambda point: point.id == bad.id and next(deaths, False)
    )
    assert len(manifest["abandoned"]) == 1
    failed = [line["point"] for line in lines if line.get("state") == "failed"]
    assert failed == [bad.id]
    assert all(line["reason"] == "" for line in lines if line.get("state") == "not_reached")
    assert manifest["failed"] == {}


@pytest.mark.parametrize("seed", range(3))
def test_resume_from_any_cut_keeps_what_is_written(tmp_path: Path, seed: int) -> None:
    plan = planned(looks=[8, 12], budget_s=75)
    measured(tmp_path / "whole", plan)
    content = (tmp_path / "whole" / journal.JOURNAL).read_bytes()
    dice = random.Random(seed)
    for number, cut in enumerate(dice.sample(range(len(content)), 8)):
        folder = tmp_path / f"cut{number}"
        folder.mkdir()
        (folder / journal.JOURNAL).write_bytes(content[:cut])
        manifest, lines = measured(folder, plan)
        kept = content[: content.rfind(b"\n", 0, cut) + 1]
        assert (folder / journal.JOURNAL).read_bytes().startswith(kept)
        started = [line["block"] for line in lines if line["kind"] == "block"]
        ended = [line["block"] for line in lines if line["kind"] == "block_end"]
        assert len(set(started)) == len(started)
        assert sorted(ended + manifest["abandoned"]) == sorted(started)
        assert sum(line["kind"] == "pilot" for line in lines) == 1
        assert manifest["blocks"] == len(ended)


def test_later_rounds_go_to_what_claims_compare(tmp_path: Path) -> None:
    plan = planned(**FOUR)
    manifest, lines = measured(tmp_path / "r", plan, sd=0.3)
    compared = set().union(*plan.comparisons)
    rounds: dict[str, int] = {}
    for line in lines:
        if line["kind"] == "invocation":
            rounds[line["point"]] = rounds.get(line["point"], 0) + 1
    assert manifest["blocks"] == 24
    assert {rounds[name] for name in compared & rounds.keys()} == {24}
    beside = {rounds[point.id] for point in plan.points if point.id not in compared}
    assert beside == {ROUNDS_OF_FIGURES}


def test_starts_that_are_compared_follow_one_another() -> None:
    names = [Point("v", {"bytes": size, "method": "copy"}) for size in range(12)]
    groups = [[point] for point in names]
    compared = [{names[0].id, names[6].id}, {names[6].id, names[11].id}, {names[3].id, "absent"}]
    orders = set()
    for seed in range(40):
        ordered = in_random_order(groups, compared, random.Random(seed))
        assert sorted(map(len, ordered)) == [1] * 9 + [3]
        sizes = [group[0].factors["bytes"] for together in ordered for group in together]
        assert sorted(sizes) == list(range(12))
        places = sorted(sizes.index(size) for size in (0, 6, 11))
        assert places[2] - places[0] == 2
        orders.add(tuple(sizes))
    assert len(orders) == 40
    assert {order.index(0) < order.index(6) for order in orders} == {True, False}
