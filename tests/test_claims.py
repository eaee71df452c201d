"""Verdicts by the interval rule on data whose truth is known, and the machine's own null."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from claimed import (
    claim,
    in_words,
    known,
    measured_run,
    ratio,
    resolved,
    roles,
    share,
    spread,
    summaries,
    twin_id,
    twins_null,
)

from benchbook.analyse.null_tests import null_of, ratio_interval
from benchbook.define.points import Point
from benchbook.judge.claims import judge_claim, judge_fact, robustness, with_variant
from benchbook.judge.resolved_claim import Claim, ResolvedClaim, estimate
from benchbook.report import reasons

A, B = "v,method=a", "v,method=b"
TWICE = claim(ratio(), [1.8, 2.2])
EQUAL = claim(ratio(), [0.97, 1.03])
TIMES = ["median_ns", "mean_ns", "best_ns"]


def measured(factor: float, sd: float = 0.01, blocks: int = 8, twin: float = 1.0) -> pd.DataFrame:
    """Rates of a, b, and of b's twins; `factor` is a's rate ÷ b's, `twin` that of the same binary
    again ÷ b's; what a block has in common cancels in the pair."""
    dice = np.random.default_rng(7)
    common = dice.normal(0, 0.3, blocks)
    rates = {A: factor, B: 1.0, twin_id(B, "again"): twin, twin_id(B, "relinked"): 1.0}
    return summaries(
        {name: np.log(rate) + common + dice.normal(0, sd, blocks) for name, rate in rates.items()}
    )


def slower(table: pd.DataFrame, name: str, factor: float) -> pd.DataFrame:
    """The table with another time of one point."""
    table.loc[table["point"] == name, TIMES] *= factor
    return table


def points(**changes: dict) -> dict[str, dict]:
    table = known({"method": ["a", "b"]}, twin_of={"method": "b"})
    for name, change in changes.items():
        table[f"v,method={name}"] |= change
    return table


def judge(
    table: pd.DataFrame, said: dict | None = None, of: dict = TWICE, **more: Any
) -> dict[str, Any]:
    said = said or points()
    null = twins_null(said, table)
    return in_words(judge_claim(resolved(of, said, table), null, **more))


def test_inside_the_region_is_reproduced() -> None:
    verdict = judge(measured(2.0))
    assert verdict["verdict"] == "reproduced"
    assert verdict["estimate"] == pytest.approx(2.0, rel=0.02)
    low, high = verdict["interval"]
    assert low < verdict["estimate"] < high
    assert low <= verdict["pointwise"][0] < verdict["pointwise"][1] <= high
    assert (verdict["unit"], verdict["blocks"]) == ("ratio of rates", 8)
    assert verdict["points"] == {"numerator": A, "denominator": B}
    # Three statistics, over all blocks and over the undisturbed ones; the one state is "all".
    assert verdict["robustness"].startswith("reproduced in 6 of 6 choices")


def test_outside_is_not_reproduced() -> None:
    verdict = judge(measured(3.0))
    assert verdict["verdict"] == "not_reproduced"
    assert verdict["reason"].endswith("lies outside the region, 1.8 to 2.2")


def test_across_the_edge_is_inconclusive() -> None:
    verdict = judge(measured(2.2, sd=0.05))
    assert verdict["verdict"] == "inconclusive"
    assert "overlaps the edge of the region" in verdict["reason"]


def test_too_few_blocks_never_decide() -> None:
    verdict = judge(measured(2.0, blocks=5))
    assert verdict["verdict"] == "inconclusive"
    assert verdict["interval"] == [0.0, None]
    assert verdict["robustness"] == (
        "not decided in 0 of 0 choices of statistic, rounds, speed level and variant, "
        "by the interval alone; 6 have too few rounds to decide"
    )


def test_equal_programs_that_differ_widen_every_interval_by_as_much() -> None:
    sound, apart = judge(measured(2.0)), judge(measured(2.0, twin=1.3))
    by = max(apart["interval"][1] / sound["interval"][1], 1.3)
    assert apart["interval"][1] == pytest.approx(sound["interval"][1] * by)
    assert apart["interval"][0] == pytest.approx(sound["interval"][0] / by)
    assert 1.3 <= by < 1.35
    assert apart["estimate"] == sound["estimate"]
    assert sound["verdict"] == "reproduced"
    assert apart["verdict"] == "inconclusive"  # 1.8 to 2.2 is less than a factor of 1.3 wide
    assert "wider by a factor of 1.3" in apart["reason"]


def test_a_difference_beyond_what_equal_programs_show_is_decided() -> None:
    verdict = judge(measured(8.0, twin=1.05))
    assert verdict["verdict"] == "not_reproduced"
    assert "wider by a factor of 1.06" in verdict["reason"]


def test_missing_null_decides_nothing() -> None:
    said = points()
    del said[twin_id(B, "again")]
    verdict = judge(measured(2.0), said)
    assert verdict["verdict"] == "inconclusive"
    assert "no A/A test" in verdict["reason"]


def test_twin_that_failed_is_a_missing_null() -> None:
    said = points()
    said[twin_id(B, "again")]["state"] = "failed"
    assert "no A/A test" in judge(measured(2.0), said)["reason"]


def test_effect_smaller_than_relinking_is_not_real() -> None:
    table = slower(measured(1.05, sd=0.002), twin_id(B, "relinked"), 1.2)
    verdict = judge(table, of=claim(ratio(), [1.02, None]))
    assert verdict["verdict"] == "inconclusive"
    assert "other padding" in verdict["reason"]
    assert "rests on a factor of 1.05, below" in verdict["reason"]


def test_no_effect_beside_a_wide_floor_is_still_no_effect() -> None:
    """An equivalence that holds rests on no effect, so none is too small for it."""
    table = slower(measured(1.0, sd=0.002), twin_id(B, "relinked"), 1.2)
    assert judge(table, of=EQUAL)["verdict"] == "reproduced"


def test_equivalence_beside_a_wide_floor_is_inconclusive_both_ways() -> None:
    table = slower(measured(1.06, sd=0.002), twin_id(B, "relinked"), 1.12)
    assert judge(table, of=claim(ratio(), [1.03, None]))["verdict"] == "inconclusive"
    assert judge(table, of=EQUAL)["verdict"] == "inconclusive"


def test_range_beside_a_wide_floor_is_not_called_large() -> None:
    """Points of no difference have the range 0, as a ratio has 1."""
    wide = claim(spread(["b"], [1, 2]), [None, 0.03])
    said = known(wide["estimand"]["points"], {"method": "b"}, twin_of={"method": "b"})
    dice = np.random.default_rng(8)
    rates = dict.fromkeys(said, 0.0) | {"v,bytes=1,method=b": np.log(1.06)}
    logs = {name: rate + dice.normal(0, 0.002, 8) for name, rate in rates.items()}
    assert judge(summaries(logs), said, wide)["verdict"] == "not_reproduced"
    table = slower(summaries(logs), twin_id(B, "relinked"), 1.2)
    assert judge(table, said, wide)["verdict"] == "inconclusive"
    above = wide | {"region": [0.03, None]}
    assert judge(summaries(logs), said, above)["verdict"] == "reproduced"
    assert judge(table, said, above)["verdict"] == "inconclusive"


HALF = claim(share("a", "b", "gone"), [0.5, None])


def caused(factor: float, sd: float) -> tuple[dict[str, dict], pd.DataFrame]:
    """A factor of a over b that goes with its cause."""
    said = known({"method": ["a", "b", "gone"]}, twin_of={"method": "b"})
    dice = np.random.default_rng(10)
    rates = dict.fromkeys(said, 0.0) | {A: np.log(factor)}
    return said, summaries({name: rate + dice.normal(0, sd, 12) for name, rate in rates.items()})


def test_share_of_a_factor_that_nothing_may_have_made_is_inconclusive() -> None:
    said, table = caused(1.1, 0.002)
    assert judge(table, said, HALF)["verdict"] == "reproduced"
    verdict = judge(slower(table, twin_id(B, "relinked"), 1.2), said, HALF)
    assert verdict["verdict"] == "inconclusive"
    assert "rests on a factor of 1.1," in verdict["reason"]


def test_share_of_a_small_factor_is_decided_where_it_is_known_well() -> None:
    """What must not exceed the factor's log is an error in logs, not one in shares."""
    said, table = caused(1.07, 0.008)
    found = estimate(Claim.of(HALF), roles(HALF["estimand"]), table, 1)
    assert found is not None
    assert (found.high - found.low) / 2 > np.log(1.07) > found.half_width
    assert judge(table, said, HALF)["verdict"] == "reproduced"


def test_point_that_could_not_run_is_not_measurable_with_its_reason() -> None:
    said = points(a={"state": "cannot_run", "reason": "compiler 'x' is not on PATH"})
    verdict = judge(measured(2.0), said)
    assert verdict["verdict"] == "not_measurable_here"
    assert verdict["reason"] == f"{A}: compiler 'x' is not on PATH"
    assert verdict["estimate"] is None
    assert verdict["interval"] is None


def test_point_of_no_run_is_not_measurable_with_its_reason() -> None:
    said = points()
    del said[A]
    verdict = judge(measured(2.0), said)
    assert verdict["verdict"] == "not_measurable_here"
    assert verdict["reason"] == f"{A}: not in this preset"


def test_size_that_is_unknown_here_is_not_measurable() -> None:
    large = claim(ratio(), [1.8, 2.2])
    large["estimand"]["numerator"] = {"bytes": "4 x LLC", "method": "a"}
    verdict = judge(measured(2.0), of=large)
    assert verdict["verdict"] == "not_measurable_here"
    assert "is unknown here" in verdict["reason"]
    assert verdict["points"]["numerator"] is None


def test_claim_without_a_block_of_all_its_points_says_so() -> None:
    table = measured(2.0)
    even = table["block"] % 2 == 0
    table = table[((table["point"] != A) | even) & ((table["point"] != B) | ~even)]
    verdict = judge(table)
    assert verdict["verdict"] == "inconclusive"
    assert verdict["reason"] == "no round holds all measurements"


def test_robustness_counts_choices_that_decide_otherwise() -> None:
    table = measured(2.0, blocks=10)
    table.loc[table["point"] == A, "best_ns"] *= 2
    line = robust(table)
    assert line.startswith("reproduced in 4 of 6 choices")


def robust(table: pd.DataFrame) -> str:
    return robustness_in_words(resolved(TWICE, points(), table))


def robustness_in_words(claim_here: ResolvedClaim) -> str:
    made = robustness(claim_here)
    assert made is not None
    return reasons.robustness({"robustness": made.as_json()})


def test_robustness_asks_the_other_variants_too() -> None:
    other = measured(4.0, blocks=10)
    other["point"] = other["point"].str.replace("v", "w", regex=False)
    both = pd.concat([measured(2.0, blocks=10), other], ignore_index=True)
    assert robust(both).startswith("reproduced in 6 of 12 choices")


def test_robustness_asks_each_state_that_has_the_blocks() -> None:
    table = measured(2.0, blocks=16)
    slow = table["block"] >= 8
    table["machine_state"] = np.where(slow, "2", "1")
    table.loc[slow & (table["point"] == A), TIMES] *= 2
    # All blocks and the undisturbed ones overlap the edge; state 1 holds, state 2 does not.
    line = robust(table)
    assert line.startswith("not decided in 6 of 12 choices")
    assert "too few" not in line


def test_a_claim_about_variants_is_asked_of_no_other() -> None:
    sides = {
        "numerator": [Point("v", {"method": "a"})],
        "denominator": [Point("w", {"method": "a"})],
    }
    dice = np.random.default_rng(3)
    names = ("v,method=a", "w,method=a", "u,method=a")
    table = summaries({name: dice.normal(0, 0.001, 8) for name in names})
    of = ResolvedClaim(Claim.of(EQUAL), measured_run({}, table), sides, sides).estimated(1)
    assert robustness_in_words(of).startswith("reproduced in 6 of 6 choices")


def test_other_variant_keeps_the_factors() -> None:
    moved = with_variant(roles(ratio()), "w")
    assert [point.id for point in moved["numerator"]] == ["w,method=a"]
    assert moved["denominator"][0].variant == "w"


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_two_twins_the_failing_one_speaks(order: tuple[int, int]) -> None:
    second = measured(2.0, twin=1.3)
    second["point"] = second["point"].str.replace("v", "w", regex=False)
    both = pd.concat([measured(2.0), second], ignore_index=True)
    twins = [
        {"point": f"{variant}~again,method=b", "twin": "again", "state": "ok"}
        for variant in ("v", "w")
    ]
    null = null_of([twins[index] for index in order], both, 1)
    assert null["passes"] is False
    assert null["again"]["point"] == "w,method=b"


def test_a_ratio_is_the_paired_interval_of_the_twins() -> None:
    """One rule, whichever module asks."""
    table = measured(1.7, sd=0.03)
    found = estimate(Claim.of(TWICE), roles(TWICE["estimand"]), table, 5)
    other = ratio_interval(table, A, B, "rate", "median_ns", 5)
    assert found is not None
    assert other is not None
    ends = (found.value, found.low, found.high, found.low95, found.high95)
    assert ends == pytest.approx(tuple(other[key] for key in ("ratio", *ENDS)))
    assert found.half_width == pytest.approx(other["half_width"])


ENDS = ("low", "high", "low95", "high95")


def test_more_claims_of_a_figure_widen_each_interval() -> None:
    table = measured(2.0, blocks=12)
    widths = []
    for intervals in (1, 10):
        found = estimate(Claim.of(TWICE), roles(TWICE["estimand"]), table, intervals)
        assert found is not None
        widths.append(found.high - found.low)
    assert widths[1] > widths[0]


def test_waits_for_a_cpu_widen_what_they_may_have_changed() -> None:
    """Beside other work one side waited for 30 % of its time, and a ratio of 2 became 1.4."""

    def waiting(share: float, rounds: int) -> dict[str, Any]:
        table = slower(measured(2.0), A, 1 / (1 - share))
        waited = (table["point"] == A) & (table["block"] < rounds)
        return judge(table.assign(waited_fraction=np.where(waited, share, 0.0)))

    verdict = waiting(0.3, rounds=6)
    assert verdict["verdict"] == "inconclusive"
    assert verdict["interval"][0] < 1.4 < 2.0 < verdict["interval"][1]
    assert "waited 30\u00a0% of its time for a CPU" in verdict["reason"]
    # A quarter of the rounds moves no median.
    assert waiting(0.0, rounds=2)["verdict"] == "reproduced"
    assert waiting(0.3, rounds=2)["verdict"] == "not_reproduced"
    # What no wait can have made stays decided, and what did nothing but wait has an interval.
    assert waiting(0.9, rounds=8)["verdict"] == "inconclusive"
    far = claim(ratio(), [10, None])
    table = measured(2.0).assign(waited_fraction=0.3)
    assert judge(table, of=far)["verdict"] == "not_reproduced"
    assert judge(table.assign(waited_fraction=1.0), of=far)["verdict"] == "inconclusive"


def test_waits_of_partners_are_not_seen_and_may_be_as_long(monkeypatch) -> None:
    waited = measured(2.0).assign(waited_fraction=0.3)
    alone = judge(waited)["interval"]
    monkeypatch.setattr(Point, "parties", 2)
    both = judge(waited)["interval"]
    assert both[0] == pytest.approx(alone[0] * 0.4 / 0.7)
    assert both[1] == pytest.approx(alone[1] * 0.7 / 0.4)


def test_a_fact_is_decided_without_noise() -> None:
    limit = claim({"kind": "link_limit", "variant": "v"}, [None, 999], statistic=None)
    facts = {"limits": [{"variant": "v", "outcome": "found", "links_bytes": 999, "reason": "said"}]}
    verdict = in_words(judge_fact(Claim.of(limit), facts))
    assert verdict["verdict"] == "reproduced"
    assert verdict["interval"] == [999, 999]
    assert (verdict["unit"], verdict["reason"], verdict["blocks"]) == ("bytes", "said", 0)
    assert judge_fact(Claim.of(limit | {"region": [None, 998]}), facts).verdict == "not_reproduced"


def test_a_fact_that_was_not_found_is_not_measurable_with_its_reason() -> None:
    limit = claim({"kind": "link_limit", "variant": "v"}, [None, 999], statistic=None)
    verdict = in_words(judge_fact(Claim.of(limit), {"limits": []}))
    assert verdict["verdict"] == "not_measurable_here"
    assert verdict["reason"] == "not in this preset"
    assert verdict["estimate"] is None
