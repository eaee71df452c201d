"""Causes that a log shows and does not name: runs that nobody compared, statistics of
few runs, shares, first runs, growth, and messages of harnesses. Each with a near miss."""

from __future__ import annotations

import pytest

from benchbook.explain.api import Machine, of_content
from benchbook.explain.clean.pipeline import log_of
from benchbook.explain.context import error_messages
from benchbook.explain.model import Report
from benchbook.explain.rules import rules

ONE_LONG = """Benchmark 1: ./climb
  Time (mean ± σ):     930.9 ms ±  {deviation} ms    [User: 929.2 ms, System: 1.4 ms]
  Range (min … max):   883.2 ms … {most} ms    {runs} runs
"""
TWO_RUNS = """| Command | Mean [s] | Min [s] | Max [s] | Relative |
|:---|---:|---:|---:|---:|
| `old` | 112.435 ± {deviation} | {least} | 115.906 | 1.00 |
| `new` | 222.313 ± 1.100 | 221.475 | 223.150 | 1.98 ± 0.09 |
"""
GO_TWICE = """on main:
BenchmarkInit-12     	      10	    413688 ns/op
BenchmarkFull-12     	      10	2493167343 ns/op
on this branch:
BenchmarkInit-12     	      10	    {init} ns/op
BenchmarkFull-12     	      10	{full} ns/op
"""
SHARES = """Name | Calls | TotalDuration | Percentage
-- | -- | -- | --
{part} | 2 | 157178 | {share}
kernel_a | 1 | 26211 | {rest}
kernel_b | 53 | 334 | 0.18
"""
FIRST = "\n".join(
    f"Bandwidth: {own} GB/s" for own in ("{first}", "18.32", "19.69", "19.41", "18.45", "19.69")
)
GROWTH = """BM_convolve/16                  8144 ns       8137 ns      64926
BM_convolve/64                {middle} ns     {middle} ns       2926
BM_convolve/512             {last} ns   {last} ns         41
"""
GOOGLE = "Benchmark                          Time           CPU Iterations\n"
SWITCH = """| model | backend | nkvo | test | t/s |
| --- | --- | ---: | --- | ---: |
| llama 7B | CUDA | 0 | {tests[0]} | 4035.47 ± 57.68 |
| llama 7B | CUDA | 0 | tg 128 | 127.43 ± 0.18 |
| llama 7B | CUDA | 1 | {tests[1]} | 237.84 ± 10.28 |
| llama 7B | CUDA | 1 | tg 128 | {last} ± 2.35 |
"""
HELP = """# ./rocm-bandwidth-test -v
Supported arguments:
{0}-h    Prints the help screen
{0}-q    Query version of the test
{0}-v    Run the test in validation mode
"""


def _said(text: str) -> str:
    told = of_content("log", text.encode(), Machine())
    return "\n".join([*(own.explanation for own in told.findings), *told.notes])


SERVED = """100%|██████████| {sent}/{sent} [00:02<00:00, 34.85it/s]
============ Serving Benchmark Result ============
Successful requests:                     {done}
Benchmark duration (s):                  2.87
Mean ITL (ms):                           6.21
Median ITL (ms):                         {median}
"""
PREVIOUS = """| Benchmark | Previous | Current | Ratio |
|-----------|---------:|--------:|------:|
| Time | 262.02 µs | {} µs | 7637.41 |
"""
SIZES = """# OSU MPI Latency Test v5.4.1
# Size          Latency (us)
0                       {}
1                       {}
2                       {}
4                       {}
1024                    {}
1048576                 {}
"""
OSU = """# OSU MPI Bandwidth Test v5.6.2
# Size      Bandwidth (MB/s)
524288               1774.67
1048576              1784.32
2097152              1785.41
{said}
"""


@pytest.mark.parametrize(
    ("kind", "text", "words", "near_miss"),
    [
        (
            "alone makes at least",
            ONE_LONG.format(deviation="92.7", most="1320.7", runs=20),
            "The longest of the 20 runs, 1,320.7 ms (line 3), alone makes at least 93 %",
            ONE_LONG.format(deviation="92.7", most="1120.7", runs=20),
        ),
        (
            "alone makes",
            ONE_LONG.format(deviation="92.7", most="1320.7", runs=20),
            "alone makes at least 93 % of the variance. The deviation is 92.7 ms. The other "
            "19 have a mean of 910.38 ms, where 930.9 is printed",
            ONE_LONG.format(deviation="92.7", most="1320.7", runs=500),
        ),
        (
            "Only two runs",
            TWO_RUNS.format(deviation="4.908", least="108.965"),
            "Only two runs have such statistics",
            TWO_RUNS.format(deviation="3.471", least="108.965"),
        ),
        (
            "that both runs have",
            GO_TWICE.format(init=742025, full=2632499614),
            "All 2 times and rates that both runs have are slower in the second, by a factor "
            "of 1.056 to 1.794.",
            GO_TWICE.format(init=413700, full=2493167000),
        ),
        (
            "that both runs have",
            GO_TWICE.format(init=742025, full=1632499614),
            "Of 2 times and rates that both runs have, 1 is slower in the second, by a factor "
            "of up to 1.794. That is",
            GO_TWICE.format(init=419000, full=2393167343),
        ),
        (
            "of the whole (line",
            SHARES.format(part="CopyHostToDevice", share="85.46", rest="14.25"),
            "CopyHostToDevice has 85.46 % of the whole (line 3), more than all others "
            "together. These are copies",
            SHARES.format(part="CopyHostToDevice", share="47.46", rest="52.25").replace("52", "32"),
        ),
        (
            "The first of 6",
            FIRST.format(first="14.86"),
            "The first of 6 such lines has 14.86 GB/s (line 1), 0.785 times their middle",
            FIRST.format(first="24.86"),  # faster than the others: nothing that is done once
        ),
        (
            "the size grows",
            GOOGLE + GROWTH.format(middle=237828, last=17582157),
            "the size grows by a factor of 32, but the time by 2,159",
            GOOGLE + GROWTH.format(middle=33000, last=282157),
        ),
        (
            "differ only in nkvo",
            SWITCH.format(tests=("pp 512", "pp 512"), last="59.99"),
            "differ only in nkvo (first lines 3 and 5). t/s is 2.12 to 17 times as high with "
            "nkvo 0",
            SWITCH.format(tests=("pp 512", "pp 512"), last="159.99"),  # both ways
        ),
        (
            "help of a program",
            HELP.format("    "),
            "That is the help of a program, with its options, and no result",
            HELP.format("    See "),
        ),
        (
            "The progress bar counts",
            SERVED.format(sent=100, done=1, median="6.20"),
            "The progress bar counts 100 requests (line 1), and 1 succeeded (line 3).",
            SERVED.format(sent=100, done=99, median="6.20"),
        ),
        (
            "arrive right behind another one",
            SERVED.format(sent=100, done=100, median="0.02"),
            "So at least half of the tokens arrive right behind another one",
            SERVED.format(sent=100, done=100, median="5.02"),
        ),
        (
            "is a factor of",
            PREVIOUS.format("2001450.97"),
            "From 262.02 us to 2,001,450.97 us (line 3) is a factor of 7,639. The longer one is "
            "just above 2 s",
            PREVIOUS.format("2201.97"),
        ),
        (
            "differ in one direction at all",
            SIZES.format(0.52, 0.60, 0.61, 0.64, 1.21, 139.4)
            + SIZES.format(0.72, 0.78, 0.77, 0.9, 1.81, 179),
            "differ in one direction at all 6 common sizes",
            SIZES.format(0.52, 0.60, 0.61, 0.64, 1.21, 139.4)
            + SIZES.format(0.55, 0.63, 0.60, 0.66, 1.25, 141),
        ),
        (
            "The highest rate here",
            OSU.format(said="I reach ~10GB/s with `-mca pml ^ucx`."),
            "The highest rate here is 1,785.41 MB/s (line 5), 5.6 times less.",
            OSU.format(said="I expect ~10GB/s with `-mca pml ^ucx`."),
        ),
    ],
)
def test_what_nobody_says(kind: str, text: str, words: str, near_miss: str) -> None:
    assert kind in words
    assert words in _said(text)
    assert kind not in _said(near_miss)


LINES = {
    "jmh-no-match": "No matching benchmarks. Miss-spelled regexp?",
    "go-killed": "signal: killed",
    "libtest-option": "error: Unrecognized Option: 'save-baseline'",
    "pytest-benchmark-disabled": "PytestBenchmarkWarning: Benchmarks are automatically disabled "
    "because xdist plugin is active.",
    "srun-tasks-per-node": "srun: Warning: can't honor --ntasks-per-node set to 4 which doesn't "
    "match the requested tasks 16",
    "mpich-signal": "=   KILLED BY SIGNAL: 11 (Segmentation fault)",
    "openmp-fewer-threads": "OMP: Warning #96: Cannot form a team with 128 threads, using 64 "
    "instead.",
    "hpl-too-few-processes": "Need at least 16 processes for these tests",
    "gromacs-too-many-threads": "results in using 40 OpenMP threads per rank, which is most likely "
    "inefficient.",
    "ucx-no-such-device": "UCX  WARN network device 'mlx5_2:1' is not available",
    "pcm-no-msr": "PCM Error: can't open MSR handle for core 0",
    "npb-internal-error": " internal error in sparse: i=         7295",
    "nvbench-throttled": "Warn: GPU throttled below threshold (827.15 MHz / 1410.00 MHz) (59%)",
    "rows-too-noisy": "| 01 | 190.50 | 205.14 | +8% | (deviation too high) |",
    "torch-memory": "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
    "vllm-cache-too-small": "ValueError: The model's max seq len (32768) is larger than the "
    "maximum number of tokens that can be stored in KV cache (12345).",
    "make-no-target": "make: *** No rule to make target 'bench'.  Stop.",
    "old-cpp-library": "libstdc++.so.6: version `GLIBCXX_3.4.29' not found (required by ./bench)",
    "node-missing": "npm ERR! missing script: bench",
    "reframe-reference": "failed to meet reference: triad=12345.0, expected 20000.0 (l=18000.0, "
    "u=inf)",
    "turbostat-msr": "turbostat: msr 0 offset 0xe8 read failed: Input/output error",
}
OTHERS = (
    "Need at least 16 processes for a good figure",
    "We built it with Xdebug disabled and all is well",
    "signal: killed the noise by averaging",
    "network device 'mlx5_2:1' is available",
    "| 01 | 190.50 | 205.14 | +8% | 0.0001 |",
)


@pytest.mark.parametrize("name", LINES)
def test_messages_of_runs(name: str) -> None:
    (message,) = error_messages.messages(log_of(f"$ ./run\n{LINES[name]}\n".encode()))
    assert message.entry.name == name
    assert "{" not in message.means + message.remedy


def test_near_misses_of_messages() -> None:
    assert not error_messages.messages(log_of("\n".join(OTHERS).encode()))


def test_a_message_alone_fails_no_rule() -> None:
    tools = {entry.tool for entry in error_messages.entries()}
    for tool in sorted(tools):
        for own in rules():
            list(own.check([Report(tool, [], 1)], Machine()))


def test_failed_requests_of_a_served_model_are_said_once() -> None:
    text = SERVED.format(sent=100, done=94, median="6.20")
    said = _said(text.replace("Benchmark dur", "Failed requests:          6\nBenchmark dur"))
    assert said.count("6 requests failed") == 1
    assert "please report" not in said
