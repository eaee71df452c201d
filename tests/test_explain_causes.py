"""Causes that the text of a log decides: said where it does, and not next to it."""

from __future__ import annotations

import pytest

from benchbook.explain.api import Machine, of_content

GOOGLE = "Benchmark          Time             CPU   Iterations UserCounters...\n"
STREAM_HEAD = """STREAM version $Revision: 5.10 $
This system uses 8 bytes per array element.
Array size = 80000000 (elements), Offset = 0 (elements)
Each kernel will be executed 10 times.
 The *best* time for each kernel (excluding the first iteration)
 will be used to compute the reported bandwidth.
-------------------------------------------------------------
{threads}Your clock granularity/precision appears to be 1 microseconds.
Each test below will take on the order of 60000 microseconds.
Function    Best Rate MB/s  Avg time     Min time     Max time
"""
STREAM_ROWS = """Copy:           {copy}     0.060100     {copy_s}     0.060300
Scale:          20000.0     0.064100     0.064000     0.064300
Add:            20000.0     0.096100     0.096000     0.096300
Triad:          20000.0     0.096100     0.096000     {most}
"""
FOUR_SIZES = """BenchmarkRead10-8   100   {}e4 ns/op
BenchmarkRead1000-8   100   {}e4 ns/op
BenchmarkRead100000-8   100   {}e4 ns/op
BenchmarkRead10000000-8   100   {}e4 ns/op
"""
THREADS = "Number of Threads requested = {0}\nNumber of Threads counted = {0}\n-----\n"
SERIAL = STREAM_HEAD.format(threads="")
OF_32 = STREAM_HEAD.format(threads=THREADS.format(32))
EVEN = STREAM_ROWS.format(copy="20000.0", copy_s="0.064000", most="0.096300")
BY_LIBRARY = STREAM_ROWS.format(copy="29000.0", copy_s="0.044138", most="0.096300")
APART = EVEN.replace("0.064300", "0.128300").replace("0.096300", "0.196300")
REAL = "real\t0m{real}s\nuser\t0m{user}s\nsys\t0m{sys}s\n"
SYSBENCH = """sysbench 1.0.20 (using system LuaJIT 2.1.0)
Number of threads: {threads}
Running memory speed test with the following options:
  block size: {block}
  total size: {total}
  operation: write
  scope: global
Total operations: {count} ({rate} per second)
{moved} MiB transferred ({mib} MiB/sec)
General statistics:
    total time:                          {took}s
    total number of events:              {count}
Latency (ms):
         min:                                    0.00
         avg:                                    {avg}
         max:                                    9.00
         95th percentile:                        0.00
         sum:                                    {sum}
"""
NOTHING = SYSBENCH.format(
    threads=16, block="2097152KiB", total="20480MiB", count=0, rate="0.00", moved="0.00",
    mib="0.00", took="0.0008", avg="0.00", sum="0.00",
)  # fmt: skip
SHORT = SYSBENCH.format(
    threads=1, block="1024KiB", total="2048MiB", count=2048, rate="10240.00", moved="2048.00",
    mib="10240.00", took="0.2000", avg="0.10", sum="196.00",
)  # fmt: skip
LONG = SYSBENCH.format(
    threads=1, block="1024KiB", total="102400MiB", count=102400, rate="10240.00",
    moved="102400.00", mib="10240.00", took="10.0000", avg="0.10", sum="9900.00",
)  # fmt: skip
MLC = """Intel(R) Memory Latency Checker - v3.9
Measuring idle latencies (in ns)...
\t\tNuma node
Numa node\t     0\t     1
       0\t  {0}\t {1}
"""
MIXTURES = """Measuring Peak Injection Memory Bandwidths for the system
ALL Reads        :       {}
1:1 Reads-Writes :       {}
"""
HPL_ROW = """T/V                N    NB     P     Q               Time                 Gflops
WR11C2R4       {n}   {nb}     2     4            {time}             {rate}
"""
JMH = """Benchmark   Mode  Cnt   Score   Error  Units
{rows}
"""
BASE, EVEN_RATIO = "1.40 | 1.35 | Yes", "1,159.0 ms | 1.00 | 0.01 | Yes"
BDN = """| Method | Mean | Error | StdDev | Median | Ratio | RatioSD | Baseline |
|------- |-----:|------:|-------:|-------:|------:|--------:|--------- |
{rows}
"""
CHANGE = """first          time:   [100.0 ns 101.0 ns 102.0 ns]
               change: [{0}% {1}% {2}%] (p = 0.00 < 0.05)
second         time:   [200.0 ns 201.0 ns 202.0 ns]
               change: [{3}% {4}% {5}%] (p = 0.00 < 0.05)
third          time:   [300.0 ns 301.0 ns 302.0 ns]
               change: [-2.9% -2.1% -1.9%] (p = 0.00 < 0.05)
fourth         time:   [400.0 ns 401.0 ns 402.0 ns]
               change: [-2.4% -2.2% -1.8%] (p = 0.00 < 0.05)
"""
TABLE = "| Case | Before (ms) | After (ms) | Speedup |\n|---|---:|---:|---:|\n"
HYPERFINE = """Benchmark 1: {command}
  Time (mean ± σ):     {mean} ms ±   {sd} ms    [User: {user} ms, System: {system} ms]
  Range (min … max):   {low} ms … {high} ms    {runs} runs
"""


def hyperfine(mean: float, user: float, system: float, runs: int = 20, command: str = "x") -> str:
    return HYPERFINE.format(
        command=command, mean=mean, sd=mean / 50, user=user, system=system, runs=runs,
        low=0.96 * mean, high=1.05 * mean,
    )  # fmt: skip


def explanation_of(text: str) -> str:
    """All that is said of a log, in one line."""
    explained = of_content("log", text.encode(), Machine())
    assert not any("failed on this log" in note for note in explained.notes), explained.notes
    texts = [finding.explanation for finding in explained.findings]
    return " ".join([*texts, *explained.notes])


@pytest.mark.parametrize(
    ("text", "words", "is_said"),
    [
        (SERIAL + EVEN, "built without OpenMP", True),
        (OF_32 + EVEN, "built without OpenMP", False),
        (OF_32 + BY_LIBRARY, "a call of memcpy", True),
        (OF_32 + EVEN, "a call of memcpy", False),
        (OF_32 + APART, "Nothing in the log binds them", True),
        ("OMP_PROC_BIND=spread ./stream\n" + OF_32 + APART, "Nothing in the log binds", False),
        (OF_32 + EVEN, "Nothing in the log binds them", False),
        (NOTHING.replace("20480MiB", "0MiB"), "The total size is printed as 0", True),
        (SHORT, "No operation was done", False),
        (SHORT, "any single stall", True),
        (LONG, "any single stall", False),
        (LONG.replace("9900.00", "5000.00"), "inside of operations", True),
        (LONG, "inside of operations", False),
        (MLC.format(" 90.1", "90.2") + "       1\t  90.3\t  90.0\n", "may interleave", True),
        (MLC.format(" 90.1", "140.2") + "       1\t 140.3\t  90.0\n", "may interleave", False),
        (MIXTURES.format("8903.0", "23570.2"), "Reads alone have", True),
        (MIXTURES.format("35903.0", "23570.2"), "Reads alone have", False),
        (MLC.format(" 90.1", "460.2"), "no cores of its own", True),
        (MLC.format(" 90.1", "140.2"), "no cores of its own", False),
    ],
)
def test_memory(text: str, words: str, is_said: bool) -> None:
    assert (words in explanation_of(text)) == is_said, explanation_of(text)


@pytest.mark.parametrize(
    ("text", "words", "is_said"),
    [
        (REAL.format(real="10.000", user="2.000", sys="0.500"), "waited", True),
        (REAL.format(real="10.000", user="9.000", sys="0.500"), "waited", False),
        (REAL.format(real="3.000", user="0.500", sys="2.400"), "system time", True),
        (REAL.format(real="3.000", user="2.500", sys="0.400"), "is system time", False),
        (REAL.format(real="2.000", user="7.500", sys="0.100"), "CPUs were busy", True),
        (
            "1 thread\n" + REAL.format(real="10.000", user="9.900", sys="0.100")
            + "8 threads\n" + REAL.format(real="12.000", user="80.000", sys="0.100"),
            "does not get what one alone gets", True,
        ),
        (
            "1 thread\n" + REAL.format(real="10.000", user="9.900", sys="0.100")
            + "8 threads\n" + REAL.format(real="1.300", user="10.000", sys="0.100"),
            "share cores", False,
        ),
        (REAL.format(real="0.018", user="0.016", sys="0.000"), "take that long to start", True),
        (REAL.format(real="0.180", user="0.160", sys="0.000"), "take that long to start", False),
        (hyperfine(100.0, 99.0, 0.5, command="target/debug/x"), "builds for debugging", True),
        (hyperfine(100.0, 99.0, 0.5, command="target/release/x"), "for debugging", False),
        ("gcc -o x x.c\n" + hyperfine(9.0, 8.0, 0.5), "builds without optimisation", True),
        ("gcc -O2 -o x x.c\n" + hyperfine(9.0, 8.0, 0.5), "without optimisation", False),
        (hyperfine(100.0, 10.0, 5.0), "the command ran on no CPU", True),
        (hyperfine(100.0, 90.0, 5.0), "the command ran on no CPU", False),
        (hyperfine(100.0, 90.0, 5.0, runs=3), "is one of 3 runs", True),
        (hyperfine(100.0, 90.0, 5.0) + hyperfine(200.0, 190.0, 5.0), "the same command", True),
        (
            hyperfine(100.0, 90.0, 5.0) + hyperfine(200.0, 190.0, 5.0, command="y"),
            "the same command", False,
        ),
    ],
)  # fmt: skip
def test_elapsed_and_cpu_time(text: str, words: str, is_said: bool) -> None:
    assert (words in explanation_of(text)) == is_said, explanation_of(text)


@pytest.mark.parametrize(
    "text",
    [
        "real 2.50\nuser 2.00\nsys 0.40\n",
        "real 0m2.500s user 0m2.000s sys 0m0.400s\n",
        "./a.out  2.00s user 0.40s system 96% cpu 2.500 total\n",
        "2.00user 0.40system 0:02.50elapsed 96%CPU (0avgtext+0avgdata 3000maxresident)k\n",
        "Executed in    2.50 secs    fish   external\n   usr time    2.00 secs\n"
        "   sys time  400.00 millis\n",
        "\tUser time (seconds): 2.00\n\tSystem time (seconds): 0.40\n"
        "\tElapsed (wall clock) time (h:mm:ss or m:ss): 0:02.50\n",
    ],
)
def test_times_of_shells(text: str) -> None:
    (report,) = of_content("log", text.encode(), Machine()).reports
    assert report.tool == "time"
    values = {own.name: own.value for own in report.results if own.unit == "s"}
    assert values == {"time elapsed": 2.5, "user time": 2.0, "system time": pytest.approx(0.4)}


@pytest.mark.parametrize(
    ("text", "words", "is_said"),
    [
        (
            GOOGLE + "BM_put       261835 ns        20951 ns        10000 "
            "items_per_second=47.7311k/s\n",
            "of the time it did not run", True,
        ),
        (
            GOOGLE + "BM_put        21835 ns        20951 ns        10000 "
            "items_per_second=47.7311k/s\n",
            "waits for", False,
        ),
        (
            GOOGLE + "BM_put/real_time       261835 ns        20951 ns        10000 "
            "items_per_second=3.8k/s\n",
            "waits for", False,
        ),
        (
            GOOGLE + "BM_c/process_time       43.4 ms          520 ms           12 "
            "bytes_per_second=2.14995G/s\n",
            "for each second of CPU time", True,
        ),
        (GOOGLE + "BM_long       900 ms          900 ms           1\n", "one iteration", True),
        (GOOGLE + "BM_long       90 ms          90 ms           8\n", "one iteration", False),
        (
            "Run on (4 X 3000 MHz CPU s)\nLoad Average: 3.20, 2.00, 1.00\n" + GOOGLE
            + "BM_long       90 ms          90 ms           8\n",
            "load average", True,
        ),
        (
            "Run on (64 X 3000 MHz CPU s)\nLoad Average: 3.20, 2.00, 1.00\n" + GOOGLE
            + "BM_long       90 ms          90 ms           8\n",
            "load average", False,
        ),
        (
            "Running ./cmake-build-debug/bench\nRun on (4 X 3000 MHz CPU s)\n" + GOOGLE
            + "BM_long       90 ms          90 ms           8\n",
            "built for debugging", True,
        ),
        ("BenchmarkA-8   1   3490 ns/op   266824 B/op   1168 allocs/op\n", "asked", False),
        ("BenchmarkA-8   1   3490 ns/op\n", "one iteration", True),
        (
            "BenchmarkA-8   100   70 ns/op\nBenchmarkA-8   1   3490 ns/op\n",
            "one iteration", True,
        ),
        (
            "BenchmarkA-8   100   70 ns/op\nBenchmarkA-8   99   72 ns/op\n",
            "one iteration", False,
        ),
        ("BenchmarkA-8   1   3490000000 ns/op\n", "may not be the time of an operation", False),
        (
            "name    old time/op    new time/op    delta\n"
            "A-8       2.03µs ± 0%    2.20µs ± 0%   +8.65%\n",
            "without a p value", True,
        ),
        (
            "name    old time/op    new time/op    delta\n"
            "A-8       2.03µs ± 1%    2.20µs ± 1%   +8.65%  (p=0.000 n=10+10)\n",
            "without a p value", False,
        ),
        (JMH.format(rows="a.m  thrpt    2  1658398614.980          ops/s"), "empty method", True),
        (JMH.format(rows="a.m  thrpt    5  16583986.980 ± 9.1 ops/s"), "empty method", False),
        (JMH.format(rows="a.m  avgt         7.5          ms/op"), "has no error", True),
        (JMH.format(rows="a.m  avgt   5   7.5 ± 0.1  ms/op"), "has no error", False),
        (JMH.format(rows="a.m  avgt   5   7500 ± 10  ops/s"), "put in by hand", True),
        (
            BDN.format(rows=f"| A | 1,161.1 ms | 319.8 ms | 943.1 ms | 739.0 ms | {BASE} |"),
            "ratio of the baseline itself", True,
        ),
        (
            BDN.format(rows=f"| A | 1,161.1 ms | 9.8 ms | 9.1 ms | {EVEN_RATIO} |"),
            "ratio of the baseline itself", False,
        ),
        (
            BDN.format(rows="| A | 1,161.1 ms | 9.8 ms | 9.1 ms | 1,159.0 ms | 1.06 | 0.19 | No |"),
            "that has 1 in it", True,
        ),
        (
            BDN.format(rows="| A | 1,161.1 ms | 9.8 ms | 9.1 ms | 1,159.0 ms | 1.56 | 0.19 | No |"),
            "that has 1 in it", False,
        ),
        (GOOGLE + "BM_x/threads:4   23.0 ns   90.2 ns   7967324\n", "divided by the threads", True),
        (GOOGLE + "BM_x/threads:4   92 ns   90 ns   7967\n", "divided by the threads", False),
        (GOOGLE + "BM_x/4   23.0 ns   90.2 ns   7967324\n", "divided by the threads", False),
        ("real\t0m0.284s\nuser\t0m0.222s\nsys\t0m0.881s\n", "3.88 times the elapsed", True),
        ("real\t0m1.284s\nuser\t0m0.222s\nsys\t0m0.881s\n", "times the elapsed time", False),
        (FOUR_SIZES.format(1, 1.001, 1.002, 1.004), "work that is timed does not depend", True),
        (FOUR_SIZES.format(1, 10, 100, 1000), "work that is timed does not depend", False),
        (FOUR_SIZES.format(0.001, 0.001, 0.001, 0.001), "does not depend on the size", False),
        ("main vs main\nA-8   70 ns/op\nBenchmarkA-8   99   72 ns/op\n", "the same code", True),
        (
            "BenchmarkMean-16   1000000000   0 B/op   0 allocs/op\n",
            "printed no time for an operation", True,
        ),
        (
            "BenchmarkMean-16   1000000   1250 ns/op   0 B/op   0 allocs/op\n",
            "printed no time for an operation", False,
        ),
        (
            JMH.format(rows="a.m  avgt  5  7.5 ± 0.9 ms/op\na.n  avgt  5  8.0 ± 0.4 ms/op"),
            "less than their errors together", True,
        ),
        (
            JMH.format(rows="a.m  avgt  5  7.5 ± 0.1 ms/op\na.n  avgt  5  8.0 ± 0.1 ms/op"),
            "less than their errors together", False,
        ),
        (CHANGE.format(-2.2, -2.0, -1.8, -2.5, -2.3, -2.0), "change by nearly the same", True),
        (CHANGE.format(-2.2, -2.0, -1.8, -9.5, -9.3, -9.0), "change by nearly the same", False),
    ],
)  # fmt: skip
def test_timed_loops(text: str, words: str, is_said: bool) -> None:
    assert (words in explanation_of(text)) == is_said, explanation_of(text)


@pytest.mark.parametrize(
    ("text", "words", "is_said"),
    [
        (HPL_ROW.format(n=29304, nb=4, time="6160.86", rate="2.7232e+00"), "narrow matrices", True),
        (HPL_ROW.format(n=29304, nb=192, time="160.86", rate="1.0430e+02"), "narrow", False),
        (HPL_ROW.format(n=15968, nb=192, time="315.71", rate="2.5987e+00"), "Gflop/s each", True),
        (HPL_ROW.format(n=15968, nb=192, time="31.571", rate="8.5987e+01"), "Gflop/s each", False),
    ],
)
def test_linpack(text: str, words: str, is_said: bool) -> None:
    assert (words in explanation_of(text)) == is_said, explanation_of(text)


@pytest.mark.parametrize(
    ("rows", "words", "is_said"),
    [
        (
            "| a | 100 | 50 | 2.00x |\n| b | 90 | 30 | 3.00x |\n| c | 80 | 40 | 5.00x |\n",
            "other rows fit", True,
        ),
        (
            "| a | 100 | 50 | 2.00x |\n| b | 90 | 30 | 3.00x |\n| c | 80 | 40 | 2.00x |\n",
            "other rows fit", False,
        ),
        ("| a | 100 | 50 | 7.00x |\n| b | 90 | 30 | 9.00x |\n", "other rows fit", False),
    ],
)  # fmt: skip
def test_ratios_of_tables(rows: str, words: str, is_said: bool) -> None:
    assert (words in explanation_of(TABLE + rows)) == is_said, explanation_of(TABLE + rows)


def test_intervals_noise_and_errors_of_tables() -> None:
    intervals = (
        "| Case | Base (s) | PR (s) | Change |\n|---|---|---|---|\n"
        "| a | 6.7 | 6.7 | -0.2% [-5.7%, +5.6%] |\n| b | 7.7 | 6.7 | -12.0% [-13.1%, -11.0%] |\n"
    )
    assert "In 1 of 2 rows the interval of the change has 0 in it" in explanation_of(intervals)
    noise = (
        "| Case | Base q/s | Head q/s | Head / base | Noise |\n|---|---|---|---|---|\n"
        "| a | 7635 | 7760 | 1.025x (+2.5%) | ±6.1% |\n"
        "| b | 100 | 150 | 1.500x (+50%) | ±6.1% |\n"
    )
    assert "within the noise that the table gives" in explanation_of(noise)
    assert "other row" not in explanation_of(noise)
    errors = (
        "| Case | main (s) | branch (s) |\n|---|---|---|\n"
        "| a | 6.7 ± 0.4 | 6.5 ± 0.3 |\n| b | 7.7 ± 0.1 | 5.7 ± 0.1 |\n"
    )
    assert "In 1 of 2 rows the two figures differ by less" in explanation_of(errors)


def test_words_that_tell_of_the_machine_are_notes() -> None:
    explained = of_content(
        "log", f"laptop:/mnt/d/x$ y\n{hyperfine(9.0, 8.0, 0.5)}".encode(), Machine()
    )
    assert not explained.findings
    assert any("Windows drive" in note for note in explained.notes)
    assert of_content("log", b"cd /mnt/d/x\n", Machine()).trouble
