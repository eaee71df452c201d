"""The lines of programs that test storage, and the figures in them: storage_programs.py uses it."""

from __future__ import annotations

import re
from typing import NamedTuple

from benchbook.explain.lazy_regex import late

_N = r"\d[\d,’']*(?:\.\d+)?"


class Figure(NamedTuple):
    """A figure of a line: the group that has it, what it is called, with groups of the line in
    braces, its unit (of `UNITS` where the line has one as a group) and statistic."""

    group: str
    name: str
    unit: str
    statistic: str = "mean"


class Row(NamedTuple):
    """A line of a program. `facts`: groups that are facts of the run, by name. `head`: whether it
    heads what follows; `begins`: whether a run begins with it."""

    pattern: re.Pattern[str]
    figures: tuple[Figure, ...] = ()
    facts: tuple[str, ...] = ()
    head: bool = False
    begins: bool = False


class Program(NamedTuple):
    """A program: what it is called, and its lines. Without one of the words a log has none."""

    tool: str
    words: tuple[str, ...]
    rows: tuple[Row, ...]


UNITS = {
    "KB/s": "KiB/s", "kB/s": "KiB/s", "MB/s": "MiB/s", "GB/s": "GiB/s", "B/s": "B/s",
    "Bytes/s": "B/s", "ms": "ms", "us": "us", "s": "s", "IOPS": "operations/s",
    "Bandwidth": "KiB/s", "Latency": "ns",
}  # fmt: skip
# Counts of what failed, by the names that drives give them.
_SMART_ERRORS = (
    "Reallocated_Sector_Ct|Reallocated_Event_Count|Current_Pending_Sector|Offline_Uncorrectable|"
    "Reported_Uncorrect|End-to-End_Error|Spin_Retry_Count|Command_Timeout|UDMA_CRC_Error_Count|"
    "CRC_Error_Count|Uncorrectable_Error_Cnt|Runtime_Bad_Block|Program_Fail_Cnt_Total|"
    "Erase_Fail_Count_Total"
)
_RATE, _PER_S = "operation rate", "operations/s"

PROGRAMS = (
    Program(
        "pveperf",
        ("FSYNCS/SECOND",),
        (
            Row(late(r"^CPU BOGOMIPS:"), begins=True),
            Row(
                late(rf"^BUFFERED READS: +(?P<v>{_N}) MB/sec$"),
                (Figure("v", "buffered reads", "MB/s"),),
            ),
            Row(late(rf"^AVERAGE SEEK TIME: +(?P<v>{_N}) ms$"), (Figure("v", "seek", "ms"),)),
            Row(late(rf"^FSYNCS/SECOND: +(?P<v>{_N})$"), (Figure("v", "flush rate", _PER_S),)),
            Row(
                late(rf"^DNS (?P<which>EXT|INT): +(?P<v>{_N}) ms\b"),
                (Figure("v", "DNS {which}", "ms", ""),),
            ),
        ),
    ),
    Program(
        "f3",
        ("F3 write", "f3write", "f3read", "f3probe", "I/O average speeds", "ing speed:"),
        (
            Row(late(r"^I/O average speeds"), begins=True),
            Row(
                late(rf"^Average (?P<way>writ|read)ing speed: (?P<v>{_N}) (?P<unit>[KMG]?B/s)$"),
                (Figure("v", "{way}ing", ""),),
            ),
            Row(
                late(
                    rf"^(?P<kind>Sequential|Random) (?P<way>write|read): (?P<v>{_N}) "
                    r"(?P<unit>[KMG]?B/s) \("
                ),
                (Figure("v", "{kind} {way}", ""),),
            ),
            Row(
                late(
                    rf"^(?P<way>Read|Write): \S+ / (?P<count>\d+) = (?P<v>{_N})(?P<unit>us|ms|s)$"
                ),
                (Figure("v", "time of a {way}", ""), Figure("count", "{way}s", "operations", "")),
            ),
        ),
    ),
    Program(
        "filebench",
        ("IO Summary:",),
        (
            Row(late(r"Per-Operation Breakdown$"), begins=True),
            Row(
                late(
                    rf"^(?P<op>[A-Za-z][\w.-]*)\s+(?P<count>\d+)ops\s+(?P<rate>{_N})ops/s\s+"
                    rf"(?P<bw>{_N})mb/s\s+(?P<time>{_N})ms/op(?: \[(?P<min>{_N})ms - +"
                    rf"(?P<max>{_N})ms\])?"
                ),
                (
                    Figure("rate", "{op} rate", _PER_S),
                    Figure("time", "{op} time", "ms"),
                    Figure("max", "{op} time", "ms", "max"),
                ),
            ),
            Row(
                late(
                    rf"IO Summary: +(?P<count>\d+) ops,? (?P<rate>{_N}) ops/s,? .{{0,40}}? +"
                    rf"(?P<bw>{_N})mb/s,? +(?P<time>{_N})ms/op"
                ),
                (
                    Figure("rate", _RATE, _PER_S),
                    Figure("bw", "bandwidth", "MB/s"),
                    Figure("time", "time", "ms"),
                ),
            ),
        ),
    ),
    Program(
        "dbench",
        ("dbench version", "MB/sec"),
        (
            Row(late(r"^dbench version \S+"), begins=True),
            Row(
                late(
                    rf"^Throughput (?P<v>{_N}) MB/sec(?P<synced>(?: +\(sync \w+\))*) +"
                    rf"(?P<clients>\d+) (?:clients|procs)(?:.*max_latency=(?P<max>{_N}) ms)?"
                ),
                (Figure("v", "throughput", "MB/s"), Figure("max", "response time", "ms", "max")),
                ("synced", "clients"),
            ),
            Row(
                late(
                    rf"^(?P<clients>\d{{1,5}}) +\d{{1,15}} +(?P<v>{_N}) MB/sec +"
                    r"(?P<phase>warmup|execute|cleanup) +\d{1,6} sec(?: +latency .{1,20} ms)?$"
                ),
                (Figure("v", "{phase} throughput", "MB/s", "interval"),),
                ("clients",),
            ),
        ),
    ),
    Program(
        "db_bench",
        ("micros/op",),
        (
            Row(
                late(
                    rf"^_?(?P<op>[a-z]\w{{2,40}})\s+:\s+(?P<time>{_N}) micros/op;?"
                    rf"(?: +(?P<rate>{_N}) ops/sec;?)?(?: +{_N} seconds +(?P<count>\d+) "
                    rf"operations;)?(?: +(?P<bw>{_N}) MB/s)?(?:[^(]{{0,20}}\((?P<found>\d+) of "
                    r"(?P<every>\d+) found\))?"
                ),
                (
                    Figure("time", "{op} time", "us"),
                    Figure("rate", "{op} rate", _PER_S),
                    Figure("bw", "{op} bandwidth", "MiB/s"),
                    Figure("found", "{op} found", "keys", ""),
                    Figure("every", "{op} reads", "keys", ""),
                ),
            ),
        ),
    ),
    Program(
        "pg_test_fsync",
        ("usecs/op",),
        (
            Row(late(r"^(?P<head>Compare .{3,80}|Test .{3,80}|Non-sync.{3,60}):$"), begins=True),
            Row(
                late(
                    rf"^(?P<op>[\w ,*/]{{3,40}}?)\s+(?P<rate>{_N}) ops/sec\s+(?P<time>{_N}) "
                    r"usecs/op"
                ),
                (Figure("rate", "{op} rate", _PER_S), Figure("time", "{op} time", "us")),
            ),
        ),
    ),
    Program(
        "etcd-perf",
        ("Slowest request",),
        (
            Row(
                late(
                    r"^(?:# )?(?P<verdict>PASS|FAIL): Throughput (?:is|too low:) "
                    rf"(?P<v>{_N}) writes/s"
                ),
                (Figure("v", "request rate", "requests/s"),),
                ("verdict",),
            ),
            Row(
                late(rf"^(?:# )?(?:PASS: )?Slowest request took (?:too long: )?(?P<v>{_N})s$"),
                (Figure("v", "response time", "s", "max"),),
            ),
            Row(
                late(rf"^(?:# )?(?:PASS: )?Stddev (?:is|too high:) (?P<v>{_N})s$"),
                (Figure("v", "response time", "s", "stddev"),),
            ),
            Row(
                late(r"^(?:# )?FAIL: ERROR\((?P<why>.{1,120}?)\) -> (?P<v>\d+)$"),
                (Figure("v", "failed requests", "requests", ""),),
                ("why",),
            ),
        ),
    ),
    Program(
        "spew",
        ("WTR:", "RTR:"),
        (
            Row(
                late(
                    rf"^(?P<way>[WR])TR: +(?P<v>{_N}) KiB/s +Transfer time: \S+ +IOPS: +"
                    rf"(?P<rate>{_N})$"
                ),
                (Figure("v", "bandwidth", "KiB/s"), Figure("rate", _RATE, _PER_S)),
            ),
        ),
    ),
    Program(
        "btest",
        (" iops, avg latency ",),
        (
            Row(
                late(
                    rf"^Total: {_N} seconds, (?P<rate>{_N}) iops, avg latency (?P<time>{_N}) usec, "
                    rf"bandwidth (?P<bw>{_N}) KB/s"
                ),
                (
                    Figure("rate", "request rate", _PER_S),
                    Figure("time", "response time", "us"),
                    Figure("bw", "bandwidth", "KiB/s"),
                ),
            ),
        ),
    ),
    Program(
        "kbench",
        ("FIO Benchmark Summary",),
        (
            Row(late(r"^FIO Benchmark Summary$"), begins=True),
            Row(late(r"^(?P<head>IOPS|Bandwidth|Latency)(?: in \S+)? \(Read/Write\)$"), head=True),
            Row(
                late(rf"^(?P<kind>Random|Sequential): +(?P<read>{_N}) / (?P<write>{_N})$"),
                (
                    Figure("read", "{kind} read {head}", "head"),
                    Figure("write", "{kind} write {head}", "head"),
                ),
            ),
        ),
    ),
    Program(
        "rsync",
        ("speedup is", "xfr#", "to-chk=", "to-check=", "incremental file list"),
        (
            Row(
                late(
                    rf"^sent (?P<sent>{_N})[KMG]? bytes +received {_N}[KMG]? bytes +(?P<v>{_N}) "
                    r"bytes/sec$"
                ),
                (Figure("v", "transfer", "B/s"), Figure("sent", "sent", "B", "")),
            ),
            Row(
                late(rf"^total size is (?P<size>{_N})[KMG]? +speedup is (?P<v>{_N})"),
                (Figure("v", "speedup", "1", ""),),
            ),
            Row(
                late(
                    rf"^{_N}[KMG]? +\d{{1,3}}% +(?P<v>{_N})(?P<unit>[kMG]?B/s) +\d+:\d\d:\d\d"
                    r"(?: .*)?$"
                ),
                (Figure("v", "progress", "", ""),),
            ),
        ),
    ),
    Program(
        "scp",
        ("100%",),
        (
            Row(
                late(
                    rf"^\S.{{0,200}}? +\d{{3}}% +{_N}(?:[KMG]B)? +(?P<v>{_N})(?P<unit>[KMG]?B/s) +"
                    r"(?:\d+:)?\d\d:\d\d$"
                ),
                (Figure("v", "transfer", ""),),
            ),
        ),
    ),
    Program(
        "biolatency",
        (": count     distribution", ": count    distribution"),
        (
            Row(late(r"^(?P<head>usecs|msecs|nsecs) +: count +distribution$"), begins=True),
            Row(
                late(r"^(?P<low>\d{1,20}) -> (?P<high>\d{1,20}) +: (?P<v>\d{1,15}) +\|"),
                (Figure("v", "{low} to {high} {head}", "requests", ""),),
            ),
        ),
    ),
    Program(
        "smartctl",
        (
            "Percentage Used:",
            "percentage_used",
            "Reallocated_Sector_Ct",
            "UDMA_CRC_Error",
            "Raw_Read_Error_Rate",
            "Power_On_Hours",
        ),
        (
            Row(late(r"(?i)^Percentage[ _]Used *: +(?P<v>\d+)%$"), (Figure("v", "wear", "%", ""),)),
            Row(
                late(r"(?i)^Temperature *: +(?P<v>\d+) ?(?:C|Celsius|°C)\b"),
                (Figure("v", "temperature", "°C", ""),),
            ),
            Row(
                late(r"(?i)^Available[ _]Spare *: +(?P<v>\d+)%$"),
                (Figure("v", "spare", "%", ""),),
            ),
            Row(
                late(
                    r"(?i)^(?:Media and Data Integrity Errors|media_errors) *: +(?P<v>\d[\d,’.]*)$"
                ),
                (Figure("v", "media errors", "errors", ""),),
            ),
            Row(
                late(
                    r"(?i)^(?P<how>Warning|Critical)(?: +Comp\.| Composite)? Temperature Time *: +"
                    r"(?P<v>\d[\d,’]*)$"
                ),
                (Figure("v", "time at {how} temperature", "min", ""),),
            ),
            Row(
                late(
                    rf"^ *\d+ (?P<name>{_SMART_ERRORS}) +0x\S+ +\d+ +\d+ "
                    r"+\S+ +\S+ +\S+ +\S+ +(?P<v>\d+)\b"
                ),
                (Figure("v", "{name}", "errors", ""),),
            ),
            Row(
                late(r"^ *\d+ Power_On_Hours +0x\S+ +\d+ +\d+ +\S+ +\S+ +\S+ +\S+ +(?P<v>\d+)\b"),
                (Figure("v", "power on", "h", ""),),
            ),
            Row(
                late(r"(?i)^Power[ _]On[ _]Hours *: +(?P<v>\d[\d,’.]*)$"),
                (Figure("v", "power on", "h", ""),),
            ),
            Row(
                late(
                    r"(?i)^(?:Error Information Log Entries|num_err_log_entries) *: +"
                    r"(?P<v>\d[\d,’]*)$"
                ),
                (Figure("v", "entries of its log of errors", "entries", ""),),
            ),
            Row(
                late(rf"\b(?P<name>{_SMART_ERRORS}) is non-zero \((?P<v>\d{{1,15}})\)"),
                (Figure("v", "{name}", "errors", ""),),
            ),
        ),
    ),
)
