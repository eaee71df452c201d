"""Kinds of sentences that a review of real logs found untrue or not certain: each is said where the
log decides it, and not where it only looks alike. The logs are made up, but for their shapes."""

from __future__ import annotations

import pytest

from benchbook.explain.api import Machine, of_content


def statements(text: str) -> str:
    """All that is said of a log, findings and notes."""
    told = of_content("x", text.encode(), Machine())
    return " ".join([*(finding.explanation for finding in told.findings), *told.notes])


POOP = """new compiler:
Benchmark 1 (3 runs): before/zig build-exe ...
  measurement          mean ± σ            min … max           outliers         delta
  wall_time          48.7s  ±  192ms    48.5s  … 48.8s           0 ( 0%)        0%
Benchmark 2 (3 runs): after/zig build-exe ...
  measurement          mean ± σ            min … max           outliers         delta
  wall_time          49.6s  ±  141ms    49.5s  … 49.8s           0 ( 0%)        +  1.9% ±  0.8%
"""
COREMARK = """$ ./coremark.exe 0x{seed} 0x{seed} 0x66 0 7 1 2000
Total ticks      : 14733
Total time (secs): 14.733000
Iterations/Sec   : {rate}
Iterations       : 60000
"""
TWO_SCORES = COREMARK.format(seed=0, rate=4072.49) + COREMARK.format(seed=3415, rate=4087.47)
JMETER = (
    "summary + 147463 in 00:00:30 = 4926.1/s Avg:   405 Min:     1 Max:   727 "
    "Err:     {} Active: 2000 Started: 2000 Finished: 0\n"
)
MPI = """# OSU MPI Bandwidth Test v7.2
# Size      Bandwidth (MB/s)
64                     67.25
128                   {}
256                   260.92
512                   173.38
1024                  299.62
2048                  551.33
4096                  958.77
"""
RADOS = """Maintaining 512 concurrent writes of 4194304 bytes to objects of size 4194304 for 9 s
  sec Cur ops   started  finished  avg MB/s  cur MB/s last lat(s)  avg lat(s)
    1     511       772       261   1043.68      1044    0.602092    0.623632
    2     511      1573      1062   2123.42      2816    0.659609    0.628934
    3     511      2312      1801    2400.7      {}    0.695258    0.645583
"""
STRACE = """% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
100.00    0.003379           0    156119           {0}
------ ----------- ----------- --------- --------- ----------------
100.00    0.003379                156119           total
"""
FSYNC = """Local version:
Compare file sync methods using one 8kB write:
        fdatasync                         25315.125 ops/sec      40 usecs/op

Compare file sync methods using two 8kB writes:
        fdatasync                         {} ops/sec      22 usecs/op
"""
MLC = """Intel(R) Memory Latency Checker - v3.9
Measuring idle latencies{}(in ns)...
    Numa node
Numa node    0
    0   145.8
"""
DOTNET = """| Method | {0}   | Mean     | Error   | StdDev  | Ratio |
|------- |--------- |---------:|--------:|--------:|------:|
| Old    | .NET 6.0 | 125.2 us | 0.73 us | 0.69 us |  1.00 |
| Old    | .NET 7.0 | 130.5 us | 1.12 us | 1.05 us |  1.04 |
"""
UNIXBENCH = """| System Benchmarks Index Values | {} |
|-------|-------|-------|-------|
| Dhrystone 2 using register variables  | 3988.6 | 3524.0 | 6871.0 |
| Double-Precision Whetstone            | 1130.5 | 1182.6 | 1716.4 |
"""
TRIAL = """BenchmarkTools.Trial: 7 samples with 1 evaluation.
 Range (min … max):  4.462 s …    4.818 s  ┊ GC (min … max): 12.84% … 13.21%
 Time  (median):     4.596 s               ┊ GC (median):    13.28%
 Time  (mean ± σ):   {} s ± 115.322 ms  ┊ GC (mean ± σ):  13.24% ±  0.51%
"""


def test_a_time_of_a_clock_is_no_figure_before_its_colon() -> None:
    told = of_content("x", b"The build time improves from 0:47s to 0:43). It is faster.", Machine())
    assert not any(own.value == 0 for report in told.reports for own in report.results)


@pytest.mark.parametrize(
    ("text", "sign", "is_said"),
    [
        (TWO_SCORES, "apart by one run each", True),
        (POOP, "apart by one run each", False),
        (JMETER.format("0 (0.00%)"), "The fastest took 1 ms", True),
        (JMETER.format("12 (0.01%)"), "The fastest took 1 ms", False),
        (MPI.format(130.25), "From 256 B to 512 B", True),
        (MPI.format(84.75), "From 256 B to 512 B", False),
        (RADOS.format(2820), "at 704 a second each takes about 727 ms", True),
        (RADOS.format(39), "always under way", False),
        (STRACE.format("gettimeofday"), "where the program cannot read it itself", True),
        (STRACE.format("read"), "where the program cannot read it itself", False),
        (FSYNC.format("44658.595"), "what makes the difference", False),
        (MLC.format(" "), "mlc sees one node", True),
        (MLC.format(" for random access "), "mlc sees one node", False),
        (DOTNET.format("Runtime"), "time of the baseline", False),
        (UNIXBENCH.format("BASELINE | RESULT | INDEX"), "over the base of", True),
        (UNIXBENCH.format("host A | host B | host C"), "over the base of", False),
        (TRIAL.format("4.916"), "No set of samples", True),
        (TRIAL.format("4.616"), "No set of samples", False),
    ],
)
def test_what_the_review_found(text: str, sign: str, is_said: bool) -> None:
    assert (sign in statements(text)) == is_said, statements(text)
