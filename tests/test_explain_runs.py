"""Several runs in one log: which of them are the same, and what is said of the same."""

from __future__ import annotations

import pytest

from benchbook.explain.api import explained, read
from benchbook.explain.clean.pipeline import log_of
from benchbook.explain.context.same_runs import of_same
from benchbook.explain.figures.rows import rows_of
from benchbook.explain.model import Report, Result
from benchbook.explain.rules import Machine
from benchbook.explain.rules.common.samples import cold
from benchbook.explain.units import BASE, is_binary

ROW = "[  5]   0.00-5.00   sec  {moved:.2f} GBytes  {rate:.2f} Gbits/sec                  receiver"
FAST, SLOW = 9.4, 4.2


def runs(rates: list[float], commands: list[str] | None = None) -> str:
    """iperf3's totals of several runs, each below its command if there are any."""
    lines = []
    for number, rate in enumerate(rates):
        lines += [f"$ {commands[number]}"] if commands else [f"--- run {number + 1}"]
        lines += ["[ ID] Interval           Transfer     Bitrate"]
        lines += [ROW.format(moved=rate * 5 / 8 * 1e9 / 2**30, rate=rate)]
    return "\n".join(lines) + "\n"


def artefacts(text: str) -> set[str]:
    found = explained("x", text.encode(), Machine())
    return {finding["artefact"] for finding in found["findings"]}


MIXED = [FAST, SLOW, SLOW, FAST, FAST, SLOW, FAST, SLOW, SLOW, FAST]


def test_runs_of_two_kinds_are_told() -> None:
    assert "bimodal" in artefacts(runs(MIXED))


def test_runs_whose_commands_differ_with_them_are_not_the_same() -> None:
    asked = ["iperf3 -c a -C cubic" if line == FAST else "iperf3 -c a -C bbr" for line in MIXED]
    assert artefacts(runs(MIXED, asked)) == set()
    assert "bimodal" in artefacts(runs(MIXED, ["iperf3 -c a"] * len(MIXED)))


@pytest.mark.parametrize(
    "rates",
    [
        [FAST, SLOW] * 5,  # who takes two in turn compares two
        [FAST] * 5 + [SLOW] * 5,  # before and after
        [FAST + step / 10 for step in range(10)],
        [FAST] * 9 + [SLOW],
    ],
)
def test_other_runs_are_not(rates: list[float]) -> None:
    assert artefacts(runs(rates)) == set()


def test_a_best_is_of_runs_that_are_the_same() -> None:
    rates = [4.1, 9.3, 4.4, 4.0, 3.9, 4.2]
    said = "best of all: 9.30 Gbits/sec\n"
    assert artefacts(runs(rates) + said) == {"best-of-n"}
    windows = [f"iperf3 -c a -w {64 << number}K" for number in range(len(rates))]
    assert artefacts(runs(rates, windows) + said) == set()


def test_figures_of_one_key_are_together() -> None:
    reports = [
        Report("tool", [Result("rate", 1.0, "MB/s", line, "mean", {"threads": threads})], line)
        for line, threads in enumerate([1, 2, 1, 2, 1], 1)
    ]
    together = [[result.line for _, result in own] for own in of_same(reports)]
    assert together == [[1, 3, 5], [2, 4]]


@pytest.mark.parametrize(
    ("times", "count"),
    [
        ([9.0, 1.0, 1.0, 1.0], 1),
        ([9.0, 5.0, 2.0, 1.0, 1.0, 1.02, 1.0], 3),
        ([1.0, 1.0, 9.0, 1.0], 0),  # not the first
        ([9.0, 2.0, 5.0, 1.0, 1.0, 1.0, 1.0], 0),  # does not fall
        ([1.2, 1.0, 1.0, 1.0], 0),  # not far
        ([9.0, 1.0, 3.0, 1.0], 0),  # others are not alike
        ([9.0], 0),
        ([], 0),
    ],
)
def test_how_many_of_the_first_are_cold(times: list[float], count: int) -> None:
    assert cold(times) == count


def test_units_of_powers_of_two() -> None:
    binary = {value for value in BASE if is_binary(value)}
    assert {"KiB", "MiB/s", "GiB/s", "Mibit/s"} <= binary
    assert binary.isdisjoint({"B", "B/s", "kB/s", "MB/s", "GB/s", "Mbit/s", "ns", "ms"})


def test_a_number_of_runs_is_no_list_of_them() -> None:
    """hyperfine may say any; the mean of all but the first is made without them."""
    first_s = 5 * 10**24  # of the mean of so many runs more than half
    said = (
        "Benchmark 1: x\n"
        "  Time (mean ± σ):     800.0 ms ±   2.1 ms    [User: 90.0 ms, System: 10.0 ms]\n"
        f"  Range (min … max):   108.0 ms … {first_s} s    {10**25} runs\n \n"
        "  Warning: The first benchmarking run for this command was significantly slower than the "
        f"rest ({first_s} s). This could be caused by (filesystem) caches that were not filled.\n"
    )
    found = explained("x", said.encode(), Machine())
    assert "warm-up" in {finding["artefact"] for finding in found["findings"]}
    assert not [note for note in found["notes"] if "failed on this log" in note]


def test_intervals_of_one_kind_of_unit_stand_in_one_row() -> None:
    rates = ["940 Mbits/sec"] * 50 + ["0.00 bits/sec"] + ["1.20 Gbits/sec"] * 9
    lines = [
        f"[  5] {at:6.2f}-{at + 1:6.2f} sec  112 MBytes  {rate}" for at, rate in enumerate(rates)
    ]
    (report,) = read(log_of(("[ ID] Interval  Transfer  Bitrate\n" + "\n".join(lines)).encode()))
    (row,) = [row for row in rows_of(report) if row[1] == "throughput"]
    _, _, statistic, span, unit, *_ = row
    assert statistic == "interval ×60"
    assert (span, unit) == ("0 … 940 … 1,200", "Mbit/s (10⁶)")
