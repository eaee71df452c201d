"""Claims about times, and points that only emulate: numbers whose answer is known."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest
from claimed import (
    CALL_BYTES,
    CONTENT,
    SIZES,
    claim,
    in_words,
    known,
    measured_run,
    ratio,
    resolved,
    roles,
    summaries,
)
from conftest import ROOT

from benchbook.analyse import pairwise
from benchbook.core import units
from benchbook.define import catalogue
from benchbook.estimands import Estimate, kind_of, published, usable, widened
from benchbook.judge import figures
from benchbook.judge.claims import judge_claim, judge_fact
from benchbook.judge.condition_search import elsewhere
from benchbook.judge.resolved_claim import Claim, estimate
from benchbook.judge.verdicts import judge_claims, printed_by_point

BLOCKS = 12
ALIKE = {"half_width": 0.001, "low": 0.999, "high": 1.001, "ratio": 1.0}
TWINS: dict[str, Any] = {"again": ALIKE, "relinked": ALIKE, "passes": True}


def times_us(truth: Mapping[str, float], sd: float = 0.05, blocks: int = BLOCKS) -> pd.DataFrame:
    """Summaries of these times in µs, with noise of sd µs, and much more that a block has in
    common."""
    dice = np.random.default_rng(3)
    common = dice.normal(0, 5 * sd, blocks)
    logs = {
        name: -np.log((value + common + dice.normal(0, sd, blocks)) * 1e3 / 1e6)
        for name, value in truth.items()
    }
    return summaries(logs)


def estimated(estimand: dict[str, Any], table: pd.DataFrame, intervals: int = 1) -> Estimate:
    """Its estimate, which must be there."""
    made = estimate(Claim.of(claim(estimand, [0, 1])), roles(estimand), table, intervals)
    assert made is not None
    return made


def difference(minuend: str, subtrahend: str) -> dict[str, Any]:
    """Of methods, a letter each."""
    sides = {"minuend": minuend, "subtrahend": subtrahend}
    settings = {side: [{"method": name} for name in names] for side, names in sides.items()}
    return {"kind": "difference", "quantity": "time", "unit": "µs", **settings}


def slope(steps: list[int], ways: int = 1, **more: Any) -> dict[str, Any]:
    """Over the threads of method a, the first of which stands in a setting of its own."""
    points = [{"method": "a", "threads": steps[0]}, {"method": "a", "threads": steps[1:]}]
    named = {"points": points, "over": "threads", "ways": ways}
    return {"kind": "slope", "quantity": "time", "unit": "µs", **named, **more}


def unevenness(steps: list[int]) -> dict[str, Any]:
    """Of the same points."""
    return {key: value for key, value in slope(steps).items() if key not in ("unit", "ways")} | {
        "kind": "unevenness"
    }


def line(*times: float) -> dict[str, float]:
    """Times of method a with 1, 2, … threads."""
    return {f"v,method=a,threads={k}": value for k, value in enumerate(times, 1)}


# Differences.


def test_a_difference_is_in_its_unit_and_may_be_below_none() -> None:
    table = times_us({"v,method=a": 20.0, "v,method=b": 26.5})
    made = estimated(difference("a", "b"), table)
    assert made.value == pytest.approx(-6.5, abs=0.1)
    assert made.low < -6.5 < made.high
    assert made.null == 0.0
    # As a log of the time that it changes, so that it can stand beside what the twins show.
    assert made.effect == pytest.approx(math.log1p(6.5 / 26.5), abs=0.01)
    in_ns = estimated(difference("a", "b") | {"unit": "ns"}, table)
    assert in_ns.value == pytest.approx(1000 * made.value)


def test_a_difference_of_two_on_each_side_is_that_of_two_gaps() -> None:
    """With a switch the gap is 9, without 44."""
    truth = {"v,method=a": 159.0, "v,method=b": 101.0, "v,method=c": 150.0, "v,method=d": 145.0}
    made = estimated(difference("ab", "cd"), times_us(truth))
    assert made.value == pytest.approx(9 - 44, abs=0.2)
    assert made.value == pytest.approx(made.values.mean(), abs=0.1)


def test_what_a_block_has_in_common_makes_no_difference_wider() -> None:
    """Blocks differ by 5 times the noise of a point, and the interval shows the noise alone."""
    made = estimated(difference("a", "b"), times_us({"v,method=a": 20.0, "v,method=b": 26.5}))
    assert made.high95 - made.low95 < 0.15


# Slopes.


@pytest.mark.parametrize("ways", [1, 2])
def test_slope_is_what_a_step_adds_each_way(ways: int) -> None:
    made = estimated(slope([1, 2, 3, 4], ways), times_us(line(30, 47, 64, 81)))
    assert made.value == pytest.approx(17 / ways, abs=0.1)
    assert made.low < 17 / ways < made.high
    # Three steps make 51 of the 30.
    assert made.effect == pytest.approx(math.log(81 / 30), abs=0.02)


def test_slope_is_that_of_least_squares_over_steps_of_unequal_length() -> None:
    estimand = slope([1, 2, 5])
    truth = dict(zip([f"v,method=a,threads={k}" for k in (1, 2, 5)], (1, 3, 4), strict=True))
    logs = {name: math.log(1e3 * value) for name, value in truth.items()}
    wanted = np.polyfit([1, 2, 5], [1, 3, 4], 1)[0]
    assert kind_of(estimand).of_one(estimand, roles(estimand), logs) == pytest.approx(wanted)


def test_a_flat_line_is_told_from_none_by_its_interval() -> None:
    made = estimated(slope([1, 2, 3]), times_us(line(30, 30, 30)))
    assert made.low < 0 < made.high


# Uneven growth.


def test_unevenness_of_steps_49_4_46_1() -> None:
    """The source's own: (49 − 1) ÷ 25."""
    made = estimated(unevenness([1, 2, 3, 4, 5]), times_us(line(101, 150, 154, 200, 201), sd=0.1))
    assert made.value == pytest.approx(48 / 25, rel=0.02)
    assert made.low < 48 / 25 < made.high
    assert made.low > 1
    steps = made.notes["steps"]
    assert [round(step["ns"] / 1e3) for step in steps] == [49, 4, 46, 1]
    assert [(step["from"], step["to"]) for step in steps][-1] == (4, 5)
    assert made.notes["null"]["95"] < 0.1


def test_half_width_and_effect_of_unevenness_are_logs_of_the_first_time() -> None:
    """Of steps far above the first time, the half-width would else hide any effect."""
    made = estimated(unevenness([1, 2, 3, 4]), times_us(line(10, 110, 120, 310), sd=0.2))
    assert made.low > 1
    assert made.half_width == pytest.approx(math.log1p((made.high - made.low) / 2 * 10), rel=0.1)
    assert made.effect == pytest.approx(math.log1p(180 / 10), rel=0.02)


def test_even_growth_looks_uneven_by_as_much_as_its_null_says() -> None:
    made = estimated(unevenness([1, 2, 3, 4, 5]), times_us(line(30, 31, 32, 33, 34), sd=0.2))
    assert made.low == 0
    assert 0 < made.value < 2 * made.notes["null"]["95"]
    # What nothing made can move it by lets it be larger, and never below 0.
    further = widened(unevenness([1, 2, 3, 4, 5]), made, 0.01)
    assert further.low == further.low95 == 0
    assert further.high > made.high


def test_growth_that_may_be_none_has_no_upper_end() -> None:
    made = estimated(unevenness([1, 2, 3, 4, 5]), times_us(line(30, 30, 30, 30, 30), sd=0.2))
    assert made.low == 0
    assert made.high == math.inf


@pytest.mark.parametrize(
    "times", [(30, 40, 50, 60, 70), (30, 42, 50, 62, 70), (70, 58, 50, 38, 30)]
)
def test_unevenness_covers_the_true_one(times: tuple[float, ...]) -> None:
    """Equal steps included; each end has half of the error."""
    estimand = unevenness([1, 2, 3, 4, 5])
    steps = np.diff(times)
    truth = np.ptp(steps) / abs(steps.mean())
    dice = np.random.default_rng(8)
    too_low, too_high = 0, 0
    for _ in range(300):
        around = np.array(times) + dice.normal(0, 1, (12, 5))
        logs = pd.DataFrame(np.log(around), columns=list(line(*times)))
        made = kind_of(estimand).estimate(estimand, roles(estimand), logs, 1)
        assert made.low <= made.low95 <= made.value <= made.high95 <= made.high
        too_low += made.high < truth
        too_high += made.low > truth
    assert max(too_low, too_high) <= 0.04 * 300


# Verdicts.


def verdict(
    of: dict[str, Any], table: pd.DataFrame, points: dict[str, dict], **more: Any
) -> dict[str, Any]:
    """Beside twins that are alike."""
    return in_words(judge_claim(resolved(of, points, table), TWINS, **more))


def test_a_slope_is_judged_in_its_unit() -> None:
    points = known({"method": "a", "threads": [1, 2, 3]})
    table = times_us(line(30, 46, 62))
    near = verdict(claim(slope([1, 2, 3], 2), [7.2, 8.8]), table, points)
    far = verdict(claim(slope([1, 2, 3], 2), [17, 19]), table, points)
    assert (near["verdict"], far["verdict"]) == ("reproduced", "not_reproduced")
    assert near["unit"] == "time per step of threads, one way, µs"
    assert near["shown_in"] == "µs"


def test_a_difference_that_the_twins_could_have_made_is_no_effect() -> None:
    points = known({"method": ["a", "b"]})
    table = times_us({"v,method=a": 30.0, "v,method=b": 30.5})
    wide = {"half_width": 0.1, "low": 0.9, "high": 1.1, "ratio": 1.0}
    null = TWINS | {"again": wide}
    of = claim(difference("b", "a"), [0, None])
    judged = in_words(judge_claim(resolved(of, points, table), null))
    assert judged["verdict"] == "inconclusive"
    assert "below the smallest effect" in judged["reason"]
    assert verdict(of, table, points)["verdict"] == "reproduced"


def test_what_no_host_measures_says_why() -> None:
    of = claim(
        {"kind": "beyond_host", "what": "a number", "why": "no host is in it"},
        [45, 55],
        statistic=None,
        requires="two devices",
    )
    judged = in_words(judge_fact(Claim.of(of), {}))
    assert (judged["verdict"], judged["reason"]) == ("not_measurable_here", "no host is in it")
    assert judged["requires"] == "two devices"


def test_what_no_host_measures_keeps_the_ratio_that_is_printed() -> None:
    of = claim({"kind": "beyond_host", "what": "a number", "why": "no host has it"}, [3, 5])
    of["cells"] = {"numerator": {"column": "old"}, "denominator": {"column": "new"}}
    facts = {"cell": lambda cell: {"old": 4.39, "new": 1.12}[cell["column"]]}
    run = measured_run({}, summaries({"v,method=a": [0.0] * 8}))
    (judged,), _ = judge_claims([Claim.of(of)], "", CONTENT, SIZES, run, facts, {})
    assert judged.verdict == "not_measurable_here"
    assert judged.published == [4.39 / 1.12]


def test_a_claim_is_estimated_beside_itself_under_other_factors() -> None:
    of = claim(ratio("a", "b", "time"), [1, None], beside={"threads": 2})
    for side in ("numerator", "denominator"):
        of["estimand"][side] |= {"threads": 1}
    truth = {f"v,method={name},threads={k}": t for name, k, t in
             (("a", 1, 20), ("b", 1, 10), ("a", 2, 30), ("b", 2, 10))}  # fmt: skip
    points = known({"method": ["a", "b"], "threads": [1, 2]})
    run = measured_run(points, times_us(truth))
    (judged,), _ = judge_claims([Claim.of(of)], "µs", CONTENT, SIZES, run, {}, {})
    assert judged.estimate == pytest.approx(2, rel=0.05)
    assert judged.beside is not None
    assert judged.beside["estimate"] == pytest.approx(3, rel=0.05)
    assert judged.beside["by_interval"] == "reproduced"
    assert judged.beside["setting"] == {"threads": 2}


# What only emulates.


def test_what_emulates_decides_nothing() -> None:
    points = known({"method": ["a", "b"]}, twin_of={"method": "b"})
    table = times_us(dict.fromkeys(points, 20.0) | {"v,method=a": 30.0})
    of = claim(ratio("a", "b", "time"), [1, None])
    assert verdict(of, table, points)["verdict"] == "reproduced"
    points["v,method=a"]["emulates"] = "a model stands for the device"
    judged = verdict(of, table, points)
    assert judged["verdict"] == "not_measurable_here"
    assert judged["reason"] == "v,method=a: a model stands for the device"
    assert judged["estimate"] is None
    assert usable(of["estimand"], roles(of["estimand"]), points)[1]
    # Nor is it a condition under which something would hold.
    where = elsewhere(resolved(of, points, table), [], ())
    assert where is not None
    assert where["tried"] == 0


# Printed times.


def test_published_times_are_taken_as_printed_and_rates_give_no_absolute() -> None:
    cells = {"v,method=a": [145e3], "v,method=b": [101e3]}
    of = difference("a", "b")
    assert published(of, roles(of), cells, "time") == pytest.approx([44])
    assert published(of, roles(of), cells, "rate") == []
    times = ratio("a", "b", "time")
    assert published(times, roles(times), cells, "time") == pytest.approx([145 / 101])
    rates = ratio("a", "b", "rate")
    assert published(rates, roles(rates), cells, "time") == pytest.approx([101 / 145])


def test_printed_times_become_ns() -> None:
    figure = {"y_unit": "µs", "rows": [{"printed": "145", "point": "p"}]}
    assert printed_by_point([figure]) == {"p": [145e3]}
    assert printed_by_point([figure | {"y_unit": "MiB/s"}]) == {"p": [145.0]}


# Figures.


def test_units_tell_their_quantity_and_name_columns() -> None:
    assert [units.quantity_of(unit) for unit in ("µs", "ms", "MiB/s", "", "percent")] == [
        "time",
        "time",
        "rate",
        "rate",
        "rate",
    ]
    assert [units.in_names(unit) for unit in ("µs", "MiB/s")] == ["us", "mib_per_s"]


def test_rows_of_times_have_ratios_of_times() -> None:
    table = times_us({"v,method=a": 20.0, "v,method=b": 30.0}, sd=0.01)
    rows = [
        {"group": "", "label": name, "printed": text, "point": f"v,method={name}", "state": "ok"}
        for name, text in (("a", "100"), ("b", "145"))
    ]
    pairwise.add_ratios(rows, table, "µs")
    assert rows[1]["ratio"]["ratio"] == pytest.approx(1.5, rel=0.01)
    assert rows[1]["printed_ratio"] == pytest.approx(1.45)
    shown = [invocation["rerun"] for invocation in rows[1]["invocations"]]
    assert np.median(shown) == pytest.approx(30, rel=0.01)
    pairwise.add_ratios(rows, table, "MB/s")
    assert rows[1]["ratio"]["ratio"] == pytest.approx(1 / 1.5, rel=0.01)


def test_the_papers_statistic_of_a_time_is_a_time() -> None:
    point = {"time_ns": 30e3, "time_low_ns": 29e3, "time_high_ns": None, "paper_ns": 31e3}
    point |= {"bytes_per_call": CALL_BYTES, "paper_statistic": "mean", "paper_samples": 500}
    row = figures._rerun(point, "µs")
    assert (row["rerun"], row["low"], row["high"]) == (30.0, 29.0, None)
    assert row["paper_statistic"] == pytest.approx(31.0)


def test_one_figure_measures_what_stands_beside_its_claims() -> None:
    wanted = catalogue.crosses_of_figure(ROOT, "udp", "e7udpip-latency/one-socket")
    assert {cross["wait"] for cross in wanted} == {"block", "spin"}
    own = claim(ratio(), [1, None])
    assert catalogue.moved(own) == {}
    moved = catalogue.moved(own | {"beside": {"threads": 2}})
    assert moved["numerator"] == {"method": "a", "threads": 2}
    both = catalogue.moved(claim(difference("ab", "cd"), [0, 1], beside={"threads": 2}))
    assert [point["threads"] for point in both["minuend"]] == [2, 2]
