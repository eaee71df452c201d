"""Requests, clients, streams and job files: what their numbers decide in several forms of logs."""

from __future__ import annotations

import pytest

from benchbook.explain.api import Machine, of_content

TURNED = """Queue Depth | 1 | 2 | 4 | 8 | 16 | 32
-- | -- | -- | -- | -- | -- | --
AIO IOPS | 16736 | 33609 | 65548 | 122514 | {a} | {b}
AIO (us) | 59.7 | 59.5 | 61.0 | 65.3 | 74.5 | 93.8
"""
ROWS = """| clients | rate (req/s) | latency (ms) |
|---|---|---|
| 1 | 1000 | 1.0 |
| 8 | 7800 | 1.0 |
| 64 | {a} | 7.1 |
| 256 | {b} | 28.0 |
"""
STREAMS = """Connecting to host 10.0.0.9, port 5201
[  5] local 10.0.0.1 port 40000 connected to 10.0.0.9 port 5201
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-10.00  sec  1.10 GBytes   945 Mbits/sec    0             sender
[  5]   0.00-10.00  sec  1.10 GBytes   943 Mbits/sec                  receiver
Connecting to host {host}, port 5201
[  5] local 10.0.0.1 port 40010 connected to {host} port 5201
[  7] local 10.0.0.1 port 40012 connected to {host} port 5201
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-10.00  sec  1.10 GBytes   {half} Mbits/sec    0             sender
[  5]   0.00-10.00  sec  1.10 GBytes   {half} Mbits/sec                  receiver
[  7]   0.00-10.00  sec  1.10 GBytes   {half} Mbits/sec    0             sender
[  7]   0.00-10.00  sec  1.10 GBytes   {half} Mbits/sec                  receiver
[SUM]   0.00-10.00  sec  2.20 GBytes  {whole} Mbits/sec    0             sender
[SUM]   0.00-10.00  sec  2.20 GBytes  {whole} Mbits/sec                  receiver
"""
WRITES = """$ iperf3 -c 10.0.0.9 -l {size}
Connecting to host 10.0.0.9, port 5201
[  5] local 10.0.0.1 port 40000 connected to 10.0.0.9 port 5201
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-10.00  sec  5.82 GBytes  5.00 Gbits/sec    0             sender
[  5]   0.00-10.00  sec  5.82 GBytes  5.00 Gbits/sec                  receiver
"""
SEGMENTS = """Connecting to host 10.0.0.9, port 5201
      TCP MSS: {mss} (default)
[  4] local 10.37.192.10 port 36238 connected to 10.101.151.101 port 5201
[ ID] Interval           Transfer     Bandwidth       Retr  Cwnd
[  4]   0.00-10.00  sec  1.83 GBytes  1.57 Gbits/sec    6   319 KBytes
"""
JOBS = """{file}
$ fio job.fio
j: (g=0): rw={rw}, bs=4096B-4096B, ioengine=libaio, iodepth=16
fio-3.28
j: (groupid=0, jobs=1): err= 0: pid=77: Mon Nov  2 10:00:00 2026
  read: IOPS=14.4k, BW=56.5MiB/s (59.3MB/s)(4096MiB/72472msec)
    clat (usec): min=91, max=9256, avg=1087.67, stdev=300.23
"""
FILE = "[global]\nioengine=libaio\niodepth=16\n{direct}\n\n[j]\nrw=randread\nsize=4g"
TWO = "[a]\nrw=randread\ndirect=1\n[b]\nrw=randread\ndirect=0\niodepth=4"
JSON = """{{"fio version": "fio-3.28",
"global options": {{"ioengine": "libaio", {direct}"iodepth": "16"}},
"jobs": [{{"jobname": "j", "job options": {{"rw": "randread", "bs": "4k"}},
"read": {{"total_ios": 9000, "bw_bytes": 59244000, "iops": 14464.0,
"lat_ns": {{"min": 91000, "max": 9256000, "mean": 1087670.0}}}}}}]}}
"""


SPEEDTEST = """Idle Latency:    {idle} ms   (jitter: 8.33ms, low: 19.17ms, high: 37.75ms)
    Download:    24.96 Mbps (data used: 39.0 MB)
                 287.55 ms   (jitter: 90.55ms, low: 74.09ms, high: 2152.08ms)
"""
YABS = """fio Disk Speed Tests (Mixed R/W 50/50) (Partition {disk}):
Block Size | 4k            (IOPS) | 64k           (IOPS)
Total      | 12.10 MB/s    (3.0k) | 192.30 MB/s   (3.0k)
Block Size | 512k          (IOPS) | 1m            (IOPS)
Total      | 1.55 GB/s     ({half}k) | 3.07 GB/s     (2.9k)
"""
DEEP = """r: (g=0): rw=randread, bs=4096B-4096B, ioengine=libaio, iodepth=64
fio-3.28
r: (groupid=0, jobs=1): err= 0: pid=77: Mon Nov  2 10:00:00 2026
  read: IOPS={iops}, BW=24.3MiB/s (25.4MB/s)(5220MiB/60001msec)
    clat (usec): min=20, max=19000, avg={clat}, stdev=20.00
"""
DATAGRAMS = """[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams
[  5]   0.00-60.00  sec  38.5 GBytes  5.51 Gbits/sec  0.000 ms  0/{sent} (0%)  sender
[  5]   0.00-60.00  sec  38.4 GBytes  5.50 Gbits/sec  0.001 ms  27/{sent} (0%)  receiver
"""


def words(text: str) -> str:
    explained = of_content("log", text.encode(), Machine())
    assert explained.trouble == "", explained.trouble
    assert not any("failed on this log" in note for note in explained.notes), explained.notes
    return "\n".join([*(finding.explanation for finding in explained.findings), *explained.notes])


SAID = {
    "heads of depths": (TURNED.format(a=124000, b=125000), "With 8 requests at a time"),
    "rows of clients": (ROWS.format(a=9000, b=9100), "With 64 clients at a time"),
    "streams": (STREAMS.format(host="10.0.0.9", half=900, whole=1800), "1.91 times as much"),
    "small writes": (WRITES.format(size=1500), "1,500 bytes at a time"),
    "tunnel": (SEGMENTS.format(mss=1324), "a tunnel or an overlay"),
    "job file": (JOBS.format(file=FILE.format(direct=""), rw="randread"), "page cache takes part"),
    "JSON": (JSON.format(direct=""), "page cache takes part"),
    "sequential": (JOBS.format(file=FILE.format(direct="direct=1"), rw="read"), "sequential (rw"),
    "line under load": (SPEEDTEST.format(idle="28.47"), "(bufferbloat)"),
    "requests of any size": (
        YABS.format(disk="/dev/vda1", half="3.0"),
        "as many requests a second",
    ),
    "partition of a host": (YABS.format(disk="10.1.1.1:/a", half="2.0"), "a share of another host"),
    "deep queue": (DEEP.format(iops=6213, clat=10290), "finished every 161 us"),
    "datagrams": (DATAGRAMS.format(sent=28310420), "471,840 datagrams a second"),
}
NOT_SAID = {
    "grows on": (TURNED.format(a=214558, b=340961), "at a time"),
    "clients that scale": (ROWS.format(a=60000, b=200000), "clients at a time"),
    "another host": (STREAMS.format(host="10.0.0.8", half=900, whole=1800), "streams together"),
    "a full link": (STREAMS.format(host="10.0.0.9", half=471, whole=942), "streams together"),
    "large writes": (WRITES.format(size=131072), "bytes at a time"),
    "plain segments": (SEGMENTS.format(mss=1448), "overlay"),
    "direct job": (JOBS.format(file=FILE.format(direct="direct=1"), rw="randread"), "page cache"),
    "two jobs": (JOBS.format(file=TWO, rw="randread"), "page cache takes part"),
    "direct JSON": (JSON.format(direct='"direct": "1", '), "page cache"),
    "far line under load": (SPEEDTEST.format(idle="250.1"), "bufferbloat"),
    "fewer large ones": (YABS.format(disk="/dev/vda1", half="1.0"), "as many requests a second"),
    "disk of its own": (YABS.format(disk="/dev/vda1", half="1.0"), "another host"),
    "fast deep queue": (DEEP.format(iops=62130, clat=1029), "finished every"),
    "fewer datagrams": (DATAGRAMS.format(sent=2831042), "datagrams a second"),
    "random": (JOBS.format(file=FILE.format(direct="direct=1"), rw="randread"), "sequential (rw"),
}
CASES = [(*case, True) for case in SAID.values()] + [(*case, False) for case in NOT_SAID.values()]


@pytest.mark.parametrize(("text", "sign", "is_said"), CASES, ids=[*SAID, *NOT_SAID])
def test_each_kind_is_said_where_the_log_decides_it(text: str, sign: str, is_said: bool) -> None:
    assert (sign in words(text)) == is_said, words(text)


def test_a_turned_table_has_a_figure_for_each_number() -> None:
    (report,) = of_content("log", TURNED.format(a=1, b=2).encode(), Machine()).reports
    assert [own.of["queue_depth"] for own in report.called("AIO") if own.is_time] == [
        1,
        2,
        4,
        8,
        16,
        32,
    ]


SPACED = """Results of the run:
bytes   #sent   #ack     total       time     MB/sec    usec/xfer
---------------------------------------------------------------
64      10      =10      1.2k        0.04s      0.03    {first}
256     10      =10      5k          0.00s      6.67      38.40
1k      10      =10      20k         0.00s     38.94      26.30
4k      10      =10      80k         0.00s    136.99      29.90
"""
BY_SIZE = """| bs | IOPS |
|---|---|
| 4k | 3000 |
| 64k | 2950 |
| 1M | {last} |
"""


def table_words(text: str) -> str:
    explained = of_content("log", text.encode(), Machine())
    return explained.trouble or " ".join(finding.explanation for finding in explained.findings)


def test_columns_that_spaces_part_are_a_table() -> None:
    explained = of_content("log", SPACED.format(first="39.10").encode(), Machine())
    (report,) = explained.reports
    times = report.called("usec/xfer")
    assert [(own.of["message_bytes"], own.value) for own in times] == [
        (64, 39.1), (256, 38.4), (1024, 26.3), (4096, 29.9),
    ]  # fmt: skip
    assert explained.findings == []
    prose = "The rate was  10 MB/s  on one  day\nand  20 MB/s  on  another\n"
    tools = [report.tool for report in of_content("log", prose.encode(), Machine()).reports]
    assert tools == ["text"]


def test_a_first_row_far_above_larger_sizes_has_a_start_in_it() -> None:
    assert "one-time costs" in table_words(SPACED.format(first="2049.70"))
    assert "one-time costs" not in table_words(SPACED.format(first="139.70"))


def test_as_many_requests_of_any_size_are_counted_by_something() -> None:
    assert "counts requests and not bytes" in table_words(BY_SIZE.format(last=2990))
    assert "counts requests" not in table_words(BY_SIZE.format(last=900))


LOOPBACK = """| host | loopback TCP (p50) | UDP 10G (p50) | WAN (p50) |
|---|---|---|---|
| one | 145.8 Gbit/s | 9,999 Mbit/s | 4,063 Mbit/s |
| two | 86.4 Gbit/s | 9,999 Mbit/s | 1,095 Mbit/s |
| three | 66.5 Gbit/s | 9,999 Mbit/s | 3,058 Mbit/s |
| four | 14.2 Gbit/s | {last} Mbit/s | 1,426 Mbit/s |
"""


def test_rates_of_tables_through_loopback_and_as_asked() -> None:
    notes = " ".join(of_content("log", LOOPBACK.format(last="10,000").encode(), Machine()).notes)
    assert "145.8 Gbit/s through the loopback device" in notes
    assert "all 4 rows have the same 9,999 Mbit/s of datagrams" in notes
    other = LOOPBACK.format(last="7,200").replace("loopback ", "")
    assert not of_content("log", other.encode(), Machine()).notes


PERFTEST = """                    RDMA_Write BW Test
 Dual-port       : OFF          Device         : mlx5_0
 Number of qps   : 1            Transport type : IB
 TX depth        : 256
 Link type       : Ethernet
---------------------------------------------------------------------------------------
 #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
 {bytes}    {count}        0.00               {rate}               7.498617
---------------------------------------------------------------------------------------
"""


def test_perftest_of_small_messages_and_for_a_time() -> None:
    small = PERFTEST.format(bytes=8, count=224958464, rate="0.48")
    notes = " ".join(of_content("log", small.encode(), Machine()).notes)
    assert "7.5 million of them a second" in notes and "are those of 30 s" in notes
    large = PERFTEST.format(bytes=4096, count=5000, rate="245.71")
    notes = " ".join(of_content("log", large.encode(), Machine()).notes)
    assert "of them a second" not in notes and "are those of" not in notes


REDIS = """$ redis-benchmark -t set -n 1000000 -p {port}
====== SET ======
  1000000 requests completed in {took} seconds
  50 parallel clients
  3 bytes payload
  keep alive: 1

100.00% <= 1 milliseconds
{rate} requests per second

"""


def test_the_same_load_at_two_ports_of_one_host() -> None:
    first = REDIS.format(port=6379, took=3.78, rate=264270.62)
    text = first + REDIS.format(port=9000, took=8.49, rate=117744.02)
    notes = " ".join(of_content("log", text.encode(), Machine()).notes)
    assert "through ports 6379 and 9000 of one host" in notes
    text = first + REDIS.format(port=6379, took=8.49, rate=117744.02)
    assert "through ports" not in " ".join(of_content("log", text.encode(), Machine()).notes)
