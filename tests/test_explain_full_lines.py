"""Full lines, transfers that are compared, counters of DPDK, and others: each kind with a log of
its own, and a near one of which it must not be said. The logs are made up."""

from __future__ import annotations

import pytest

from benchbook.explain.api import Machine, of_content

PING = """{title}:
$ ping -c 3 192.0.2.1
PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.
64 bytes from 192.0.2.1: icmp_seq=1 ttl=117 time={time} ms
64 bytes from 192.0.2.1: icmp_seq=2 ttl=117 time={time} ms
64 bytes from 192.0.2.1: icmp_seq=3 ttl=117 time={time} ms
--- 192.0.2.1 ping statistics ---
3 packets transmitted, 3 received, 0% packet loss, time 2003ms
rtt min/avg/max/mdev = 8.100/{time}/{time}9/0.300 ms

"""
REPLY = "64 bytes from 192.0.2.1: icmp_seq={at} ttl=64 time={time} ms\n"
SPEEDTEST = """   Speedtest by Ookla

      Server: A - B (id: 1)
Idle Latency:     2.39 ms   (jitter: 0.26ms, low: 1.81ms, high: 2.62ms)
    Download:  2346.39 Mbps (data used: 1.2 GB)
                 14.99 ms   (jitter: 39.34ms, low: 1.77ms, high: {most}ms)
"""
MTR = """HOST: a                           Loss%   Snt   Last   Avg  Best  Wrst StDev
  1.|-- 192.168.2.1                0.0%    60    7.1   {first}
  2.|-- 192.0.2.1                  0.0%    60    9.6  150.0   6.1 1805.0 281.5
  3.|-- 192.0.2.2                  0.0%    60   61.6  250.6  33.4 1386.0 257.2
"""
UDP = """[ ID] Interval           Transfer     Bandwidth       Jitter    Lost/Total Datagrams
[  5]   0.00-1.00   sec  6.57 MBytes  55.1 Mbits/sec  0.116 ms  {first}
[  5]   1.00-2.00   sec  3.93 MBytes  33.0 Mbits/sec  0.152 ms  476/979 (49%)
[  5]   2.00-3.00   sec  3.38 MBytes  28.4 Mbits/sec  0.294 ms  567/1000 (57%)
[  5]   3.00-4.00   sec  3.39 MBytes  28.4 Mbits/sec  0.197 ms  567/1001 (57%)
"""
IPERF = """{words}
$ iperf3 -c 192.0.2.1
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-10.00  sec  {first}  sender
[  5]   0.00-10.00  sec  {first}  receiver
"""
TWO_TOOLS = """$ iperf -c 192.0.2.1 -P 16
[SUM]  0.0-30.0 sec    337 GBytes  96.4 Gbits/sec
$ iperf3 -c 192.0.2.1 -P 16
[SUM]   0.00-30.00  sec   123 GBytes  {rate} Gbits/sec    0             sender
[SUM]   0.00-30.00  sec   123 GBytes  {rate} Gbits/sec                  receiver
"""
DPDK = """Statistics for port 0 ------------------------------
ipackets:          6784279      opackets:          6784279
imissed:           {first}      ierrors:                0       oerrors:                0
Statistics for port 0 ------------------------------
ipackets:          7223135      opackets:          7223135
imissed:           {second}     ierrors:                0       oerrors:                0
"""
DPIP = """    ipackets            opackets            ibytes              obytes
    2902                788                 1254581             134362
    ierrors             oerrors             imissed             rx_nombuf
    0                   0                   {missed}            0
"""
SYSBENCH = "[ {at}s ] thds: 34 tps: {tps} qps: {tps} (r/w/o: 0.00/1.00/1.00) lat (ms,95%): 31.94 err/s: 0.00 reconn/s: 0.00\n"  # noqa: E501
K6 = """    http_req_duration.......................................................: avg={mean} min=16.1µs  med=24.18ms max={most}   p(90)=33.03ms p(95)=35.83ms
    http_req_failed.........................................................: 0.00%  0 out of 4001
    http_reqs...............................................................: 4001   2393.475997/s
    iteration_duration......................................................: avg=26.69ms min=14.74ms med=25.2ms  max=62.17ms p(90)=33.88ms p(95)=36.93ms
    iterations..............................................................: 3999   2392.279558/s
"""  # noqa: E501
AB = """Concurrency Level:      1
Document Length:        {size} bytes
Time taken for tests:   400.059 seconds
Complete requests:      200
Failed requests:        0
Requests per second:    0.50 [#/sec] (mean)
Time per request:       2005.893 [ms] (mean)
Connection Times (ms)
              min  mean[+/-sd] median   max
Connect:        0    0   0.1      0       0
Processing:  2002 2006   1.9   2006    2009
Waiting:        0    0   0.1      0       {waiting}
"""
ALONE = """Document Length:        10 bytes
Concurrency Level:      10
Time taken for tests:   5.010 seconds
Complete requests:      1
Failed requests:        0
Requests per second:    0.20 [#/sec] (mean)
Connection Times (ms)
              min  mean[+/-sd] median   max
Connect:        0    0   0.0      0       0
Processing:  {whole} {whole}   0.0   {whole}    {whole}
Waiting:        7    7   0.0      7       7
"""
H2LOAD = """finished in 4.65s, {rate} req/s, 30.54MB/s
requests: 200000 total, 27826 started, 200000 done, 27726 succeeded, 172274 failed, 172274 errored, 0 timeout
status codes: 27726 2xx, 0 3xx, 0 4xx, 0 5xx
"""  # noqa: E501
YCSB = """[OVERALL], RunTime(ms), 10000.0
[OVERALL], Throughput(ops/sec), 1000.0
[READ], Operations, 5000.0
[READ], AverageLatency(us), 900.0
[READ], Return=OK, 5000
[UPDATE-FAILED], Operations, 5000.0
[UPDATE-FAILED], AverageLatency(us), 36.0
[UPDATE], Operations, {good}
"""
FIO = """writefile: (groupid=0, jobs=1): err= 0: pid=17124: Thu Sep 24 14:43:34 2020
  write: IOPS=93, BW=5988KiB/s (6132kB/s)(3072MiB/525297msec)
    slat (usec): min=5, max=554, avg=38.17, stdev=27.61
    clat (msec): min=1, max=1651, avg={mean}, stdev=205.17
     lat (msec): min=1, max=1651, avg={mean}, stdev=205.17
"""
MODES = """| senders | poll |   mode |  PPS |
|       1 |   no |    skb | 995k |
|       2 |   no |    skb | 1.8M |
|       1 |  yes |    skb | {yes} |
|       2 |  yes |    skb | 1.4M |
"""
SIZES = """| Packet Size | Zero copy PPS | Copy PPS |
| --- | --- | --- |
| 64 | 16524300 | 1735042 |
| 128 | {second} | 1727525 |
| 256 (I expect more) | 9398480 | 1649236 |
"""
AGAIN = """| op | bw (kB/s) |
| --- | --- |
| write | {first} |
| write | 87473 |
| write | 86773 |
| write | 84602 |
"""
ROUTER = """nova_stream        93.59 MBit/s
nova_stream_router {nova} MBit/s
linux_stream        92.15 MBit/s
linux_stream_router {linux} MBit/s
"""
SWING = """10641 packets transmitted, 10639 packets received, 0.0% packet loss
round-trip min/avg/max/stddev = {least}/179.418/885.236/100.006 ms
"""
LOCUST = """ Name                                  # reqs      # fails     Avg     Min     Max  |  Median   req/s failures/s
-------------------------------------------------------------------------------------------------------------
 GET /a                                1315  {failed}    483     206    4102  |     260    4.37    2.92
 GET /b                                 951  0(0.00%)     506     209    1790  |     270    3.16    0.00
"""  # noqa: E501


TOP = """top - 14:31:10 up 1 day, 56 min,  2 users,  load average: 1.01, 1.73, 2.16
%Cpu(s):  4.2 us, 10.4 sy,  0.0 ni, 61.5 id,  0.0 wa,  0.0 hi, 23.9 si,  0.0 st

  PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND
   12 root      20   0       0      0      0 R  {share}   0.0  43:47.43 ksoftirqd/0
"""
MPSTAT = """03:50:09     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle
03:50:10     all   13.25    0.00   23.75    0.00    0.00   {soft}    0.00    0.00    0.00   {idle}
"""  # noqa: E501
QDISC = """qdisc htb 1: dev eth0 root refcnt 2 r2q 10 default 16 direct_packets_stat 4 direct_qlen 3
 Sent 11639966 bytes 9027 pkt (dropped {lost}, overlimits 17052 requeues 0)
 backlog 8003b 6p requeues 0
"""
BLOCK = """### {name}

RequestsPerSecond:           {rate}
Avg. Latency (ms):           5.2
Total time (s):              15.1

"""
VEGETA = """Requests        [total]                 15000
Duration        [total]                 30.010003254s
Latencies       [mean, 95, 99, max]     {mean}ms, 2.329778ms, 3.002067645s, 3.002067645s
Success         [ratio]                 100.00%
Status Codes    [code:count]            200:15000
"""
LOSSY = "[  5] {at:6.2f}-{end:.2f}   sec   201 MBytes  {rate} Gbits/sec  {again}    48.1 KBytes\n"


def lossy(rate: str, again: int) -> str:
    head = "[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n"
    lines = [LOSSY.format(at=at, end=at + 1, rate=rate, again=again) for at in range(6)]
    return head + "".join(lines)


def explanation_of(text: str) -> str:
    """What is said of a log, in one string."""
    explained = of_content("log", text.encode(), Machine())
    lines = [finding.explanation for finding in explained.findings]
    return " ".join(
        [*lines, *explained.notes, *(note for r in explained.reports for note in r.notes)]
    )


def pings(first: str, title: str = "While uploading") -> str:
    return PING.format(title="Idle", time="11.600") + PING.format(title=title, time=first)


def series(*times: float) -> str:
    return "".join(REPLY.format(at=at, time=time) for at, time in enumerate(times, 1))


def loads(*rates: str) -> str:
    return "".join(SYSBENCH.format(at=5 * at, tps=tps) for at, tps in enumerate(rates, 1))


GIGABIT = "1.10 GBytes  943 Mbits/sec    0"
KINDS = [
    ("The slow one was made under load", pings("432.600"), pings("14.600")),
    ("If the line was full during", pings("432.600", "Other"), pings("25.000", "Other")),
    ("echoes in a row take about", series(21, 20, 21, 22, 180, 390, 410, 402, 398),
     series(21, 20, 21, 22, 180, 20, 21, 402, 22)),
    ("up to 224.86 ms", SPEEDTEST.format(most="224.86"), SPEEDTEST.format(most="24.86")),
    ("It begins at hop 1", MTR.format(first="72.2   0.9 702.8 158.0"),
     MTR.format(first=" 1.2   0.9   2.8   0.5")),
    ("The loss begins in line 3", UDP.format(first="0/841 (0%)"),
     UDP.format(first="420/841 (50%)")),
    ("about 65.6 Mbit/s were sent", UDP.format(first="0/841 (0%)").replace("28.4", "28.2"),
     UDP.format(first="0/841 (0%)").replace("(57%)", "(2%)").replace("(49%)", "(1%)")),
    ("% of the link of 10 Gb/s", IPERF.format(words="Both have a 10Gb NIC.", first=GIGABIT),
     IPERF.format(words="We expected a 10Gb NIC.", first=GIGABIT)),
    ("iperf3 before 3.16 runs all streams in one thread", TWO_TOOLS.format(rate="35.2"),
     TWO_TOOLS.format(rate="95.2")),
    ("They were 2,281 before", DPDK.format(first=2281, second=2593),
     DPDK.format(first=2593, second=2593)),
    ("8,488 more (75 %) found no room", DPIP.format(missed=8488), DPIP.format(missed=0)),
    ("stays below a tenth to the end", loads("17495", "17297", "16619", "221", "0.4", "30", "0.0"),
     loads("17495", "17297", "16619", "221", "17000", "16619", "17495")),
    ("So the times of requests are wrong", K6.format(mean="116.8ms", most="7.35s"),
     K6.format(mean="26.1ms", most="61.35ms")),
    ("ab waits until the connection is closed", AB.format(size=12, waiting=0),
     AB.format(size=12, waiting=1900)),
    ("a timer closes it", ALONE.format(whole=5010), ALONE.format(whole=5310)),
    ("are 43,010.8 a second", H2LOAD.format(rate="12.5"), H2LOAD.format(rate="5956.86")),
    ("All 5,000 operations of the kind UPDATE failed", YCSB.format(good="0.0"),
     YCSB.format(good="100.0")),
    ("are about 63.6 requests under way", FIO.format(mean="683.82"), FIO.format(mean="10.71")),
    ("differ only in poll", MODES.format(yes="650k"), MODES.format(yes="1.1M")),
    ("The link is not the limit there", SIZES.format(second=7423227), SIZES.format(second=9923227)),
    ("in all 3 rows of this table Zero copy is above Copy", SIZES.format(second=7423227),
     SIZES.format(second=1000000)),
    ("the first of 4 rows that are alike", AGAIN.format(first=147857), AGAIN.format(first=88857)),
    ("with “_router” a figure is", ROUTER.format(nova="90.31", linux="70.24"),
     ROUTER.format(nova="93.31", linux="92.00")),
    ("most echoes wait", SWING.format(least="2.784"), SWING.format(least="150.784")),
    ("879 requests failed", LOCUST.format(failed="879(66.84%)"), LOCUST.format(failed="0(0.00%)")),
    ("So CPU 0 is at its limit with them", TOP.format(share="93.2"), TOP.format(share="13.2")),
    ("of the time of all CPUs are soft interrupts", MPSTAT.format(soft="48.25", idle="14.75"),
     MPSTAT.format(soft=" 8.25", idle="54.75")),
    ("so 14 % were lost there", QDISC.format(lost=1414), QDISC.format(lost=14)),
    ("every second Rate is near", "Rate: 13.5 Gbps\nRate: 210.1 Gbps\n" * 5,
     "Rate: 13.5 Gbps\nRate: 13.1 Gbps\n" * 5),
    ("differs most among the rates", BLOCK.format(name="A", rate=108832)
     + BLOCK.format(name="B", rate=15726), BLOCK.format(name="A", rate=108832)
     + BLOCK.format(name="B", rate=105726)),
    ("nineteen of twenty are below", VEGETA.format(mean="5.28031"), VEGETA.format(mean="1.28031")),
    ("So most likely something drops what is above that rate", lossy("1.68", 437),
     lossy("9.41", 437)),
]  # fmt: skip


@pytest.mark.parametrize(("words", "log", "near"), KINDS, ids=[words for words, *_ in KINDS])
def test_is_said_of_its_log_and_not_of_a_near_one(words: str, log: str, near: str) -> None:
    assert words in explanation_of(log)
    assert words not in explanation_of(near)


def test_figures_of_a_receiver_are_not_said_to_be_a_senders() -> None:
    explained = of_content("log", UDP.format(first="0/841 (0%)").encode(), Machine())
    assert {finding.artefact for finding in explained.findings} == {"lost-packets"}


def test_what_a_port_receives_is_not_compared_with_what_it_sent() -> None:
    assert "More cannot arrive" not in explanation_of(DPIP.format(missed=8488))
