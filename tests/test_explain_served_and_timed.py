"""Benchmarks of serving, of loops and of several devices: what is said of logs that show a fault,
and not of ones nearby. The logs are made up."""

# ruff: noqa: E501 (logs have longer lines, and signs of their own)

from __future__ import annotations

import pytest

from benchbook.explain.api import Machine, of_content


def words_about(text: str) -> str:
    """All that is said of a log, findings and notes."""
    explained = of_content("x", text.encode(), Machine())
    said = [*(finding.explanation for finding in explained.findings), *explained.notes]
    return " ".join([*said, explained.trouble]).replace("\N{NO-BREAK SPACE}", " ")


SERVED = """============ Serving Benchmark Result ============
Traffic request rate:                    {asked}
Successful requests:                     1000
{failed}Benchmark duration (s):                  40.00
Total generated tokens:                  {tokens}
Request throughput (req/s):              25.00
---------------Time to First Token----------------
Mean TTFT (ms):                          {first}
-----Time per Output Token (excl. 1st token)------
Mean TPOT (ms):                          {each}
Median TPOT (ms):                        48.84
P99 TPOT (ms):                           211.21
"""
OLD_SERVED = """Namespace(backend='vllm', num_prompts=1000, request_rate={asked}, seed=0)
Total time: 160.00 s
Throughput: 6.25 requests/s
Average latency: {latency} s
Average latency per token: 0.21 s
Average latency per output token: 1.10 s
"""
LOADGEN = """MLPerf Results Summary
Scenario : Offline
Samples per second: 122.115
Result is : {verdict}
  Min duration satisfied : {duration}
  Min queries satisfied : Yes
Recommendations:
 * Increase expected QPS.
Min latency (ns)                : 818898623
Max latency (ns)                : {most}
Mean latency (ns)               : 818898623
99.00 percentile latency (ns)   : {most}
1 ERROR encountered. See detailed log.
"""
CELERO = """[ RUN      ] Sum.f32 @ 512 [10 samples of 10 calls each.]
[     DONE ] Sum.f32 0.000287 sec. [287 us] [28.700000 us/call] [34843.205575 calls/sec]
[ BASELINE ] Sum.f32 {ratio} [SD: {spread}, V: 15057.511111, K: -1.632938]
"""
CELERO_TABLE = """| Group | Experiment | Prob. Space | Samples | Iterations | Baseline | us/Iteration | Iterations/sec |
|:-----:|:----------:|:-----------:|:-------:|:----------:|:--------:|:------------:|:--------------:|
|wkt    | to_string  |           1 |      30 |     262144 |  1.00000 |      0.94479 |     1058436.00 |
|wkt    | fast       |           1 |      30 |     262144 |  0.50000 |      0.47240 |     2116872.00 |
"""
POOP = """Benchmark 1 ({runs} runs): before/zig build-exe ...
  measurement          mean ± σ            min … max           outliers         delta
  wall_time          48.7s  ±  192ms    48.5s  … 48.8s           0 ( 0%)        0%
Benchmark 2 ({runs} runs): after/zig build-exe ...
  measurement          mean ± σ            min … max           outliers         delta
  wall_time          49.6s  ±  141ms    49.5s  … 49.8s           0 ( 0%)        {wall}
  cpu_cycles          212G  ± 1.53G      211G  … 214G            0 ( 0%)          +  0.2% ±  1.3%
  instructions        274G  ± 1.92G      273G  … 277G            0 ( 0%)          +  {work}% ±  1.1%
"""
DENO = "bench URL parsing ... 250 iterations 23,063 ns/iter ({least}..356,041 ns/iter) ok (1s)\n"
SPEEDS = """{many} GPU
INFO:root:Epoch[0] Batch [15940-15960]  Speed: {slow} samples/sec        acc=0.477344
INFO:root:Epoch[0] Batch [15960-15980]  Speed: {slow} samples/sec        acc=0.477734
1 GPU
root        : INFO     Epoch[0] Batch [3060-3080]       Speed: 114.39 samples/sec       acc=0.600000
"""
PROSE = "When I train it with nGPU=4, one batch takes {long}s; but when nGPU=1, one batch takes only 0.48s.\n"
PROMPTS = """llama_print_timings: prompt eval time = 146712.89 ms /  1294 tokens (  {slow} ms per token)
llama_print_timings:        eval time = 15896.38 ms /    64 runs   (  248.38 ms per token)
llama_print_timings: prompt eval time = 10762.28 ms /  {count} tokens (    8.64 ms per token)
llama_print_timings:        eval time = 34006.30 ms /   110 runs   (  309.15 ms per token)
"""
QUARTILES = """Mean = 164.000 ns, StdErr = 5.416 ns (3.30%), N = 100, StdDev = 54.160 ns
Min = {least} ns, Q1 = 100.000 ns, Median = 200.000 ns, Q3 = 200.000 ns, Max = 300.000 ns
Skewness = -0.38, Kurtosis = 2.46, MValue = {mode}
"""
HISTOGRAM = """-------------------- Histogram --------------------
[113.0 ms ; 131.3 ms) | @@@@@@@@@@@@@@@@@@@@@@
[131.3 ms ; 151.3 ms) | {middle}
[151.3 ms ; 162.2 ms) | @@@@@@@
"""
ZERO = "  Flat.Sorted: DefaultJob -> The method duration is {how} the empty method duration\n"
DCGM = """|-----  Metadata  ----------+------------------------------------------------|
| DCGM Version              | 4.2.3                                          |
| GPU Memory                | Pass - GPU: 1                                  |
|                           | {verdict} - GPU: 0                                  |
"""
HELD = """|   0  Tesla V100-SXM2...  Off  | 00000000:40:00.0 Off |                    0 |
| N/A   34C    P0    55W / 300W |   {used}MiB / 16160MiB |      0%      Default |
"""
SAMPLED = "imaging_desaturate x 6.76 ops/sec ±{error}% (25 runs sampled)\n"
TOO_SHORT = """| Item    | old ms | new ms | Change | p-value              |
|---------|--------|--------|--------|----------------------|
| 10a     |  42.63 |  39.93 |   -6%  | {p} |
"""
PEAK = "The memory is measured to {rate} GB/s for read, when maximum theoretical is ~135 GB/s.\n"
CHANGED = """remap: parse JSON with json_parser     1.0414 us  -2.1158%      none
remap: coerce with coercer             1.7378 us  -2.4022%      improved
elasticsearch_indexes/static           172.38 ns  -2.4084%      none
"""
WARMING = """# Warmup Iteration   1: 847885.303 ops/ms
# Warmup Iteration   2: 869209.997 ops/ms
Iteration   1: 851585.492 ops/ms
"""
DCGM_BUSY = """+-----  Hardware  ----------+------------------------------------------------+
|                           | ate CUDA context: 'CUDA-capable device(s) is/  |
|                           | are busy or unavailable'. Rerun diagnostics.   |
"""


@pytest.mark.parametrize(
    ("log", "words"),
    [
        (SERVED.format(asked="inf", failed="", tokens=90000, first="9626.13", each="77.86"), "All were sent at once"),
        (SERVED.format(asked="inf", failed="", tokens=90000, first="9626.13", each="77.86"), "mean of 77.86 ms"),
        (SERVED.format(asked="inf", failed="", tokens=1000, first="9626.13", each="50.0"), "are one each"),
        (SERVED.format(asked="25", failed="Failed requests:  7\n", tokens=90000, first="90.1", each="50.0"), "7 requests failed"),
        (OLD_SERVED.format(asked="200.0", latency="67.59"), "200 a second were asked for"),
        (LOADGEN.format(verdict="INVALID", duration="NO", most=818898623), "min duration not satisfied"),
        (LOADGEN.format(verdict="INVALID", duration="NO", most=818898623), "the same number"),
        (LOADGEN.format(verdict="VALID", duration="Yes", most=918898623), "met 1 error"),
        (CELERO.format(ratio="inf", spread="122.709051"), "deviate by 122.709 us"),
        (CELERO.format(ratio="inf", spread="12.7"), "no number: the baseline"),
        (POOP.format(runs=3, wall="💩+  1.9% ±  0.8%", work="0.3"), "neither cycles nor instructions"),
        (POOP.format(runs=3, wall="+  1.9% ±  2.8%", work="0.3"), "has 0 in it"),
        (POOP.format(runs=3, wall="+  1.9% ±  2.8%", work="0.3"), "one of 3 runs"),
        (DENO.format(least="208"), "the mean stands for none"),
        (SPEEDS.format(many=2, slow="30.60"), "more devices make the whole slower"),
        (PROSE.format(long="2.3"), "nothing would be gained"),
        (PROMPTS.format(slow="113.38", count=1245), "compute prompts in two ways"),
        (QUARTILES.format(least="0.000", mode="3.28"), "one tick of .NET's clock"),
        (QUARTILES.format(least="0.010", mode="3.28"), "takes the times for bimodal"),
        (HISTOGRAM.format(middle=""), "fall into groups"),
        (ZERO.format(how="indistinguishable from"), "takes no longer than an empty one"),
        (DCGM.format(verdict="Fail"), "A test of dcgmi diag failed"),
        (DCGM_BUSY, "could not use this GPU"),
        (PEAK.format(rate="149"), "Nothing passes its own peak"),
        (PEAK.format(rate="49"), "something else limits"),
        (CHANGED, "no improvement and no regression"),
        (HELD.format(used="6671"), "but it was idle (0 %)"),
        (SAMPLED.format(error="69.70"), "is known to ± 70 % only"),
        (TOO_SHORT.format(p="(run time too short)"), "too short a time to be tested"),
    ],
)  # fmt: skip
def test_what_is_said(log: str, words: str) -> None:
    assert words in words_about(log)


@pytest.mark.parametrize(
    ("log", "words"),
    [
        (SERVED.format(asked="25", failed="Failed requests:  0\n", tokens=90000, first="90.1", each="50.0"), "wait at a time"),
        (SERVED.format(asked="25", failed="Failed requests:  0\n", tokens=90000, first="90.1", each="50.0"), "failed"),
        (OLD_SERVED.format(asked="7.0", latency="0.9"), "wait at a time"),
        (LOADGEN.format(verdict="VALID", duration="Yes", most=918898623), "same number"),
        (CELERO.format(ratio="1.2", spread="12.7"), "baseline"),
        (CELERO.format(ratio="1.2", spread="12.7"), "deviate"),
        (CELERO_TABLE, "baseline took"),
        (POOP.format(runs=30, wall="💩+  1.9% ±  0.8%", work="1.9"), "neither cycles nor instructions"),
        (POOP.format(runs=30, wall="💩+  1.9% ±  0.8%", work="1.9"), "one of 3"),
        (DENO.format(least="20,208"), "stands for none"),
        (SPEEDS.format(many=2, slow="214.60"), "slower"),
        (PROSE.format(long="0.53"), "gained"),
        (PROMPTS.format(slow="9.38", count=1245), "another way"),
        (PROMPTS.format(slow="113.38", count=24), "another way"),
        (QUARTILES.format(least="0.010", mode="2.28"), "bimodal"),
        (QUARTILES.format(least="0.010", mode="2.28"), "tick of"),
        (HISTOGRAM.format(middle="@@@"), "fall into groups"),
        (ZERO.format(how="far above"), "than an empty one"),
        (DCGM.format(verdict="Pass"), "failed for a GPU"),
        (PEAK.format(rate="119"), "passes its own peak"),
        (PEAK.format(rate="119"), "something else limits"),
        (HELD.format(used="  71"), "but it was idle"),
        (SAMPLED.format(error="1.70"), "is known to"),
        (TOO_SHORT.format(p="0.0123"), "too short"),
    ],
)  # fmt: skip
def test_what_is_not_said(log: str, words: str) -> None:
    assert words not in words_about(log)


@pytest.mark.parametrize(
    ("log", "value"),
    [
        (SERVED.format(asked="25", failed="", tokens=90000, first="90.1", each="50.0"), 90.1),
        (LOADGEN.format(verdict="VALID", duration="Yes", most=918898623), 122.115),
        (CELERO_TABLE, 0.4724),
        (POOP.format(runs=30, wall="💩+  1.9% ±  0.8%", work="1.9"), 49.6),
        (DENO.format(least="208"), 23063),
        (CHANGED, 172.38),
        (WARMING, 851585.492),
        (PEAK.format(rate="119"), 135),
        (PROSE.format(long="0.53"), 0.48),
        ("Self CPU time total: 2.314ms\nSelf CUDA time total: 23.104us\n", 23.104),
    ],
)  # fmt: skip
def test_figures_are_read(log: str, value: float) -> None:
    reports = of_content("x", log.encode(), Machine()).reports
    assert value in [own.value for report in reports for own in report.results]


PHP = """| subject | its | revs | best | mean | mode | worst | stdev | rstdev |
| parse | {its} | 1 | 1.1s | 1.1s | 1.1s | 1.1s | 0.0s | 0.00% |
"""
RATES = """│ Task name │ Throughput average (ops/s) │ Throughput median (ops/s) │ Samples │
│ 'sum' │ '{mean} ± 0.89%' │ '82217 ± 14' │ 8398 │
"""
NOISE = """| ms | Samples | Min CPU Time | Max CPU Time | Noise | Min GPU Time | Max GPU Time | Noise |
|----|---------|--------------|--------------|-------|--------------|--------------|-------|
| 50 |     11x |    47.863 ms |    48.100 ms | {noise}% |  50.102 ms |    50.104 ms | 0.00% |
"""
WHOLE = "test sum ... bench: {time} ns/iter (+/- 1) = 1500 MB/s\n"
UNBOUNDED = """       │   old.txt   │           new.txt            │
       │   sec/op    │   sec/op     vs base         │
Sum-12   42.02n ± {error}   46.12n ± {error}  +9.76% (p=0.008 n=5)
"""
MODELESS = """Benchmark | Score | Error | Units
-- | -- | -- | --
Bench.run | 4246.027 | ± {error} | ms/op
Bench.run:gc.count | 135 |   | counts
"""
TESTED = """| Benchmark | old (iter/s) | new (iter/s) | change | p-value (significant if <0.001) |
|---|---|---|---|---|
| Q 1 | 0.30281263589859 | 0.309117287397385 | +2% | {p} |
| Q 2 | 4.84459018707275 | 4.85607624053955 | +0% | {p} |
| Q 3 | 1.89559817314148 | 1.90264272689819 | +0% | 0.0001 |
"""
LEVEL = """GPU[0] \t\t: GPU Clock Level: 1 (991Mhz)
GPU[0] \t\t: Current PowerPlay Level: {level}
"""
CALLS = """ Time (%)  Total Time (ns)  Num Calls  Avg (ns)  Med (ns)  Min (ns)  Max (ns)  StdDev (ns)  Name
 --------  ---------------  ---------  --------  --------  --------  --------  -----------  ----
     55.0   10,786,646,470          1  10,786,646,470.0  10,786,646,470.0  10,786,646,470  10,786,646,470  0.0  {name}
     45.0       98,765,432          1  98,765,432.0  98,765,432.0  98,765,432  98,765,432  0.0  fflush
"""
OUTLIERS = """mean is 5.257008 us (160001 iterations)
found 243504 outliers among 159999 samples ({percent}%)
"""
DEBUG = """* {word}
|     ns/op |     op/s | err% | total | benchmark
|----------:|---------:|-----:|------:|:---------
|     303.0 | 3,299.67 | 2.6% |  0.00 | `sum`
"""


@pytest.mark.parametrize(
    ("log", "near", "words"),
    [
        (PHP.format(its=1), PHP.format(its=10), "is one iteration"),
        (RATES.format(mean="102906"), RATES.format(mean="83906"), "25 % above its median"),
        (NOISE.format(noise="260.91"), NOISE.format(noise="2.91"), "time noise is 260.9 %"),
        (WHOLE.format(time=2), WHOLE.format(time=212), "printed without decimals"),
        (UNBOUNDED.format(error="∞ ¹"), UNBOUNDED.format(error="2%"), "knows no interval"),
        (MODELESS.format(error="3932.952"), MODELESS.format(error="32.952"), "is more than half"),
        (TESTED.format(p="0.0123"), TESTED.format(p="0.0003"), "Of 3 rows with a test, 2 have"),
        (LEVEL.format(level="manual"), LEVEL.format(level="auto"), "The level of GPU 0 is manual"),
        (CALLS.format(name="sem_wait"), CALLS.format(name="write"), "in which a thread waits"),
        (OUTLIERS.format(percent="152.2"), OUTLIERS.format(percent="52.2"), "More outliers than"),
        (DEBUG.format(word="NDEBUG not defined, assert() macros are evaluated"), DEBUG.format(word="NDEBUG"), "assertions were compiled in"),
    ],
)  # fmt: skip
def test_what_rows_do_not_show(log: str, near: str, words: str) -> None:
    assert words in words_about(log)
    assert words not in words_about(near)


PROGRESS = "benchRun # union.php...R1 I4 ✔ [Mo5.881ms vs. Mo5.795ms] +1.48% (±{percent}%)\n"
JMETER = "summary = 369427 in 00:01:21 = 4568.2/s Avg: 427 Min: 1 Max: 15673 Err: {errors} (0.8%)\n"
KERNELS = """Kernels   Bandwidths(GB/s) MinTime(s) MaxTime(s) AvgTime(s)
Add       77.046          8.16e-05 {most} 8.16e-05
Copy      65.102          6.44e-05 6.44e-05 6.44e-05
Dot       33.015          0.000127 0.000127 0.000127
"""
RATE_OF_JS = "sum x {rate} ops/sec ±0.51% (93 runs sampled)\n"
OF_R = """Unit: nanoseconds
 expr min  lq   mean median  uq  max neval
  f() {least} {least} {least}.1 {least} {least} {least} 100
"""
OF_CATCH = """benchmark name  samples  iterations  estimated
                mean     low mean    high mean
                std dev  low std dev high std dev
-------------------------------------------------
add                 100      130000     0 ns
                 {mean} ns    {mean} ns    {mean} ns
                0.001 ns    0.001 ns    0.002 ns
"""


@pytest.mark.parametrize(
    ("log", "near", "words"),
    [
        (PROGRESS.format(percent="2.70"), PROGRESS.format(percent="0.55"), "1 change lies within"),
        (JMETER.format(errors=2939), JMETER.format(errors=0), "2,939 of 369,427 requests failed"),
        (KERNELS.format(most="8.16e-05"), KERNELS.format(most="9.16e-05"), "measured once"),
        (RATE_OF_JS.format(rate="1,653,247,210"), RATE_OF_JS.format(rate="3,247,210"), "or removed it"),
        (OF_R.format(least=1), OF_R.format(least=311), "shorter than any call of R"),
        (OF_CATCH.format(mean="0.2"), OF_CATCH.format(mean="12.2"), "removed the work"),
    ],
)  # fmt: skip
def test_what_rows_hide(log: str, near: str, words: str) -> None:
    assert words in words_about(log)
    assert words not in words_about(near)


def test_lines_alike_are_samples() -> None:
    log = "".join(f"time {value} ms rate {1e9 / value:.0f}\n" for value in (794, 786, 788, 780))
    report = of_content("x", log.encode(), Machine()).reports[0]
    assert [own.statistic for own in report.results] == ["sample"] * 4
    swept = "".join(f"size {2**n} took {n + 3} ms\n" for n in range(5))
    own = of_content("x", swept.encode(), Machine()).reports[0].results
    assert {result.statistic for result in own} == {""}
