"""Caches as stated and as measured, side by side, of machines that do and do not agree."""

from __future__ import annotations

from typing import Any

from benchbook.core import number_format
from benchbook.report.sections import caches

KIB, MIB = 1 << 10, 1 << 20


def cache(level: int, kind: str, size: int | None, source: str, *cpus: int) -> dict[str, Any]:
    rest = {"ways": 8, "line_bytes": 64, "shared_cpus": list(cpus) or None}
    return {"level": level, "kind": kind, "bytes": size, "source": source, **rest}


def paper(*curves: tuple[str, int, int, int]) -> dict[str, Any]:
    """A paper with sweeps of a loop over three buffers: (method, threads, low, high)."""
    curves = [
        {
            "method": method,
            "variant": "gcc-O3",
            "factors": {"threads": threads},
            "knee": low and {"low_bytes": low, "high_bytes": high, "ratio": 0.5},
        }
        for method, threads, low, high in curves
    ]
    return {"experiments": {"made-up": {"names": {"a": "add"}, "buffers": 3, "curves": curves}}}


def plain(text: str) -> str:
    return text.replace(number_format.FIXED, " ")


STATED = {
    "caches": [
        cache(1, "data", 32 * KIB, "sysfs", 0),
        cache(1, "data", 32 * KIB, "sysfs", 1),
        cache(1, "instruction", 32 * KIB, "sysfs", 0),
        cache(3, "unified", 32 * MIB, "sysfs", 0, 1),
    ],
    "caches_sysconf": [cache(1, "data", 32 * KIB, "sysconf"), cache(3, "unified", 384 * MIB, "")],
    "hwloc": {"caches": [cache(3, "unified", 32 * MIB, "hwloc", 0, 1)]},
}


def test_sources_stand_side_by_side_and_who_differs_is_told() -> None:
    rows = {row["name"]: row for row in caches.caches(STATED, [])["rows"]}
    assert list(rows) == ["L1d", "L1i", "L3"]
    last = rows["L3"]
    stated = [plain(last[source]) for source in ("sysfs", "libc", "hwloc", "measured")]
    assert stated == ["32 MiB", "384 MiB", "32 MiB", ""]
    assert last["apart"]
    assert (rows["L1d"]["many"], rows["L1d"]["shared"], last["shared"]) == (2, "1", "2")
    assert not rows["L1d"]["apart"]  # hwloc says nothing of it
    assert rows["L1i"]["libc"] == ""


def test_a_fall_is_told_as_working_sets_beside_the_cache_that_lies_there() -> None:
    shown = caches.caches(
        STATED, [paper(("a", 1, 8 * MIB, 16 * MIB), ("b", 1, MIB, 2 * MIB), ("c", 2, 8 * MIB, MIB))]
    )
    rows = {row["name"]: row for row in shown["rows"]}
    assert plain(rows["L3"]["measured"]) == "24 MiB to 48 MiB"
    assert rows["L1d"]["measured"] == ""
    falls = [(fall["method"], plain(fall["between"]), fall["near"]) for fall in shown["falls"]]
    # Two threads may have two caches.
    assert falls == [("add", "24 MiB to 48 MiB", "L3"), ("b", "3 MiB to 6 MiB", "none")]


def test_a_sweep_that_two_papers_share_is_told_once_and_a_flat_one_never() -> None:
    content = paper(("a", 1, MIB, 2 * MIB), ("b", 1, 0, 0))
    assert len(caches.falls([content, content])) == 1
    assert caches.falls([{"experiments": {}}]) == []


def test_where_nobody_names_a_cache_there_is_no_row() -> None:
    assert caches.caches({}, []) == {"rows": [], "falls": []}
    assert caches.caches({"hwloc": {"reason": "absent"}, "caches": None}, [])["rows"] == []


def test_caches_that_only_the_c_library_told_are_its_own() -> None:
    """A run that was recorded before hwloc was asked, on a machine without cache files."""
    row = caches.caches({"caches": [cache(2, "unified", None, "sysconf")]}, [])["rows"][0]
    assert (row["sysfs"], row["libc"], row["measured"], row["many"]) == ("", "", "", None)
    assert not row["apart"]
