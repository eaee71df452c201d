"""What differs between two logs of one tool."""

from __future__ import annotations

from benchbook.explain.api import Machine, differences, of_content

SYSBENCH = """$ sysbench memory --threads={threads} --memory-block-size=1M --memory-oper=write run
sysbench 1.0.{release}
Running memory speed test with the following options:
  block size: 1024KiB
  operation: write
Total operations: 102400 ({rate}.00 per second)
102400.00 MiB transferred ({rate}.00 MiB/sec)
"""
HYPERFINE = """Benchmark 1: sort in
  Time (mean ± σ):     {mean} ms ±  5.0 ms    [User: 90.7 ms, System: 5.0 ms]
  Range (min … max):    92.7 ms … 118.8 ms    10 runs
"""


def compared(first: str, second: str) -> str:
    files = [of_content("x", text.encode(), Machine()) for text in (first, second)]
    return "\n".join(differences(*files))


def test_settings_versions_and_ratios_are_told() -> None:
    lines = compared(
        SYSBENCH.format(threads=8, release=17, rate=16000),
        SYSBENCH.format(threads=4, release=20, rate=8400),
    )
    assert "version: 1.0.17 → 1.0.20" in lines
    assert "threads: 8 → 4" in lines
    assert "transfer rate: 16,000 MiB/s → 8,400 MiB/s, 0.525 times" in lines
    assert "threads may explain up to 2.00 times of the 1.90 times between the figures" in lines
    assert "only in the command of the second: --threads=4" in lines


def test_a_ratio_within_the_spread_is_called_so() -> None:
    lines = compared(HYPERFINE.format(mean="100.0"), HYPERFINE.format(mean="102.0"))
    assert "time mean: 100 ms → 102 ms, 1.02 times, within the spread of single runs" in lines


def test_logs_of_two_tools_have_nothing_in_common() -> None:
    assert (
        compared(HYPERFINE.format(mean="100.0"), SYSBENCH.format(threads=1, release=9, rate=5))
        == ""
    )


PERF = """ Performance counter stats for './work':

          {ms:,}.00 msec task-clock
    {cycles:,}      cycles
     9,000,000,000      instructions
"""


def test_of_two_counted_programs_the_factor_is_named() -> None:
    before, after = (PERF.format(ms=ms, cycles=3_000_000 * ms) for ms in (2000, 6000))
    lines = compared(before, after)
    assert "it hardly works more, it waits more" in lines
