"""Rows of evidence that need no privilege: out of a run's journal, and out of the binaries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchbook.define.points import Point
from benchbook.evidence.collectors import binaries, invocations
from benchbook.evidence.stage import Context, Row
from benchbook.records import journal as records_journal

MIB = 2**20
POINT = "v,bytes=64,method=copy,memory=static"
BUFFERS = {
    "buffers_bytes": 16 * MIB,
    "buffers_resident_bytes": 8 * MIB,
    "anonymous_bytes": 8 * MIB,
    "anon_huge_bytes": None,
}
TIMED = {
    "library_calls": ["GOMP_parallel", "memcpy"],
    "loads_in_loop": 0,
    "stores_in_loop": 2,
    "widest_access_bytes": 32,
    "non_temporal_stores": ["vmovntpd"],
    "string_instructions": [],
    "data_sections": [".bss"],
    "isa": ["AVX"],
}


def context(run: Path, *points: str, timed: dict[str, Any] | None = None) -> Context:
    """Of a run of one variant."""
    about = {"experiment": "e", "variant": "v", "state": "ok", "isa": ["AVX", "SSE2"]}
    return Context(
        pointer={"experiment": "e"},
        run=run,
        plan={"points": [_point(point) for point in points]},
        definition={},
        variants={
            "v": (run, {**about, "timed_functions": {} if timed is None else timed}),
            "peer": (run, {**about, "peer": "p"}),
        },
        limits=[],
    )


def _point(point: str) -> dict[str, Any]:
    return Point.of_id(point).record()


def journal(run: Path, *usages: dict[str, Any], **conditions: Any) -> None:
    """One complete block for each usage."""
    lines: list[dict[str, Any]] = []
    for block, usage in enumerate(usages):
        about = {"block": block, "invocation": 0, "point": POINT, "state": "ok"}
        said = {"observations": {"threads_used": 2}, "usage": usage, "conditions": conditions}
        lines.append({"kind": "invocation", **about, **said})
        lines.append({"kind": "block_end", "block": block, "disturbed": False, "t_end_ns": 1})
    records_journal.append(run / records_journal.JOURNAL, lines)


def named(rows: list[Row]) -> dict[str, Row]:
    found = {row["name"]: row for row in rows}
    assert len(found) == len(rows)
    return found


def test_buffers_and_the_start_are_observed(tmp_path: Path) -> None:
    more = {**BUFFERS, "anonymous_bytes": 10 * MIB}
    journal(tmp_path, BUFFERS, more, steal_fraction=0.25, frequency_khz=None)
    rows = named(invocations.rows(context(tmp_path)))
    values = {name: (row["value"], row["unit"], row["state"]) for name, row in rows.items()}
    assert values == {
        "threads_used": (2, "threads", "ok"),
        "buffers_bytes": (16 * MIB, "bytes", "ok"),
        "buffers_resident_bytes": (8 * MIB, "bytes", "ok"),
        "anonymous_bytes": (9 * MIB, "bytes", "ok"),
        "anon_huge_bytes": (None, "bytes", "absent"),
        "steal_fraction": (0.25, "1", "ok"),
        "frequency_khz": (None, "kHz", "absent"),
    }
    assert rows["buffers_bytes"]["source"] == "harness"
    assert rows["anonymous_bytes"]["source"] == rows["steal_fraction"]["source"]
    assert rows["anonymous_bytes"]["source"] == "operating system"
    assert rows["anon_huge_bytes"]["reason"] == "this system does not account it"


def test_journals_of_before_stay_readable(tmp_path: Path) -> None:
    journal(tmp_path, {"minor_faults": 3})
    rows = named(invocations.rows(context(tmp_path)))
    assert {name for name, row in rows.items() if row["state"] == "ok"} == {
        "threads_used",
        "minor_faults",
    }
    assert "anonymous_bytes" not in rows


def test_each_point_has_what_its_function_is_made_of(tmp_path: Path) -> None:
    timed = {"timed_copy_static": TIMED, "timed_add": {**TIMED, "loads_in_loop": 9}}
    rows = binaries.rows(context(tmp_path, POINT, "peer,bytes=64,method=copy", timed=timed))
    own = named([row for row in rows if row["point"]])
    assert {row["point"] for row in own.values()} == {POINT}
    assert {row["function"] for row in own.values()} == {"timed_copy_static"}
    assert {row["state"] for row in own.values()} == {"ok"}
    assert {name: row["value"] for name, row in own.items()} == {
        **{name: value for name, value in TIMED.items() if name != "isa"},
        "timed_isa": ["AVX"],
        "library_calls_declared": [],
    }
    assert own["loads_in_loop"]["unit"] == own["stores_in_loop"]["unit"] == "instructions"
    of_variant = named([row for row in rows if not row["point"]])
    assert of_variant["isa"]["value"] == ["AVX", "SSE2"]
    assert of_variant["library calls in timed_add"]["value"] == TIMED["library_calls"]


OUTLINED = {**TIMED, "library_calls": ["__kmpc_fork_call"], "stores_in_loop": 0}
OLD = {name: TIMED[name] for name in ("library_calls", "loads_in_loop", "isa")}
UNKNOWN = {
    "no objdump": ({}, "stores_in_loop", "objdump is not on PATH"),
    "another function": ({"timed_add": TIMED}, "library_calls", "no function is called timed_copy"),
    "two that it may be": (
        {"timed_copy_avx": TIMED, "timed_copy_sse2": TIMED},
        "loads_in_loop",
        "more than one begins like it",
    ),
    "an older build": ({"timed_copy": OLD}, "data_sections", "did not look for it"),
    "a loop elsewhere": ({"timed_copy": OUTLINED}, "loads_in_loop", "for the OpenMP runtime"),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_was_not_looked_at_is_absent(name: str, tmp_path: Path) -> None:
    timed, missing, reason = UNKNOWN[name]
    rows = binaries.rows(context(tmp_path, "v,bytes=64,method=copy", timed=timed))
    row = named([row for row in rows if row["point"]])[missing]
    assert (row["value"], row["state"]) == (None, "absent")
    assert reason in row["reason"]


def test_a_link_that_woke_in_half_of_the_starts_has_one_of_its_two_speeds() -> None:
    speeds = [2.5, 16.0, 2.5, 16.0]
    seen = invocations.over_invocations("destination check", speeds, "link_idle_gt_per_s")
    assert seen["value"] == 2.5
    assert seen["reason"] == "median over invocations, from 2.5 to 16.0"
    assert invocations.over_invocations("destination check", speeds, "wall_ns")["value"] == 9.25


def test_one_start_whose_orders_were_under_way_tells_that_nobody_waited() -> None:
    done = invocations.over_invocations("destination check", [1, 1, 0.2], "orders_done_fraction")
    assert (done["value"], done["reason"]) == (0.2, "least over invocations, from 0.2 to 1")


def test_a_link_that_is_not_told_says_why_and_a_name_is_kept() -> None:
    absent = invocations.over_invocations("destination check", [None, None], "link_load_width")
    assert (absent["state"], absent["value"]) == ("absent", None)
    assert "names no link" in absent["reason"]
    one = invocations.over_invocations("destination check", ["GPU", "GPU"], "device_name")
    assert (one["value"], one["reason"]) == ("GPU", "the same in every invocation")
    two = invocations.over_invocations("destination check", ["GPU", "Other"], "device_name")
    assert (two["value"], two["reason"]) == ("GPU, Other", "")
