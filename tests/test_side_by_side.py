"""What a page lays side by side: ceilings, variants, processes, curves; on numbers made by hand."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from benchbook.analyse import pairwise
from benchbook.analyse.ceilings import ceilings
from benchbook.define.points import Point
from benchbook.judge.flag_effects import flags
from benchbook.judge.whole_machine import whole_machine

LLC = 100


def point(
    rate: float | None, variant: str = "v", twin: str = "", moved: float = 200.0, **factors: Any
) -> dict[str, Any]:
    base = {
        "point": Point(variant, factors, twin).id,
        "variant": variant,
        "twin": twin,
        "factors": factors,
        "reason": "",
    }
    if rate is None:
        return {**base, "state": "failed", "reason": "no such flag"}
    return {
        **base,
        "state": "ok",
        "observations": {"work_done_fraction": 1},
        "bytes_per_call": moved,
        "rate_bytes_per_s": rate,
        "rate_low_bytes_per_s": rate * 0.9,
        "rate_high_bytes_per_s": rate * 1.1,
        "paper_ns": None,
        "paper_statistic": "mean",
        "paper_samples": 0,
    }


def summaries(points: list[dict[str, Any]], blocks: int = 8) -> pd.DataFrame:
    """Each point at exactly its rate in every block."""
    return pd.DataFrame(
        [
            {
                "point": point["point"],
                "block": block,
                "invocation": 0,
                "median_ns": 200e9 / point["rate_bytes_per_s"],
                "bytes_declared": 200.0,
                "disturbed": False,
                "machine_state": "1",
            }
            for point in points
            if point["state"] == "ok"
            for block in range(blocks)
        ]
    )


def test_a_ceiling_is_the_best_of_its_methods_beyond_the_caches() -> None:
    points = [
        point(30.0, method="copy", bytes=LLC, threads=2),
        point(40.0, method="copy-nt", bytes=LLC, threads=2),
        point(20.0, method="copy-nt", bytes=LLC, threads=1),
        point(90.0, moved=140.0, method="copy", bytes=70, threads=2),  # partly in a cache
        point(95.0, method="copy", bytes=LLC, threads=2, twin="again"),
        point(99.0, method="copy", bytes=LLC, threads=2) | {"peer": True},
        point(50.0, method="read", bytes=4 * LLC),
        point(60.0, method="else", bytes=4 * LLC),
    ]
    attained = ceilings(points, {"copy": ["copy", "copy-nt"], "read": ["read"]}, LLC)
    seen = {
        (row["traffic"], row["threads"]): (row["method"], row["rate_bytes_per_s"])
        for row in attained
    }
    assert seen == {
        ("copy", 1): ("copy-nt", 20.0),
        ("copy", 2): ("copy-nt", 40.0),
        ("read", 1): ("read", 50.0),
    }
    assert next(row for row in attained if row["threads"] == 2)["others"] == {"copy": 30.0}
    assert ceilings(points, {"copy": ["copy"]}, None) == []


def test_variants_stand_beside_the_base_and_what_failed_keeps_its_reason() -> None:
    names = ["base", "slow", "broken", "theirs"]
    points = [
        point(40.0, "base", bytes=8),
        point(10.0, "slow", bytes=8),
        point(None, "broken", bytes=8),
        point(99.0, "theirs", bytes=8) | {"peer": True},
        point(40.0, "base", bytes=9),
        point(10.0, "slow", bytes=9),
        point(40.0, "base", bytes=8, twin="again"),
        point(40.0, "base", bytes=8, twin="relinked"),
    ]
    built: list[dict[str, Any]] = [
        {"variant": name, "compiler": "gcc", "flags": [f"-O{at}"], "isa": []}
        for at, name in enumerate(names)
    ]
    built[3]["peer"] = {"tool": "theirs"}
    entries = flags(points, summaries(points), built, "base", ["slow", "base", "broken"])
    assert [entry["factors"] for entry in entries] == [{"bytes": 8}]  # two variants are too few
    rows = entries[0]["rows"]
    assert [row["variant"] for row in rows] == ["slow", "base", "broken"]
    assert rows[0]["ratio"]["ratio"] == pytest.approx(0.25)
    assert rows[1]["ratio"] is None
    assert (rows[0]["differs"], rows[1]["differs"]) == (True, False)
    assert rows[2]["reason"] == "no such flag"
    assert rows[2]["rate_bytes_per_s"] is None
    alike = [{**record, "flags": ["-O2"]} for record in built]  # no compiler or flag to compare
    assert flags(points, summaries(points), alike, "base", ["slow", "base", "broken"]) == []


def test_processes_apart_stand_beside_those_together() -> None:
    points = [
        point(40.0, method="copy"),
        point(90.0, method="copy", processes=2, schedule="apart"),
        point(60.0, method="copy", processes=2, schedule="together"),
        point(80.0, method="copy", processes=4, schedule="apart"),
    ]
    (setting,) = whole_machine(points, summaries(points), 10.0, cores=2)
    assert setting["factors"] == {"method": "copy"}
    two, four = setting["rows"]
    assert two["ratio"]["ratio"] == pytest.approx(1.5)
    assert (two["apart"]["rate"], two["together"]["rate"]) == (9.0, 6.0)
    assert (two["crowded"], four["crowded"]) == (False, True)
    assert four["together"] is None
    assert four["ratio"] is None


def test_a_curve_has_its_last_knee_and_needs_four_sizes() -> None:
    rates = {1: 90.0, 2: 80.0, 4: 30.0, 8: 29.0}
    points = [point(rate, bytes=size) for size, rate in rates.items()]
    points += [point(5.0, "w", bytes=size) for size in (1, 2, 4)]
    (curve,) = pairwise.curves(points, summaries(points), 10.0)
    assert [value["rerun"] for value in curve["values"]] == [9.0, 8.0, 3.0, 2.9]
    assert (curve["knee"]["low_bytes"], curve["knee"]["high_bytes"]) == (2, 4)


def figure(name: str, table: str, machine: str, *cells: tuple[str, str]) -> dict[str, Any]:
    rows = [
        {"point": of, "printed": printed, "group": "", "column": str(k), "label": ""}
        for k, (of, printed) in enumerate(cells)
    ]
    return {"id": name, "table": table, "machine": machine, "rows": rows}


def test_only_cells_of_one_machine_repeat_each_other() -> None:
    figures = [
        figure("f", "a.csv", "one", ("p", "100"), ("p", "110")),
        figure("g", "b.csv", "other", ("p", "900")),
        figure("again", "a.csv", "one", ("p", "100"), ("p", "110")),  # the same table once more
    ]
    assert pairwise.repeats(figures) == {"points": 1, "ratio": pytest.approx(1.1)}


def test_methods_that_move_other_bytes_are_no_odd_pair() -> None:
    copy = point(50.0, method="copy", bytes=8)
    scale = point(80.0, method="scale", bytes=8)
    add = point(80.0, method="add", bytes=8) | {"bytes_per_call": 300.0}
    points = [copy, scale, add]
    rows = [
        {"point": point["point"], "printed": "100", "group": "", "column": "c", "label": "l"}
        for point in points
    ]
    figures = [{"id": "f", "table": "t.csv", "machine": "", "rows": rows}]
    pairs = pairwise.odd(figures, points, summaries(points))
    assert pairs["compared"] == 1  # Copy beside Scale; an addition moves more
