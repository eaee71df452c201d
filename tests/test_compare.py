"""`benchbook compare`: planted factors are found, noise and floors are not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from browser import look, violations
from playwright.sync_api import Browser
from scipy.stats import mannwhitneyu

from benchbook import stats
from benchbook.compare import Comparison, compare
from benchbook.compare.matched import Check, Conclusion, Why
from benchbook.core.errors import BenchbookError
from benchbook.core.files import read_json, write_json
from benchbook.report.compare_page import make_compare
from benchbook.report.compare_sentences import as_json, headline
from benchbook.report.index_page import make_index

HOSTILE = "<script>window.ran = 1</script>"


def variant(name: str, flags: list[str], version: str = "gcc 12.2.0") -> dict[str, Any]:
    record = {"variant": name, "compiler": "gcc", "flags": flags, "compiler_version": version}
    return record | {"isa": [], "wrapper": {}, "state": "ok", "sha256": name * 8, "peer": None}


def made(
    root: Path,
    host: str = "made-2c-0",
    preset: str = "tiny",
    *,
    factors: dict[int, float] | None = None,
    name: str = "gcc-O2",
    seed: int = 1,
    blocks: int = 10,
    anchor: float = 1.0,
    twin: float = 1.0,
    version: str = "gcc 12.2.0",
    facts: dict[str, Any] | None = None,
    failed: int = 0,
    environment: dict[str, str] | None = None,
    harness: int | None = None,
    emulates: str = "",
) -> Path:
    """Results of one made-up experiment: sizes as points, each `factors` times slower."""
    dice = np.random.default_rng(seed)
    points, rows = [], []
    for size, factor in (factors or {1: 1.0, 2: 1.0, 4: 1.0}).items():
        for kind in ("", "again", "relinked") if size == 1 else ("",):
            point = f"{name}{'~' + kind if kind else ''},bytes={size},method=copy"
            state = {"state": "failed", "reason": HOSTILE} if size == failed else {"state": "ok"}
            points.append(
                {"point": point, "variant": name, "twin": kind, "reason": "", "emulates": emulates}
                | {"factors": {"bytes": size, "method": "copy"}}
                | state
            )
            slow = 1000 * factor * (twin if kind else 1)
            for block in range(blocks if size != failed else 0):
                time_ns = slow * np.exp(0.01 * dice.standard_normal())
                row = {"point": point, "block": block, "invocation": 0, "median_ns": time_ns}
                rows.append(row | {"bytes_declared": size, "disturbed": False})
    folder = root / "results" / host / preset / "made"
    readings = [{"name": "anchor", "value": anchor * (1e6 + k)} for k in range(8)]
    content = {"version": 1, "experiment": "made", "host": host, "preset": preset, "door": "host"}
    content |= {"run": f"20260101T00000{seed}Z-x", "facts": {"libc": "glibc 2.36"} | (facts or {})}
    content |= {"variants": [variant(name, ["-O2"], version)], "points": points}
    content |= {"environments": {name: environment or {}}, "harness": harness}
    write_json(folder / "analysis.json", content | {"readings": readings})
    pd.DataFrame(rows).to_parquet(folder / "summaries.parquet")
    return folder


def conclusions(comparison: Comparison) -> dict[int, Conclusion]:
    """Of the first experiment, by size."""
    return {
        point.a["factors"]["bytes"]: point.conclusion for point in comparison.experiments[0].points
    }


def test_exact_distribution_and_interval_agree_with_scipy() -> None:
    dice = np.random.default_rng(3)
    a, b = np.exp(dice.normal(size=7)), np.exp(dice.normal(size=9))
    chance = stats.rank_sum_probabilities(7, 9)
    exact = mannwhitneyu(a, b, method="exact")
    u = int(min(exact.statistic, 63 - exact.statistic))
    assert 2 * chance[: u + 1].sum() == pytest.approx(exact.pvalue)
    interval = stats.unpaired_ratio(a, b)
    # Just inside the interval the exact test does not reject, just outside it does.
    for inside, outside in ((1.0001, 0.9999), (0.9999, 1.0001)):
        end = interval.low if inside > 1 else interval.high
        assert mannwhitneyu(a / (end * inside), b, method="exact").pvalue > 0.05
        assert mannwhitneyu(a / (end * outside), b, method="exact").pvalue <= 0.05


def test_the_interval_covers_as_it_says_and_few_starts_give_none() -> None:
    dice = np.random.default_rng(4)
    hits = 0
    for _ in range(1000):
        a, b = np.exp(dice.normal(np.log(2), 0.3, 8)), np.exp(dice.normal(0, 0.3, 8))
        ratio = stats.unpaired_ratio(a, b)
        hits += ratio.low <= 2 <= ratio.high
    assert hits >= 930
    few = stats.unpaired_ratio([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    assert (few.low, few.high) == (0.0, np.inf)
    with pytest.raises(BenchbookError, match="200"):
        stats.rank_sum_probabilities(201, 5)


def test_a_planted_factor_is_found_and_the_rest_is_not(tmp_path: Path) -> None:
    made(tmp_path, "a-host")
    made(tmp_path, "b-host", factors={1: 1.0, 2: 0.5, 4: 2.0}, seed=2, name="other-name")
    comparison = compare(tmp_path, "a-host", "b-host/tiny")
    # Variants of other names with the same compiler and flags are the same.
    assert conclusions(comparison) == {1: "no_difference_shown", 2: "b_faster", 4: "a_faster"}
    point = comparison.experiments[0].points[1]
    assert point.joint is not None
    assert point.pointwise is not None
    assert point.pointwise.low < 2 < point.pointwise.high
    assert point.joint.low <= point.pointwise.low
    assert point.b["point"].startswith("other-name")
    assert headline(comparison).startswith("3 points in both: B faster at 1, A faster at 1")


def test_what_the_machine_does_by_itself_is_no_difference(tmp_path: Path) -> None:
    """The same planted factor within the floor of the anchor, of twins, and of failed twins."""
    slower = {1: 1.0, 2: 1.1, 4: 1.0}
    made(tmp_path / "anchor")
    made(tmp_path / "anchor", preset="quick", factors=slower, seed=2)
    sides = "made-2c-0/tiny", "made-2c-0/quick"
    assert conclusions(compare(tmp_path / "anchor", *sides))[2] == "a_faster"
    made(tmp_path / "anchor", preset="quick", factors=slower, seed=2, anchor=1.2)
    assert conclusions(compare(tmp_path / "anchor", *sides))[2] == "no_difference_shown"
    made(tmp_path / "twin")
    made(tmp_path / "twin", preset="quick", factors=slower, seed=2, twin=1.3)
    comparison = compare(tmp_path / "twin", *sides)
    assert set(conclusions(comparison).values()) == {"undecided"}
    (experiment,) = comparison.experiments
    assert {point.why for point in experiment.points} == {Why.TWINS_DIFFER}
    assert experiment.floor.failed is not None
    assert (experiment.floor.failed.check, experiment.floor.failed.side) == (Check.AGAIN, "B")
    reason = as_json(comparison)["items"][0]["points"][0]["reason"]
    assert reason == "the same binary twice in B did not come out equal"


def test_too_few_starts_and_failed_points_say_so(tmp_path: Path) -> None:
    made(tmp_path, "a-host", blocks=3)
    made(tmp_path, "b-host", blocks=3, failed=4)
    comparison = compare(tmp_path, "a-host", "b-host")
    assert conclusions(comparison) == {1: "undecided", 2: "undecided", 4: "not_measured"}
    (experiment,) = comparison.experiments
    assert [point.why for point in experiment.points] == [
        *(Why.FEW_STARTS, Why.FEW_STARTS),
        Why.ABSENT_IN_B,
    ]
    content = as_json(comparison)
    assert content["items"][0]["points"][2]["reason"] == f"B: {HOSTILE}"
    json.dumps(content, allow_nan=False)


def test_points_of_one_side_and_what_differs_are_listed(tmp_path: Path) -> None:
    hwloc = {"version": "2.9", "caches": [{"bytes": 1}]}
    first = {"kernel_release": "6.1", "caches": [{"bytes": 1}]}
    made(tmp_path, "a-host", facts=first | {"hwloc": hwloc | {"nodes": {"0": 6402813952}}})
    second = {"kernel_release": "6.18", "caches": [{"bytes": 2}]}
    second |= {"hwloc": hwloc | {"nodes": {"0": 6537031680}}}
    made(tmp_path, "b-host", factors={1: 1.0, 8: 1.0}, version="gcc 14.1.0", facts=second)
    comparison = compare(tmp_path, "a-host", "b-host")
    (experiment,) = comparison.experiments
    assert [len(experiment.only_a), len(experiment.only_b)] == [2, 1]
    rows = {(row.kind, row.what): (row.a, row.b) for row in comparison.differences}
    assert rows["software", "kernel release"] == ("6.1", "6.18")
    assert rows["hardware", "caches"] == ("bytes 1", "bytes 2")
    nodes = ("6,402,813,952 bytes", "6,537,031,680 bytes")
    assert {key: row for key, row in rows.items() if "hwloc" in key[1]} == {
        ("hardware", "hwloc nodes 0"): nodes
    }
    assert rows["variant", "compiler"] == ("gcc 12.2.0", "gcc 14.1.0")
    assert ("software", "libc") not in rows


def test_equal_flags_in_another_environment_are_another_point(tmp_path: Path) -> None:
    made(tmp_path, "a-host")
    made(tmp_path, "b-host", environment={"GLIBC_TUNABLES": "x"})
    (experiment,) = compare(tmp_path, "a-host", "b-host").experiments
    assert experiment.points == []
    assert (len(experiment.only_a), len(experiment.only_b)) == (3, 3)


def test_a_side_that_is_none_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(BenchbookError, match="nothing yet, run `snakemake` first"):
        compare(tmp_path, "x", "y")
    made(tmp_path, "a-host")
    with pytest.raises(BenchbookError, match="one of: results/a-host/tiny"):
        compare(tmp_path, "a-host", "y")
    folder = made(tmp_path, "b-host")
    content = read_json(folder / "analysis.json")
    write_json(folder / "analysis.json", content | {"experiment": "other"})
    with pytest.raises(BenchbookError, match="no experiment is in both"):
        compare(tmp_path, "a-host", "b-host")


def test_what_must_not_be_mixed_is_refused_with_the_reason(tmp_path: Path) -> None:
    """Another harness, an emulated side, two hosts as one side."""
    made(tmp_path, "old", harness=2)
    made(tmp_path, "new", harness=3, seed=2)
    made(tmp_path, "silent", seed=3)
    made(tmp_path, "emulated", seed=4, emulates="a device in host memory")
    for a, b, reason in (
        ("old", "new", "versions of the harness differ"),
        ("silent", "emulated", "only emulates what the other has"),
    ):
        comparison = compare(tmp_path, a, b)
        assert set(conclusions(comparison).values()) == {"not_measured"}
        (experiment,) = as_json(comparison)["items"]
        assert all(reason in point["reason"] for point in experiment["points"])
    assert "not_measured" not in conclusions(compare(tmp_path, "old", "silent")).values()
    with pytest.raises(BenchbookError, match="was measured on several hosts; name one: emulated"):
        compare(tmp_path, "tiny", "old")
    both = tmp_path / "both"
    both.mkdir()
    for host in ("old", "new"):
        (tmp_path / "results" / host / "tiny/made").rename(both / host)
    with pytest.raises(BenchbookError, match=r"several hosts \(new, old\); a side is one host"):
        compare(tmp_path, str(both), "silent")


def test_the_index_leads_to_the_comparison_once_there_is_one(tmp_path: Path) -> None:
    made(tmp_path, "a-host")
    made(tmp_path, "b-host")
    output, index = (tmp_path / "reports" / f"{name}.html" for name in ("compare", "index"))
    controls = tmp_path / "controls.json"
    write_json(controls, {"version": 2, "artefacts": {}})
    link = '<a href="compare.html">'
    make_index([], controls, index)
    assert link not in index.read_text(encoding="utf-8")
    comparison = compare(tmp_path, "a-host", "b-host")
    for _ in range(2):
        make_compare(comparison, output)
        assert index.read_text(encoding="utf-8").count(link) == 1
    make_index([], controls, index)
    assert index.read_text(encoding="utf-8").count(link) == 1


def test_the_page_is_sound_and_what_came_from_outside_is_text(
    tmp_path: Path, browser: Browser
) -> None:
    made(tmp_path, "a-host", facts={"os": HOSTILE})
    many = {size: 1.0 if size % 3 else 0.4 for size in range(1, 6)}
    made(tmp_path, "b-host", factors=many, seed=2, failed=4, version=HOSTILE)
    output = tmp_path / "reports" / "compare.html"
    make_compare(compare(tmp_path, "a-host", "b-host"), output)
    seen = look(browser, output)
    assert HOSTILE in seen["text"]
    assert HOSTILE not in output.read_text(encoding="utf-8")
    assert str(tmp_path) not in seen["text"]
    assert seen["requests"] == [output.as_uri()]
    assert (seen["messages"], seen["overlaps"], seen["cut_off"]) == ([], [], [])
    assert (seen["unnamed"], seen["unscoped"], seen["empty"]) == (0, [], 0)
    assert all(needed <= width for width, needed in seen["widths"].items())
    assert violations(browser, output) == []
