"""What real logs of a fifth sealed set showed: forms that were not read, and untrue sentences."""

from __future__ import annotations

import pytest

from benchbook.explain.api import of_content
from benchbook.explain.clean.pipeline import log_of
from benchbook.explain.render import print_explained
from benchbook.explain.rules import Machine

DIRECT = """ioengine=libaio
direct={direct}
<node02> fio: pid=63586, err=22/file:io_u.c:1589, func=io_u error, error=Invalid argument
"""
MARKER = """CPU clock:\t2.50 GHz
{error}Error starting up GPU Marker API.
GPU Marker API result file does not exist. This may happen if the application has not called X.
"""
CUPTI = "Error: function (*cuptiProfilerBeginSessionPtr)(&params) failed with error 35.\n"
TIMEIT = "11 loops, average of 7: 33.1 ns +- 8.77 ns per loop (using standard deviation)\n"
DEBUG_LIBRARY = (
    "5: Load Average: 1.00, 1.12\n5: ***WARNING*** Library was built as DEBUG. Timings\n"
)
TRACEPOINT = "invalid or unsupported event: 'ext4:*'\nRun 'perf list' for a list of valid events\n"
MDTEST = """SUMMARY rate: (of 3 iterations)
   Operation     per Rank: Max   Min   Mean   Std Dev   per Iteration: Max   Min   Mean   Std Dev
   File creation  :  301409.087  61433.665  125683.173  64712.016  104202.595  61433.665 {last}
"""


def printed(log: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What explain prints of the log, in one line."""
    print_explained(of_content("log", log.encode(), Machine()), alone=True)
    return " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("log", "words"),
    [
        (DIRECT.format(direct=1), "A direct request was refused as invalid"),
        (MARKER.format(error=CUPTI), "lets only the administrator count"),
        (MARKER.format(error=""), "could not start to count on the GPU"),
        (TIMEIT, "time mean 33.1"),
        (DEBUG_LIBRARY, "its own calls may be slower"),
        (TRACEPOINT, "tracepoints of the kernel"),
        (MDTEST.format(last="84093.570 12.5"), "104,202.595"),
        (MDTEST.format(last="84093.570"), "301,409.087"),
    ],
)
def test_what_is_said(log: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert words in printed(log, capsys)


@pytest.mark.parametrize(
    ("log", "words"),
    [
        (DIRECT.format(direct=0), "A direct request"),
        (MARKER.format(error=CUPTI), "wrote no marks"),
    ],
)
def test_what_is_not_said(log: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert words not in printed(log, capsys)


def test_what_a_test_runner_writes_before_lines_is_taken_away() -> None:
    rows = [f"iops        : min=   {low}, max=   52, avg=36.75" for low in (17, 18, 19)]
    text = "".join(f"12:10:43 DEBUG| [stdout] {row}\n" for row in rows)
    assert log_of(text.encode()).text.split("\n")[:3] == rows
