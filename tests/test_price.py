"""What it would take to settle an open claim: margin, blocks, minutes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
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
    spread,
    summaries,
)

from benchbook.judge.resolved_claim import Claim, ResolvedClaim
from benchbook.judge.settling_cost import block_seconds, price, to_settle
from benchbook.judge.verdicts import judge_claims
from benchbook.stats import hodges_lehmann, least_blocks

A, B = "v,method=a", "v,method=b"


def spans(blocks: list[list[tuple[list[str], float]]]) -> pd.DataFrame:
    """Blocks of starts, each with its points and how many seconds it took."""
    rows = []
    for block, starts in enumerate(blocks):
        end_ns = 1e12 * (block + 1)  # what happened between two blocks belongs to neither
        for invocation, (points, took_s) in enumerate(starts):
            start_ns, end_ns = end_ns, end_ns + 1e9 * took_s
            for k, point in enumerate(reversed(points)):
                span = {"block": block, "invocation": invocation, "point": point}
                ends = {"t_start_ns": int(start_ns) + 9, "t_end_ns": int(end_ns - k)}
                rows.append(span | ends)
    return pd.DataFrame(rows)


def test_seconds_of_a_block_are_those_of_the_starts_it_needs() -> None:
    a, both, c = (["a"], 1.0), (["b", "b2"], 2.0), (["c"], 5.0)
    table = spans([[a, both, c], [c, both, a], [both, c, a], [c, a, both]])
    assert block_seconds(table, ["a"]) == pytest.approx(1)
    # One start measures b and b2, and is paid for once.
    assert block_seconds(table, ["a", "b", "b2"]) == pytest.approx(3)
    assert block_seconds(table, ["a", "b", "c"]) == pytest.approx(8)


def test_starts_that_took_turns_are_paid_for_together() -> None:
    table = spans([[(["a"], 1.0), (["b"], 2.0), (["c"], 4.0)]] * 3)
    assert block_seconds(table, ["c"]) == pytest.approx(4)
    b, c = table["point"] == "b", table["point"] == "c"
    begun_ns = table.loc[b, "t_start_ns"].to_numpy()
    table.loc[c, "t_start_ns"] = begun_ns + 5  # while b was alive
    assert block_seconds(table, ["c"]) == block_seconds(table, ["b"]) == pytest.approx(6)
    together = table[table["point"] != "a"]  # they alone make the block
    assert block_seconds(together, ["c"]) == pytest.approx(6)


def test_a_block_that_somebody_held_up_does_not_count_for_all() -> None:
    table = spans([[(["a"], 1.0), (["b"], took_s)] for took_s in (2.0, 2.0, 90.0)])
    assert block_seconds(table, ["b"]) == pytest.approx(2)


def test_start_that_always_came_first_has_no_known_span() -> None:
    assert block_seconds(spans([[(["a"], 1.0), (["b"], 2.0)]]), ["a"]) is None


def open_claim(truth: float, region: Sequence[float | None] = (None, 2)) -> ResolvedClaim:
    """At most twice as fast, or in this region, where the rate is `truth` times the other's."""
    sd, blocks = 0.05, 12
    dice = np.random.default_rng(2)
    noise = dice.normal(0, sd, blocks)
    logs = {A: math.log(truth) + noise - hodges_lehmann(noise), B: np.zeros(blocks)}
    return resolved(claim(ratio(), region), known({"method": ["a", "b"]}), summaries(logs))


def priced(of: ResolvedClaim) -> dict[str, Any]:
    cost = price(of)
    assert cost is not None
    return cost


def test_blocks_grow_as_the_margin_shrinks() -> None:
    wanted = []
    for truth in (1.95, 1.96, 1.97, 1.975):
        of = open_claim(truth)
        cost = priced(of)
        assert of.estimate is not None
        assert cost["margin"] == pytest.approx(abs(math.log(2 / of.estimate.value)))
        wanted.append(cost["blocks"])
        # Each start of b took 10 ms; a is the first of every block.
        assert cost["minutes"] == pytest.approx(cost["blocks"] * 0.01 / 60)
    assert wanted == sorted(set(wanted))
    assert all(blocks % 2 == 0 and blocks >= least_blocks(1) for blocks in wanted)


def test_more_claims_of_a_figure_cost_more_blocks() -> None:
    of = open_claim(1.95)
    assert priced(of.estimated(20))["blocks"] > priced(of)["blocks"]


def test_no_number_of_blocks_settles_an_estimate_on_the_bound() -> None:
    estimate = open_claim(1.95).estimate
    assert estimate is not None
    nothing = {"margin": 0.0, "blocks": None, "minutes": None, "guard": False, "least": 6}
    assert priced(open_claim(1.95, [None, estimate.value])) == nothing
    nearly = open_claim(1.95, [None, estimate.value * 1.0001])
    assert priced(nearly)["blocks"] is None  # over MOST_BLOCKS


def test_what_the_interval_has_decided_has_no_price() -> None:
    cost = priced(open_claim(1.5))
    assert (cost["blocks"], cost["guard"]) == (None, True)


def test_more_blocks_than_did_not_do() -> None:
    assert priced(open_claim(1.945))["blocks"] >= 14


def test_minutes_are_unknown_where_no_block_tells_how_long_a_start_takes() -> None:
    of = open_claim(1.95)
    apart = of.run.summaries.assign(block=range(len(of.run.summaries)))
    cost = priced(replace(of, run=replace(of.run, summaries=apart)))
    assert cost["blocks"]
    assert cost["minutes"] is None


def test_margin_of_a_range_is_in_logs_of_largest_over_smallest() -> None:
    of = claim(spread(["a"], [1, 2]), [None, 0.05])
    logs = {"v,bytes=1,method=a": np.tile([0.0, 0.01], 6), "v,bytes=2,method=a": np.full(12, -0.1)}
    here = resolved(of, known(of["estimand"]["points"]), summaries(logs))
    assert here.estimate is not None
    margin = priced(here)["margin"]
    assert margin == pytest.approx(-math.log1p(-here.estimate.value) + math.log1p(-0.05))


def test_only_an_open_claim_has_a_price() -> None:
    dice = np.random.default_rng(4)
    points = known({"method": ["a", "b"]}, twin_of={"method": "b"})
    logs = {name: math.log(2) * (name == A) + dice.normal(0, 0.03, 12) for name in points}
    claims = [Claim.of(claim(ratio(), [end, None])) for end in (1.5, 1.99)]
    run = measured_run(points, summaries(logs))
    sure, open_ = judge_claims(claims, "", CONTENT, SIZES, run, {}, {})[0]
    assert (sure.verdict, sure.price) == ("reproduced", None)
    assert open_.verdict == "inconclusive"
    assert open_.price is not None
    assert open_.price["margin"] > 0
    # The twins are measured too, and each of the four takes 10 ms but the first.
    assert open_.price["minutes"] == pytest.approx(open_.price["blocks"] * 0.03 / 60)


def test_a_settling_run_has_the_twins_and_what_they_repeat() -> None:
    points = known({"method": ["a", "b", "c"]}, twin_of={"method": "c"})
    names = to_settle(list(points.values()), [A, B])
    assert names[:2] == [A, B]
    assert set(names) == set(points)
