"""Causes in the machine, in where threads and memory are, and in CPU time that was taken away: each
where it must be said, and near it where not. The logs here are made up."""

from __future__ import annotations

import pytest

from benchbook.explain.api import Machine, of_content


def explanations(text: str) -> str:
    """All findings and notes on a log, in one text."""
    explained = of_content("x", text.encode(), Machine())
    found = [finding.explanation for finding in explained.findings]
    return "\n".join([explained.trouble, *found, *explained.notes])


def rows(text: str) -> list[tuple[str, float, str, object]]:
    reports = of_content("x", text.encode(), Machine()).reports
    return [
        (result.name, result.value, result.unit, result.of.get("threads"))
        for report in reports
        for result in report.results
    ]


# Tables ------------------------------------------------------------------------------------------

BROKEN_HEADS = """|Thread<br>Count|Wall Clock<br>Time|User Time|System Time|Speedup|
|:--:|--:|--:|--:|:--:|
|1|16.0|15.0|{first}|1.00|
|4|4.10|15.1|0.6|3.90|
|16|2.00|15.3|0.9|8.00|
|64|1.98|15.2|{last}|8.08|
"""
PIVOTED = """| Threads | 1 | 2 | 4 | 8 |
|---|---|---|---|---|
| Triad (GB/s) | 12.0 | 23.5 | 25.0 | 24.8 |
"""
ALIGNED = """Threads   Time (s)   Speed-up
-------   --------   --------
1         10.0       1.00
2          5.1       1.96
4          2.6       3.85
8          4.4       2.27
"""
UNRULED = """results in MB/s (higher is better)
 bs kB | type | old | new
 64 | read | 41987 | 10334
 4096 | read | 29768 | 8728
 65536 | read | 17711 | 4846
"""
TWO_TABLES = """## n = 1000

| Threads | Average Time |
|---|---|
| 1 | 1ms |
| 2 | 2ms |
| 4 | 3ms |

## n = 100000

| Threads | Average Time |
|---|---|
| 4 | 400ms |
| 8 | 200ms |
| 16 | 100ms |
"""
DOMAINS = """| L3 domains | cores/domain | threads | total GB/s |
|---:|---:|---:|---:|
| 1 | 1 | 1 | 20 |
| 1 | 2 | 2 | 32 |
| 1 | 4 | 4 | 33 |
| 2 | 1 | 2 | 39 |
| 2 | 2 | 4 | 64 |
| 2 | 4 | 8 | 66 |
"""


def test_heads_over_two_lines_and_times_without_a_unit_are_read() -> None:
    assert rows(BROKEN_HEADS.format(first=0.5, last=0.6))[:2] == [
        ("Wall Clock Time", 16.0, "units of time", 1),
        ("User Time", 15.0, "units of time", 1),
    ]


def test_system_time_that_grows_with_the_threads() -> None:
    told = explanations(BROKEN_HEADS.format(first=0.5, last=29.3))
    assert "Wall Clock Time no longer improves beyond 16 threads" in told
    assert "The system time grows from 0.5 with 1 thread (" in told
    assert "system time grows" not in explanations(BROKEN_HEADS.format(first=0.5, last=0.9))


def test_counts_in_the_heads_of_columns() -> None:
    assert rows(PIVOTED)[1] == ("Triad", 23.5, "GB/s", 2)
    assert "Triad hardly improves beyond 2 threads" in explanations(PIVOTED)


def test_aligned_columns_are_a_table() -> None:
    assert rows(ALIGNED)[0] == ("Time", 10.0, "s", 1)
    assert "Time is best with about 4 threads" in explanations(ALIGNED)
    assert "Time is best" not in explanations(ALIGNED.replace("Time (s)", "Words   "))


def test_bars_without_a_rule_need_a_unit_above() -> None:
    assert rows(UNRULED)[0] == ("old", 41987.0, "MB/s", None)
    assert {unit for _, _, unit, _ in rows(UNRULED.replace(" in MB/s", ""))} == {"1"}


def test_two_tables_are_no_sweep() -> None:
    assert not {"best with", "no longer"} & set(explanations(TWO_TABLES).split())


def test_a_factor_of_the_count_is_no_setting_of_its_own() -> None:
    told = explanations(DOMAINS)
    assert "improves beyond 4 threads" in told
    assert "with 8 (line 8)" in told


# Threads -----------------------------------------------------------------------------------------

GO = """name         time/op
Get          {one}µs ± 0%
Get-2        {two}µs ± 0%
Get-4        {four}µs ± 0%
"""
GOOGLE = """Run on (4 X 3000 MHz CPU s)
---------------------------------------------------------------------
Benchmark                           Time             CPU   Iterations
---------------------------------------------------------------------
Read/real_time/threads:1      1000000 ns      1000000 ns          700 bytes_per_second=17.0G/s
Read/real_time/threads:2       600000 ns      1200000 ns          700 bytes_per_second=28.0G/s
Read/real_time/threads:4       500000 ns      2000000 ns          700 bytes_per_second=34.0G/s
Read/real_time/threads:8       495000 ns      3960000 ns          700 bytes_per_second=34.3G/s
"""


def test_benchmarks_of_go_with_more_cpus() -> None:
    told = explanations(GO.format(one=20.0, two=10.5, four=16.0))
    assert "Get time is best with about 2 CPUs (GOMAXPROCS)" in told
    assert "GOMAXPROCS" not in explanations(GO.format(one=20.0, two=10.5, four=5.4))


def test_more_threads_than_cpus_of_the_log() -> None:
    told = explanations(GOOGLE)
    assert "improves beyond 4 threads" in told
    assert "This log shows 4 CPUs" in told
    assert "This log shows" not in explanations(GOOGLE.replace("(4 X", "(16 X"))


VERBOSE = """        Command being timed: "{command}"
        User time (seconds): {user}
        System time (seconds): 0.20
        Percent of CPU this job got: 100%
        Elapsed (wall clock) time (h:mm:ss or m:ss): 0:40.18
        Voluntary context switches: 496
        Involuntary context switches: {switches}
"""


@pytest.mark.parametrize("option", ["-jobs 24", "-j24", "--threads=24", "-j 24"])
def test_jobs_that_one_cpu_does(option: str) -> None:
    text = VERBOSE.format(command=f"verify {option} a.cl", user=40.07, switches=3412)
    assert "The command asks for 24 threads or jobs, but its CPU time" in explanations(text)


@pytest.mark.parametrize(
    ("command", "user"),
    [("verify -jobs 24 a.cl", 400.0), ("verify a.cl", 40.0), ("docker run x -j 24", 40.0)],
)
def test_jobs_that_several_cpus_do(command: str, user: float) -> None:
    assert "asks for" not in explanations(VERBOSE.format(command=command, user=user, switches=3412))


def test_interruptions_for_others() -> None:
    text = VERBOSE.format(command="a.out", user=40.0, switches=200_000)
    assert "was interrupted 200,000 times for others" in explanations(text)
    text = VERBOSE.format(command="a.out", user=40.0, switches=3_400)
    assert "interrupted" not in explanations(text)


LINKER = """Benchmark 1: link ({first} threads)
  Time (mean ± σ):     24.302 s ±  0.477 s    [User: 0.392 s, System: 0.234 s]
  Range (min … max):   23.836 s … 24.789 s    3 runs

Benchmark 2: link (4 threads)
  Time (mean ± σ):     14.871 s ±  0.597 s    [User: {user} s, System: 0.246 s]
  Range (min … max):   14.351 s … 15.523 s    3 runs
"""


def test_cpu_time_of_another_process() -> None:
    told = explanations(LINKER.format(first=1, user=0.385))
    assert "the CPU time of the process that works was not counted" in told
    assert "it waited" not in told
    assert "is not among" not in explanations(LINKER.format(first=1, user=9.0))
    assert "is not among" not in explanations(LINKER.format(first=4, user=0.385))


PINNED = """$ time taskset -c 0 ./a.out x
real	0m0.982s
user	0m0.906s
sys	0m0.058s

$ time ./a.out x
real	0m0.984s
user	0m0.922s
sys	0m{sys}s
"""


def test_cpu_time_that_brings_nothing() -> None:
    assert "the further threads bring nothing here" in explanations(PINNED.format(sys="1.881"))
    assert "further threads" not in explanations(PINNED.format(sys="0.061"))


PERF = """$ perf stat -r5 dwarves {option}--encode vmlinux

 Performance counter stats for 'dwarves {option}--encode vmlinux' (5 runs):

         {clock:,.2f} msec task-clock:u       #    {cpus} CPUs utilized   ( +-  0.34% )
            {elapsed} +- 0.0336 seconds time elapsed  ( +-  1.20% )

"""


def test_what_parallel_work_costs() -> None:
    alone = PERF.format(option="", clock=7506.93, cpus="1.000", elapsed=7.51)
    many = PERF.format(option="-j ", clock=17187.27, cpus="6.153", elapsed=2.7931)
    assert "times the CPU time. If both do the same work" in explanations(alone + many)
    cheap = PERF.format(option="-j ", clock=7600.0, cpus="2.721", elapsed=2.7931)
    assert "If both do the same work" not in explanations(alone + cheap)


# Placement ---------------------------------------------------------------------------------------

BENCH = """$ {prefix}likwid-bench -t triad -w S0:20GB:20{streams}
Cycles:			6696678972
Time:			3.348323e+00 sec
MByte/s:		{rate}
Cycles per update:	0.334834
"""
NEAR, FAR = "-0:S0,1:S0,2:S0,3:S0", "-0:S1,1:S1,2:S1,3:S1"


def test_memory_of_another_node() -> None:
    near = BENCH.format(prefix="", streams=NEAR, rate=190000.0)
    far = BENCH.format(prefix="", streams=FAR, rate=70000.0)
    assert "the memory is bound to another node than the threads" in explanations(near + far)
    alike = BENCH.format(prefix="", streams=FAR, rate=186000.0)
    assert "the binding had no effect" in explanations(near + alike)
    assert "bound to another node" not in explanations(near + near.replace("190000.0", "187000.0"))


def test_fewer_cpus_are_slower_for_that_alone() -> None:
    free = BENCH.format(prefix="", streams="", rate=190000.0)
    half = BENCH.format(prefix="numactl -N 0 -m 0 ", streams="", rate=95000.0)
    assert "The same command has" not in explanations(free + half)
    slow = BENCH.format(prefix="", streams="", rate=50000.0)
    assert "makes the difference" in explanations(slow + half)


# What takes CPU time away ------------------------------------------------------------------------

GO_OF_QUOTA = """$ {command}
goos: linux
cpu: AMD EPYC 7763
BenchmarkGet-8   	  100000	     10500 ns/op
PASS
"""


@pytest.mark.parametrize(
    "command",
    [
        "docker run --cpus=2 golang go test -bench=.",
        "docker run --cpu-period=100000 --cpu-quota=200000 golang go test -bench=.",
        "kubectl run b --image=golang --limits='cpu=2000m,memory=1Gi' -- go test -bench=.",
        "go test -bench=.  # the container has a CPU limit of 2 cores",
    ],
)
def test_quotas_of_containers(command: str) -> None:
    assert "gives the container 2 CPUs" in explanations(GO_OF_QUOTA.format(command=command))


@pytest.mark.parametrize(
    "command",
    [
        "docker run --cpus=8 golang go test -bench=.",
        "go test -bench=.  # native; the pod has a CPU limit of 2 cores",
        "go test -bench=.",
    ],
)
def test_no_quota_below_the_threads(command: str) -> None:
    assert "gives the container" not in explanations(GO_OF_QUOTA.format(command=command))


CPU_STAT = "$ cat /sys/fs/cgroup/cpu.stat\nusage_usec 99\nnr_periods 120\nnr_throttled {count}\n"
TOP = "%Cpu(s): 20.0 us,  3.0 sy,  0.0 ni, 60.0 id,  {wait} wa,  0.0 hi,  0.2 si, {steal} st\n"
VMSTAT = """$ vmstat 1
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
 2  0      0 812345   1234  99999   90   90     5    12  100  200 10  2 88  0 40
 4  0      0 812345   1234  99999   {swap}    0     5    12  100  200 80  5  3  0 {steal}
 4  0      0 812345   1234  99999   {swap}    0     5    12  100  200 80  5  3  0 {steal}
"""
STEPS = """Throttling statistics (time spent on each cpufreq OPP) for CPUs 0-5:

1794 MHz:  {high} sec
1404 MHz:    8.99 sec
 416 MHz:  {low} sec
"""
CLOCKS = "17:30:0{second}: {clock}MHz  3.08  73%   0%  71%   0%   0%   0%   {heat}°C 4 cores\n"


def test_stops_by_a_limit() -> None:
    assert "was stopped in 89 of 120 periods (74 %" in explanations(CPU_STAT.format(count=89))
    assert "was stopped" not in explanations(CPU_STAT.format(count=0))
    twice = CPU_STAT.format(count=89) + CPU_STAT.format(count=89).replace("120", "520")
    assert "was stopped" not in explanations(twice)


def test_time_that_a_hypervisor_took() -> None:
    assert "The hypervisor took 12.5 % of the CPU time" in explanations(
        TOP.format(wait=0.1, steal=12.5)
    )
    assert "hypervisor gave" not in explanations(TOP.format(wait=0.1, steal=0.0))
    assert "The hypervisor took 12 % of the CPU time" in explanations(
        VMSTAT.format(swap=0, steal=12)
    )
    assert "wait for disks" in explanations(TOP.format(wait=45.0, steal=0.0))


def test_the_first_row_of_vmstat_is_of_the_time_before() -> None:
    told = explanations(VMSTAT.format(swap=0, steal=0))
    assert "hypervisor" not in told
    assert "swapped" not in told
    assert "The machine swapped 4,000 KiB a second" in explanations(
        VMSTAT.format(swap=4000, steal=0)
    )


def test_clocks_that_were_lowered() -> None:
    told = explanations(STEPS.format(high=300.0, low=600.0))
    assert "the CPUs ran below their highest clock of 1794 MHz" in told
    assert "below their highest" not in explanations(STEPS.format(high=900.0, low=1.0))
    falls = [(1152, 66), (1152, 95), (1104, 93), (1056, 98)]
    text = "".join(
        CLOCKS.format(second=at, clock=clock, heat=heat) for at, (clock, heat) in enumerate(falls)
    )
    assert "The clock falls from 1152 MHz" in explanations(text)
    assert "The clock falls" not in explanations(text.replace("9", "5"))


def test_a_board_that_lowers_its_clock() -> None:
    assert "a clock that it lowered" in explanations(
        "$ vcgencmd get_throttled\nthrottled=0x50005\n"
    )
    assert "a clock that it lowered" not in explanations(
        "$ vcgencmd get_throttled\nthrottled=0x0\n"
    )


# What memory carries -----------------------------------------------------------------------------

SYSBENCH = """$ sysbench memory --memory-block-size=1M --memory-total-size=100G --threads=32 run
sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)

Running the test with following options:
Number of threads: 32
Running memory speed test with the following options:
  block size: {block}KiB
  total size: 102400MiB
  operation: write
  scope: global

Total operations: 102400 ({rate:.2f} per second)

102400.00 MiB transferred ({rate:.2f} MiB/sec)

General statistics:
    total time:                          {time:.4f}s
    total number of events:              102400
"""


def test_blocks_that_stay_in_a_cache_at_this_rate() -> None:
    fast = SYSBENCH.format(block=1024, rate=102400.0, time=1.0)
    assert "fits in the caches of any machine that reaches this rate" in explanations(fast)
    slow = SYSBENCH.format(block=1024, rate=10240.0, time=10.0)
    assert "fits in the caches" not in explanations(slow)


MBW = """$ mbw -t0 512
AVG	Method: MEMCPY	Elapsed: 0.01	MiB: 512.00000	Copy: {rate:.3f} MiB/s
"""


@pytest.mark.parametrize(
    "memory", ["dual channel DDR4-2400", "DDR4-2400 in dual-channel mode", "2-channel DDR4 2400"]
)
def test_channels_that_somebody_names(memory: str) -> None:
    assert "it is no rate of that memory" in explanations(
        MBW.format(rate=51200.0) + f"It has {memory}.\n"
    )
    assert "no rate of that memory" not in explanations(
        MBW.format(rate=15000.0) + f"It has {memory}.\n"
    )
    several = f"Two sockets, {memory} per socket.\n"
    assert "no rate of that memory" not in explanations(MBW.format(rate=51200.0) + several)


# HPCG --------------------------------------------------------------------------------------------

HPCG = """Machine Summary::Distributed Processes={processes}
GB/s Summary::Raw Total B/W={traffic}
Final Summary::HPCG result is {verdict} with a GFLOP/s rating of={rate}
"""
ENDS = """Final Summary::Reference version of ComputeSPMV used=Performance results are suboptimal
Final Summary::Results are valid but execution time (sec) is={took}
Final Summary::Official results execution time (sec) must be at least=1800
"""


def test_results_of_gradients() -> None:
    text = HPCG.format(processes=8, traffic=1487.6, verdict="VALID", rate=196.2)
    told = explanations(text + ENDS.format(took=160.0))
    assert "HPCG ran its reference code for SPMV" in told
    assert "It ran for 160 s" in told
    assert "The GB/s of HPCG" in told
    assert "calls its result INVALID" in explanations(text.replace("VALID", "INVALID"))
    told = explanations(text + ENDS.format(took=1810.0).split("\n", 1)[1])
    assert "ran its reference code" not in told
    assert "It ran for" not in told


def test_processes_that_use_up_the_memory() -> None:
    rates = [(1, 2.8), (2, 5.4), (4, 9.9), (8, 10.2), (16, 10.1)]
    text = "".join(
        HPCG.format(processes=count, traffic=7 * rate, verdict="VALID", rate=rate)
        for count, rate in rates
    )
    assert "improves beyond 4 processes" in explanations(text)


# Sentences ---------------------------------------------------------------------------------------

BOUND = """Running `./score --cpu`, I'm getting ~4t/s of generation.

Running same test pinned to 1 CPU: `numactl --cpunodebind=1 --membind=1 ./score`, I get ~{bound}t/s.
"""
COUNTED = """On all four cores I get 17.9GFlop/s with it. On a single core it shows {one}GFlop/s.
"""


def test_a_text_with_a_bound_and_a_free_figure() -> None:
    assert "With “numactl --cpunodebind=1 --membind=1” the figure is 8 tokens/s" in explanations(
        BOUND.format(bound=8)
    )
    assert "times as good as" not in explanations(BOUND.format(bound=3.9))


def test_a_text_with_two_numbers_of_cores() -> None:
    assert "4 threads do 3.08 times the work of 1" in explanations(COUNTED.format(one=5.82))
    assert "times the work" not in explanations(COUNTED.format(one=4.6))
    assert "no output of a benchmark" in explanations("It was 3 GB/s on Monday.\n")


LSCPU = """CPU(s):                32
Thread(s) per core:    2
Core(s) per socket:    8
Socket(s):             2
"""
STREAM = """Number of Threads requested = {threads}
Number of Threads counted = {threads}
Function    Best Rate MB/s  Avg time     Min time     Max time
Copy:           47239.8     0.003658     0.003387     0.003748
Scale:          48721.4     0.003657     0.003284     0.003766
Add:            46592.6     0.005295     0.005151     0.005338
Triad:          46492.6     0.005295     0.005162     0.005338
"""


def test_threads_next_to_the_cores_of_the_log() -> None:
    told = explanations(LSCPU + STREAM.format(threads=64))
    assert "had 64 threads, and this log shows 32 CPUs" in told
    assert "had 32 threads on 16 cores" in explanations(LSCPU + STREAM.format(threads=32))
    told = explanations(LSCPU + STREAM.format(threads=16))
    assert "this log shows" not in told
    assert "on 16 cores" not in told


HPL = """T/V                N    NB     P     Q               Time                 Gflops
WR11C2R4       {order}   192     2     2              13.10             4.0717e+02
MemTotal:       16000000 kB
"""


def test_more_than_the_memory() -> None:
    assert "So it does not fit" in explanations(HPL.format(order=50000))
    assert "So it does not fit" not in explanations(HPL.format(order=40000))


SIZES = """Measuring  16kB: 121.9GB/s
Measuring 256kB: 129.3GB/s
Measuring   1MB: 128.3GB/s
Measuring  16MB: {middle}GB/s
Measuring   1GB: {last}GB/s
It is dual channel DDR4-2400 ECC.
"""


def test_a_list_of_sizes_leaves_the_caches_on_purpose() -> None:
    assert rows(SIZES.format(middle=90.1, last=37.4))[4] == ("Measuring", 37.4, "GB/s", None)
    assert "it is no rate of that memory" not in explanations(SIZES.format(middle=90.1, last=37.4))
    assert "no output of a benchmark" in explanations("16kB: 120GB/s\n32kB: 120GB/s\nand so on\n")


def test_a_table_of_one_row_has_several_figures() -> None:
    table = "| threads: | events/s: | time: |\n|---|---|---|\n| 4 | 1208.10 | 10.0055s |\n"
    assert [row[:3] for row in rows(table)] == [
        ("events/s", 1208.1, "events/s"),
        ("time", 10.0055, "s"),
    ]
    assert rows(table.replace("10.0055s", "none")) == []


def test_slots_without_a_module() -> None:
    assert "Some slots for memory are empty" in explanations(
        MBW.format(rate=5120.0) + "Size: No Module Installed\n"
    )


NAMED = "{n} threads | run {run}/1 | token time {time} ms - total time {total} ms\n"


def test_named_figures_behind_a_count_of_threads() -> None:
    def log(times: list[float]) -> str:
        counts = (32, 40, 48, 56)
        lines = [
            NAMED.format(n=n, run=1, time=time, total=9000 + n)
            for n, time in zip(counts, times, strict=True)
        ]
        return "".join(lines)

    flat = log([21.2, 20.4, 19.9, 20.3])
    assert rows(flat)[:2] == [("token time", 21.2, "ms", 32), ("total time", 9032.0, "ms", 32)]
    assert "token time hardly improves from 32 threads on" in explanations(flat)
    assert "no longer improves" not in explanations(log([35.0, 28.0, 23.3, 20.0]))
    assert "no longer improves" not in explanations(flat.replace("token time", "latency mean"))


MLC = """Measuring Idle Latencies (ns)
| Numa Node | 0 |
|----|----|
| 0 | {idle} |

Measuring Loaded Latencies for the system
| Inject Delay | Latency (ns) | Bandwidth (MB/sec) |
|---|---|---|
| 00000 | 180.1 | 27920.3 |
{quiet}"""
QUIET = "| 20000 | 79.2 | 1825.0 |\n"


def test_idle_latency_next_to_the_one_with_nearly_no_load() -> None:
    known = ("idle latency", 37.3, "ns", None)
    assert rows(MLC.format(idle=37.3, quiet=QUIET))[0] == known
    assert "shorter than the 79.2 ns" in explanations(MLC.format(idle=37.3, quiet=QUIET))
    assert "usual timings" in explanations(MLC.format(idle=37.3, quiet=""))
    for idle, quiet in ((78.5, QUIET), (78.5, ""), (88.0, QUIET)):
        found = explanations(MLC.format(idle=idle, quiet=quiet))
        assert "shorter than" not in found and "usual timings" not in found
