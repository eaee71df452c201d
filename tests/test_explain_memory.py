"""What the corpus of logs does not reach: edges of the importers and rules of memory benchmarks."""

from __future__ import annotations

import math

import pytest

from benchbook.explain.api import explained
from benchbook.explain.clean.pipeline import log_of
from benchbook.explain.printed_digits import LONGEST, decimals, half_digit
from benchbook.explain.readers import mbw, perf_stat, stream
from benchbook.explain.rules import Machine
from benchbook.explain.rules.common.samples import series

ROW = "{}\tMethod: {}\tElapsed: {:.5f}\tMiB: 256.00000\tCopy: {:.3f} MiB/s\n"


def mbw_log(rates: dict[str, list[float]], head: str = "") -> bytes:
    """Averages of mbw, or its samples without an average where there are several."""
    rows = [
        ROW.format(number if len(several) > 1 else "AVG", method, 256 / rate, rate)
        for method, several in rates.items()
        for number, rate in enumerate(several)
    ]
    return (head + "".join(rows)).encode()


def found(content: bytes, machine: Machine | None = None) -> list[str]:
    said = explained("x", content, machine or Machine(llc_bytes=1 << 20))
    return sorted(finding["artefact"] for finding in said["findings"])


BOTH = ["destination-not-advanced", "source-not-advanced"]


@pytest.mark.parametrize(
    ("head", "factor", "wanted"),
    [
        ("", 1.05, []),
        ("", 1.2, ["copy-path-switch"]),
        ("", 1.6, ["source-not-advanced"]),
        ("", 6.0, BOTH),
        ("Setting up mbw (1.1.1-1) ...\n", 1.2, BOTH),
        ("$ ./mbw-1.2.2 256\n", 1.0, ["source-not-advanced"]),
        ("mbw memory benchmark v1.5\n", 1.6, ["copy-path-switch"]),
        ("mbw memory benchmark v2.0\n", 1.02, []),
    ],
)
def test_block_copy_by_version_and_factor(head: str, factor: float, wanted: list[str]) -> None:
    rates = {"MEMCPY": [8000.0], "DUMB": [10000.0], "MCBLOCK": [10000.0 * factor]}
    assert found(mbw_log(rates, head)) == wanted


def test_block_copy_within_the_caches_may_be_faster() -> None:
    rates = {"MEMCPY": [10000.0], "MCBLOCK": [30000.0]}
    inside = explained("x", mbw_log(rates), Machine(llc_bytes=1 << 30))
    assert "destination-not-advanced" not in {finding["artefact"] for finding in inside["findings"]}
    assert "destination-not-advanced" in found(mbw_log(rates))


@pytest.mark.parametrize(
    ("first", "wanted"), [(2000.0, ["first-touch"]), (9000.0, []), (6500.0, [])]
)
def test_a_slow_first_repetition(first: float, wanted: list[str]) -> None:
    assert found(mbw_log({"MEMCPY": [first, 10000.0, 9900.0, 9950.0]})) == wanted


def test_noise_all_over_is_no_first_touch() -> None:
    assert found(mbw_log({"MEMCPY": [2000.0, 10000.0, 3900.0, 9950.0]})) == []


def test_lines_of_two_mbw_at_once_are_not_held_against_each_other() -> None:
    first = mbw_log({"MEMCPY": [9000.0, 9100.0]}).splitlines(keepends=True)
    other = mbw_log({"MEMCPY": [5000.0, 5100.0]}).splitlines(keepends=True)
    mixed = first[0] + other[0] + first[1] + other[1]
    reports = mbw.read(log_of(mixed))
    assert any("at once" in note for report in reports for note in report.notes)
    assert list(series(reports)) == []


@pytest.mark.parametrize(
    ("text", "counts", "value"),
    [
        ("1,234,567", True, 1234567.0),
        ("1.234.567", True, 1234567.0),
        ("1,234", True, 1234.0),
        ("1.234", False, 1.234),
        ("1,234", False, 1.234),
        ("1.234,56", False, 1234.56),
        ("1,234.56", False, 1234.56),
        ("1'234'567", True, 1234567.0),
        ("1\u202f234\u202f567", True, 1234567.0),
        ("12", True, 12.0),
    ],
)
def test_numbers_of_perf_in_any_locale(text: str, counts: bool, value: float) -> None:
    assert perf_stat.number(text, counts=counts) == value


def test_an_absent_counter_has_no_value() -> None:
    text = b" Performance counter stats for 'ls':\n\n   <not supported>      cycles\n"
    (report,) = perf_stat.read(log_of(text))
    (row,) = report.results
    assert math.isnan(row.value)
    assert row.of["state"] == "absent"


@pytest.mark.parametrize(
    ("text", "half", "places"),
    [("0.00064", 5e-6, 5), ("12", 0.5, 0), ("1.5e-03", 5e-5, 1), ("0,25", 0.005, 2)],
)
def test_digits_of_a_printed_number(text: str, half: float, places: int) -> None:
    assert half_digit(text) == pytest.approx(half)
    assert decimals(text) == places


def test_rows_of_stream_need_all_their_numbers() -> None:
    table = (
        "Function    Best Rate MB/s  Avg time     Min time     Max time\n"
        "Copy:           20000.0     0.081000     0.080000     0.082000\n"
        "Scale:          20000.0     0.081000     0.080000     0.08\n"
        "Add:            20000.0     0.081000\n"
    )
    (report,) = stream.read(log_of(table.encode()))
    assert {result.name for result in report.results} == {"Copy", "Copy time"}
    assert len(report.notes) == 2


@pytest.mark.parametrize("text", ["Copy: 1 2 3 4", "Copy: done\nAdd: 3\n", "Triad: 1.0 2.0 3.0"])
def test_words_of_stream_alone_are_not_stream(text: str) -> None:
    assert stream.read(log_of(text.encode())) == []


def test_a_line_longer_than_any_table_is_none() -> None:
    line = b"0\tMethod: MEMCPY\tElapsed: 0.1\tMiB: 1.0\tCopy: 10.0 MiB/s"
    assert len(mbw.read(log_of(line))) == 1
    assert mbw.read(log_of(line + b" " * 9 + b"x" * LONGEST)) == []


def test_sums_of_more_processes_than_cores_say_so() -> None:
    text = b"Starting test on 8 cores\nMEMCPY Total AVG: 41000.1 MiB/s\n"
    said = explained("x", text, Machine(cores=4))
    (finding,) = said["findings"]
    assert finding["artefact"] == "oversubscribed-sum"
    assert "8 processes on 4 cores" in finding["explanation"]


TRIAD = "Triad:          {}.8     0.061489     0.061274     0.062979\n"


def test_what_is_set_before_a_command_is_not_set_for_the_next() -> None:
    lines = ["$ export OMP_NUM_THREADS=16\n", "$ ./stream | grep Triad\n", TRIAD.format(31334)]
    lines += ["$ OMP_NUM_THREADS=2 ./stream | grep Triad\n", TRIAD.format(11334)]
    lines += ["$ ./stream | grep Triad\n", TRIAD.format(31134)]
    reports = stream.read(log_of("".join(lines).encode()))
    assert [report.facts["threads"] for report in reports] == [16, 2, 16]
    assert [len(report.results) for report in reports] == [4, 4, 4]


@pytest.mark.parametrize(
    "row", ["Add: 12.5 0.1 0.2 0.3", "Add: 1.5 0.100000 0.200000 0.400000", "Copy: inf inf inf inf"]
)
def test_a_row_alone_is_of_stream_only_as_it_prints_it(row: str) -> None:
    assert stream.read(log_of(row.encode())) == []


def test_a_size_that_is_rounded_much_says_nothing_of_what_was_moved() -> None:
    table = "".join(
        f"{name}: {arrays * 250000 / 0.04 / 1e6:.1f} 0.042000 0.040000 0.047000\n"
        for name, arrays in stream.KERNELS.items()
    )
    head = (
        "Total memory required = {} MiB (= 0.0 GiB).\nFunction Best Rate MB/s  Avg time  Min time"
    )
    said = stream.read(log_of(f"{head.format(0.8)}  Max time\n{table}".encode()))
    assert said[0].facts["array_bytes"] == round(0.8 * 2**20) // 3
    assert "bytes_moved" not in said[0].columns
