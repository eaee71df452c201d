"""What a review of real logs took out of findings: sentences that a log contradicts or leaves
open. Each sample still says something, so it shows that the finding next to it stays."""

from __future__ import annotations

import pytest

from benchbook.explain.api import Machine, of_content

PROGRESS = """$ dd if=a.tar of=/mnt/b.tar bs=4M status=progress
4072669184 bytes (4.1 GB, 3.8 GiB) copied, 69 s, 59.0 MB/s
1056+1 records in
1056+1 records out
4430673920 bytes (4.4 GB, 4.1 GiB) copied, 69.4666 s, 63.8 MB/s
"""
MOUNTED_SYNC = """$ dd if=/dev/zero of=test1.bin bs=8k count=128
128+0 records in
128+0 records out
1048576 bytes (1.0 MB) copied, 10.616 s, 98.8 kB/s
"""
READ_TWICE = """# hdparm -t /dev/sda
 Timing buffered disk reads: 3364 MB in  3.00 seconds = 1120.94 MB/sec
# dd if=tempfile of=/dev/null bs=1M count=1024
1073741824 bytes (1.1 GB, 1.0 GiB) copied, 0.98266 s, 1.1 GB/s
# dd if=tempfile of=/dev/null bs=1M count=1024
1073741824 bytes (1.1 GB, 1.0 GiB) copied, 0.170305 s, 6.3 GB/s
"""
SMART = """SMART Attributes Data Structure revision number: 16
ID# ATTRIBUTE_NAME          FLAG     VALUE WORST THRESH TYPE      UPDATED  WHEN_FAILED RAW_VALUE
  5 Reallocated_Sector_Ct   0x0033   200   200   140    Pre-fail  Always       -       {count}
  9 Power_On_Hours          0x0032   057   057   000    Old_age   Always       -       31762
"""
NO_EVENT = """sysbench 0.4.12:  multi-threaded system evaluation benchmark
Running the test with following options:
Number of threads: 1
Test execution summary:
    total time:                          0.0043s
    total number of events:              0
    per-request statistics:
         min:                            18446744073709.55ms
         avg:                                  0.00ms
         max:                                  0.00ms
"""
LAMMPS = """Loop time of {took} on 1 procs for 250 steps with 4000 atoms

Performance: 1302129.562 tau/day, 3014.189 timesteps/s
89.7% CPU use with 1 MPI tasks x no OpenMP threads
"""
PERF = """ Performance counter stats for './collatz':

        542.985311      task-clock (msec)         #    0.999 CPUs utilized
                 0      cpu-migrations            #    0.000 K/sec
     1,440,199,629      cycles                    #    2.652 GHz                     (83.31%)
   <not supported>      stalled-cycles-backend
     1,399,979,024      instructions              #    0.97  insns per cycle
                                                  #    0.42  stalled cycles per insn (83.32%)

        0.543290826 seconds time elapsed
"""
DEVICES = (
    "When I train AlexNet with nGPU=4, one batch takes 2.3s; but when nGPU=1, one batch takes only "
    "0.48s."
)
DOMAINS = """| L3 domains | threads | total GB/s |
|---:|---:|---:|
| 2 | 2 | 33.5 |
| 2 | 4 | 35.9 |
| 2 | 8 | 36.9 |
| 4 | 4 | 63.1 |
| 4 | 8 | 69.5 |
| 4 | 16 | {last} |
"""
FLUSHED = """$ fio -direct=1 -filename=/dev/sdb -iodepth=16 -rw=randwrite -ioengine=libaio{more}
w: (g=0): rw=randwrite, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, \
iodepth=16
fio-3.27
Starting 16 threads
w: (groupid=0, jobs=16): err= 0: pid=10354: Mon Sep 20 13:10:33 2021
  write: IOPS=6167, BW=24.1MiB/s (25.3MB/s)(1105MiB/45870msec); 0 zone resets
    slat (nsec): min=1572, max=184830, avg=6255.05, stdev=3755.88
    clat (usec): min=783, max=86783, avg=38909.39, stdev=2512.99
     lat (usec): min=805, max=86790, avg=38915.77, stdev=2513.02
"""
WRK = """Running 10s test @ http://10.0.0.2:3000
  2 threads and 200 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     {mean}s   601.10ms   2.33s    85.04%
    Req/Sec   156.34    142.11   404.00     42.00%
  936 requests in 10.03s, 171.84KB read
Requests/sec:     93.35
Transfer/sec:     17.14KB
"""
FPING = """$ fping -s -C 3 192.0.2.8
192.0.2.8 : [0], 84 bytes, 6.46 ms (6.46 avg, 0% loss)
192.0.2.8 : [1], 84 bytes, 9.67 ms (8.06 avg, 0% loss)
192.0.2.8 : [2], 84 bytes, 12.9 ms (9.68 avg, 0% loss)
{end}"""
ENDS = """192.0.2.8 : 6.46 9.67 12.92
       3 ICMP Echos sent
       3 ICMP Echo Replies received
 9.68 ms (avg round trip time)
"""
UNORDERED = """[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams
[  5] 7060.00-7080.00 sec  2.33 GBytes  1000 Mbits/sec  0.007 ms  0/1801094 (0%)
- - - - - - - - - - - - - - - - - - - - - - - - -
[SUM]  0.0-86400.0 sec  1338478610 datagrams received out-of-order
[  5]   0.00-86400.04 sec  9.82 TBytes  1000 Mbits/sec  0.007 ms  0/{count} (0%)  receiver
"""
NEVER_SET = """w: (groupid=1, jobs=1): err= 0: pid=10744: Mon Feb  9 14:44:11 2026
  write: IOPS=325k, BW=1270MiB/s (1332MB/s)(12.4GiB/10001msec); 0 zone resets
    clat (msec): min=10322, max=20322, avg=15564.95, stdev=2775.57
     lat (usec): min=4, max=219, avg= 5.89, stdev= 1.68
"""


@pytest.mark.parametrize(
    ("log", "says", "silent"),
    [
        (PROGRESS, "the 63.8 MB/s may be too high", "59"),
        (MOUNTED_SYNC, "mounted with sync", "may be too high"),
        (READ_TWICE, "read or written before", "what hdparm reads"),
        (SMART.format(count=331), "331 reallocated_sector_ct", "is read many times"),
        (SMART.format(count=1), "", "reallocated_sector_ct"),
        (NO_EVENT, "is 2^64", "No set of samples"),
        (LAMMPS.format(took="16.03"), "may have waited", "it waited"),
        (LAMMPS.format(took="0.0829"), "", "may have waited"),
        (PERF, "no generic event of that name", "counter reading"),
        (PERF, "2 events took turns", "compares different"),
        (DEVICES, "4.79 times as long", "Shared work should take less"),
        (DOMAINS.format(last=72.4), "beyond 8 threads", "beyond 4 threads"),
        (DOMAINS.format(last=37.0), "", "beyond 16 threads"),
        (FLUSHED.format(more=" -fsync=1"), "a write with its flush", "If a single request alone"),
        (FLUSHED.format(more=""), "If a single request alone", "with its flush"),
        (WRK.format(mean="2.14"), "is about 200", "of those"),
        (WRK.format(mean="1.75"), "", "is about 200"),
        (FPING.format(end=ENDS), "", "statistics are not"),
        (FPING.format(end=""), "statistics are not", "may be too high"),
        (UNORDERED.format(count=36000000), "in another order", "a loss followed by"),
        (UNORDERED.format(count=2147483647), "", "in another order"),
        (NEVER_SET, "15,565 ms", "e+"),
    ],
)
def test_only_what_the_log_shows_is_said(log: str, says: str, silent: str) -> None:
    explained = of_content("log", log.encode(), Machine())
    said = " ".join([*(own.explanation for own in explained.findings), *explained.notes])
    assert says in said
    assert silent not in said
