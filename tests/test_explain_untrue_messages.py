"""Harmless lines that have the words of a message, and sentences that claim no more than a message
or a figure bears out: near misses of real logs."""

from __future__ import annotations

import pytest

from benchbook.explain.api import Machine, of_content
from benchbook.explain.clean.pipeline import log_of
from benchbook.explain.context import error_messages

SUCCESSFUL = "  ERROR: Failed building wheel for foo\n"
HARMLESS = {
    "a filter in a command": "$ dmesg | grep -i 'Out of memory: Kill'",
    "an advice": "Use -march=x86-64-v2 to avoid the error Illegal instruction on old machines.",
    "a list of changes": "This version fixes a Segmentation fault at the end of the run.",
    "an echo of a script": 'echo "Killed"',
    "a line that a compiler shows": '  12 |   printf("Segmentation fault\\n");',
    "code that would print it": 'fprintf(stderr, "Bus error (core dumped)");',
    "names of processes on Windows": "|  0  N/A  N/A  1234  C+G  Insufficient Permissions  N/A |",
    "a second attempt of conda": "Solving environment: failed with initial frozen solve. Retrying",
    "a task that Nextflow repeats": "NOTE: Process `a` terminated with an error exit status (1) -- "
    "Execution is retried (1)",
    "pip that goes on": f"{SUCCESSFUL}Successfully installed foo-1.0\n",
    "no chunks lost": "Processed 4346 events and lost 0 chunks!",
    "a message of a commit": "error: commit message too long",
    "no limit at all": "max locked memory       (kbytes, -l) unlimited",
    "a container that was not killed": '"OOMKilled": false,',
    "a warning of gfortran": "Warning: Type mismatch between actual argument at (1)",
    "a warning of an option": "cc1: warning: unrecognized command line option '-Wno-foo'",
    "no action": "        GPU Recovery Action               : N/A",
    "a target that may fail": "make: *** [Makefile:3: clean] Error 1 (ignored)",
    "no errors": "assertion failed: 0",
    "a signature": "gpg: signature verification failed",
    "a size of another program": "buffer size must be a power of two. NPB is not meant",
    "a node of a GPU": "node 2 cpus:\nnode 2 size: 0 MB\nnode 2 free: 0 MB",
    "features of a whole GPU": "    vGPU Device Capability\n        Fractional Multi-vGPU : N/A",
    "profiles of a whole GPU": "|   0  MIG 1g.10gb          19     7/7        9.50   No |",
    "flags of a variable": "gcc $CFLAGS -o run run.c",
    "a line that goes on": "gcc -o run run.c \\\n  -O2",
    "the plain -O": "gcc -O -o run run.c",
    "no error counted": "EDAC MC0: 0 CE on any memory",
    "a folder that is not there": "error: XDG_RUNTIME_DIR not set in the environment.",
    "a connection that is made": "btl_tcp_endpoint.c:755 connecting to 10.0.0.2",
    "a key of ssh": "Host key verification failed.\nfatal: Could not read from remote repository.",
}


@pytest.mark.parametrize("line", HARMLESS.values(), ids=HARMLESS)
def test_a_harmless_line_is_no_message(line: str) -> None:
    assert error_messages.messages(log_of(f"{line}\n".encode())) == []


# A line, the entry that takes it, and what its sentences must not claim.
NOT_CLAIMED = [
    ("CUDA error: CUDA_ERROR_OUT_OF_MEMORY (2)", "cuda-memory", "job"),
    ("bash: /proc/sys/vm/drop_caches: Permission denied", "permission-denied-program", "nothing"),
    ("rsync: write failed: No space left on device (28)", "no-space", "NCCL"),
    ("Killed", "killed", "The kernel ended"),
    ("error: bench failed, to rerun pass `--bench x`", "cargo-bench-failed", "option"),
    (
        "<JMH had finished, but forked VM did not exit, are there threads?>",
        "jmh-stray-threads",
        "NA",
    ),
    (
        "[n1:12] PMIX ERROR: ERROR in file gds_ds12_lock.c at line 168",
        "mpi-pmix-error",
        "not at all",
    ),
    ("kernel.perf_event_paranoid = 4", "perf-paranoid-shown", "this user"),
    ("Memory cgroup out of memory: Killed process 7 (gpu_burn)", "cgroup-limit", "device"),
    ("device[1]: deviceName = llvmpipe (LLVM 15.0.7, 256 bits)", "software-renderer", "were drawn"),
    ("==ERROR== The application returned an error code (1).", "ncu-driver-error", "no metrics"),
    ("Size: No Module Installed", "empty-slots", "A channel without"),
]


@pytest.mark.parametrize(
    ("line", "name", "claim"), NOT_CLAIMED, ids=[own[1] for own in NOT_CLAIMED]
)
def test_a_message_claims_no_more_than_it_says(line: str, name: str, claim: str) -> None:
    (message,) = error_messages.messages(log_of(f"{line}\n".encode()))
    assert message.entry.name == name
    assert claim not in f"{message.entry.means} {message.entry.remedy}"


def test_a_single_row_of_vmstat_is_of_the_time_since_the_start() -> None:
    head = " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n"
    row = " 0  1      0  10792   8296 47316    0    0   205    52 1161  698 26  3  1 70  0\n"
    one, two = (
        " ".join(
            finding.explanation for finding in of_content("x", text.encode(), Machine()).findings
        )
        for text in (head + row, head + row * 2)
    )
    assert "since the system started" in one
    assert "wait for disks" in two and "since the system started" not in two


def _said(text: str) -> str:
    """All findings and notes of a log."""
    explained = of_content("x", text.encode(), Machine())
    return " ".join([*(own.explanation for own in explained.findings), *explained.notes])


def _times(head: str) -> str:
    rows = "".join(f"| {1 << at} | {time}ms |\n" for at, time in enumerate((9, 8, 8, 9, 40, 400)))
    return f"| {head} | Average Time |\n|---|---|\n{rows}"


WRK = """Running 10s test @ http://10.0.0.2:8080/
  4 threads and 100 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency    10.00ms    1.00ms  12.00ms   80.00%
  100000 requests in 10.00s, 65.00MB read
Requests/sec:  10000.00
"""


@pytest.mark.parametrize(
    ("log", "untrue"),
    [
        (_times("Threads"), "the size grows"),  # a number of threads is no size
        (WRK, "grows with the connections and is not"),  # Little's law alone does not say so
        ("Segmentation fault\n" * 300, "(200 such lines)"),  # more are not counted
    ],
)
def test_what_a_log_does_not_say_is_not_said(log: str, untrue: str) -> None:
    assert untrue not in _said(log)


def test_sizes_whose_time_hardly_grows_are_still_named() -> None:
    assert "the size grows" in _said(_times("N"))


def test_a_warning_is_not_called_a_failed_run() -> None:
    goes_on = ("It goes on", "may differ from run to run", "JMH waited for them")
    warnings = [
        entry
        for entry in error_messages.entries()
        if not entry.is_note and any(words in entry.means for words in goes_on)
    ]
    assert len(warnings) > 3
    assert {entry.artefact for entry in warnings} == {"machine-state"}
