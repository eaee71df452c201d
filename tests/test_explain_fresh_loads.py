"""What was said of loads, stores and copies beyond what their logs show, and what was missed, as
unseen logs had it."""

from __future__ import annotations

import pytest

from benchbook.explain.api import Machine, of_content
from benchbook.explain.render import print_explained

WRK = """{command}Running 25s test @ http://192.0.2.1:8083/
  10 threads and 600 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     8.06ms   12.65ms  81.59ms   90.45%
    Req/Sec    12.36k     4.94k   26.73k    71.89%
  2983443 requests in 24.99s, 398.33MB read
Requests/sec: 119391.93
Transfer/sec:     15.94MB
"""
JOB = """[global]
bs=1m
numjobs=32
[read]
rw=read

read: (groupid=0, jobs=32): err= 0: pid=70956: Wed Jul  8 13:27:48 2020
  read: IOPS=9167, BW=9167MiB/s (9613MB/s)(2686GiB/300004msec)
"""
REDIS = """$ ./redis-benchmark -t set -n {count} {host}
====== SET ======
  {count} requests completed in {took} seconds
  50 parallel clients
  3 bytes payload

100.00% <= 0 milliseconds
50000.00 requests per second
"""
YCSB = """[OVERALL], RunTime(ms), 100000
[OVERALL], Throughput(ops/sec), 9.0
[READ], Operations, 450
[READ], AverageLatency(us), 91453.3
[READ], Return=OK, {good}
[READ], Return=NOT_FOUND, {bad}
[UPDATE], Operations, 450
[UPDATE], AverageLatency(us), 52847.0
"""
BOMBARDIER = """Statistics        Avg      Stdev        Max
  Reqs/sec   1815470.31   75734.29 2030540.86
  Latency      269.01us   175.66us    23.01ms
  HTTP codes:
    1xx - 0, 2xx - {good}, 3xx - 0, 4xx - 0, 5xx - {bad}
    others - {others}
  Throughput:       0.00/s
"""
PARTS = """{first}
    Total throughput = 1333031.88 kB/sec
    Min throughput = 328657.47 kB/sec
    Avg throughput = 333257.97 kB/sec
{second}
    Total throughput = 1429704.62 kB/sec
    Min throughput = 354526.41 kB/sec
    Avg throughput = 357426.16 kB/sec
"""
STORE = "readwhilewriting :    {time} micros/op 31248 ops/sec;   21.1 MB/s (99 of 99 found)\n"
SENT = (
    "50428 records sent, 63914 records/sec{mark} (321.0 MB/sec), "
    "0.48{gap}ms avg latency, 4.16{gap}ms max latency\n"
)
DEVICE = """Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz  aqu-sz  %util
nvme1n1        4380.00  70080.00     0.00   0.00    0.10    16.00    {queue} 100.00
"""
LABELS = (
    "Init Duration: 834.09 ms\tDuration: 3.35 ms\tBilled Duration: 900 ms\n"
    "Init Duration: 812.15 ms\tDuration: 3.36 ms\tBilled Duration: 900 ms\n"
)
VEGETA = """Requests      [total, rate, throughput]  840000, 1166.66, 1166.65
Duration      [total, attack, wait]      12m0.00774586s, 12m0.005126434s, 2.619426ms
Status Codes  [code:count]               200:840000
"""
BENCHSTAT = """            │ old.txt     │            new.txt             │
            │ {unit}     │ {unit}    vs base              │
TPCC/delivery   133.4 ± 3%   131.4 ± 2%  ~ (p=0.156 n=18+20)
TPCC/neworder   1.334k ± 3%  1.314k ± 2% ~ (p=0.156 n=18+20)
TPCC/payment    1.334k ± 3%  1.314k ± 2% ~ (p=0.158 n=18+20)
"""
STRESS = (
    "type, total ops, op/s, pk/s, row/s, mean, med, .95, .99, .999, max, time, stderr, errors\n"
)
STRESS += "".join(
    f"total, {at}00000, 900, 900, 900, 20.0, 19.0, 30.0, 40.0, 50.0, {{{at}}}, {at}.0, 0.02, 0\n"
    for at in range(1, 5)
)
GLUED = """It takes long:
```real	10m29.800s
user	0m11.336s
sys	0m3.192s```
"""


def statements(log: str) -> str:
    explained = of_content("log", log.encode(), Machine())
    return "\n".join([*(own.explanation for own in explained.findings), *explained.notes])


@pytest.mark.parametrize(
    ("log", "says", "silent"),
    [
        # A script may send several requests at a time, and its command shows whether there is one.
        (WRK.format(command=""), "Either a script of wrk", "but there were only"),
        (
            WRK.format(command="$ wrk -t10 -c600 -d25s http://192.0.2.1:8083/\n"),
            "So this mean is more than",
            "script",
        ),
        (REDIS.format(count=100, host="", took="0.00"), "lasted 2.00 ms", "the address is"),
        (
            REDIS.format(count=50000, host="-h 127.0.0.1", took="1.00"),
            "the address is 127.0.0.1",
            "lasted",
        ),
        (YCSB.format(good=200, bad=250), "250 requests failed", "completed"),
        (YCSB.format(good=450, bad=0), "", "failed"),
        (
            BOMBARDIER.format(good=0, bad=0, others=18155),
            "18,155 requests failed",
            "were completed",
        ),
        (BOMBARDIER.format(good=11, bad=11009, others=0), "11,009 of 11,020 answers", "failed"),
        (BOMBARDIER.format(good=11020, bad=0, others=0), "", "fail"),
        # Two tests of one run, and two runs.
        (PARTS.format(first="Test writers", second="Test readers"), "", "both runs"),
        (PARTS.format(first="Test writers:", second="Test readers:"), "", "both runs"),
        (PARTS.format(first="before:", second="after:"), "by a factor of 1.073. F", "to 1.073"),
        (STORE.format(time="1023.937"), "about 32 operations were under way", "one run each"),
        (STORE.format(time="32.002"), "", "under way"),
        (STORE.format(time="32.002").replace("99 of", "56 of"), "Only 56 of 99 keys", "under way"),
        # Some request is under way for as long as the mean queue says, at the most.
        (DEVICE.format(queue="0.43"), "one of the two is wrong", "may have far more"),
        (DEVICE.format(queue="1.40"), "may have far more", "is wrong"),
        # Whatever the unit of a table of benchstat is, its rows have their test.
        (BENCHSTAT.format(unit="ops/sec"), "finds no difference", "without a p value"),
        (BENCHSTAT.format(unit="sec/op"), "finds no difference", "without a p value"),
        (
            BENCHSTAT.replace("~ (p=0.156 n=18+20)", "-1.50%")
            .replace("~ (p=0.158 n=18+20)", "-1.50%")
            .format(unit="ops/sec"),
            "without a p value",
            "finds no",
        ),
        (STRESS.format(0, 260.0, 56.0, 61.5, 253.2), "", "of most intervals"),
        (STRESS.format(0, 260.0, 256.0, 61.5, 253.2), "of most intervals", "sends"),
        (GLUED, "ran on no CPU", "not recognised"),
    ],
)
def test_only_what_the_log_decides_is_said(log: str, says: str, silent: str) -> None:
    said = statements(log)
    assert says in said
    assert silent not in said


@pytest.mark.parametrize(
    ("log", "shown", "silent"),
    [
        (JOB, "the job file above: fio", "last command above"),
        ("$ fio --rw=read --bs=1m\n" + JOB.partition("\n\n")[2], "last command above: ", "the job"),
        (SENT.format(mark=":", gap="") * 3, "fluvio, from line 1", "MiB/s"),
        (LABELS, "3.35  ms                 1", "3.35  ms      Init"),
        (VEGETA, "vegeta, from line 1", "not recognised"),
        (BOMBARDIER.format(good=9, bad=0, others=0).replace(".", ","), "1,815,470.31", "other l"),
        (SENT.format(mark="", gap=" ") * 3, "kafka-perf, from line 1", "fluvio"),
    ],
)
def test_headings_name_what_printed_it(
    log: str, shown: str, silent: str, capsys: pytest.CaptureFixture[str]
) -> None:
    print_explained(of_content("log", log.encode(), Machine()), alone=True)
    text = capsys.readouterr().out
    assert shown in text
    assert silent not in text
