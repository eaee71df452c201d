"""Sentences that were not certain from the log: what is said where they are, and where nothing is.
The logs are made up, but for their shapes."""

from __future__ import annotations

import pytest

from benchbook.explain.api import Machine, of_content


def statements(text: str) -> str:
    """All that is said of a log, findings and notes."""
    told = of_content("x", text.encode(), Machine())
    return " ".join([*(finding.explanation for finding in told.findings), *told.notes])


TWO = """Benchmark 1: a
  Time (mean ± σ):     210.7 ms ±  87.5 ms    [User: 200.7 ms, System: 0.0 ms]
  Range (min … max):   100.7 ms … 300.8 ms    10 runs

Benchmark 2: b
  Time (mean ± σ):     {mean} ms ±  56.8 ms    [User: 200.5 ms, System: 0.4 ms]
  Range (min … max):   200.6 ms … 400.8 ms    10 runs

Summary
  a ran
    {ratio} ± 0.67 times faster than b
"""
TIMED = (
    "        5.01 real         0.51 user         0.89 sys\n"
    "             7053  page reclaims\n{sent}"
    "                6  voluntary context switches\n"
    "            38290  involuntary context switches\n"
)
_COLUMNS = "{:24} {:13} │ {:13} │ {:13} │ {:13} │ {:7} │ {}\n"
DIVAN = (
    _COLUMNS.format("types", "fastest", "slowest", "median", "mean", "samples", "iters")
    + _COLUMNS.format("├─ chunk", "", "", "", "", "", "")
    + _COLUMNS.format(
        "│  ╰─ bytes", "0.002 ns", "0.471 ns", "0.002 ns", "0.008 ns", "100", "819200"
    )
)
WRK = """Running 10s test @ http://127.0.0.1:8080
  12 threads and 400 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     3.91ms   10.03ms 294.68ms   99.16%
    Req/Sec     6.25k     2.00k   11.33k    73.92%
  747990 requests in 10.02s, 122.69MB read
  Socket errors: connect {connects}, read 306, write 0, timeout 0
Requests/sec:  74615.22
"""
PACED = """Running 1m test @ http://192.0.2.1:19234
  1 threads and 1 connections
{calibrated}  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   679.89us  820.95us  26.34ms   99.79%
    Req/Sec    10.56k   803.29    17.78k    68.55%
  599984 requests in 1.00m, 38.34MB read
Requests/sec:   9999.77
"""
CALIBRATED = "  Thread calibration: mean lat.: 0.817ms, rate sampling interval: 10ms\n"
FIO = """w: (groupid=0, jobs=1): err= 0: pid=560: Mon Jul  1 22:14:42 2019
  write: IOPS=228, BW=228MiB/s (239MB/s)(32.0GiB/143659msec); 0 zone resets
    slat (usec): min=1, max=111277, avg={slat}, stdev=2624.24
    clat (usec): min=1, max=111277, avg={clat}, stdev=2121.97
     lat (usec): min=253, max=111286, avg=3987.92, stdev=2625.14
"""
DD = (
    "$ dd if=/dev/sda of=/dev/null bs=512\n409600000 bytes (410 MB) copied, {took} s, {rate} MB/s\n"
)
MTR = """$ mtr -w {how} example.com
HOST: host                    Loss%   Snt   Last   Avg  Best  Wrst StDev
  1.|-- 192.0.2.1              0.0%    40    0.8   0.7   0.5    0.9   0.1
  2.|-- 192.0.2.9              0.0%    40    3.1 171.2   2.7  1004. 408.1
"""
JMH = """"a.b.Validation.testOne",
  6:
    "score" : 100.3,
{error}  5.3:
    "score" : 102.9,
    "scoreError" : 12.4,
"""
SHELL = "real\t0m9.787s\nuser\t0m9.600s\nsys\t0m0.108s\n"
LLAMA = """| model    |  test |           t/s |
| -------- | ----: | ------------: |
| llama 8B | pp512 | 263.15 ± {error} |
| llama 8B | tg128 |   3.12 ± 0.00 |
"""
POOL = """               capacity     operations     bandwidth    total_wait     disk_wait
pool         alloc   free   read  write   read  write   read  write   read  write
-----------  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----
tank         11.4T  6.69T     61      5  2.96M  50.9K  {read}  {write}    7ms   21ms
"""
COUNTS = """ Performance counter stats for './{name}':

      {clock}      task-clock (msec)         #    {cpus} CPUs utilized
     {cycles}      cycles                    #    3.636 GHz
     {instructions}      instructions              #    0.66  insn per cycle

      {elapsed} seconds time elapsed

"""
BENCHSTAT = """                      │   old.txt   │               new.txt                │
                      │   sec/op    │    sec/op     vs base                │
A-8                     147.1n ± 4%   128.7n ± 83%  -12.54% (p=0.023 n=10)
"""


@pytest.mark.parametrize(
    ("words", "log", "near"),
    [
        # Welch's test tells them apart, though the interval of the ratio has 1 in it.
        ("has 1 in it", TWO.format(mean=260.7, ratio=1.24), TWO.format(mean=310.7, ratio=1.47)),
        # macOS counts waiting as involuntary.
        (
            "was interrupted",
            TIMED.format(sent=""),
            TIMED.format(sent=f"{75930:16}  messages sent\n"),
        ),
        ("306 of 747,990 requests failed", WRK.format(connects=0), WRK.format(connects=155)),
        (
            "next to 1.00 connections",
            PACED.format(calibrated=""),
            PACED.format(calibrated=CALIBRATED),
        ),
        ("one request was under way", FIO.format(slat=3, clat=3984), FIO.format(slat=3982, clat=4)),
        ("These calls may hold", DD.format(took=1.6, rate=256), DD.format(took=16, rate=25.6)),
        ("some probes waited", MTR.format(how=""), MTR.format(how="-T")),
        ("has no error", JMH.format(error=""), JMH.format(error='    "scoreError" : 5.4,\n')),
        ("is one run", LLAMA.format(error="0.00"), LLAMA.format(error="0.19")),
        ("was most likely rounded to 0", LLAMA.format(error="0.19"), LLAMA.format(error="0.00")),
        ("queues of ZFS", POOL.format(read="1s", write="9ms"), POOL.format(read="9ms", write="1s")),
        ("without optimisation", "$ gcc -O0 -o t t.c\n" + SHELL, "$ t/io_uring -O0 -n1\n" + SHELL),
    ],
)
def test_said_only_where_it_is_certain(words: str, log: str, near: str) -> None:
    assert words in statements(log)
    assert words not in statements(near)


def test_an_interval_is_no_point() -> None:
    near = TWO.replace("87.5", "0.7").replace("56.8", "0.7").replace("0.67", "0.01")
    assert "interval goes from 0.9976 to 1.0043" in statements(near.format(mean=210.9, ratio=1.0))


def test_no_other_rows_are_counted_where_they_are_the_same_row() -> None:
    text = statements(DIVAN)
    assert "chunk::bytes is 0.00200 ns an operation" in text
    assert "same is true" not in text


def test_a_wide_median_decides_nothing_that_was_tested() -> None:
    text = statements(BENCHSTAT)
    assert "known to ± 83 % only" in text
    assert "show nothing" not in text


def test_more_cpu_time_is_not_called_slower() -> None:
    first = COUNTS.format(
        name="a", clock=21606.85, cpus=0.322, cycles="78,571,991,365",
        instructions="51,665,022,850", elapsed=67.1,
    )  # fmt: skip
    second = COUNTS.format(
        name="a", clock=25893.57, cpus=0.427, cycles="94,078,733,107",
        instructions="62,644,698,270", elapsed=55.9,
    )  # fmt: skip
    text = statements(first + second)
    assert "times the CPU time of the other" in text
    assert "slower of both" not in text
