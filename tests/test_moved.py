"""Declared against moved: known answers, and what was not seen never becomes a number."""

from __future__ import annotations

from typing import Any

import made_up_evidence
import pytest
from made_up_evidence import LINE, MIB, row

from benchbook.judge import traffic as judge_traffic
from benchbook.judge.traffic import bytes_moved, roofline
from benchbook.plan.plan import Point

LLC = 32 * MIB
STREAM: dict[str, Any] = {
    "starts": ["bytes", "memory", "threads"],
    "factors": {"bytes": {"unit": "bytes"}, "memory": {}, "threads": {}, "method": {}},
    "definitions": {"copy": "", "triad": "", "read": ""},
    "buffers": 3,
}
MBW: dict[str, Any] = {
    "starts": ["bytes", "processes"],
    "factors": {
        "bytes": {"unit": "bytes"},
        "processes": {},
        "method": {},
        "block_bytes": {"unit": "bytes"},
    },
    "definitions": {"copy": "", "block-1.1.1": "", "block-1.2.2": "", "block-1.3.0": ""},
    "buffers": 2,
}


def stream(method: str, size: int = 128 * MIB, variant: str = "v", threads: int = 2) -> Point:
    factors = {"bytes": size, "memory": "heap", "threads": threads, "method": method}
    return Point(variant, factors)


def block(method: str, size: int = 128 * MIB) -> Point:
    factors = {"bytes": size, "method": method, "block_bytes": 4096}
    return Point("v", factors)


def measured(point: Point, rate: float = 10e9, **observations: Any) -> dict[str, Any]:
    """A point of analysis.json."""
    return {
        "point": point.id,
        "variant": point.variant,
        "factors": point.factors,
        "twin": "",
        "state": "ok",
        "bytes_per_call": 2.0 * point.factors["bytes"],
        "rate_bytes_per_s": rate,
        "rate_low_bytes_per_s": rate * 0.9,
        "rate_high_bytes_per_s": rate * 1.1,
        "observations": {"work_done_fraction": 1, "library_calls": [], **observations},
    }


def of(point: Point, items: list[dict[str, Any]], content: dict[str, Any]) -> dict[str, Any]:
    return next(
        entry for entry in bytes_moved.by_point(items, content) if entry["point"] == point.id
    )


@pytest.mark.parametrize(
    ("method", "times", "allocated"),
    [("copy", 1.5, 0.5), ("triad", 4 / 3, 1 / 3), ("read", 1.0, 0.0)],
)
def test_write_allocate_is_counted(method: str, times: float, allocated: float) -> None:
    """Triad stores to one array of three, which is read too; a line that is only read is not."""
    point = stream(method)
    found = of(point, made_up_evidence.simulated(point), STREAM)
    assert found["moved"]["value"] == pytest.approx(times)
    assert found["allocated"]["value"] == pytest.approx(allocated)
    assert found["moved"]["state"] == "simulated"
    assert found["moved"]["source"] == "cachegrind"
    assert found["of_bytes"]["bytes"] == MIB


@pytest.mark.parametrize(
    ("method", "read", "written"),
    [("block-1.1.1", 64, 64), ("block-1.2.2", 64, 16384), ("block-1.3.0", 16384, 16384)],
)
def test_block_copies_touch_what_they_copy(method: str, read: int, written: int) -> None:
    point = block(method)
    found = of(point, made_up_evidence.simulated(point), MBW)
    assert (found["lines_read"]["value"], found["lines_written"]["value"]) == (read, written)
    assert found["buffers_read"]["value"] == pytest.approx(read * LINE / MIB)
    assert found["moved"]["value"] is None
    assert found["moved"]["state"] == "absent"
    assert "does not model" in found["moved"]["reason"]


def test_what_was_counted_comes_before_what_was_simulated_and_both_before_nothing() -> None:
    point = stream("triad")
    nothing = [
        row(point.id, name, None, "denied", "likwid", "closed") for name in bytes_moved.NAMES
    ]
    simulated = made_up_evidence.simulated(point)
    counted = made_up_evidence.counted(point, moved=3.0)
    for items in (nothing + simulated + counted, counted + simulated + nothing):
        found = of(point, items, STREAM)
        assert found["moved"]["value"] == pytest.approx(1.0)
        assert found["moved"]["state"] == "ok"
        assert found["lines_read"]["state"] == "simulated"
        # Lines at a reduced size say nothing of bytes that were counted at the full one.
        assert found["allocated"]["value"] is None
    assert of(point, nothing + simulated, STREAM)["moved"]["state"] == "simulated"
    lost = of(point, nothing, STREAM)["moved"]
    assert (lost["value"], lost["state"], lost["reason"]) == (None, "denied", "closed")


def test_a_zero_of_an_absent_counter_is_no_value() -> None:
    point = stream("copy")
    items = [
        row(point.id, name, 0, "absent", "perf stat", "no counter") for name in bytes_moved.NAMES
    ]
    found = of(point, items, STREAM)
    assert all(found[name]["value"] is None for name in (*bytes_moved.NAMES, "moved", "allocated"))


def test_a_sum_of_both_directions_is_moved_too() -> None:
    """Some processors count what memory moved and not which way."""
    point = stream("triad")
    whole = {"declared_bytes": 3e6, "multiplexed": False}
    total = row(point.id, bytes_moved.TOTAL, 4e6, "ok", "likwid MEM1", **whole)
    simulated = made_up_evidence.simulated(point)
    for items in ([total, *simulated], [*simulated, total], [total]):
        found = of(point, items, STREAM)
        assert found["moved"]["value"] == pytest.approx(4 / 3)
        assert (found["moved"]["state"], found["moved"]["source"]) == ("ok", "likwid MEM1")
    nothing = row(point.id, bytes_moved.TOTAL, None, "absent", "likwid MEM1", **whole)
    assert of(point, [nothing, *simulated], STREAM)["moved"]["state"] == "simulated"


def test_half_of_the_traffic_is_none() -> None:
    point = stream("triad")
    (read, _) = made_up_evidence.counted(point)
    found = of(point, [read], STREAM)["moved"]
    assert (found["value"], found["state"], found["reason"]) == (None, "absent", "not looked at")
    without = [entry | {"declared_bytes": None} for entry in made_up_evidence.counted(point)]
    found = of(point, without, STREAM)["moved"]
    assert (found["value"], found["state"]) == (None, "absent")
    assert found["reason"] == "what it declares is unknown"


def test_the_largest_size_of_each_stands_first() -> None:
    points = [stream("triad", size) for size in (MIB, 128 * MIB)] + [stream("triad", MIB, "w")]
    items = [entry for point in points for entry in made_up_evidence.counted(point)]
    main = {entry["point"]: entry["main"] for entry in bytes_moved.by_point(items, STREAM)}
    assert [main[point.id] for point in points] == [False, True, True]


def test_what_is_touched_in_part_does_not_grow_with_the_buffers() -> None:
    """At 128 times the size: 1.1.1 moves a block and two, 1.2.2 its whole destination twice."""
    blocks = 4096 / MIB
    for method, once in (("block-1.1.1", 3 * blocks / 128), ("block-1.2.2", 2 + blocks / 128)):
        point = block(method)
        items = made_up_evidence.simulated(point)
        known = {"state": "simulated", "reason": ""}
        read, written = (item["value"] for item in items[:2])
        values = ((read + written) * LINE, written * LINE)
        items[2:] = [
            item | known | {"value": value} for item, value in zip(items[2:], values, strict=True)
        ]
        rows = bytes_moved.by_point(items, MBW)
        seen = roofline.traffic_of(measured(point), rows, MBW)
        assert seen["value"] == pytest.approx(once)
        assert seen["state"] == "simulated"
        larger = roofline.traffic_of(measured(block(method, 256 * MIB)), rows, MBW)
        assert larger["value"] < seen["value"]


def test_traffic_is_only_carried_over_to_the_same() -> None:
    rows = bytes_moved.by_point(made_up_evidence.simulated(stream("copy")), STREAM)
    other_size = measured(stream("copy", 256 * MIB))
    assert roofline.traffic_of(other_size, rows, STREAM)["value"] == pytest.approx(1.5)
    for point in (
        measured(stream("copy", variant="w")),
        measured(stream("triad")),
        # The C library copies by size: what it does at another one tells nothing.
        measured(stream("copy", 256 * MIB), library_calls=["memcpy"]),
        measured(stream("copy", 256 * MIB), library_calls=None),
    ):
        assert roofline.traffic_of(point, rows, STREAM)["value"] is None
    runtime = measured(stream("copy", 256 * MIB), library_calls=["GOMP_parallel"])
    assert roofline.traffic_of(runtime, rows, STREAM)["value"] == pytest.approx(1.5)


def test_a_counted_value_is_that_of_its_own_size() -> None:
    rows = bytes_moved.by_point(made_up_evidence.counted(stream("triad")), STREAM)
    assert roofline.traffic_of(measured(stream("triad")), rows, STREAM)["state"] == "ok"
    assert roofline.traffic_of(measured(stream("triad", 256 * MIB)), rows, STREAM)["value"] is None


def test_rates_stand_against_the_ceilings_of_as_many_threads() -> None:
    points = [
        stream("copy"),
        stream("copy", threads=1),
        stream("copy", MIB),
        stream("triad"),
    ]
    items = made_up_evidence.simulated(points[0])
    bounds = [
        {"traffic": "copy", "threads": n, "method": "copy", "point": "p", "rate_bytes_per_s": n}
        for n in (1, 2)
    ]
    known = [measured(point) for point in points]
    found = judge_traffic.evidence(items, known, STREAM, bounds, LLC)["roof"]
    assert found["threads"] == 2
    assert [row["point"] for row in found["rows"]] == [points[0].id, points[3].id]
    assert found["rows"][0]["moved_bytes_per_s"]["value"] == pytest.approx(15e9)
    assert found["rows"][1]["moved_bytes_per_s"]["value"] is None
    assert [level["rate_bytes_per_s"] for level in found["levels"]] == [2]
    # Without ceilings of its own: the best that delivers what it declares.
    known[0]["observations"]["work_done_fraction"] = 0.1
    known[0]["rate_bytes_per_s"] = 99e9
    (level,) = judge_traffic.evidence(items, known, STREAM, [], LLC)["roof"]["levels"]
    assert level["point"] == points[3].id
    assert judge_traffic.evidence(items, known, STREAM, bounds, None)["roof"]["rows"] == []


def test_backing_is_a_share_and_unknown_is_none() -> None:
    points = [
        measured(stream("copy"), buffers_bytes=100, buffers_resident_bytes=300, anon_huge_bytes=50),
        measured(stream("triad"), buffers_bytes=100, buffers_resident_bytes=40, anon_huge_bytes=0),
        measured(stream("read")),
    ]
    (found,) = judge_traffic.evidence([], points, STREAM, [], LLC)["buffers"]
    assert found["points"] == 2
    assert found["buffers_resident_bytes"] == pytest.approx([0.4, 0.7, 1.0])
    assert found["anon_huge_bytes"] == pytest.approx([0.0, 0.25, 0.5])
    assert found["anonymous_bytes"] is None


def test_functions_stand_once_and_what_was_not_looked_at_has_no_count() -> None:
    points = [stream("triad"), stream("triad", 64 * MIB)]
    items = [entry for point in points for entry in made_up_evidence.loop(point)]
    (found,) = judge_traffic.evidence(
        items, [measured(point) for point in points], STREAM, [], LLC
    )["loops"]
    assert found["methods"] == ["triad"]
    assert found["loads_in_loop"]["value"] == 2
    assert found["non_temporal_stores"]["value"] == ["vmovntpd"]
    assert (found["stores_in_loop"]["value"], found["stores_in_loop"]["reason"]) == (
        None,
        "objdump is gone",
    )
    assert found["string_instructions"]["state"] == "absent"


def test_what_counts_nothing_keeps_its_remedy_and_counts_of_no_point_are_none_of_it() -> None:
    items = [
        row("", "hardware counters", None, "denied", "likwid", "closed", remedy="open it"),
        row("", "page-faults", 5, "ok", "perf stat"),
        row("", "largest static array", None, "absent", "compiler and linker", "no clang"),
        row("p", "method_by_lines", None, "absent", "cachegrind", "like 2 of our methods"),
    ]
    found = judge_traffic.evidence(items, [], STREAM, [], LLC)
    assert [entry["source"] for entry in found["lacking"]] == ["likwid"]
    assert found["lacking"][0]["remedy"] == "open it"
    assert found["peers"][0]["reason"] == "like 2 of our methods"
