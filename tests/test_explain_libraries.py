"""Libraries of micro-benchmarks of many languages: what their tables decide, and where nothing must
be said. The logs are made up."""

from __future__ import annotations

import pytest

from benchbook.explain.api import Machine, of_content


def statements(text: str) -> str:
    """All that is said of a log, findings and notes."""
    told = of_content("x", text.encode(), Machine())
    text = " ".join([*(finding.explanation for finding in told.findings), *told.notes])
    return text.replace("\N{NO-BREAK SPACE}", " ")


CRITERION = """benchmarking sort
time                 {fit} ms   (12.1 ms .. 13.1 ms)
                     {square} R²   (0.990 R² .. 1.000 R²)
mean                 12.70 ms   (12.5 ms .. 12.9 ms)
std dev              0.2 ms   (0.1 ms .. 0.3 ms)
"""
ROWS = """Unit: microseconds
  expr   min    lq   mean median    uq     max neval
 first 701.8 726.4 {mean}  756.3 802.7  {most}   100
 other 708.3 732.3  751.2  749.0 771.3  1055.2   100
"""
ASV = """       before           after         ratio
-      {old}±0.2ms      1.71±{error}ms     0.91  index.time_unique('Float')
-        18.2±0.1ms      16.5±0.1ms     0.91  inference.time_downcast('float')
"""
GEOMEAN = """name        old time/op    new time/op    delta
A-8           13.6µs ± 3%    {new}µs ± 3%    {delta}     (p={p} n=6+6)
[Geo mean]    13.6µs         {new}µs       {percent}%
"""
NVBENCH = """| N | Samples | GPU Time  | Noise | Samples | Batch GPU |
|---|---------|-----------|-------|---------|-----------|
| 1 |   {count} | 14.961 us | 2.95% |    900x | {batch} us |
"""
TIMEIT = """The slowest run took {times} times longer than the fastest. It may be cached.
1000 loops, best of 5: 25.2 us per loop
"""


JMH = """Benchmark   Mode  Cnt   Score   Error  Units
A.parse     avgt    {runs}  58.774 ± {error}  us/op
A.print     avgt    {runs}  41.100 ± 0.151  us/op
"""
OPS = """Name (time in us)                     OPS
test_many (0001_main)          3,787.8262 (0.98)
test_many (0002_other)         {ops} (1.0)
"""
COMPARE = """Benchmark      Time         CPU      Time Old      Time New       CPU Old       CPU New
-----------------------------------------------------------------------------------------------
BM_A/8_pvalue    {p}          {p}      U Test, Repetitions: 9 vs 9
BM_A/8_mean     -0.0123         -0.0120           100            99           100            99
"""


@pytest.mark.parametrize(
    ("words", "faulty", "clean"),
    [
        (
            "Its R² is 0.871 (line 3)",
            CRITERION.format(fit=12.6, square="0.871"),
            CRITERION.format(fit=12.6, square="0.999"),
        ),
        (
            "so one of them is not the time of a run",
            CRITERION.format(fit=26.5, square="0.999"),
            CRITERION.format(fit=12.9, square="0.999"),
        ),
        (
            "Such runs pull the mean to 889.6 us",
            ROWS.format(mean=889.6, most="9898.3"),
            ROWS.format(mean=757.6, most=" 898.3"),
        ),
        (
            "By the mean other is the faster one",
            ROWS.format(mean=889.6, most=" 998.3").replace("749.0", "769.0"),
            ROWS.format(mean=709.6, most=" 998.3"),
        ),
        (
            "In 1 of 2 pairs both figures differ by less than the printed spread",
            ASV.format(old=1.88, error=0.05),
            ASV.format(old=2.88, error=0.05),
        ),
        (
            "none of the 1 row above differs by the test",
            GEOMEAN.format(new=13.3, delta="~", p=0.4, percent="-2.21"),
            GEOMEAN.format(new=13.3, delta="-2.21%", p=0.002, percent="-2.21"),
        ),
        (
            "So it counts other benchmarks",
            GEOMEAN.format(new=13.3, delta="-2.21%", p=0.002, percent="-52.21"),
            GEOMEAN.format(new=13.3, delta="-2.21%", p=0.002, percent="-2.22"),
        ),
        (
            "So the first one holds what a start and",
            NVBENCH.format(count="3342x", batch="10.267"),
            NVBENCH.format(count="3342x", batch="14.267"),
        ),
        (
            "is one sample (line 3)",
            NVBENCH.format(count="1x", batch="14.267"),
            NVBENCH.format(count="3342x", batch="14.267"),
        ),
        (
            "the 99.9 % interval of 5 iterations: ± 16 %",
            JMH.format(runs=" 5", error=9.611),
            JMH.format(runs="25", error=9.611),
        ),
        (
            "2.3 % apart. The table has no spread",
            OPS.format(ops="3,874.5312"),
            OPS.format(ops="7,874.5312"),
        ),
        (
            "does not tell both runs of BM_A/8_mean real apart (p = 0.234",
            COMPARE.format(p="0.2345"),
            COMPARE.format(p="0.0001"),
        ),
        (
            "took 89.38 times as long as the fastest",
            TIMEIT.format(times=89.38),
            TIMEIT.format(times=89.38).splitlines()[1],
        ),
    ],
)
def test_what_a_table_decides(words: str, faulty: str, clean: str) -> None:
    assert words in statements(faulty)
    assert words not in statements(clean)


BENCHSTAT = """                 │ scalar.txt │        simd.txt         │
                 │   sec/op   │     sec/op      vs base                 │
s111-32            3.612µ ± 2%    5.374µ ±  {first}%   +48.77% (p=0.000 n=10)
s112-32            6.028µ ± 1%   13.042µ ±  {second}%  +116.35% (p=0.000 n=10)
"""


def test_one_side_that_scatters() -> None:
    text = statements(BENCHSTAT.format(first=80, second=31))
    assert "s111-32 new has a spread of ± 80 % (line 3), s111-32 old one of ± 2.0 %" in text
    assert "lie apart far more" not in statements(BENCHSTAT.format(first=3, second=2))


def test_allocations_are_no_times() -> None:
    text = BENCHSTAT.format(first=3, second=2).replace("sec/op", "allocs/op").replace("µ", "k")
    (report,) = of_content("x", text.encode(), Machine()).reports
    first = report.results[0]
    assert (first.name, first.value, first.unit) == (
        "s111-32 allocations old",
        3612,
        "allocations",
    )


def test_iterations_of_jmh_need_no_head() -> None:
    lines = ["Iteration  11: 15219708.000 ns/op", "Iteration  12: 38244084.000 ns/op"]
    lines += ["Iteration  13: 14510792.000 ns/op", "Iteration  14: 60624958.000 ns/op"]
    (report,) = of_content("x", "\n".join(lines).encode(), Machine()).reports
    assert (report.tool, len(report.results)) == ("jmh", 4)
    assert "4.2 times apart" in statements("\n".join(lines))
