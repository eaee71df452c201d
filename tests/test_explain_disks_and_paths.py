"""Disks and networks: causes that were known for one tool, in the others; and near them silence."""

from __future__ import annotations

import pytest

from benchbook.explain.api import Machine, of_content

FIO = """j: (groupid=0, jobs={jobs}): err= 0: pid=1054: Wed Jan 22 23:36:47 2025
  read: IOPS={iops}, BW={rate}MiB/s (113MB/s)(6460MiB/60001msec)
    slat (usec): min=3, max=3754, avg={slat}, stdev=74.25
    clat (usec): min=17, max=8822, avg={clat}, stdev=449.46
  cpu          : usr={user}%, sys=10.00%, ctx=1299849, majf=14, minf=491
  IO depths    : 1={alone}%, 2=0.1%, 4=0.1%, 8=0.1%, 16=0.1%, 32=100.0%, >=64=0.0%
"""
ZFS = {"jobs": 4, "iops": 27600, "rate": 108, "slat": 144.08, "clat": 4499.48, "user": 0.60,
       "alone": 0.1}  # fmt: skip
DEPTHS = """r: (g=0): rw=randread, bs=4096B-4096B, ioengine=libaio, iodepth={depth}
fio-3.28
r: (groupid=0, jobs=1): err= 0: pid=77: Mon Nov  2 10:00:00 2026
  read: IOPS={iops}, BW=24.3MiB/s (25.4MB/s)(5220MiB/60001msec)
    clat (usec): min=20, max=9000, avg={clat}, stdev=20.00
"""
DD = """{mounts}{before}dd if=/dev/zero of={target} bs={block} count=2048{flags}
2048+0 records in
2048+0 records out
1073741824 bytes (1.1 GB, 1.0 GiB) copied, {took} s, {rate}
"""
COPY = {"mounts": "", "before": "$ ", "target": "/srv/f", "block": "512k", "flags": "",
        "took": "10.2", "rate": "105 MB/s"}  # fmt: skip
SHARE = "srv:/x on /mnt type nfs4 (rw,relatime)\n"
TMPFS = "tmpfs           16G  1.0G   15G   7% /fast\n"
WINDOWS = """Connecting to host 203.0.113.7, port 5201
[  4] local 10.80.2.2 port 36632 connected to 203.0.113.7 port 5201
[ ID] Interval           Transfer     Bandwidth       Retr  Cwnd
"""
ROW = """tcpi_snd_cwnd 50 tcpi_snd_mss 1326 tcpi_rtt {trip}
[  4]   {at}.00-{to}.00   sec  {kib} KBytes  {kib} KBytes/sec    {again}   {window} KBytes
"""
IPERF = """{prose}
$ iperf -c 198.51.100.9 -w 8KB
------------------------------------------------------------
Client connecting to 198.51.100.9, TCP port 5001
TCP window size: 8.0 KByte{default}
------------------------------------------------------------
[  3] local 10.1.1.1 port 37348 connected with 198.51.100.9 port 5001
[  3]  0.0-10.0 sec  22.8 MBytes  19.1 Mbits/sec
"""
MSS = """$ iperf3 -c {host} -M {mss}
Connecting to host {host}, port 5201
[  5] local 10.0.0.1 port 53884 connected to {host} port 5201
[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
[  5]   0.00-1.00   sec   240 MBytes  {rate}    6   1.46 MBytes
[  5]   1.00-2.00   sec   310 MBytes  {rate}   11   1.48 MBytes
"""
UDP = """[ ID] Interval           Transfer     Bandwidth       Jitter    Lost/Total Datagrams
[  4]   0.00-10.00  sec  {moved} MBytes  {rate} Mbits/sec  0.001 ms  {lost}/{all} ({share}%)
[  4] Sent {all} datagrams
"""
ETHTOOL = """Settings for eth0:
        Supported link modes:   100baseT/Half 100baseT/Full
                                {most}
        Speed: {speed}Mb/s
        Duplex: {duplex}
"""
CDM = """CrystalDiskMark 8.0.4 x64
[Read]
  RND    4KiB (Q=  1, T= 1):  {read} MB/s [  14941.4 IOPS] <    66.80 us>
[Write]
  RND    4KiB (Q=  1, T= 1):  {write} MB/s [  44043.0 IOPS] <    22.60 us>
"""
TABLE = """| Test | Read MB/s | Write MB/s |
|---|---|---|
| Seq Q32T1 | 820.4 | 41.78 |
| {label} | 7.474 | {write} |
"""
FILEIO = """sysbench 1.0.20 (using system LuaJIT 2.1.0)
Number of threads: 1
Extra file open flags: {flags}
128 files, 16MiB each
2GiB total file size
Block size 16KiB
{flushes}
Doing random write test

File operations:
    reads/s:                      {reads}
    writes/s:                     70.10
    fsyncs/s:                     {fsyncs}

Throughput:
    read, MiB/s:                  {read}
    written, MiB/s:               1.10

General statistics:
    total time:                          10.0000s
    total number of events:              90000
"""
EACH = "Periodic FSYNC enabled, calling fsync() each 1 requests."
FILES = {"flags": "directio", "flushes": EACH, "fsyncs": "8972.80", "reads": "0.00",
         "read": "0.00"}  # fmt: skip
IOZONE = """    Run began: Mon May 30 10:37:31 2016
    {flag}
    File size set to 4096 KB
    Children see throughput for  1 readers          =  115470.00 KB/sec
    Children see throughput for  1 re-readers       =  {again} KB/sec
    Parent sees throughput for  1 re-readers        =  {parent} KB/sec
"""
IOSTAT = """Device            r/s     w/s     rkB/s     wkB/s r_await w_await aqu-sz  %util
nvme1n1       {count} 0.00 216416.00 0.00 {wait} 0.00 {queue} {use}
"""


def windows(trips: list[int], windows_kib: list[float]) -> str:
    """Intervals whose rate is a window in each round trip, up to what a link carries."""
    rows = [
        ROW.format(trip=trip, at=at, to=at + 1, again=at % 3, window=window,
                   kib=f"{window * 1e6 / (trip if trip < 120_000 else 90_000):.0f}")
        for at, (trip, window) in enumerate(zip(trips, windows_kib, strict=True))
    ]  # fmt: skip
    return WINDOWS + "".join(rows)


def fio(**changed: object) -> str:
    return FIO.format(**{**ZFS, **changed})


def dd(**changed: object) -> str:
    return DD.format(**{**COPY, **changed})


def fileio(**changed: object) -> str:
    return FILEIO.format(**{**FILES, **changed})


def words(text: str) -> str:
    explained = of_content("log", text.encode(), Machine())
    if explained.trouble:
        return explained.trouble
    assert not any("failed on this log" in note for note in explained.notes), explained.notes
    return "\n".join([*(finding.explanation for finding in explained.findings), *explained.notes])


SLOW_READ = fio(jobs=4, iops=622, rate=623, slat=641.51, clat=18.4)
SAID = {
    "submission": (fio(), "always handing one over"),
    "done when submitted": (SLOW_READ, "passed before the queue had it"),
    "page cache": (
        fio(jobs=1, iops=29000, rate=113, slat=31.0, clat=0.4, user=50.0).replace("=17", "=0"),
        "a disk is in the fig",
    ),
    "one for each": (
        fio(jobs=10, iops=163, rate=2.6, slat=3.0, clat=61060.0, alone=100.0),
        "each of 10 jobs had",
    ),
    "depth": (
        DEPTHS.format(depth=8, iops=6200, clat=1290)
        + DEPTHS.format(depth=64, iops=6210, clat=10300),
        "With 8.00 and 64.0 requests",
    ),
    "busy core": (fio(user=81.0, slat=4.0, jobs=1), "the core that submits"),
    "slow blocks": (dd(flags=" oflag=direct", took="306.6", rate="3.5 MB/s"), "No disk at rest"),
    "share": (dd(mounts=SHARE, target="/mnt/a/f"), "lies on nfs4"),
    "share below a folder": (dd(mounts=SHARE, before="cd /mnt/a\n", target="f"), "lies on nfs4"),
    "memory": (dd(mounts=TMPFS.replace(" ", " tmpfs ", 1), target="/fast/f"), "which is memory"),
    "slow without a flush": (dd(), "may be too high"),
    "fast without a flush": (dd(took="0.8", rate="1.3 GB/s"), "need not be the disk's"),
    "window": (windows([93000, 99000, 95000, 90000, 93000], [64.7, 71.2, 77.7, 85.5, 98.4]),
               "The rate follows TCP's window"),
    "window that was asked for": (
        IPERF.format(prose="It has a 5ms round trip time.", default=""), "asked for holds the rate",
    ),
    "segments": (
        MSS.format(host="10.0.0.9", mss=8852, rate="2.01 Gbits/sec")
        + MSS.format(host="10.0.0.9", mss=8853, rate="2.61 Mbits/sec"),
        "With segments of 8,852 bytes",
    ),
    "same loss": (
        UDP.format(moved=1270, rate=1060, lost=135795, all=162217, share=84)
        + UDP.format(moved=124, rate=104, lost=13456, all=15827, share=85),
        "the same share is lost",
    ),
    "slow link": (ETHTOOL.format(most="1000baseT/Full", speed=100, duplex="Full"), "modes of 1000"),
    "half duplex": (ETHTOOL.format(most="", speed=100, duplex="Half"), "collide"),
    "flushed write": (CDM.format(read="61.200", write="0.109"), "26.6 writes a second"),
    "cached read": (CDM.format(read="612.000", write="180.0"), "come from memory"),
    "flushed write of a table": (TABLE.format(label="4K", write="0.109"), "writes a second"),
    "all files": (fileio(), "fsync 8,973 times a second"),
    "buffered files": (
        fileio(flags="(none)", reads="90.0", read="1.40").replace("random write", "random r/w"),
        "without O_DIRECT",
    ),
    "read again": (IOZONE.format(flag="", again="791200.00", parent="700000.00"), "page cache"),
    "parent": (IOZONE.format(flag="", again="190000.00", parent="9000.00"), "their parent 9,000"),
    "use": (IOSTAT.format(count=13526, wait=0.10, queue=1.40, use="100.00"), "some request"),
    "overload": (IOSTAT.format(count=150, wait=162.0, queue=31.2, use="99.90"), "at its limit"),
}  # fmt: skip
NOT_SAID = {
    "queue": (fio(slat=4.0), "handing one over"),
    "core": (fio(user=85.0), "always handing one over"),
    "two for each": (
        fio(jobs=10, iops=326, rate=5.2, slat=3.0, clat=61060.0, alone=0.1), "each of 10 jobs had",
    ),
    "deeper is faster": (
        DEPTHS.format(depth=8, iops=6200, clat=1290)
        + DEPTHS.format(depth=64, iops=40000, clat=1600),
        "requests under way the rate",
    ),
    "half of a core": (fio(user=40.0, slat=4.0, jobs=1), "the core that submits"),
    "a disk that turns": (dd(flags=" oflag=direct", took="15.0", rate="72 MB/s"), "at rest"),
    "nowhere": (dd(target="/dev/zero"), "may be too high"),
    "beside a share": (dd(mounts=SHARE, target="/mntx/f"), "lies on"),
    "another folder": (dd(mounts=SHARE, before="cd /srv\n", target="f"), "lies on"),
    "share of another log line": (dd(mounts="we use nfs4 on /mnt type of thing\n"), "lies on"),
    "window of a queue": (
        windows([93000, 140000, 190000, 240000, 300000], [64.7, 90.2, 130.7, 160.5, 200.4]),
        "follows TCP's window",
    ),
    "default window": (
        IPERF.format(prose="It has a 5ms round trip time.", default=" (default)"), "holds the rate",
    ),
    "another round trip": (
        IPERF.format(prose="It has a 50ms round trip time.", default=""), "holds the rate",
    ),
    "two round trips": (
        IPERF.format(prose="RTT 5 ms to the gate, RTT 7 ms behind.", default=""), "holds the rate",
    ),
    "segments of two hosts": (
        MSS.format(host="10.0.0.9", mss=8852, rate="2.01 Gbits/sec")
        + MSS.format(host="10.0.0.8", mss=8853, rate="2.61 Mbits/sec"),
        "With segments",
    ),
    "smaller is slower": (
        MSS.format(host="10.0.0.9", mss=88, rate="2.61 Mbits/sec")
        + MSS.format(host="10.0.0.9", mss=8852, rate="2.01 Gbits/sec"),
        "With segments",
    ),
    "more loss": (
        UDP.format(moved=1270, rate=1060, lost=135795, all=162217, share=84)
        + UDP.format(moved=124, rate=104, lost=1345, all=15827, share=8.5),
        "the same share is lost",
    ),
    "fast link": (ETHTOOL.format(most="1000baseT/Full", speed=1000, duplex="Full"), "modes of"),
    "usual disk": (CDM.format(read="61.200", write="180.0"), "writes a second"),
    "deep table": (TABLE.format(label="4K Q32T1", write="0.543"), "writes a second"),
    "no flushes": (fileio(flushes="", fsyncs="0.00"), "times a second"),
    "direct files": (fileio(reads="90.0", read="1.40"), "without O_DIRECT"),
    "direct again": (
        IOZONE.format(flag="O_DIRECT feature enabled", again="791200.00", parent="700000.00"),
        "page cache",
    ),
    "idle": (IOSTAT.format(count=31, wait=0.6, queue=0.05, use="4.10"), "some request"),
}  # fmt: skip
CASES = [(*case, True) for case in SAID.values()] + [(*case, False) for case in NOT_SAID.values()]


@pytest.mark.parametrize(("text", "sign", "is_said"), CASES, ids=[*SAID, *NOT_SAID])
def test_each_kind_is_said_where_the_log_decides_it(text: str, sign: str, is_said: bool) -> None:
    assert (sign in words(text)) == is_said, words(text)
