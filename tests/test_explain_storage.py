"""What tests of storage measured: each kind where it has to be said, and next to it where it has
not. The logs are made up after posted ones."""

from __future__ import annotations

import pytest

from benchbook.explain.api import Machine, of_content

IOPING = """$ ioping {options} {target}

--- {target} ({kind} 10.0 GiB) ioping statistics ---
{count} requests completed in {time} s, {rate} iops, 2.9 MiB/s
min/avg/max/mdev = 161 us / {mean} / 18.3 ms / 1.8 ms
"""
FOLDER = IOPING.format(
    options="-c4",
    target="/srv",
    kind="ext4 /dev/sda",
    count=4,
    time="3.0",
    rate=2080,
    mean="479 us",
)
DISK = IOPING.format(
    options="-R", target="/dev/sda", kind="block device", count=223, time="3.0", rate=74,
    mean="13.4 ms",
)  # fmt: skip
FIO = """job: (g=0): rw=randwrite, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, \
ioengine=libaio, iodepth={depth}
fio-3.7
Starting 1 process
job: (groupid=0, jobs=1): err= 0: pid=3364: Fri Jan 10 11:57:19 2020
  write: IOPS={rate}, BW={kib}KiB/s (1kB/s)(224MiB/{took}msec)
    slat (usec): min=2, max=90, avg= 5.26, stdev= 5.9
    clat (usec): min=100, max={most}, avg={clat}, stdev=9.4
     lat (usec): min=102, max={most}, avg={lat}, stdev=9.4
    clat percentiles (usec):
     |  1.00th=[ {low}],  5.00th=[ {low}], 50.00th=[ {low}], 90.00th=[ {high}],
     | 95.00th=[ {high}], 99.00th=[ {high}]
"""


def fio(rate: int, lat: float, depth: int = 1, took: int = 60002, spread: float = 1.0) -> str:
    """A run of fio at this rate and latency in us; the times at p90 are `spread` the others."""
    low = round(lat)
    high = round(lat * spread)
    return FIO.format(
        rate=rate, kib=4 * rate, took=took, depth=depth, clat=lat - 5, lat=lat, low=low, high=high,
        most=2 * high,
    )  # fmt: skip


FLUSHED = """  fsync/fdatasync/sync_file_range:
    sync (usec): min=161, max=345, avg={flush}, stdev=20.09
"""
DD = """$ dd if=/dev/zero of=/media/disk/x bs=8k count=128
128+0 records in
128+0 records out
1048576 bytes (1.0 MB) copied, {took} s, 1 MB/s
"""
STORE = """fillseq      :       3.900 micros/op 256410 ops/sec;   28.3 MB/s
readrandom   :      12.220 micros/op 81829 ops/sec;   22.3 MB/s ({found} of {every} found)
"""
PG = """Compare file sync methods using one 8kB write:
        fsync                             {usual} ops/sec      {time} usecs/op
        fsync_writethrough                   55.117 ops/sec   18143 usecs/op
"""
ETCD = """$ etcdctl check perf --load=l
{verdict}: Throughput {how} {rate} writes/s
PASS: Slowest request took 0.026905s
PASS: Stddev is 0.001281s
"""
RSYNC = """> rsync -av a/ b/
sent {sent} bytes  received 188 bytes  188,232.00 bytes/sec
total size is 5,737,134,607  speedup is {speedup}
"""
SMART = """Percentage Used:                    {wear}%
Media and Data Integrity Errors:    {errors}
Warning  Comp. Temperature Time:    0
"""
POOL = """$ zpool iostat tank 1
              capacity     operations     bandwidth
pool        alloc   free   read  write   read  write
----------  -----  -----  -----  -----  -----  -----
tank        1.20T  2.40T      3     88   410K  9.10M
"""
ROW = "tank        1.20T  2.40T      0    810      0  {rate}\n"
WAITS = """                 capacity     operations     bandwidth    total_wait     disk_wait
pool           alloc   free   read  write   read  write   read  write   read  write
-------------  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----
tank           11.4T  6.69T     61      5  2.96M  50.9K  {total}      -    7ms      -
"""
MDTEST = """4 tasks, {items} files/directories
SUMMARY rate: (of 3 iterations)
   File creation             :      {most}      13454.293      19186.060       4063.924
"""
BENCH = """312.038: Per-Operation Breakdown
createfile1          13804ops       {rate}ops/s   0.0mb/s    {time}ms/op [8.74ms - 5261.88ms]
312.038: IO Summary: 27608 ops 92.019 ops/s 0/0 rd/wr   0.0mb/s   0.0ms/op
"""
DBENCH = "dbench version 3.04\n\nThroughput 40.8924 MB/sec{synced} 5 procs\n"
PROBE = """I/O average speeds:
        Sequential write: 372.63 KB/s (524294 blocks / 1:33:48)
     Write: 1:34:05 / 526551 = {time}
"""
IOR = """access    bw(MiB/s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter
write     10052      2097152    4096       0.012490   3.91       0.516111   3.91       0
Max Write: {most} MiB/sec (9826.66 MB/sec)
"""


RADOS = """   sec Cur ops   started  finished  avg MB/s  cur MB/s last lat(s)  avg lat(s)
     0       0         0         0         0         0           -           0
"""
SECOND = "{sec:6}      16        {sec:02}        10       9.1  {rate:8}      1.8358     1.46316\n"
SUMMARY = "Average IOPS:           7\nMax IOPS:               32\nMin IOPS:               {least}\n"


def rados(*rates: int) -> str:
    """Seconds of rados bench at these rates."""
    return RADOS + "".join(SECOND.format(sec=at, rate=rate) for at, rate in enumerate(rates, 1))


IOSTAT = """{banner}Device            r/s     rkB/s     w/s     wkB/s     f/s f_await  aqu-sz  %util
sdb            149.00  37376.00  152.00  37696.00    2.00  {flush}    1.12 {use}
"""
BANNER = "Linux 6.1.0-49-amd64 (host) \t07/14/2025 \t_x86_64_\t(8 CPU)\n\n"
HISTOGRAM = """     usecs               : count     distribution
         8 -> 15         : 1        |****                                    |
        16 -> 31         : {count}        |****************************************|
"""
YABS = """fio Disk Speed Tests (Mixed R/W 50/50) (Partition /dev/vda2):
Block Size | 4k            (IOPS) | 64k           (IOPS)
Total      | {rate} KB/s        (9) | {rate} KB/s        (9)
"""
IOZONE = """    kB  reclen    write  rewrite    read    reread
102400     512    29181    29630    {read}    30036
102400   16384    31528    31540    32025    32153
"""


def statements(log: str) -> str:
    """All findings and notes of a log, as one text."""
    explained = of_content("log", log.encode(), Machine())
    assert explained.reports
    texts = [*(finding.explanation for finding in explained.findings), *explained.notes]
    return " ".join(" ".join(texts).split())


@pytest.mark.parametrize(
    ("words", "log", "near"),
    [
        (
            "nothing was finished for 4 seconds",
            rados(4, 24, 0, 0, 0, 0, 28),
            rados(4, 24, 8, 9, 12, 7),
        ),
        (
            "no rate is below 0",
            rados(8) + SUMMARY.format(least=-15),
            rados(8) + SUMMARY.format(least=4),
        ),
        (
            "since the system started",
            IOSTAT.format(banner=BANNER, flush=1.5, use=90.4),
            IOSTAT.format(banner="", flush=1.5, use=90.4),
        ),
        (
            "To empty the drive's cache takes",
            IOSTAT.format(banner="", flush=152.5, use=90.4),
            IOSTAT.format(banner="", flush=1.5, use=90.4),
        ),
        (
            "cannot be",
            IOSTAT.format(banner="", flush=1.5, use=109.6),
            IOSTAT.format(banner="", flush=1.5, use=100.0),
        ),
        ("requests only", HISTOGRAM.format(count=7), HISTOGRAM.format(count=7000)),
        ("so nothing was tested", YABS.format(rate="0.00"), YABS.format(rate="0.90")),
        ("a link of USB 2 carries", IOZONE.format(read=30053), IOZONE.format(read=130053)),
        ("with pauses between them", FOLDER, DISK),
        ("Most likely a cache of the disk or its host holds the", FOLDER + DISK, DISK + DISK),
        ("under way, but only 1 may be", fio(955, 1889.0), fio(955, 1040.0)),
        ("they most likely wait for a limit", fio(6004, 21300.0, 128), fio(6210, 20610.0, 128)),
        (
            "they most likely wait for a limit",
            fio(6004, 21300.0, 128),
            fio(6004, 21300.0, 128, spread=1.6),
        ),
        ("The latency goes with the depth", fio(6210, 20610.0, 128), fio(6210, 9610.0, 128)),
        ("are the slowest one or two", fio(19, 28000.0, took=2052), fio(955, 1040.0)),
        (
            "the latency of the write leaves the flush out",
            fio(4801, 13.7) + FLUSHED.format(flush=192.48),
            fio(955, 1000.0) + FLUSHED.format(flush=9.0),
        ),
        ("mounted with sync", DD.format(took=10.616), DD.format(took=0.0016)),
        (
            "are over within",
            STORE.format(found=56, every=100),
            STORE.format(found=10**6, every=10**6),
        ),
        (
            "a mean of two kinds of reads",
            STORE.format(found=630000, every=10**6),
            STORE.format(found=10**6, every=10**6),
        ),
        (
            "empties the drive's cache",
            PG.format(usual=25325.369, time=39),
            PG.format(usual=56.1, time=17820),
        ),
        (
            "A disk that turns needs that time",
            PG.format(usual=56.1, time=17820),
            PG.format(usual=25325.369, time=39),
        ),
        (
            "less than nine tenths of what it sends",
            ETCD.format(verdict="FAIL", how="too low:", rate=6643),
            ETCD.format(verdict="PASS", how="is", rate=7900),
        ),
        (
            "far less was sent than",
            RSYNC.format(sent="93,928", speedup="60,958.12"),
            RSYNC.format(sent="5,738,535,283", speedup="1.00"),
        ),
        (
            "The drive has used 104 %",
            SMART.format(wear=104, errors=0),
            SMART.format(wear=3, errors=0),
        ),
        (
            "The drive counts 12 media errors",
            SMART.format(wear=3, errors=12),
            SMART.format(wear=3, errors=0),
        ),
        (
            "hardly anything is written",
            POOL + (ROW.format(rate="244M") + ROW.format(rate="0")) * 4,
            POOL + ROW.format(rate="244M") * 8,
        ),
        ("it waits in the queues of ZFS", WAITS.format(total="1s"), WAITS.format(total="8ms")),
        (
            "file creation lies between",
            MDTEST.format(items=131072, most=22421.537),
            MDTEST.format(items=131072, most=15421.537),
        ),
        (
            "are done in",
            MDTEST.format(items=40, most=22421.537),
            MDTEST.format(items=131072, most=15421.537),
        ),
        (
            "operations under way",
            BENCH.format(rate=46, time=347.6),
            BENCH.format(rate=46, time=21.7),
        ),
        ("is not in it", BENCH.format(rate=46, time=347.6), STORE.format(found=10**6, every=10**6)),
        (
            "waits until it is on the disk",
            DBENCH.format(synced=" (sync open)"),
            DBENCH.format(synced=""),
        ),
        ("as long as a turn of a disk", PROBE.format(time="10.7ms"), PROBE.format(time="73us")),
        ("as the largest of write", IOR.format(most="9371.43"), IOR.format(most="10052.43")),
    ],
)
def test_said_of_storage_and_not_near_it(words: str, log: str, near: str) -> None:
    assert words in statements(log)
    assert words not in statements(near)
