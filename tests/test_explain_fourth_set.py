"""Kinds of untrue statements that a fourth set of real logs showed: each where it must not be said,
and near it where it must. The logs here are made up."""

from __future__ import annotations

import pytest

from benchbook.explain.api import Machine, of_content
from benchbook.explain.figures.cells import is_for_people
from benchbook.explain.render import print_explained

JMH = """Benchmark       Mode  Cnt         Score       Error   Units
sum            thrpt    5  {rate} ± 98033.024  ops/ms
"""
NCCL = """./all_reduce_perf -b 1M -e 4M -f 2 -g {gpus}
# nThread 1 nGpus {gpus} minBytes 1048576 maxBytes 4194304 step: 2(factor) warmup iters: 5 iters: 20
# Using devices
{ranks}
#    size   count   type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong
#     (B) (elements)                  (us) (GB/s) (GB/s)        (us) (GB/s) (GB/s)
  1048576  262144  float    sum    -1  5.00 209.72   0.00      0  0.16  6553.6   0.00      0
  4194304 1048576  float    sum    -1 12.50 335.54   0.00      0  0.16 26214.4   0.00      0
"""
RANK = "#  Rank  {n} Group  0 Pid   1340 on host device  {n} [0x1b] NVIDIA GeForce RTX 3090"
FIO = """job: (g=0): rw=write, bs=(R) 16.0KiB-16.0KiB, (W) 16.0KiB-16.0KiB, (T) 16.0KiB-16.0KiB, \
ioengine=libaio, iodepth=64
fio-3.35
Starting 1 process
job: (groupid=0, jobs=1): err= 0: pid=562556: Mon Nov  6 04:07:30 2023
  write: IOPS=60, BW=960KiB/s (983kB/s)(76.1MiB/81173msec); 0 zone resets
    clat (msec): min=6, max=94396, avg={mean}, stdev=21078.84
     lat (msec): min=63, max=94396, avg={mean}, stdev=21078.47
    clat percentiles (msec):
     |  1.00th=[  877],  5.00th=[10402], 50.00th=[10402], 90.00th=[17113],
     | 99.00th=[17113], 99.99th=[17113]
"""


def explanations(log: str) -> str:
    """What all findings of a log say, as one text."""
    explained = of_content("log", log.encode(), Machine())
    assert explained.trouble == ""
    return " ".join(finding.explanation for finding in explained.findings)


@pytest.mark.parametrize(
    ("rate", "words", "never"),
    [
        ("21009813.078", "less than a cycle", "two or three cycles"),
        ("1488555.237", "two or three cycles", "less than a cycle"),
    ],
)
def test_a_time_below_a_cycle_is_not_called_several(rate: str, words: str, never: str) -> None:
    text = explanations(JMH.format(rate=rate))
    assert words in text
    assert never not in text


def test_a_collective_of_one_rank_is_no_removed_loop_and_in_place_no_copy() -> None:
    text = explanations(NCCL.format(gpus=1, ranks=RANK.format(n=0)))
    assert "the compiler removed" not in text
    assert "335.54 GB/s (line 8) is at best a copy within the device" in text
    assert "26,214 GB/s (line 8) is the time of a launch" in text


def test_percentiles_that_end_below_the_mean_are_not_quoted() -> None:
    text = explanations(FIO.format(mean=41163.57))
    assert "the percentiles are too low" in text
    assert "So few long ones make the mean" not in text
    # A mean that nine of ten and the longest can make.
    assert "the percentiles are too low" not in explanations(FIO.format(mean=17100.0))


def test_no_digit_is_left_out_where_names_are_long(capsys: pytest.CaptureFixture[str]) -> None:
    log = """HPCG-Benchmark version=3.1
GB/s Summary::Raw Read B/W=5.98029
GB/s Summary::Raw Total with convergence and optimization phase overhead=7.21769
GFLOP/s Summary::Raw Total=0.969184
GFLOP/s Summary::Total with convergence and optimization phase overhead=0.950083
"""
    print_explained(of_content("log", log.encode(), Machine()), alone=True)
    assert "0.950083  Gflop/s" in capsys.readouterr().out


def test_a_fact_of_several_figures_is_for_rules_only() -> None:
    assert not is_for_people("rate_samples", {"write": {"least": 78.0}})
    assert is_for_people("threads", 4)


HPL = """HPLinpack 2.3  --  High-Performance Linpack benchmark  --   December 2, 2018
================================================================================
T/V                N    NB     P     Q               Time                 Gflops
--------------------------------------------------------------------------------
WR11C2R4  {order:12d}   192  {grid}  {time:17.2f}             2.4380e+01
"""


@pytest.mark.parametrize(
    ("order", "grid", "time", "words"),
    [
        (1000, "   4     4", 218.53, "5.21 blocks long"),
        (1280, "   1     1", 0.06, "says little of the machine"),
        (20000, "   4     4", 218.53, ""),
        (1280, "   1     1", 3.0, ""),
    ],
)
def test_a_problem_of_hpl_that_is_too_small(order: int, grid: str, time: float, words: str) -> None:
    text = explanations(HPL.format(order=order, grid=grid, time=time))
    assert words in text
    assert ("A matrix of order" in text) == bool(words)
