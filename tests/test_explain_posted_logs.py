"""Kinds that logs from public places showed, cut down: what is said of them, and near misses where
it must not be said."""

from __future__ import annotations

import pytest

from benchbook.explain.api import Machine, of_content


def statements(text: str) -> str:
    """All that is said of a log, findings and notes."""
    told = of_content("x", text.encode(), Machine())
    findings = (f"{finding.explanation} {finding.remedy}" for finding in told.findings)
    return " ".join([*findings, *told.notes])


ROWS_OF_SIDES = """\
| back end | kernel time | all kernels |
|---|---|---|
| before | {before} s | 5.399 s |
| after | 1.843 s | 5.416 s |

So the second is 20 % faster than the first.
"""
UDP = """\
iperf3 -c server -u -t 2 -b 96K
[  4] local 10.0.0.1 port 49402 connected to 10.0.0.2 port 5201
[ ID] Interval           Transfer     Bandwidth       Total Datagrams
[  4]   0.00-1.00   sec  16.0 KBytes   131 Kbits/sec  2
[  4]   1.00-2.00   sec  8.00 KBytes  65.5 Kbits/sec  1
"""
TORN = """\
[ ID] Interval    Transfer    Bandwidth    Jitter
0.00-2.00   sec  24.0 KBytes  98.2 Kbits/sec  63.064 ms  0/3 (0%)
"""
SERVER = """\
Accepted connection from 10.0.0.1, port 45420
[  5] local 10.0.0.2 port 5101 connected to 10.0.0.1 port 45424
[ ID] Interval           Transfer     Bandwidth
[  5]   0.00-1.00   sec   375 MBytes  3.14 Gbits/sec
[  5]   1.00-2.00   sec   392 MBytes  3.29 Gbits/sec
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bandwidth
[  5]   0.00-2.00   sec  {sender}                  sender
[  5]   0.00-2.00   sec   767 MBytes  3.22 Gbits/sec                  receiver
"""
STRACE = """\
$ strace {options} sleep 1
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 66.85    0.000104          17         6           mmap
 33.15    0.000033          33         1           nanosleep
------ ----------- ----------- --------- --------- ----------------
100.00    0.000137                     7           total
"""
COUNTS = """\
 Performance counter stats for './a':

            {clock} msec task-clock                #    {used} CPUs utilized
           1000000      cycles
            900000      instructions              #    0.90  insn per cycle
   <not supported>      branches

       0.009603849 seconds time elapsed

       0.000000000 seconds user
       {system} seconds sys
"""
SPEED_UPS = """\
| Setting | Program | Time (s) | Speedup | Efficiency |

| :--- | :--- | :--- | :--- | :--- |

| 8P x 1T | a | 1997.8 | 1.27x | {first} |

| 1P x 8T | b | 1875.7 | 1.35x | {second} |
"""
WAYS = """\
| test       | bitrate      |
|------------|--------------|
| host to vm | {slow} Gbits/s |
| vm to host | 46.6 Gbits/s |
| vm to vm   | 31.0 Gbits/s |
"""
COPIES = """\
            Type  Time(%)      Time     Calls       Avg       Min       Max  Name
 GPU activities:   99.04%  4.42518s   {calls}  1.4300us  1.1520us  11.616us  [CUDA memcpy DtoD]
                    0.32%  14.102ms         8  1.7627ms  1.1336ms  2.2644ms  maxwell_dgemm
"""
PERCENTILES = """\
./latency client A
p50={half}us p99=44099.816000us max=47994.397000us
p50=43997.797000us p99=44085.645000us max=44229.148000us
./latency client B
p50=31.840000us p99=41.360000us max=1952.836000us
p50=31.880000us p99=41.810000us max=268.571000us
"""
SPEEDTEST = """\
Hosted by A Provider (A Town) [23.80 km]: {latency} ms
Download: 56.08 Mbit/s
Upload: 35.37 Mbit/s
"""
TWO_RUNS = """\
 Performance counter stats for './a':

    27,498,069,147      cycles
    52,307,878,837      instructions              #    1.90  insn per cycle

       5.578074162 seconds time elapsed

 Performance counter stats for './b':

    66,786,371,466      cycles
   136,752,314,749      instructions              #    2.05  insn per cycle

       {elapsed} seconds time elapsed
"""


@pytest.mark.parametrize(
    ("text", "said", "is_said"),
    [
        (ROWS_OF_SIDES.format(before=2.304), "no two figures", False),
        (ROWS_OF_SIDES.format(before=1.85), "no two figures", True),
        (UDP, "no line from the receiver", True),
        (UDP + TORN, "no line from the receiver", False),
        (UDP + TORN, "the tail is missing", False),
        (SERVER.format(sender="0.00 Bytes  0.00 bits/sec"), "0 B of the sender", True),
        (SERVER.format(sender=" 767 MBytes  3.22 Gbits/sec"), "0 B of the sender", False),
        (STRACE.format(options="-f -c"), "sums the CPU time", True),
        (STRACE.format(options="-c -w"), "sums the CPU time", False),
        (STRACE.format(options="-c docker run -it x"), "the client docker alone", True),
        (COUNTS.format(clock="0.94", used=0.098, system=0.001217), "ran on none", True),
        (COUNTS.format(clock="0.94", used=0.098, system=0.013217), "ran on none", False),
        (COUNTS.format(clock="9.40", used=0.98, system=0.009217), "no such event", True),
        (SPEED_UPS.format(first=0.16, second=0.17), "at best 1.35 times", True),
        (SPEED_UPS.format(first=0.64, second=0.68), "at best 1.35 times", False),
        (WAYS.format(slow=1.4), "From host to vm", True),
        (WAYS.format(slow=40.1), "From host to vm", False),
        (COPIES.format(calls=3094192), "3,094,192 times [CUDA memcpy DtoD]", True),
        (COPIES.format(calls=3094), "To start one from the host", False),
        (PERCENTILES.format(half="43996.858000"), "keeps an acknowledgement back", True),
        (PERCENTILES.replace("44", "64").format(half="63996.8"), "acknowledgement", False),
        (SPEEDTEST.format(latency="1800000.0"), "is no latency", True),
        (SPEEDTEST.format(latency="18.0"), "is no latency", False),
        (TWO_RUNS.format(elapsed=6.661482888), "the elapsed times", True),
        (TWO_RUNS.format(elapsed=13.661482888), "the elapsed times", False),
    ],
)
def test_a_kind_is_said_where_the_log_has_it(text: str, said: str, *, is_said: bool) -> None:
    assert (said in statements(text)) is is_said, statements(text)


def test_a_job_log_of_avocado_has_the_rows_of_its_program() -> None:
    stamp = "2019-07-16 03:43:24,13{} process          L0458 DEBUG| [stdout] "
    lines = [
        "-" * 60,
        " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]",
        " 1024       1000             0.00               1476.74             1.512181",
        "-" * 60,
    ]
    text = "\n".join(stamp.format(number) + line for number, line in enumerate(lines))
    reports = of_content("x", text.encode(), Machine()).reports
    assert [report.tool for report in reports] == ["perftest"]
    assert reports[0].called("bandwidth")[0].value == 1476.74


def test_a_command_of_root_without_a_space_is_the_one_above_the_run() -> None:
    text = f"# iperf3 --version\niperf 3.1.7\n\n#{UDP}"
    reports = of_content("x", text.encode(), Machine()).reports
    assert reports[-1].asked[:2] == ("iperf3", "-c")


def test_a_table_without_a_bar_before_it_keeps_its_first_column_and_its_shares() -> None:
    text = """\
```
version |      name | threads | cpu_misses | time
-------------------------------------------------
before  | evp_fetch |       2 |      1.07% | 0.92145s
after   |           |         |       0.8% | 1.18641s
before  | evp_fetch |      10 |      0.68% | 1.2596s
after   |           |         |      0.61% | 1.38908s
```
"""
    (report,) = of_content("x", text.encode(), Machine()).reports
    of_row = [own for own in report.results if own.line == 5]
    assert {(own.name, own.value, own.unit, own.statistic) for own in of_row} == {
        ("cpu_misses", 0.8, "%", "given"),
        ("time", 1.18641, "s", ""),
    }


def test_a_space_that_parts_thousands_is_no_end_of_a_number() -> None:
    text = """\
| Size (MB) | Ring (µs)    | Tuned (µs)   |
|----------:|-------------:|-------------:|
| 1         |     2 287.61 |     3 710.72 |
| 512       |   992 232.12 | 1 182 699.49 |
"""
    (report,) = of_content("x", text.encode(), Machine()).reports
    assert [own.value for own in report.results] == [2287.61, 3710.72, 992232.12, 1182699.49]
