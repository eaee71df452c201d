"""The work of explain grows with the log, not faster: calls are counted, nothing is timed."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from benchbook.explain import readers, sample_detectors
from benchbook.explain.api import explained, of_content
from benchbook.explain.clean.pipeline import log_of
from benchbook.explain.model import Report, Result
from benchbook.explain.render import FEW_RUNS, MOST_RUNS, print_explained
from benchbook.explain.rules import Machine, Rule, rules

LOGS = Path(__file__).parent / "logs"
LINES, SLACK = 200, 1.3
FEW_LINES, MANY_LINES = 100, 2000  # of each reader here, and in test_twice_the_runs…
STATISTICS = ("min", "mean", "median", "p99", "max", "sample", "best", "total", "interval", "sum")


def calls(work: Callable[[], object]) -> int:
    """How many functions are called, those in C too."""
    counted = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal counted
        counted += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return counted


def is_linear(work: Callable[[int], object], lines: int = LINES) -> bool:
    work(lines)  # what is imported and kept once
    return calls(lambda: work(2 * lines)) <= 2 * SLACK * calls(lambda: work(lines))


def test_quadratic_work_is_seen() -> None:
    assert is_linear(lambda n: [abs(number) for number in range(n)])
    assert not is_linear(lambda n: [abs(number) for number in range(n) for _ in range(n)])


@pytest.mark.parametrize("name", readers.names())
def test_twice_the_lines_are_twice_the_work(name: str) -> None:
    sample = min((LOGS / name).glob("*.log"), key=lambda sample: sample.stat().st_size)
    lines = sample.read_bytes().splitlines()

    def work(count: int) -> None:
        explained("x", b"\n".join((lines * (count // len(lines) + 1))[:count]), Machine())

    assert is_linear(work, FEW_LINES)


@pytest.mark.long
@pytest.mark.parametrize("sample", sorted(LOGS.glob("*/*.log")), ids=lambda sample: sample.stem)
def test_twice_the_runs_are_twice_the_work(sample: Path) -> None:
    """Many runs of one kind: what compares each with all others is seen."""
    text = log_of(sample.read_bytes()).text + "\n"
    times = MANY_LINES // text.count("\n") + 1

    def work(count: int) -> None:
        explained("x", (text * (times * count // LINES)).encode(), Machine())

    assert is_linear(work)


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.name)
@pytest.mark.parametrize("rising", [True, False])
def test_rules_are_linear_in_the_results_of_one_setting(rule: Rule, rising: bool) -> None:
    def report(count: int) -> Report:
        of = {"stream": "SUM", "end": "sender", "start_s": 0.0, "end_s": 1.0, "message_bytes": 64}
        results = [
            Result("transferred", 1.0 + rising * n, "B", n + 1, STATISTICS[n % 10], of)
            for n in range(count)
        ] + [
            Result("transferred", 1.0, "B", n + 1, STATISTICS[n % 10], {**of, "stream": f"{n % 2}"})
            for n in range(count)
        ]
        return Report("x", results, 1, facts={"streams": 2, "protocol": "tcp"})

    assert is_linear(lambda n: list(rule.check([report(n)], Machine())))


ROWS = {
    "exchanges of 40 ms": (
        "",
        "MIGRATED TCP REQUEST/RESPONSE TEST from ::0 () port 0 AF_INET to 10.0.0.2 () port 0\n"
        "bytes  Bytes  bytes    bytes   secs.    per sec\n"
        "16384  131072 1        1       10.00      25.00\n",
    ),
    "commands of sockperf": (
        "",
        "$ sockperf ping-pong -i 10.0.0.{n} -t 5\nsockperf: Summary: Latency is 5.{n} usec\n",
    ),
    "matrices of one test": (
        "",
        "Running host_to_device_memcpy_ce.\n"
        "memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)\n"
        "          0\n0     55.60\nSUM host_to_device_memcpy_ce 55.60\n",
    ),
    "timed commands": (
        "$ export OMP_NUM_THREADS=2\n",
        "$ ./solve {n}\nreal\t0m3.{n}s\nuser\t0m3.100s\nsys\t0m0.100s\n",
    ),
    "clients of a server": (
        "Server listening on TCP port 5001\n",
        "[{n}] local 10.0.0.1 port 5001 connected with 10.0.0.2 port {n}\n"
        "[{n}]  1.0-2.0 sec  1.10 GBytes   941 Mbits/sec\n",
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_twice_the_rows_are_twice_the_work(name: str) -> None:
    head, row = ROWS[name]

    def work(count: int) -> None:
        rows = (row.replace("{n}", str(number)) for number in range(count))
        explained("x", (head + "".join(rows)).encode(), Machine())

    assert is_linear(work)


def test_shapes_of_samples_that_were_told_are_linear_in_figures() -> None:
    def report(count: int) -> Report:
        return Report("x", [Result(f"{n // 25}", 1.0, "ns", n, "sample") for n in range(count)], 1)

    told = {("bimodal", "line 0: elsewhere")}
    assert is_linear(lambda n: list(sample_detectors.findings([report(5 * n)], told)))


# Patterns took minutes or longer over each of these: the square of its length, or the cube.
MOST_CPU_S = 15  # of a second or less, some of 3; what else runs takes none of it
LINE = 3900
HOSTILE = {
    "blank lines": "[  3]  0.0-10.0 sec  1.10 GBytes   941 Mbits/sec\nibstat\nSpeed:"
    + "\n" * 10**5,
    "brackets": '"a": 1\n' + "}\n]" * 100_000,
    "babelstream": "BabelStream\nFunction    MBytes/sec  Min (sec)   Max         Average\n"
    + "Copy        100000.0    0.00500     0.00600     0.00550\n" * 20_000,
    "comments": "<pre>" + "<!--" * 300_000,
    "spaces of Google Benchmark": "Benchmark Time CPU" + " " * 10**5 + "~Iterations",
    "rows of it": "Benchmark  Time  CPU  Iterations\n" + ("B 1 ns" + " " * LINE + "~ns 1\n") * 200,
    "seconds of iperf3": "Bytes [  5] " + "sec " * 10**5,
    "digits of datagrams": "[  3]  0.0-1.0 sec  1.10 MBytes  9.41 Mbits/sec\n"
    + ("[  3]  0.0-1.0 sec  1.10 MBytes  9.41 Mbits/sec  1 ms " + "1," * (LINE // 2) + "\n") * 200,
    "names of STREAM": "Copy" * 10**5 + "\n" + "Copy" + " " * 10**5,
    "titles of OSU": "OSU " * 10**5,
    "commands of netperf": "netperf " * 10**5,
    "medians of many names": "Benchmark  Time  CPU  Iterations\n"
    + "".join(
        f"B/{n // 5}{end}  {n % 7 + 1}.5 ns  {n % 5 + 1}.5 ns  5\n"
        for n in range(35_000)
        for end in ["_mean" if n % 5 == 3 else "_median" if n % 5 == 4 else ""]
    ),
    "heads of STREAM": "Copy: 1.0 1.0 1.0\n" + ("Function Rate" + " " * LINE + "~\n") * 100,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_takes_no_minutes(name: str) -> None:
    began_s = time.process_time()
    of_content("x", HOSTILE[name].encode(), Machine())
    assert time.process_time() - began_s < MOST_CPU_S


def test_each_importer_has_words_without_which_it_is_not_asked() -> None:
    assert all(sign.words for sign in readers.signs().values())


def test_very_many_runs_are_counted_not_printed(capsys: pytest.CaptureFixture[str]) -> None:
    sample = (LOGS / "stream/c-5.10-openmp.log").read_bytes()
    found = of_content("x", (sample + b"\n") * (MOST_RUNS + 3), Machine())
    print_explained(found, alone=True)
    said = capsys.readouterr().out
    assert len(found.reports) == MOST_RUNS + 3
    assert said.count("from line") == FEW_RUNS
    assert f"and {MOST_RUNS + 3 - FEW_RUNS} more outputs" in said


def test_totals_of_many_runs_are_added_once() -> None:
    text = (LOGS / "iperf3/udp-interrupted.log").read_text(encoding="utf-8") + "\n"
    assert is_linear(lambda count: explained("x", (text * (count // 4)).encode(), Machine()))


def test_a_figure_said_again_is_found_without_looking_through_all() -> None:
    head = "sockperf: == version #3.7 ==\n" + "sockperf: ---> percentile 99.000 = 30.0\n" * 100
    again = (
        "sockperf: ====> avg-latency=20.0 (std-dev=1.0)\nsockperf: Summary: Latency is 20.1 usec\n"
    )
    assert is_linear(lambda count: explained("x", (head + again * count).encode(), Machine()))
