"""Messages of programs that failed: what they mean is said to who has only the text."""

from __future__ import annotations

import pytest

from benchbook.explain.api import Machine, of_content
from benchbook.explain.clean.pipeline import log_of
from benchbook.explain.context import error_messages

LINES = {
    "link-aarch64-model": "lse.c: relocation truncated to fit: R_AARCH64_ADR_PREL_PG_HI21",
    "link-x86-model": "stream.c: relocation truncated to fit: R_X86_64_PC32 against `.bss'",
    "iperf3-socket-buffer": "iperf3: error - socket buffer size not set correctly",
    "iperf3-refused": "iperf3: error - unable to connect to server: Connection refused",
    "iperf3-busy": "iperf3: error - the server is busy running a test. try again later",
    "iperf3-error": "iperf3: error - unable to set TCP_CONGESTION: not supported",
    "mpi-slots": "There are not enough slots available in the system to satisfy the 64 slots",
    "mpi-root": "mpirun has detected an attempt to run as root.",
    "perf-paranoid": "Consider adjusting /proc/sys/kernel/perf_event_paranoid setting to open",
    "likwid-msr": "ERROR - [./src/access.c:54] Cannot gain access to MSRs.",
    "opencl-no-platform": "ERROR: clGetPlatformIDs(-1001)",
    "opencl-invalid-buffer-size": "clCreateBuffer (-61)",
    "npb-verification": " Verification    =             UNSUCCESSFUL",
    "hpl-failed": "||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)= 4.1e+04 ...... FAILED",
    "illegal-instruction": "Illegal instruction (core dumped)",
    "killed": "Killed",
    "cuda-arch": "CUDA error: no kernel image is available for execution on the device",
}


@pytest.mark.parametrize("name", LINES)
def test_a_message_alone_is_a_report(name: str) -> None:
    explained = of_content("x", f"$ ./run\n{LINES[name]}\n".encode(), Machine())
    assert explained.trouble == ""
    (finding,) = explained.findings
    assert (finding.artefact, finding.where) == ("run-failed", ["line 2"])
    (entry,) = [entry for entry in error_messages.entries() if entry.name == name]
    assert entry.means in finding.explanation
    assert finding.remedy == entry.remedy


def test_a_message_that_comes_again_is_said_once() -> None:
    text = "\n".join(["clCreateBuffer (-61)"] * 3)
    (message,) = error_messages.messages(log_of(text.encode()))
    assert "(3 such lines)" in message.finding.explanation
    assert message.finding.where == ["line 1", "line 2", "line 3"]


@pytest.mark.parametrize(
    "text",
    [
        "PASSED",
        "PID 7 was not killed",
        "out of memory bandwidth",
        "no error",
        "CPU type: Intel Xeon\nlikwid-accessD\nCannot gain access to MSRs",  # its reader says it
    ],
)
def test_what_only_has_such_words_is_none(text: str) -> None:
    assert error_messages.messages(log_of(text.encode())) == []


@pytest.mark.parametrize("entry", error_messages.entries(), ids=lambda entry: entry.name)
def test_entries_are_whole_sentences(entry: error_messages.Entry) -> None:
    assert entry.means.endswith(".") and entry.remedy.endswith(".")
    assert entry.words and all(entry.words)
