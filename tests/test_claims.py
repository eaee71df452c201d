"""Verdicts by the interval rule on data whose truth is known, and the machine's own null."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from benchbook.claims import judge_claim, null_of, robustness

CLAIM = {
    "id": "c",
    "text": "a is twice as fast as b",
    "estimand": {"quantity": "rate"},
    "region": [1.8, 2.2],
    "region_reason": "because",
    "statistic": "median",
    "scope": "here",
}
SIDES = {"numerator": "v,a", "denominator": "v,b"}


def summaries(ratio: float, spread: float = 0.01, blocks: int = 8, twin: float = 1.0):
    """Rates of a, b, and of b's twins; `ratio` is a's rate ÷ b's; times in ns."""
    dice = np.random.default_rng(7)
    rows = []
    for block in range(blocks):
        common = dice.normal(0, 0.3)  # what a block has in common cancels in the pair
        for point, factor in {
            "v,a": 1 / ratio,
            "v,b": 1.0,
            "v~again,b": 1 / twin,
            "v~relinked,b": 1.0,
        }.items():
            time_ns = 1e6 * factor * np.exp(common + dice.normal(0, spread))
            rows.append(
                {
                    "block": block,
                    "point": point,
                    "median_ns": time_ns,
                    "mean_ns": time_ns * 1.01,
                    "best_ns": time_ns * 0.99,
                    "bytes_declared": 8e6,
                    "disturbed": block == 0,
                    "machine_state": "1",
                }
            )
    return pd.DataFrame(rows)


def points(**changes: dict) -> dict:
    names = {"v,a": "", "v,b": "", "v~again,b": "again", "v~relinked,b": "relinked"}
    table = {
        name: {"point": name, "twin": twin, "state": "ok", "reason": ""}
        for name, twin in names.items()
    }
    for name, change in changes.items():
        table[f"v,{name}"] |= change
    return table


def judge(table: pd.DataFrame, known: dict | None = None, claim: dict = CLAIM) -> dict:
    known = known or points()
    null = null_of(list(known.values()), table, 1)
    return judge_claim(claim, SIDES, known, table, null, 1)


def test_inside_the_region_is_reproduced() -> None:
    verdict = judge(summaries(2.0))
    assert verdict["verdict"] == "reproduced"
    assert verdict["estimate"] == pytest.approx(2.0, rel=0.02)
    low, high = verdict["interval"]
    assert low < verdict["estimate"] < high
    # Three statistics, over all blocks and over the undisturbed ones; the one state is "all".
    assert verdict["robustness"].startswith("reproduced in 6 of 6 choices")


def test_outside_is_not_reproduced() -> None:
    assert judge(summaries(3.0))["verdict"] == "not_reproduced"


def test_across_the_edge_is_inconclusive() -> None:
    assert judge(summaries(2.2, spread=0.05))["verdict"] == "inconclusive"


def test_too_few_blocks_never_decide() -> None:
    verdict = judge(summaries(2.0, blocks=5))
    assert verdict["verdict"] == "inconclusive"
    assert verdict["interval"] == [0.0, None]


def test_failed_null_makes_everything_inconclusive() -> None:
    verdict = judge(summaries(2.0, twin=1.3))
    assert verdict["verdict"] == "inconclusive"
    assert "fails its own null" in verdict["reason"]


def test_missing_null_decides_nothing() -> None:
    known = points()
    del known["v~again,b"]
    verdict = judge(summaries(2.0), known)
    assert verdict["verdict"] == "inconclusive"
    assert "no A/A twin" in verdict["reason"]


def test_effect_smaller_than_relinking_is_not_real() -> None:
    table = summaries(1.05, spread=0.002)
    relinked = table["point"] == "v~relinked,b"
    table.loc[relinked, ["median_ns", "mean_ns", "best_ns"]] *= 1.2
    verdict = judge(table, claim={**CLAIM, "region": [1.02, None]})
    assert verdict["verdict"] == "inconclusive"
    assert "other padding" in verdict["reason"]


def test_point_that_could_not_run_is_not_measurable_with_its_reason() -> None:
    known = points(a={"state": "cannot_run", "reason": "compiler 'x' is not on PATH"})
    verdict = judge(summaries(2.0), known)
    assert verdict["verdict"] == "not_measurable_here"
    assert "compiler 'x' is not on PATH" in verdict["reason"]
    assert verdict["estimate"] is None
    assert verdict["interval"] is None


def test_robustness_counts_choices_that_decide_otherwise() -> None:
    table = summaries(2.0, blocks=10)
    table.loc[table["point"] == "v,a", "best_ns"] *= 2
    line = robustness(CLAIM, "v,a", "v,b", table, 1, {"low": 1.9, "high": 2.1})
    assert line.startswith("reproduced in 4 of 6 choices")


def test_robustness_asks_the_other_variants_too() -> None:
    table = summaries(2.0, blocks=10)
    other = summaries(4.0, blocks=10)
    other["point"] = other["point"].str.replace("v", "w", regex=False)
    both = pd.concat([table, other], ignore_index=True)
    line = robustness(CLAIM, "v,a", "v,b", both, 1, {"low": 1.9, "high": 2.1})
    assert line.startswith("reproduced in 6 of 12 choices")


def test_equivalence_beside_a_wide_floor_is_inconclusive_both_ways() -> None:
    table = summaries(1.06, spread=0.002)
    relinked = table["point"] == "v~relinked,b"
    table.loc[relinked, ["median_ns", "mean_ns", "best_ns"]] *= 1.12
    assert judge(table, claim={**CLAIM, "region": [1.03, None]})["verdict"] == "inconclusive"
    assert judge(table, claim={**CLAIM, "region": [0.97, 1.03]})["verdict"] == "inconclusive"


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_two_twins_the_failing_one_speaks(order: tuple[int, int]) -> None:
    table = summaries(2.0)
    second = summaries(2.0, twin=1.3)
    second["point"] = second["point"].str.replace("v", "w", regex=False)
    both = pd.concat([table, second], ignore_index=True)
    twins = [
        {"point": f"{variant}~again,b", "twin": "again", "state": "ok"} for variant in ("v", "w")
    ]
    null = null_of([twins[index] for index in order], both, 1)
    assert null["passes"] is False
    assert null["again"]["point"] == "w,b"
