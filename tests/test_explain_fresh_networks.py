"""What was said of networks, MPI and tables beyond what their logs show, as unseen logs had it."""

from __future__ import annotations

import pytest

from benchbook.explain.api import Machine, of_content
from benchbook.explain.render import print_explained

IMB = """#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec] Mbytes/sec
262144 160 30.48 33.48 32.24 15660.37
524288 80 46.49 59.52 54.79 17616.61
1048576 40 164.35 258.68 217.49 8107.16
2097152 20 824.89 936.35 893.57 4479.40
4194304 10 2010.12 3076.62 2165.94 {rate}
"""
PING = """PING db (10.10.10.2) 56(84) bytes of data.
--- db ping statistics ---
20 packets transmitted, 20 received, 0% packet loss, time 2004ms
rtt min/avg/max/mdev = {least}/{mean}/{most}/0.069 ms
"""
FAST = PING.format(least=30.061, mean=30.11, most=30.517)
HYBRID = """MPI Processes 1 | OpenMP Threads 20 |  simulation time = 6.8361e+02 seconds
MPI Processes 2 | OpenMP Threads 40 |  simulation time =  1.2219e+03 seconds
"""
HEADS = """| #bytes | {0} (PingPong) | {0} (SendRecv) |
|--------|------------|------------|
| 1      | 4.31       | 7.43       |
| 2      | 8.9        | 14.87      |
| 4      | 16.61      | 28.59      |
"""
UDP = """$ iperf3 {options}
[  4]   0.00-1.00   sec   129 KBytes  1.05 Mbits/sec  0.044 ms  0/94 (0%)
[  4]   1.00-2.00   sec   129 KBytes  1.05 Mbits/sec  0.075 ms  0/94 (0%)
[  4]   2.00-3.00   sec   127 KBytes  1.04 Mbits/sec  0.078 ms  0/93 (0%)
"""
STEPS = "- INFO - step: 10  loss:  1.5568  memory: 26.47GiB(33.47%)  speed: 1,786  mfu: 10.46%\n"
FABRIC = """fi_rdm_tagged_bw -p efa db
bytes   iters   total       time     MB/sec    usec/xfer   Mxfers/sec
64      20k     1.2m        0.03s     42.74       1.50       0.67
256     20k     4.8m        0.03s    161.42       1.59       0.63
1k      20k     19m         0.03s    596.41       1.72       0.58
4k      20k     78m         0.04s   2305.92       1.78       0.56
64k     2k      125m        0.02s   6189.06      10.59       0.09
1m      200     200m        0.03s   6892.86     152.12       0.01
"""
PROBES = """HOST: a                           Loss%   Snt   Last   Avg  Best  Wrst StDev
  1.|-- fritz.box                  0.0%     {first}    0.9   7.7   0.8  35.0  15.3
  2.|-- 192.0.2.7                  0.0%     2    6.7   6.6   6.2   7.1   0.3
"""
LOST = "[  4]   {at}.00-{end}.00   sec  33.7 MBytes   283 Mbits/sec  {again}   43.8 KBytes\n"
HEAD = "[ ID] Interval           Transfer     Bandwidth       Retr  Cwnd\n"
TWICE = (
    "before\n"
    + HEAD
    + "".join(LOST.format(at=at, end=at + 1, again=0) for at in range(3))
    + "after\n"
    + HEAD
    + "".join(LOST.format(at=at, end=at + 1, again=0) for at in range(3))
)
DONE = """[  4]   0.00-10.00  sec  6.66 GBytes  5.72 Gbits/sec    0             sender
[  4]   0.00-10.00  sec  6.65 GBytes  5.72 Gbits/sec                  receiver

iperf Done.
64 parallel flows
[SUM]   0.00-10.00  sec  6.73 GBytes  5.78 Gbits/sec    0             sender
[SUM]   0.00-10.00  sec  6.66 GBytes  5.72 Gbits/sec                  receiver
"""
SIZES = """ #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
 2          5000           0.142947            {0}            {1}
 4          5000             0.28               0.26               8.255475
 8          5000             0.55               {2}               {3}
 16         5000             1.16               1.16               9.025968
 32         5000             2.31               2.27               8.865877
"""
ENVELOPE = "The tag test ran at 1837.782 MB/s, and the put test at 31356.026 MB/s.\n"


def statements(log: str) -> str:
    explained = of_content("log", log.encode(), Machine())
    return "\n".join([*(own.explanation for own in explained.findings), *explained.notes])


@pytest.mark.parametrize(
    ("log", "says", "silent"),
    [
        # The rates that it prints are of the slowest process, and not of the mean time.
        (IMB.format(rate=2726.56), "it is 15 % of that (line 6: 2,726.56 MB/s)", "2,165"),
        (IMB.format(rate=4400.56), "", "of that (line 6"),
        # A delay that never varies is no queue.
        (FAST + PING.format(least=200.05, mean=200.1, most=200.4), "", "in another ping"),
        (FAST + PING.format(least=31.05, mean=200.1, most=400.4), "in another ping", "is full"),
        (FABRIC, "", "fixed delay"),  # its times are of other numbers of transfers
        (PROBES.format(first=3), "at most 3 packets to each hop", "nothing"),
        (PROBES.format(first=2), ": 2 packets to each hop", "at most"),
        (
            HEAD + "".join(LOST.format(at=at, end=at + 1, again=1200) for at in range(9)),
            "10,800 segments were sent again (lines 2 to 10)",
            "other total",
        ),
        (SIZES.format(0.012281, 0.767588, 0.54, 8.471791), "its start", "treat that size"),
        (SIZES.format(0.13, 8.1, 0.2, 3.125), "treat that size", "fixed delay"),
        (HYBRID, "If the threads are of each process, they are 80", "threads each are"),
    ],
)
def test_no_more_is_said_than_is_shown(log: str, says: str, silent: str) -> None:
    said = statements(log)
    assert says in said
    assert silent not in said


@pytest.mark.parametrize(
    ("log", "shown", "silent"),
    [
        (HEADS.format("Mbytes/sec"), "in MB/s", "No unit was read"),
        (HEADS.format("speed"), "No unit was read", "in MB/s"),
        (UDP.format(options="-v"), "protocol udp", "role server"),
        (UDP.format(options="-s"), "role server", "role client"),
        (STEPS * 4, "number 4 %", "  GiB  speed"),
        (TWICE, "iperf3, from line 8", "total  "),  # a head without dashes begins another run
        (DONE, "iperf3, from line 6", "from line 7"),
        (ENVELOPE, "MB/s", "(10\u2076)"),
    ],
)
def test_tables_show_what_was_printed(
    log: str, shown: str, silent: str, capsys: pytest.CaptureFixture[str]
) -> None:
    print_explained(of_content("log", log.encode(), Machine()), alone=True)
    text = capsys.readouterr().out
    assert shown in text
    assert silent not in text
