"""What holds a rate, as a log shows it: each cause where it must be said, and near it where not."""

from __future__ import annotations

import pytest

from benchbook.explain.api import Machine, of_content

WINDOWS = """$ iperf3 -c {host} -t 10
Connecting to host {host}, port 5201
[  5] local 198.51.100.7 port 40000 connected to {host} port 5201
[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
[  5]   0.00-1.00   sec  {rates[0]} MBytes  {bits[0]} Mbits/sec    {again[0]}   {windows[0]} KBytes
[  5]   1.00-2.00   sec  {rates[1]} MBytes  {bits[1]} Mbits/sec    {again[1]}   {windows[1]} KBytes
[  5]   2.00-3.00   sec  {rates[2]} MBytes  {bits[2]} Mbits/sec    {again[2]}   {windows[2]} KBytes
[  5]   3.00-4.00   sec  {rates[3]} MBytes  {bits[3]} Mbits/sec    {again[3]}   {windows[3]} KBytes
[  5]   4.00-5.00   sec  {rates[4]} MBytes  {bits[4]} Mbits/sec    {again[4]}   {windows[4]} KBytes
[  5]   5.00-6.00   sec  {rates[5]} MBytes  {bits[5]} Mbits/sec    {again[5]}   {windows[5]} KBytes
"""
PING = """
PING {host} ({host}) 56(84) bytes of data.
--- {host} ping statistics ---
10 packets transmitted, 10 received, 0% packet loss, time 9012ms
rtt min/avg/max/mdev = {least}/{mean}/{most}/0.300 ms
"""


def windows(
    bits: list[float], again: list[int], sizes: list[float], host: str = "203.0.113.9"
) -> str:
    rates = [f"{value * 1e6 / 8 / 2**20:.1f}" for value in bits]
    return WINDOWS.format(host=host, rates=rates, bits=bits, again=again, windows=sizes)


STILL = windows([300, 80, 80, 81, 80, 79], [0] * 6, [700] * 6)
FALLS = windows([90, 90, 91, 31, 33, 36], [0, 0, 0, 24, 0, 0], [500, 600, 700, 120, 130, 140])
UDP = """$ iperf3 -c 192.0.2.9 -u{options}
Connecting to host 192.0.2.9, port 5201
[  5] local 192.0.2.7 port 40000 connected to 192.0.2.9 port 5201
[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams
[  5]   0.00-10.00  sec  {moved} MBytes  {bits} Mbits/sec  0.000 ms  0/{sent} (0%)  sender
[  5]  0.00-10.00 sec {moved} MBytes  {bits} Mbits/sec  0.1 ms  {lost}/{sent} ({share}%)  receiver
"""
WAYS = """$ iperf3 -c 192.0.2.9{option}
Connecting to host 192.0.2.9, port 5201
[  5] local 192.0.2.7 port 40000 connected to 192.0.2.9 port 5201
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-10.00  sec  1.00 GBytes   {bits} Mbits/sec    0             sender
[  5]   0.00-10.00  sec  1.00 GBytes   {bits} Mbits/sec                  receiver
CPU Utilization: local/sender {cpu}% (1.0%u/9.0%s), remote/receiver 12.0% (1.0%u/11.0%s)
"""
FIO = """$ fio --name=a --filename=/dev/sdb --rw={rw} --bs=4k --direct=1 --ioengine={engine} {more}
a: (g=0): rw={rw}, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, \
ioengine={engine}, iodepth={depth}
fio-3.28
Starting 1 process

a: (groupid=0, jobs=1): err= 0: pid=77: Mon Nov  2 10:00:00 2026
  {way}: IOPS={iops}, BW={rate}KiB/s ({rate}kB/s)(100MiB/{ms}msec)
    clat (usec): min={least}, max={most}, avg={clat}, stdev=20.00
     lat (usec): min={least}, max={most}, avg={lat}, stdev=20.00
   iops        : min={swing[0]}, max={swing[1]}, avg={iops}.00, stdev={swing[2]}, samples=40
  cpu          : usr={usr}%, sys=10.00%, ctx=999, majf=0, minf=9
"""
OF_FIO = {
    "rw": "randread", "way": "read", "engine": "psync", "more": "", "depth": 1, "iops": 8000,
    "rate": 32000, "ms": 60000, "least": 90, "most": 900, "clat": 124.0, "lat": 124.5,
    "swing": (7900, 8100, 90.0), "usr": "20.00",
}  # fmt: skip
DD = """$ dd if={source} of={target} {options}
{blocks}+0 records in
{blocks}+0 records out
{bytes} bytes copied, {took} s, {rate} MB/s
"""
ECHOES = "PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n" + "".join(
    f"64 bytes from 192.0.2.1: icmp_seq={n} ttl=64 time={{times[{n - 1}]}} ms\n"
    for n in range(1, 7)
)


def fio(**changed: object) -> str:
    return FIO.format(**{**OF_FIO, **changed})


def udp(options: str, moved: float, bits: float, sent: int, lost: int = 0) -> str:
    share = f"{100 * lost / sent:.2g}"
    return UDP.format(options=options, moved=moved, bits=bits, sent=sent, lost=lost, share=share)


def dd(source: str, target: str, options: str, blocks: int, size: int, took: float) -> str:
    moved = blocks * size
    rate = f"{moved / took / 1e6:.3g}"
    return DD.format(
        source=source,
        target=target,
        options=options,
        blocks=blocks,
        bytes=moved,
        took=took,
        rate=rate,
    )


def joined(first: str, second: str) -> str:
    return first + second


SAID = {
    "single segment": (
        windows([0.7, 0, 0, 0, 0, 0], [2, 1, 0, 1, 1, 0], [1.41] * 6),
        "one segment",
    ),
    "window cut": (FALLS, "cut its window from 700"),
    "window or queue": (STILL, "If ping shows a round trip of about"),
    "window holds": (
        STILL + PING.format(host="203.0.113.9", least=70.8, mean=71.2, most=72.0),
        "holds the rate",
    ),
    "core of the sender": (WAYS.format(option="", bits=930, cpu="99.1"), "used 99.1 % of a core"),
    "most of a core": (WAYS.format(option="", bits=430, cpu="77.1"), "77.1 % of a core"),
    "default rate": (udp("", 1.25, 1.05, 906), "where no -b asks for another"),
    "below what was asked": (udp(" -b 5G", 1000, 840, 724000), "asks for -b 5G"),
    "as asked": (udp(" -b 100M", 119, 100, 86314), "-b 100M asked for"),
    "small datagrams": (udp(" -b 1G -l 64", 61.0, 51.2, 1000000), "Datagrams of 64 bytes"),
    "in pieces": (udp(" -b 50M -l 8192", 59.6, 50.0, 7630, 900), "cut into 6 frames"),
    "directions": (
        joined(
            WAYS.format(option="", bits=930, cpu="20"),
            WAYS.format(option=" -R", bits=320, cpu="20"),
        ),
        "two directions",
    ),
    "slow port": (WAYS.format(option="", bits=94.1, cpu="5"), "100 Mbit/s Ethernet carries"),
    "full gigabit": (WAYS.format(option="", bits=941, cpu="5"), "gigabit Ethernet carries"),
    "ended early": (
        "$ netperf -H 192.0.2.9 -l 120\nMIGRATED TCP STREAM TEST from 0.0.0.0 (0.0.0.0) "
        "port 0 AF_INET to 192.0.2.9 () port 0 AF_INET\nRecv   Send    Send\nSocket "
        "Socket  Message  Elapsed\nSize   Size    Size     Time     Throughput\nbytes  "
        "bytes   bytes    secs.    10^6bits/sec\n\n131072  16384  16384    4.51     "
        "35801.94\n",
        "asks for 120 s",
    ),
    "one request": (fio(), "one request was under way"),
    "seeks": (
        fio(
            iops=110,
            rate=440,
            clat=9080.0,
            lat=9085.0,
            least=2100,
            most=40000,
            swing=(100, 120, 4.0),
        ),
        "a seek and half a turn",
    ),
    "size of request": (fio(rate=320000), "make 40 KiB a request"),
    "part of latency": (fio(clat=5000.0), "clat and its percentiles are wrong"),
    "core of fio": (fio(usr="88.00"), "core that submits"),
    "asked of fio": (fio(more="--rate_iops=8000"), "rate_iops=8000"),
    "long request": (fio(most=9000000), "15 % of the run"),
    "swings": (fio(swing=(900, 19000, 4000.0)), "swings between 900 and 19,000"),
    "quota": (
        fio(iops=3000, rate=12000, clat=333.0, lat=333.1, swing=(2998, 3003, 3.0)),
        "quota of a cloud volume",
    ),
    "short job": (fio(ms=20), "20.0 ms in all"),
    "flushed": (
        fio(
            rw="randwrite",
            way="write",
            more="--fsync=1",
            iops=900,
            rate=3600,
            clat=1100.0,
            lat=1101.0,
        ),
        "waits until the device says",
    ),
    "random source": (
        dd("/dev/urandom", "/mnt/a", "bs=1M count=1024 conv=fdatasync", 1024, 1 << 20, 5.1),
        "computes each byte",
    ),
    "waits for each": (
        dd("/dev/zero", "/mnt/a", "bs=512 count=1000 oflag=dsync", 1000, 512, 8.2),
        "waits for the disk after each block",
    ),
    "small blocks": (
        dd("/dev/zero", "/mnt/a", "count=2000000 conv=fdatasync", 2000000, 512, 6.1),
        "each with two calls",
    ),
    "targets": (
        joined(
            dd("/dev/zero", "/run/a", "bs=1M count=512 conv=fdatasync", 512, 1 << 20, 0.8),
            dd("/dev/zero", "/mnt/a", "bs=1M count=512 conv=fdatasync", 512, 1 << 20, 9.3),
        ),
        "most likely the two lie on two devices",
    ),
    "layer": (
        "/dev/vg/home:\n Timing buffered disk reads: 142 MB in  3.01 seconds =  47.24 MB/sec\n"
        "/dev/sda:\n Timing buffered disk reads: 510 MB in  3.01 seconds = 169.62 MB/sec\n",
        "layer between",
    ),
    "twice": (
        "PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n64 bytes from 192.0.2.1: icmp_seq=1 "
        "ttl=64 time=1.1 ms\n64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=1.3 ms (DUP!)\n",
        "marked as duplicates",
    ),
    "many hosts": (
        "PING ff02::2(ff02::2) from fe80::1 eth0: 56 data bytes\n64 bytes from fe80::1: "
        "icmp_seq=1 ttl=64 time=0.02 ms\n64 bytes from fe80::2: icmp_seq=1 ttl=64 "
        "time=0.98 ms (DUP!)\n",
        "an address of many hosts",
    ),
    "released": (ECHOES.format(times=[4102, 3101, 2099, 1100, 98, 1.2]), "at the same moment"),
    "queue": (
        WAYS.format(option="", bits=9.4, cpu="2")
        + PING.format(host="192.0.2.9", least=100.2, mean=375.9, most=587.1),
        "bufferbloat",
    ),
    "old hdparm": (
        "/dev/hdc:\n Timing buffered disk reads:  64 MB in  4.33 seconds = 14.78 MB/sec\n",
        "hdc",
    ),
}
PERCENTILES = """    clat percentiles (usec):
     | 10.00th=[ {a}], 20.00th=[ {a}], 30.00th=[ {a}], 40.00th=[ {a}],
     | 50.00th=[ {a}], 60.00th=[ {b}], 70.00th=[ {b}], 80.00th=[ {b}],
     | 90.00th=[ {b}], 95.00th=[ {b}], 99.00th=[ {c}]
"""
PACED = """$ iperf3 -c 192.0.2.9{option}
Connecting to host 192.0.2.9, port 5201
[  5] local 192.0.2.7 port 40000 connected to 192.0.2.9 port 5201
[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
[  5]   0.00-1.00   sec   128 KBytes  1.05 Mbits/sec    0   26.9 KBytes
[  5]   1.00-2.00   sec  0.00 Bytes  0.00 bits/sec    0   26.9 KBytes
[  5]   2.00-3.00   sec  0.00 Bytes  0.00 bits/sec    0   26.9 KBytes
[  5]   3.00-4.00   sec   128 KBytes  1.05 Mbits/sec    0   26.9 KBytes
"""
NO_ANSWER = """PING 192.0.2.2 (192.0.2.2) 56(84) bytes of data.

--- 192.0.2.2 ping statistics ---
4 packets transmitted, {got} received, {lost}% packet loss, time 3021ms
"""
MEANS = """sockperf: [Valid Duration] RunTime=29.549 sec; SentMessages=94416; ReceivedMessages=94416
sockperf: ====> avg-latency={mean} (std-dev=101.155)
sockperf: # dropped messages = 0; # duplicated messages = 0; # out-of-order messages = 0
sockperf: Summary: Latency is {mean} usec
sockperf: Total 94416 observations; each percentile contains 944.16 observations
sockperf: ---> <MAX> observation =  768.182
sockperf: ---> percentile 90.000 =  260.583
sockperf: ---> percentile 75.000 =  128.459
sockperf: ---> percentile 50.000 =  120.567
sockperf: ---> <MIN> observation =   79.330
"""
SAID |= {
    "paced": (PACED.format(option=" -b 200K"), "its own pauses"),
    "queue of a window": (
        windows([10, 10.5, 10.4, 10.5, 10.4, 10.5], [0] * 6, [500, 800, 1100, 1300, 1500, 1700]),
        "waits in a queue",
    ),
    "no answer": (NO_ANSWER.format(got=0, lost=100), "None of 4 echoes"),
    "long queue": (
        fio(depth=128, engine="libaio", iops=40, rate=160, clat=2.4e6, lat=2.4e6, most=9e6),
        "is overloaded",
    ),
    "two groups": (fio() + PERCENTILES.format(a=3728, b=83456, c=88576), "of two groups"),
    "mean above most": (MEANS.format(mean=156.309), "three quarters of the times are below"),
}
NOT_SAID = {
    "window of a site": (
        windows([300, 80, 80, 81, 80, 79], [0] * 6, [700] * 6, "10.0.0.9"),
        "window",
    ),
    "window that grows": (
        windows([60, 70, 75, 80, 90, 95], [0] * 6, [300, 400, 500, 600, 700, 800]),
        "window",
    ),
    "lost, not cut": (windows([90] * 6, [0, 0, 9, 0, 0, 0], [500, 500, 450, 470, 490, 500]), "cut"),
    "another way is slow": (
        STILL + PING.format(host="203.0.113.9", least=1.8, mean=2.2, most=3.0),
        "holds the rate",
    ),
    "idle core": (WAYS.format(option="", bits=930, cpu="20"), "of a core"),
    "asked for it": (udp(" -b 1M", 1.25, 1.05, 906), "where no -b"),
    "a frame": (udp(" -b 50M -l 1448", 59.6, 50.0, 43166, 900), "frames of 1500"),
    "whole large ones": (udp(" -b 50M -l 8192", 59.6, 50.0, 7630), "cut into"),
    "directions alike": (
        joined(
            WAYS.format(option="", bits=930, cpu="20"),
            WAYS.format(option=" -R", bits=820, cpu="20"),
        ),
        "two directions",
    ),
    "in between": (WAYS.format(option="", bits=650, cpu="5"), "as much as"),
    "fast random": (fio(iops=110000, rate=440000, clat=9.0, lat=9.1, least=8), "half a turn"),
    "sequential": (
        fio(
            rw="read",
            iops=110,
            rate=440,
            clat=9080.0,
            lat=9085.0,
            least=2100,
            swing=(100, 120, 4.0),
        ),
        "half a turn",
    ),
    "fits": (fio(), "a request, but"),
    "a limit above": (fio(more="--rate_iops=50000"), "rate_iops"),
    "even, not round": (
        fio(iops=3310, rate=13240, clat=301.0, lat=301.1, swing=(3308, 3312, 1.0)),
        "quota",
    ),
    "a percentile of a class": (
        fio() + "    clat percentiles (usec):\n     | 99.99th=[  906]\n",
        "No set of samples",
    ),
    "large blocks": (
        dd("/dev/zero", "/mnt/a", "bs=1M count=1024 conv=fdatasync", 1024, 1 << 20, 5.1),
        "dd",
    ),
    "old hdparm": (SAID["old hdparm"][0], "stood still"),
    "replies of a second": (ECHOES.format(times=[1002, 1.1, 1001, 1.2, 1.0, 1.1]), "same moment"),
    "no queue": (
        WAYS.format(option="", bits=9.4, cpu="2")
        + PING.format(host="192.0.2.9", least=100.2, mean=103.9, most=117.1),
        "queue",
    ),
}

NOT_SAID["older, shorter hdparm"] = (
    "/dev/md1:\n Timing buffered disk reads:  64 MB in  2.22 seconds = 28.83 MB/sec\n",
    "only",
)
NOT_SAID |= {
    "not paced": (PACED.format(option=""), "its own pauses"),
    "a window of a fast path": (
        windows([900, 905, 904, 905, 904, 905], [0] * 6, [500, 800, 1100, 1300, 1500, 1700]),
        "waits in a queue",
    ),
    "some answers": (NO_ANSWER.format(got=1, lost=75), "None of"),
    "one slope": (fio() + PERCENTILES.format(a=3728, b=8346, c=88576), "of two groups"),
    "mean below most": (MEANS.format(mean=124.309), "three quarters"),
}


def words(text: str) -> str:
    explained = of_content("log", text.encode(), Machine())
    assert explained.trouble == ""
    return "\n".join([*(finding.explanation for finding in explained.findings), *explained.notes])


@pytest.mark.parametrize("name", [name for name in SAID if name != "old hdparm"])
def test_what_the_log_decides_is_said(name: str) -> None:
    text, sign = SAID[name]
    assert sign in words(text)


@pytest.mark.parametrize("name", NOT_SAID)
def test_what_the_log_does_not_decide_is_not_said(name: str) -> None:
    text, sign = NOT_SAID[name]
    assert sign not in words(text)
