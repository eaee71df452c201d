"""What it would take to settle an open claim: margin, blocks, minutes."""

from __future__ import annotations

import math
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
    roles,
    spread,
    summaries,
)

from benchbook.judge.claims import estimate
from benchbook.judge.settling_cost import block_seconds, price
from benchbook.judge.verdicts import judge_claims, to_settle
from benchbook.stats import hodges_lehmann, least_blocks

A, B = "v,method=a", "v,method=b"


def spans(blocks: list[list[tuple[list[str], float]]]) -> pd.DataFrame:
    """Blocks of starts, each with its points and how many seconds it took."""
    rows = []
    for block, starts in enumerate(blocks):
        end_ns = 1e12 * (block + 1)  # what happened between two blocks belongs to neither
        for invocation, (points, took_s) in enumerate(starts):
            end_ns += 1e9 * took_s
            for k, point in enumerate(reversed(points)):
                span = {"block": block, "invocation": invocation, "point": point}
                rows.append(span | {"t_end_ns": int(end_ns - k)})
    return pd.DataFrame(rows)


def test_seconds_of_a_block_are_those_of_the_starts_it_needs() -> None:
    a, both, c = (["a"], 1.0), (["b", "b2"], 2.0), (["c"], 5.0)
    table = spans([[a, both, c], [c, both, a], [both, c, a], [c, a, both]])
    assert block_seconds(table, ["a"]) == pytest.approx(1)
    # One start measures b and b2, and is paid for once.
    assert block_seconds(table, ["a", "b", "b2"]) == pytest.approx(3)
    assert block_seconds(table, ["a", "b", "c"]) == pytest.approx(8)


def test_a_block_that_somebody_held_up_does_not_count_for_all() -> None:
    table = spans([[(["a"], 1.0), (["b"], took_s)] for took_s in (2.0, 2.0, 90.0)])
    assert block_seconds(table, ["b"]) == pytest.approx(2)


def test_start_that_always_came_first_has_no_known_span() -> None:
    assert block_seconds(spans([[(["a"], 1.0), (["b"], 2.0)]]), ["a"]) is None


def open_claim(truth: float, sd: float = 0.05, blocks: int = 12) -> tuple[dict, Any, pd.DataFrame]:
    """At most twice as fast, and its estimate where the rate is `truth` times the other's."""
    dice = np.random.default_rng(2)
    noise = dice.normal(0, sd, blocks)
    logs = {A: math.log(truth) + noise - hodges_lehmann(noise), B: np.zeros(blocks)}
    table = summaries(logs)
    of = claim(ratio(), [None, 2])
    return of, estimate(of, roles(of["estimand"]), table, 1), table


def test_blocks_grow_as_the_margin_shrinks() -> None:
    wanted = []
    for truth in (1.95, 1.96, 1.97, 1.975):
        of, found, table = open_claim(truth)
        priced = price(of, found, 1, table, [A, B])
        assert priced["margin"] == pytest.approx(abs(math.log(2 / found.value)))
        wanted.append(priced["blocks"])
        # Each start of b took 10 ms; a is the first of every block.
        assert priced["minutes"] == pytest.approx(priced["blocks"] * 0.01 / 60)
    assert wanted == sorted(set(wanted))
    assert all(blocks % 2 == 0 and blocks >= least_blocks(1) for blocks in wanted)


def test_more_claims_of_a_figure_cost_more_blocks() -> None:
    of, found, table = open_claim(1.95)
    assert price(of, found, 20, table, [A, B])["blocks"] > price(of, found, 1, table, [A])["blocks"]


def test_no_number_of_blocks_settles_an_estimate_on_the_bound() -> None:
    of, found, table = open_claim(1.95)
    on_it = of | {"region": [None, found.value]}
    nothing = {"margin": 0.0, "blocks": None, "minutes": None, "guard": False}
    assert price(on_it, found, 1, table, [A, B]) == nothing
    nearly = of | {"region": [None, found.value * 1.0001]}
    assert price(nearly, found, 1, table, [A, B])["blocks"] is None  # over MOST_BLOCKS


def test_what_the_interval_has_decided_has_no_price() -> None:
    of, found, table = open_claim(1.5)
    priced = price(of, found, 1, table, [A, B])
    assert (priced["blocks"], priced["guard"]) == (None, True)


def test_more_blocks_than_did_not_do() -> None:
    of, found, table = open_claim(1.945)
    assert price(of, found, 1, table, [A, B])["blocks"] >= 14


def test_minutes_are_unknown_where_no_block_tells_how_long_a_start_takes() -> None:
    of, found, table = open_claim(1.95)
    priced = price(of, found, 1, table, [A])
    assert priced["blocks"]
    assert priced["minutes"] is None


def test_margin_of_a_range_is_in_logs_of_largest_over_smallest() -> None:
    of = claim(spread(["a"], [1, 2]), [None, 0.05])
    logs = {"v,bytes=1,method=a": np.tile([0.0, 0.01], 6), "v,bytes=2,method=a": np.full(12, -0.1)}
    table = summaries(logs)
    found = estimate(of, roles(of["estimand"]), table, 1)
    assert found is not None
    margin = price(of, found, 1, table, list(logs))["margin"]
    assert margin == pytest.approx(-math.log1p(-found.value) + math.log1p(-0.05))


def test_only_an_open_claim_has_a_price() -> None:
    dice = np.random.default_rng(4)
    points = known({"method": ["a", "b"]}, twin_of={"method": "b"})
    logs = {name: math.log(2) * (name == A) + dice.normal(0, 0.03, 12) for name in points}
    figure = {"claims": [claim(ratio(), [1.5, None]), claim(ratio(), [1.99, None])]}
    run = measured_run(points, summaries(logs))
    sure, open_ = judge_claims(figure, CONTENT, SIZES, run, {}, {})[0]
    assert (sure["verdict"], sure["price"]) == ("reproduced", None)
    assert open_["verdict"] == "inconclusive"
    assert open_["price"]["margin"] > 0
    # The twins are measured too, and each of the four takes 10 ms but the first.
    assert open_["price"]["minutes"] == pytest.approx(open_["price"]["blocks"] * 0.03 / 60)


def test_a_settling_run_has_the_twins_and_what_they_repeat() -> None:
    points = known({"method": ["a", "b", "c"]}, twin_of={"method": "c"})
    names = to_settle(list(points.values()), [A, B])
    assert names[:2] == [A, B]
    assert set(names) == set(points)
