"""A log that names its program is shown under that name, whatever reader reads it."""

from __future__ import annotations

import pytest

from benchbook.explain.api import Machine, of_content
from benchbook.explain.context.program_names import program_of

_FIGURES = "Event time elapsed    : 8.192 ms\nEstimated bandwidth   : 5120.01 MiB/s\n"
_TABLE = """\
| model         |     size | params | backend | ngl | test  |          t/s |
| ------------- | -------: | -----: | ------- | --: | ----: | -----------: |
| llama 1B F16  | 2.30 GiB | 1.24 B | QNN     |  99 | pp512 | 18.46 ± 1.73 |
| llama 1B F16  | 2.30 GiB | 1.24 B | QNN     |  99 | tg128 |  9.11 ± 0.12 |
"""
_RATES = "| version | tps | latency (ms) |\n|--|--|--|\n| 15 | 1200 | 8.3 |\n| 16 | 1300 | 7.7 |\n"
_SWEEP = "PP\tTG\tN_KV\tT_PP s\tS_PP t/s\tT_TG s\tS_TG t/s\n" + (
    "7168\t1792\t0\t28.007\t255.94\t414.487\t4.32\n"
)
_RANKS = """\
Running benchmark OSU Get Latency with type Float32 on 2 MPI ranks with window synchronization

size (bytes),iterations,time (seconds)
0,262144,3.23
4,262144,6.27
"""
_SYSBENCH = """\
| cpu sysbench | threads: | events/s: | min: | 95th: |
| --- | --- | --- | --- | --- |
| 1.0.11 | 1 | 318.30 | 2.59 | 4.33 |
| 1.0.11 | 4 | 1208.10 | 2.59 | 4.65 |
"""
_FAILED = """\
nvbandwidth Version: v0.8

Running host_to_device_memcpy_ce.
[cudaErrorUnsupportedPtxVersion] the provided PTX was compiled with an unsupported toolchain.
"""
_LOOP = "Loop time of 7.29 on 4 procs for 100 steps with 1000 {}\n"


def _named(text: str) -> list[str]:
    explained = of_content("log", text.encode(), Machine())
    return [str(own.facts.get("printed_by") or own.tool) for own in explained.reports]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (_TABLE, ["llama-bench"]),
        (_SWEEP, ["llama-sweep-bench"]),
        (_RANKS, ["MPIBenchmarks.jl"]),
        (_SYSBENCH, ["sysbench"]),
        (_FAILED, ["nvbandwidth"]),
        (_LOOP.format("particles"), ["sparta"]),
        (_LOOP.format("atoms"), ["lammps"]),
        ("./bin/nvm-cuda-bench --ctrl=/dev/libnvm0\n\n" + _FIGURES, ["nvm-cuda-bench"]),
        ("$ sudo ./copy_bench -n 3\n" + _FIGURES, ["copy_bench"]),
        ("I ran `./copy_bench -n 3`:\n\n```\n" + _FIGURES + "```\n", ["copy_bench"]),
        ("It is `load -c 3` against `stress -c 3`:\n```\n" + _FIGURES + "```\n", ["figures"]),
        ("| fio test | IOPS | BW (MB/s) |\n|--|--|--|\n| a | 12000 | 49 |\n| b | 9000 | 37 |\n",
         ["fio"]),
        ("Measured with pgbench -c 10:\n\n" + _RATES, ["pgbench"]),
        # Of two nobody knows which; a sentence that goes on says no more than that it was used.
        ("Measured with pgbench and fio:\n\n" + _RATES, ["table"]),
        ("Results compared with fio:\n\n" + _RATES, ["table"]),
        ("I had measured it with fio before, and it was slow.\n\n" + _RATES, ["table"]),
        # What only shows it, prose, or a fence between them names nothing.
        ("$ cat result.txt\n" + _FIGURES, ["figures"]),
        ("$ ./copy_bench\n```\n\nAfter I had changed it to what you wrote, this is what comes"
         " out of it\n\n" + _FIGURES, ["figures"]),
        ("| model | backend | time (ms) |\n|--|--|--|\n| a | b | 3 |\n| c | d | 4 |\n", ["table"]),
    ],
)  # fmt: skip
def test_the_program_is_named(text: str, names: list[str]) -> None:
    assert _named(text) == names


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("sudo taskset -c 1,2 /opt/bin/load -c 50", "load"),
        ("mpirun -np 4 --bind-to none ./hybrid_pi | grep Time", "hybrid_pi"),
        ("mpiexec -n 2 osu_bw", "osu_bw"),
        ("mpirun --bind-to none --report-bindings app", ""),
        ("python3 -u tools/measure.py --gpus 0,1", "measure.py"),
        ("python -c pass", ""),
        ("cd build && ./bench", "bench"),
        ("docker run image", ""),
    ],
)
def test_the_program_of_a_command(command: str, name: str) -> None:
    assert program_of(command.split()) == name


def test_what_a_kernel_says_is_of_no_program() -> None:
    text = (
        "fio-3.35\n"
        "[  123.456789] nvme nvme0: I/O 12 QID 3 timeout, aborting\n"
    )  # fmt: skip
    assert "fio" not in _named(text)


def test_nanoseconds_of_cyclictest_are_not_called_microseconds() -> None:
    row = "T: 0 ( 2289) P:80 I:200 C: 100000 Min:   3000 Act:    5000 Avg:    5000 Max:  32000\n"
    assert _named(row) == ["cyclictest"]
    assert "cyclictest" not in _named(f"$ cyclictest -m -p 80 -N\n{row}")


def test_minutes_and_statistics_of_cells() -> None:
    clocks = "| Threads | Before |\n| -- | -- |\n| 1 | 7:03.03 |\n| 2 | 1:02:00.5 |\n"
    [report] = of_content("log", clocks.encode(), Machine()).reports
    assert [(own.value, own.unit) for own in report.results] == [(423.03, "s"), (3720.5, "s")]
    assert not of_content(
        "log", clocks.replace(".03", "").replace(".5", "").encode(), Machine()
    ).reports
    [report] = of_content("log", _SYSBENCH.encode(), Machine()).reports
    assert [own.value for own in report.called("95th")] == [4.33, 4.65]


def test_each_version_of_sysbench_in_a_sentence() -> None:
    text = (
        "sysbench memory --threads=16 --memory-total-size=100G run\n\n"
        "sysbench 1.1.0-e4e6d67: result is 51643.94 MiB/sec\n"
        "sysbench 1.0.17-d634bce: result is 157600.38 MiB/sec\n"
    )
    reports = of_content("log", text.encode(), Machine()).reports
    assert [(own.version, own.results[0].value) for own in reports] == [
        ("1.1.0-e4e6d67", 51643.94),
        ("1.0.17-d634bce", 157600.38),
    ]
