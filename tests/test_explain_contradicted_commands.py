"""Commands that the output below them contradicts: nothing of them is said of it. And copies of dd
in other languages."""

from __future__ import annotations

import pytest

from benchbook.explain.api import of_content
from benchbook.explain.explanation import Explained
from benchbook.explain.rules import Machine

H2LOAD = """$ h2load -n{asked} -c100 -m10 {more}https://localhost
finished in 7.08s, 141164.80 req/s, 555.33MB/s
requests: 1000000 total, 1000000 started, 1000000 done, 1000000 succeeded, 0 failed, 0 errored, \
0 timeout
status codes: 1000000 2xx, 0 3xx, 0 4xx, 0 5xx
                     min         max         mean         sd        +/- sd
time for request:    15.31ms    146.85ms     69.78ms      9.26ms    92.43%
"""
WRK = """$ wrk -t2 -c{asked} -d10s http://10.0.0.2/
Running 10s test @ http://10.0.0.2/
  2 threads and 100 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.00ms  200.00us   9.00ms   80.00%
    Req/Sec    50.00k     1.00k   52.00k    75.00%
  1000000 requests in 10.00s, 120.00MB read
Requests/sec: 100000.00
Transfer/sec:     12.00MB
"""
AB = """$ ab -n {asked} -c 10 http://10.0.0.2/
Concurrency Level:      10
Time taken for tests:   2.000 seconds
Complete requests:      1000
Failed requests:        0
Requests per second:    500.00 [#/sec] (mean)
Time per request:       20.000 [ms] (mean)
"""
REDIS = """$ redis-benchmark -h 10.0.0.2 -t set -n 100000 -c {asked}
====== SET ======
  100000 requests completed in 1.00 seconds
  50 parallel clients
  3 bytes payload
  keep alive: 1

100000.00 requests per second
"""
PGBENCH = """$ pgbench -c {asked} -T 60 test
transaction type: <builtin: TPC-B (sort of)>
scaling factor: 100
number of clients: 8
number of threads: 1
duration: 60 s
number of transactions actually processed: 60000
latency average = 8.000 ms
tps = 1000.000000 (without initial connection time)
"""
SYSBENCH = """$ sysbench cpu --threads={asked} run
sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)
Running the test with following options:
Number of threads: 4
CPU speed:
    events per second:  3000.00
General statistics:
    total time:                          10.0005s
    total number of events:              30006
"""
PING = """$ ping -c {asked} 10.0.0.2
PING 10.0.0.2 (10.0.0.2) 56(84) bytes of data.

--- 10.0.0.2 ping statistics ---
100 packets transmitted, 100 received, 0% packet loss, time 99123ms
rtt min/avg/max/mdev = 0.100/0.200/0.300/0.010 ms
"""
UDP = """$ iperf -u -c 10.0.0.2 -b {asked} -t {time}
------------------------------------------------------------
Client connecting to 10.0.0.2, UDP port 5001
Sending 1470 byte datagrams
------------------------------------------------------------
[  3] local 10.0.0.1 port 50616 connected with 10.0.0.2 port 5001
[ ID] Interval       Transfer     Bandwidth
[  3]  0.0-10.1 sec   125 MBytes   104 Mbits/sec
"""
DD = """$ dd if=/dev/zero of=/data/f bs=1M count={asked}
1024+0 records in
1024+0 records out
1073741824 bytes (1.1 GB, 1.0 GiB) copied, 5.4 s, 199 MB/s
"""


def _explained(text: str) -> Explained:
    return of_content("log.txt", text.encode(), Machine())


@pytest.mark.parametrize(
    ("log", "fits", "other"),
    [
        (H2LOAD.format(asked="{}", more=""), "1000000", "100000"),
        (WRK.replace("{asked}", "{}"), "100", "400"),
        (AB.replace("{asked}", "{}"), "5000", "100"),  # a run that was stopped has fewer
        (REDIS.replace("{asked}", "{}"), "50", "500"),
        (PGBENCH.replace("{asked}", "{}"), "8", "80"),
        (SYSBENCH.replace("{asked}", "{}"), "4", "1"),
        (PING.replace("{asked}", "{}"), "100", "10"),
        (UDP.replace("{time}", "10").replace("{asked}", "{}"), "100m", "10m"),
        (DD.replace("{asked}", "{}"), "1024", "100"),
    ],
)
def test_a_command_with_other_counts_is_not_of_the_output(log: str, fits: str, other: str) -> None:
    """A command that contradicts a count is named once, and nothing of it is used."""
    own = _explained(log.replace("{}", fits))
    assert own.reports[0].asked
    assert not any("not of one run" in str(said) for said in (own.findings, own.notes))
    wrong = _explained(log.replace("{}", other))
    assert not wrong.reports[0].asked
    said = [found.explanation for found in wrong.findings] + wrong.notes
    assert sum("not of one run" in each for each in said) == 1
    assert [own.value for own in wrong.reports[0].results]


def test_streams_of_another_command_make_no_load() -> None:
    """Without its clients and streams no law says that the rate is wrong; a test by time has no
    count that could contradict."""
    found = _explained(H2LOAD.format(asked="100000", more=""))
    assert "concurrency" not in found.reports[0].facts
    assert [each.artefact for each in found.findings] == ["mislabelled"]
    timed = _explained(H2LOAD.format(asked="100000", more="-D 7 "))
    assert timed.reports[0].facts["concurrency"] == 1000


def test_only_the_output_that_contradicts_loses_its_command() -> None:
    """What stands above the first one that contradicts is still of the command."""
    text = WRK.format(asked="100")
    below = text.partition("\n")[2].replace("100 connections", "400 connections")
    first, second = _explained(text + below).reports
    assert first.asked
    assert not second.asked
    again = _explained(text + below + text).reports
    assert [bool(own.asked) for own in again] == [True, False, True]


def test_many_commands_of_one_kind_are_one_finding() -> None:
    """A log of many such runs has one finding, with how many more there are."""
    found = _explained(3 * WRK.format(asked="400")).findings
    (own,) = [each for each in found if "not of one run" in each.explanation]
    assert "The same holds for 2 other commands." in own.explanation


def test_a_rate_that_one_end_kept_is_no_contradiction() -> None:
    """The sender's row may be wrong where the receiver's fits the rate that was asked for."""
    text = UDP.format(asked="10m", time="10")
    row = "[  3]  0.0-10.1 sec  11.9 MBytes  9.9 Mbits/sec   0.007 ms    0/ 8505 (0%)"
    below = _explained(f"{text}[  3] Server Report:\n{row}\n")
    assert not [each for each in below.findings if each.artefact == "mislabelled"]


def test_a_short_time_is_no_sign_of_a_stop_alone() -> None:
    """It may be another command's; below another program's command nothing is said of its time."""
    (found,) = [
        each
        for each in _explained(UDP.format(asked="100m", time="60")).findings
        if each.artefact == "short-run"
    ]
    assert "or this is the output of another command" in found.explanation
    other = _explained(UDP.format(asked="100m", time="60").replace("$ iperf ", "$ iperf3 "))
    assert not [each for each in other.findings if each.artefact == "short-run"]
    assert any("form of iperf 2" in each.explanation for each in other.findings)


@pytest.mark.parametrize(
    "lines",
    [
        "记录了1+0 的读入\n记录了1+0 的写出\n1073741824字节(1.1 GB)已复制，5.43328 秒，198 MB/秒",
        "1073741824字节（1.1 GB，1.0 GiB）已复制，5.43328 s，198 MB/s",
        "1073741824 バイト (1.1 GB) コピーされました、 5.43328 秒、 198 MB/秒",
        "레코드 1+0개 나감\n1073741824 바이트 (1.1 GB, 1.0 GiB) 복사함, 5.43328 s, 198 MB/s",
        "1+0 записей получено\n1073741824 байт (1,1 GB) скопировано, 5,43328 c, 198 MB/c",
        "skopiowane bajty: 1073741824 (1,1 GB, 1,0 GiB), 5,43328 s, 198 MB/s",
        "1073741824 byte (1,1 GB, 1,0 GiB) copiati, 5,43328 s, 198 MB/s",
    ],
)
def test_copies_in_other_languages(lines: str) -> None:
    """Bytes, time and rate of a copy, whatever its words are."""
    (report,) = _explained(lines).reports
    (copy,) = report.results
    assert (report.tool, copy.value, copy.unit) == ("dd", 198.0, "MB/s")
    assert (copy.of["bytes_moved"], copy.of["elapsed_s"]) == (1073741824, 5.43328)


def test_a_line_with_sizes_is_no_copy() -> None:
    """Without a line of dd above, the rate has to be that of the bytes and the time."""
    line = "1073741824字节(1.1 GB)已复制，5.43328 秒，398 MB/秒"
    assert not [own for own in _explained(line).reports if own.tool == "dd"]
    found = _explained(f"$ dd if=/dev/zero of=/data/f bs=1G count=1\n{line}")
    assert "inconsistent-report" in [each.artefact for each in found.findings]


def test_a_refusal_names_the_program_of_the_command() -> None:
    """A known program in a command is not called unknown."""
    trouble = _explained("$ dd if=/dev/zero of=/data/f bs=1G\nfertig\n").trouble
    assert "it names dd" in trouble
    assert "nothing in it looks like" in _explained("$ frobnicate -x\nfertig\n").trouble
