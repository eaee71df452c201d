"""Runs of one point that fall into two groups: found, and said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchbook import stats
from benchbook.core.errors import BenchbookError
from benchbook.core.number_format import FIXED
from benchbook.report import run_groups

LOW, HIGH = [39_000.0, 40_100.0, 41_000.0, 42_000.0], [75_000.0, 75_900.0, 76_000.0, 76_500.0, 77e3]


def test_runs_in_two_groups_are_found_whatever_their_order() -> None:
    values = np.random.default_rng(3).permutation([*LOW, *HIGH])
    groups = stats.two_groups(values)
    assert groups is not None
    assert [group.tolist() for group in groups] == [LOW, HIGH]


@pytest.mark.parametrize(
    "values",
    [
        np.linspace(100, 130, 12),
        [*LOW[:2], *HIGH],  # two runs may be chance
        [*LOW[:3], *HIGH[:4]],  # too few to tell
        [100.0] * 10,
    ],
)
def test_an_ordinary_spread_is_one_group(values: list[float]) -> None:
    assert stats.two_groups(values) is None


def test_seldom_two_groups_are_seen_where_there_is_one() -> None:
    draw = np.random.default_rng(31)
    seen = [stats.two_groups(np.exp(draw.normal(0, 0.2, 8))) is not None for _ in range(2000)]
    assert np.mean(seen) < 0.02


def test_a_median_has_the_exact_interval_of_its_ordered_values() -> None:
    eight = stats.median_interval(np.arange(1.0, 9.0))
    assert (eight.estimate, eight.low, eight.high) == (4.5, 1.0, 8.0)
    assert eight.attained == 1 - 2 / 2**8
    ten = stats.median_interval(np.arange(1.0, 11.0))
    assert (ten.low, ten.high) == (2.0, 9.0)
    assert not np.isfinite(stats.median_interval([1.0, 2.0, 3.0, 4.0, 5.0]).high)
    with pytest.raises(BenchbookError):
        stats.median_interval([])


def test_the_interval_of_a_median_covers_it_also_in_two_groups() -> None:
    draw = np.random.default_rng(5)
    covered = []
    for _ in range(4000):
        upper = draw.random(10) < 0.6
        values = np.where(upper, 76.0, 40.0) * np.exp(draw.normal(0, 0.01, 10))
        interval = stats.median_interval(values)
        # With three in five in the upper group, a sixth of that group lies below the median.
        covered.append(interval.low <= 76.0 * np.exp(-0.0097) <= interval.high)
    assert np.mean(covered) > 0.93


GROUPS = [{"runs": 4, "low": 39e3, "high": 42e3}, {"runs": 5, "low": 75e3, "high": 77e3}]
FALL = "fall into two groups: 4 at 39,000 to 42,000 and 5 at 75,000 to 77,000 MiB/s."


def shown(*rows: dict[str, Any]) -> dict[str, Any]:
    return {"x": "method", "y_unit": "MiB/s", "rows": list(rows)}


def row(label: str, groups: list[dict[str, Any]], point: str = "", group: str = "") -> dict:
    return {"label": label, "group": group, "run_groups": groups, "point": point or label}


def test_the_page_says_so() -> None:
    figure = shown(row("MEMCPY", GROUPS), row("DUMB", []))
    assert run_groups.sentences(figure) == [
        f"The runs of MEMCPY {FALL} The median belongs to the larger group; no single number "
        "describes both."
    ]


def test_of_a_table_of_sizes_each_point_is_said_once() -> None:
    points = [f"v,bytes={size * 2**20},method=copy" for size in (1, 2, 4, 8)]
    rows = [row(f"as_{k}", GROUPS, point, "Copy") for point in points for k in (1, 2)]
    first, second, more = run_groups.sentences(shown(*rows))
    assert first.replace(FIXED, " ").startswith(f"The runs of Copy at 1 MiB {FALL}")
    assert "2 MiB" in second.replace(FIXED, " ")
    assert more.replace(FIXED, " ") == "So do those of Copy at 4 MiB and Copy at 8 MiB."


def test_why_a_claim_is_not_decided_names_the_two_groups() -> None:
    paper = {"figures": [shown(row("MEMCPY", GROUPS, "v,method=copy"))]}
    assert run_groups.of_points(paper, ["v,method=copy"]) == f"The runs of MEMCPY {FALL}"
    assert run_groups.of_points(paper, ["v,method=loop"]) == ""
