"""Causes that a log rules out or leaves open, each with a near miss where the cause is said."""

from __future__ import annotations

import pytest

from benchbook.explain.api import Machine, of_content

LINK = "a.o:a.c:(.text+0x1): relocation truncated to fit: R_X86_64_PC32 against {what}\n"
SUM = """BabelStream
Version: 4.0
Precision: float
Array size: 134.2 MB (=0.1 GB)
Validation failed on sum. Error {error}
Function    MBytes/sec  Min (sec)   Max         Average
Dot         374485.682  0.00072     0.00074     0.00072
"""
NETPERF = """$ netperf -t TCP_STREAM -H 10.10.1.2 -- -m 1500
MIGRATED TCP STREAM TEST from 0.0.0.0 () port 0 AF_INET to 10.10.1.2 () port 0 AF_INET : demo
Recv   Send    Send
Socket Socket  Message  Elapsed
Size   Size    Size     Time     Throughput
bytes  bytes   bytes    secs.    10^6bits/sec

131072  16384   1500    10.00    {rate}
"""
HYPERFINE = """Benchmark 1: slow
  Time (mean ± σ):     377.9 ms ±   4.7 ms    [User: 425.2 ms, System: 92.1 ms]
  Range (min … max):   365.9 ms … 400.2 ms    1000 runs
Benchmark 2: fast
  Time (mean ± σ):      19.9 µs ±  57.5 µs    [User: 155.0 µs, System: 183.9 µs]
  Range (min … max):    {least} µs … 725.7 µs    1000 runs
Summary
  fast ran
19012.19 ± 54988.72 times faster than slow
"""
PERF = "Error:\nYou may not have permission to collect {what}stats.\n"
GO = "{name}/1   1   9426630119 ns/op\nPASS\n"
HEADS = "| model | t/s ({a}) | t/s ({b}) |\n|---|---:|---:|\n| x | 10.2 ± 0.3 | 11.8 ± 0.6 |\n"
CASES = {
    "undefined": (LINK.format(what="undefined symbol `f'"), "2 GiB", "no definition"),
    "defined": (LINK.format(what="symbol `f' defined in .bss"), "no definition", "2 GiB"),
    "sum by little": (SUM.format(error="3.5e-06"), "work was done", "does not show which"),
    "sum by much": (SUM.format(error="0.01"), "does not show which", "may not have done"),
    "full link": (NETPERF.format(rate="9406.44"), "calls into the kernel", "Ethernet carries"),
    "below the link": (NETPERF.format(rate="7406.44"), "Ethernet carries", "calls into the kernel"),
    "least of zero": (HYPERFINE.format(least="0.0"), "CPUs were busy", "mostly the error"),
    "ratio as printed": (HYPERFINE.format(least="9.0"), "mostly the error", "± 54988.72"),
    "whole CPUs": (PERF.format(what="system-wide "), "count events", "whole CPUs"),
    "own program": (PERF.format(what=""), "look at whole CPUs", "count events"),
    "name in Korean": (GO.format(name="Benchmark동시성"), "No head", "Benchmark동시성"),
    "two units ahead": (HEADS.format(a="old", b="new"), "nothing", ""),
}


@pytest.mark.parametrize(("text", "absent", "said"), CASES.values(), ids=CASES)
def test_only_what_the_log_shows_is_said(text: str, absent: str, said: str) -> None:
    explained = of_content("log", text.encode(), Machine())
    assert explained.trouble == ""
    findings = [finding.explanation for finding in explained.findings]
    names = [result.name for report in explained.reports for result in report.results]
    words = "\n".join([*findings, *explained.notes, *names])
    assert said in words
    assert absent not in words
