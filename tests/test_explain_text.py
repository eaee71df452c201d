"""Figures of text that no tool's reader has: rows without a head, broken lines, prose, versions."""

from __future__ import annotations

import pytest

from benchbook.explain.api import Explained, Machine, of_content
from benchbook.explain.results import GIVEN

OSU = "\n".join(f"{1 << power:<8}  {1 + power / 8:.2f}" for power in range(6))
IMB = """            1         1000         0.60         1.67
            2         1000         0.60         3.35
           16         1000         0.60        26.70
           64         1000         0.63       101.97
"""
IOSTAT = """sda     0.00   4.00    0.00  102.00     0.00   424.00   2.40
sdb     0.00   0.00 1210.00    0.00 154880.00     0.00  99.20
"""
FRAME = """   clients  Write Tput  Read Tput
0      150      56.972    645.236
1      300      75.843   1152.816
2      450      75.589   1055.024
"""
PYTEST = """test_a[x]   1.2019 (1.0)   3.5571 (1.15)   1.2854 (1.0)   21;30  777.9690 (1.0)  630  1
test_b[x]   2.4101 (2.0)   3.0949 (1.0)    2.5391 (1.98)  45;15  393.8405 (0.51)  330  1
"""


def of(text: str) -> Explained:
    return of_content("x", text.encode(), Machine())


def figures(text: str) -> list[tuple[str, float, str]]:
    results = [own for report in of(text).reports for own in report.results]
    return [(own.name, own.value, own.unit) for own in results]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (OSU, ("column 2", 1.5, "1")),
        (IMB, ("rate", 101.97, "MB/s")),
        (IMB, ("time", 0.63, "us")),
        (IOSTAT, ("column 7", 99.2, "1")),
        (FRAME, ("Read Tput", 1152.816, "1")),
        (PYTEST, ("column 4", 777.969, "1")),
        ("Avr:   722   3677  26551  |   769   3481  26778\nTot:   746   3579  26665\n",
         ("all: rating", 26665.0, "MIPS")),
        ("  throughput summary: 144927.53 requests per second\n  latency summary (msec):\n"
         "   avg  min  p50  p95  p99  max\n   0.181  0.048  0.175  0.263  0.415  2.439\n",
         ("response time", 0.415, "ms")),
    ],
)  # fmt: skip
def test_rows_without_their_head_are_shown(text: str, wanted: tuple[str, float, str]) -> None:
    assert wanted in figures(text)


def test_columns_that_nobody_knows_are_no_measurement() -> None:
    for text in (OSU, IOSTAT, FRAME, PYTEST):
        report = of(text).reports[0]
        assert {own.statistic for own in report.results} == {GIVEN}
        assert report.notes


@pytest.mark.parametrize(
    "text",
    [
        "1  2\n2  4\n3  8\n",  # counts of anything
        "2026-11-28 10:00:01 1.5\n2026-11-28 10:00:02 1.6\n2026-11-28 10:00:03 1.7\n",
        "a 1.5 2.5\nb 2.5 3.5\n",
    ],
)
def test_other_rows_are_none(text: str) -> None:
    assert not of(text).reports


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1048576000 bytes transferred in 17.647464 secs (59417943\nbytes/sec)\n",
         ("copy", 59417943.0, "B/s")),
        ("Shell Scripts (1 concurrent)                  80765.5 lpm   (60.0 s, 1\nsamples)\n"
         "System Benchmarks Index Score                   19048.5\n",
         ("Shell Scripts (1 concurrent)", 80765.5, "loops/min")),
        ("The new parser reaches **28.6 million operations per\nsecond**.\n",
         ("figure", 28.6e6, "operations/s")),
    ],
)  # fmt: skip
def test_a_line_that_was_broken_is_one(text: str, wanted: tuple[str, float, str]) -> None:
    assert wanted in figures(text)


def test_a_line_of_a_program_goes_not_on_the_one_above() -> None:
    text = (
        "   bw (  KiB/s): min= 4073, max=231013, per=50.00%, avg=54412.81, stdev=33073.17, "
        "samples=2\n"
    )
    text += "   iops        : min=    9, max=  457, avg=105.91, stdev=64.55, samples=2\n"
    assert any(own.line == 2 for report in of(text).reports for own in report.results)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("throughput 128 test\nmsg/s: 13.0619\nbytes/s: 1671.92\n", ("rate", 1671.92, "B/s")),
        ("1 thread, seq 1M, simple: 1426 write iops (787% HDD)\n16 threads: 61295 write iops\n",
         ("figure", 1426.0, "write operations/s")),
        ("It reaches 38.4 million matches per second now.\n", ("figure", 38.4e6, "matches/s")),
        ("The whole took 1m5s, and 2 h 41 min 24 s before.\n", ("figure", 9684.0, "s")),
        ("The build is faster now: 2 min 5 s -> 1 min 3 s.\n", ("old", 125.0, "s")),
        ("It took 5 s and used 882 MB of RAM.\n", ("figure", 882.0, "MB")),
        ("stage one (fused)    54.9 ops/ms\nstage two (split)   19.9 ops/ms   <- 2.8x\n",
         ("stage two (split)", 19.9, "operations/ms")),
        ("Operations per millisecond (higher is better):\n\n| name | set | get |\n|---|--:|--:|\n"
         "| lru | 11173 | 72464 |\n| map | 18536 | 17590 |\n", ("get", 72464.0, "1")),
        ("".join(f"time:   0.{at}43; rss:   61MB  pass_{at}\n" for at in range(1, 6)),
         ("number 1", 0.243, "1")),
        ("The new one reaches 31.9 kb/s here.\n", ("figure", 31.9, "kb/s")),
        ("Latency fell to 270.99 ns, an improvement of 12 %.\n", ("figure", 12.0, "%")),
        ("ad0 bs 512: 16777216 bytes transferred in 2.788209 secs (6017201 bytes/sec)\n",
         ("copy", 6017201.0, "B/s")),
        ("Testcase                             Base    with patch\n"
         "System Benchmarks Index Values      INDEX     INDEX\n"
         "Execl Throughput                   1296.5     941.1\n",
         ("index of Execl Throughput", 941.1, "points")),
        ("| test_single | 0 | System Benchmarks Index Score 25.8 |\n",
         ("index of all tests", 25.8, "points")),
        ("Benchmark                     Delta(%): (+ is better)\n=====================\n"
         "Execl Throughput              +1.9356\nPipe Throughput               +9.5499\n"
         "Process Creation              +2.3246\n", ("Delta", 9.5499, "%")),
    ],
)  # fmt: skip
def test_figures_in_prose_have_one_table_of_units(
    text: str, wanted: tuple[str, float, str]
) -> None:
    assert wanted in figures(text)


def test_a_size_that_nobody_used_is_no_figure() -> None:
    found = figures("It loaded 13.48 GB at 311.85 GB/s, and took 43.2 ms.\n")
    assert [unit for _, _, unit in found] == ["GB/s", "ms"]


def test_further_figures_of_a_line_are_quoted() -> None:
    rows = [f" {at}: x.tar :  40303104 ->  1246653{at} (3.233), 179.{at} MB/s\n" for at in range(4)]
    assert of("".join(rows)).unread


def test_a_least_value_is_no_minutes() -> None:
    assert not any(unit == "min" for _, _, unit in figures("a: stride = 0, min time1 = 4.78 ms\n"))


def test_versions_next_to_a_failure_are_quoted() -> None:
    failed = (
        "Failed to initialize NVML: Driver/library version mismatch\n"
        "NVML library version: 580.178\n"  # which the finding says
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.173.02  Tue Jun 23 08:38:17 UTC 2026\n"
    )
    assert [own.line.number for own in of(failed).unread] == [3]


def test_a_setting_of_round_numbers_is_not_known_by_its_first_digit() -> None:
    text = "Total time: 1 s\nThroughput: 5 MB/s\nLatency: 3 ms\nPrime numbers limit: 10000\n"
    assert 10000.0 in [value for _, value, _ in figures(text)] or of(text).unread


def test_warnings_of_unknown_programs_are_quoted() -> None:
    text = "WARNING: clock is not stable\nTotal time: 1.5 s\nThroughput: 5 MB/s\nLatency: 3 ms\n"
    assert "Line 1 of the log says: “WARNING: clock is not stable”." in of(text).notes
    assert not any("says" in note for note in of(text.replace("WARNING: ", "")).notes)
