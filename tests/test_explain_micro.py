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
SIZED = """Benchmark               (size)   Mode  Cnt     Score     Error   Units
Protocol.addEntryV2         10  thrpt   50  5512.282 ±  93.379  ops/ms
Protocol.addEntryV2       1000  thrpt   50  {middle} ± 158.577  ops/ms
Protocol.addEntryV2      10000  thrpt   50  5504.068 ±  91.632  ops/ms
Protocol.addEntryV3         10  thrpt   50  3140.595 ± 132.859  ops/ms
Protocol.addEntryV3       1000  thrpt   50  1912.591 ±  52.075  ops/ms
Protocol.addEntryV3      10000  thrpt   50  {last} ±  11.246  ops/ms
"""
WINNER = """a.last() x 17,124,729 ops/sec ±1.79% (92 runs sampled)
b.last() x 29,032,323 ops/sec ±1.78% (87 runs sampled)
c.last() x {slow} ops/sec ±1.82% (92 runs sampled)
Winner is: b.last() (138.95% faster)
"""
PYPERF = """I saw this on {what}:
- pidigits: 188 ms +- 0 ms -> 208 ms +- 0 ms: 1.11x slower
"""
THROUGHPUT = """| Size | Time | Throughput |
|---|---|---|
| 1 MiB | 2.0 ms | 524 MB/s |
| 16 MiB | 30 ms | {rate} MB/s |
| 64 MiB | 128 ms | 524 MB/s |
"""
TITLED = """| Program | Time |
|---|---|
| Fibonacci (n=40) | {own} ❌ |
| Sieve | 710.3 ms |
"""
TWO_BLOCKS = """before

| Method |       Mean |     Error |    StdDev |
|------- |-----------:|----------:|----------:|
|  First | 903.841 us | 2.8299 us | 2.6471 us |
| Second |  16.340 us | 0.0537 us | 0.0470 us |
|  Third | 672.761 us | 4.0044 us | 3.7457 us |

after

| Method |       Mean |     Error |    StdDev |
|------- |-----------:|----------:|----------:|
|  First | {first} us | 3.6893 us | 3.4510 us |
| Second |  16.222 us | 0.0554 us | 0.0412 us |
|  Third | 686.196 us | 3.3384 us | 3.8644 us |
"""
SMALL = """| test | main | this PR | change |
|---|---|---|---|
| a | 12.1 ms | 12.0 ms | -0.8% |
| b | 45.3 ms | {new} ms | {change}% |
"""
SQL = """mysql> SELECT COUNT(*) FROM orders;
1 row in set (3.42 sec)

mysql> SELECT COUNT(*) FROM {second};
1 row in set (0.05 sec)
"""
NOTHING = """vector push_back: 15 ms
list push_back: 16 ms
vector iterate: {none} ms
deque iterate: 31 ms
"""
FALLS = """| Sort | 1K | 10K | 100K | 1M |
|---|---|---|---|---|
| radix | {first} ms | 0.11 ms | 1.2 ms | 14 ms |
"""
WAY = """Search performance: 100ms -> 20ms (5x {way})
"""
ALWAYS = """OurMap outperforms StdMap at every size.

| Elements | OurMap (s) | StdMap (s) |
|---|---|---|
| 10 K | {small} | 0.00071 |
| 10 M | 3.9440 | 4.3380 |
"""
PLAN = """ Sort  (cost=9.0..9.1 rows=5 width=4) (actual time={time}..{time} rows=5 loops=1)
   ->  {scan} on t  (cost=0..8 rows={expected} width=4) (actual time=0..{time} rows={rows} loops=1)
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
        (
            "as fast at all sizes",
            SIZED.format(middle=5637.913, last=386.187),
            SIZED.format(middle=5637.913, last=1900.1),
        ),
        (
            "compares b.last() with the slowest",
            WINNER.format(slow="12,149,850"),
            WINNER.format(slow="9,149,850"),
        ),
        (
            "both sides are the same",
            PYPERF.format(what="two builds of the same exact changeset"),
            PYPERF.format(what="both runs on the same machine"),
        ),
        (
            "time and rate make the same work",
            THROUGHPUT.format(rate=5593),
            THROUGHPUT.format(rate=559),
        ),
        ("less than a cycle", TITLED.format(own="45.2 ms"), TITLED.format(own="450.2 ms")),
        (
            "are of the iterations of one start",
            TWO_BLOCKS.format(first=892.665),
            TWO_BLOCKS.format(first=792.665),
        ),
        (
            "no spread is given",
            SMALL.format(new=44.9, change=-0.9),
            SMALL.format(new=34.9, change=-23.0),
        ),
        ("The same statement took", SQL.format(second="orders"), SQL.format(second="users")),
        ("whole ticks of 15.6 ms", NOTHING.format(none=0), NOTHING.format(none=5)),
        (
            "More work seldom takes less time",
            FALLS.format(first=0.9),
            FALLS.format(first=0.02),
        ),
        ("it became faster", WAY.format(way="slower"), WAY.format(way="faster")),
        ("in 1 of 2 rows it takes", ALWAYS.format(small=0.00129), ALWAYS.format(small=0.00063)),
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


def test_times_of_a_build_are_no_times_of_the_program() -> None:
    """A build without optimisation is none that was timed, where only builds are."""
    line = "Finished dev [unoptimized + debuginfo] target(s) in 12m 10s\n"
    assert "the profile dev" not in statements("Build times:\n" + line * 2)


def test_percentiles_of_benchmarkdotnet_are_no_parameters() -> None:
    """A row with its P95 is not accused of another baseline."""
    assert "other parameters" not in statements(DOTNET)
