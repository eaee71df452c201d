"""Comparisons that people post: what their figures decide, and where nothing must be said. The logs
are made up."""

from __future__ import annotations

import pytest

from benchbook.explain.api import Explained, Machine, of_content


def explained(text: str) -> Explained:
    return of_content("x", text.encode(), Machine())


def statements(text: str) -> str:
    """All that is said of a log, findings and notes."""
    told = explained(text)
    return " ".join([*(finding.explanation for finding in told.findings), *told.notes])


def artefacts(text: str) -> list[str]:
    return sorted({finding.artefact for finding in explained(text).findings})


HEAD = "Benchmark      Mode  Cnt   Score   Error  Units\n"
BLOCKS = (
    "New\n" + HEAD + "A.parse       thrpt   20  57.217 ± {error}  ops/s\n"
    "A.print       thrpt   20  13.059 ± 0.214  ops/s\n"
    "Old\n" + HEAD + "A.parse       thrpt   20  64.399 ± 2.285  ops/s\n"
    "A.print       thrpt   20  13.077 ± 0.240  ops/s\n"
)


def test_two_blocks_of_a_log_are_compared_by_their_errors() -> None:
    text = statements(BLOCKS.format(error="0.971"))
    assert "The log has 2 figures twice. By their errors, 1 pair shows no difference." in text
    assert "A.print is 13.059 ± 0.214 operations/s (line 4)" in text
    assert "They show one for A.parse, 57.217 operations/s (line 3)" in text
    assert "closer than both errors" not in statements(
        BLOCKS.replace("13.077", "15.077").format(error=1)
    )


def test_rows_of_jmh_need_no_head_if_they_are_whole() -> None:
    (first, second) = explained(BLOCKS.replace(HEAD, "").format(error="0.971")).reports
    assert [result.value for result in first.results] == [57.217, 0.971, 13.059, 0.214]
    assert len(second.results) == 4
    assert explained("A.print   thrpt   13.059  ops\n").trouble


HYPERFINE = """{}:
Benchmark 1: ./tool
  Time (mean ± σ):     {} ms ±   {} ms    [User: 110.0 ms, System: 6.1 ms]
  Range (min … max):   100.0 ms … 140.0 ms    22 runs
"""


def test_the_same_command_before_and_after() -> None:
    near = HYPERFINE.format("Before", 119.2, 9.8) + HYPERFINE.format("After", 117.6, 9.1)
    far = HYPERFINE.format("Before", 119.2, 0.8) + HYPERFINE.format("After", 115.6, 1.1)
    assert "closer than both errors together" in statements(near)
    assert "closer than both errors together" not in statements(far)


BENCHCMP = """{}
benchmark                old ns/op     new ns/op     delta
BenchmarkOneShot         475408        544021        +14.43%
BenchmarkPersistent      50894         22601         -55.59%
BenchmarkRead            16441         15932         -3.10%
"""


def test_what_the_same_code_differs_by_is_noise() -> None:
    text = statements(BENCHCMP.format("Here are two consecutive runs:"))
    assert "By line 1 (“two consecutive runs”) both sides are the same" in text
    assert "-55.6 % (BenchmarkPersistent ns/op new, line 4)" in text
    assert "sides are the same" not in statements(BENCHCMP.format("Before and after the patch:"))


def test_one_run_a_side_shows_nothing_of_small_changes() -> None:
    text = statements(BENCHCMP.format("Before and after:"))
    assert "So changes below 10 % may be chance." in text
    assert "may be chance" not in statements(BENCHCMP.format("").replace("15932", "5932"))


BENCHSTAT = """I tested commit 378de1ae43c6406ae515 twice.
name        old time/op    new time/op    delta
Tree-4        42.3s ± 3%     42.0s ± 2%  -0.71%  (p=0.015 n=20+20)
String-4     1.39µs ± 2%    1.35µs ± 2%  -2.88%  (p=0.000 n=18+17)
"""


def test_a_test_finds_differences_of_the_machine_too() -> None:
    text = statements(BENCHSTAT)
    assert "differ by up to -2.88 % (String-4 new, line 4)" in text
    assert "2 differences have p below 0.05" in text
    assert "sides are the same" not in statements(BENCHSTAT.replace(" twice", ""))


TABLE = """{}

name | PR | master | time increase
-- | -- | -- | --
build | 116 ns/iter (± 1) | 112 ns/iter (± 1) | 1.04
parse | 228 ns/iter (± 3) | 197 ns/iter (± 3) | 1.16
"""


def test_a_table_of_an_empty_commit() -> None:
    assert "(“empty commit”)" in statements(
        TABLE.format("How our benchmarks behave on an empty commit")
    )
    results = explained(TABLE.format("")).reports[0].results
    assert [(own.value, own.statistic) for own in results[:2]] == [(116.0, "mean"), (1.0, "error")]


def test_times_of_a_table_may_be_minutes() -> None:
    rows = "1 | 1m12.25s\n2 | 1m54.5s\n4 | 2 min, 13 s\n"
    table = f"`OMP_NUM_THREADS` | wall clock time\n--- | ---\n{rows}"
    results = explained(table).reports[0].results
    assert [(own.value, own.unit) for own in results] == [(72.25, "s"), (114.5, "s"), (133.0, "s")]
    assert [own.of["threads"] for own in results] == [1, 2, 4]


ROW = "| | rate of A | rate of B |\n|---|---|---|\n| x | {} | {} |\n| y | 5 MB/s | 9 MB/s |\n"


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ("100 MiB/s", "104.86 MB/s", "They are the same rate"),
        ("944 Mbit/s", "120 MB/s", "the larger digits are of the lower rate"),
    ],
)
def test_units_of_a_row(first: str, second: str, words: str) -> None:
    assert words in statements(ROW.format(first, second))


def test_units_that_change_nothing_are_no_fault() -> None:
    assert "unit-mix" not in artefacts(ROW.format("100 MiB/s", "204.86 MB/s"))


PYTEST = """------------- benchmark: 1 tests -------------
Name (time in ms)  Min  Max  Mean  StdDev  Median  IQR  Outliers  OPS  Rounds  Iterations
-----------------------------------------------
test_a             {}
-----------------------------------------------
"""
ONE = "3.5070  3.5070  3.5070  0.0000  3.5070  0.0000       0;0  285.1445       1           5"
TAIL = "1.0080  230.8245  1.5488  3.3283  1.4615  0.1965  3;312  645.6711  10000  5"
CLEAN = "1.0080  1.8245  1.4788  0.0283  1.4615  0.1965  3;312  676.2  10000  5"


def test_statistics_of_pytest_benchmark() -> None:
    assert "is one round of 5 iterations (line 4)" in statements(PYTEST.format(ONE))
    text = statements(PYTEST.format(TAIL))
    assert "Half of the runs of test_a time take at most 1.4615 ms (line 4)" in text
    assert not statements(PYTEST.format(CLEAN))


def test_few_rounds_that_lie_far_apart() -> None:
    row = "16.4  46.1  31.1  11.7  31.2  18.4  2;0  0.0321  {}  1"
    assert "is the mean of 5 runs only, from 16.4 to 46.1 ms" in statements(
        PYTEST.format(row.format(5))
    )
    assert "runs only" not in statements(PYTEST.format(row.format(500)))


TIMES = "$ time ./a\nreal\t0m{}s\nuser\t0m{}s\nsys\t0m0.05s\n"


def test_the_first_of_three_runs() -> None:
    runs = [TIMES.format(real, "0.50") for real in ("4.10", "1.20", "1.25")]
    assert (
        "The log has 3 runs that are alike as far as they were read. The first is 4.1 s (line 2)"
        in statements("".join(runs))
    )
    assert "The first is" not in statements("".join(runs[::-1]))
    assert "warm-up" not in artefacts("".join(runs).replace("./a", "./b", 1))


def test_two_commands_of_which_one_hardly_worked() -> None:
    both = "Optimized:\nreal 0.06\nuser {}\nsys 0.04\n\nOriginal:\nreal 1.47\nuser 5.72\nsys 0.88\n"
    assert "50.8 times as much" in statements(both.format("0.09"))
    assert "times as much" not in statements(both.format("2.09"))


BDN = """| Method | N    | Mean        | Error     | StdDev    | Ratio | RatioSD |
|------- |----- |------------:|----------:|----------:|------:|--------:|
| Old    | 1000 | 2,929.20 us | 43.137 us | 40.350 us | 1.000 |    0.02 |
| New    | 1000 | 1,291.28 us |  7.622 us |  7.129 us | 0.441 |    0.01 |
| Old    | 10   |    29.36 us |  0.493 us |  0.437 us | {} |    0.00 |
| New    | 10   |    29.91 us |  0.359 us |  0.336 us | {} |    0.00 |
"""


def test_a_baseline_of_other_parameters() -> None:
    text = statements(BDN.format("0.010", "0.010"))
    assert "The ratio of line 5 (0.01) divides 29.36 us by the time of the baseline" in text
    assert "29.91 us (line 6) is 1.02 times 29.36 us (line 5)" in text
    assert "unequal-work" not in artefacts(BDN.format("1.000", "1.019"))


SYSBENCH = """sysbench 1.0.9 (using system LuaJIT 2.1.0)

General statistics:
    total time:                          10.0052s
    total number of events:              {events}

Latency (ms):
         min:                                  3.06
         avg:                                  {mean}
         max:                                  7.36
         95th percentile:                      3.19
"""


def test_more_threads_that_do_no_more() -> None:
    ten = SYSBENCH.format(events=32189, mean=3.108)
    text = statements(ten + SYSBENCH.format(events=32517, mean=4.92))
    assert "16 threads do 3,250 events a second and 10 do 3,217.2: no more." in text
    assert "rises from 3.108 to 4.92 ms" in text
    assert "no more" not in statements(ten + SYSBENCH.format(events=51500, mean=3.108))


PROSE = "The load is faster: {} improvement.\n"


@pytest.mark.parametrize("claim", ["9.42ms --> 5.27ms, a 128.73%", "a 128.73% (9.42 -> 5.27 ms)"])
def test_a_change_in_per_cent_that_its_figures_do_not_make(claim: str) -> None:
    assert "gives 128.73 % for 9.42 ms and 5.27 ms" in statements(PROSE.format(claim))


@pytest.mark.parametrize(
    "claim",
    ["9.42ms --> 5.27ms, a 44%", "9.42ms --> 5.27ms, a 79%", "from 310 to 260 ns, about 16%"],
)
def test_a_change_in_per_cent_that_they_make(claim: str) -> None:
    assert explained(PROSE.format(claim)).reports[0].tool == "text"
    assert not statements(PROSE.format(claim))


MEANS = """Average loading time was 2531 milliseconds, with a standard deviation of {}.
The release version had an average of 2565 and standard deviation of 40.
"""


def test_two_means_of_a_text() -> None:
    assert "are 34.0 ms apart. One of their deviations, 96 ms, is larger." in statements(
        MEANS.format(96)
    )
    assert "apart" not in statements(MEANS.format(9).replace("of 40", "of 4"))


def test_other_sentences_are_no_figures() -> None:
    assert explained("We raised the timeout from 5 to 10 seconds.\n").trouble
    assert explained("It was much faster, from page 5 to 10.\n").trouble


PYPERF = (
    "### {0} ###\nMean +- std dev: {1} ms +- {2} ms -> {3} ms +- {2} ms: 1.05x faster\n"
    "Significant\n\n"
)


def test_pairs_within_their_deviation() -> None:
    rows = [("a", 709, 62, 674), ("b", 308, 36, 292), ("c", 353, 55, 298), ("d", 286, 16, 250)]
    assert "In 3 of 4 comparisons the means differ by less" in statements(
        "".join(PYPERF.format(*row) for row in rows)
    )
    quiet = [(name, old, 2, new) for name, old, _, new in rows]
    assert "comparisons" not in statements("".join(PYPERF.format(*row) for row in quiet))


GO = "{}\ngoos: linux\nBenchmarkParse-8   \t    1000\t      {} ns/op\nPASS\n"


def test_two_single_runs_of_go() -> None:
    text = statements(GO.format("Before", 1234) + GO.format("After", 1210))
    assert "is 1,234 ns in line 3 and 1,210 ns in line 7, 2.0\u00a0% apart" in text
    assert "apart" not in statements(GO.format("Before", 1234) + GO.format("After", 810))
    repeated = GO.format("$ go test", 1234) + GO.format("$ go test", 1210)
    assert [own.statistic for own in explained(repeated).reports[0].results] == ["sample"] * 2


RUNS = (
    "| run | time (s) |\n|---|---|\n| 1 | {} |\n| 2 | 1.21 |\n| 3 | 1.20 |\n| 4 | 1.22 |\n"
    "| avg | {} |\n"
)


def test_rows_that_are_runs() -> None:
    first, *_, mean = explained(RUNS.format("4.50", "2.03")).reports[0].results
    assert (first.statistic, mean.statistic) == ("sample", "mean")
    assert mean.of["repetitions"] == 4
    assert "warm-up" in artefacts(RUNS.format("4.50", "2.03"))
    assert "inconsistent-report" in artefacts(RUNS.format("1.23", "2.03"))
    assert not statements(RUNS.format("1.23", "1.215"))


LIST = "It is slow:\nRun 1: {}\nRun 2: 1.21 s\nRun 3: 1.20 s\nRun 4: 1.22 s\nAverage: 2.03 s\n"


def test_lists_of_runs() -> None:
    assert "warm-up" in artefacts(LIST.format("4.50 s"))
    assert "inconsistent-report" in artefacts(LIST.format("1.23 s"))
    assert not statements(LIST.replace("2.03", "1.215").format("1.23 s"))


SCALES = (
    "| threads | time (ms) | scaling |\n|---|---|---|\n| 1 | 800 | - |\n| 2 | 410 | 97.6% |\n"
    "| 4 | 210 | 95.2% |\n| 8 | 110 | 90.9% |\n| 16 | 60 | {} |\n"
)


def test_a_column_of_ratios_to_the_first_row() -> None:
    assert "Line 7 gives 38.3 % for scaling" in statements(SCALES.format("38.3%"))
    assert "inconsistent-report" not in artefacts(SCALES.format("83.3%"))


OPERATIONS = (
    "| name | before (ns/op) | after {} |\n|---|---|---|\n| a | 812.5 | {} |\n| b | 900 | 450 |\n"
)


def test_operations_of_a_table_that_take_no_time() -> None:
    assert "dead-code" in artefacts(OPERATIONS.format("(ns/op)", "0.2512"))
    assert "dead-code" not in artefacts(OPERATIONS.format("(ns/op)", "20.2"))
    assert "dead-code" not in artefacts(
        OPERATIONS.replace("(ns/op)", "(ns)").format("(ns)", "0.25")
    )


ERRORS = (
    "| model | threads | t/s |\n|---|---|---|\n| 7B | 4 | 4.38 ± {} |\n| 7B | 8 | 4.64 ± 0.02 |\n"
)


def test_errors_of_no_digit() -> None:
    assert "this one was most likely rounded to 0" in statements(ERRORS.format("0.00"))
    assert "rounded to 0" not in statements(ERRORS.format("0.01"))


SERVED = """SQL statistics:
    transactions:                        31128  (259.39 per sec.)
    queries:                             {} ({} per sec.)
"""


def test_latencies_of_transactions() -> None:
    head = "sysbench 1.1.0 (using bundled LuaJIT 2.1.0)\n"
    text = statements(head + SERVED.format(498035, 4150.16))
    assert "A transaction of this test has 16 queries" in text
    assert "queries" not in statements(head + SERVED.format(31128, 259.39))


TOOK = "============== 1 passed, 1 warning in {}s (0:03:48) ==============\n"


def test_little_of_the_tests_was_timed() -> None:
    assert "adds up to 17.5 ms, and the tests took 228 s" in statements(
        PYTEST.format(ONE) + TOOK.format("228.09")
    )
    assert "adds up" not in statements(PYTEST.format(ONE) + TOOK.format("0.60"))


WRAPPED = """Benchmark 1: fd
  Time (mean ± σ):     253.0 ms ± 119.4 ms    [User: 870.8 ms, System: 738.3 ms]
  Range (min … max):   207.5 ms … 592.6 ms    10 runs

  Warning: The first benchmarking run for this command was significantly slower
  than the rest ({} ms). This could be caused by (filesystem) caches that were
  not filled until after the first run.
"""


def test_a_warning_in_several_lines_tells_the_first_run() -> None:
    assert "warm-up" in artefacts(WRAPPED.format(592.6))
    assert "warm-up" not in artefacts(WRAPPED.format(255.6))


def test_what_pyperf_tested_is_not_judged_again() -> None:
    log = PYPERF.format("a", 708, 62, 674)
    assert "ratio" not in statements(log)
    text = statements(log.replace("Significant", "Not significant"))
    assert "pyperf tests the difference of line 2 itself and calls it not significant" in text


CALLS = """-----------------------------------------------------------
Benchmark                       Time             CPU Iterations
-----------------------------------------------------------
BM_each/1024/real_time       {} ns       6334 ns     103601
BM_each/4096/real_time       6675 ns       6429 ns     104510
BM_each/32768/real_time      6905 ns       6581 ns     102089
BM_each/262144/real_time     9737 ns       9589 ns     104343
BM_each/2097152/real_time   75994 ns      75994 ns      10000
BM_each/16777216/real_time 595997 ns     595997 ns      10000
"""


def test_a_fixed_cost_with_small_steps_of_sizes() -> None:
    assert "From line 4 to line 6 the size grows by a factor of 32.0" in statements(
        CALLS.format(6708)
    )
    assert "grow" not in statements(CALLS.format(208))


COLUMNS = "| case | {} (ms) | {} (ms) |\n|---|---|---|\n| a | 12.1 | 9.4 |\n| b | 22.5 | 18.9 |\n"


def test_a_mean_is_compared_with_a_minimum() -> None:
    text = statements(COLUMNS.format("before avg", "after min"))
    assert "Line 3 compares the mean 12.1 ms (before avg) with the min 9.4 ms (after min)" in text
    assert "compares" not in statements(COLUMNS.format("avg", "min"))
    assert "compares" not in statements(COLUMNS.format("before avg", "after avg"))


def test_a_ratio_that_its_figures_do_not_make() -> None:
    assert "says 5 times for 9.42 ms and 5.27 ms, which make 1.79" in statements(
        PROSE.format("9.42 ms -> 5.27 ms, a 5x")
    )
    assert not statements(PROSE.format("9.42 ms -> 5.27 ms, a 1.8x"))
    assert not statements(PROSE.format("from 9.42 ms to 5.27 ms, nearly 2 times faster, an"))


TESTS = "name        old time/op    new time/op    delta\n"
NONE = "T{}-4        42.3s ± 3%     42.0s ± 2%    ~     (p=0.{} n=10+10)\n"


def test_one_of_many_tests_finds_something_by_chance() -> None:
    few = TESTS + "".join(NONE.format(number, number + 300) for number in range(24))
    one = "Z-4        42.3s ± 3%     41.0s ± 2%  -3.07%  (p={} n=10+10)\n"
    assert "1 of 25 comparisons have p below 0.05, the lowest 0.031" in statements(
        few + one.format("0.031")
    )
    assert "by chance" not in statements(few + one.format("0.000"))
    assert "by chance" not in statements(TESTS + one.format("0.031"))


COMMANDS = """Benchmark 1: {}
  Time (mean ± σ):     {} ms ±   {} ms    [User: 110.0 ms, System: 6.1 ms]
  Range (min … max):   100.0 ms … 140.0 ms    22 runs
"""


def test_two_commands_without_a_summary() -> None:
    near = COMMANDS.format("./old", 119.2, 9.8) + COMMANDS.format("./new", 117.6, 9.1)
    far = COMMANDS.format("./old", 119.2, 0.8) + COMMANDS.format("./new", 115.6, 1.1)
    assert "less than their errors together" in statements(near)
    assert "less than their errors together" not in statements(far)


DRIFT = "| run | time (s) |\n|---|---|\n| 1 | 1.0 |\n| 2 | {} |\n| 3 | 1.2 |\n| 4 | 1.3 |\n"
LATER = "| 5 | 1.4 |\n| 6 | 1.5 |\n"


def test_runs_of_a_table_that_go_one_way() -> None:
    assert "The repetitions of time go one way" in statements(DRIFT.format("1.1") + LATER)
    assert "go one way" not in statements(DRIFT.format("1.1"))  # four may do so by chance
    assert "go one way" not in statements(DRIFT.format("0.9") + LATER)


TWICE = """{}
Result "a.B.transfer":
  15342.427 s/op
...
Result "a.B.transfer":
  13761.315 s/op
"""


def test_two_identical_runs_of_one_benchmark() -> None:
    text = statements(TWICE.format("Two identical runs report very different scores:"))
    assert "they differ by up to -10.3 % (a.B.transfer, line 6)" in text
    for words in ("Old and new:", "Two similar runs report very different scores:"):
        assert "sides are the same" not in statements(TWICE.format(words))


SIDES = "| Build | Run 1 | Run 2 | Run 3 | Run 4 | Avg |\n|---|---|---|---|---|---|\n{}\n{}\n"
MAIN = "| main | 12.4s | 12.1s | 12.6s | 12.5s | 12.4s |"
NEAR = "| PR | 11.9s | 12.3s | 12.2s | 12.5s | 12.225s |"
FAR = "| PR | 10.9s | 11.3s | 11.2s | 11.5s | 11.225s |"


def test_runs_of_two_rows() -> None:
    text = statements(SIDES.format(MAIN, NEAR))
    assert "The runs of main (from line 3) lie between 12.1 and 12.6 s." in text
    assert "do not show which is faster" in text
    assert not statements(SIDES.format(MAIN, FAR))
    assert "inconsistent-report" in artefacts(SIDES.format(MAIN, FAR.replace("11.225", "10.225")))


def test_a_rule_of_single_dashes_and_units_without_a_space() -> None:
    table = "| test | median |\n| - | - |\n| empty | 1.092ns |\n| chain | 26.092ns |\n"
    assert [own.value for own in explained(table).reports[0].results] == [1.092, 26.092]


THREADS = "| threads | time (s) |\n|---|---|\n| 1 | 72.3 |\n| 2 | {} |\n| 4 | {} |\n| 8 | {} |\n"


def test_more_threads_that_are_slower_at_each_step() -> None:
    text = statements(THREADS.format(114.9, 133.5, 146.6))
    assert "time grows with each step of the threads, from 72.3 s with 1 (line 3)" in text
    assert "grows with each step" not in statements(THREADS.format(74.1, 75.2, 76.0))
    assert "grows with each step" not in statements(THREADS.format(40.1, 30.2, 96.0))


ROWS = "".join(f"A.m{number}   avgt   25  102.050 ± 0.267  ms/op\n" for number in range(4))


def test_a_row_that_is_known_far_less_than_the_others() -> None:
    text = statements(HEAD + ROWS + "A.n    avgt   25  3907.007 ± 1046.009  ms/op\n")
    assert "its error is 27" in text
    assert "its error" not in statements(HEAD + ROWS + "A.n    avgt   25  3907.0 ± 46.0  ms/op\n")


BEST = "$ python -m timeit -n 10000 'f()'\n10000 loops, best of 5: {} nsec per loop\n"


def test_two_bests_of_one_start_each() -> None:
    text = statements(BEST.format(309) + BEST.format(245))
    assert "is 309 ns in line 2 and 245 ns in line 4, 26" in text
    assert "A repetition took 3.09 ms at most" in text
    assert "apart" not in statements(BEST.format(309) + BEST.format(24))


MANY = (
    "It improved from 12 s to 8 s (33% faster), latency by 20% from 5 ms to 4 ms and throughput "
    "by {}% (1000 -> 1500 req/s). In total 2x to 3x faster: 30 ms -> 12 ms.\n"
)


def test_what_is_said_of_one_pair_is_not_said_of_the_next() -> None:
    assert not statements(MANY.format(50))
    assert "gives 80 % for 1,000 requests/s and 1,500 requests/s" in statements(MANY.format(80))


def test_other_arguments_are_other_work() -> None:
    times = "real\t0m{0}s\nuser\t0m{0}s\nsys\t0m0.01s\n"
    both = f"$ time ./a {{}}\n{times.format('9.50')}$ time ./a {{}}\n{times.format('0.10')}"
    assert "times as much" not in statements(both.format(1, 2))
    assert "times as much" in statements(both.format(1, 1))


NAMED = (
    "| # | {} | time (ms) |\n|---|---|---|\n| 1 | {} | 12.0 |\n| 2 | b | 55.0 |\n| 3 | b | 9.0 |\n"
)


def test_rows_with_names_are_no_runs() -> None:
    named, same = (explained(NAMED.format("name", name)).reports[0] for name in "ab")
    assert [own.statistic for own in named.results] == [""] * 3
    assert [own.statistic for own in same.results] == ["sample"] * 3


MACHINES = "I ran the same commit again:\n\n| box | {} | {} |\n|---|---|---|\n{}{}"
MACHINES = MACHINES.format("{}", "{}", "| A | 12m 3s | 3m10s |\n", "| B | 10m 50s | 2m59s |\n")


def test_columns_of_other_quantities_are_no_sides() -> None:
    assert "same-code" in artefacts(MACHINES.format("run 1", "run 2"))
    assert "same-code" in artefacts(MACHINES.format("before", "after"))
    assert "same-code" not in artefacts(MACHINES.format("build time", "test time"))


def test_other_commands_are_not_the_same() -> None:
    text = "Two identical runs:\n" + COMMANDS.format("./a", 119.2, 0.8)
    assert "same-code" in artefacts(text + COMMANDS.format("./a", 215.6, 1.1))
    assert "same-code" not in artefacts(text + COMMANDS.format("./b", 215.6, 1.1))
