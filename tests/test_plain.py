"""Points beside their plain twins: ratios whose answer is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchbook.define.points import Point
from benchbook.judge.plain_ratio import against_plain

PLAIN = {"threads": 0}
BYTES, BLOCKS = 1 << 26, 8


def point(threads: int, variant: str = "v", twin: str = "", **more: Any) -> dict[str, Any]:
    factors = {"threads": threads, "method": more.pop("method", "to")}
    return {
        "point": Point(variant, factors, twin).id,
        "variant": variant,
        "twin": twin,
        "factors": factors,
        "state": "ok",
        "rate_bytes_per_s": 1e9,
        "time_ns": 1e6 * (1 + threads),
        **more,
    }


def measured(times_ns: dict[str, Any]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"point": name, "block": block, "median_ns": value, "bytes_declared": BYTES}
            for name, values in times_ns.items()
            for block, value in enumerate(values)
        ]
    )


def test_what_the_machine_did_to_both_is_gone() -> None:
    loop, pool, other = point(0), point(1), point(4, emulates="host memory stands")
    common = np.random.default_rng(3).uniform(1e6, 9e6, BLOCKS)
    each = {loop["point"]: common, pool["point"]: common / 0.98, other["point"]: common * 2}
    one, two = against_plain([loop, pool, other], measured(each), PLAIN)
    assert (one["point"], one["plain"]) == (pool["point"], loop["point"])
    assert [one[key] for key in ("ratio", "low95", "high95")] == [pytest.approx(0.98)] * 3
    assert (one["blocks"], one["emulates"]) == (BLOCKS, "")
    assert two["ratio"] == pytest.approx(0.5)
    assert (one["longer_ns"], two["longer_ns"]) == (1e6, 4e6)
    assert two["emulates"] == "host memory stands"


def test_few_blocks_have_no_interval() -> None:
    loop, pool = point(0), point(1)
    each = {loop["point"]: [1e6] * 3, pool["point"]: [2e6] * 4}
    (one,) = against_plain([loop, pool], measured(each), PLAIN)
    assert (one["ratio"], one["blocks"]) == (pytest.approx(0.5), 3)
    assert (one["low95"], one["high95"]) == (0, None)


def test_without_a_plain_twin_of_its_own_nothing_is_told() -> None:
    loop = point(0)
    others = [
        point(1, variant="w"),
        point(1, method="from"),
        point(1, twin="again"),
        point(2, state="failed"),
    ]
    named = [loop, *others]
    table = measured({transfer["point"]: [1e6] * BLOCKS for transfer in named})
    assert against_plain(named, table, PLAIN) == []
    assert against_plain([point(0, state="failed"), point(1)], table, PLAIN) == []
    assert against_plain([loop, point(1)], table, {}) == []
    assert against_plain([loop, point(1)], table, PLAIN) == []  # of which nothing was measured
