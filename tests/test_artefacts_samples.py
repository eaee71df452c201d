"""Detectors of what samples hide: their clock, their warm-up, their shape, the statistic chosen."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchbook.controls.replays import Scene, seen_of_scene
from benchbook.controls.synthetic.samples import made_samples
from benchbook.detect import Judged, Seen
from benchbook.detect.detectors import (
    best_of_n,
    bimodal,
    heavy_tail,
    timer_granularity,
    wall_clock_step,
    warm_up,
)
from benchbook.findings import Finding

CONTROLS = Path(__file__).resolve().parents[1] / "kernels" / "controls"
ALL = (best_of_n, bimodal, heavy_tail, timer_granularity, wall_clock_step, warm_up)
BLOCKS, SAMPLES = 8, 60
CLOCK = {"clock_resolution_ns": 1, "clock_cost_ns": 25.0}


def even(seed: int = 5, samples: int = SAMPLES, blocks: int = BLOCKS) -> np.ndarray:
    """Starts differ by tens of per cent, the samples inside one by 2 %."""
    dice = np.random.default_rng(seed)
    levels = 30_000 * dice.uniform(0.8, 1.25, (blocks, 1))
    return levels * dice.lognormal(0, 0.02, (blocks, samples))


def seen(*, of_starts: dict[str, Any] | None = None, **times: np.ndarray) -> Seen:
    """What the detectors see of points with these samples."""
    whole = {name: np.rint(table).astype(np.int64) for name, table in times.items()}
    starts = [
        {"where": name, "block": block, **CLOCK, **(of_starts or {})}
        for name, table in whole.items()
        for block in range(len(table))
    ]
    points = [{"where": name} for name in whole]
    return seen_of_scene(Scene(True, points, made_samples(whole, 4096), starts))


def only(judged: Judged) -> Finding:
    assert judged.abstained == {}
    (finding,) = judged.findings
    assert finding.explanation.count(". ") <= 3
    assert finding.explanation.endswith(".")
    assert re.search(r"\d", finding.explanation)
    assert finding.remedy
    assert finding.evidence
    assert 0 < finding.confidence <= 1
    return finding


@pytest.mark.parametrize("detector", ALL)
def test_nothing_is_said_of_even_samples(detector: ModuleType) -> None:
    judged = detector.detect(seen(one=even(), other=even(6)))
    assert (judged.findings, judged.abstained) == ([], {})


@pytest.mark.parametrize("detector", ALL)
def test_without_any_column_every_point_is_abstained(detector: ModuleType) -> None:
    bare = Seen(points=pd.DataFrame([{"where": "a"}, {"where": "b"}]))
    judged = detector.detect(bare)
    assert judged.findings == []
    assert set(judged.abstained) == {"a", "b"}
    assert detector.detect(Seen(points=pd.DataFrame())) == Judged()


def test_too_few_samples_have_no_shape_and_no_warm_up() -> None:
    few = seen(one=even(samples=4, blocks=3))
    for detector in (bimodal, heavy_tail, warm_up):
        judged = detector.detect(few)
        assert judged.findings == []
        assert "fewer than" in judged.abstained["one"]


@pytest.mark.parametrize("name", [detector.ARTEFACT.id for detector in ALL])
def test_every_replayed_scene_is_told_right(name: str) -> None:
    file = CONTROLS / name / "replay.py"
    spec = importlib.util.spec_from_file_location("replay", file)
    replay = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(replay)
    detector = next(module for module in ALL if name == module.ARTEFACT.id)
    for scene in replay.scenes(11):
        judged = detector.detect(seen_of_scene(scene))
        assert bool(judged.findings) == scene.provoked
        assert scene.provoked or judged.abstained == {}


@pytest.mark.parametrize("detector", ALL)
def test_ids_and_order_change_nothing(detector: ModuleType) -> None:
    dice = np.random.default_rng(1)
    slow = even()
    slow[:, :12] *= 4
    tail = even(7)
    tail[:, 30] *= 80
    twice = even(8)
    twice[:, dice.permutation(SAMPLES)[:40]] *= 1.5
    table = seen(a=slow, b=tail, c=twice, d=1.2 * even(8), e=even() // 5_000 * 1000)
    names = {"a": "z9", "b": "m1", "c": "k3", "d": "f0", "e": "b7"}
    other = Seen(
        points=table.points.sample(frac=1, random_state=2).assign(
            where=lambda rows: rows["where"].map(names)
        ),
        starts=table.starts.sample(frac=1, random_state=3).assign(
            where=lambda rows: rows["where"].map(names)
        ),
    )

    def told(judged: Judged, ids: dict[str, str]) -> tuple[Any, Any]:
        findings = [
            (sorted(ids[where] for where in f.where), f.explanation, f.factor)
            for f in judged.findings
        ]
        return sorted(findings), {ids[where]: why for where, why in judged.abstained.items()}

    same = told(detector.detect(table), names)
    assert same == told(detector.detect(other), {name: name for name in names.values()})
    assert same[0] or detector is wall_clock_step


def test_slow_first_samples_inform_and_those_that_move_the_median_bias() -> None:
    few, many = even(), even()
    few[:, :10] *= 4
    many[:, :28] *= np.linspace(3, 1.2, 28)
    finding = only(warm_up.detect(seen(one=few)))
    assert (finding.effect, finding.factor) == ("informs", None)
    assert "first 10 of 60 samples" in finding.explanation
    assert "1.50 times that of the steady" in finding.explanation
    finding = only(warm_up.detect(seen(one=many)))
    assert finding.effect == "biases"
    assert 0.9 < finding.factor < 0.99  # the rate looks lower than it is


def test_a_single_slow_sample_is_told_as_one() -> None:
    times = even()
    times[:, 0] *= 40
    text = only(warm_up.detect(seen(one=times))).explanation
    assert text.startswith("The first sample of a run is not steady yet: it takes 4")
    assert "The mean of all samples is 1.6" in text


def test_two_starts_that_begin_slowly_may_be_the_machine() -> None:
    times = even(blocks=3)
    times[:2, :10] *= 4
    judged = warm_up.detect(seen(one=times))
    assert judged.findings == []
    assert "too few of 3 runs show it" in judged.abstained["one"]
    times[2, :10] *= 4
    only(warm_up.detect(seen(one=times)))


def test_delays_later_in_a_start_are_no_warm_up() -> None:
    times = even()
    times[:, 45::5] *= 30
    assert warm_up.detect(seen(one=times)).findings == []


def test_a_heavy_tail_in_most_starts_is_told_with_its_share_of_the_time() -> None:
    times = even()
    times[:, 30] *= 60
    finding = only(heavy_tail.detect(seen(one=times)))
    assert finding.effect == "informs"
    assert "take 51\u00a0% of the time. The mean is 1.99 times the median" in finding.explanation
    assert "do not show" in finding.explanation


def test_one_burst_of_the_machine_and_time_spent_waiting_are_no_heavy_tail() -> None:
    once = even()
    once[3, 10:20] *= 50
    assert heavy_tail.detect(seen(one=once)).findings == []
    waited = even()
    waited[:, 30] *= 60
    busy = {
        "wall_ns": 3_600_000,
        "run_delay_ns": 1_750_000,
        "voluntary_switches": 0,
        "involuntary_switches": 1,
    }
    assert heavy_tail.detect(seen(one=waited, of_starts=busy)).findings == []
    some = busy | {"run_delay_ns": 1_400_000}
    judged = heavy_tail.detect(seen(one=waited, of_starts=some))
    assert (judged.findings, list(judged.abstained)) == ([], ["one"])
    idle = busy | {"run_delay_ns": 36_000}
    finding = only(heavy_tail.detect(seen(one=waited, of_starts=idle)))
    assert "waited for a CPU for 1.0\u00a0% of their time" in finding.explanation
    never = busy | {"run_delay_ns": 0}
    text = only(heavy_tail.detect(seen(one=waited, of_starts=never))).explanation
    assert "which did not wait for a CPU" in text


def test_a_mean_above_the_median_by_the_body_of_the_samples_is_no_heavy_tail() -> None:
    told = {"heavy_tail": True, "tail_starts_share": 1.0, "shape_samples": 480}
    told |= {"mean_over_median": 1.2, "mean_over_median_but_worst": 1.2, "p99_over_median": 2.0}
    tail = {"tail_share": 0.02, "tail_time_share": 0.05}
    points = pd.DataFrame([{"where": "one"} | told | tail])
    assert heavy_tail.detect(Seen(points=points)).clean == ["one"]
    only(heavy_tail.detect(Seen(points=points.assign(tail_time_share=0.3))))


def test_two_groups_inside_starts_are_bimodal_and_between_starts_not() -> None:
    inside, between = even(), even()
    inside[:, ::3] *= 2
    between[::2] *= 2
    finding = only(bimodal.detect(seen(one=inside)))
    assert finding.effect == "informs"
    assert "fall into 2 groups" in finding.explanation
    assert "68\u00a0% take about 29.4 µs and 32\u00a0% take about 58.7 µs" in finding.explanation
    assert "The median describes the largest group only" in finding.explanation
    assert bimodal.detect(seen(one=between)).findings == []


def test_small_groups_and_groups_one_tick_apart_are_not_told() -> None:
    row = {"where": "a", "modes": 2, "mode_centres": [1.0, 2.0], "mode_shares": [0.5, 0.5]}
    row |= {"shape_samples": 480, "sample_ns": 100.0, "clock_step_ns": 1.0}
    finding = only(bimodal.detect(Seen(points=pd.DataFrame([row]))))
    assert "belongs to one of them by chance" in finding.explanation
    for other in ({"clock_step_ns": 100.0}, {"mode_shares": [0.88, 0.12]}):
        assert bimodal.detect(Seen(points=pd.DataFrame([row | other]))).clean == ["a"]


def waiting(each_ns: float, times: int) -> dict[str, Any]:
    """Starts that waited for a CPU so often."""
    switches = {"voluntary_switches": 0, "involuntary_switches": times}
    return {"wall_ns": 60e6, "run_delay_ns": times * each_ns} | switches


def test_groups_and_bests_that_may_be_waits_for_a_cpu_are_abstained() -> None:
    times = even()
    times[:, np.random.default_rng(4).permutation(SAMPLES)[:36]] += 1e6
    waited = seen(one=times, of_starts=waiting(1.1e6, 36))
    for detector in (bimodal, best_of_n):
        judged = detector.detect(waited)
        assert judged.findings == []
        assert "waited for a CPU" in judged.abstained["one"]
    # So few waits, or so long ones, are not what made half of the samples longer.
    for other in (waiting(1.1e6, 3), waiting(12e6, 3)):
        for detector in (bimodal, best_of_n):
            only(detector.detect(seen(one=times, of_starts=other)))


def test_few_ticks_are_no_groups() -> None:
    dice = np.random.default_rng(0)
    ticks = dice.integers(1, 4, (BLOCKS, SAMPLES)) * 1000
    assert bimodal.detect(seen(one=ticks)).findings == []


def crossing(blocks: int) -> Seen:
    """`c` is best ahead of `d` and usually behind it."""
    uneven = even(8, blocks=blocks)
    uneven[:, ::3] /= 1.4
    return seen(c=uneven, d=even(8, blocks=blocks) / 1.2)


def test_points_that_change_places_are_told_once() -> None:
    finding = only(best_of_n.detect(crossing(8)))
    assert finding.where == ["c", "d"]
    assert "as fast by best" in finding.explanation
    assert "as slow by median" in finding.explanation
    assert "the same number of bytes" in finding.explanation
    assert finding.factor is None
    pair = [row for row in finding.evidence if row["name"].startswith("time ratio")]
    assert all(f"by {row['name'].split()[-1]}" in finding.explanation for row in pair)


def test_with_few_blocks_a_change_of_places_is_not_told() -> None:
    judged = best_of_n.detect(crossing(3))
    assert judged.findings == []
    assert set(judged.abstained) == {"c", "d"}


def test_blocks_that_disagree_do_not_make_a_change_of_places_nor_rule_it_out() -> None:
    table = crossing(8)
    first = (table.starts["where"] == "c") & (table.starts["block"] == table.starts["block"].min())
    table.starts.loc[first, ["best_ns", "median_ns", "mean_ns"]] *= [2, 0.5, 0.5]
    judged = best_of_n.detect(table)
    assert judged.findings == []
    assert set(judged.abstained) == {"c", "d"}
    assert all("8 rounds differ too much" in why for why in judged.abstained.values())


def test_more_pairs_need_more_blocks() -> None:
    table = crossing(8)
    more = [even(20 + number, blocks=8) * 3 for number in range(3)]
    times = {f"x{number}": times_of for number, times_of in enumerate(more)}
    uneven = even(8, blocks=8)
    uneven[:, ::3] /= 1.4
    judged = best_of_n.detect(seen(c=uneven, d=even(8, blocks=8) / 1.2, **times))
    assert only(best_of_n.detect(table)).where == ["c", "d"]
    assert judged.findings == []
    assert "10 rounds are needed" in judged.abstained["c"]


def test_points_of_other_work_are_not_compared() -> None:
    table = crossing(8)
    table.points["bytes_per_call"] = [4096.0, 8192.0]
    judged = best_of_n.detect(table)
    assert (judged.findings, judged.abstained) == ([], {})


def test_a_best_that_is_seldom_seen_is_told() -> None:
    times = even()
    times[:, ::9] /= 2
    finding = only(best_of_n.detect(seen(one=times)))
    assert finding.factor == pytest.approx(2, rel=0.1)
    assert "median over 8 runs, so it is no single lucky sample" in finding.explanation
    once = only(best_of_n.detect(seen(one=times[:1])))
    assert "It comes from 1 run only, so it may be a lucky sample" in once.explanation


def test_a_tick_is_seen_in_the_samples_whatever_the_clock_says_of_itself() -> None:
    dice = np.random.default_rng(2)
    coarse = (dice.random((BLOCKS, SAMPLES)) < 0.1) * 1000
    finding = only(timer_granularity.detect(seen(one=coarse)))
    assert (finding.effect, finding.confidence) == ("invalidates", 1.0)
    assert "steps of 1.00 µs" in finding.explanation
    some = dice.integers(7, 10, (BLOCKS, SAMPLES)) * 1000
    finding = only(timer_granularity.detect(seen(one=some)))
    assert (finding.effect, finding.factor) == ("informs", None)  # noise, not a bias
    assert "lasts 8.00 ticks" in finding.explanation
    assert "may be wrong by 12\u00a0%" in finding.explanation


def test_an_interval_of_a_few_readings_is_mostly_clock() -> None:
    dice = np.random.default_rng(2)
    finding = only(timer_granularity.detect(seen(one=dice.normal(100, 4, (BLOCKS, SAMPLES)))))
    assert finding.effect == "biases"
    assert finding.factor == pytest.approx(0.75, abs=0.02)
    assert "Reading the clock takes 25.0 ns" in finding.explanation


def test_points_to_which_the_clock_does_the_same_are_one_finding() -> None:
    dice = np.random.default_rng(2)
    times = {
        name: dice.normal(usual, 4, (BLOCKS, SAMPLES))
        for name, usual in (("a", 200), ("b", 100), ("c", 300), ("long", 1e6))
    }
    finding = only(timer_granularity.detect(seen(**times)))
    assert (finding.effect, finding.where) == ("biases", ["a", "b", "c"])
    assert "Seen in 3 measurements. In the worst, reading the clock takes" in finding.explanation
    assert finding.factor == pytest.approx(0.75, abs=0.02)
    assert finding.factors["c"] > finding.factors["a"] > finding.factors["b"]
    # One that has no number left is another matter than one that has a part of it.
    times["zero"] = (dice.random((BLOCKS, SAMPLES)) < 0.1) * 10.0
    found = timer_granularity.detect(seen(**times)).findings
    assert [(finding.effect, finding.where) for finding in found] == [
        ("biases", ["a", "b", "c"]),
        ("invalidates", ["zero"]),
    ]


def test_a_clock_of_unknown_tick_and_cost_is_abstained() -> None:
    nothing = dict.fromkeys(CLOCK)
    table = seen(one=even(samples=3, blocks=3), of_starts=nothing)
    assert "too few samples" in timer_granularity.detect(table).abstained["one"]


def test_a_sample_below_zero_or_longer_than_its_start_voids_the_point() -> None:
    back, forward = even(), even()
    back[2, 7] -= 5e6
    forward[2, 7] += 3.6e12
    wall = {"wall_ns": 3_000_000}
    finding = only(wall_clock_step.detect(seen(one=back, of_starts=wall)))
    assert (finding.effect, finding.confidence) == ("invalidates", 1.0)
    assert "1 sample had a negative duration" in finding.explanation
    finding = only(wall_clock_step.detect(seen(one=forward, of_starts=wall)))
    assert "ended after 3.00 ms" in finding.explanation


def test_a_wild_sample_without_a_second_clock_is_abstained() -> None:
    times = even()
    times[2, 7] += 1e9
    judged = wall_clock_step.detect(seen(one=times))
    assert judged.findings == []
    assert "no second clock" in judged.abstained["one"]
    lasted = seen(one=times, of_starts={"wall_ns": 1_100_000_000})
    assert wall_clock_step.detect(lasted).clean == ["one"]
