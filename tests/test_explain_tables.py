"""Tables of figures with units that no reader knows."""

from __future__ import annotations

import pytest

from benchbook.explain.api import Machine, of_content
from benchbook.explain.results import GIVEN

MARKDOWN = """We compared both on the same box:

| Allocator | Threads | Throughput (MB/s) | p99 | Speed-up |
|:----------|--------:|------------------:|----:|---------:|
| glibc     | 8       | **1,204.5**       | 3.1 ms | 1.0x |
| jemalloc  | 8       | 1511.2 ± 12.5     | 890 us | 1.25x |
"""
CSV = "kernel,size,time [us],GFLOPS\ngemm,512,812.5,330\ngemm,1024,6100,352\n"
PROSE = "a, b in ms\nDear all,\nthis was slow, I think.\n"


def rows(text: str) -> list[tuple[str, float, str, str, int]]:
    reports = of_content("x", text.encode(), Machine()).reports
    return [
        (result.name, result.value, result.unit, str(result.of.get("label", "")), result.line)
        for report in reports
        for result in report.results
    ]


def test_cells_have_the_unit_of_their_head_or_their_own() -> None:
    assert rows(MARKDOWN) == [
        ("Throughput", 1204.5, "MB/s", "glibc 8", 5),
        ("p99", 3.1, "ms", "glibc 8", 5),
        ("Speed-up", 1.0, "1", "glibc 8", 5),
        ("Throughput", 1511.2, "MB/s", "jemalloc 8", 6),
        ("Throughput", 12.5, "MB/s", "jemalloc 8", 6),
        ("p99", 890.0, "us", "jemalloc 8", 6),
        ("Speed-up", 1.25, "1", "jemalloc 8", 6),
    ]


def test_separated_values_need_a_head_with_units() -> None:
    assert rows(CSV)[:2] == [
        ("time", 812.5, "us", "gemm 512", 2),
        ("GFLOPS", 330.0, "Gflop/s", "gemm 512", 2),
    ]


@pytest.mark.parametrize(
    "text",
    [
        CSV.replace("[us]", "").replace("GFLOPS", "x"),
        MARKDOWN.replace("(MB/s)", "").replace(" ms", "").replace(" us", ""),
    ],
)
def test_what_has_no_units_is_shown_and_not_judged(text: str) -> None:
    found = of_content("x", text.encode(), Machine())
    (report,) = found.reports
    assert report.tool == "table without units"
    assert {result.statistic for result in report.results} == {GIVEN}
    assert found.findings == []
    assert "No unit was read" in found.notes[0]


def test_prose_without_units_is_no_table() -> None:
    assert of_content("x", PROSE.encode(), Machine()).trouble


def test_a_row_may_have_the_unit_in_its_name() -> None:
    head = "| Metric | new | old |\n|---|---|---|\n"
    table = "| wall time (s) | 6.98 | 7.90 |\n| faults | 2 | 9 |\n| sys (s) | 1.1 | 2.2 |\n"
    assert rows(head + table)[:2] == [
        ("wall time new", 6.98, "s", "wall time (s)", 3),
        ("wall time old", 7.9, "s", "wall time (s)", 3),
    ]
