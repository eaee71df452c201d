"""What is true of one region, one read or one program is not said of another."""

from __future__ import annotations

from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import pytest

from benchbook.explain.api import of_content
from benchbook.explain.clean.inline_code import without_inline_code
from benchbook.explain.readers.common.text.grammar import as_label
from benchbook.explain.render import print_explained
from benchbook.explain.rules import Machine


def printed(text: str) -> str:
    """What is shown of a log, in one line."""
    with redirect_stdout(StringIO()) as shown:
        print_explained(of_content("log", text.encode(), Machine()), alone=True)
    return " ".join(shown.getvalue().split())


CPU = "CPU name:\tIntel(R) Xeon(R) Gold 6132 CPU @ 2.60GHz\nCPU clock:\t2.59 GHz\n"


def region(name: str, cores: tuple[int, ...] = (0,), **metrics: object) -> str:
    """The tables of a region; a metric has a value, or one for each core."""
    heads = " | ".join(f"Core {core}" for core in cores)
    rows = {
        title: value if isinstance(value, tuple) else (value,) * len(cores)
        for title, value in ((TITLES[own], value) for own, value in metrics.items())
    }
    text = "".join(f"| {title} | {' | '.join(map(str, row))} |\n" for title, row in rows.items())
    of = f"Region {name}, " if name else ""
    return f"{of}Group 1: MEM_DP\n| Metric | {heads} |\n{text}"


TITLES = {
    "time": "Runtime (RDTSC) [s]", "busy": "Runtime unhalted [s]", "clock": "Clock [MHz]",
    "flops": "DP [MFLOP/s]", "wide": "AVX DP [MFLOP/s]", "packed": "Packed [MUOPS/s]",
    "scalar": "Scalar [MUOPS/s]", "memory": "Memory bandwidth [MBytes/s]",
}  # fmt: skip
SLOW: dict[str, Any] = {"busy": 373.7, "clock": 1895.4, "flops": 1240.4}
SETUP = region("Setup", time=3.215, packed=0.4, scalar=886.7)
SOLVE = region("Solve", time=520.1, packed=0.005, scalar=1240.4, wide=0.04, **SLOW)
WIDE = region("Solve", time=520.1, packed=900.0, scalar=3.0, wide=7000.0, **SLOW)
STAT = """Region {name}, Group 1: FLOPS_DP
| Metric | Sum | Min | Max | Avg |
| Runtime (RDTSC) [s] STAT | {time} | 1 | 1 | 1 |
| Scalar [MUOPS/s] STAT | {sum} | 0 | {most} | {mean} |
"""
ALONE = STAT.format(name="Setup", time=4, sum=800, most=790, mean=200)
EQUAL = STAT.format(name="Solve", time=400, sum=800, most=210, mean=200)
REGIONS = {
    "the longest region is told": (
        SETUP + SOLVE,
        ("The code in region Solve does 1,240 million", "The clock in region Solve was 1,895.4"),
        ("in region Setup", "wide vector instructions"),
    ),
    "a short region explains no run": (SETUP + WIDE, ("wide vector inst",), ("The code",)),
    "a region of a like time is named": (
        SETUP.replace("3.215", "130.2") + WIDE,
        ("The code in region Setup does 886.7",),
        (),
    ),
    "a program without regions": (
        region("", time=520.1, packed=0.005, scalar=1240.4),
        ("The code does 1,240 million",),
        ("region",),
    ),
    "a core of several": (
        region("", (4, 7), time=9.1, packed=(900.0, 0.1), scalar=(3.0, 1240.4)),
        ("The code on core 7 does 1,240 million",),
        (),
    ),
    "regions are no sockets": (
        region("fill", (0, 1), time=9.0, busy=9.0, memory=(90000.0, 0.0))
        + region("sum", (0, 1), time=9.0, busy=9.0, memory=(900.0, 0.0)),
        (),
        ("socket carries",),
    ),
    "two sockets of one region": (
        region("fill", (0, 1, 2, 3), time=9.0, busy=9.0, memory=(90000.0, 0.0, 900.0, 0.0)),
        ("socket carries 90,000 MB/s", "in region fill"),
        (),
    ),
    "a short region of one core": (ALONE + EQUAL, ("on 4 cores in region Setup (line",), ()),
    "no core works alone": (EQUAL.replace("Solve", "a") + EQUAL, (), ("one core",)),
    "the largest of another region": (
        EQUAL + STAT.format(name="other", time=4, sum=9000, most=2500, mean=2250),
        (),
        ("one core",),
    ),
    "a short region has its own times": (
        region("long", time=9.0, busy=8.0) + region("short", time=0.0004, busy=0.0004),
        (),
        ("was busy for",),
    ),
    "markers around nothing": (
        region("long", time=9.0, busy=8.0) + region("short", time=0.0004, busy=0.004),
        ("The region short took 0.0004 s",),
        (),
    ),
}


@pytest.mark.parametrize(("text", "wanted", "unwanted"), REGIONS.values(), ids=REGIONS)
def test_figures_of_regions(text: str, wanted: tuple[str, ...], unwanted: tuple[str, ...]) -> None:
    """A figure of a region or a core is said of that, the longest region first."""
    shown = printed(CPU + text).partition(" ! ")[2]
    assert [words for words in wanted if words not in shown] == []
    assert [words for words in unwanted if words in shown] == []


WRITE = """$ time dd if=/dev/zero of=test bs=8k count=10000
81920000 bytes (82 MB) copied, 0.0808 s, 1.0 GB/s

real\t0m0.081s
user\t0m0.002s
sys\t0m0.074s

"""
READ = """$ {time}dd if=test of=/dev/null bs=8k count={count}
{count}+0 records in
{count}+0 records out
{bytes} bytes copied, {took} s, {rate}
"""
TIMES = "\nreal\t0m{0}s\nuser\t0m0.301s\nsys\t0m{1}s\n"
OF_CACHE, IN_PART = "most likely a read of test", "Reads of test from the page cache may be in"


def read(took: str, rate: str, size: int = 8192000000) -> str:
    """What dd prints of a read of the file that was written."""
    return READ.format(time="time ", count=size // 8192, bytes=size, took=took, rate=rate)


READS = {
    "it worked all the time": (WRITE + read("2.01", "4.1 GB/s") + TIMES.format(2.012, 1.65), True),
    "it waited": (WRITE + read("2.01", "4.1 GB/s") + TIMES.format(2.012, 0.65), False),
    "times of something else": (WRITE + read("2.01", "4.1 GB/s") + TIMES.format(9.12, 0.65), True),
    "as fast as its write": (WRITE + read("7.45", "1.1 GB/s"), False),
    "a file beyond most memories": (WRITE + read("20.1", "4.1 GB/s", 81920000000), False),
    "two reads alike": (read("14.9", "550 MB/s") + read("14.6", "561 MB/s"), False),
    "a second read far faster": (read("14.9", "550 MB/s") + read("2.01", "4.1 GB/s"), True),
}


@pytest.mark.parametrize(("text", "is_sure"), READS.values(), ids=READS)
def test_reads_that_may_be_of_the_disk(text: str, is_sure: bool) -> None:
    """A read is called one of the cache where nothing of the log speaks against it."""
    shown = printed(text)
    assert (OF_CACHE in shown, IN_PART in shown) == (is_sure, not is_sure)


QUEUED = """job: (g=0): rw=read, bs=(R) 4096B-4096B, (W) 4096B-4096B, ioengine=libaio, iodepth=8
job: (groupid=0, jobs=1): err= 0: pid=1: Sun Jun 24 13:25:43 2018
  read: IOPS=31.0k, BW=121MiB/s (127MB/s)(7266MiB/60001msec)
    slat (usec): min=2, max=900, avg=30.10, stdev=4.10
    clat (usec): min=1, max=900, avg= 2.00, stdev=1.00
     lat (usec): min=4, max=990, avg=32.10, stdev=4.20
  cpu          : usr={0}%, sys={1}%, ctx=131626, majf=0, minf=15
"""


@pytest.mark.parametrize(("user", "system", "is_cached"), [(6.1, 90.2, True), (1.2, 3.1, False)])
def test_requests_that_wait_are_no_copies(user: float, system: float, is_cached: bool) -> None:
    """Handing a request over is called a copy of the page cache where a CPU works meanwhile."""
    shown = printed(QUEUED.format(user, system))
    assert ("most likely from or into the page cache" in shown) == is_cached
    assert ("So most of its time passed before the queue had it" in shown) != is_cached


MDRUN = """               Core t (s)   Wall t (s)        (%)
       Time:      624.976       39.078     1599.3
                 (ns/day)    (hour/ns)
Performance:      176.880        0.136
"""


def test_what_an_engine_may_do_is_no_fact() -> None:
    """What GROMACS does in some runs is said with its condition."""
    shown = printed(MDRUN)
    assert "If GROMACS balanced its load or tuned PME in that time" in shown


JOB = """job: (groupid=0, jobs=1): err= 0: pid=34320: Sun Jun 24 13:25:43 2018
  write: IOPS=1879, BW=7518KiB/s (7698kB/s)(514MiB/70001msec)
    clat (usec): min=408, max=3428,{0}avg=529.00{1}, stdev=60.83
    clat percentiles (usec):
     | 90.00th=[  578], 95.00th=[  603],{0}99.00th=[  717]{1}, 99.50th=[  766]
"""
COMMANDS = "Run\n`make`\n`./prepare`\n`./bench`\nthen\n- `a=1`: one\n- `b=2`: two\n- `c=3`: three\n"


def test_lines_of_code_in_markdown() -> None:
    """Output whose lines are code is read as it was printed, bold parts as well."""
    plain = JOB.format(" ", "")
    coded = "\n\n".join(f"  `{line}`" for line in JOB.format("` **`", "`**`").splitlines())
    assert printed(coded).startswith("fio, from line 1")
    assert "p99" in printed(coded) and "717" in printed(coded)
    lines = [line.strip() for line in without_inline_code(coded).split("\n") if line]
    assert [" ".join(line.split()) for line in lines] == [
        " ".join(line.split()) for line in plain.splitlines()
    ]


@pytest.mark.parametrize("text", [COMMANDS, "`p50: 1 ms`\n`p99: 2 ms`\n", "", "a ` b\n" * 4])
def test_lines_that_are_no_output(text: str) -> None:
    """Commands, lists of names and two lines stay as they are."""
    assert without_inline_code(text) == text


@pytest.mark.parametrize(
    ("words", "label"),
    [
        ("`Jobs: 1 (", "Jobs: 1"),
        ("**GPU** (warm):", "GPU** (warm)"),
        (" - Host latency: ", "Host latency"),
        ("][100.0%][", "[100.0%]"),
        ("w(1", "w"),
        ("copy (16 KiB) ", "copy (16 KiB)"),
    ],
)
def test_labels_without_loose_marks(words: str, label: str) -> None:
    """A label has no bracket that is not closed, and no marks around it."""
    assert as_label(words) == label


def test_status_line_of_code() -> None:
    """A figure of something else is no label."""
    text = "`Jobs: 1 (f=32): [r=0KiB/s,w=7547KiB/s][r=0,w=1886 IOPS]`\n`write: IOPS=1879`\n"
    assert "[r=0 " not in printed(text)


LOOP = """Loop time of 2.79 on 1 procs for 100 steps with 10000 {what}
Performance: 35.84 timesteps/s, 35.761 M{unit}-step/s
"""
QUERIES = """$ {program} -t set -n 100000
====== SET ======
  100000 requests completed in 1.25 seconds
  50 parallel clients
  3 bytes payload

80000.00 requests per second
"""
HEADINGS = {
    "sparta, from": LOOP.format(what="particles", unit="particle"),
    "LIGGGHTS, from": "LIGGGHTS (Version 3.8.0)\n" + LOOP.format(what="atoms", unit="atom"),
    "lammps, from": "LIGGGHTS (Version 3.8.0)\nLAMMPS (2 Aug 2023)\n"
    + LOOP.format(what="atoms", unit="atom"),
    "valkey-benchmark, from": QUERIES.format(program="valkey-benchmark"),
    "redis-benchmark, from": QUERIES.format(program="redis-benchmark"),
}


@pytest.mark.parametrize(("heading", "text"), HEADINGS.items(), ids=HEADINGS)
def test_heading_is_the_program(heading: str, text: str) -> None:
    """The heading names the program that ran, where it prints as another one does."""
    assert heading in printed(text)
    if "particle" in text:
        assert "35.761 M particle-steps/s" in printed(text)
