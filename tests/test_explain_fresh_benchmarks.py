"""What is said of fresh reports of benchmarks, compilers and memory: only what they show."""

from __future__ import annotations

import pytest

from benchbook.explain.explanation import of_content
from benchbook.explain.rules import Machine

BENCHSTAT = """name            old ms      new ms       delta
LatenciesMean    31.8 ± 9%    37.5 ± 4%  +18.11%  (p=0.029 n=4+4)
LatenciesMax     68.2 ±33%    70.8 ±10%     ~     (p=0.657 n=4+4)
"""
DOTNET = """|      Method |          Mean |      Error |
|------------ |--------------:|-----------:|
|   AsyncYield | 1,785.8192 ns | 80.9880 ns |
|     SyncInt |     {time} ns |  0.0409 ns |
"""
DIVAN = """types       fastest     │ slowest    │ median      │ mean      │ samples │ iters
├─ bytes    0.002 ns    │ 0.471 ns   │ 0.002 ns    │ 0.008 ns  │ 100     │ 819200
"""
BENCHEE = """Name                  ips        average    deviation         median
map.flatten       1274.04       784.90μs    (±14.05%)       756.00μs
flat_map           881.52      1134.40μs     (±6.57%)      1164.50μs

Comparison:
map.flatten       1274.04
flat_map           881.52 - 1.45x slower
"""
CLAIM = """| name | rate |
|---|---|
| flatten | 1274 ops/s |
| flat_map | 881 ops/s |

flatten is {times}x faster.
"""
COREMARK = """# Raspberry Pi {model}:
2K performance run parameters for coremark.
CoreMark Size    : 666
Total ticks      : 13160
Total time (secs): 13.16
Iterations/Sec   : 227.96
Iterations       : 3000
"""
NUMADEMO = """memory with no policy random2 Avg {least} MB/s Max {least} MB/s Min {least} MB/s
local memory random2 Avg {least} MB/s Max {least} MB/s Min {least} MB/s
"""
UNCHECKED = "Cannot validate operation for these seed values, please compare with results.\n"
CACHEGRIND = """==1== I   refs:      {instructions}
==1== D   refs:       66,429,000  (54,246,000 rd   + 12,183,000 wr)
==1== D1  misses:     13,384,000  (10,787,000 rd   +  2,597,000 wr)
==1== LLd misses:      2,677,000  ( 2,056,000 rd   +    621,000 wr)
"""
HYPERFINE = """Benchmark 1: find
  Time (mean ± σ):      5.825 s ±  4.826 s    [User: 0.077 s, System: {system} s]
  Range (min … max):    3.299 s … {longest} s    10 runs

  Warning: The first benchmarking run for this command was significantly slower than the rest \
(8.936 s). This could be caused by (filesystem) caches that were not filled until after the first \
run. You should consider using the '--warmup' option to fill those caches before the actual \
benchmark.
"""
GO = """BenchmarkGet     20000000            83.5 ns/op
BenchmarkGet-2    5000000            {two} ns/op
{more}"""
MORE = "BenchmarkGet-4    5000000            311 ns/op\nBenchmarkGet-8 5000000   363 ns/op\n"
MLC = """Measuring idle latencies (in ns)...
                Numa node
Numa node            0       1
       0         {own}   202.8
       1         231.5    84.3
"""
REPREX = """#> Unit: nanoseconds
#>     expr    min     lq  mean median     uq    max neval
#>  sqrt(x)  1,570  1,830  2554  2,050  2,310 31,400   100
"""
HASHES = """benchmark | subject | time | deviation
 --- | --- | --- | ---
Hashing | benchMd5 | 2.6799μs | 0.00%
Hashing | benchSha256 | 3.0908μs | 15.33%
"""
GCC = """Execution times (seconds)
 phase parsing  :   2.45 (52%) usr   0.60 (70%) sys   3.05 ({parsing}%) wall  572 kB (60%) ggc
 phase opt and generate  :   0.65 (14%) usr   0.14 (16%) sys   0.79 ({code}%) wall   84 kB ( 9%) ggc
 |overload resolution    :   2.36 (50%) usr   0.35 (41%) sys   2.64 (48%) wall  621 kB (65%) ggc
"""
CLANG = """  Total Execution Time: {total} seconds ({total} wall clock)

   ---User Time---   --User+System--   ---Wall Time---  --- Name ---
   0.0005 ( 59.9%)   0.0005 ( 59.9%)   0.0005 ( 59.6%)  AlwaysInlinerPass
   0.0003 ( 33.5%)   0.0003 ( 33.5%)   0.0003 ( 33.6%)  SROAPass
"""
BUILD = """Compilation (12 times):
  Parsing (frontend):           35.3 s
  Codegen & opts (backend):      3.9 s
"""

SWIFT = """Test Case 'Tests.testLoad' measured [Time, seconds] average: 0.884, relative standard \
deviation: {percent}%, values: [1.063468, 1.418311, 0.497485], maxStandardDeviation: 0.100
Tests.swift:90: error: Tests.testLoad : failed: The relative standard deviation is higher than 10%.
"""
TRIAL = """BenchmarkTools.Trial:
  memory estimate:  3.65 GiB
  allocs estimate:  20007018
  --------------
  minimum time:     9.877 s (2.50% GC)
  median time:      9.877 s (2.50% GC)
  mean time:        9.877 s (2.50% GC)
  maximum time:     9.877 s (2.50% GC)
  --------------
  samples:          {samples}
  evals/sample:     1
"""
SYSBENCH = """General statistics:
    total time:                          0.2426s
    total number of events:              {events}

Latency (ms):
         min:                                  241.47
         avg:                                  241.47
         max:                                  241.47
         95th percentile:                      240.02
         sum:                                  241.47

Threads fairness:
    events (avg/stddev):           {events}.0000/0.00
    execution time (avg/stddev):   0.2415/0.00
"""

STREAM = """STREAM version $Revision: 5.10 $
Array size = 10000000 (elements), Offset = 0 (elements)
Number of Threads counted = 8
Function    Best Rate MB/s  Avg time     Min time     Max time
Copy:           {copy}     0.007845     {least}     0.008717
Scale:          10794.8     0.018168     0.014822     0.020507
Add:            13298.5     0.021114     0.018047     0.023301
Triad:          10068.4     0.026150     0.023837     0.029336
"""


@pytest.mark.parametrize(
    ("log", "says", "silent"),
    [
        (STREAM.format(copy="23081.3", least="0.006932"), "2.14 times the rate of Scale", "memcpy"),
        (STREAM.format(copy="19391.2", least="0.008251"), "", "the rate of Scale"),
        (SWIFT.format(percent="47.026"), "deviate by 47", "Nothing else in this text"),
        (SWIFT.format(percent="2.026"), "", "deviate by"),
        (TRIAL.format(samples=1), "is of one sample", "event"),
        (TRIAL.format(samples=8), "", "is of one sample"),
        (SYSBENCH.format(events=1), "is of one event", "sample"),
        (SYSBENCH.format(events=2), "", "is of one event"),
        (BENCHSTAT, "no difference for LatenciesMax", "without a p value"),
        (DOTNET.format(time="0.4281"), "subtracts what its own loop costs", "empty loop"),
        (DOTNET.format(time="20.4281"), "", "own loop"),
        (DIVAN, "subtracts what its own loop costs", "even an empty loop"),
        (BENCHEE, "The runs of map.flatten deviate", "claims"),
        (CLAIM.format(times="1.45"), "", "claims"),
        (COREMARK.format(model="Pico"), "", "small board"),
        (COREMARK.format(model="4"), "small board", "Pico"),
        (f"{COREMARK.format(model='5')}{UNCHECKED}", "did not check its results", "loop"),
        (COREMARK.format(model="5"), "", "did not check its results"),
        (NUMADEMO.format(least="inf"), "it divided by 0", "loop"),
        (NUMADEMO.format(least="5120.00"), "", "divided by 0"),
        (CACHEGRIND.format(instructions="912,468,000"), "", "miss the last cache"),
        (CACHEGRIND.format(instructions="90,468,000"), "cycles for each instruction", "most of"),
        (HYPERFINE.format(longest="18.346", system="0.43"), "hyperfine warned", "slow start"),
        (HYPERFINE.format(longest="8.936", system="0.43"), "slow start", "work of the kernel"),
        (HYPERFINE.format(longest="8.936", system="2.43"), "work of the kernel", "claims"),
        (GO.format(two="405", more=MORE), "With more CPUs (GOMAXPROCS)", "claims"),
        (GO.format(two="405", more=""), "may wait for each other", "With more CPUs"),
        (GO.format(two="85.5", more=""), "", "wait for each other"),
        (MLC.format(own="139.1"), "Node 0 needs 139.1 ns for its own", "equal"),
        (MLC.format(own="88.1"), "", "for its own memory"),
        (REPREX, "15.3 times as long", "No reader knows"),
        (GCC.format(parsing=55, code=14), "overload resolution has 48 %", "making of code"),
        (GCC.format(parsing=9, code=91), "making of code", "precompiled ones"),
        (GCC.format(parsing=49, code=49), "", "of the time of this report"),
        (CLANG.format(total="0.0008"), "So short a compilation", "of the time of this report"),
        (CLANG.format(total="1.8"), "AlwaysInlinerPass takes 59.6 %", "So short"),
        (BUILD, "Parsing takes 90.1 %", "making of code"),
    ],
)
def test_only_what_a_fresh_report_shows(log: str, says: str, silent: str) -> None:
    explained = of_content("log", log.encode(), Machine())
    said = " ".join([*(own.explanation for own in explained.findings), *explained.notes])
    said = said.replace("\xa0", " ")
    assert says in said
    assert silent not in said


def test_a_deviation_is_no_change() -> None:
    (report,) = of_content("log", HASHES.encode(), Machine()).reports
    assert [own.statistic for own in report.results if own.unit == "%"] == ["given", "given"]
