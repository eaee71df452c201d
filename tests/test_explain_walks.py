"""Latencies and rates of memories that walks print: what the corpus of logs does not reach."""

from __future__ import annotations

import pytest

from benchbook.explain.api import explained, of_content
from benchbook.explain.rules import Machine

REPORT = "inconsistent-report"
PEAK = "Measuring Peak Injection Memory Bandwidths for the system\nALL Reads        :\t{}\n"
NODES = (
    "Measuring Memory Bandwidths between nodes within system\n\t\tNuma node\n"
    "Numa node\t     0\n       0\t{}\n"
)
IDLE = "Measuring idle latencies (in ns)...\n\t\tNuma node\nNuma node\t     0\n       0\t{}\n"
LOADED = "Measuring Loaded Latencies for the system\nInject\tLatency\tBandwidth\n{} \t{}\t{}\n"
BUFFERS = (
    "Using buffer size of {0:.3f}MiB/thread for reads and an additional {0:.3f}MiB/thread for "
    "writes\n"
)
READS = "block size : single random read / dual random read\n"
ROW = "{} : {} ns          / {} ns\n"


def found(text: str, machine: Machine | None = None) -> list[str]:
    said = explained("x", text.encode(), machine or Machine())
    assert said["results"]
    return sorted({finding["artefact"] for finding in said["findings"]})


def values(text: str) -> list[float]:
    return [result["value"] for result in explained("x", text.encode(), Machine())["results"]]


@pytest.mark.parametrize(("cell", "wanted"), [(9900.0, []), (14000.0, []), (15100.0, [REPORT])])
def test_a_node_carries_no_more_than_the_system(cell: float, wanted: list[str]) -> None:
    assert found(PEAK.format(10000.0) + NODES.format(cell)) == wanted


@pytest.mark.parametrize(("ns", "wanted"), [(110.0, []), (52.0, []), (0.0, []), (49.0, [REPORT])])
def test_a_load_shortens_no_access(ns: float, wanted: list[str]) -> None:
    assert found(IDLE.format(100.0) + LOADED.format("00000", ns, 5000.0)) == wanted


def test_figures_of_other_runs_are_not_compared() -> None:
    banner = "Intel(R) Memory Latency Checker - v3.9\n"
    text = banner + IDLE.format(100.0) + banner + LOADED.format("00000", 20.0, 5000.0)
    assert found(text) == []


@pytest.mark.parametrize(
    ("clocks", "ns", "wanted"),
    [(217.4, 90.6, []), (5.0, 1.2, []), (0.4, 0.1, []), (217.4, 906.0, [REPORT])],
)
def test_clocks_and_a_time_make_a_clock(clocks: float, ns: float, wanted: list[str]) -> None:
    assert found(f"Each iteration took {clocks} core clocks (\t{ns}\tns)\n") == wanted


def test_buffers_of_unknown_threads_are_judged_only_where_a_core_holds_them() -> None:
    assert found(BUFFERS.format(100) + PEAK.format(50000.0), Machine(llc_bytes=1 << 30)) == []
    assert found(BUFFERS.format(0.125) + PEAK.format(50000.0)) == ["cache-resident"]


def test_a_word_within_a_table_does_not_end_it() -> None:
    rows = LOADED.format("00000", 90.0, 5000.0)
    assert values(f"{rows}# full load above\n 00002\t89.0\t4990.0\n") == [
        90.0,
        5000.0,
        89.0,
        4990.0,
    ]


def test_tables_without_titles_are_runs_of_their_own() -> None:
    table = LOADED.format("00000", 90.0, 5000.0).partition("\n")[2]
    reports = of_content("x", (table * 2).encode(), Machine()).reports
    assert [len(report.results) for report in reports] == [2, 2]


def test_a_walk_in_caches_on_purpose_is_no_fault() -> None:
    text = (
        "*** So, enabling random access for latency measurements\n"
        "Using buffer size of 10.000MiB\n"
        "Each iteration took 31.1 base frequency clocks (\t12.5\tns)\n"
    )
    assert found(text, Machine(llc_bytes=18 << 20, source="--l3")) == []


def test_rows_far_behind_a_table_are_none_of_it() -> None:
    rows = LOADED.format("00000", 90.0, 5000.0)
    assert values(f"{rows}a\nb\nc\nd\n 00002\t89.0\t4990.0\n") == [90.0, 5000.0]


@pytest.mark.parametrize(
    ("single", "dual", "wanted"),
    [
        ((60.0, 80.0), (90.0, 100.0), []),
        ((80.0, 60.0), (100.0, 90.0), []),
        ((80.0, 39.0), (100.0, 90.0), [REPORT]),
        ((6.0, 1.0), (6.0, 1.0), []),
        ((1.0, 2.0), (0.3, 9.9), []),
        ((60.0, 70.0), (190.0, 200.0), [REPORT]),
        ((60.0, 70.0), (29.0, 36.0), [REPORT]),
    ],
)
def test_random_reads_of_larger_blocks_and_of_two(
    single: tuple[float, float], dual: tuple[float, float], wanted: list[str]
) -> None:
    rows = "".join(
        ROW.format(size << 20, *pair)
        for size, pair in zip((8, 16), zip(single, dual, strict=True), strict=True)
    )
    assert found(READS + rows) == wanted


@pytest.mark.parametrize(
    ("behind", "wanted"),
    [
        ("", []),
        (" (29.4%)", []),
        (" (33.0%)", ["heavy-tail"]),
        (" (3)", []),
        (" (3, 18.2%)", ["heavy-tail"]),
        (" (10, 18.2%)", []),
    ],
)
def test_a_best_of_unlike_repetitions(behind: str, wanted: list[str]) -> None:
    machine = Machine(llc_bytes=1 << 20)
    assert found(f" C copy backwards   :   3636.8 MB/s{behind}\n", machine) == wanted


def test_a_row_of_another_tool_is_not_taken_for_one_of_this() -> None:
    log = " STREAM copy   :   3636.8 MB/s\n 12 ns / 13 ns\n"
    assert explained("x", log.encode(), Machine())["tools"] == ["text"]


@pytest.mark.parametrize(("rate", "wanted"), [(20010.0, ["unit-mix"]), (17000.0, [])])
def test_a_copy_that_another_tool_counts_twice(rate: float, wanted: list[str]) -> None:
    stream = (
        "Function    Best Rate MB/s  Avg time     Min time     Max time\n"
        f"Copy:           {rate}     0.080000     0.079960     0.080100\n"
    )
    said = explained("x", f" standard memcpy : 10000.0 MB/s\n\n{stream}".encode(), Machine())
    assert said["tools"] == ["tinymembench", "stream"]
    assert [
        finding["artefact"] for finding in said["findings"] if finding["artefact"] == "unit-mix"
    ] == wanted
