"""Detectors of what memory does to a number: caches, stuck pointers, pages, removed work."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from benchbook.detect import Judged, Seen
from benchbook.detect.detectors import (
    cache_resident,
    constant_folded,
    dead_code,
    destination_not_advanced,
    first_touch,
    source_not_advanced,
    zero_page,
)

KIB, MIB = 2**10, 2**20
ALL = (
    cache_resident,
    constant_folded,
    dead_code,
    destination_not_advanced,
    first_touch,
    zero_page,
)
HOST = {"llc_sysfs_bytes": 32 * MIB, "total_llc_bytes": 32 * MIB}
COPIES = {
    "library_calls": ["memcpy"],
    "loads_in_loop": 0,
    "stores_in_loop": 0,
    "string_instructions": [],
}
LOOPS = COPIES | {"library_calls": [], "loads_in_loop": 4}
EMPTY = LOOPS | {"loads_in_loop": 0}


def copy(where: str = "p", mib: float = 128, **changes: Any) -> dict[str, Any]:
    """A clean copy between two buffers, at 10 GB/s."""
    size = int(mib * MIB)
    clean = {
        "where": where,
        "series": "s",
        "bytes": size,
        "bytes_per_call": size,
        "time_ns": size / 10,
        "working_set_bytes": 2 * size,
        "buffers_bytes": 2 * size,
        "anonymous_bytes": 2 * size + 8192,
        "buffers_resident_bytes": 2 * size + 8192,
        "anon_huge_bytes": 0,
        "resident_bytes": 2 * size + 2 * MIB,
        "minor_faults": 0,
        "samples": 80,
        "blocks": 8,
        "work_done_fraction": 1.0,
        **COPIES,
    }
    return clean | changes


def total(where: str = "p", mib: float = 8, **changes: Any) -> dict[str, Any]:
    """A sum over one array of the program itself, at 10 GB/s, with a right result."""
    one = copy(where, mib, **LOOPS, result_is_right=1)
    one |= {name: int(mib * MIB) for name in ("working_set_bytes", "buffers_bytes")}
    del one["work_done_fraction"]
    return one | changes


def judged(detector: Any, *rows: dict[str, Any], **tables: Any) -> Judged:
    return detector.detect(Seen(points=pd.DataFrame(rows), **{"host": HOST, **tables}))


def only(detector: Any, *rows: dict[str, Any], **tables: Any) -> Any:
    (finding,) = judged(detector, *rows, **tables).findings
    assert finding.remedy
    assert finding.explanation.count(". ") <= 3
    return finding


@pytest.mark.parametrize("detector", ALL)
def test_clean_points_raise_nothing(detector: Any) -> None:
    blocks = {
        "block_bytes": 4096,
        "blocks_declared": 32768,
        "destination_written_fraction": 1.0,
        "distinct_source_blocks": 32768,
    }
    rows = (copy("a"), copy("b", **blocks), total("c", 128), copy("d", 256, minor_faults=4))
    assert judged(detector, *rows) == Judged()
    assert detector.detect(Seen(points=pd.DataFrame())) == Judged()


# cache-resident


def test_what_fits_is_told_with_the_factor_beyond_the_cache() -> None:
    fast = [copy("b", 8, time_ns=8 * MIB / 30), copy("a", 16, time_ns=16 * MIB / 20)]
    finding = only(cache_resident, *fast, copy("c"))
    assert finding.where == ["a", "b"]
    assert (finding.effect, finding.confidence) == ("biases", 1.0)
    assert finding.factor == pytest.approx(3.0)
    assert "16 MiB to 32 MiB" in finding.explanation
    assert "2.00 to 3.00 times as long" in finding.explanation
    assert "128 MiB" in finding.remedy
    assert only(cache_resident, copy("a", 8)).factor is None


def test_processes_have_buffers_each_and_one_core_one_cache() -> None:
    two = copy("p", 12, processes=2, buffers_bytes=None)
    assert only(cache_resident, two).effect == "informs"
    small = {"host": {"llc_sysfs_bytes": 32 * MIB, "total_llc_bytes": 64 * MIB}}
    assert only(cache_resident, copy("p", 24), **small).effect == "informs"
    assert only(cache_resident, copy("p", 24, threads=2), **small).effect == "biases"


def test_cores_that_share_a_cache_have_one() -> None:
    data = {"level": 3, "kind": "unified", "bytes": 32 * MIB}
    host = {"llc_sysfs_bytes": 32 * MIB, "total_llc_bytes": 64 * MIB, "cpus": [0, 1, 2, 3]}
    shared = [data | {"shared_cpus": [0, 1]}, data | {"shared_cpus": [2, 3]}]
    row, wide = copy("p", 24, threads=2), copy("p", 24, threads=3)
    assert only(cache_resident, row, host=host | {"caches": shared}).effect == "informs"
    assert only(cache_resident, wide, host=host | {"caches": shared}).effect == "biases"
    unsaid = [data | {"shared_cpus": None}]
    assert only(cache_resident, row, host=host | {"caches": unsaid}).effect == "biases"


def test_stores_past_the_caches_come_from_none() -> None:
    past = LOOPS | {"non_temporal_stores": ["movntpd"], "stores_in_loop": 4}
    both, alone = copy("a", 8, **past), copy("b", 8, **past | {"loads_in_loop": 0})
    (finding,) = judged(cache_resident, both, alone).findings
    assert finding.where == ["a"]
    assert "the reads come from cache" in finding.explanation


def test_between_cache_and_rule_larger_arrays_decide() -> None:
    alone = only(cache_resident, copy("p", 32))
    assert (alone.effect, alone.factor) == ("informs", None)
    assert "50\u00a0% of the data" in alone.explanation
    times = {"time_ns": 32 * MIB / 15, "time_high_ns": 32 * MIB / 14}
    beyond = copy("q", time_low_ns=128 * MIB / 11)
    faster = only(cache_resident, copy("p", 32, **times), beyond)
    assert (faster.effect, faster.where) == ("biases", ["p"])
    assert faster.factor == pytest.approx(1.5)
    assert not judged(cache_resident, copy("p", 32), copy("q")).findings  # flat
    wide = times | {"time_high_ns": 32 * MIB / 9}
    assert not judged(cache_resident, copy("p", 32, **wide), beyond).findings


def test_unknown_cache_abstains() -> None:
    told = judged(cache_resident, copy("p", 8), host={})
    assert (told.findings, list(told.abstained)) == ([], ["p"])


# destination-not-advanced

STUCK = {
    "block_bytes": 4096,
    "blocks_declared": 2048,
    "destination_written_fraction": 1 / 2048,
    "distinct_source_blocks": 1,
    "work_done_fraction": 1 / 2048,
    "time_ns": 8 * MIB / 80,
}
MOVING = STUCK | {
    "destination_written_fraction": 1.0,
    "distinct_source_blocks": 2048,
    "work_done_fraction": 1.0,
    "time_ns": 8 * MIB / 10,
}


def test_a_stuck_destination_is_told_beside_one_that_moves() -> None:
    source_stuck = MOVING | {"distinct_source_blocks": 1, "work_done_fraction": 1 / 2048}
    rows = [copy("a", 8, **STUCK), copy("b", 8, **MOVING), copy("c", 8, **source_stuck)]
    finding = only(destination_not_advanced, *rows)
    assert (finding.where, finding.effect, finding.confidence) == (["a"], "invalidates", 1.0)
    assert finding.factor == pytest.approx(8.0)
    assert "2,048 blocks of 4 KiB" in finding.explanation
    assert "0.049\u00a0% of the 8 MiB destination" in finding.explanation
    assert only(destination_not_advanced, rows[0]).factor is None


def test_the_source_may_move_where_the_destination_does_not() -> None:
    moving_source = STUCK | {"distinct_source_blocks": 1, "work_done_fraction": 0.0}
    assert only(destination_not_advanced, copy("a", 8, **moving_source)).where == ["a"]


def lines(written: int, name: str = "lines_written") -> list[dict[str, Any]]:
    common = {"where": "a", "source": "cachegrind", "state": "simulated"}
    return [
        common
        | {
            "name": name,
            "value": written,
            "declared_bytes": 8 * MIB,
            "line_bytes": 64,
        }
    ]


def test_a_foreign_copy_is_judged_by_its_simulated_lines_or_not_at_all() -> None:
    foreign = copy("a", 8, block_bytes=4096)
    stuck = only(destination_not_advanced, foreign, evidence=lines(67))
    assert "writes only 67 lines" in stuck.explanation
    assert stuck.confidence < 1
    assert stuck.evidence[0]["state"] == "simulated"
    assert judged(destination_not_advanced, foreign, evidence=lines(131_099)) == Judged()
    told = judged(destination_not_advanced, foreign)
    assert told.abstained == {"a": "blocks_declared was not observed"}


def test_a_foreign_copy_from_one_block_is_told_by_the_lines_it_reads() -> None:
    foreign = copy("a", 8, block_bytes=4096)
    stuck = only(source_not_advanced, foreign, evidence=lines(67, "lines_read"))
    assert "reads only 67 lines" in stuck.explanation
    assert stuck.confidence < 1
    clean = judged(source_not_advanced, foreign, evidence=lines(131_099, "lines_read"))
    assert clean == Judged()
    told = judged(source_not_advanced, foreign, evidence=lines(67))
    assert told.abstained == {"a": "blocks_declared was not observed"}


def test_blocks_of_several_places_are_no_stuck_source() -> None:
    row = STUCK | {"distinct_source_blocks": 7, "last_source_block": 0}
    assert judged(source_not_advanced, copy("a", 8, **row)) == Judged()


# zero-page

UNWRITTEN = {"anonymous_bytes": 64 * MIB + 4096, "buffers_resident_bytes": 64 * MIB + 4096}


def test_buffers_without_memory_were_never_written() -> None:
    row = copy("a", 64, **UNWRITTEN, time_ns=64 * MIB / 15)
    finding = only(zero_page, row, copy("b", 64))
    assert (finding.where, finding.effect, finding.confidence) == (["a"], "invalidates", 1.0)
    assert finding.factor == pytest.approx(1.5)
    assert "50\u00a0% of the 128 MiB" in finding.explanation
    other_code = copy("b", 64, **LOOPS)
    assert only(zero_page, row, other_code).factor is None


def test_a_process_smaller_than_its_array_proves_it_too() -> None:
    alone = {"buffers_bytes": None, "anonymous_bytes": None, "buffers_resident_bytes": None}
    small = total("a", 8, **alone, resident_bytes=2 * MIB)
    assert "At least 75\u00a0% of the 8 MiB" in only(zero_page, small).explanation
    large = total("a", 8, **alone, resident_bytes=20 * MIB)
    assert list(judged(zero_page, large).abstained) == ["a"]


def test_shared_memory_may_look_the_same() -> None:
    shared = copy("a", 64, anonymous_bytes=0)
    assert only(zero_page, shared).confidence < 1


def test_pages_that_are_not_read_are_no_zero_pages_and_unobserved_ones_abstain() -> None:
    assert judged(zero_page, total("a", 8, **EMPTY, anonymous_bytes=0)) == Judged()
    foreign = {"where": "a", "time_ns": 1.0, "bytes_per_call": MIB, "working_set_bytes": MIB}
    assert list(judged(zero_page, foreign).abstained) == ["a"]


# first-touch


def starts(where: str, mean: float, samples: int = 20) -> list[dict[str, Any]]:
    return [
        {
            "where": where,
            "block": block,
            "t_start_ns": block,
            "samples": samples,
            "median_ns": 100.0,
            "mean_ns": mean,
        }
        for block in range(3)
    ]


def test_faults_of_the_first_repetition_and_of_each() -> None:
    once = copy("a", 32, minor_faults=8193)
    each = copy("b", 32, minor_faults=20 * 8193, time_ns=32 * MIB)
    table = pd.DataFrame([*starts("a", 200), *starts("b", 100)])
    told = judged(first_touch, once, each, copy("c", 32), starts=table).findings
    repeated, first = told
    assert (repeated.where, repeated.effect) == (["b"], "biases")
    assert repeated.factor == pytest.approx(0.1)
    assert "Each repetition takes 8,193 page faults" in repeated.explanation
    assert "10.00 times as long" in repeated.explanation
    # The median of 20 repetitions is not slower for the first.
    assert (first.where, first.effect, first.factor) == (["a"], "informs", None)
    assert "about 21 times as long" in first.explanation
    assert first.remedy != repeated.remedy


def test_a_first_repetition_among_many_informs_only() -> None:
    table = pd.DataFrame(starts("a", 101, samples=1000))
    row = copy("a", 32, minor_faults=8193)
    finding = only(first_touch, row, starts=table)
    assert (finding.effect, finding.factor) == ("informs", None)
    balancing = only(first_touch, row, starts=table, host=HOST | {"numa_nodes": 2})
    assert balancing.confidence < 1


def test_a_first_repetition_that_is_the_only_one_biases() -> None:
    table = pd.DataFrame([*starts("a", 100, samples=1), *starts("b", 100, samples=1000)])
    rows = [copy("a", 32, minor_faults=8193, time_ns=32 * MIB), copy("c", 32)]
    (finding,) = judged(first_touch, *rows, starts=table).findings
    assert (finding.effect, finding.factor) == ("biases", pytest.approx(0.1))
    assert "10.00 times as long" in finding.explanation
    many = copy("b", 32, minor_faults=8193)
    told = judged(first_touch, *rows, many, starts=table).findings
    assert [(finding.where, finding.effect) for finding in told] == [
        (["a"], "biases"),
        (["b"], "informs"),
    ]


def test_huge_pages_take_few_faults() -> None:
    huge = {"anon_huge_bytes": 128 * MIB}
    assert only(first_touch, copy("a", 64, minor_faults=32, **huge)).where == ["a"]
    assert judged(first_touch, copy("a", 64, minor_faults=32)) == Judged()


def test_uncounted_faults_abstain() -> None:
    assert list(judged(first_touch, copy("a", minor_faults=None)).abstained) == ["a"]


# dead-code and constant-folded

GONE = {"time_ns": 1.5, **EMPTY, "result_is_right": None}
ABSENT = {
    "buffers_bytes": None,
    "anonymous_bytes": None,
    "buffers_resident_bytes": None,
    "resident_bytes": 2 * MIB,
}


def both(*rows: dict[str, Any]) -> tuple[Judged, Judged]:
    return judged(dead_code, *rows), judged(constant_folded, *rows)


def test_an_unused_result_is_dead_code() -> None:
    rows = [total("a", 8, **GONE), total("b", 32, **GONE), total("c", 8)]
    dead, folded = both(*rows)
    assert folded == Judged()
    (finding,) = dead.findings
    assert (finding.where, finding.effect, finding.confidence) == (["a", "b"], "invalidates", 1.0)
    assert "A call claims to process 8 MiB to 32 MiB and takes 1.50 ns" in finding.explanation
    assert only(dead_code, *rows[:1]).where == ["a"]


def test_time_that_does_not_follow_the_work_is_said() -> None:
    rows = [total(where, mib, **GONE) for where, mib in (("a", 8), ("b", 32))]
    assert "4 times the work takes 1.00 times as long" in only(dead_code, *rows).explanation


def test_a_right_result_of_an_array_never_written_is_folded() -> None:
    dead, folded = both(total("a", 32, **GONE | ABSENT | {"result_is_right": 1}))
    assert dead == Judged()
    (finding,) = folded.findings
    assert (finding.where, finding.confidence) == (["a"], 1.0)
    assert "the whole process holds 2 MiB" in finding.explanation


def test_both_are_said_where_both_fit() -> None:
    dead, folded = both(total("a", 32, **GONE | ABSENT))
    assert [finding.confidence for finding in (*dead.findings, *folded.findings)] == [0.7, 0.7]
    assert "was not checked" in folded.findings[0].explanation


def test_a_right_result_of_written_memory_was_known_beforehand() -> None:
    dead, folded = both(total("a", 32, **GONE | {"result_is_right": 1}))
    assert dead == Judged()
    assert folded.findings[0].confidence < 1


def test_a_loop_that_may_stand_elsewhere_abstains() -> None:
    for told in both(total("a", 8, **EMPTY)):
        assert told.findings == []
        assert "another function" in told.abstained["a"]


def test_without_its_code_the_series_decides() -> None:
    foreign = dict.fromkeys(LOOPS) | {"result_is_right": None, "time_ns": 1.5}
    one, other = total("a", 8, **foreign), total("b", 32, **foreign)
    for told in both(one):
        assert "code was not seen" in told.abstained["a"]
    finding = only(dead_code, one, other)
    assert finding.confidence < 1
    assert "no core moves bytes that fast" in finding.explanation
    assert both(total("a", 8, **dict.fromkeys(LOOPS))) == (Judged(), Judged())


def test_no_word_on_instructions_without_the_code() -> None:
    foreign = dict.fromkeys(LOOPS) | {"result_is_right": 1, "time_ns": 1.5} | ABSENT
    finding = only(constant_folded, total("a", 8, **foreign), total("b", 32, **foreign))
    assert "instruction" not in finding.explanation
    assert "no core moves bytes that fast" in finding.explanation
    assert finding.confidence == 0.8
    seen = total("c", 64, **GONE | ABSENT | {"result_is_right": 1})
    mixed = only(constant_folded, seen, total("a", 8, **foreign), total("b", 32, **foreign))
    assert "instruction" not in mixed.explanation
    assert mixed.confidence == 0.8


def test_a_clock_without_time_and_a_few_bytes_tell_nothing() -> None:
    rows = (total("a", 8, **GONE | {"time_ns": 0.0}), total("b", 1 / 1024, **GONE))
    assert both(*rows) == (Judged(), Judged())


# all of them


def test_names_and_order_change_nothing() -> None:
    rows = [
        copy("a", 8, **STUCK),
        copy("b", 8, **MOVING),
        copy("c", 64, **UNWRITTEN),
        total("d", 64, anonymous_bytes=0, buffers_resident_bytes=0),
        copy("e", 32, minor_faults=8193),
        copy("f", 64, minor_faults=10 * 16385),
        total("g", 8, **GONE),
        total("h", 32, **GONE | ABSENT | {"result_is_right": 1}),
    ]
    names = dict(zip("abcdefgh", ("q", "x", "m", "a", "z", "k", "b", "c"), strict=True))
    back = {new: old for old, new in names.items()}
    renamed = [row | {"where": names[row["where"]]} for row in reversed(rows)]
    for detector in ALL:
        first, second = judged(detector, *rows).findings, judged(detector, *renamed).findings
        said = [
            (sorted(finding.where), finding.factor, finding.explanation, finding.evidence)
            for finding in first
        ]
        again = [
            (
                sorted(back[name] for name in finding.where),
                finding.factor,
                finding.explanation,
                finding.evidence,
            )
            for finding in second
        ]
        assert said
        assert sorted(said, key=str) == sorted(again, key=str)
