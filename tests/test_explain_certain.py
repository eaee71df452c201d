"""Sentences that are said only where the log leaves nothing else open."""

from __future__ import annotations

import pytest

from benchbook.explain.explanation import explained
from benchbook.explain.rules import Machine

FIO = """job: (g=0): rw=write, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, \
ioengine={engine}, iodepth=1
fio-3.15
Starting {jobs} threads
job: (groupid=0, jobs={jobs}): err= 0: pid=67: Thu Sep 12 21:39:55 2019
  write: IOPS=202, BW=202MiB/s (212MB/s)(32.0GiB/161967msec)
{times}
  cpu          : usr=26.64%, sys={system}%, ctx=4894, majf=0, minf=0
"""
SLAT = "    slat (usec): min=243, max=110517, avg=4550.92, stdev=3093.61\n"
CLAT = "    clat (usec): min=1, max=116, avg={wait}, stdev=2.33"
YCSB = """[OVERALL], RunTime(ms), 10110
[OVERALL], Throughput(ops/sec), 98.9
[UPDATE], Operations, {updates}
[UPDATE], AverageLatency(us), 54.99
"""
FILES = """sysbench 1.1.0
Extra file open flags: 0
Doing random {way} test

[ 60s ] reads: 563.39 MiB/s writes: 0.00 MiB/s fsyncs: 0.00/s latency (ms,95%): 0.527
[ 120s ] reads: 566.71 MiB/s writes: 0.00 MiB/s fsyncs: 0.00/s latency (ms,95%): 0.527
"""
GLUSTER = """ %-latency   Avg-latency   Min-Latency   Max-Latency   No. of calls         Fop
      0.00       {name}       0.00 ns       0.00 ns          24433      FORGET
      0.01       {name}       0.00 ns       0.00 ns         136286     RELEASE
"""
TIMED = """$ time {command}
real    0m{slow}s
user    0m1.000s
sys     0m0.000s
$ time {command}
real    0m{fast}s
user    0m1.640s
sys     0m0.000s
"""
WRK = """$ wrk -t12 -c200 -d30 {timeout} http://pi/about
Running 30s test @ http://pi/about
  12 threads and 200 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.37s     1.33s   16.36s    79.36%
    Req/Sec   417.69    650.51     5.44k    92.71%
  78676 requests in 30.01s, 516.52MB read
  Socket errors: connect 0, read 0, write 0, timeout 4652
Requests/sec:   2622.02
Transfer/sec:     17.21MB
"""
AB = """Concurrency Level:      5
Time taken for tests:   13.862 seconds
Complete requests:      1000
Failed requests:        30
   (Connect: 0, Receive: 0, Length: 30, Exceptions: 0)
{status}Requests per second:    72.14 [#/sec] (mean)
"""
PGBENCH = """{first}
$ pgbench -c 10 -T 60 db
number of clients: 10
number of transactions actually processed: 10942
tps = 182.5 (including connections establishing)
{second}
$ pgbench -c 10 -T 60 db
number of clients: 10
number of transactions actually processed: 10874
tps = 181.4 (including connections establishing)
"""
DD = """# dd if=a.tar of=/mnt/zfs/test{first}.tar bs=4M
1056+1 records in
1056+1 records out
4430673920 bytes (4.4 GB, 4.1 GiB) copied, 69.4666 s, 63.8 MB/s
# dd if=a.tar of={second} bs=4M
1056+1 records in
1056+1 records out
4430673920 bytes (4.4 GB, 4.1 GiB) copied, 70.3975 s, 62.9 MB/s
"""
HDPARM = """{one}:

/dev/{disk}:
 Timing buffered disk reads:  64 MB in  4.33 seconds = 14.78 MB/sec

{other}:

/dev/hdc:
 Timing buffered disk reads:  64 MB in 20.98 seconds =  3.05 MB/sec
"""


def _fio(engine: str = "libaio", jobs: int = 1, times: str = "", system: float = 5.0) -> str:
    return FIO.format(engine=engine, jobs=jobs, times=times, system=system)


@pytest.mark.parametrize(
    ("log", "silent", "near", "said"),
    [
        (
            _fio(jobs=32, times=CLAT.format(wait=4), system=1237.33),
            "A job of fio used",
            _fio(times=CLAT.format(wait=4), system=72.1),
            "A job of fio used",
        ),
        (
            _fio(times=SLAT + CLAT.format(wait=4.12)),
            "requests under way",
            _fio(times=CLAT.format(wait=4.12)),
            "requests under way",
        ),
        (
            YCSB.format(updates=491),
            "waits for no answer",
            YCSB.format(updates=1000),
            "waits for no answer",
        ),
        (
            FILES.format(way="write"),
            "without O_DIRECT",
            FILES.format(way="read"),
            "without O_DIRECT",
        ),
        (
            GLUSTER.format(name="0.00 ns"),
            "removed the work",
            "BM_Empty       0.00 ns       0.00 ns          24433\n",
            "removed the work",
        ),
        (
            TIMED.format(command="cp a b", slow=47.38, fast=35.86),
            "The same command is",
            TIMED.format(command="./solve", slow=1.01, fast=0.5),
            "The same command is",
        ),
        (
            WRK.format(timeout=""),
            "not in its latencies",
            WRK.format(timeout="--timeout 20s"),
            "not in its latencies, whose longest is 16.36 s",
        ),
        (
            AB.format(status="Non-2xx responses:      30\n"),
            "only because their length",
            AB.format(status=""),
            "only because their length",
        ),
        (
            PGBENCH.format(first="Our database:", second=""),
            "They differ in",
            PGBENCH.format(first="", second="With a pool:"),
            "They differ in “With a pool” above",
        ),
        (
            DD.format(first=333, second="/mnt/zfs/test334.tar"),
            "They differ in",
            DD.format(first=333, second="/mnt/ext4/copy.tar"),
            "They differ in",
        ),
        (
            HDPARM.format(one="Under 2.4.21", other="Under 2.5.75", disk="md1"),
            "They differ in",
            HDPARM.format(one="Under 2.4.21", other="Under 2.5.75", disk="hdc"),
            "“Under 2.5.75” against “Under 2.4.21”",
        ),
        (
            HDPARM.format(one="And some figures of it", other="These are with X", disk="hdc"),
            "They differ in",
            HDPARM.format(one="Without X", other="With X", disk="hdc"),
            "“With X” against “Without X”",
        ),
        (
            "WARNING: Dumb terminal, expect unglorified output.\nBandwidth: 2.401 Mbit/s\n",
            "Dumb",
            "WARNING: clock is not stable.\nBandwidth: 2.401 Mbit/s\n",
            "“WARNING: clock is not stable”.",
        ),
    ],
)
def test_silent_where_it_is_not_certain(log: str, silent: str, near: str, said: str) -> None:
    assert silent not in _words(log)
    assert said in _words(near)


def _words(log: str) -> str:
    record = explained("log", log.encode(), Machine())
    return "\n".join([*record["notes"], *(own["explanation"] for own in record["findings"])])
