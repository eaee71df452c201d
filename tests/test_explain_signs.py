"""Causes that figures of a run decide: each said of a log that shows it, and not of one nearby."""

from __future__ import annotations

import string
from collections.abc import Mapping

import pytest

from benchbook.explain.api import Machine, of_content
from benchbook.explain.rules import signs
from benchbook.explain.rules.common.findings import kinds
from benchbook.explain.rules.common.formulas import holds, parsed, value_of

PERF = """ Performance counter stats for '$program':

$rows

       $elapsed seconds time elapsed

       $user seconds user
       $kernel seconds sys
"""
LIKWID = """CPU name:	Intel(R) Xeon(R) Gold 6430
CPU type:	Intel SapphireRapids processor
CPU clock:	2.10 GHz
--------------------------------------------------------------------------------
Region work, Group 1: FLOPS_DP
+-------------------+------------+
|    Region Info    | HWThread 0 |
+-------------------+------------+
| RDTSC Runtime [s] | $time |
|     call count    | $calls |
+-------------------+------------+

+----------------------+------------+
|        Metric        | HWThread 0 |
+----------------------+------------+
|  Runtime (RDTSC) [s] | $time |
| Runtime unhalted [s] | $busy |
|      Clock [MHz]     | $clock |
|          CPI         | $cpi |
|   Packed [MUOPS/s]   | $packed |
|   Scalar [MUOPS/s]   | $scalar |
|  Memory bandwidth [MBytes/s] | $rate |
+----------------------+------------+
"""
OF_VECTORS = LIKWID.replace(
    "|   Packed", "|     DP [MFLOP/s]     | 2400.0 |\n|   AVX DP [MFLOP/s]   | $wide |\n|   Packed"
)
STREAM = """BabelStream
Version: 5.0
Implementation: CUDA
Running kernels 100 times
Precision: double
Array size: 268.4 MB (=0.3 GB)
Total size: 805.3 MB (=0.8 GB)
Using CUDA device $device
Driver: 12020
Function    MBytes/sec  Min (sec)   Max         Average
Copy        $copy 0.00038     0.00040     0.00039
Triad       $copy 0.00058     $most     $mean
Dot         $dot 0.00040     0.00042     0.00041
"""
PEAK = """Platform: $platform
  Device: $device
    Driver version  : 1.0 (Linux x64)
    Compute units   : $units
    Clock frequency : 1000 MHz

    Single-precision compute (GFLOPS)
      float   : $single
      float4  : $single
      float16 : $single

    Double-precision compute (GFLOPS)
      double   : $double

    Kernel launch latency : $launch us
"""
MATRIX = """[P2P (Peer-to-Peer) GPU Bandwidth Latency Test]
Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)
   D\\D     0      1      2      3
     0 900.00  $a  $a  $b
     1 $a  900.00  $a  $b
     2 $a  $a  900.00  $b
     3 $b  $b  $b  900.00
"""
CONNECTED = """P2P Connectivity Matrix
     D\\D     0     1
     0	     1     ?
     1	     ?     1
Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)
   D\\D     0      1
     0 902.14  20.91
     1  22.36 922.92
"""
TOPDOWN = """ Performance counter stats for './work':

 %  tma_bad_speculation %  tma_frontend_bound %  tma_backend_bound
                ?     24.0      31.5
"""
COPIES = """[CUDA Bandwidth Test] - Starting...
Running on...

 Device 0: $device
 Quick Mode

 Host to Device Bandwidth, 1 Device(s)
 $memory Memory Transfers
   Transfer Size (Bytes)        Bandwidth(MB/s)
   33554432                     $there

 Device to Host Bandwidth, 1 Device(s)
 $memory Memory Transfers
   Transfer Size (Bytes)        Bandwidth(MB/s)
   33554432                     $back
"""
TABLE = (
    "| threads | GB/s |\n|---|---|\n| 1 | $a |\n| 2 | $b |\n| 4 | $c |\n| 8 | $d |\n| 16 | $e |\n"
)
USUAL: Mapping[str, str] = {
    "program": "./work 1000", "elapsed": "2.100000000", "user": "1.900000000",
    "kernel": "0.100000000", "time": "1.5", "busy": "1.6", "calls": "1", "clock": "2300.0",
    "packed": "9000.0", "cpi": "0.7",
    "scalar": "20.0", "rate": "20000.0", "device": "NVIDIA A100-SXM4-40GB",
    "copy": "1400256.415", "dot": "1353461.767", "most": "0.00060", "mean": "0.00059",
    "platform": "NVIDIA CUDA", "units": "100", "single": "20000.0", "double": "10000.0",
    "launch": "6.0", "memory": "PINNED", "there": "25000.0", "back": "26000.0",
}  # fmt: skip


def event(count: str, name: str, rest: str = "") -> str:
    """A row of perf stat."""
    return f"{count:>20}      {name:<28} {rest}".rstrip()


def perf(*rows: tuple[str, ...], **more: str) -> str:
    """What perf stat prints of these events."""
    rows_text = "\n".join(event(*row) for row in rows)
    return string.Template(PERF).substitute({**USUAL, **more, "rows": rows_text})


def log(template: str, **more: str) -> str:
    """A made-up log with these figures, and usual ones for the rest."""
    return string.Template(template).substitute({**USUAL, **more})


CYCLES, WORK = ("4,000,000,000", "cycles"), ("6,000,000,000", "instructions")
CLOCK = ("2,000.00 msec", "task-clock", "#    0.952 CPUs utilized")
LOW = ("2,000,000,000", "instructions")
NONE = "<not supported>"
# By kind: a log that shows it, and one nearby that does not.
LOGS: dict[str, tuple[str, str]] = {
    "no-counters": (
        perf(CLOCK, (NONE, "cycles"), (NONE, "instructions"), (NONE, "branches")),
        perf(CLOCK, CYCLES, WORK, (NONE, "branches")),
    ),
    "cycles-refused": (
        perf(CLOCK, (NONE, "cycles"), WORK),
        perf(CLOCK, (NONE, "cycles"), (NONE, "instructions")),
    ),
    "others-were-counted": (
        perf(CLOCK, CYCLES, (NONE, "branch-misses")),
        perf(CLOCK, (NONE, "cycles"), (NONE, "branch-misses")),
    ),
    "no-stalls": (
        perf(CLOCK, CYCLES, WORK, (NONE, "stalled-cycles-backend")),
        perf(CLOCK, (NONE, "cycles"), WORK, (NONE, "stalled-cycles-backend")),
    ),
    "no-last-cache": (
        perf(CLOCK, CYCLES, WORK, (NONE, "LLC-loads"), (NONE, "LLC-load-misses")),
        perf(CLOCK, CYCLES, WORK, ("1,000,000", "LLC-loads")),
    ),
    "never-scheduled": (
        perf(CLOCK, CYCLES, WORK, ("<not counted>", "branches")),
        perf(CLOCK, CYCLES, WORK, (NONE, "branches")),
    ),
    "energy-of-package": (
        perf((f"{NONE} Joules", "power/energy-pkg/"), CYCLES),
        perf(("43.26 Joules", "power/energy-pkg/"), CYCLES),
    ),
    "cycles-too-few": (
        log(LIKWID).replace("| 0.7 |", "| 0.04 |"),
        log(LIKWID).replace("| 0.7 |", "| 0.24 |"),
    ),
    "idle-above-cycles-front": (
        perf(CYCLES, ("5,000,000,000", "stalled-cycles-frontend"), WORK),
        perf(CYCLES, ("3,900,000,000", "stalled-cycles-frontend"), WORK),
    ),
    "idle-above-cycles-back": (
        perf(CYCLES, ("5,000,000,000", "stalled-cycles-backend"), WORK),
        perf(CYCLES, ("1,900,000,000", "stalled-cycles-backend"), WORK),
    ),
    "too-short-to-count": (
        perf(("1.46 msec", "task-clock", "#    0.824 CPUs utilized"), WORK),
        perf(("15.46 msec", "task-clock", "#    0.824 CPUs utilized"), WORK),
    ),
    "mostly-waits": (
        perf(
            ("200.00 msec", "task-clock", "#    0.095 CPUs utilized"), CYCLES, WORK,
            user="0.190000000", kernel="0.010000000",
        ),
        perf(CLOCK, CYCLES, WORK),
    ),
    "mispredicts": (
        perf(CYCLES, WORK, ("800,000,000", "branches"), ("100,000,000", "branch-misses")),
        perf(CYCLES, WORK, ("800,000,000", "branches"), ("8,000,000", "branch-misses")),
    ),
    "misses-are-few": (
        perf(CYCLES, WORK, ("2,000,000", "cache-references"), ("1,000,000", "cache-misses")),
        perf(CYCLES, WORK, ("200,000,000", "cache-references"), ("60,000,000", "cache-misses")),
    ),
    "waits-for-misses": (
        perf(CYCLES, LOW, ("60,000,000", "cache-references"), ("20,000,000", "cache-misses")),
        perf(CYCLES, WORK, ("60,000,000", "cache-references"), ("40,000,000", "cache-misses")),
    ),
    "walks-pages": (
        perf(CYCLES, LOW, ("40,000,000", "dTLB-load-misses")),
        perf(CYCLES, LOW, ("400,000", "dTLB-load-misses")),
    ),
    "waits-in-back-end": (
        perf(CYCLES, ("3,000,000,000", "stalled-cycles-backend"), LOW),
        perf(CYCLES, ("3,000,000,000", "stalled-cycles-backend"), WORK),
    ),
    "waits-in-front-end": (
        perf(CYCLES, ("3,000,000,000", "stalled-cycles-frontend"), LOW),
        perf(CYCLES, ("1,000,000,000", "stalled-cycles-frontend"), LOW),
    ),
    "kernel-of-faults": (
        perf(CLOCK, ("1,000,000", "page-faults"), CYCLES, WORK, kernel="0.900000000"),
        perf(CLOCK, ("1,000", "page-faults"), CYCLES, WORK),
    ),
    "mostly-kernel": (
        perf(CLOCK, ("1,000", "page-faults"), CYCLES, WORK, kernel="1.900000000"),
        perf(CLOCK, ("1,000", "page-faults"), CYCLES, WORK),
    ),
    "switches-often": (
        perf(CLOCK, ("90,000", "context-switches"), CYCLES, WORK),
        perf(CLOCK, ("900", "context-switches"), CYCLES, WORK),
    ),
    "moves-between-cpus": (
        perf(CLOCK, ("9,000", "cpu-migrations"), CYCLES, WORK),
        perf(CLOCK, ("9", "cpu-migrations"), CYCLES, WORK),
    ),
    "clock-of-user-mode": (
        perf(("1,000", "cycles:u", "#    1.245 GHz"), ("900", "instructions:u"), kernel="0.9"),
        perf(("1,000", "cycles", "#    1.245 GHz"), ("900", "instructions"), kernel="0.9"),
    ),
    "clock-with-idle": (
        perf(("8,000.00 msec", "cpu-clock"), (*CYCLES, "#    0.500 GHz"), program="system wide"),
        perf(("1,600.00 msec", "cpu-clock"), (*CYCLES, "#    2.500 GHz"), program="system wide"),
    ),
    "both-kinds-of-core": (
        perf(
            ("1,000,000,000", "cpu_atom/cycles/"),
            ("1,000,000,000", "cpu_core/cycles/"),
            ("800,000,000", "cpu_atom/instructions/"),
            ("1,600,000,000", "cpu_core/instructions/"),
        ),
        perf(("1,000,000,000", "cpu_core/cycles/"), ("800,000,000", "cpu_core/instructions/")),
    ),
    "scaled-by-kind": (
        perf(
            ("87,896,447", "cpu_atom/instructions/", "(14.37%)"),
            ("98,171,964", "cpu_core/instructions/", "(85.63%)"),
        ),
        perf(
            ("87,896,447", "cpu_atom/instructions/", "(74.37%)"),
            ("98,171,964", "cpu_core/instructions/", "(85.63%)"),
        ),
    ),
    "without-peers": (CONNECTED.replace("?", "0"), CONNECTED.replace("?", "1")),
    "more-misses-than-loads": (
        perf(("10,000,000", "L1-dcache-loads"), ("20,000,000", "L1-dcache-load-misses")),
        perf(("10,000,000", "L1-dcache-loads"), ("2,000,000", "L1-dcache-load-misses")),
    ),
    "metric-of-none": (
        perf(
            ("157.47 MiB", "uncore_imc/cas_count_read/", "#     0.00 DRAM_BW_Use"),
            ("1,003,019,728 ns", "duration_time"),
        ),
        perf(
            ("157.47 MiB", "uncore_imc/cas_count_read/", "#     0.30 DRAM_BW_Use"),
            ("1,003,019,728 ns", "duration_time"),
        ),
    ),
    "topdown-above-all": (TOPDOWN.replace("?", "87.9"), TOPDOWN.replace("?", "7.9")),
    "topdown-back-end": (
        " Performance counter stats for './work':\n\n"
        " %  tma_backend_bound %  tma_retiring\n                62.0     38.0\n",
        " Performance counter stats for './work':\n\n"
        " %  tma_backend_bound %  tma_retiring\n                22.0     78.0\n",
    ),
    "too-many-per-cycle": (
        perf(("100,000,000", "cycles"), ("6,000,000,000", "instructions")), perf(CYCLES, WORK),
    ),
    "no-such-clock": (
        perf(("200.00 msec", "task-clock"), CYCLES), perf(("2,000.00 msec", "task-clock"), CYCLES),
    ),
    "more-cpus-than-there-are": (
        "CPU(s):  8\n" + perf(("2.00 msec", "task-clock", "#   15.209 CPUs utilized")),
        "CPU(s):  16\n" + perf(("2.00 msec", "task-clock", "#   15.209 CPUs utilized")),
    ),
    "rate-below-none": (log(LIKWID, rate="-25.5403"), log(LIKWID)),
    "asked-twice": (
        perf(("549,432,900", "ref-cycles", "(50.01%)"), ("545,358,967", "ref-cycles", "(49.99%)")),
        perf(("549,432,900", "ref-cycles", "(50.01%)"), ("545,358,967", "cycles", "(49.99%)")),
    ),
    "wrapped-count": (perf(("18,446,744,073,709,551,615", "cycles"), WORK), perf(CYCLES, WORK)),
    "share-above-all": (
        perf(("1,200,000", "branch-misses", "#  120.00% of all branches")),
        perf(("1,200,000", "branch-misses", "#   20.00% of all branches")),
    ),
    "more-than-any-memory": (log(LIKWID, rate="3.349518e+15"), log(LIKWID)),
    "not-vectorised-code": (log(LIKWID, packed="0", scalar="900.0"), log(LIKWID)),
    "core-below-its-clock": (log(LIKWID, clock="1200.0", busy="0.86"), log(LIKWID)),
    "scalar-core-below-its-clock": (
        log(OF_VECTORS, clock="1200.0", busy="0.86", wide="0.1"),
        log(OF_VECTORS, clock="1200.0", busy="0.86", wide="2300.0"),
    ),
    "slow-instructions": (log(LIKWID, cpi="2.8"), log(LIKWID, cpi="2.8", busy="0.02")),
    "slow-instructions-little-traffic": (
        log(LIKWID, cpi="2.8", rate="104.9"),
        log(LIKWID, cpi="2.8"),
    ),
    "region-of-a-moment": (log(LIKWID, time="0.000476", busy="0.0005"), log(LIKWID)),
    "calls-of-a-moment": (log(LIKWID, calls="1000000"), log(LIKWID, calls="100")),
    "slow-reduction": (log(STREAM, dot="600000.0"), log(STREAM)),
    "timed-once": (log(STREAM, most="0.00058", mean="0.00058"), log(STREAM)),
    "few-flops-a-clock": (log(PEAK, single="100.0", double="50.0"), log(PEAK)),
    "few-double-units": (log(PEAK, double="600.0"), log(PEAK)),
    "launch-is-slow": (log(PEAK, launch="412.0"), log(PEAK)),
    "ways-apart": (log(COPIES, there="12000.0"), log(COPIES)),
    "far-below-memory": (log(STREAM, copy="300000.0", dot="290000.0"), log(STREAM)),
    "slow-device": (log(MATRIX, a="22.00", b="6.00"), log(MATRIX, a="22.00", b="21.00")),
    "stops-scaling": (
        log(TABLE, a="11.2", b="21.9", c="40.8", d="43.7", e="43.3"),
        log(TABLE, a="11.2", b="21.9", c="40.8", d="79.7", e="150.3"),
    ),
    "falls-with-more": (
        log(TABLE, a="11.2", b="21.9", c="40.8", d="79.7", e="43.3"),
        log(TABLE, a="11.2", b="21.9", c="40.8", d="79.7", e="150.3"),
    ),
    "never-scales": (
        log(TABLE, a="11.2", b="11.2", c="11.3", d="11.2", e="11.1"),
        log(TABLE, a="11.2", b="21.9", c="40.8", d="79.7", e="150.3"),
    ),
    "scales-too-well": (
        log(TABLE, a="5.2", b="21.9", c="40.8", d="79.7", e="150.3"),
        log(TABLE, a="11.2", b="21.9", c="40.8", d="79.7", e="150.3"),
    ),
}  # fmt: skip


def explanations(text: str) -> list[str]:
    """All that is found in a log, in words."""
    return [finding.explanation for finding in of_content("x", text.encode(), Machine()).findings]


def begin_of(kind: str) -> list[str]:
    """The parts of a kind's text that are the same in each finding, those of some length."""
    fixed = [part for part, *_ in string.Formatter().parse(kinds()[kind].text) if len(part) > 12]
    return [part.strip() for part in fixed]


@pytest.mark.parametrize("kind", LOGS)
def test_a_cause_is_said_of_a_log_that_shows_it_alone(kind: str) -> None:
    shown, nearby = LOGS[kind]
    parts = begin_of(kind)
    assert any(all(part in text for part in parts) for text in explanations(shown))
    assert not any(all(part in text for part in parts) for text in explanations(nearby))


MAY_BE_UNTESTED = {
    "clock-with-idle-of-interval", "topdown-speculation", "topdown-front-end",
    "mispredicts-by-ratio", "few-half-units",
}  # fmt: skip


def test_each_sign_is_tested() -> None:
    named = {sign.kind for several in signs.catalogue().values() for sign in several}
    assert named - MAY_BE_UNTESTED <= LOGS.keys()


def test_formulas_are_arithmetic_and_nothing_else() -> None:
    numbers = {"a": 6.0, "b": 2.0, "none": 0.0}
    assert value_of("1000 * a / (b + 1) - min(a, b)", numbers) == 1998.0
    assert holds("a >= 3 * b", numbers)
    assert not holds("a / none > 1", numbers)
    with pytest.raises(ValueError, match="no arithmetic"):
        value_of("a ** b", numbers)
    with pytest.raises(ValueError, match="no comparison"):
        holds("a", numbers)
    for several in signs.catalogue().values():
        for sign in several:
            for formula in (*sign.made.values(), *sign.when):
                parsed(formula)


BEFORE = perf(CLOCK, ("6,000,000,000", "cycles"), ("9,000,000,000", "instructions"))
RUNS = {
    "executes 3.00 times the instructions": perf(
        ("6,000.00 msec", "task-clock"), ("18,000,000,000", "cycles"),
        ("27,000,000,000", "instructions"),
    ),
    "it hardly works more, it waits more": perf(
        ("6,000.00 msec", "task-clock"), ("18,000,000,000", "cycles"),
        ("9,000,000,000", "instructions"),
    ),
    "Its clock was 1.00 GHz instead of 3.00.": perf(
        ("6,000.00 msec", "task-clock"), ("6,000,000,000", "cycles"),
        ("9,000,000,000", "instructions"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("words", RUNS)
def test_of_two_programs_the_factor_is_named_that_makes_the_difference(words: str) -> None:
    assert any(words in text for text in explanations(f"{BEFORE}\n{RUNS[words]}"))


def test_of_two_programs_as_fast_as_each_other_nothing_is_said() -> None:
    same = perf(
        ("2,050.00 msec", "task-clock"), ("6,100,000,000", "cycles"),
        ("9,000,000,000", "instructions"),
    )  # fmt: skip
    assert not any("slower of both" in text for text in explanations(f"{BEFORE}\n{same}"))


def test_a_clock_without_a_unit_is_in_ns_where_it_is_a_whole_number_of_millions() -> None:
    printed = perf(("9,285,941,030", "task-clock:u", "#    0.995 CPUs utilized"))
    older = perf(("9285.941030", "task-clock", "#    0.995 CPUs utilized"))
    for text in (printed, older):
        (report,) = of_content("x", text.encode(), Machine()).reports
        (clock,) = [
            result for result in report.results if result.name.endswith(("clock", "clock:u"))
        ]
        assert round(clock.base_value) == 9285941030


def test_the_best_of_all_widths_counts() -> None:
    few = log(PEAK, single="100.0", double="50.0")
    wide = few.replace("float4  : 100.0", "float4  : 9000.0")
    assert any("operations per clock" in text for text in explanations(few))
    assert not any("operations per clock" in text for text in explanations(wide))
