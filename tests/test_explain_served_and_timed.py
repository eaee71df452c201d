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
