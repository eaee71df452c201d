"""Logs that are cut, quoted or prefixed, shapes of unknown tools, and figures in any text: what is
read of each, and what is refused. All samples are made up."""

from __future__ import annotations

import pytest

from benchbook.explain.api import Machine, of_content
from benchbook.explain.results import GIVEN

FIO_TAIL = """   iops        : min=  190, max=  520, avg=367.50, stdev=14.41, samples=40
  cpu          : usr=7.08%, sys=0.33%, ctx=4168, majf=0, minf=69
Run status group 0 (all jobs):
   READ: bw=51.1MiB/s (53.6MB/s), 51.1MiB/s-51.1MiB/s, io=128MiB, run=2503-2503msec
"""
JMH_PIECES = """org.demo.bench.Sorting.sorted",
    "mode" : "thrpt",
    7.1:
        "score" : 250.25,
        "scoreError" : 5.5,
    6.4:
        "score" : 180.5,
        "scoreError" : 2.25,
"""
JMH_WHOLE = """[ { "benchmark" : "a.b.C.run", "mode" : "avgt", "forks" : 2,
    "measurementIterations" : 5,
    "primaryMetric" : { "score" : 12.5, "scoreError" : 0.5, "scoreUnit" : "us/op" } } ]
"""
PROGRESS = """progress: 1.0 s, 0.0 tps, lat 0.000 ms stddev 0.000
progress: 2.0 s, 8.0 tps, lat 955.317 ms stddev 9.528
"""
BOXES = """┌──────────┬────────────┬───────┬───────────────────────────────┬──────────┐
│ Time (%) │ Total time │ Calls │ Time distribution             │ Name     │
├──────────┼────────────┼───────┼───────────────────────────────┼──────────┤
│   18.28% │    1.83 ms │   525 │ 3.48 µs ± 0.62 (  3.1 ‥ 15.02) │ cuLaunch │
│   16.11% │    1.61 ms │   520 │ 3.07 µs ± 0.22 ( 1.43 ‥ 3.81)  │ cuSync   │
└──────────┴────────────┴───────┴───────────────────────────────┴──────────┘
"""
HEADLESS = """add fields, small file       1.8602 us  +0.1116%     quiet
parse it                     1.0414 us  -2.1158%     quiet
look it up                   172.38 ns  -2.4084%     faster
pip
"""
COUNTS = """min:    21640 cycles,    66443 instructions, 	       1 branch mis.,  19 cache ref.
avg:  21834.3 cycles,  66443.0 instructions, 	     2.3 branch mis.,     59.8 cache ref.
"""
JSON_FIGURES = '{"runs": [{"name": "sort", "mean_ms": 12.5, "opsPerSec": 80}], "timeoutMs": 500}\n'
PAIRS = "bench=sort n=1000 mean=12.5ms p99=20 ms\nbench=find n=1000 mean=2.5ms p99=4 ms\n"
BARE = """| case | before | after | ratio |
|------|--------|-------|-------|
| a    | 10     | 5     | 2.0x  |
| b    | 8      | 8     | 1.0x  |
"""
CUT_ROW = """| PP | B | T_PP s | S_TG t/s |
|----|---|--------|----------|
| 12 | 1 |  0.108 |    41.57 |
| 12 | 2 |  0.198 |    50.90 |
| 12 | 4 |  0.373 |    7
"""
SPREADS = "sort: 1.25 ms ± 0.05 ms\nfind: 20.5 us ± 2 %\n"
HEADED = "case      mean     p99\nsort      1.2 ms   3.4 ms\nfind      800 us   2.5 ms\n"
UNIT_COLUMN = "metric,value,unit\ncopy,1250.5,MB/s\nlatency,80.5,ns\n"
BEHIND = "12.5 ms   parse\n350 us    link\n"
CRITCMP = """group      base                                  candidate
-----      ----                                  ---------
bulk/500   1.00     38.6±0.75ms 253.0 KElem/sec  1.03     38.7±0.42ms 252.6 KElem/sec
connect    1.02      6.1±0.11µs        ? ?/sec   1.00      5.9±0.07µs        ? ?/sec
"""
PERCENTILES = "".join(f"batch latency p{p} = {p + 1} ms\n" for p in (1, 50, 99, 100))
TWO_UNITS = "all: total: 5s 870ms - avg: 14.5 ms - p99: 23.5 ms - median: 14.25 ms\n"
R_TIMES = "# user  system elapsed\n# 1.73    0.03    0.58\n"
PROSE = "It reads 42 GB/s on my laptop, and a copy gets only 18.5 GB/s.\n"


def figures(text: str) -> tuple[list[str], list[tuple[str, float, str, str]]]:
    explained = of_content("log", text.encode(), Machine())
    assert explained.trouble == "", explained.trouble
    results = [own for report in explained.reports for own in report.results]
    tools = [report.tool for report in explained.reports]
    return tools, [(own.name, own.value, own.unit, own.statistic) for own in results]


@pytest.mark.parametrize(
    ("text", "tool", "wanted"),
    [
        (FIO_TAIL, "fio", ("operation rate", 367.5, "operations/s", "mean")),
        (FIO_TAIL, "fio", ("read bandwidth", 51.1, "MiB/s", "sum")),
        (JMH_PIECES, "jmh", ("org.demo.bench.Sorting.sorted", 180.5, "1", "mean")),
        (JMH_WHOLE, "jmh", ("a.b.C.run", 0.5, "us", "confidence 99.9 %")),
        (PROGRESS, "pgbench", ("rate of an interval", 8.0, "transactions/s", "interval")),
        (BOXES, "table", ("Time distribution", 3.48, "us", "mean")),
        (BOXES, "table", ("Time distribution to", 15.02, "us", GIVEN)),
        (HEADLESS, "table", ("time", 172.38, "ns", "")),
        (HEADLESS, "table", ("change", -2.1158, "%", "change")),
        (COUNTS, "figures", ("cycles", 21834.3, "1", "mean")),
        (JSON_FIGURES, "figures in JSON", ("mean", 12.5, "ms", "mean")),
        (PAIRS, "figures", ("time", 4.0, "ms", "p99")),
        (BARE, "table without units", ("after", 5.0, "1", GIVEN)),
        (CUT_ROW, "table", ("T_PP", 0.373, "s", "")),
        (SPREADS, "table", ("time", 1.25, "ms", "mean")),
        (HEADED, "table", ("p99", 2.5, "ms", "p99")),
        (UNIT_COLUMN, "table", ("copy value", 1250.5, "MB/s", "")),
        (BEHIND, "figures", ("link", 350.0, "us", "")),
        (CRITCMP, "criterion", ("connect", 5.9, "us", "mean")),
        (PERCENTILES, "figures", ("batch latency", 51.0, "ms", "p50")),
        (TWO_UNITS, "figures", ("time", 14.5, "ms", "mean")),
        (R_TIMES, "time", ("time elapsed", 0.58, "s", "")),
        (PROSE, "text", ("figure", 18.5, "GB/s", GIVEN)),
    ],
)
def test_parts_and_shapes_are_read(
    text: str, tool: str, wanted: tuple[str, float, str, str]
) -> None:
    tools, results = figures(text)
    assert tool in tools
    assert wanted in results, results


@pytest.mark.parametrize(("text", "value"), [(CUT_ROW, 7.0), (TWO_UNITS, 5.0), (TWO_UNITS, 870.0)])
def test_a_part_of_a_number_is_not_shown(text: str, value: float) -> None:
    assert value not in [own for _, own, *_ in figures(text)[1]]


STREAM = """Function    Best Rate MB/s  Avg time     Min time     Max time
Copy:           90014.1     0.031581     0.014220     0.050416
Scale:          91318.6     0.031581     0.014220     0.050416
Add:            97299.2     0.031581     0.019733     0.050416
Triad:          98350.8     0.031581     0.019522     0.050416"""
QUOTED = {
    "tight": ">{}", "go": "2024/05/01 10:11:12 {}", "rust": "[2024-05-01T10:11:12Z INFO  a::b] {}",
    "python": "2024-05-01 10:11:12,123 - INFO - {}", "stream": "[stdout] {}",
    "ray": "(bench pid=1234) {}", "rank": "[rank0]: {}",
}  # fmt: skip
FENCED = "Hello, here is the output of my run:\n\n```\n{}\n```\n\nThanks for a look at it.\n"


@pytest.mark.parametrize("name", [*QUOTED, "fenced", "open"])
def test_what_begins_lines_is_taken_off(name: str) -> None:
    lines = STREAM.split("\n")
    if name in QUOTED:
        text = "\n".join(QUOTED[name].format(line) for line in lines)
    else:
        text = FENCED.format("\n".join(f"bench_1  | {line}" for line in lines))
        text = text.partition("\n```\n\nThanks")[0] if name == "open" else text
    assert ("Triad", 98350.8) in [(own, value) for own, value, *_ in figures(text)[1]]


@pytest.mark.parametrize(
    "text",
    [
        "We raised the timeout to 30 seconds, and it polls every 5 s.\n",
        "The card has a port of 25 Gbit/s. How do I install it?\n",
        "def wait(seconds):\n    time.sleep(0.5)  # 500 ms\n    return 30\n",
        "import time\n\nWAIT_NS = 2e6\n" + "def f(x):\n    return x  # took 5 ms\n" * 8,
        "Chapter 3: 20 s, 30 s\n",
        '{"timeoutSeconds": 30, "periodSeconds": 10, "port": 8080}\n',
        "| name | old | new |\n|---|---|---|\n| coverage | 80 | 82 |\n| files | 10 | 11 |\n",
        "Total: 15 files, 2 directories\n",
    ],
)
def test_settings_promises_and_source_are_no_figures(text: str) -> None:
    assert of_content("log", text.encode(), Machine()).trouble


def test_a_failure_in_words_of_its_own_is_quoted() -> None:
    explained = of_content("x", b"Setting up.\nfoo-bench: error: no such kernel\n", Machine())
    assert explained.trouble == ""
    assert "no such kernel" in explained.findings[0].explanation
    assert of_content("x", b"The error was found later.\n", Machine()).trouble
