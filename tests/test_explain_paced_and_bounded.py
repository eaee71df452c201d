"""Paced loads, totals that alone do not fit, limits, padded listings, kinds of cores."""

from __future__ import annotations

import pytest

from benchbook.explain.api import of_content
from benchbook.explain.rules import Machine

WRK = """{command}
Running 1m test @ http://192.0.2.1/
  6 threads and 500 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency    {mean}    10.68ms   49.55s    59.06%
    Req/Sec   679.21     42.44   786.00     78.95%
  228421 requests in 1.00m, 77.98MB read
Requests/sec:   3806.96
"""
AB = """Concurrency Level:      10
Time taken for tests:   300.001 seconds
Complete requests:      808584
Failed requests:        0
Requests per second:    2695.27 [#/sec] (mean)
Time per request:       3.710 [ms] (mean)
Connection Times (ms)
              min  mean[+/-sd] median   max
Connect:        0    1   0.7      0      25
Total:          0    4   2.2      3      33
WARNING: The {what}
"""
SYSBENCH = """Running memory speed test with the following options:
  block size: 256KiB
  total size: 102400MiB
  operation: write
  scope: global
Total operations: {count} (19977.75 per second)
{moved} MiB transferred (4994.44 MiB/sec)
General statistics:
   total time:  10.0002s
"""
OSU = """# OSU MPI Latency Test v5.3.2
# Size          Latency (us)
16384                   6.44
32768                   8.91
65536                  14.12
131072                 25.05
262144                 {step}
524288                 {next}
1048576                {far}
2097152               178.95
"""
LISTING = """{zero}1 $ perf stat -e cache-misses ./users
{zero}2
{zero}3  Performance counter stats for './users':
{zero}4
{zero}5    1,666,805,699    cpu_core/cache-misses:u/          ({fast}%)
{zero}6    1,333,851,719    cpu_atom/cache-misses:u/          ({slow}%)
{zero}7
{zero}8    7.707666261 seconds time elapsed
"""
IPERF = """[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-{end}   sec  {sent} MBytes  59.6 Mbits/sec    0             sender
[  5]   0.00-{late}   sec  {got} MBytes  52.2 Mbits/sec                  receiver
"""
PROSE = """The new version takes 151us, and before it took 212us on average.
Measurements of the package show {bound}1.5% higher throughput than before.
- Ice Lake latency: 12us → 11us (faster)
"""


def sentences_of(log: str) -> str:
    """Returns all that is said of a log."""
    record = of_content("log", log.encode(), Machine()).record()
    return "\n".join([*(own["explanation"] for own in record["findings"]), *record["notes"]])


SAMPLES = {
    "asked": (
        "are 91,900 requests",
        WRK.format(command="wrk -c 500 -R 15000 http://192.0.2.1/", mean="24.13s"),
        None,
    ),
    "wrk2": (
        "are 91,900 requests",
        WRK.format(command="./wrk2 -c 500 http://192.0.2.1/", mean="24.13s"),
        None,
    ),
    "corrected": (
        "Most versions of wrk add times",
        WRK.format(command="wrk -c 500 http://192.0.2.1/", mean="99.00ms"),
        WRK.format(command="wrk -c 500 http://192.0.2.1/", mean="24.13s"),
    ),
    "total": (
        "So most likely only the total is wrong, and the rate is right",
        SYSBENCH.format(count=199824, moved="49956.00"),
        SYSBENCH.format(count=199824, moved="2149956.00"),
    ),
    "both": (
        "only the total is wrong",  # the operations do not make the rate either
        SYSBENCH.format(count=99824, moved="2149956.00"),
        None,
    ),
    "size": (
        "and the size or the time is not",
        SYSBENCH.format(count=199824, moved="2149956.00"),
        SYSBENCH.format(count=99824, moved="2149956.00"),
    ),
    "time": (
        "the protocol above the threshold",
        OSU.format(step=27.31, next=49.03, far=92.53),
        None,
    ),
    "step": (
        "which is normal",
        OSU.format(step=48.10, next=92.4, far=178.2),
        OSU.format(step=27.31, next=49.03, far=92.53),
    ),
    "kinds": (
        "add up to 101 %",
        LISTING.format(zero="0", fast="61.40", slow="4.36"),
        LISTING.format(zero="0", fast="96.40", slow="4.36"),
    ),
    "one-blank": (
        "add up to 101 %",
        LISTING.format(zero="0", fast="61.40", slow="4.36"),
        LISTING.format(zero="", fast="96.40", slow="4.36"),
    ),
    "turns": ("took turns", LISTING.format(zero="0", fast="96.40", slow="4.36"), None),
    "short": (
        "In a test of 1 s these buffers",
        IPERF.format(end="10.00", sent="71.1", late="10.05", got="65.5"),
        IPERF.format(end="1.00", sent="7.11", late="1.05", got="6.55"),
    ),
    "warned": (
        "is a warning of the program",
        AB.format(what="file has 2 headers"),
        AB.format(what="median and mean are not within a normal deviation"),
    ),
}


@pytest.mark.parametrize(("words", "near", "log"), SAMPLES.values(), ids=SAMPLES)
def test_said_only_where_the_log_has_it(words: str, near: str, log: str | None) -> None:
    assert words not in sentences_of(near)
    assert log is None or words in sentences_of(log)


@pytest.mark.parametrize(
    ("bound", "name"),
    [("<", "less than"), ("at least ", "at least"), ("≤ ", "at most"), ("a ", "figure")],
)
def test_a_limit_is_no_figure(bound: str, name: str) -> None:
    reports = of_content("log", PROSE.format(bound=bound).encode(), Machine()).reports
    results = [own for report in reports for own in report.results]
    assert name in {own.name for own in results if own.value == 1.5}
    assert "Ice Lake latency" in {own.of.get("label") for own in results if own.value == 12}
