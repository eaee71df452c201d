"""Causes in scores of processors, counters and monitors of one machine: each in a log that has it,
and in one next to it that has not. The logs here are made up."""

from __future__ import annotations

import pytest

from benchbook.explain.api import Machine, of_content

COREMARK = """2K performance run parameters for coremark.
CoreMark Size    : 666
Total ticks      : {ticks}
Total time (secs): {time}
Iterations/Sec   : {rate}
Iterations       : 2000
Compiler flags   : {flags}
"""
CIPHERS = """# Tests are approximate using memory only (no storage IO).
     aes-xts   256b    {aes} MiB/s    {aes} MiB/s
 twofish-xts   256b    190.0 MiB/s    191.5 MiB/s
"""
PAIRS = """Num cores: 6
Using RDTSC to measure time: {rdtsc}
Num round trips per samples: {trips}
Num samples: 300
       0       1       2       3       4       5
  0
  1   {a}±6
  2   {b}±6    {b}±6
  3   {b}±6    {a}±6    {b}±6
  4   {c}±6    {b}±6    {b}±6    {c}±6
  5   {b}±6    {a}±6    {b}±6    {b}±6    {b}±6
"""
SLOTS = """# 4.1-full-perf on Intel(R) Xeon(R) Gold 6140 CPU @ 2.30GHz [skx]
BE             Backend_Bound    % Slots                   {back}
MUX                             %                         {turns}
"""
CLOCKS = """analyzing CPU 0:
  hardware limits: 800 MHz - 4.80 GHz
  current CPU frequency is {mhz}.
"""
BUSY = """CPU max frequency: 4600 MHz
CPU0:   {busy}%     68 °C     2123 MHz
CPU1:   100.0%     68 °C     2124 MHz
"""
PROFILE = """# Samples: 12K of event 'cycles'
# Event count (approx.): 9876543210
    {share}%  work     libgomp.so.1.0.0    [.] gomp_team_barrier_wait_end
    20.10%  work     work               [.] multiply
    10.06%  work     libgomp.so.1.0.0    [.] gomp_barrier_wait_end
"""
PARTS = """The benchmark took:
Total time (seconds):           {total}
 Assembly time (seconds):        0.92 (Failed: 0.0; 0.0%)
 Linear solve time (seconds):    0.25
 Output write time (seconds):   14.23
"""
EVENTS = """$ sysbench cpu {asked}run
sysbench 1.0.5 (using system LuaJIT 2.0.4)

Number of threads: 1

General statistics:
    total time:                          {time}s
    total number of events:              7384

Latency (ms):
         min:                                  1.21
         avg:                                  1.35
"""
SCORES = """Geekbench with this change: Single-C = {one}; Multi-C = 1572
Geekbench without this change: Single-C = 873; Multi-C = 1878
"""
STRESSED = """stress-ng: info:  [77] stressor       bogo ops real time  usr time  sys time
stress-ng: info:  [77] clone  49271  29.00  {user}  0.00  1698.98  0.00
$ echo done
"""
CLUSTER = """CommWorldProcs=4
HPL_Tflops={solved}
StarDGEMM_Gflops=25.0
StarSTREAM_Triad={star}
SingleSTREAM_Triad=9.0
"""
COPIES = """4 CPUs in system; running 1 parallel copy of tests

Pipe-based Context Switching                 137573.5 lps   (10.0 s, 7 samples)
4 CPUs in system; running 4 parallel copies of tests

Pipe-based Context Switching                 {rate} lps   (10.0 s, 7 samples)
"""
IN_PARALLEL = """num hardware threads:
32
execution_time sequential in ms:
9.2111289999999997
execution_time parallel in ms:
{parallel}
"""
GUESSES = """Benchmarking: SunMD5 [MD5 256/256 AVX2 8x3]... ({threads}xOMP) DONE
Raw:	4682 c/s real, 1185 c/s virtual
"""
OPENSSL = """type             16 bytes     64 bytes    256 bytes   1024 bytes   8192 bytes
{row}      90320.55k   101336.58k   104107.69k   104910.78k   105305.43k
"""


def all_words(log: str) -> str:
    """What all findings and notes of a log say, as one text."""
    explained = of_content("log", log.encode(), Machine())
    return " ".join([*(own.explanation for own in explained.findings), *explained.notes])


@pytest.mark.parametrize(
    ("log", "faulty", "clean", "words"),
    [
        (
            COREMARK,
            {"ticks": 9700, "time": "9.700000", "rate": "206.185567", "flags": "-O2"},
            {"ticks": 10700, "time": "10.700000", "rate": "186.915888", "flags": "-O2"},
            "no valid score",
        ),
        (
            COREMARK,
            {"ticks": 10700, "time": "10.700000", "rate": "186.915888", "flags": "-O0 -g"},
            {"ticks": 10700, "time": "10.700000", "rate": "186.915888", "flags": "-O0 -g -O2"},
            "did not optimise",
        ),
        (
            COREMARK,
            {"ticks": 15538, "time": "15", "rate": "133", "flags": "-O2"},
            {"ticks": 15038, "time": "15", "rate": "133", "flags": "-O2"},
            "cut to whole seconds",
        ),
        (CIPHERS, {"aes": "201.5"}, {"aes": "1201.5"}, "runs in software"),
        (OPENSSL, {"row": "aes-128 cbc"}, {"row": "aes-128-cbc"}, "without -evp"),
        (
            PAIRS,
            {"rdtsc": "false", "trips": 5000, "a": 5, "b": 21, "c": 26},
            {"rdtsc": "false", "trips": 50000, "a": 5, "b": 21, "c": 26},
            "system clock of Windows",
        ),
        (
            PAIRS,
            {"rdtsc": "false", "trips": 5000, "a": 0, "b": 24, "c": 29},
            {"rdtsc": "false", "trips": 5000, "a": 8, "b": 24, "c": 29},
            "no two cores can have",
        ),
        (SLOTS, {"back": 53.8, "turns": 33.3}, {"back": 53.8, "turns": 100.0}, "took turns"),
        (SLOTS, {"back": 53.8, "turns": 100.0}, {"back": 23.8, "turns": 100.0}, "back end"),
        (SLOTS, {"back": 53.8, "turns": 100.0}, {"back": 53.8, "turns": 33.3}, "back end"),
        (CLOCKS, {"mhz": "400 MHz"}, {"mhz": "1.20 GHz"}, "below the lowest clock"),
        (BUSY, {"busy": "99.0"}, {"busy": "12.0"}, "none runs faster"),
        (PROFILE, {"share": "45.32"}, {"share": "5.32"}, "Threads of OpenMP spin"),
        (PROFILE, {"share": "19.45"}, {"share": "8.06"}, "2 such functions have 29.51 % together"),
        (PARTS, {"total": 17.27}, {"total": 67.27}, "82 % of 17.27"),
        (EVENTS, {"asked": "", "time": "10.0009"}, {"asked": "", "time": "7.2"}, "time limit"),
        (
            EVENTS,
            {"asked": "--events=10000 ", "time": "10.0009"},
            {"asked": "--events=7384 ", "time": "10.0009"},
            "asks for 10,000 events",
        ),
        (SCORES, {"one": 449}, {"one": 753}, "not for one thread"),
        (STRESSED, {"user": "0.00"}, {"user": "3.50"}, "was not counted"),
        (COPIES, {"rate": "63110.2"}, {"rate": "237573.5"}, "hold each other up"),
        (IN_PARALLEL, {"parallel": 87.977322}, {"parallel": 1.977322}, "9.55 times"),
        (GUESSES, {"threads": 16}, {"threads": 4}, "3.95 CPUs were busy"),
        (CLUSTER, {"solved": 0.08, "star": 2.9}, {"solved": 0.08, "star": 8.1}, "share the memory"),
        (CLUSTER, {"solved": 0.02, "star": 8.1}, {"solved": 0.08, "star": 8.1}, "20 % of that"),
    ],
)
def test_what_is_wrong_is_said_and_only_that(
    log: str, faulty: dict[str, object], clean: dict[str, object], words: str
) -> None:
    assert words in all_words(log.format(**faulty))
    assert words not in all_words(log.format(**clean))


@pytest.mark.parametrize(
    ("log", "tool", "figures"),
    [
        (" BT-MZ Benchmark Completed.\n Class = C\n Time in seconds = 14.35\n", "npb", 1),
        ("Set   267745.41 MB/s\nFill   258916.39 MB/s\n", "figures", 2),
        ("memcpy: 2823.1 MB/s\nmemset: 6488.5 MB/s (2.4%)\n", "figures", 2),
        ("Speedup (serial/parallel):  1.796 x\nWall time: 3.2 s\n", "figures", 2),
        ("     2.02%  [kernel]  [k] a\n     1.80%  [kernel]  [k] b\n 1.6%\n", None, 0),
        (
            "     2.02%  [kernel]  [k] a\n 1.80%  [kernel]  [k] b\n 1.64%  x.so  [.] c\n",
            "perf-record",
            3,
        ),
        ("copy(aligned): fast=48ms plain=35 ms\ncopy(odd): fast=49ms plain=33 ms\n", "figures", 4),
        ("timeout: 30 s\ninterval: 5 ms\n", None, 0),
        ("# time: 3 s\n", "text", 1),
        (
            "|       Socket0        |       Socket1        |\n"
            "| Mem Ch 3: Reads (MB/s): 6867.47 | Mem Ch 3: Reads (MB/s): 7403.66 |\n"
            "| NODE0 Mem Read (MB/s) :  27478.96  |  NODE1 Mem Read (MB/s) :  29624.51  |\n",
            "pcm-memory",
            4,
        ),
    ],
)
def test_figures_of_lists_that_were_not_read(log: str, tool: str | None, figures: int) -> None:
    record = of_content("log", log.encode(), Machine()).record()
    assert (record["tool"], len(record["results"])) == (tool, figures)


def test_heads_that_lost_the_first_one_are_of_the_columns_to_their_right() -> None:
    log = "DDR4 Bandwidth | DDR4 Efficiency | |\n---|---|---|\ncopy | 2448MB/s | 77% |\n"
    log += "scale | 2372MB/s | 74% |\n"
    results = of_content("log", log.encode(), Machine()).record()["results"]
    assert [row["name"] for row in results if row["unit"] == "MB/s"] == ["DDR4 Bandwidth"] * 2
