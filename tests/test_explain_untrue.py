"""Sentences that were untrue of real logs: what the log bears out is said, and no more."""

from __future__ import annotations

import pytest

from benchbook.explain.api import of_content
from benchbook.explain.render import print_explained
from benchbook.explain.rules import Machine

ROWS = """Function    Best Rate MB/s  Avg time     Min time     Max time
Copy:           90014.1     0.014581     0.014220     0.015416
Scale:          91318.6     0.014111     0.014017     0.015802
Add:            97299.2     0.019965     0.019733     0.020896
Triad:          98350.8     0.019845     0.019522     0.020835
"""
OF_80_MILLION = "`gcc stream.c -O3 -fopenmp -DSTREAM_ARRAY_SIZE=80000000 -o stream`\n"
TICK = "Your clock granularity/precision appears to be 1 microseconds.\n"
CLPEAK = """Platform: Intel(R) OpenCL Graphics
  Device: {device}
    Compute units   : 448
    Global memory bandwidth (GBPS)
      float   : 396.56
      float2  : 397.29
"""
BDN = """BenchmarkDotNet=v0.13.1, OS=Windows 10
Toolchain=InProcessEmitToolchain  InvocationCount=1  {job}
| Method |     Mean |     Error |  StdDev |
|------- |---------:|----------:|--------:|
|    Add | 164.2 ms | 113.78 ms | 6.24 ms |
|    Set | 155.4 ms |   6.20 ms | 0.34 ms |
"""
JMH = """Benchmark  Mode  Cnt    Score    Error  Units
A.add      avgt    3  164.200 ± 113.78  ms/op
A.set      avgt    3  155.400 ±   6.20  ms/op
"""
PROFILED = """Benchmark          Mode  Cnt    Score   Error   Units
A.add             thrpt    5  164.200 ± 1.100  ops/ms
A.add:·gc.time    thrpt    5   21.000               ms
"""
HYPERFINE = """Benchmark 1: node --version
  Time (mean ± σ):       2.1 ms ±   0.1 ms    [User: 1.9 ms, System: 0.2 ms]
  Range (min … max):     2.0 ms …   3.5 ms    1378 runs
"""
BSD_DD = """$ dd if=/dev/zero of=/Users/Shared/f bs=1m count=1024
1073741824 bytes transferred in 2.100 secs (511305630 bytes/sec)
"""
TWO_DDS = """dd if=/dev/zero of=/srv/f bs=1M count=1024 conv=fdatasync
dd if=/dev/zero of=/srv/g bs=1M count=1024
1073741824 bytes (1.1 GB, 1.0 GiB) copied, 2.1 s, 511 MB/s
1073741824 bytes (1.1 GB, 1.0 GiB) copied, 1.1 s, 976 MB/s
"""
FIO = "fio: pid=304, err=-1/file:ioengines.c:321, func=get_events, error=Unknown error -1\n"
TIME = "real\t4m0.220s\nuser\t0m22.352s\nsys\t0m28.356s\n"
UDP = """[ ID] Interval           Transfer     Bandwidth       Jitter    Lost/Total Datagrams
[  4]   0.00-10.00  sec  1.24 GBytes  1.06 Gbits/sec  0.001 ms  135795/162217 (84%)
[  4] Sent 162217 datagrams
"""
TABLE = """| PP |  TG | B | T_TG s | S_TG t/s |
|----|-----|---|--------|----------|
| 64 | 128 | 1 |  3.079 |    41.57 |
| 64 | 128 | 2 |  5.029 |    50.90 |
| 64 | 128 | 4 | 19.223 |    4{end}"""
NCCL_END = """# nThread 1 nGpus 1 minBytes 8 maxBytes 16 step: 2(factor) warmup iters: 5 iters: 20
#   size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong
       8      2  float   sum    -1  4.90   0.00   0.00      0  0.16   0.05   0.00      0
      16      4  float   sum    -1  4.11   0.00   0.00      0  0.16   0.10   0.00      0
# Avg bus bandwidth    : 0
"""
PERF = """ Performance counter stats for 'system wide':

   <not supported>      cycles
   <not supported>      instructions
   <not supported>      cache-misses

      10.000910410 seconds time elapsed
"""
DEVICE_RUN = """BabelStream
Version: 5.0
Implementation: {of}
Running kernels 100 times
Precision: double
Array size: 268.4 MB (=0.3 GB)
Total size: 805.3 MB (=0.8 GB)
Using {kind} device {name}
Function    MBytes/sec  Min (sec)   Max         Average
Copy        {rate}  0.02684     0.02790     0.02700
Mul         {rate}  0.02684     0.02790     0.02700
Add         {rate}  0.04026     0.04190     0.04050
Triad       {rate}  0.04026     0.04190     0.04050
Dot         {rate}  0.02684     0.02790     0.02700
"""

CRITERION = """parallel                time:   [224.43 us 227.90 us 231.96 us]
Found 10 outliers among 100 measurements (10.00%)
  5 (5.00%) high mild
  5 (5.00%) high severe
"""
SYSTEM_WIDE = """$ perf stat -a -e {event} {program}

 Performance counter stats for 'system wide':

     4,436,049,920      {event}

       0.620030717 seconds time elapsed
"""
VERBOSE_TIME = """        Command being timed: "./solve -j 24"
        User time (seconds): 13.45
        System time (seconds): 2.72
        Percent of CPU this job got: 586%
        Elapsed (wall clock) time (h:mm:ss or m:ss): 0:02.75
        Maximum resident set size (kbytes): 303284
        Exit status: 0
"""
BY_THREADS = """docs,threads,{name}_ms
100,1,1.9917
100,2,1.2836
100,4,1.1899
100,10,1.1958
500,1,{one}
500,2,{two}
500,4,{four}
500,10,{ten}
2000,1,36.1680
2000,2,19.0427
2000,4,10.4746
2000,10,4.8747
"""
POOP = """Benchmark 1 (3 runs): before/zig build-exe
  measurement          mean ± σ            min … max           outliers         delta
  wall_time          48.7s  ±  192ms    48.5s  … 48.8s           0 ( 0%)        0%
  cpu_cycles          212G  ±  770M      211G  …  212G           0 ( 0%)        0%
"""
SMALL_CHANGES = """benchmark                  old ns/op    new ns/op    delta
BenchmarkMinSmall                 12           13   +0.78%
BenchmarkMinMed                67208        66055   -1.72%
"""
PIDIGITS = "The benchmark swings:\npidigits: 188 ms +- 0 ms -> 208 ms +- 0 ms: 1.11x slower\n"
PRINTED_COMMAND = """# nThread 1 nGpus 1 minBytes 8 maxBytes 8 step: 1048576(bytes) iters: 20
#       size         count      type   redop     time   algbw   busbw  error
           8             2     float     sum    20.10    0.00    0.00  0e+00
"""
EXPONENT = """more MPI processes slow it down:
MPI Processes 1 | OpenMP Threads 20 |  simulation time = 6.8361e+02 seconds
MPI Processes 2 | OpenMP Threads 40 |  simulation time =  1.2219e+03 seconds
"""
GROWS = {"one": 8.8150, "two": 4.9774, "four": 2.7283, "ten": 1.3536}
STAYS = {"one": 8.8150, "two": 4.9774, "four": 4.7283, "ten": 4.6536}


def printed(log: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What explain prints of the log, in one line."""
    print_explained(of_content("log", log.encode(), Machine()), alone=True)
    return " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("log", "words"),
    [
        (TICK + ROWS, "clock resolution 1,000 ns"),
        (CLPEAK.format(device="Intel(R) Arc(TM) A750 Graphics"), "of the 512 GB/s"),
        (CLPEAK.format(device="Intel(R) Arc(TM) A770 Graphics"), "of the 560 GB/s"),
        (BDN.format(job="IterationCount=3"), "--launchCount 3 --iterationCount 20"),
        (BDN.format(job="Job=ShortRun"), "three iterations (ShortRun)"),
        (JMH, "forks and iterations (-f 3 -i 10)"),
        (FIO, "fio reports an error of a job"),
        (BSD_DD, "Its command does not wait for the disk"),
        (TIME, "For at least 78 % of it the command ran on no CPU"),
        (UDP, "Each datagram of about 8,210 bytes is cut into 6 frames"),
        (TABLE.format(end=""), "its last number is cut off"),
        (TABLE.format(end="\n"), "its last number is cut off"),
        (TABLE.format(end="5.10 |\n"), "PP 64, TG 128"),
        (PERF, "None of the processor's events was counted"),
        (OF_80_MILLION + ROWS, "array elements 80,000,000"),
        (ROWS, "Its rates and times make arrays"),
        (CRITERION, "may be why"),
        (POOP, "212,000,000,000"),
        (SMALL_CHANGES, "BenchmarkMinMed ns/op new in line 3 changes by -1.72 %"),
        (PIDIGITS, "mean 188 ms"),
        (EXPONENT, "1,221.9"),
        (SYSTEM_WIDE.format(event="cycles", program="./bench 3"), "not of ./bench alone"),
        (VERBOSE_TIME, "So 5.88 CPUs were busy"),
        (BY_THREADS.format(name="par", **STAYS), "improves beyond 2 threads"),
    ],
)
def test_what_is_said(log: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert words in printed(log, capsys)


@pytest.mark.parametrize(
    ("log", "words"),
    [
        (ROWS, "clock resolution"),
        (CLPEAK.format(device="NVIDIA GeForce RTX 4090 Laptop GPU"), "in its fastest version"),
        (BDN.format(job="IterationCount=3"), "-f 3"),
        (BDN.format(job="IterationCount=3"), "ShortRun"),
        (BDN.format(job="IterationCount=3"), "hyperfine"),
        (PROFILED, "has the mode"),
        (HYPERFINE, "says itself"),
        (FIO, "because a request failed"),
        (BSD_DD, "conv=fdatasync"),
        (TWO_DDS, "neither conv=fdatasync"),
        (UDP, "8,208"),
        (TABLE.format(end="5.10 |\n"), "cut off"),
        (TABLE.format(end="5.10 |"), "cut off"),
        (NCCL_END, "cut off"),
        (PERF, "only what the kernel counts"),
        (OF_80_MILLION + ROWS, "do not say"),
        (OF_80_MILLION.replace("80000000", "10000000") + ROWS, "array elements 10,000,000"),
        (CRITERION, "mean that other work ran"),
        (POOP, "allows at most"),
        (SMALL_CHANGES, "8.33 %"),
        (PIDIGITS, "figure 0 ms"),
        (PRINTED_COMMAND, "last command above"),
        (EXPONENT, "figure 3 s"),
        (SYSTEM_WIDE.format(event="uncore_imc_0/cas_count_read/", program="./bench"), "alone"),
        (SYSTEM_WIDE.format(event="cpu/cycles/", program=""), "alone"),
        (BY_THREADS.format(name="par", **GROWS), "no longer improves"),
        (BY_THREADS.format(name="seq", **STAYS), "no longer improves"),
        (
            DEVICE_RUN.format(of="CUDA", kind="CUDA", name="NVIDIA A100", rate="1355000.0")
            + DEVICE_RUN.format(of="OMP", kind="", name="", rate="20000.0"),
            "read them over the link",
        ),
    ],
)
def test_what_is_not_said(log: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert words not in printed(log, capsys)
