"""The tables of figures that `explain` prints: what a reader looks for stands in them."""

from __future__ import annotations

import pytest

from benchbook.explain.api import Machine, of_content, print_explained
from benchbook.explain.figures.layout import wrapped
from benchbook.explain.figures.shapes import tables_of
from benchbook.explain.model import Report, Result

WIDTH = 100

P2P = """Unidirectional P2P=Disabled Bandwidth Matrix (GB/s)
   D\\D     0      1      2
     0 911.08  20.10  22.16
     1  20.39 920.20  22.26
     2  22.18  22.37 920.74
"""
INTERVALS = """| Benchmark | Base | PR | Improvement (99% CI) |
| :--- | :--- | :--- | :--- |
| `locks/cna.c` | 6.749 ± 0.367 s | 6.728 ± 0.308 s | -0.0% [-55.7%, +55.6%] |
| `lfds/dglm.c` | 17.592 ± 0.197 s | 16.766 ± 0.292 s | ✅ +4.7% [+1.1%, +8.3%] |
| `lfds/ms.c` | 25.566 ± 0.541 s | 24.446 ± 0.315 s | +4.3% [-13.1%, +21.8%] |
"""
RATIOS = """| Method | Type | Previous | Current | Ratio |
|-----------|------|---------:|--------:|------:|
| Api.Time | Duration | 262.02 µs | 2001450.97 µs | 7637.41 |
| Api.Time | Allocations | 11.17 KB | 40.72 KB | 2.64 |
"""
BEST = """[  5]   0.00-5.00   sec  2.51 GBytes  4.31 Gbits/sec  1131             sender
[  5]   0.00-5.04   sec  2.51 GBytes  4.28 Gbits/sec                  receiver
"""
STATES = """parser bench, times:
    parse_header......: avg=4.25ms, max=217.26ms, med=6.23µs, min=1.62µs
    parse_whole.....: avg=322.68ms, max=2.05s, med=208.5ms, min=191.67ms
"""
MACHINES = """============= TIGER =============
Host to Device Bandwidth, 1 Device(s)
 PINNED Memory Transfers
   Transfer Size (Bytes) Bandwidth(GB/s)
   1000000 12.1
1000000000 12.4

============= DELLA =============
Host to Device Bandwidth, 1 Device(s)
 PINNED Memory Transfers
   Transfer Size (Bytes) Bandwidth(GB/s)
   1000000 18.0
1000000000 25.8
"""
PYPERF = """short native: Mean +- std dev: 546 ns +- 14 ns
.....................
short speedups: Mean +- std dev: 363 ns +- 12 ns
.....................
long native: Mean +- std dev: 21.8 us +- 0.5 us
"""
SERVING = """Successful requests:                     80
Benchmark duration (s):                  2.83
Request throughput (req/s):              28.30
Mean E2E Latency (ms):                   519.35
P99 E2E Latency (ms):                    1096.25
"""
VERSIONS = """LSP change:
Version 2.0.0: min 0.24 ms, avg 0.57 ms, max 1.08 ms
Version 1.0.0: min 0.26 ms, avg 0.28 ms, max 0.31 ms
"""
BARE = """"session","benchmark","50%","99%","max","operations","throughput"
hazelcast,cache-get,307.711,446.463,23789.567,74054815,41598.45
ignite,cache-get,524.799,1065.983,31424.511,41661865,23401.20
"""
GRID = """+------------+--------------+------+-------------+------------+
| Benchmark  | prev. iter/s | runs | new iter/s  | change [%] |
+------------+--------------+------+-------------+------------+
| TPC-H 05   | 0.4332       | 26   | 0.5999      | +38%       |
| TPC-H 09   | 0.1499       | 9    | 0.1166      | -22%       |
+------------+--------------+------+-------------+------------+
"""
COUNTERS = """    CORE   IPC   MISSES    LLC[KB]  MBL[MB/s]  MBR[MB/s]
      63  0.22   88340k     1536.0     2231.8     3159.3
"""


def shown(log: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    print_explained(of_content("x", log.encode(), Machine()), alone=True)
    return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize(
    ("log", "rows"),
    [
        (P2P, ["0 1 2 line", "0 911.08 20.10 22.16 3", "2 22.18 22.37 920.74 5"]),
        (INTERVALS, ["lfds/dglm.c 17.592 ± 0.197 16.766 ± 0.292 +4.7 [+1.1, +8.3] 4"]),
        (RATIOS, ["Method Api.Time", "Allocations 2.64 11.17 40.72 4"]),
        (MACHINES, ["bandwidthtest, from line 5 (TIGER)", "bandwidthtest, from line 12 (DELLA)"]),
        (BEST, ["sender 5 s 5 s 2.51 4.31 1,131 1", "receiver 5.04 s 5.04 s 2.51 4.28 2"]),
        (STATES, ["parse_header 4.25 217.26 ms 6.23 µs 1.62 µs 2"]),
        (PYPERF, ["short native 546 ± 14 ns 1", "long native 21.8 ± 0.5 µs 5"]),
        (SERVING, ["Successful requests 80 1", "Request throughput 28.3 requests/s 3"]),
        (VERSIONS, ["Version 2.0.0 0.24 0.57 1.08 2", "Version 1.0.0 0.26 0.28 0.31 3"]),
        (BARE, ["hazelcast cache-get 307.711 446.463 23,789.567 74,054,815 41,598.45 2"]),
        (GRID, ["TPC-H 05 26 0.4332 0.5999 +38 4", "TPC-H 09 9 0.1499 0.1166 -22 5"]),
        (COUNTERS, ["MBR 3,159.3 MB/s = 3.16 GB/s 2"]),
    ],
    ids=[
        "matrix",
        "changes",
        "ratios",
        "machines",
        "ends",
        "states",
        "runs",
        "names",
        "parts",
        "bare",
        "grid",
        "counters",
    ],
)
def test_rows_have_what_is_looked_for(
    log: str, rows: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    lines = shown(log, capsys)
    missing = [row for row in rows if row not in lines]
    assert missing == [], lines


def test_a_title_is_not_that_of_the_runs_below_another(capsys: pytest.CaptureFixture[str]) -> None:
    runs = "Main:\n| D | 18.44 ms |\n\nThis PR:\n{}\nSwap:\n{}\n"
    first, second = PYPERF.splitlines()[0], PYPERF.splitlines()[2]
    heads = [line for line in shown(runs.format(first, second), capsys) if "from line" in line]
    assert heads == ["pyperf, from line 5", "pyperf, from line 7 (Swap)"]


def test_few_words_with_numbers_are_no_output(capsys: pytest.CaptureFixture[str]) -> None:
    people = "name,age,height\nalpha,31,180\nbeta,45,172\n"
    for text in (people, "Width: 80\nHeight: 24\nDepth: 3\n", "Chapter 3: 20 s, 30 s\n"):
        assert of_content("x", text.encode(), Machine()).trouble


def sweep(count: int) -> Report:
    results = [
        Result(name, value, "us", line, "mean", {"message_bytes": line})
        for line in range(1, count + 1)
        for name, value in (("latency", 1.0 if line == 77 else 50.0 + line), ("other", 2.0 * line))
    ]
    return Report("x", results, 1)


@pytest.mark.parametrize(("count", "most"), [(40, 40), (60, 60), (90, 60), (5000, 60)])
def test_of_many_rows_both_ends_and_extremes_are_shown(count: int, most: int) -> None:
    (table,) = tables_of(sweep(count), WIDTH, {count // 3})
    lines = [row[-1] for row in table.rows]
    assert len(table.rows) <= most
    assert {"1", "2", "3", str(count)} <= set(lines)
    if count > most:
        assert str(count // 3) in lines
        assert [row[0] for row in table.rows[-3:]] == [
            "least of all",
            "median of all",
            "most of all",
        ]
    if count > 100:
        assert "77" in lines


def test_names_are_in_full_and_lines_fit() -> None:
    name = "benchmarks.AperturePhotometry.time_big_data_error_multiple_big_apertures_" + "x" * 60
    results = [Result(f"{name}{at}", at / 7, "ms", at + 1, "mean", {}) for at in range(4)]
    (table,) = tables_of(Report("x", results, 1), WIDTH)
    text = table.text(WIDTH)
    assert max(map(len, text)) <= WIDTH
    assert all(f"{name}{at}" == "".join(wrapped(f"{name}{at}", 30)) for at in range(4))
    assert "0.1428571429" in "\n".join(text)
