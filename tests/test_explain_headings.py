"""What explain calls things: headings, names and units that are certain from the log, and rows that
were dropped or called after something else."""

from __future__ import annotations

import re

import pytest

from benchbook.explain.api import Machine, of_content
from benchbook.explain.render import print_explained

_DD = """\
$ dd if=/dev/zero of=t bs=1M count=5120 oflag=direct status=progress
5291114496 bytes (5.3 GB, 4.9 GiB) copied, 11 s, 481 MB/s
5120+0 records in
5120+0 records out
5368709120 bytes (5.4 GB, 5.0 GiB) copied, 11.1929 s, 480 MB/s
"""
_FIO_JOB = """\
{name}: (groupid={group}, jobs=1): err= 0: pid=7: Mon Feb  9 14:44:11 2026
  {way}: IOPS=4080, BW=15.9MiB/s (16.7MB/s)(159MiB/10000msec)
     lat (usec): min=3, max=247, avg= 4.65, stdev= 1.71
"""
_FIO_GROUP = """
Run status group {group} (all jobs):
   {way}: bw=15.9MiB/s (16.7MB/s), 15.9MiB/s-15.9MiB/s (16.7MB/s-16.7MB/s), io=159MiB (167MB), \
run=10000-10000msec
"""
_FIO = (
    _FIO_JOB.format(name="reader", group=0, way="read")
    + _FIO_JOB.format(name="writer", group=1, way="write")
    + _FIO_GROUP.format(group=0, way="READ")
)
_TWO_COMMANDS = """\
$ fio --name=a --size=1g --bs=1m --rw=write
    write: IOPS=146, BW=147MiB/s (154MB/s)(5120MiB/34894msec); 0 zone resets

$ fio --name=a --size=1g --bs=1024m --rw=write
    write: IOPS=140, BW=144MiB/s (151MB/s)(5120MiB/35458msec); 0 zone resets
"""
_NVBANDWIDTH = """\
Running device_to_host_memcpy_sm.
memcpy SM CPU(row) <- GPU(column) bandwidth (GB/s)
0         1         2         3
0     52.77     52.78     52.77     52.76
"""
_MLC = """\
Intel(R) Memory Latency Checker - v3.5
Measuring Memory Bandwidths between nodes within system
Bandwidths are in MB/sec (1 MB/sec = 1,000,000 Bytes/sec)
                Numa node
Numa node            0       1
       0        90935.7 34457.4
       1        34387.1 90870.6
"""
_LEGEND = """\
---------------- benchmark: 1 tests ----------------
Name (time in ms)        Min     Max    Mean  StdDev  Median     IQR  Outliers       OPS  \
Rounds  Iterations
test_myfunc           3.5070  3.5070  3.5070  0.0000  3.5070  0.0000       0;0  285.1445       \
1           5

Legend:
  Outliers: 1 Standard Deviation from Mean

real    4m19.085s
user    3m15.683s
sys     0m5.358s
"""
_TITLED = """\
{first} branch
```
PerfTest.doit    thrpt   20  57.217 ± 0.971  ops/s
```
Master branch
```
PerfTest.doit    thrpt   20  64.399 ± 2.285  ops/s
```
"""
_WEED = """\
Concurrency Level:      16
Time taken for tests:   34.263 seconds
Complete requests:      1048576
Failed requests:        0
Requests per second:    30603.34 [#/sec]
Transfer rate:          31544.49 [Kbytes/sec]

Connection Times (ms)
              min      avg        max      std
Total:        0.0      0.5       20.7      0.7

Percentage of the requests served within a certain time (ms)
   50%      0.4 ms
   99%      1.2 ms
"""
_SOCKPERF = """\
vperf: Summary: Message Rate is 456309 [msg/sec]
vperf: Summary: BandWidth is 17.407 MBps (139.254 Mbps)
"""
_YCSB = """\
[OVERALL] | RunTime(ms) | 3632
[OVERALL] | Throughput(ops/sec) | 275.33
[READ] | Operations | 102
[READ] | AverageLatency(us) | 3149.28
[READ] | Return=NOT_FOUND | 840
"""
_JMH = """\
Benchmark                  Mode  Cnt   Score    Error   Units
X.isWanted                 avgt    5   7.039 ±  0.160   ns/op
X.isWanted:·gc.count       avgt    5     ≈ 0           counts
"""
_UNITLESS_ROWS = """\
|                                      | before     | after      |
|--------------------------------------|------------|------------|
| number of transactions               | 61704      | 175528     |
| latency average                      | 97.250 ms  | 34.228 ms  |
| tps (without connection time)        | 514.137776 | 1460.792281|
"""
_TWO_HEADS = """\
       Count        Size                Time, ms                           Bandwidth, GB/s
                                  avg         min         max         avg         max         min
      131072      524288     2561.92     2513.18     2619.78       12.89       13.14       12.61
      262144     1048576     4244.97     4178.03     4356.21       15.56       15.81       15.16
"""
_COUNTED_HEADS = """\
                          ATLAS         OpenBLAS
N      M       K       sgemm   dgemm     sgemm   dgemm
1024   1024    1024    160.0    93.4     194.4   103.0
96     64      25024    74.0    58.1     110.1    56.9
96     192     25024    82.7    72.6     132.2    74.8
"""
_FIRST_WITHOUT_HEAD = """\
                 CPU (s)        %
       ----------------------------
       MAIN    126651.06     100.00
       DIVG     15564.69      12.29
       MASS     32400.34      25.58
"""
_BENCHEE = """\
Name                   ips        average  deviation         median         {share} %
map                63.66 K       15.71 μs    ±49.29%          15 μs          27 μs
fold               63.45 K       15.76 μs    ±55.69%          15 μs          31 μs
"""
_IFCONFIG = """\
eth3      Link encap:Ethernet  HWaddr 00:00:00:00:00:01
          RX packets:593 errors:0 dropped:0 overruns:0 frame:0
eth4      Link encap:Ethernet  HWaddr 00:00:00:00:00:02
          RX packets:513 errors:0 dropped:0 overruns:0 frame:0
"""
_OHA = """\
Summary:
  Success rate: 1.0000
  Total:        19.9057 secs
  Slowest:      19.4002 secs
  Fastest:      0.1017 secs
  Average:      7.4746 secs
  Requests/sec: 10.0473
"""
_ETHTOOL = """\
# ethtool eth0
        Speed: 1000Mb/s

[  4]  0.0-30.0 sec  1.05 GBytes   300 Mbits/sec
"""
_STATISTICS = """\
Sample output:

avg: 395.59
stddev: 35.59
50th: 386.00
99th: 515.18
"""
_ABOUT = """\
| case | before | after |
|---|---|---|
| STREAM Triad | ~100 GB/s | 69.8 GB/s |
| STREAM Copy | 99.8 GB/s | <70 GB/s |
"""
_GROMACS = """\
 Computing:          Num   Num      Call    Wall time         Giga-Cycles
                     Ranks Threads  Count      (s)         total sum    %
-----------------------------------------------------------------------------
 Force                  1   15    2500001     228.468       8546.737  35.1
 Rest                                          32.044       1198.740   4.9
 Total                                        651.024      24354.107 100.0
"""


@pytest.mark.parametrize(
    ("log", "shown", "absent"),
    [
        pytest.param(_DD, ["copy so far .* 481", "copy +mean +480"], ["2 runs|outputs"], id="dd"),
        pytest.param(
            _FIO,
            [r"job writer(?:(?!^\S).*\n)*", "sum of all jobs of group 0 *\n(?: .*\n)*.*read bandw"],
            [r"job writer[^\n]*\n(?: .*\n)*.*read bandwidth +sum"],
            id="fio-groups",
        ),
        pytest.param(
            _TWO_COMMANDS,
            [r"--bs=1m --rw=write *\n(?: .*\n)*.* 147 ", r"--bs=1024m.*\n(?: .*\n)*.* 144 "],
            [],
            id="two-commands",
        ),
        pytest.param(
            _NVBANDWIDTH, ["rows and columns as in the log"], ["from the row to"], id="matrix"
        ),
        pytest.param(_MLC, ["from the row to the column"], [], id="matrix-of-nodes"),
        pytest.param(_LEGEND, ["time, from line"], [r"\(Legend"], id="legend"),
        pytest.param(
            _TITLED.format(first="V3"), [r"\(V3 branch\)", r"\(Master branch\)"], [], id="titles"
        ),
        pytest.param(_TITLED.format(first="I ran this"), [r"\(Master"], [r"\(I ran"], id="prose"),
        pytest.param(
            _WEED,
            ["in the form of ab", "concurrency 16", r"0\.5 +0\.7", r"p99", "31,544.49"],
            ["^ab"],
            id="other-tool",
        ),
        pytest.param(_SOCKPERF, [r"17\.407 +MiB/s", "^sockperf"], ["MB/s"], id="vperf"),
        pytest.param(_YCSB, ["^ycsb", "840 .*NOT_FOUND"], [], id="ycsb-table"),
        pytest.param(_JMH, ["gc.count +0 +counts"], [], id="nearly-zero"),
        pytest.param(
            _UNITLESS_ROWS,
            [r"tps .* 514\.137776 +1,460\.792281", "transactions +61,704 +175,528", r"97\.25"],
            ["other lines"],
            id="rows-without-units",
        ),
        pytest.param(
            _TWO_HEADS, ["Time, ms Bandwidth, GB/s”", "not certain"], ["No head"], id="two-heads"
        ),
        pytest.param(
            _COUNTED_HEADS, ["M +K", r"stands “ATLAS OpenBLAS”"], ["No head"], id="counted-heads"
        ),
        pytest.param(_FIRST_WITHOUT_HEAD, ["MAIN +126,651.06 +100"], [], id="first-column"),
        pytest.param(_BENCHEE.format(share="95th"), ["p95"], ["p99"], id="benchee-95"),
        pytest.param(_BENCHEE.format(share="99th"), ["p99"], ["p95"], id="benchee-99"),
        pytest.param(_IFCONFIG, ["593 .* eth3", "513 .* eth4"], [], id="interfaces"),
        pytest.param(_OHA, ["^oha"], ["^hey"], id="oha"),
        pytest.param(_ETHTOOL, ["^iperf"], ["last command"], id="look-up"),
        pytest.param(
            _STATISTICS, ["^statistics without units", "99th +515.18"], ["lines with"], id="avg"
        ),
        pytest.param(_ABOUT, ["~100", "<70", " 69.8"], [], id="about"),
        pytest.param(_GROMACS, ["Rest wall time +32.044", "^gromacs"], ["No head"], id="gromacs"),
    ],
)
def test_what_is_shown_is_certain_from_the_log(
    log: str, shown: list[str], absent: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    print_explained(of_content("x.log", log.encode(), Machine()), alone=True)
    text = capsys.readouterr().out
    assert [own for own in shown if not re.search(own, text, re.MULTILINE)] == [], text
    assert [own for own in absent if re.search(own, text, re.MULTILINE)] == [], text
