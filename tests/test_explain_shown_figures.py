"""explain prints the figures that people look for: zeros that say something, spreads,
parts of requests, states of the machine, and lines that no reader knows."""

from __future__ import annotations

import pytest

from benchbook.explain.api import Machine, of_content
from benchbook.explain.render import print_explained


def _printed(text: str, capsys: pytest.CaptureFixture[str]) -> str:
    print_explained(of_content("x.log", text.encode(), Machine()), alone=True)
    return capsys.readouterr().out


_PERFTEST = """\
                    RDMA_Write BW Test
 #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
 8          224958464        0.00               0.48               7.498617
"""
_PGBENCH = """\
progress: 30.0 s, 753.2 tps, lat 1.327 ms stddev 1.035
progress: 60.0 s, 593.9 tps, lat 1.683 ms stddev 1.633
transaction type: <builtin: TPC-B (sort of)>
scaling factor: 50
number of clients: 50
number of threads: 15
number of transactions per client: 100000
number of transactions actually processed: 5000000/5000000
number of failed transactions: 0 (0.000%)
latency average = 0.943 ms
initial connection time = 48.043 ms
tps = 53041.006947 (without initial connection time)
"""
_K6 = """\
     data_received..................: 30 GB   246 MB/s
     http_req_duration..............: avg=17.6ms   min=1.63ms med=16.76ms max=323.85ms p(90)=26.12ms
     http_req_failed................: 0.00%   ✓ 0           ✗ 336446
     http_req_receiving.............: avg=114.72µs min=26.81µs med=50.88µs max=45.71ms
     ws_msgs_sent...................: 9       754.653698/s
"""
_AB = """\
This is ApacheBench, Version 2.3 <$Revision: 1826891 $>
Concurrency Level:      200
Time taken for tests:   17.885 seconds
Complete requests:      10000
Failed requests:        0
Total transferred:      1310000 bytes
Requests per second:    559.13 [#/sec] (mean)
Time per request:       357.699 [ms] (mean)
Time per request:       1.788 [ms] (mean, across all concurrent requests)
Connect:        0    7  27.1      0     136
Processing:     3  348  54.2    359     638
Waiting:        2  346  50.5    357     619
Total:          3  355  55.7    361     715
"""
_WRK = """\
Running 20s test @ http://172.16.5.40:8082/test
  1 threads and 100 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency    59.61ms  172.66ms   1.31s    94.03%
    Req/Sec     7.10k     3.14k   14.39k    72.47%
  127061 requests in 20.01s, 14.06MB read
Requests/sec:   6348.95
Transfer/sec:    719.22KB
"""
_MEMTIER = """\
ALL STATS
Type        Ops/sec     Hits/sec   Misses/sec      Latency       KB/sec
Sets       21536.09          ---          ---      0.23100     22561.95
Gets           0.00         0.00         0.00      0.00000         0.00
Totals     21536.09         0.00         0.00      0.23100     22561.95
"""
_FIO = """\
job: (g=0): rw=randwrite, bs=(R) 4096B-4096B, (W) 4096B-4096B, ioengine=libaio, iodepth=4
fio-3.1
job: (groupid=0, jobs=1): err= 0: pid=21461: Fri Oct  6 05:21:27 2017
  write: IOPS=3068, BW=11.0MiB/s (12.6MB/s)(4096MiB/341704msec)
    clat (usec): min=359, max=45445, avg=1294.12, stdev=1983.67
    clat percentiles (usec):
     | 50.00th=[ 1188], 90.00th=[ 1369], 99.00th=[13435], 99.90th=[18482],
   bw (  KiB/s): min=10184, max=22720, per=99.99%, avg=12272.61, stdev=619.59, samples=683
   iops        : min= 2546, max= 5680, avg=3068.10, stdev=154.90, samples=683
    sync percentiles (usec):
     | 99.00th=[  262], 99.90th=[  310]
  cpu          : usr=2.99%, sys=21.84%, ctx=11253, majf=0, minf=11
     issued rwts: total=0,177212,0,0 short=0,0,0,0 dropped=0,0,0,0
Run status group 0 (all jobs):
  WRITE: bw=11.0MiB/s (12.6MB/s), 11.0MiB/s-11.0MiB/s, io=4096MiB (4295MB), run=341704-341704msec
Disk stats (read/write):
  sdb: ios=416146/2, merge=0/1, ticks=59696/4, in_queue=45252, util=96.25%
"""
_NETPERF = """\
MIGRATED TCP STREAM TEST from ::0 (::) port 0 AF_INET6 to ranger () port 0 AF_INET6 : demo
tcpi_rtt 3482 tcpi_rttvar 455 tcpi_snd_ssthresh 91 tpci_snd_cwnd 105
tcpi_reordering 3 tcpi_total_retrans 9
Recv   Send    Send
Socket Socket  Message  Elapsed
Size   Size    Size     Time     Throughput
bytes  bytes   bytes    secs.    10^6bits/sec

 87380  16384  16384    10.04     294.61
"""
_REDIS = """\
====== SET ======
  100000 requests completed in 0.86 seconds
  50 parallel clients
  3 bytes payload
50.000% <= 0.295 milliseconds (cumulative count 50885)
99.219% <= 0.927 milliseconds (cumulative count 99226)
99.902% <= 2.031 milliseconds (cumulative count 99903)
99.997% <= 5.615 milliseconds (cumulative count 99997)
"""
_SYSBENCH = """\
SQL statistics:
    queries performed:
        read:                            2661980
        write:                           0
        total:                           3194376
    transactions:                        266198 (5216.63 per sec.)
    ignored errors:                      0      (0.00 per sec.)
General statistics:
    total time:                          51.0288s
Latency (ms):
         avg:                                 49.06
Threads fairness:
    events (avg/stddev):           1039.8359/14.59
"""
_IOSTAT = """\
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           2.51    0.00    4.27   72.86    0.00   20.35
Device            r/s     rMB/s   r_await     w/s     wMB/s   w_await  aqu-sz  %util
vda             12.00      0.47      8.25  805.00     98.20     38.61   31.20  100.00
"""
_VMSTAT = """\
procs -----------memory---------- ---swap-- -----io---- -system-- ----cpu----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa
 0  1  24980  10792   8296  47316    5   19   205    52 1161  698 26  3  1 70
"""
_TIME = """\
        Command being timed: "borg create"
        User time (seconds): 266.19
        System time (seconds): 30.55
        Elapsed (wall clock) time (h:mm:ss or m:ss): 5:29.98
        Maximum resident set size (kbytes): 81216
        File system inputs: 54877536
        Exit status: 0
"""
_BSD_TIME = """\
        5.01 real         0.51 user         0.89 sys
            87474176  maximum resident set size
               38290  involuntary context switches
"""
_DD = """\
$ dd if=/dev/zero of=file.img bs=1024 count=100000
100000+0 records in
100000+0 records out
102400000 bytes (102 MB) copied, 14.4795 s, 7.1 MB/s
"""
_IPERF = """\
Client connecting to 10.0.0.1, TCP port 5001
TCP window size: 85.3 KByte (default)
[  3] local 10.0.0.2 port 48084 connected with 10.0.0.1 port 5001
[ ID] Interval        Transfer    Bandwidth
[  3] 0.00-10.00 sec  1020 MBytes   858 Mbits/sec
"""


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (_PERFTEST, ["peak, not measured", "224,958,464"]),
        (_PGBENCH, ["753.2", "1.683", "100,000", "48.043", "failed"]),
        (_K6, ["246", "0", "failed", "114.72", "754.653698"]),
        (_AB, ["1,310,000", "1.788", "27.1", "619", "failed"]),
        (_WRK, ["3,140", "14,390", "72.47", "94.03", "14.06"]),
        (_MEMTIER, ["get rate"]),
        (
            _FIO,
            ["12,272.61", "154.9", "262", "310", "21.84", "11,253", "177,212", "4,096", "96.25"],
        ),
        (_NETPERF, ["3,482", "105", "9"]),
        (_REDIS, ["0.295", "0.927", "2.031", "5.615"]),
        (_SYSBENCH, ["2,661,980", "ignored errors", "14.59"]),
        (_IOSTAT, ["72.86", "20.35", "31.2"]),
        (_VMSTAT, ["10,792", "24,980", "205", "698"]),
        (_TIME, ["81,216", "54,877,536", "exit status"]),
        (_BSD_TIME, ["87,474,176", "38,290"]),
        (_DD, ["102,400,000 B (97.7 MiB)"]),
        (_IPERF, ["85.3 KiB"]),
    ],
)
def test_what_a_tool_prints_around_its_figures_is_shown(
    text: str, wanted: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    printed = _printed(text, capsys).partition("other lines")[0]
    for words in wanted:
        assert words in printed
    assert max(map(len, printed.splitlines())) <= 100


def test_percentiles_of_a_quantity_stand_in_its_row(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [line for line in _printed(_FIO, capsys).splitlines() if "write clat" in line]
    assert len([row for row in rows if "13,435" in row and "1,294.12 ± 1,983.67" in row]) == 1


def test_first_columns_of_a_table_keep_their_heads(capsys: pytest.CaptureFixture[str]) -> None:
    rows = ["| PP | TG | T_PP s | S_PP t/s |", "|----|----|--------|----------|"]
    rows += ["| 128 | 64 | 0.108 | 1186.64 |", "| 256 | 64 | 0.198 | 1295.19 |"]
    printed = _printed("\n".join(rows), capsys)
    assert "TG 64" in printed
    assert any(line.split()[:2] == ["PP", "T_PP"] for line in printed.splitlines())
    assert "  128   0.108" in printed


_LEFT = """\
We think that it is far too slow on our 3 machines, and that it should be 4000 or more.
$ numactl -N 0 ./stream.ofast.17
Memory per array per MPI rank = 512.0 MiB (= 0.5 GiB).
Function    Best Rate MB/s  Avg time     Min time     Max time
Copy:         190087.3     0.355584     0.316326     0.417862
Scale:        188713.0     0.348230     0.318630     0.374268
Add:          222108.9     0.436748     0.406081     0.483628
Triad:        215378.9     0.454098     0.418770     0.565483
2024-05-17 11:22:33 pid 7431 [==========>   ] 73 %
L3 misses = 8123457
"""


def test_lines_with_figures_that_nobody_read_are_quoted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    left = _printed(_LEFT, capsys).partition("other lines")[2]
    assert "512.0 MiB" in left
    assert "8123457" in left
    for words in ("4000", "7431", "numactl", "Copy"):
        assert words not in left


def test_of_a_table_that_nobody_read_one_row_is_quoted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = "".join(f"bin {at}: {3170 + at}\n" for at in range(20))
    left = _printed(_LEFT + rows, capsys).partition("other lines")[2]
    assert left.count("bin ") == 1
    assert "19 more like it" in left
