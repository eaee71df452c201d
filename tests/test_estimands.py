"""What each kind of claim estimates, on numbers whose answer is known."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from claimed import (
    CONTENT,
    SIZES,
    claim,
    known,
    measured_run,
    ratio,
    resolved,
    roles,
    share,
    spread,
    summaries,
)

from benchbook import stats
from benchbook.core.reason_codes import Code, Reason
from benchbook.estimands import (
    Estimate,
    asked,
    intervals_of,
    is_measured,
    kind_of,
    published,
    usable,
)
from benchbook.judge.claims import judge_claim, judge_fact
from benchbook.judge.resolved_claim import Claim, estimate
from benchbook.judge.verdicts import judge_claims
from benchbook.report import reasons

BLOCKS = 12
RUNS = 250  # of each simulation


def found(estimand: dict[str, Any], table: pd.DataFrame, intervals: int = 1) -> Estimate:
    """Its estimate, which must be there."""
    made = estimate(Claim.of(claim(estimand, [0, 1])), roles(estimand), table, intervals)
    assert made is not None
    return made


def noisy(truth: dict[str, float], sd: float = 0.01, blocks: int = BLOCKS, seed: int = 5) -> dict:
    """Logs of rates around each truth, with a large factor that each block has in common."""
    dice = np.random.default_rng(seed)
    common = dice.normal(0, 0.4, blocks)
    return {name: log + common + dice.normal(0, sd, blocks) for name, log in truth.items()}


def methods(**factors: float) -> dict[str, float]:
    """Logs of rates by point: `methods(a=2)` is twice as fast as 1."""
    return {f"v,method={name}": math.log(factor) for name, factor in factors.items()}


def sizes(method: str, *factors: float) -> dict[str, float]:
    """Logs of rates of one method at 1, 2, … bytes."""
    return {
        f"v,bytes={k + 1},method={method}": math.log(factor) for k, factor in enumerate(factors)
    }


# Ratios.


@pytest.mark.parametrize("quantity", ["rate", "time"])
def test_ratio_of_two_points_of_the_same_bytes(quantity: str) -> None:
    made = found(ratio(quantity=quantity), summaries(noisy(methods(a=3, b=1))))
    truth = 3 if quantity == "rate" else 1 / 3
    assert made.value == pytest.approx(truth, rel=0.01)
    assert made.low < truth < made.high
    assert made.effect == pytest.approx(math.log(3), abs=0.01)
    assert (made.null, len(made.values)) == (1.0, BLOCKS)


def test_time_counts_the_call_and_rate_its_bytes() -> None:
    table = summaries(noisy(methods(a=1, b=1)), call_bytes={"v,method=a": 16e6, "v,method=b": 8e6})
    assert found(ratio(), table).value == pytest.approx(1, rel=0.01)
    assert found(ratio(quantity="time"), table).value == pytest.approx(2, rel=0.01)


def test_a_block_that_lacks_a_side_is_left_out() -> None:
    logs = noisy(methods(a=3, b=1))
    logs["v,method=a"][4] = math.nan
    assert len(found(ratio(), summaries(logs)).values) == BLOCKS - 1


# How much closer some points lie together than others.


def test_ratio_of_ranges_compares_fastest_over_slowest() -> None:
    estimand = {
        "kind": "ratio_of_ranges",
        "quantity": "rate",
        "numerator": [{"method": name} for name in ("a", "b", "new")],
        "denominator": [{"method": name} for name in ("a", "b", "old")],
    }
    logs = noisy(methods(a=1, b=1.2, new=1.5, old=3), sd=0.001)
    made = found(estimand, summaries(logs))
    assert made.value == pytest.approx(1.5 / 3, rel=0.01)
    of_one = kind_of(estimand).of_one(
        estimand, roles(estimand), methods(a=1, b=1.2, new=1.5, old=3)
    )
    assert of_one == pytest.approx(0.5)
    assert kind_of(estimand).pairs(estimand, roles(estimand)) == [("v,method=new", "v,method=old")]


# The share of a factor that a cause explains.


def test_share_of_a_factor_of_nine_in_logs() -> None:
    """With the cause removed a factor of 3 is left: it explained half of the 9."""
    made = found(share(), summaries(noisy(methods(odd=9, base=1, removed=3), sd=0.002)))
    assert made.value == pytest.approx(0.5, abs=0.01)
    assert made.low < 0.5 < made.high
    assert made.notes["factor"] == pytest.approx(9, rel=0.01)
    assert made.notes["factor_removed"] == pytest.approx(3, rel=0.01)
    assert made.effect == pytest.approx(math.log(9), rel=0.01)


@pytest.mark.parametrize(("removed", "truth"), [(1, 1.0), (9, 0.0), (1 / 3, 1.5)])
def test_share_is_all_none_or_more_than_all(removed: float, truth: float) -> None:
    table = summaries(noisy(methods(odd=9, base=1, removed=removed), sd=0.002))
    assert found(share(), table).value == pytest.approx(truth, abs=0.01)


def test_a_factor_below_one_is_not_that_of_something_fast() -> None:
    of = claim(share(), [0.5, None])
    table = summaries(noisy(methods(odd=1 / 9, base=1, removed=1 / 3), sd=0.002))
    assert estimate(Claim.of(of), roles(of["estimand"]), table, 1) is None


def test_no_share_of_a_factor_that_is_not_there() -> None:
    of = claim(share(), [0.5, None])
    points = known({"method": ["odd", "base", "removed"]}, twin_of={"method": "base"})
    table = summaries(noisy(dict.fromkeys(points, 0.0)))
    assert estimate(Claim.of(of), roles(of["estimand"]), table, 1) is None
    run = measured_run(points, table)
    (verdict,), _ = judge_claims([Claim.of(of)], "", CONTENT, SIZES, run, {}, {})
    assert (verdict.verdict, verdict.reason) == ("inconclusive", Reason(Code.NO_FACTOR))


# Ranges.


def test_range_of_two_points_is_that_of_their_ratio() -> None:
    table = summaries(noisy(sizes("a", 1.0, 0.9)))
    made = found(spread(["a"], [1, 2]), table)
    paired = found(
        ratio()
        | {"numerator": {"bytes": 1, "method": "a"}}
        | {"denominator": {"bytes": 2, "method": "a"}},
        table,
    )
    assert made.value == pytest.approx(0.1, abs=0.01)
    assert made.value == pytest.approx(1 - 1 / paired.value)
    assert (made.low, made.high) == pytest.approx((1 - 1 / paired.low, 1 - 1 / paired.high))
    assert made.null == 0.0


def test_range_of_two_equal_points_begins_at_none() -> None:
    made = found(spread(["a"], [1, 2]), summaries(noisy(sizes("a", 1.0, 1.0))))
    assert made.low == 0
    assert 0 <= made.value < made.high < 0.03


def test_range_of_many_points() -> None:
    truth = sizes("a", 1.0, 0.98, 0.96, 0.9, 0.99)
    made = found(spread(["a"], [1, 2, 3, 4, 5]), summaries(noisy(truth, sd=0.002)))
    assert made.value == pytest.approx(0.1, abs=0.003)
    assert made.low < 0.1 < made.high
    assert made.low <= made.low95 < made.high95 <= made.high


def test_range_of_times_counts_their_ratio() -> None:
    table = summaries(noisy(sizes("a", 1.0, 0.8, 0.9), sd=0.002))
    rates = found(spread(["a"], [1, 2, 3]), table)
    times = found(spread(["a"], [1, 2, 3], quantity="time"), table)
    assert times.value == pytest.approx(rates.value)


GROUPS = {"a": 0.02, "b": 0.04, "c": 0.06, "d": 0.08}


def four_groups(sd: float = 0.001) -> pd.DataFrame:
    """Ranges of 2, 4, 6 and 8 %, each over three sizes."""
    truth: dict[str, float] = {}
    for method, width in GROUPS.items():
        truth |= sizes(method, 1.0, 1 - width, 1 - width / 2)
    return summaries(noisy(truth, sd=sd))


@pytest.mark.parametrize(
    ("among", "holds", "truth"),
    [
        ("abcd", "all", 0.08),
        ("abcd", "most", 0.06),  # three of four stay within it, two of four are not most
        ("abc", "most", 0.04),
        ("ab", "most", 0.04),
        ("d", "most", 0.08),
    ],
)
def test_of_several_ranges_the_largest_or_that_of_the_least_majority(
    among: str, holds: str, truth: float
) -> None:
    made = found(spread(list(among), [1, 2, 3], holds), four_groups())
    assert made.value == pytest.approx(truth, abs=0.002)
    assert made.low < truth < made.high
    seen = {name: range_["range"] for name, range_ in made.notes["ranges"].items()}
    expected = {name: GROUPS[name] for name in among} if len(among) > 1 else {"d": 0.08}
    assert seen == pytest.approx(expected, abs=0.002)


def test_range_with_too_few_blocks_has_open_ends() -> None:
    truth = sizes("a", 1.0, 0.9, 0.95)
    for points in ([1, 2], [1, 2, 3]):
        made = found(spread(["a"], points), summaries(noisy(truth, blocks=5)))
        assert (made.low, made.high) == (0.0, 1.0)
        assert made.half_width == math.inf
    assert "of_medians" in made.notes["ranges"]["a"]
    made = found(spread(["a"], [1, 2, 3]), summaries(noisy(truth, blocks=3)))
    assert "of_medians" not in made.notes["ranges"]["a"]


@pytest.mark.parametrize("factors", [(1, 0.97), (1, 0.97, 0.95, 0.99), (1,) * 8])
def test_interval_of_a_range_covers_the_true_one(factors: tuple[float, ...]) -> None:
    """Equal points included, where the range of the estimates is above the truth for certain."""
    estimand = spread(["a"], list(range(1, len(factors) + 1)))
    sides, truth = roles(estimand), 1 - min(factors)
    kind = kind_of(estimand)
    intervals = len(kind.compared(estimand, sides))
    names = [point.id for point in sides["points"]]
    dice = np.random.default_rng(6)
    covered, above = 0, 0
    for _ in range(RUNS):
        values = np.log(factors) + dice.normal(0, 0.02, (BLOCKS, len(factors)))
        made = kind.estimate(estimand, sides, pd.DataFrame(values, columns=names), intervals)
        covered += made.low <= truth <= made.high
        above += made.value > truth
    assert covered >= 0.93 * RUNS  # as asked of every interval in test_stats_coverage.py
    if min(factors) == 1:
        assert above == RUNS


@pytest.mark.parametrize("holds", ["all", "most"])
def test_interval_of_several_ranges_covers_the_true_one(holds: str) -> None:
    """Two of four ranges are equal, so that the one in the middle is uncertain; by halves of the
    error each end errs in at most 2.5 %."""
    sizes_of, widest = [1, 2, 3], dict(zip("abcd", (0.99, 0.97, 0.97, 0.95), strict=True))
    estimand = spread(list(widest), sizes_of, holds)
    sides, truth = roles(estimand), 0.05 if holds == "all" else 0.03
    names = [point.id for point in sides["points"]]
    logs = [
        math.log(widest[point.factors["method"]]) if point.factors["bytes"] == 2 else 0.0
        for point in sides["points"]
    ]
    dice = np.random.default_rng(7)
    too_low, too_high = 0, 0
    for _ in range(RUNS):
        values = np.array(logs) + dice.normal(0, 0.02, (BLOCKS, len(names)))
        table = pd.DataFrame(values, columns=names)
        made = kind_of(estimand).estimate(estimand, sides, table, 1)
        too_low += made.high < truth
        too_high += made.low > truth
    assert max(too_low, too_high) <= 0.04 * RUNS


def test_a_range_ends_with_the_difference_of_two_points() -> None:
    """The upper end is the pair's own, at the level of one interval; the lower one holds over all
    three pairs and their signs."""
    estimand = spread(["a"], [1, 2, 3])
    sides = roles(estimand)
    near, far = np.arange(12) * 1e-4, 0.1 + np.arange(12)[::-1] * 1e-4
    columns = [point.id for point in sides["points"]]
    table = pd.DataFrame(np.array([0 * near, near, far]).T, columns=columns)
    made = kind_of(estimand).estimate(estimand, sides, table, 2)
    high = stats.signed_rank_interval(far, stats.adjusted_level(2)).high
    low = stats.signed_rank_interval(far, stats.adjusted_level(2 * 6)).low
    assert (made.low, made.high) == pytest.approx((-math.expm1(-low), -math.expm1(-high)))
    assert made.values == pytest.approx(far)


def beside_null(dice: np.random.Generator, *factors: float) -> dict[str, Any]:
    """One group's range, with its null distribution."""
    estimand = spread(["a"], list(range(1, len(factors) + 1)))
    truth = sizes("a", *factors)
    logs = {name: log + dice.normal(0, 0.02, BLOCKS) for name, log in truth.items()}
    return found(estimand, summaries(logs)).notes["ranges"]["a"]


def test_range_of_equal_points_is_unremarkable_beside_its_null(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A share that is as good as drawn at random: below q in about q of the runs."""
    monkeypatch.setattr(stats, "range_null", partial(stats.range_null, draws=200))
    dice = np.random.default_rng(11)
    notes = [beside_null(dice, *[1.0] * 12) for _ in range(50)]
    shares = np.array([note["of_medians"]["share_at_least"] for note in notes])
    assert (shares < 0.05).mean() <= 0.12
    assert 0.35 < np.median(shares) < 0.65
    single = [note["of_single_starts"] for note in notes]
    # Half of the single starts show more than their median.
    assert 0.4 < np.mean([note["share_at_least"] for note in single]) < 0.6
    assert np.mean([note["null_median"] for note in single]) == pytest.approx(
        np.mean([note["observed"] for note in single]), rel=0.05
    )


def test_range_of_points_that_differ_is_remarkable_beside_its_null() -> None:
    notes = beside_null(np.random.default_rng(12), 1.0, 1.0, 1.0, 0.9)
    assert notes["of_medians"]["observed"] > notes["of_medians"]["null_95"]
    assert notes["of_medians"]["share_at_least"] < 0.01


def test_more_points_of_equal_truth_show_a_wider_range() -> None:
    dice = np.random.default_rng(13)
    few, many = (beside_null(dice, *[1.0] * number) for number in (2, 12))
    for name in ("of_medians", "of_single_starts"):
        assert many[name]["null_median"] > 1.5 * few[name]["null_median"]
        assert many[name]["observed"] > few[name]["observed"]


# Points that cannot be measured.


def test_points_of_a_range_that_cannot_run_are_left_out() -> None:
    of = claim(spread(["a", "b"], [1, 2, 3]), [None, 0.05])
    points = known(of["estimand"]["points"])
    gone = "v,bytes=3,method=a"
    points[gone] |= {"state": "cannot_run", "reason": "needs 3 bytes of memory"}
    kept, why = usable(of["estimand"], roles(of["estimand"]), points)
    assert why is None
    assert gone not in [point.id for point in kept["points"]]
    assert len(kept["points"]) == 5
    table = summaries(noisy(dict.fromkeys(set(points) - {gone}, 0.0)))
    null = {"again": None, "relinked": None, "passes": None}
    verdict = judge_claim(resolved(of, points, table, 5), null).as_json()
    assert verdict["left_out"] == [gone]
    assert verdict["notes"]["ranges"]["a"]["points"] == 2
    assert gone in verdict["points"]["points"]


def missing(point: str, why: str) -> Reason:
    return Reason(Code.POINT_MISSING, {"point": point, "why": why})


@pytest.mark.parametrize("holds", ["all", "most"])
def test_range_of_which_too_few_points_are_left_is_not_measurable(holds: str) -> None:
    of = spread(["a", "b"], [1, 2], holds)
    points = known(of["points"])
    points["v,bytes=2,method=b"] |= {"state": "failed", "reason": "its check failed"}
    kept, why = usable(of, roles(of), points)
    assert why == missing("v,bytes=2,method=b", "its check failed")
    assert kept == roles(of)


def test_points_that_the_preset_lacks_are_never_left_out() -> None:
    """Else the claim of a smaller preset would be another claim."""
    of = spread(["a"], [1, 2, 3])
    points = known({"bytes": [1, 2], "method": "a"})
    left_out = Reason(Code.NOT_IN_PRESET, {"point": "v,bytes=3,method=a"})
    assert usable(of, roles(of), points)[1] == left_out


def test_a_ratio_needs_both_points() -> None:
    points = known({"method": ["a", "b"]})
    assert usable(ratio(), roles(ratio()), points) == (roles(ratio()), None)
    points["v,method=b"] |= {"state": "timeout", "reason": "took over 60 s"}
    assert usable(ratio(), roles(ratio()), points)[1] == missing("v,method=b", "took over 60 s")


def test_size_that_is_unknown_here_names_no_point() -> None:
    of = ratio() | {"denominator": {"bytes": "4 x LLC", "method": "b"}}
    assert roles(of)["denominator"] == []
    why = usable(of, roles(of), known({"method": ["a"]}))[1]
    assert why == Reason(Code.SIZE_UNKNOWN)


# The source's own number.


def test_published_ratio_has_one_reading_for_each_pair_of_cells() -> None:
    cells = {"v,method=a": [30.0, 40.0], "v,method=b": [10.0]}
    assert published(ratio(), roles(ratio()), cells) == pytest.approx([3, 4])
    assert published(ratio(), roles(ratio()), {"v,method=a": [30.0]}) == []
    assert published(ratio(), roles(ratio()), {"v,method=a": [30.0], "v,method=b": []}) == []


def test_published_times_are_bytes_over_rate() -> None:
    of = {"kind": "ratio", "quantity": "time"}
    of |= {"numerator": {"bytes": 300, "method": "a"}, "denominator": {"bytes": 100, "method": "a"}}
    cells = {"v,bytes=300,method=a": [10.0], "v,bytes=100,method=a": [20.0]}
    assert published(of, roles(of), cells) == pytest.approx([(300 / 10) / (100 / 20)])


def test_published_share() -> None:
    cells = {"v,method=odd": [90.0], "v,method=base": [10.0], "v,method=removed": [30.0]}
    assert published(share(), roles(share()), cells) == pytest.approx([0.5])
    # A reading in which the source prints no factor at all has no share.
    cells["v,method=odd"] = [10.0, 90.0]
    assert published(share(), roles(share()), cells) == pytest.approx([0.5])


@pytest.mark.parametrize(("holds", "truth"), [("all", 0.2), ("most", 0.2)])
def test_published_range_goes_over_all_cells(holds: str, truth: float) -> None:
    of = spread(["a", "b"], [1, 2], holds)
    cells = {
        "v,bytes=1,method=a": [100.0, 80.0],  # two starts of one size
        "v,bytes=2,method=a": [90.0],
        "v,bytes=1,method=b": [50.0],
        "v,bytes=2,method=b": [45.0],
    }
    assert published(of, roles(of), cells) == pytest.approx([truth])


def test_published_readings_are_not_without_number() -> None:
    cells = {"v,method=a": [30.0] * 100, "v,method=b": [10.0] * 100}
    assert len(published(ratio(), roles(ratio()), cells)) == 200


def test_a_claim_may_name_its_cells() -> None:
    """They stand before those of the figure; a side without one keeps the figure's."""
    cells = {"numerator": {"table": "t.csv", "row": {"method": "A"}, "column": "rate"}}
    of = claim(ratio(), [2, 4], cells=cells)
    points = known({"method": ["a", "b"]}, twin_of={"method": "b"})
    run = measured_run(points, summaries(noisy(dict.fromkeys(points, 0.0))))
    printed = {"v,method=a": [30.0], "v,method=b": [10.0]}
    facts = {"cell": lambda cell: {"A": 70.0}[cell["row"]["method"]]}
    (verdict,), _ = judge_claims([Claim.of(of)], "", CONTENT, SIZES, run, facts, printed)
    assert verdict.published == pytest.approx([7])


# Facts.


def look(estimand: dict[str, Any], facts: dict[str, Any]) -> tuple[float | None, str]:
    assert not is_measured(estimand)
    made = kind_of(estimand).look(estimand, facts)
    return made.value, reasons.cause({"reason": made.reason.as_json()})


def test_a_trial_is_the_signal_or_the_status_it_ended_with() -> None:
    ended = {"name": "trial: large", "state": "ok", "signal": 11, "exit_status": None}
    facts = {"trials": [ended | {"reason": "SIGSEGV"}]}
    assert look(trial("large", "signal"), facts) == (11, "SIGSEGV")
    assert look(trial("large", "exit_status"), facts) == (0, "SIGSEGV")
    facts = {"trials": [ended | {"state": "denied", "reason": "no limit can be set"}]}
    assert look(trial("large", "signal"), facts) == (None, "no limit can be set")
    assert look(trial("small", "signal"), facts) == (None, "not in this preset")


def trial(text: str, quantity: str) -> dict[str, Any]:
    return {"kind": "trial", "trial": text, "quantity": quantity}


@pytest.mark.parametrize(
    ("item", "value"),
    [
        ({"outcome": "found", "links_bytes": 4096}, 4096),
        ({"outcome": "none", "links_bytes": None}, 0),  # links at no size
        ({"outcome": "cannot_run", "links_bytes": None}, None),
    ],
)
def test_a_limit_is_the_largest_size_that_links(item: dict[str, Any], value: float | None) -> None:
    of = {"kind": "link_limit", "variant": "v"}
    facts = {"limits": [item | {"variant": "v", "reason": "said"}]}
    assert look(of, facts) == (value, "said")
    assert look(of | {"variant": "w"}, facts) == (None, "not in this preset")


def test_a_ratio_of_counts_has_no_noise() -> None:
    points = known({"method": ["a", "b"]})
    points["v,method=a"]["observations"] = {"packets": 600}
    points["v,method=b"]["observations"] = {"packets": 10}
    facts = {"content": CONTENT, "sizes": SIZES, "points": points}
    of = {"kind": "count_ratio", "count": "packets"}
    of |= {"numerator": {"method": "a"}, "denominator": {"method": "b"}}
    words = "counted in each run of the program: 600 and 10"
    assert look(of, facts) == (60, words)
    assert look(of | {"count": "bytes"}, facts)[0] is None
    assert look(of | {"denominator": {"method": "c"}}, facts)[0] is None
    judged = judge_fact(Claim.of(claim(of, [30, 120], statistic=None)), facts)
    assert (judged.verdict, judged.estimate) == ("reproduced", 60)


def test_the_audit_is_the_share_of_numbers_that_agree() -> None:
    def item(table: str, rule: str, column: str, consistent: bool) -> dict[str, Any]:
        cells = [{"table": table, "row": 1, "column": column}]
        return {"table": table, "rule": rule, "consistent": consistent, "cells": cells}

    facts = {
        "audit": [
            item("t.csv", "formula", "size", True),
            item("t.csv", "formula", "size", False),
            item("t.csv", "formula", "memory", True),
            item("t.csv", "spread", "size", False),
            item("u.csv", "formula", "size", False),
        ]
    }
    of = {"kind": "audit", "table": "t.csv", "rule": "formula"}
    assert look(of, facts) == (pytest.approx(2 / 3), "2 of 3 numbers agree")
    assert look(of | {"column": "size"}, facts) == (0.5, "1 of 2 numbers agree")
    assert look(of | {"column": "gone"}, facts)[0] is None
    assert look(of | {"rule": "units"}, facts) == (None, "the audit has no units of t.csv")
    all_of_them = claim(of | {"column": "memory"}, [1, 1], statistic=None)
    assert judge_fact(Claim.of(all_of_them), facts).verdict == "reproduced"


# How many intervals hold together.


def test_what_two_claims_share_counts_once() -> None:
    def counted(*estimands: dict[str, Any]) -> int:
        return intervals_of([(claim(estimand, [0, 1]), roles(estimand)) for estimand in estimands])

    assert counted(ratio()) == 1
    assert counted(ratio(), ratio()) == 1
    assert counted(ratio(), ratio(quantity="time")) == 2
    assert counted(ratio(), ratio("a", "c")) == 2
    assert counted(share()) == 1
    assert counted(ratio(), ratio("b", "a")) == 1
    # Of a range one, whatever it goes over; of two points that of their ratio.
    assert counted(spread(["a"], [1, 2])) == 1
    assert counted(spread(["a", "b"], [1, 2, 3])) == 1
    assert counted(spread(["a", "b"], [1, 2, 3]), spread(["b", "a"], [3, 2, 1])) == 1
    assert counted(spread(["a", "b"], [1, 2, 3]), spread(["a", "b"], [1, 2, 3], "most")) == 2
    assert counted(spread(["b"], [1, 2, 3]), spread(["b"], [1, 2, 3], "most")) == 1
    assert counted(spread(["b"], [1, 2, 3]), spread(["b"], [1, 2])) == 2
    assert counted() == 0
    by_best = claim(ratio(), [0, 1], statistic="best")
    both = [(entry, roles(ratio())) for entry in (claim(ratio(), [0, 1]), by_best)]
    assert intervals_of(both) == 2


def test_asked_are_the_claims_that_can_be_measured() -> None:
    fact = claim({"kind": "link_limit", "variant": "v"}, [None, 1], statistic=None)
    two, other = claim(ratio(), [0, 1]), claim(ratio("a", "c"), [0, 1])
    wide = claim(spread(["a"], [1, 2, 3]), [0, 1])
    points = known({"method": ["a", "b"]}, {"bytes": [1, 2, 3], "method": "a"})
    points["v,bytes=2,method=a"] |= {"state": "cannot_run", "reason": "why"}
    kept = asked([fact, two, other, wide], CONTENT, SIZES, points)
    assert [entry for entry, _ in kept] == [two, wide]
    assert [point.factors["bytes"] for point in kept[1][1]["points"]] == [1, 3]
    assert intervals_of(kept) == 2


def test_every_kind_says_its_unit() -> None:
    of_ranges = {"kind": "ratio_of_ranges", "quantity": "time"}
    units = {
        kind_of(estimand).unit(estimand)
        for estimand in (
            ratio(),
            share(),
            spread(["a"], [1, 2]),
            of_ranges,
            trial("x", "exit_status"),
            {"kind": "link_limit"},
            {"kind": "audit"},
        )
    }
    assert units == {
        "ratio of rates",
        "share of the log factor",
        "(max − min) ÷ max of rates",
        "ratio of (largest ÷ smallest time)",
        "exit status",
        "bytes",
        "share of the numbers checked",
    }


def test_a_point_of_two_sides_has_no_published_number() -> None:
    """The source printed it in two tables, and its cells are kept by point."""
    of = {"kind": "ratio_of_ranges", "quantity": "rate"}
    of |= {"numerator": [{"method": "a"}, {"method": "b"}]}
    of |= {"denominator": [{"method": "a"}, {"method": "c"}]}
    cells = {f"v,method={name}": [10.0] for name in "abc"}
    assert published(of, roles(of), cells) == []
    apart = of | {"denominator": [{"method": "c"}, {"method": "d"}]}
    assert published(apart, roles(apart), cells | {"v,method=d": [20.0]}) == pytest.approx([0.5])
