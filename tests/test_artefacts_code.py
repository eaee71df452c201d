"""Detectors of what a copy is made of: its instructions, library calls, traffic and units."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from benchbook.build.disassembly import parse
from benchbook.build.instructions import parse as instruction
from benchbook.controls.replays import seen_of_scene
from benchbook.controls.score import replayed
from benchbook.detect import Judged, Seen
from benchbook.detect.detectors import (
    above_ceiling,
    copy_path_switch,
    libcall_substituted,
    not_vectorised,
    unit_mix,
    write_allocate,
)
from benchbook.evidence.collectors.binaries import _of_all
from benchbook.stats.ratios import time_ratio

MIB = 2**20
HOST: dict[str, Any] = {"total_llc_bytes": 32 * MIB}
REPLAY = Path(__file__).parent.parent / "kernels/controls/unit-mix/replay.py"


def row(where: str, **changes: Any) -> dict[str, Any]:
    """A vector loop that copies 1 MiB in cache, in 50 us."""
    clean = {
        "where": where,
        "series": f"series of {where}",
        "setting": "s1",
        "bytes": MIB,
        "threads": 1,
        "bytes_per_call": 2 * MIB,
        "buffers_bytes": 2 * MIB,
        "working_set_bytes": 2 * MIB,
        "time_ns": 50_000.0,
        "compiler": "gcc",
        "flags_asked": ["-O3"],
        "environment": {},
        "library_calls": [],
        "library_calls_declared": [],
        "loads_in_loop": 2,
        "stores_in_loop": 2,
        "widest_access_bytes": 16,
        "non_temporal_stores": [],
        "string_instructions": [],
        "work_done_fraction": 1,
    }
    made = clean | changes
    return made | {"rate_bytes_per_s": made["bytes_per_call"] / made["time_ns"] * 1e9}


def seen(*rows: dict[str, Any], blocks: int = 8, spread: float = 0.01, **more: Any) -> Seen:
    """With starts whose medians are each point's time, alternately longer and shorter by
    `spread`."""
    starts = [
        {
            "where": row["where"],
            "block": block,
            "t_start_ns": block * 1000 + index,
            "median_ns": row["time_ns"] * (1 + spread * (-1) ** (block + index)),
        }
        for index, row in enumerate(rows)
        for block in range(blocks)
    ]
    host = HOST | more.pop("host", {})
    return Seen(points=pd.DataFrame(list(rows)), starts=pd.DataFrame(starts), host=host, **more)


def one(judged: Judged, *said: str) -> Any:
    """The only finding; its explanation says this, and there is a remedy."""
    (finding,) = judged.findings
    for text in said:
        assert text in finding.explanation
    assert finding.explanation.count(". ") <= 3
    assert finding.remedy
    assert finding.evidence
    return finding


def silent(judged: Judged, *clean: str) -> bool:
    """Nothing was found, nobody abstained, and these were judged."""
    return not judged.findings and not judged.abstained and set(clean) <= set(judged.clean)


def test_a_ratio_of_times_is_paired_by_block() -> None:
    table = seen(row("a", time_ns=100.0), row("b", time_ns=50.0), spread=0.0).starts
    slow = table.assign(median_ns=table["median_ns"] * (1 + table["block"]))
    ratio = time_ratio(slow, "a", "b")
    assert ratio is not None
    assert (ratio.estimate, ratio.low, ratio.high) == (pytest.approx(2), pytest.approx(2),
                                                      pytest.approx(2))  # fmt: skip
    assert ratio.is_always_beyond(1.9)
    assert ratio.scaled(0.5, 1.1).high == pytest.approx(1.1)
    assert time_ratio(table, "a", "nowhere") is None
    assert time_ratio(pd.DataFrame(), "a", "b") is None
    endless = table.assign(median_ns=table["median_ns"].where(table["block"] > 0, float("inf")))
    assert len(time_ratio(endless, "a", "b").each) == len(ratio.each) - 1
    few = time_ratio(table[table["block"] < 3], "a", "b")
    assert few is not None
    assert (few.low, few.high) == (0.0, float("inf"))


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("mov    (%rdi),%rax", 8),
        ("movsd  (%rdi),%xmm0", 8),
        ("vfmadd213sd (%rdi),%xmm1,%xmm2", 8),
        ("movq   (%rdi),%xmm0", 8),
        ("movups (%rdi),%xmm0", 16),
        ("vpabsd (%rdi),%ymm0", 32),
        ("vfmadd213pd (%rdi),%ymm1,%ymm2", 32),
        ("vmovdqu64 (%rax),%zmm0", 64),
        ("ldr    q0, [x1]", 16),
        ("ldr    d0, [x1]", 8),
    ],
)
def test_how_wide_an_access_is(text: str, width: int) -> None:
    found = instruction(f"  1f:\t{text}")
    assert found is not None
    assert found.width_bytes == width


def test_the_widest_access_of_a_loop_is_kept() -> None:
    lines = [
        "0000000000000000 <timed_copy>:",
        "   0:\tmovups (%rdi),%xmm0",
        "   4:\tmov    (%rsi,%rax,8),%rdx",
        "   8:\tmov    %rdx,(%rdi,%rax,8)",
        "   c:\tjne    4 <timed_copy+0x4>",
        "  10:\tret",
    ]
    assert parse("\n".join(lines))["timed_copy"].record()["widest_access_bytes"] == 8


def test_functions_of_which_one_runs_tell_what_all_do() -> None:
    known = {
        "timed_copy_nt_avx": {"non_temporal_stores": ["vmovntpd"], "isa": ["AVX"]},
        "timed_copy_nt_sse2": {"non_temporal_stores": ["movntpd"], "isa": ["SSE2"]},
        "timed_copy_heap": {"non_temporal_stores": [], "isa": ["SSE2"]},
    }
    both = {"non_temporal_stores": ["movntpd", "vmovntpd"]}
    assert _of_all("timed_copy_nt_heap", known) == both
    assert _of_all("timed_copy_static", known) == {}
    assert _of_all("timed_scale_heap", known) == {}


SCALAR = {"widest_access_bytes": 8, "flags_asked": ["-O3", "-fno-tree-vectorize"]}


def test_a_scalar_loop_beside_a_vector_loop() -> None:
    rows = (row("vector"), row("a", **SCALAR, time_ns=150_000.0))
    finding = one(
        not_vectorised.detect(seen(*rows)),
        "at most 8 bytes at a time",
        "16 bytes at a time",
        "without -fno-tree-vectorize",
        "3.00 times as long",
    )
    assert (finding.effect, finding.where, finding.confidence) == ("biases", ["a"], 1.0)
    assert finding.factor == pytest.approx(1 / 3)


def test_a_scalar_loop_that_is_as_fast_informs() -> None:
    slow = row("a", **SCALAR, time_ns=50_500.0)
    assert (
        one(not_vectorised.detect(seen(row("vector"), slow)), "the same time").effect == "informs"
    )
    large = {"buffers_bytes": 99 * MIB}
    rows = (row("vector", **large), row("a", **SCALAR, **large, time_ns=80_000.0))
    assert one(not_vectorised.detect(seen(*rows)), "1.60 times").effect == "informs"


def test_a_scalar_loop_in_too_few_or_too_noisy_blocks_has_no_factor() -> None:
    rows = (row("vector"), row("a", **SCALAR, time_ns=150_000.0))
    few = one(not_vectorised.detect(seen(*rows, blocks=5)), "compared in too few rounds")
    assert (few.effect, few.factor) == ("informs", None)
    rows = (row("vector"), row("a", **SCALAR, time_ns=55_000.0))
    wide = one(not_vectorised.detect(seen(*rows, spread=0.1)), "1.10 times as long (interval")
    assert (wide.effect, wide.factor) == ("informs", None)


def test_a_scalar_loop_alone_cannot_be_judged() -> None:
    judged = not_vectorised.detect(seen(row("a", **SCALAR), row("other", setting="s2")))
    assert judged.findings == []
    assert "vector loop" in judged.abstained["a"]
    assert not_vectorised.detect(seen(row("a", widest_access_bytes=None))).abstained == {
        "a": "widest_access_bytes was not observed"
    }


@pytest.mark.parametrize(
    "other",
    [{"library_calls": ["memcpy"]}, {"string_instructions": ["rep movsb"]},
     {"widest_access_bytes": 0}],
)  # fmt: skip
def test_what_has_no_loop_of_its_own_is_not_judged(other: dict[str, Any]) -> None:
    judged = not_vectorised.detect(seen(row("vector"), row("a", **{**SCALAR, **other})))
    assert silent(judged, "vector")
    assert judged.clean == ["vector"]


CALLED = {"library_calls": ["GOMP_parallel", "memcpy"], "loads_in_loop": 0, "stores_in_loop": 0}


def test_a_loop_that_became_a_call() -> None:
    rows = (row("loop", time_ns=80_000.0), row("a", **CALLED), row("b", **CALLED, setting="s2"))
    finding = one(libcall_substituted.detect(seen(*rows)), "memcpy", "These 2 numbers", "1.60")
    assert (finding.effect, finding.where) == ("explains", ["a", "b"])
    assert finding.factor == pytest.approx(1.6)
    alone = one(
        libcall_substituted.detect(seen(row("a", **CALLED))), "This number, of 2 MiB a call"
    )
    assert alone.factor is None


def test_calls_that_are_meant_are_none() -> None:
    meant = [
        row("a", library_calls=["memcpy"], library_calls_declared=["memcpy"]),
        row("b", library_calls=["__memcpy_chk"], library_calls_declared=["memcpy"]),
        row("c", library_calls=["__stack_chk_fail", "omp_get_thread_num"]),
        row("d"),
    ]
    assert silent(libcall_substituted.detect(seen(*meant)), *"abcd")
    unknown = [row("e", library_calls=None), row("f", **CALLED, library_calls_declared=None)]
    judged = libcall_substituted.detect(seen(*unknown))
    assert judged.findings == []
    assert set(judged.abstained) == {"e", "f"}


def moved(where: str, threshold: int | None, time_ns: float = 50_000.0, **more: Any) -> dict:
    text = (
        f"glibc.cpu.x86_rep_movsb_threshold=0x40:glibc.cpu.x86_non_temporal_threshold={threshold}"
    )
    environment = {} if threshold is None else {"GLIBC_TUNABLES": text}
    said = {} if threshold is None else {"non_temporal_threshold_bytes": threshold}
    calls = {"library_calls": ["memcpy"], "rep_movsb_threshold_bytes": 64}
    return row(where, environment=environment, time_ns=time_ns, **{**calls, **said, **more})


def test_a_path_that_switches_with_the_threshold() -> None:
    rows = (moved("a", 2 * MIB), moved("b", 65536, 100_000.0))
    finding = one(
        copy_path_switch.detect(seen(*rows)),
        "2.00 times as long for 1 MiB",
        "non-temporal stores",
        "from 2 MiB to 64 KiB",
    )
    assert (finding.effect, finding.where, finding.factor) == ("explains", ["a", "b"], None)


@pytest.mark.parametrize(
    "rows",
    [
        (moved("a", 2 * MIB), moved("b", 3 * MIB, 100_000.0)),  # both above the size
        (moved("a", 2 * MIB), moved("b", 65536, 50_500.0)),  # no other time
        (moved("a", 2 * MIB), moved("b", 65536, 100_000.0, setting="s2")),
        (moved("a", 2 * MIB), moved("b", 65536, 100_000.0, flags_asked=["-O1"])),
        (moved("a", None), moved("b", None, 100_000.0)),
    ],
)
def test_nothing_switches(rows: tuple[dict, ...]) -> None:
    assert silent(copy_path_switch.detect(seen(*rows)))


def test_a_block_is_what_one_call_copies() -> None:
    rows = (moved("a", 65536, block_bytes=4096), moved("b", 1024, 90_000.0, block_bytes=4096))
    one(copy_path_switch.detect(seen(*rows)), "for 4 KiB")
    rows = (moved("a", 2 * MIB, library_calls=["mempcpy"]),
            moved("b", 65536, 9e4, library_calls=["mempcpy"]))  # fmt: skip
    one(copy_path_switch.detect(seen(*rows)), "The C library's mempcpy")


def test_paths_that_nobody_can_tell() -> None:
    unknown = copy_path_switch.detect(seen(moved("a", None), moved("b", 65536, 90_000.0)))
    assert "own threshold" in unknown.abstained["a"]
    unsaid = {"non_temporal_threshold_bytes": None}
    musl = (moved("a", 2 * MIB, **unsaid), moved("b", 65536, 9e4, **unsaid))
    assert "own threshold" in copy_path_switch.detect(seen(*musl)).abstained["b"]
    few = copy_path_switch.detect(seen(moved("a", MIB * 2), moved("b", 65536, 9e4), blocks=3))
    assert "6 rounds" in few.abstained["b"]
    own = {"non_temporal_threshold_bytes": MIB, "rep_movsb_threshold_bytes": 2112}
    other = own | {"non_temporal_threshold_bytes": 65536}
    rows = (moved("a", None, **own), moved("b", 65536, 9e4, **other))
    # One is at its own threshold of 1 MiB, the other beyond its too.
    assert copy_path_switch.detect(seen(*rows)).findings == []
    sweep = (moved("a", None, **own), moved("b", None, bytes=65536, **own))
    unmoved = copy_path_switch.detect(seen(*sweep))
    assert unmoved.abstained == {"a": "no measurement changed the C library's threshold for "
                                 "non-temporal stores"}  # fmt: skip


LARGE = {"bytes": 64 * MIB, "bytes_per_call": 128 * MIB, "buffers_bytes": 128 * MIB,
         "working_set_bytes": 192 * MIB, "time_ns": 3e6}  # fmt: skip


def simulated(where: str, read: float | None = 2.0, written: float = 1.0, lines: int = 1) -> list:
    """Of a call on buffers of 1 MiB, in these; read None: not modelled."""
    values = {
        "bytes_read_from_memory": read and read * MIB,
        "bytes_written_to_memory": None if read is None else written * MIB,
        "lines_written": lines * MIB // 64,
    }
    return [
        {
            "where": where,
            "name": name,
            "value": value,
            "state": "absent" if value is None else "simulated",
            "source": "cachegrind",
            "reason": "it moves data by rep movsb" if value is None else "",
            "declared_bytes": 2 * MIB,
            "line_bytes": 64,
        }
        for name, value in values.items()
    ]


def test_lines_that_are_read_before_a_store() -> None:
    rows = [
        row("a", **LARGE, series="x"),
        row("b", **{**LARGE, "buffers_bytes": 256 * MIB}, series="x"),
        row("nt", **{**LARGE, "time_ns": 2.4e6}, non_temporal_stores=["vmovntpd"]),
        row("small", series="x"),
        row("read", **LARGE, stores_in_loop=0),
    ]
    finding = one(
        write_allocate.detect(seen(*rows, evidence=simulated("a"))),
        "1.50 times the memory traffic",
        "simulation",
        "that nothing stays in a cache",
        "44.7 GB/s does not include it: memory would have carried 67.1 GB/s",
        "0.80 of the time",
    )
    assert (finding.where, finding.effect, finding.confidence) == (["a", "b"], "explains", 0.9)
    assert finding.factor == pytest.approx(1 / 1.5)
    assert {each["state"] for each in finding.evidence} == {"simulated", "ok"}


def test_counted_traffic_comes_first() -> None:
    counted = {"bytes_read_from_memory": 127.0 * MIB, "bytes_written_to_memory": 64.0 * MIB}
    rows = row("a", **LARGE, **counted)
    finding = one(
        write_allocate.detect(seen(rows, evidence=simulated("a", 1.0))), "Hardware counters show"
    )
    assert (finding.factor, finding.confidence) == (pytest.approx(128 / 191), 1.0)
    again = counted | {"bytes_read_from_memory": 256.0 * MIB}
    judged = write_allocate.detect(seen(row("a", **LARGE, **again)))
    assert judged.findings == []
    assert "the additional reads" in judged.abstained["a"]
    in_place = LARGE | {"buffers_bytes": 64 * MIB} | counted | {"bytes_read_from_memory": 64 * MIB}
    assert silent(write_allocate.detect(seen(row("a", **in_place))), "a")


def test_a_simulation_alone_is_less_sure_and_ids_do_not_choose_it() -> None:
    alone = seen(row("a", **LARGE, series="x"), evidence=simulated("a"))
    assert one(write_allocate.detect(alone)).confidence == 0.6
    more = {**LARGE, "bytes": 128 * MIB, "bytes_per_call": 256 * MIB, "time_ns": 6e6}
    for names in ("acd", "dca"):
        first, second, third = names
        rows = (row(first, **LARGE, series="x"), row(second, **more, series="x"),
                row(third, **more, series="x"), row("small", series="x"))  # fmt: skip
        told = [*simulated(first, 3.0), *simulated(second), *simulated("small", 9.0)]
        found = write_allocate.detect(seen(*rows, evidence=told)).findings
        assert {tuple(sorted(finding.where)): finding.factor for finding in found} == {
            (first,): pytest.approx(3 / 4),
            tuple(sorted((second, third))): pytest.approx(2 / 3),
        }


def test_stores_whose_traffic_is_unknown_abstain() -> None:
    rows = [row("a", **LARGE), row("b", **LARGE), row("c", **LARGE, library_calls=["memcpy"])]
    judged = write_allocate.detect(seen(*rows, evidence=simulated("b", None)))
    assert judged.findings == []
    assert judged.abstained == {
        "a": "its traffic was neither counted nor simulated",
        "b": "it moves data by rep movsb",
        "c": "its traffic was neither counted nor simulated",
    }
    quiet = write_allocate.detect(seen(row("a", **LARGE), evidence=simulated("a", 1.0, 1.0, 0)))
    assert silent(quiet, "a")


FALSE = {**LARGE, "time_ns": 6e5, "work_done_fraction": 0.001}


def test_more_than_memory_attained() -> None:
    finding = one(
        above_ceiling.detect(seen(row("honest", **LARGE), row("a", **FALSE))),
        "223.7 GB/s is 5.0 times",
        "(44.7 GB/s)",
        "128 MiB",
        "caches of 32 MiB",
    )
    assert (finding.effect, finding.where) == ("invalidates", ["a"])
    assert finding.confidence < 1


def test_declared_ceilings_bound_whole_work_too() -> None:
    host = {"ceilings": [{"traffic": "copy", "threads": 1, "point": "c"},
                         {"traffic": "read", "threads": 1, "point": "r"}]}  # fmt: skip
    bounds = [row("c", **LARGE), row("r", **{**LARGE, "time_ns": 2.5e6})]
    fast = row("a", **{**LARGE, "time_ns": 1e6})
    one(above_ceiling.detect(seen(*bounds, fast, host=host)), "2.5 times")
    triad = row("a", **{**LARGE, "time_ns": 2.3e6})
    assert silent(above_ceiling.detect(seen(*bounds, triad, host=host)), "a", "c", "r")


def test_ceilings_that_are_not_there() -> None:
    alone = above_ceiling.detect(seen(row("a", **FALSE)))
    assert "no ceiling" in alone.abstained["a"]
    two = above_ceiling.detect(seen(row("honest", **LARGE), row("a", **FALSE, processes=2)))
    assert "no ceiling" in two.abstained["a"]
    few = above_ceiling.detect(seen(row("honest", **LARGE), row("a", **FALSE), blocks=3))
    assert "6 rounds" in few.abstained["a"]
    unknown = above_ceiling.detect(seen(row("a"), host={"total_llc_bytes": None}))
    assert "unknown" in unknown.abstained["a"]
    cached = {"work_done_fraction": 0.001, "time_ns": 1000.0}
    assert silent(above_ceiling.detect(seen(row("honest", **LARGE), row("a", **cached))))


@pytest.mark.parametrize(
    ("bytes_per_call", "said"),
    [(MIB, "once"), (1.5 * 2 * MIB, "read before a store"), (2_000_000, "10⁶"), (16 * MIB, "bits")],
)
def test_bytes_that_are_counted_otherwise(bytes_per_call: float, said: str) -> None:
    rows = (row("a"), row("b", bytes_per_call=bytes_per_call))
    finding = one(unit_mix.detect(seen(*rows)), said, f"{int(bytes_per_call):,}", "1.00")
    more = "a" if bytes_per_call < 2 * MIB else "b"
    assert (finding.where, finding.effect, finding.confidence) == ([more], "biases", 1.0)


def test_times_that_differ_are_not_called_the_same() -> None:
    rows = (row("a"), row("b", bytes_per_call=16 * MIB, time_ns=62_500.0))
    finding = one(
        unit_mix.detect(seen(*rows)), "factor of at most 1.25", "differ by a factor of 8 beyond"
    )
    assert "same time" not in finding.explanation


def test_blocks_that_disagree_about_the_speed_leave_it_open() -> None:
    table = seen(row("a"), row("b", bytes_per_call=4 * MIB), blocks=3)
    slowed = (table.starts["where"] == "b") & (table.starts["block"] > 0)
    table.starts.loc[slowed, "median_ns"] *= 2
    judged = unit_mix.detect(table)
    assert judged.findings == []
    assert set(judged.abstained) == {"a", "b"}
    table.starts.loc[table.starts["where"] == "b", "median_ns"] = 100_000.0
    assert silent(unit_mix.detect(table))


@pytest.mark.parametrize(
    "other",
    [
        {},
        {"bytes_per_call": 2.2 * MIB},
        {"bytes_per_call": 4 * MIB, "time_ns": 100_000.0},  # twice the work
        {"bytes_per_call": 4 * MIB, "buffers_bytes": 4 * MIB},
        {"bytes_per_call": 4 * MIB, "stores_in_loop": 4},
        {"bytes_per_call": 4 * MIB, "loads_in_loop": None},
    ],
)
def test_other_work_is_no_other_unit(other: dict[str, Any]) -> None:
    assert silent(unit_mix.detect(seen(row("a"), row("b", **other))))


FOREIGN = dict.fromkeys(("library_calls", "flags_asked", "loads_in_loop"))


def sizes_of_two(ratio: float, sizes: int = 3, **more: Any) -> Seen:
    """A foreign program whose times are ours over `ratio`."""
    rows = []
    for size in range(sizes):
        common = {"setting": f"s{size}", "bytes": (size + 1) * MIB}
        rows.append(row(f"ours {size}", **common, series="ours"))
        rows.append(row(f"theirs {size}", **common, series="theirs", **FOREIGN,
                        time_ns=50_000.0 / ratio))  # fmt: skip
    return seen(*rows, spread=0.002, **more)


def test_a_foreign_figure_that_sits_on_a_constant() -> None:
    finding = one(
        unit_mix.detect(sizes_of_two(1.048576)), "all 3 sizes", "1.04858", "10⁶", "90 % certain"
    )
    assert finding.where == ["theirs 0", "theirs 1", "theirs 2"]
    assert finding.factor == pytest.approx(1.048576)
    assert finding.confidence < 1
    slower = one(unit_mix.detect(sizes_of_two(0.5)), "counted once")
    assert slower.factor == 0.5
    assert silent(unit_mix.detect(sizes_of_two(1.0)), "theirs 0", "theirs 2")
    assert silent(unit_mix.detect(sizes_of_two(1.2)))


def test_a_foreign_figure_at_few_sizes_or_blocks_abstains() -> None:
    assert "3 sizes" in unit_mix.detect(sizes_of_two(2.0, sizes=2)).abstained["theirs 1"]
    judged = unit_mix.detect(sizes_of_two(2.0, blocks=4))
    assert judged.findings == []
    assert "too wide" in judged.abstained["theirs 0"]


def test_replayed_units_are_told_from_speeds() -> None:
    for scene in replayed(REPLAY, 1):
        assert bool(unit_mix.detect(seen_of_scene(scene)).findings) == scene.provoked


DETECTORS = [above_ceiling, copy_path_switch, libcall_substituted, not_vectorised, unit_mix,
             write_allocate]  # fmt: skip


@pytest.mark.parametrize("detector", DETECTORS, ids=lambda module: module.ARTEFACT.id)
def test_an_empty_table_says_nothing(detector: Any) -> None:
    assert detector.detect(Seen(points=pd.DataFrame())) == Judged()
