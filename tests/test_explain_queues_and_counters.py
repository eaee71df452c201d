"""Loads of queues and databases by their intervals, and counters of interfaces: what is said of
each kind, and near it a log of which it must not be said. The logs are made up."""

from __future__ import annotations

import pytest

from benchbook.explain.api import Machine, of_content

KAFKA = (
    "$ kafka-producer-perf-test.sh --topic t --throughput {asked} --record-size 1000\n"
    + "".join(
        f"25{n}377 records sent, 5{n}875.4 records/sec (48.52 MB/sec), 9.9 ms avg latency, "
        "61.0 ms max latency.\n"
        for n in range(4)
    )
)
SYSBENCH = """Running the test with following options:
Number of threads: 16
Target transaction rate: {target}/sec

[ 1s ] thds: 16 tps: {first} qps: 16977.05 (r/w/o: 11/3/1) lat (ms,95%): 30.26 err/s: {errors}
[ 2s ] thds: 16 tps: 875.33 qps: 17479.67 (r/w/o: 12/3/1) lat (ms,95%): 29.72 err/s: 0.00
[ 3s ] thds: 16 tps: {third} qps: 16542.95 (r/w/o: 11/3/1) lat (ms,95%): 31.94 err/s: 0.00
[ 4s ] thds: 16 tps: 828.23 qps: 14388.78 (r/w/o: 10/2/1) lat (ms,95%): 36.24 err/s: 0.00
[ 5s ] thds: 16 tps: 830.00 qps: 16388.78 (r/w/o: 10/2/1) lat (ms,95%): 36.24 err/s: 0.00
"""
OF_SYSBENCH = {"target": 800, "first": "834.09", "third": "831.80", "errors": "0.00"}
TOTALS = """SQL statistics:
    transactions:                        6200   (309.40 per sec.)
    queries:                             99200  (4950.30 per sec.)
    ignored errors:                      {errors}    (0.10 per sec.)
"""
PROGRESS = "".join(
    f"progress: {n}.0 s, {{{'first' if n == 1 else 'others'}}} tps, lat {{time}} ms stddev 2.1\n"
    for n in range(1, 7)
)
RABBIT = (
    "id: test-1, time: 1.009s, sent: {sent} msg/s, received: {got} msg/s, "
    "min/median/75th/95th/99th consumer latency: 4293/{time}/10313000/12529000/15068000 µs\n"
)
YCSB = """[OVERALL], RunTime(ms), 20892
[OVERALL], Throughput(ops/sec), 47865.2
[READ], Operations, {good}
[READ], AverageLatency(us), 331.3
[READ], MaxLatency(us), {most}
[READ], 99thPercentileLatency(us), 1700
[READ], Return=OK, {good}
[READ], Return=ERROR, {bad}
"""
OF_YCSB = {"good": 999000, "bad": 0, "most": 14831}
MYSQLSLAP = """Benchmark
	Average number of seconds to run all queries: {mean} seconds
	Minimum number of seconds to run all queries: 0.000 seconds
	Maximum number of seconds to run all queries: {most} seconds
	Number of clients running queries: 100
	Average number of queries per client: {each}
"""
ETHTOOL = """$ ethtool -S eth0
NIC statistics:
     rx_packets: 3811442771
     tx_packets: 3587842300
     {name}: {count}
     rx_address_filtered: 40618447
     rx_errors: 0
"""
IP = """6: eth4: <BROADCAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP qlen 1000
    RX: bytes  packets  errors  dropped overrun mcast
    1361950677217 1745618628 0       0     {overrun}   12119074
    RX errors: length  crc     frame   fifo    missed
               0        0       0       0       {missed}
    TX: bytes  packets  errors  dropped carrier collsns
    0          0        0       0       0       0
"""
IFCONFIG = """eth1      Link encap:Ethernet
          RX packets:12079368 errors:0 dropped:{dropped} overruns:0 frame:0
          TX packets:2350935 errors:0 dropped:0 overruns:0 carrier:0
"""
NETSTAT = """Tcp:
    32997886 segments received
    32357425 segments send out
    {again} segments retransmited
    30 connections established
"""
TCPDUMP = """listening on eth0, link-type EN10MB (Ethernet)
71605 packets captured
71605 packets received by filter
{lost} packets dropped by kernel
"""
IOSTAT = """Device            r/s     w/s     rkB/s     wkB/s   await  aqu-sz  %util
sda            312.00    0.00  40064.00      0.00    9.34    2.95  {use}
"""
TPM = "Vuser 1:1 ...,\n{first} PostgreSQL tpm\n" + "".join(
    f"{n}0000 PostgreSQL tpm\n" for n in range(85, 95)
)
FALLS = "".join(
    f"[ {n}s ] thds: 16 tps: {{}} qps: 1.05 (r/w/o: 1/3/1) lat (ms,95%): 30.26 err/s: 0.00\n"
    for n in range(12)
)
TABLE = """| Server | Requests/sec | avg (ms) | p99 (ms) | Max (ms) | Errors |
|--------|-------------:|------:|------:|------:|------:|
| a | 12034 | 8.3 | 12.1 | {most} | 0 |
| b | 25034 | 4.1 | 9.1 | 20.2 | {errors} |
"""
RALLY = """|         Metric |         Task |   Value |   Unit |
|---------------:|-------------:|--------:|-------:|
|         Median Throughput | index-append | 17740.3 | docs/s |
|   50th percentile latency | index-append | {late} | ms |
|   50th percentile service time | index-append | 514.15 | ms |
|                error rate | index-append | {share} | % |
"""
WRK = """  12 threads and 400 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     {mean}s   399.45ms   1.94s    61.76%
  7067 requests in {took}, 5.77GB read
"""
OF_KAFKA = (
    "100000 records sent, 900.0 records/sec (0.01 MB/sec), {mean} ms avg latency, 910.00 ms max "
    "latency, 890 ms 50th, 890 ms 95th, 890 ms 99th, 890 ms 99.9th.\n"
)
SMART = """SMART overall-health self-assessment test result: {result}
  9 Power_On_Hours          0x0032   083   083   000    Old_age   Always       -       15261
"""

SS = (
    "ESTAB 0 0 10.0.0.1:5201 10.0.0.2:40000\n\t cubic wscale:7,7 rto:204 rtt:93.5/1.2 mss:1448 "
    "cwnd:{window} bytes_sent:12345678 bytes_retrans:{again} segs_out:8600 delivery_rate 5.6Mbps "
    "rwnd_limited:1000ms({held}%)\n"
)
OUT_OF_ORDER = """[ ID] Interval           Transfer     Bandwidth    Jitter    Lost/Total Datagrams
[  5]   0.00-60.00  sec  6.67 GBytes   955 Mbits/sec  0.009 ms  48/4863957 (0.00099%)
[SUM]  0.0-60.0 sec  {count} datagrams received out-of-order
"""


def statements(log: str) -> str:
    """What all findings and notes of a log say, as one text; a log must be recognised."""
    explained = of_content("log", log.encode(), Machine())
    assert explained.trouble == ""
    assert not any("failed on this log" in note for note in explained.notes)
    return " ".join([*(own.explanation for own in explained.findings), *explained.notes])


@pytest.mark.parametrize(
    ("log", "words", "near"),
    [
        (KAFKA.format(asked=60000), "60,000 a second were asked for", KAFKA.format(asked=50000)),
        (
            SYSBENCH.format(**OF_SYSBENCH | {"target": 2000}),
            "2,000 a second were asked for",
            SYSBENCH.format(**OF_SYSBENCH),
        ),
        (
            SYSBENCH.format(**OF_SYSBENCH | {"third": "0.00"}),
            "nothing was done",
            SYSBENCH.format(**OF_SYSBENCH),
        ),
        (
            SYSBENCH.format(**OF_SYSBENCH | {"first": "234.09"}),
            "The first interval did 234.09",
            SYSBENCH.format(**OF_SYSBENCH),
        ),
        (
            SYSBENCH.format(**OF_SYSBENCH | {"errors": "3.00"}),
            "Errors were counted in 1 interval",
            SYSBENCH.format(**OF_SYSBENCH),
        ),
        (
            SYSBENCH.format(**OF_SYSBENCH | {"third": "18446842801212211200.00"}),
            "is about 2^64",
            SYSBENCH.format(**OF_SYSBENCH),
        ),
        (TOTALS.format(errors=620), "620 errors were ignored", TOTALS.format(errors=1)),
        (
            PROGRESS.format(first="0.0", others="0.5", time="7000.1"),
            "none ended within them",
            PROGRESS.format(first="99.0", others="101.5", time="7.1"),
        ),
        (
            PROGRESS.format(first="0.0", others="501.5", time="7.1"),
            "nothing was done",
            PROGRESS.format(first="499.0", others="501.5", time="7.1"),
        ),
        (
            RABBIT.format(sent=30000, got=20000, time=5000),
            "10,000 more wait each second",
            RABBIT.format(sent=20100, got=20000, time=5000),
        ),
        (
            RABBIT.format(sent=2000, got=20000, time=5000),
            "10 times as much is received",
            RABBIT.format(sent=20000, got=20000, time=5000),
        ),
        (
            RABBIT.format(sent=2000, got=20000, time=8715782),
            "a queue that had filled before is emptied",
            RABBIT.format(sent=20000, got=20000, time=8715782),
        ),
        (
            YCSB.format(**OF_YCSB | {"bad": 99000, "good": 901000}),
            "99,000 requests failed",
            YCSB.format(**OF_YCSB),
        ),
        (
            YCSB.format(**OF_YCSB | {"most": 1483188}),
            "872 times what p99 is",
            YCSB.format(**OF_YCSB),
        ),
        (
            MYSQLSLAP.format(mean="0.522", most="1.165", each=0),
            "counts 0 queries for each",
            MYSQLSLAP.format(mean="0.522", most="1.165", each=10),
        ),
        (
            MYSQLSLAP.format(mean="0.000", most="0.001", each=1),
            "in steps of 0.001 s",
            MYSQLSLAP.format(mean="0.522", most="1.165", each=1),
        ),
        (
            ETHTOOL.format(name="rx_missed_errors", count=1725828),
            "the host fetched them too late",
            ETHTOOL.format(name="rx_missed_errors", count=0),
        ),
        (
            ETHTOOL.format(name="rx_crc_errors", count=1725828),
            "arrived damaged",
            ETHTOOL.format(name="rx_csum_offload_good", count=1725828),
        ),
        (
            ETHTOOL.format(name="rx_missed_errors", count=5270),
            "They count from the start of the interface, so a burst",
            ETHTOOL.format(name="rx_missed_errors", count=1725828),
        ),
        (
            IP.format(overrun=47323, missed=1725828),
            "1,725,828 RX missed (line 5)",
            IP.format(overrun=0, missed=0),
        ),
        (
            IFCONFIG.format(dropped=120793),
            "120,793 RX dropped (line 2), next to 12,079,368 packets, 0.99",
            IFCONFIG.format(dropped=0),
        ),
        (
            NETSTAT.format(again=438184),
            "438,184 of 32,357,425 segments",
            NETSTAT.format(again=4381),
        ),
        (
            TCPDUMP.format(lost=1192059),
            "1,192,059 packets dropped by kernel (line 4), next to 71,605",
            TCPDUMP.format(lost=0),
        ),
        (TCPDUMP.format(lost=4294965006), "2³² less 2,290", TCPDUMP.format(lost=0)),
        (
            IOSTAT.format(use="100.00"),
            "sda had a request under way for 100 %",
            IOSTAT.format(use="80.00"),
        ),
        (
            TABLE.format(most=1203, errors=0),
            "99.4 times what p99 is",
            TABLE.format(most=120, errors=0),
        ),
        (
            TABLE.format(most=120, errors=1843),
            "1,843 Errors (line 4: b)",
            TABLE.format(most=120, errors=0),
        ),
        (
            RALLY.format(late=514.9, share=3.35),
            "3.35 % of the requests of index-append failed",
            RALLY.format(late=514.9, share=0),
        ),
        (
            RALLY.format(late=2145.15, share=0),
            "requests wait for their turn",
            RALLY.format(late=514.9, share=0),
        ),
        (
            WRK.format(mean="1.32", took="1.67m"),
            "keep 93 connections busy, and 400 were open",
            WRK.format(mean="1.32", took="25.00s"),
        ),
        (
            OF_KAFKA.format(mean="8.90"),
            "half of all times are as long as the median",
            OF_KAFKA.format(mean="850.00"),
        ),
        (TPM.format(first=132), "hardly anything was done", TPM.format(first=849000)),
        (
            FALLS.format(*range(1200, 600, -50)),
            "in the last (line 12), by",
            FALLS.format(*[1200, 1150] * 6),
        ),
        (
            SS.format(window=10, again=144800, held="0.0"),
            "sent 144,800 of 12,345,678 B again",
            SS.format(window=100, again=1448, held="0.0"),
        ),
        (
            SS.format(window=100, again=0, held="55.0"),
            "the window of the receiver",
            SS.format(window=100, again=0, held="5.0"),
        ),
        (
            OUT_OF_ORDER.format(count=39595),
            "in another order than they were sent",
            OUT_OF_ORDER.format(count=0),
        ),
        (
            SMART.format(result="FAILED!"),
            "The drive says itself that it fails",
            SMART.format(result="PASSED"),
        ),
    ],
)
def test_a_kind_is_said_of_its_log_and_not_of_the_near_one(log: str, words: str, near: str) -> None:
    assert words in statements(log)
    assert words not in statements(near)
