"""Micro-benchmarks and comparisons of pull requests: a sample of each kind, and one near it where
nothing may be said. The logs are made up."""

from __future__ import annotations

import pytest

from benchbook.explain.api import Machine, of_content


def statements(text: str) -> str:
    """All that is said of a log, findings and notes."""
    told = of_content("x", text.encode(), Machine())
    text = " ".join([*(finding.explanation for finding in told.findings), *told.notes])
    return text.replace("\N{NO-BREAK SPACE}", " ")


NEIGHBOURS = """| Benchmark | Time |
|---|---|
| parse_small | 1.2 {unit} |
| parse_large | 14.5 ms |
| parse_lazy | 2.46 ns |
"""
EMPTY = """Benchmark         Time             CPU   Iterations
------------------------------------------------------
BM_Empty       {empty} ns        {empty} ns    200000000
BM_Add          2.11 ns        2.10 ns    200000000
"""
SIZES = """test {name}_10  ... bench:         300 ns/iter (+/- 4)
test {name}_100 ... bench:         {large} ns/iter (+/- 2)
"""
RATES = """ ✓ Group (2) {took}ms
   · one    0.0010 ops/sec ±0.76% (10 samples) slowest
   · two    0.0020 ops/sec ±1.08% (10 samples)
"""
SPEEDUPS = """| Query | Before | After | Speedup |
|---|---|---|---|
| a | 5.2s | 0.05s | 104x |
| b | 3.8s | {last}s | {ratio}x |
| c | 2.5s | 0.08s | 31x |

Average speedup: {mean}x
"""
CLAIM = """Parsing is {claim} faster now.

| Test | main | this PR |
|---|---|---|
| parse | 85.9 ms | 29.0 ms |
"""
BOTH_WAYS = """| Benchmark | Original (s) | Unrolled (s) |
|---|---|---|
| loops | 3.530 | 3.621 |
| nested | 3.509 | {nested} |
| sum | 3.599 | 3.508 |
| set | 3.473 | {last} |
"""
TIMED = """$ time {command}
{finished}
real    0m9.120s
user    0m31.004s
sys     0m1.920s
"""
OF_TWO = """time sqg -a -j 2

real    47m42.053s
user    27m13.030s
sys     {sys}m39.714s
"""
BUILT = "    Finished release [optimized] target(s) in 8.42s"
OPS = """    Finished `bench` profile [{how}] target(s) in 0.10s
test parse ... bench:       1,200 ns/iter (+/- 30)
"""
PLAN = """ Sort  (cost=9.0..9.1 rows=5 width=4) (actual time={time}..{time} rows=5 loops=1)
   ->  {scan} on t  (cost=0..8.1 rows={expected} width=4) (actual time=0.02..{time} rows={rows} loops=1)
         Filter: (id > 7)
         Rows Removed by Filter: {removed}
 Planning Time: {planning} ms
 Execution Time: {whole} ms
"""


def plan(**words: object) -> str:
    """A plan of two steps."""
    usual = {"time": 8.0, "scan": "Seq Scan", "expected": 5, "rows": 5, "removed": 2000}
    return PLAN.format(**{**usual, "planning": 0.2, "whole": 9.0, **words})


QUIET = plan(removed=3)
DOTNET = """| Method |     Mean |   Error |  StdDev |      P95 | Ratio |
|------- |---------:|--------:|--------:|---------:|------:|
|    New | 475.4 ns | 4.00 ns | 3.74 ns | 481.6 ns |  1.00 |
|    Old | 775.4 ns | 4.48 ns | 4.19 ns | 780.6 ns |  1.63 |
"""


@pytest.mark.parametrize(
    ("words", "faulty", "clean"),
    [
        ("is a call and hardly more", NEIGHBOURS.format(unit="ms"), NEIGHBOURS.format(unit="us")),
        ("no longer than", EMPTY.format(empty="2.10"), EMPTY.format(empty="0.60")),
        (
            "the numbers in their names are 10 times apart",
            SIZES.format(name="resolve", large=298),
            SIZES.format(name="resolve", large=2900),
        ),
        (
            "have 8.42 s of building in them",
            TIMED.format(command="cargo run --release", finished=BUILT),
            TIMED.format(command="./target/release/x", finished=BUILT),
        ),
        (
            "may have building in it",
            TIMED.format(command="go run .", finished=""),
            TIMED.format(command="./x", finished=""),
        ),
        ("asks for 2 threads or jobs", OF_TWO.format(sys=15), OF_TWO.format(sys=35)),
        (
            "the profile dev",
            OPS.format(how="unoptimized + debuginfo"),
            OPS.format(how="optimized"),
        ),
        ("its 10 samples take", RATES.format(took=15123), RATES.format(took=15123000)),
        (
            "the mean of the 3 ratios",
            SPEEDUPS.format(last=0.12, ratio=32, mean=56),
            SPEEDUPS.format(last=0.12, ratio=32, mean=46),
        ),
        ("claims 2.3 times", CLAIM.format(claim="2.3x"), CLAIM.format(claim="3x")),
        ("claims 30 %", CLAIM.format(claim="30%"), CLAIM.format(claim="66%")),
        (
            "these rows together do not show which is faster",
            BOTH_WAYS.format(nested=3.533, last=3.671),
            BOTH_WAYS.format(nested=3.533, last=4.671),
        ),
        ("reads 2,005 rows to keep 5", plan(), plan(removed=20)),
        (
            "400 times as many",
            plan(rows=2000, removed=0),
            plan(rows=2000, removed=0, expected=1500),
        ),
        ("have the same plan", QUIET + plan(removed=3, whole=2.0, time=1.5), QUIET + QUIET),
        ("Planning took 30 ms", plan(removed=3, planning=30), QUIET),
        ("outside: the network", QUIET + "\nTime: 30.0 ms\n", QUIET + "\nTime: 9.4 ms\n"),
    ],
)
def test_what_the_figures_decide(words: str, faulty: str, clean: str) -> None:
    """The fault is named, and not said of figures that are right."""
    assert words in statements(faulty)
    assert words not in statements(clean)


def test_percentiles_of_benchmarkdotnet_are_no_parameters() -> None:
    """A row with its P95 is not accused of another baseline."""
    assert "other parameters" not in statements(DOTNET)
