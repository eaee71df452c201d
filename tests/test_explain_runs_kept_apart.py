"""Figures of several runs, interfaces or commands are kept apart, and each remedy fits its case.
The logs are made up, in the form of real ones."""

from __future__ import annotations

import pytest

from benchbook.explain.api import Machine, of_content
from benchbook.explain.clean.pipeline import log_of
from benchbook.explain.context import titles
from benchbook.explain.model import Report, Result
from benchbook.explain.rules.inconsistent_statistics import inconsistent_order


def statements(text: str) -> str:
    """All that is said of a log: findings, what to do, and notes."""
    told = of_content("x", text.encode(), Machine())
    findings = (f"{finding.explanation} {finding.remedy}" for finding in told.findings)
    return " ".join(" ".join([*findings, *told.notes]).split())  # with usual blanks alone


FIO = """\
read : io=102120KB, bw=618740 B/s, iops=151 , runt=169006msec
slat (usec): min={least}, max={most}, avg={mean}, stdev=27.57
"""
ONE = FIO.format(least=275, most=87560, mean="6571.88")


@pytest.mark.parametrize(
    ("log", "is_wrong"),
    [
        (ONE + FIO.format(least=0, most=120, mean="1.65"), False),
        ("Unpatched\n" + ONE + "\nPatched\n" + FIO.format(least=0, most=120, mean="1.65"), False),
        (ONE + FIO.format(least=150, most=120, mean="1.65"), True),
    ],
)
def test_statistics_of_two_runs_are_not_those_of_one(log: str, is_wrong: bool) -> None:
    assert ("No set of samples" in statements(log)) == is_wrong


@pytest.mark.parametrize(
    ("least", "is_wrong"),
    [([275.0], True), ([275.0, 0.0], False), ([275.0, 275.0], True), ([275.0, 150.0], False)],
)
def test_of_several_minima_nobody_knows_which_is_of_the_maximum(
    least: list[float], is_wrong: bool
) -> None:
    results = [Result("time", own, "us", 2 + line, "min") for line, own in enumerate(least)]
    report = Report("tool", [*results, Result("time", 120.0, "us", 9, "max")], 1)
    assert bool(list(inconsistent_order.function(report))) == is_wrong


@pytest.mark.parametrize(("name", "parts"), [("elapsed_s", 2), ("block_bytes", 1)])
def test_titles_part_runs_of_unlike_length(name: str, parts: int) -> None:
    log = log_of(b"## old\na: 5 MB/s\n## new\na: 4 MB/s\n")
    results = [
        Result("a", value, "MB/s", line, "mean", {name: 10.0 * line})
        for value, line in ((5.0, 2), (4.0, 4))
    ]
    assert len(titles.parted(log, [Report("tool", results, 2)])) == parts


INTERFACE = """{head}
          RX packets:{packets} errors:0 dropped:0 overruns:0 frame:{frame}
          TX packets:17292 errors:0 dropped:0 overruns:0 carrier:0
"""
IP = """    RX: bytes  packets  errors  dropped overrun mcast
    75796      {packets}  0  {dropped}  0  0
    TX: bytes  packets  errors  dropped carrier collsns
    26148738   17292    0    0   0   0
"""
IPERF = "[  3]  0.0-10.0 sec  1.10 GBytes   941 Mbits/sec\n"


@pytest.mark.parametrize(
    "log",
    [
        INTERFACE.format(head="eth1  Lien encap:Ethernet", packets=1000, frame=250)
        + INTERFACE.format(head="eth2  Lien encap:Ethernet", packets=99000, frame=27),
        INTERFACE.format(head="", packets=1000, frame=250)
        + INTERFACE.format(head="", packets=99000, frame=27),
        IP.format(packets=1000, dropped=250) + IP.format(packets=99000, dropped=27),
    ],
)
def test_a_share_of_errors_is_that_of_its_interface(log: str) -> None:
    text = statements(IPERF + log)
    assert "next to 1,000 packets, 20 % of both together. There are further ones in line" in text


def test_errors_of_one_interface_are_all_that_there_are() -> None:
    text = statements(IPERF + INTERFACE.format(head="e1  Link encap:x", packets=1000, frame=250))
    assert "20 % of both together" in text
    assert "further ones" not in text


NETPERF = """$ netperf -H {host}
MIGRATED TCP STREAM TEST from ::0 (::) port 0 AF_INET6 to {host} () port 0 AF_INET6 : demo
Recv   Send    Send
Socket Socket  Message  Elapsed
Size   Size    Size     Time     Throughput
bytes  bytes   bytes    secs.    10^6bits/sec

 87380  16384  16384    10.04     {rate}
"""


@pytest.mark.parametrize(
    ("fast", "says", "unsaid"),
    [
        ("172.37.1.1", "If each goes over its own", "between the same hosts"),
        ("127.0.0.1", "does not show what a link carries", "it is not the limit"),
    ],
)
def test_two_ways_may_be_two_links(fast: str, says: str, unsaid: str) -> None:
    runs = NETPERF.format(host="172.36.1.1", rate=0.59) + NETPERF.format(host=fast, rate=8.54)
    text = statements(runs)
    assert says in text
    assert unsaid not in text


LINK = (
    "{sizes}\n/usr/bin/ld: a.c:(.text+0x28): relocation truncated to fit: R_X86_64_PC32 against "
    "symbol `matrixA' defined in COMMON section in /tmp/a.o\n"
)


@pytest.mark.parametrize(
    ("sizes", "is_beyond"),
    [
        ("// M=N=1000000", True),
        ("static double a[2000000][1500000];", True),
        ("// M=N=100000", False),
        ("// M=N=1000000.5 of 1024 tries", False),
        ("static double a[2000000][1500];", False),
    ],
)
def test_no_code_model_makes_room_for_a_terabyte(sizes: str, is_beyond: bool) -> None:
    text = statements(LINK.format(sizes=sizes))
    assert ("Hardly a machine holds it" in text) == is_beyond
    assert "Compute first how much memory" in text


ZSH = "./threads{}  8,58s user 0,03s system 99% cpu {},618 total\n"


@pytest.mark.parametrize(("names", "is_same"), [(("", "", ""), True), (("-1", "-2", "-3"), False)])
def test_commands_that_differ_in_a_number_are_not_the_same(
    names: tuple[str, str, str], is_same: bool
) -> None:
    runs = zip(names, (98, 9, 8), strict=True)
    text = statements("".join(ZSH.format(name, seconds) for name, seconds in runs))
    assert ("runs that are alike" in text) == is_same
