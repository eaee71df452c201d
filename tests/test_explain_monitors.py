"""What monitors, profilers and simulations of particles show: said where the log has it, and not in
the log next to it. The logs here are made up after posted ones."""

from __future__ import annotations

import pytest

from benchbook.explain.api import Machine, of_content

VMSTAT = """procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
 1  0   2048 244892 384428 734696    0    0   141     6   42   68  9  1 89  1  0
 9  0   2048 244894 384428 734696    0 {so}     0     0   40   53 {us} {sy} {id} {wa} {st}
 9  0   2048 244894 384428 734696    0 {so}     0     0   40   53 {us} {sy} {id} {wa} {st}
"""
CALM = {"so": 0, "us": 30, "sy": 5, "id": 64, "wa": 1, "st": 0}
HEAD = "\n".join(VMSTAT.splitlines()[:2]).replace(" wa st", " wa")
ONE_ROW = f"{HEAD}\n 0  1  24980 10792 8296 47316 5 19 205 52 11 69 {{us}} 3 1 {{wa}}"
MPSTAT = """11:00:01     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest   %idle
11:00:02     all   12.00    0.00    0.50    0.00    0.00    0.50    0.00    0.00   87.00
11:00:02       0    2.00    0.00    0.00    0.00    0.00    0.00    0.00    0.00   98.00
11:00:02       1   {usr}    0.00    0.00    0.00    0.00   {soft}    0.00    0.00   {idle}
11:00:02       2    2.00    0.00    0.00    0.00    0.00    0.00    0.00    0.00   98.00
11:00:02       3    2.00    0.00    0.00    0.00    0.00    0.00    0.00    0.00   98.00
"""
TOP = """{cpus}top - 09:12:47 up 31 days,  3:01,  2 users,  load average: {load}, 9.12, 8.80
%Cpu(s): 10.2 us,  2.1 sy,  0.0 ni, 86.9 id,  0.8 wa,  0.0 hi,  0.0 si,  0.0 st
MiB Mem :  15921.9 total,    203.4 free,  14921.2 used,    797.3 buff/cache
MiB Swap:   2048.0 total,   {swap} free,   2000.0 used.    {available} avail Mem
    PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND
   1201 root      20   0       0      0      0 S   {reclaims}   0.0  12:01.10 kswapd0
   4711 user      20   0 9182100   8.1g  10240 R  {work}  52.1  95:10.32 solve
"""
EASY = {
    "cpus": "", "load": "1.02", "swap": "1948.0", "available": "8120.4", "reclaims": "0.0",
    "work": "312.0",
}  # fmt: skip
LAMMPS = """Loop time of {took} on 8 procs for 20000 steps with {atoms} atoms
Performance: 658283.185 tau/day, 3047.607 timesteps/s
{use}% CPU use with {tasks} OpenMP threads
MPI task timing breakdown:
Section |  min time  |  avg time  |  max time  |%varavg| %total
Pair    | 40.727     | 46.52      | {most}     |  84.9 | 66.15
Comm    | 4.8284     | 11.652     | 18.475     | 199.9 | {comm}
Neighbor list builds = 1000
Dangerous builds = {wrong}
"""
WELL = {
    "took": "70.3225", "atoms": 320000, "use": "99.2", "tasks": "8 MPI tasks x 1", "most": "48.314",
    "comm": "16.57", "wrong": 0,
}  # fmt: skip
GROMACS = """ Part of the total run time spent waiting due to PP/PME imbalance: {lost} %
               Core t (s)   Wall t (s)        (%)
       Time:    28258.913      {wall}     7999.9
                 (ns/day)    (hour/ns)
Performance:        4.892        4.906
"""
GPROF = """Each sample counts as 0.01 seconds.
 time   seconds   seconds    calls  Ts/call  Ts/call  name
100.46      {sum}     {sum}                             quicksort
"""
CACHES = """==77== Command: ./a.out
{figure}==77== I   refs:      483,664,426
==77== D   refs:      115,204,359  (88,016,970 rd   + 27,187,389 wr)
==77== LLd misses:    {misses}  ( {misses} rd   +     0 wr)
==77== Branches:       90,575,071  (88,569,738 cond +  2,005,333 ind)
==77== Mispredicts:    {wrong}  (1 cond + 1 ind)
"""
FEW = {"figure": "", "misses": "72,587", "wrong": "19,922"}
STRACE = """$ {started}
102400000 bytes (102 MB) copied, 14.4795 s, 7.1 MB/s
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 51.46    0.008030           0     {calls}  {errors}         read
 48.54    0.007574           0     5000           write
"""
STREAM = """`gcc stream.c -O3 -fopenmp {size}-o stream`
STREAM version $Revision: 5.10 $
Function    Best Rate MB/s  Avg time     Min time     Max time
Copy:           90014.1     0.031581     0.014220     0.050416
Scale:          91318.6     0.028011     0.014017     0.045802
Add:            97299.2     0.032065     0.019733     0.040896
Triad:          98350.8     0.028845     0.019522     0.037835
"""
EVENTS = """ Performance counter stats for 'system wide':
   <not supported>      cycles
   <not supported>      instructions
   <not supported>      cache-misses
      10.000910410 seconds time elapsed
"""


def all_words(log: str) -> str:
    """What all findings and notes of a log say, as one text."""
    explained = of_content("log", log.encode(), Machine())
    return " ".join([*(own.explanation for own in explained.findings), *explained.notes])


@pytest.mark.parametrize(
    ("log", "clean", "changed", "words"),
    [
        (VMSTAT, CALM, {"so": 900}, "The machine swapped 900 KiB a second"),
        (VMSTAT, CALM, {"st": 30, "id": 34}, "took 30 % of the CPU time away"),
        (VMSTAT, CALM, {"wa": 45, "id": 20}, "nothing to do but wait for disks"),
        (VMSTAT, CALM, {"sy": 60, "id": 10, "us": 29}, "The kernel took 60 %"),
        (ONE_ROW, {"us": 90, "wa": 6}, {"us": 26, "wa": 70}, "For 70 % of the time"),
        (
            MPSTAT,
            {"usr": "52.00", "soft": "0.00", "idle": "48.00"},
            {"usr": "99.00", "idle": "1.00"},
            "CPU 1 was busy for 99 %",
        ),
        (
            MPSTAT,
            {"usr": "99.00", "soft": "0.00", "idle": "1.00"},
            {"usr": "55.00", "soft": "44.00"},
            "soft interrupts took up to 44 %",
        ),
        (TOP, EASY, {"swap": "  10.0"}, "swap (line 4) only 10 MiB are free"),
        (TOP, EASY, {"available": " 120.4"}, "only 120.4 MiB are available"),
        (TOP, EASY, {"reclaims": "62.0"}, "looks for memory to free"),
        (TOP, EASY, {"work": "100.0"}, "one CPU whole"),
        (
            TOP,
            EASY | {"cpus": "CPU(s):                4\n"},
            {"load": "9.55"},
            "The load is 9.55",
        ),
        (LAMMPS, WELL, {"most": "57.314"}, "the slowest process takes 57.31 s"),
        (LAMMPS, WELL, {"use": "74.8"}, "prints 74.8 % of CPU use"),
        (
            LAMMPS,
            WELL | {"tasks": "2 MPI tasks x 4", "use": "391.0"},
            {"use": "101.0"},
            "used 1.01 CPUs",
        ),
        (LAMMPS, WELL, {"comm": "63.55", "atoms": 1724}, "only 216 particles"),
        (LAMMPS, WELL, {"wrong": 995}, "995 of 1,000 builds"),
        (LAMMPS, WELL, {"took": "0.0517902"}, "of so short a loop"),
        (GROMACS, {"lost": "0.8", "wall": "353.239"}, {"lost": "35.3"}, "35.3 % of the time"),
        (GROMACS, {"lost": "0.8", "wall": "353.239"}, {"wall": "  3.870"}, "took 3.87 s"),
        (GPROF, {"sum": "12.67"}, {"sum": "0.03"}, "The profile has 3 samples"),
        (CACHES, FEW, {"wrong": "19,922,564"}, "22 % of the branches are mispredicted"),
        (CACHES, FEW, {"misses": "9,722,664"}, "If each waits some 100 cycles for memory"),
        (
            CACHES,
            FEW,
            {"figure": "real\t0m1.500s\nuser\t0m1.400s\nsys\t0m0.1s\n"},
            "Valgrind simulated the program while it printed",
        ),
        (
            STRACE,
            {"started": "ls", "calls": 5000, "errors": ""},
            {"started": "strace -c dd if=/dev/zero of=x bs=1k count=100000"},
            "ran under strace",
        ),
        (
            STRACE,
            {"started": "ls", "calls": 5000, "errors": ""},
            {"calls": 90000},
            "of all calls into the kernel are read",
        ),
        (
            STRACE,
            {"started": "ls", "calls": 5000, "errors": "10"},
            {"errors": "4000"},
            "4,000 of 5,000 calls of read failed",
        ),
    ],
)
def test_what_is_wrong_is_said_and_only_that(
    log: str, clean: dict[str, object], changed: dict[str, object], words: str
) -> None:
    assert words in all_words(log.format(**(clean | changed)))
    assert words not in all_words(log.format(**clean))


OLD_TOP = """             samples  pcnt function                       DSO
           120249.00 {share}% do_raw_spin_lock               [kernel.kallsyms]
             1772.00  1.1% lock_internal  /lib64/libpthread-2.15.so
              909.00  0.6% _int_malloc    /lib64/libc-2.15.so
"""
DIFF = """# Event 'cycles'
# Baseline    Delta         Shared Object                 Symbol
    20.44%   -0.18%  libqthread.so.19.0.0  [.] fill_inner
    10.68%   +0.04%  libqthread.so.19.0.0  [.] enqueue
     9.24%   {change}%  libqthread.so.19.0.0  [.] hash64
     7.93%   -0.06%  libqthread.so.19.0.0  [.] master
     7.07%   +0.26%  libqthread.so.19.0.0  [.] write
"""
BOTH_WAYS = """# OSU MPI Bandwidth Test v5.7
# Size      Bandwidth (MB/s)
1                       5.95
2                      12.49
4                      24.88
8                      52.27
# OSU MPI Bandwidth Test v5.7
# Size      Bandwidth (MB/s)
1                       1.52
2                       3.35
4                       7.05
8                      {last}
"""
OTHER_COPY = """Function    Best Rate MB/s  Avg time     Min time     Max time
Copy:           {copy}     0.004943     0.004882     0.004986
Scale:           2087.4     0.079466     0.076651     0.084307
Add:             2719.0     0.088838     0.088300     0.089200
Triad:           2699.1     0.089342     0.088912     0.089765
"""
GRIDS = """| Threads | Time (s) |{head}
|---------|----------|{rule}
| 1 | 0.179 |{first}
| 2 | 0.172 |{first}
| 4 | 0.181 |{first}
| 8 | 0.241 |{first}
"""
FAULTS = """\tCommand being timed: "./app"
\tUser time (seconds): 5.00
\tSystem time (seconds): 0.50
\tElapsed (wall clock) time (h:mm:ss or m:ss): {took}
\tMaximum resident set size (kbytes): {kib}
\tMajor (requiring I/O) page faults: 24551
\tMinor (reclaiming a frame) page faults: {minor}
"""


@pytest.mark.parametrize(
    ("log", "clean", "changed", "words"),
    [
        (OLD_TOP, {"share": " 4.6"}, {"share": "74.6"}, "wait there for a lock of the kernel"),
        (DIFF, {"change": "+4.08"}, {"change": "+0.08"}, "no function's share differs"),
        (BOTH_WAYS, {"last": "51.26"}, {"last": "14.34"}, "at all 4 common sizes"),
        (OTHER_COPY, {"copy": " 2972.8"}, {"copy": "32772.8"}, "the loops run other code"),
        (
            GRIDS,
            {"head": "", "rule": "", "first": ""},
            {"head": " Speedup |", "rule": "---|", "first": " 1.00x |"},
            "takes 1.40 times as long",
        ),
        (
            FAULTS,
            {"took": "13:33:20", "kib": 2048, "minor": 77},
            {"took": "1:40.00"},
            "pages had to be read from a disk",
        ),
        (
            FAULTS,
            {"took": "13:33:20", "kib": 2048, "minor": 77},
            {"kib": 0, "minor": 0},
            "the zeros are not measured",
        ),
    ],
)
def test_more_of_the_kind(
    log: str, clean: dict[str, object], changed: dict[str, object], words: str
) -> None:
    assert words in all_words(log.format(**(clean | changed)))
    assert words not in all_words(log.format(**clean))


def test_shares_and_plurals_are_no_changes_and_no_times() -> None:
    table = "| Threads | Time (s) | Efficiency |\n|--|--|--|\n| 1 | 8.45 | 100% |\n"
    table += "| 2 | 4.38 | 96.5% |\n"
    rows = of_content("log", table.encode(), Machine()).record()["results"]
    assert "change" not in {row["statistic"] for row in rows}
    counts = "CPU(s):                56\nSocket(s):             2\nRun time(s): 3.2\nTotal(s): 4\n"
    record = of_content("log", counts.encode(), Machine()).record()
    assert {row["name"] for row in record["results"]} == {"Run time", "Total"}


def test_what_the_log_does_not_say_is_not_said() -> None:
    size = "-DSTREAM_ARRAY_SIZE=80000000 "
    assert "Its rates and times make arrays" in all_words(STREAM.format(size=""))
    assert "Its rates and times make arrays" not in all_words(STREAM.format(size=size))
    explained = of_content("log", STREAM.format(size=size).encode(), Machine())
    assert "clock_resolution_ns" not in explained.reports[0].facts
    assert "only what the kernel counts" not in all_words(EVENTS)
