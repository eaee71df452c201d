"""Very many lines that are alike are read as columns: whatever is said of them is the same as where
each is read by itself."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from benchbook.explain.api import explained, read
from benchbook.explain.clean.pipeline import log_of
from benchbook.explain.line_index import Kinds
from benchbook.explain.model import Report, Result
from benchbook.explain.readers import iperf, iperf3, mbw
from benchbook.explain.readers.common import iperf_lines, perf_stat_csv
from benchbook.explain.results import (
    Block,
    Column,
    Group,
    Joined,
    Results,
    Settings,
    by_columns,
    results_of,
)
from benchbook.explain.rules import Machine, asked_of, rules, shapes_of
from benchbook.explain.rules.common.samples import series, time_s

LOGS = Path(__file__).parent / "logs"
OF_MODULES = (iperf_lines, perf_stat_csv, iperf, iperf3, mbw)
MACHINE = Machine(llc_bytes=32 << 20, memory_bytes_per_s=2e10)


def set_to(monkeypatch: pytest.MonkeyPatch, alike: int, long: int) -> None:
    """From how many rows on they are columns."""
    for module in OF_MODULES:
        for name, value in (("ALIKE", alike), ("LONG", long)):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, value)


def in_both_ways(
    content: bytes, monkeypatch: pytest.MonkeyPatch
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is said of a log read row by row, and of one read as columns as soon as may be."""
    found = []
    for alike, long in ((10**9, 10**9), (0, 1)):
        with monkeypatch.context() as patched:
            set_to(patched, alike, long)
            found.append(explained("x", content, MACHINE))
    return found[0], found[1]


def blocks(reports: list[Report]) -> int:
    several = (one.results for one in reports if isinstance(one.results, Results))
    return sum(isinstance(part, Block) for own in several for part in own.parts)


@pytest.mark.parametrize("tool", ["iperf", "iperf3", "mbw", "perf_stat"])
def test_samples_are_the_same_as_columns(tool: str, monkeypatch: pytest.MonkeyPatch) -> None:
    contents = [one.read_bytes() for one in sorted((LOGS / tool).glob("*.log"))]
    for content in contents:
        by_row, as_columns = in_both_ways(content, monkeypatch)
        assert by_row == as_columns
    set_to(monkeypatch, 0, 1)
    assert sum(blocks(read(log_of(one))) for one in contents)  # it was tried


RANDOM = random.Random(11)


def iperf3_rows(rows: int, *, stream: int = 5, begin: int = 0) -> Iterator[str]:
    for at in range(begin, begin + rows):
        rate = RANDOM.gauss(9.4, 0.1)
        yield (
            f"[{stream:3d}] {at:>6.2f}-{at + 1:<6.2f} sec  {rate / 8 * 0.931:.2f} GBytes  "
            f"{rate:.2f} Gbits/sec    0   {RANDOM.choice((2.98, 3.01))} MBytes       "
        )


def iperf3_log(rows: int) -> list[str]:
    made = list(iperf3_rows(rows))
    return [
        "Connecting to host 10.0.0.2, port 5201",
        "[  5] local 10.0.0.1 port 44444 connected to 10.0.0.2 port 5201",
        "[ ID] Interval           Transfer     Bitrate         Retr  Cwnd",
        *made,
        "- - - - - - - - - - - - - - - - - - - - - - - - -",
        "[ ID] Interval           Transfer     Bitrate         Retr",
        f"[  5]   0.00-{rows:.2f} sec  {rows * 1.094:.1f} GBytes  9.40 Gbits/sec    0      sender",
        f"[  5]   0.00-{rows:.2f} sec  {rows * 1.094:.1f} GBytes  9.40 Gbits/sec         receiver",
    ]


def iperf_log(rows: int) -> list[str]:
    return [
        "Client connecting to 10.0.0.2, TCP port 5001",
        "[  3] local 10.0.0.1 port 44444 connected with 10.0.0.2 port 5001",
        "[ ID] Interval       Transfer     Bandwidth",
        *(
            f"[  3] {at:.1f}-{at + 1:.1f} sec  1.09 GBytes  {RANDOM.gauss(9.4, 0.03):.2f} Gbits/sec"
            for at in range(rows)
        ),
        f"[  3] 0.0-{rows:.1f} sec  {rows * 1.09:.0f} GBytes  9.36 Gbits/sec",
    ]


def mbw_log(rows: int) -> list[str]:
    made = ["Long uses 8 bytes. Allocating 2*33554432 elements = 536870912 bytes of memory."]
    for method in ("MEMCPY", "DUMB", "MCBLOCK"):
        for at in range(rows):
            took = RANDOM.gauss(0.0224, 0.0003)
            tail = f"Elapsed: {took:.5f}\tMiB: 256.00000\tCopy: {256 / took:.3f} MiB/s"
            made.append(f"{at}\tMethod: {method}\t{tail}")
        made.append(
            f"AVG\tMethod: {method}\tElapsed: 0.02240\tMiB: 256.00000\tCopy: 11428.571 MiB/s"
        )
    return made


def udp_row(at: int, stream: int) -> str:
    every, lost = RANDOM.choice((90, 91)), RANDOM.choice((0, 0, 0, 1, 12))
    got = (every - lost) * 1448
    return (
        f"[{stream:3d}] {at:>6.2f}-{at + 1:<6.2f} sec  {got / 1024:>4.0f} KBytes  "
        f"{got * 8 / 1e6:.2f} Mbits/sec  {RANDOM.uniform(0.01, 0.03):.3f} ms  {lost}/{every} "
        f"({100 * lost / every:.2g}%)  "
    )


def udp_log(rows: int) -> list[str]:
    return [
        "Server listening on 5201",
        "Accepted connection from 10.0.0.1, port 55000",
        "[  5] local 10.0.0.2 port 5201 connected to 10.0.0.1 port 44444",
        "[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams",
        *(udp_row(at, 5) for at in range(rows)),
        "- - - - - - - - - - - - - - - - - - - - - - - - -",
        "[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams",
        f"[  5]   0.00-{rows:.2f} sec  {rows * 0.1233:.1f} MBytes  1.03 Mbits/sec  0.018 ms  "
        f"{rows * 3}/{rows * 90} (3.3%)  receiver",
    ]


def old_udp_log(rows: int) -> list[str]:
    return [
        "Server listening on UDP port 5001",
        "Receiving 1470 byte datagrams",
        "[  3] local 10.0.0.2 port 5001 connected with 10.0.0.1 port 44444",
        "[ ID] Interval       Transfer     Bandwidth        Jitter   Lost/Total Datagrams",
        *(udp_row(at, 3) for at in range(rows)),
        f"[  3]  0.0-{rows:.1f} sec  {rows * 0.1233:.1f} MBytes  1.03 Mbits/sec   0.016 ms "
        f"{rows * 3}/{rows * 90} (3.3%)",
    ]


def sent_log(rows: int) -> list[str]:
    text = "\n".join(iperf3_log(rows)).replace("Retr  Cwnd", "Total Datagrams")
    return re.sub(r"0   \d\.\d+ MBytes", "8193", text).split("\n")


def counted(at: str, place: str = "") -> Iterator[str]:
    """An interval of perf stat -x, -I."""
    cycles, share = RANDOM.randrange(10**8, 2 * 10**8), RANDOM.choice(("100.00", "66.67"))
    head = f"{at},{place}"
    yield f"{head}{cycles},,cycles,100000000,100.00,{cycles / 1e8:.3f},GHz"
    yield f"{head}{cycles // 2},,instructions,100000000,{share},0.50,insn per cycle"
    yield f"{head}1000.00,msec,cpu-clock,1000000000,100.00,1.000,CPUs utilized"
    yield f"{head}12{cycles % 10},,context-switches,1000000000,100.00,12{cycles % 10}.000,/sec"
    yield f"{head}<not supported>,,LLC-load-misses,0,100.00,,"


def perf_log(rows: int) -> list[str]:
    return [row for at in range(rows) for row in counted(f"{at + 1:6d}.000{at % 10}00000")]


def perf_cores_log(rows: int) -> list[str]:
    of_cores = [
        row.replace(",", ";")
        for at in range(rows)
        for core in range(2)
        for row in list(counted(f"{at + 1:6d}.000{at % 10}00000", f"CPU{core},"))[core : core + 2]
    ]
    return ["# started on Tue Nov 24 18:00:00 2026", "", *of_cores[1:]]


MADE = {"perf": perf_log, "udp": udp_log, "iperf udp": old_udp_log, "sent": sent_log}
MIXED = {"perf of cores": perf_cores_log}
MADE |= {"iperf3": iperf3_log, "iperf": iperf_log, "mbw": mbw_log}


@pytest.mark.parametrize("tool", MADE)
def test_long_logs_are_columns(tool: str) -> None:
    text = "\n".join(MADE[tool](200))
    (report,) = read(log_of(text.encode()))
    assert isinstance(report.results, Results)
    assert blocks([report]) == (3 if tool == "mbw" else 1)
    assert len(report.results) == len(list(report.results))
    lines = [one.line for one in report.results]
    assert lines == sorted(lines)
    names = [(one.name, one.statistic, one.unit) for one in report.results]
    assert {*names} == {*report.groups}
    for key, several in report.groups.items():
        own = [one for one, name in zip(report.results, names, strict=True) if name == key]
        assert all(one is other for one, other in zip(several, own, strict=True))
        assert several.values == [one.value for one in own]
        assert several.column("elapsed_s") == [one.of.get("elapsed_s") for one in own]


def changed(line: str) -> str:
    """Another row, as one is that somebody edited, a tool prints seldom, or the network made."""
    number = re.compile(r"\d+(?:\.\d+)?")
    kind = RANDOM.randrange(14)
    if kind == 0:
        return line.replace("GBytes", "MBytes", 1)
    if kind == 1:
        return line.replace("Gbits", "Mbits", 1)
    if kind == 2:
        return line[: RANDOM.randrange(len(line) + 1)]
    if kind == 3:
        return line + RANDOM.choice(("  (omitted)", " sender", " <- here", "\t", "send", "12"))
    if kind == 4:
        return RANDOM.choice(
            ("", "$ iperf3 -c 10.0.0.2", "iperf3: interrupt - gone", "- - - - - -")
        )
    if kind == 5:
        return line.replace("[  5]", "[SUM]").replace("[  3]", "[  4]").replace("DUMB", "MEMCPY")
    found = list(number.finditer(line))
    if not found:
        return line
    one = RANDOM.choice(found)
    new = RANDOM.choice(
        ("0", "0.00", "1.5", "99999", "1e3", "nan", "1,5", "-3", "7.125", one[0] * 2)
    )
    return line[: one.start()] + new + line[one.end() :]


@pytest.mark.parametrize("tool", [*MADE, *MIXED])
def test_odd_rows_in_long_logs_say_the_same(tool: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = (MADE | MIXED)[tool]
    for _ in range(40):
        lines = made(RANDOM.choice((30, 60)))
        for _ in range(RANDOM.randrange(5)):
            at = RANDOM.randrange(len(lines))
            if RANDOM.random() < 0.2:
                lines[at:at] = lines[: RANDOM.randrange(len(lines))]
            else:
                lines[at] = changed(lines[at])
        by_row, as_columns = in_both_ways("\n".join(lines).encode(), monkeypatch)
        assert by_row == as_columns, "\n".join(lines)


def column(
    name: str = "rate", values: tuple[float, ...] = (1.0, 2.0, 3.0), begin: int = 1
) -> Column:
    own = {"repetition": list(range(len(values))), "bytes_moved": [4.0] * len(values)}
    lines = range(begin, begin + len(values))
    return Column((name, "sample", "B/s"), [*values], lines, Settings({"threads": 1}, own))


def test_a_result_of_a_column_is_always_the_same_one() -> None:
    one = column()
    second = one[1]
    assert second == Result(
        "rate", 2.0, "B/s", 2, "sample", {"threads": 1, "repetition": 1, "bytes_moved": 4.0}
    )
    assert one[1] is second is list(one)[1] is one[-2]
    assert one[:2] == [*one][:2] and one[-1] is [*one][-1]
    with pytest.raises(IndexError):
        one[3]


def test_results_are_in_the_order_of_the_log() -> None:
    head, tail = Result("rate", 9.0, "B/s", 0, "sample"), Result("total", 6.0, "B/s", 4)
    found = results_of([head, Block([column(), column("again", (7.0, 8.0, 9.0))]), tail])
    assert isinstance(found, Results)
    assert [one.value for one in found] == [9, 1, 7, 2, 8, 3, 9, 6]
    assert (len(found), found[0], found[-1]) == (8, head, tail)
    groups = found.groups()
    assert isinstance(groups["rate", "sample", "B/s"], Joined)
    assert groups["rate", "sample", "B/s"].values == [9, 1, 2, 3]
    assert [one.value for one in found.of({("again", "sample", "B/s"), ("total", "", "B/s")})] == [
        7, 8, 9, 6,
    ]  # fmt: skip
    found.append(head)
    assert found[-1] is head
    assert found.pop() is head
    assert [one.value for one in found] == [9, 1, 7, 2, 8, 3, 9, 6]
    assert found.pop() is tail


def test_single_results_stay_a_list() -> None:
    one = Result("rate", 9.0, "B/s", 0)
    assert results_of([one]) == [one]


def test_settings_that_differ_are_told_of_very_many() -> None:
    report = Report("tool", results_of([Block([column()])]), 1)
    assert report.columns == {"threads", "repetition", "bytes_moved"}
    repetitions = {one["repetition"] for one in report.settings}
    assert len(report.settings) == len(repetitions) == 2
    assert {one["bytes_moved"] for one in report.settings} == {4.0}


def test_columns_are_parted_by_what_they_differ_in() -> None:
    several = Joined([Group([Result("rate", 9.0, "B/s", 0, "sample", {"threads": 2})]), column()])
    parted = by_columns(several, ("threads",))
    assert {key: own.values for key, own in parted.items()} == {(2,): [9.0], (1,): [1, 2, 3]}
    assert isinstance(parted[1,], Column)
    each = by_columns(several, ("repetition",))
    assert {key: own.values for key, own in each.items()} == {
        (None,): [9.0], (0,): [1.0], (1,): [2.0], (2,): [3.0],
    }  # fmt: skip


def test_times_of_columns_are_those_of_their_results() -> None:
    (one,) = series([Report("tool", results_of([Block([column()])]), 1)])
    assert one.times() == [time_s(each) for each in one.samples] == [4.0, 2.0, 4 / 3]


@pytest.fixture(scope="module")
def kinds() -> Kinds:
    return Kinds("size 10^6\nsize 10^7\niperf 3.9\nCopy: 5\n缓存 8\n\nCopy: 77")


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        (("size",), [0, 1]),
        (("10^",), [0, 1]),
        (("10^7",), [1]),
        (("Copy", "10^6"), [0, 3, 6]),
        (("缓存",), [4]),
        (("Triad",), []),
        (("9",), [2]),
        ((), []),
    ],
)
def test_words_are_found_in_their_lines(
    kinds: Kinds, words: tuple[str, ...], lines: list[int]
) -> None:
    assert kinds.lines_with(words) == lines
    assert any(map(kinds.has, words)) == bool(lines)


def test_words_may_be_there_with_other_digits(kinds: Kinds) -> None:
    assert kinds.may_have(("10^", "iperf 4.", "Copy", "Scale")) == {"10^", "iperf 4.", "Copy"}


def test_lines_of_a_kind_are_found_at_once(kinds: Kinds) -> None:
    asked: list[str] = []
    found = kinds.lines_like(lambda line: asked.append(line) or line.startswith("size"))
    assert found == [0, 1]
    assert len(asked) == len({*asked}) < 7


def needing() -> list[ModuleType]:
    return [one for one in rules() if hasattr(one, "NEEDS")]


def test_a_rule_has_nothing_to_say_of_reports_that_lack_what_it_needs() -> None:
    """Those that are left out are judged by themselves, beside those that are not."""
    asked = 0
    for path in sorted(LOGS.glob("*/*.log")):
        reports = read(log_of(path.read_bytes()))
        shapes = shapes_of(reports)
        for rule in needing():
            own = asked_of(rule, reports, shapes)
            others = [one for one in reports if not any(one is each for each in own)]
            assert not list(rule.check(others, MACHINE)), (rule.__name__, path)
            asked += len(others)
    assert len(needing()) > 40
    assert asked > 10_000
