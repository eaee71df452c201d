"""Kinds of causes and false statements that a third set of real logs showed: each where it must be
said, and near it where not. The logs here are made up."""

from __future__ import annotations

import pytest

from benchbook.explain.api import Machine, of_content
from benchbook.explain.rules.common.devices import of_data_sheet

PERFTEST = """ #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]
Conflicting CPU frequency values detected: 800.000000 != 3300.000000. CPU Frequency is not max.
 65536      5000           {peak}               {mean}                0.100000
"""
PERFTEST = "                    RDMA_Write BW Test\n" + PERFTEST
RAILS = """
| # | path | BW peak (MB/s) | BW avg (MB/s) | MsgRate (Mpps) |
|---|---|---|---|---|
| 1 | near | 44000.00 | {first} | 0.10 |
| 2 | **far** | 44100.00 | 20000.00 | 0.30 |
"""
HYPERFINE = """Benchmark 1: target/debug/tool a.csv
  Time (mean ± σ):     440.0 ms ±  10.0 ms    [User: 430.0 ms, System: 1.0 ms]
  Range (min … max):   430.0 ms … 460.0 ms    10 runs

Benchmark 2: target/{kind}/{program} a.csv
  Time (mean ± σ):      21.0 ms ±   1.0 ms    [User: 19.0 ms, System: 1.0 ms]
  Range (min … max):    20.0 ms …  23.0 ms    100 runs
"""
FIO = """# fio --filename=/dev/sdb --direct=1 --fsync=1 --rw=randwrite --bs={size} --ioengine=libaio
a: (g=0): rw=randwrite, bs=(R) {size}B-{size}B, (W) {size}B-{size}B, (T) {size}B-{size}B, \
ioengine=libaio, iodepth=1
fio-3.28
Starting 1 process
a: (groupid=0, jobs=1): err= 0: pid=77: Mon Nov  2 10:00:00 2026
  write: IOPS={iops}, BW={rate}KiB/s ({rate}kB/s)(5220KiB/5001msec); 0 zone resets
    clat (usec): min=20, max=900, avg={clat}, stdev=20.00
     lat (usec): min=20, max=900, avg={clat}, stdev=20.00
  fsync/fdatasync/sync_file_range:
    sync (usec): min=1, max=600, avg={sync}, stdev=4.00
"""
SMALL = FIO.format(size=512, iops=2000, rate=1000, clat=450.0, sync=0.3)
LARGE = FIO.format(size=4096, iops=30000, rate=120000, clat=25.0, sync=0.3)
GOOGLE = """Run on (4 X 2100 MHz CPU s)
***WARNING*** Library was built as DEBUG. Timings may be affected.
-----------------------------------------------------
Benchmark           Time             CPU   Iterations
-----------------------------------------------------
BM_sum           17.9 ns         17.8 ns     40000000
"""
SYSBENCH = """{command}
sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)

Running the test with following options:
Number of threads: 1
Initializing random number generator from current time


Prime numbers limit: 20000

Initializing worker threads...

Threads started!

CPU speed:
    events per second:   {rate}

General statistics:
    total time:                          10.0000s
    total number of events:              {events}

Latency (ms):
         min:                                 {least}
         avg:                                 4.50
         max:                                57.00
         95th percentile:                     {p95}
         sum:                              {sum}
"""
QUOTA = {"rate": 220.0, "events": 2200, "least": 1.5, "p95": 9.2, "sum": 9900.0}
CUT_HEAD = """\t\t\t"sum":\t{
\t\t\t\t"start":\t0,
\t\t\t\t"end":\t1,
\t\t\t\t"seconds":\t1,
\t\t\t\t"bytes":\t1250000,
\t\t\t\t"bits_per_second":\t10000000,
\t\t\t\t"omitted":\tfalse
\t\t\t}
\t\t}],
"""
ENDS = """\t"end":\t{
\t\t"streams":\t[{
\t\t\t\t"sender":\t{"socket": 5, "start": 0, "end": 0.0005, "seconds": 0.0005,
\t\t\t\t\t"bytes": 40000, "bits_per_second": 640000000, "retransmits": 0,
\t\t\t\t\t"max_rtt": %RTT%, "min_rtt": %RTT%, "mean_rtt": %RTT%, "sender": true},
\t\t\t\t"receiver":\t{"socket": 5, "start": 0, "end": 0.18, "seconds": 0.18,
\t\t\t\t\t"bytes": 40000, "bits_per_second": 1777777, "sender": true}
\t\t\t}],
\t\t"sum_sent":\t{"start": 0, "end": 0.0005, "seconds": 0.0005, "bytes": 40000,
\t\t\t"bits_per_second": 640000000, "retransmits": 0, "sender": true},
\t\t"sum_received":\t{"start": 0, "end": 0.18, "seconds": 0.18, "bytes": 40000,
\t\t\t"bits_per_second": 1777777, "sender": true}
\t}
}
"""
HEADLESS = CUT_HEAD + ENDS
STREAM = """BabelStream
Version: 4.0
Implementation: CUDA
Running kernels 100 times
Precision: {precision}
Array size: 134.2 MB (=0.1 GB)
Total size: 402.7 MB (=0.4 GB)
Using CUDA device {device}
Validation failed on sum. Error {error}
Function    MBytes/sec  Min (sec)   Max         Average
Copy        545900.100  0.00049     0.00053     0.00049
Dot         374485.682  0.00072     0.00074     0.00072
"""
SUM = {"precision": "float", "device": "Maker BI-V100", "error": "3.5e-06"}
JMH = """Benchmark     Mode  Cnt   Score    Error  Units
Add.plain     avgt    5   0.010 ±  0.001  ms/op
Add.baseline  avgt    5  ≈ 10⁻{power}           ms/op
"""
LMBENCH = """## Basic Integer Operations - Times in {unit} (Smaller is Better)
| Host | OS           | intgr bit | intgr add |
|------|--------------|-----------|-----------|
| a    | Linux 5.15.1 | 0.2400    | {value}    |
| a    | Linux 5.15.1 | 0.2500    | {value}    |
"""
UDP = """[ID] Interval         Transfer      Bandwidth          Jitter     Lost/Total Datagrams
[4] 0.00-30.00  sec   341 MBytes     95.4 {unit}/sec    0.421 ms    {lost}/77741 ({share}%)
"""
PYPERF = """WARNING: the benchmark result may be unstable
* the maximum (6.02 us) is 39% greater than the mean (4.34 us)

Mean +- std dev: 4.34 us +- 0.31 us
"""
GNU = """	Command being timed: "a"
	User time (seconds): 3200.90
	System time (seconds): 25.00
	Percent of CPU this job got: 3420%
	Elapsed (wall clock) time (h:mm:ss or m:ss): 1:34.00
	Maximum resident set size (kbytes): 1000
	Major (requiring I/O) page faults: 1
"""
FOLDED = """# iperf3 -c 192.0.2.1
Connecting to host 192.0.2.1, port 5201
[  5] local 192.0.2.2 port 37948 connected to 192.0.2.1 port 5201
[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
[  5]   0.00-1.00   sec  11.3 MBytes  94.5 Mbits/sec   43   32.5 KBytes    =
  =20
[  5]   1.00-2.00   sec  3.29 MBytes  27.6 Mbits/sec   26   1.41 KBytes    =
=20
"""
FILES = """-rw-r--r--. 1 a b 1.2G Sep  8 16:08 a.tar
-rw-r--r--. 1 a b 1.2G Sep  8 16:08 a.car

$ time tar xf a.tar

real    0m2.394s
user    0m0.026s
sys     0m0.668s

$ time car -x -f a.car

real    {took}
user    0m0.001s
sys     0m0.015s
"""
SIZES = [1 << power for power in range(0, 23, 2)]


def osu(small_mb_per_s: float, large: float = 230.0) -> str:
    """A test whose rate grows with the size up to that of its link."""
    rates = [min(large, small_mb_per_s * size) for size in SIZES]
    rows = [f"{size:<20} {rate:.3f}" for size, rate in zip(SIZES, rates, strict=True)]
    return "\n".join(["# OSU MPI Bandwidth Test v5.9", "# Size      Bandwidth (MB/s)", *rows, ""])


def sysbench(command: str = "", **changed: object) -> str:
    return SYSBENCH.format(command=command, **{**QUOTA, **changed})


SAID = {
    "clocks of perftest": (PERFTEST.format(peak=0, mean=11000.0), "times and rates stand"),
    "average below peak": (PERFTEST.format(peak=44000.0, mean=6700.0), "46.6 ms"),
    "rows below their peaks": (RAILS.format(first=6800.0), "which row is faster"),
    "two debug builds": (HYPERFINE.format(kind="debug", program="b"), "optimised nothing"),
    "a release of another": (HYPERFINE.format(kind="release", program="b"), "optimised nothing"),
    "write below the unit": (SMALL + LARGE, "Writes of 512 B take"),
    "a flush that holds": (
        FIO.format(size=4096, iops=400, rate=1600, clat=30.0, sync=2400.0),
        "time of a write with its flush",
    ),
    "library for debugging": (GOOGLE, "compiled with your code"),
    "below the minimum": (sysbench(events=2, rate=0.2, least=4.4, p95=4.3), "histogram"),
    "head of JSON": (HEADLESS.replace("%RTT%", "177000"), "cut: what precedes is missing"),
    "tail of JSON": (CUT_HEAD + ENDS[:-4].replace("%RTT%", "9"), "what follows are missing"),
    "round trips": (HEADLESS.replace("%RTT%", "177000"), "slow start"),
    "rounded sum": (STREAM.format(**SUM), "29 times the precision"),
    "wrong sum": (STREAM.format(**{**SUM, "error": "0.01"}), "may not have done the work"),
    "wrong sum of doubles": (
        STREAM.format(**{**SUM, "precision": "double"}),
        "may not have done the work",
    ),
    "nothing of JMH": (JMH.format(power="⁶"), "An empty method takes"),
    "arithmetic of a table": (LMBENCH.format(unit="Nanoseconds", value="0.0100"), "too short"),
    "bits for bytes": (UDP.format(unit="MBytes", lost=70050, share=90), "the unit is wrong"),
    "loss of an interval": (UDP.format(unit="Mbits", lost=70050, share=90), "lost 90 %"),
    "pyperf": (PYPERF, "pyperf system tune"),
    "quota": (sysbench("$ docker run --cpus='.5' --rm -it a\n"), "0.5 CPUs"),
    "one digit": (sysbench(events=2, rate=0.05).replace("10.0000s", "43.0000s"), "are 0.04651"),
    "file that is not copied": (FILES.format(took="0m0.030s"), "names a file of 1.2 GiB"),
    "small messages": (osu(0.02) + osu(0.2), "small messages of one run wait"),
    "folded": (FOLDED, "sent again"),
}
NOT_SAID = {
    "clocks of perftest": (PERFTEST.format(peak=0, mean=11000.0), "off"),
    "average near its peak": (PERFTEST.format(peak=11500.0, mean=11000.0), "of the peak"),
    "rows near their peaks": (RAILS.format(first=43000.0).replace("20000", "43000"), "of the peak"),
    "both builds": (HYPERFINE.format(kind="release", program="tool"), "optimised nothing"),
    "a flush that takes no time": (SMALL, "time of a write with its flush"),
    "as slow in larger blocks": (SMALL + FIO.format(size=4096, iops=2000, rate=8000, clat=450.0,
                                                    sync=0.3), "Writes of 512 B"),
    "a percentile within": (sysbench(events=2, rate=0.2), "histogram"),
    "whole JSON": (HEADLESS.replace("%RTT%", "1000"), "slow start"),
    "rounded sum": (STREAM.format(**SUM), "may not have done the work"),
    "another maker": (STREAM.format(**SUM), "carries"),
    "some work of JMH": (JMH.format(power="⁴"), "empty method"),
    "a table in microseconds": (LMBENCH.format(unit="Microseconds", value="0.0100"), "too short"),
    "little loss": (UDP.format(unit="Mbits", lost=70, share=0.09), "lost"),
    "two digits": (sysbench(events=20, rate=0.47).replace("10.0000s", "43.0000s"), "one digit"),
    "file that may be copied": (FILES.format(took="0m0.300s"), "names a file"),
    "all messages apart": (osu(0.02) + osu(0.2, 2300.0), "small messages of one run wait"),
    "messages alike": (osu(0.2) + osu(0.21), "small messages of one run wait"),
    "as many CPUs as threads": (sysbench("$ docker run --cpus=1 --rm -it a\n"), "container"),
}  # fmt: skip


def words(text: str) -> str:
    explained = of_content("log", text.encode(), Machine())
    assert explained.trouble == ""
    return "\n".join([*(finding.explanation for finding in explained.findings), *explained.notes])


CASES = [(*case, True) for case in SAID.values()] + [(*case, False) for case in NOT_SAID.values()]


@pytest.mark.parametrize(("text", "sign", "is_said"), CASES, ids=[*SAID, *NOT_SAID])
def test_each_kind_is_said_where_the_log_decides_it(text: str, sign: str, is_said: bool) -> None:
    assert (sign in words(text)) == is_said


@pytest.mark.parametrize(
    ("device", "rate"),
    [("Tesla V100-SXM2-16GB", 900e9), ("Tesla V100S-PCIE-32GB", 1134e9), ("NVIDIA-V100", 900e9),
     ("Maker BI-V100", 0), ("NVIDIA TITAN Xp", 547.7e9), ("NVIDIA TITAN X (Pascal)", 480e9),
     ("NVIDIA GeForce RTX 3090", 936e9), ("NVIDIA GeForce RTX 3090 Ti", 1008e9)],
)  # fmt: skip
def test_a_device_is_not_another_one_of_a_similar_name(device: str, rate: float) -> None:
    assert of_data_sheet(device, "memory") == pytest.approx(rate)


def figures(text: str) -> dict[str, float]:
    explained = of_content("log", text.encode(), Machine())
    return {result.name: result.value for report in explained.reports for result in report.results}


def test_what_gnu_time_counts_is_read() -> None:
    own = figures(GNU)
    assert (own["CPU share"], own["maximum resident set"], own["major faults"]) == (3420, 1000, 1)
    assert len(figures(GNU.replace("Maximum", "Average"))) == len(own) - 1


def test_the_nodes_that_srun_was_asked_for_are_read() -> None:
    for options, nodes in (("-n2 -N2", 2), ("-n2", None)):
        text = f"$ srun {options} osu_bw\n" + osu(0.2)
        report = of_content("log", text.encode(), Machine()).reports[0]
        assert report.facts.get("nodes") == nodes


def test_an_order_of_magnitude_is_read() -> None:
    assert figures(JMH.format(power="⁴"))["Add.baseline"] == pytest.approx(1e-4)


def test_windows_and_resent_segments_of_a_folded_mail_are_read() -> None:
    assert figures(FOLDED)["retransmits"] == 26
    assert figures(FOLDED.replace("=\n  =20", "").replace("=\n=20", "")) == figures(FOLDED)
