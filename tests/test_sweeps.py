"""Sweeps of ratios and of times told of one part: values, what is printed, and their picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from claimed import CONTENT, SIZES, known, summaries

from benchbook.core.units import in_names
from benchbook.define.models import Sweep
from benchbook.judge.sweeps import Context, sweep
from benchbook.report import figure_tables
from benchbook.report.sections import sweeps as sweeps_section

PAPER = "p"
NAMES = {entry: [f"v,bytes={size},method={entry}" for size in (4096, 16384)] for entry in "ab"}
LINE = {"bytes": [16384, 4096], "method": "a"}
TIMES = {"x": "bytes", "y": "old_us", "table": "t.csv"}


@pytest.fixture
def context(tmp_path: Path) -> Context:
    """Method a takes 2 µs, of the larger size 4; b 1 µs and 3 µs, in every block."""
    folder = tmp_path / "data" / "published" / PAPER
    folder.mkdir(parents=True)
    (folder / "t.csv").write_text("bytes,old_us,new_us\n4096,20,5\n16384,60,10\n")
    dice = np.random.default_rng(3).normal(0, 0.3, 12)
    truth = {"a": (2e-3, 4e-3), "b": (1e-3, 3e-3)}  # ms, of which the made-up rates are made
    logs = {
        name: -np.log(truth[entry][k]) + dice
        for entry in "ab"
        for k, name in enumerate(NAMES[entry])
    }
    points = known({"bytes": [4096, 16384], "method": ["a", "b"]})
    table = summaries(logs)
    for name, point in points.items():
        point["time_ns"] = float(table[table["point"] == name]["median_ns"].median())
    analysis = {"sizes": SIZES, "points": list(points.values())}
    return Context(tmp_path, PAPER, CONTENT, analysis, table)


def declared(**changes: Any) -> Sweep:
    series = {"id": "s", "label": "a line", "points": [LINE], "printed": TIMES}
    named = {"id": "sizes", "title": "By size", "experiment": "e", "over": "bytes", "unit": "µs"}
    named |= {"slopes": False, "series": [series | changes.pop("series", {})]}
    return Sweep.model_validate(named | changes)


def test_times_may_be_told_of_one_part(context: Context) -> None:
    found = sweep(declared(per={"size": 4096, "word": "page"}), context)
    whole = sweep(declared(), context)["series"][0]["values"]
    values = found["series"][0]["values"]
    assert found["unit"] == "µs per page"
    assert in_names(found["unit"]) == "us_per_page"
    assert [value["at"] for value in values] == [4096, 16384]
    assert [value["printed"] for value in values] == [20, 15]
    for value, of_all, pages in zip(values, whole, (1, 4), strict=True):
        assert value["rerun"] == pytest.approx(of_all["rerun"] / pages)
        seen = [each["rerun"] for each in value["invocations"]]
        assert seen == pytest.approx([each["rerun"] / pages for each in of_all["invocations"]])


def ratios(**changes: Any) -> Sweep:
    printed = TIMES | {"against": "new_us", "label": "old ÷ new"}
    series = {"against": [{**LINE, "method": "b"}], "printed": printed}
    return declared(series=series, unit="ratio", **changes)


def test_a_ratio_is_paired_within_blocks_and_stands_beside_the_printed_one(
    context: Context,
) -> None:
    found = sweep(ratios(), context)
    (series,) = found["series"]
    assert (series["label"], series["printed_label"]) == ("a line", "old ÷ new")
    assert [value["rerun"] for value in series["values"]] == pytest.approx([2, 4 / 3])
    assert [value["printed"] for value in series["values"]] == [4, 6]
    for value in series["values"]:
        # What blocks have in common is gone, however much it is.
        assert value["low"] == pytest.approx(value["high"])
        assert len(value["invocations"]) == 12
        assert value["invocations"][0]["rerun"] == pytest.approx(value["rerun"])
    assert (
        sweeps_section.title(found)
        == "By size: from 1.33 to 2.00 times here, published 4.00 to 6.00"
    )
    assert figure_tables.sweep_csv(found).startswith(
        "series,bytes,printed_ratio,rerun_ratio,rerun_low95"
    )


def test_a_ratio_needs_both_of_its_points(context: Context) -> None:
    lacking = next(point for point in context.analysis["points"] if point["point"] == NAMES["b"][1])
    lacking |= {"state": "cannot_run", "reason": "needs 9 GiB: too much"}
    small, large = sweep(ratios(), context)["series"][0]["values"]
    assert small["rerun"] == pytest.approx(2)
    assert (large["rerun"], large["low"], large["printed"]) == (None, None, 6)
    assert (large["state"], large["reason"]) == ("cannot_run", "needs 9 GiB: too much")


def test_the_picture_names_what_is_printed_and_draws_the_line_at_1(context: Context) -> None:
    found = sweep(ratios(), context)
    named = {"points": [], "experiments": {}, "figures": [], "findings": []}
    drawn = sweeps_section.picture(named, found)
    assert drawn is not None
    assert "◇ old ÷ new" in drawn.svg
    plain = sweeps_section.picture(named, sweep(declared(), context))
    assert plain is not None
    assert "◇ a line" in plain.svg


def speedups(**changes: Any) -> Sweep:
    alone = {**LINE, "bytes": 4096}
    series = {"against": [alone], "printed": TIMES | {"against": "new_us"}}
    return declared(series=series, unit="ratio", speedup=True, **changes)


def test_a_speed_up_divides_the_time_at_one_point_by_each_of_the_others(context: Context) -> None:
    (series,) = sweep(speedups(), context)["series"]
    own, larger = series["values"]
    assert (own["at"], own["rerun"], own["low"], own["high"]) == (4096, 1, 1, 1)
    assert larger["rerun"] == pytest.approx(1 / 2)  # 2 µs ÷ 4 µs
    assert larger["point"] == NAMES["a"][1]
    assert [value["printed"] for value in series["values"]] == [4, 6]


def test_what_is_printed_at_no_point_of_a_speed_up_is_kept(context: Context) -> None:
    with (context.root / "data/published" / PAPER / "t.csv").open("a") as table:
        table.write("65536,90,10\n")
    found = sweep(speedups(), context)
    last = found["series"][0]["values"][-1]
    assert (last["at"], last["printed"], last["rerun"]) == (65536, 9, None)
    named = {"points": [], "experiments": {}, "figures": [], "findings": [], "preset": "quick"}
    assert sweeps_section.lacking(named, found) == {"not in preset quick": ["a line at 65536"]}
    assert sweeps_section.title(found) == "By size: 0.500 times here, published 4.00 to 9.00"
    drawn = sweeps_section.picture(named, found)
    assert drawn is not None
    assert "speed-up" in drawn.svg


def test_a_speed_up_that_has_only_its_reference_is_not_drawn(context: Context) -> None:
    large = next(point for point in context.analysis["points"] if point["point"] == NAMES["a"][1])
    large |= {"state": "cannot_run", "reason": "needs 9 GiB"}
    found = sweep(speedups(), context)
    (series,) = found["series"]
    assert sweeps_section.drawn_values(found, series) == []
    assert sweeps_section.title(found) == "By size: nothing of it was measured"
