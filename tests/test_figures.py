"""Published tables of ranges and of computed numbers, each beside what was found here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from claimed import CONTENT, SIZES, known, summaries

from benchbook.core.errors import BenchbookError
from benchbook.define.models import Figure
from benchbook.judge.figures import cell, rerun_figure

PAPER = "p"
NAMES = [f"v,bytes={size},method=a" for size in (1, 2, 3)]
LARGER = 0.9  # the rate at size 3 ÷ that at the others


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "data" / "published" / PAPER
    folder.mkdir(parents=True)
    (folder / "t.csv").write_text("loop,small_percent,all_percent\nA,1.5,9.0\nB,2,3\n")
    return tmp_path


def figure(**changes: Any) -> dict[str, Any]:
    """Printed ranges of method a, over two and over three sizes."""
    ranges = [
        {"row": {"loop": "A"}, "y": column, "points": points, "over": "bytes"}
        for column, points in (
            ("small_percent", {"bytes": [1, 2], "method": "a"}),
            ("all_percent", {"bytes": [1, 2, 3], "method": "a"}),
        )
    ]
    named = {"id": "f", "title": "t", "table": "t.csv", "experiment": "e", "x": "loop"}
    return named | {"published": "as printed", "select": [], "ranges": ranges} | changes


def rerun(
    root: Path, figure: dict[str, Any], points: dict[str, dict], audited: list | None = None
) -> dict[str, Any]:
    dice = np.random.default_rng(1)
    common = dice.normal(0, 0.5, 12)
    truth = dict.fromkeys(NAMES, 0.0) | {NAMES[2]: np.log(LARGER)}
    logs = {name: log + common + dice.normal(0, 0.002, 12) for name, log in truth.items()}
    analysis = {"sizes": SIZES, "points": list(points.values())}
    return rerun_figure(
        *(root, PAPER, Figure.model_validate(figure), analysis, summaries(logs), CONTENT),
        audited or [],
    )


def points() -> dict[str, dict]:
    return known({"bytes": [1, 2, 3], "method": "a"})


def test_a_printed_range_stands_beside_that_of_the_medians_in_percent(root: Path) -> None:
    small, whole = rerun(root, figure(), points())["ranges"]
    assert (small["printed"], whole["printed"]) == ("1.5", "9.0")
    assert whole["rerun"] == pytest.approx(100 * (1 - LARGER), abs=0.5)
    assert whole["low"] < 100 * (1 - LARGER) < whole["high"]
    assert small["rerun"] < 1
    assert small["low"] == 0
    assert whole["points"] == NAMES
    # Beside what points of equal truth would show, in percent too.
    assert whole["null"]["null_95"] < 1 < whole["null"]["observed"]
    assert (whole["state"], whole["left_out"]) == ("ok", [])


def test_points_that_cannot_run_are_named_and_left_out(root: Path) -> None:
    said = points()
    said[NAMES[2]] |= {"state": "cannot_run", "reason": "needs 9 GiB: too much"}
    small, whole = rerun(root, figure(), said)["ranges"]
    assert small["left_out"] == []
    assert (whole["state"], whole["left_out"]) == ("ok", [NAMES[2]])
    assert whole["rerun"] == pytest.approx(small["rerun"])


def test_a_range_of_too_few_points_tells_why(root: Path) -> None:
    said = points()
    for name in NAMES[1:]:
        said[name] |= {"state": "cannot_run", "reason": "needs 9 GiB: too much"}
    for row in rerun(root, figure(), said)["ranges"]:
        assert (row["state"], row["reason"]) == ("cannot_run", "needs 9 GiB: too much")
        assert (row["rerun"], row["null"]) == (None, None)


def test_a_range_that_the_preset_lacks_says_so(root: Path) -> None:
    said = points()
    del said[NAMES[2]]
    small, whole = rerun(root, figure(), said)["ranges"]
    assert small["state"] == "ok"
    assert (whole["state"], whole["reason"]) == ("not_in_preset", "not in this preset")


def test_a_row_that_no_host_reruns_keeps_its_number_and_says_why(root: Path) -> None:
    (root / "data" / "published" / PAPER / "t.csv").write_text("system,us\nold,4\nnew,8\n")
    select = [
        {"row": {"system": "new"}, "point": {"bytes": 1, "method": "a"}},
        {"row": {"system": "old"}, "beyond_host": "nothing here runs it"},
    ]
    named = {"x": "system", "y": "us", "y_unit": "µs", "select": select}
    asked = {key: value for key, value in figure(**named).items() if key != "ranges"}
    seen = points()
    seen[NAMES[0]]["time_ns"] = 2500.0
    new, old = rerun(root, asked, seen)["rows"]
    assert (new["state"], new["rerun"]) == ("ok", 2.5)
    assert (old["state"], old["reason"]) == ("beyond_host", "nothing here runs it")
    assert (old["point"], old["rerun"], old["ratio"], old["invocations"]) == (None, None, None, [])
    assert old["printed_ratio"] == 0.5


def test_a_computed_table_has_the_checks_of_its_rule(root: Path) -> None:
    audited = [
        {"table": table, "rule": rule, "consistent": True}
        for table in ("t.csv", "u.csv")
        for rule in ("formula", "spread")
    ]
    computed = figure(recomputed="formula")
    del computed["ranges"]
    made = rerun(root, computed, points(), audited)
    assert made["recomputed"] == audited[:1]
    assert (made["ranges"], made["rows"]) == ([], [])
    assert rerun(root, figure(), points(), audited)["recomputed"] == []


@pytest.mark.parametrize(
    ("wanted", "column", "number"),
    [({"loop": "C"}, "all_percent", 0), ({}, "all_percent", 2), ({"loop": "A"}, "gone", 1)],
)
def test_a_cell_that_is_not_one_is_told(wanted: dict, column: str, number: int) -> None:
    rows = [{"loop": "A", "all_percent": "9.0"}, {"loop": "B", "all_percent": "3"}]
    assert cell(rows, {"loop": "B"}, "all_percent", "p/t.csv") == "3"
    with pytest.raises(BenchbookError, match=rf"p/t\.csv: .* must name one row .* names {number}"):
        cell(rows, wanted, column, "p/t.csv")
