"""Files that `benchbook explain` cannot read, or should not read for ever."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import ROOT

from benchbook.explain.input_limits import CPU_LIMIT_S, MOST_BYTES, MOST_LINES

LOG = max(ROOT.glob("tests/logs/stream/*.log"), key=lambda path: path.stat().st_size)
WALL_S = 120  # on a machine with other work; CPU time is what is limited


def explain(
    *words: str | Path, shell: str = '"$@"', limit_s: float = WALL_S
) -> subprocess.CompletedProcess[str]:
    """`benchbook explain WORDS`, started by a shell that changes something first."""
    command = [sys.executable, "-m", "benchbook", "explain", *map(str, words)]
    done = subprocess.run(
        ["bash", "-c", shell, "bash", *command],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=limit_s,
        check=False,
    )
    assert "Traceback" not in done.stderr
    return done


def sentence(done: subprocess.CompletedProcess[str], words: str) -> None:
    """It ended with one sentence, and with nothing else."""
    assert done.returncode in (1, 2)
    assert done.stderr.startswith("benchbook: ")
    assert done.stderr.count("\n") == 1
    assert words in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("shell", "words", "said"),
    [
        ('"$@" <&-', "-", "standard input cannot be read: it is closed"),
        ('"$@" >&-', LOG, "standard output is closed"),
        ('"$@" >/dev/full', LOG, "No space left on device"),
    ],
)
def test_closed_streams(shell: str, words: str | Path, said: str) -> None:
    """Standard input or output is closed, or a full disk: one sentence."""
    sentence(explain(words, shell=shell), said)


def test_everything_is_closed() -> None:
    """All three standard streams are closed: it ends, and prints into no file."""
    assert explain(LOG, shell='"$@" <&- >&- 2>&-').returncode == 1


@pytest.mark.parametrize("kib", [150_000, 60_000])
def test_little_address_space(kib: int) -> None:
    """150 and 60 MB of address space: an answer or one sentence."""
    done = explain(LOG, shell=f'ulimit -v {kib}; "$@"')
    if done.returncode != 0:
        sentence(done, "memory")
    else:
        assert "array elements" in done.stdout


@pytest.mark.long  # 12 s of waiting
def test_a_pipe_that_nobody_writes_to(tmp_path: Path) -> None:
    """A FIFO without a writer: one sentence after 5 s; one with a slow writer is waited for."""
    os.mkfifo(tmp_path / "fifo")
    sentence(explain(tmp_path / "fifo"), "it is a pipe that nobody writes to")
    slow = explain(LOG, shell='"${@:1:4}" <(sleep 6; cat "$5")')
    assert "array elements" in slow.stdout


@pytest.mark.long  # 5 s of waiting
@pytest.mark.skipif(os.getuid() != 0, reason="only root may read /proc/kmsg")
def test_a_file_of_the_system_that_never_ends() -> None:
    """/proc/kmsg, which has no end: one sentence once it says nothing more."""
    sentence(explain("/proc/kmsg"), "/proc/kmsg")


@pytest.mark.parametrize("file", ["/dev/zero", "/proc/self/mem", "/", "/dev/null", "x\x7f", "a\nb"])
def test_what_is_no_log(file: str) -> None:
    """Devices, folders and names with odd characters: one sentence."""
    done = explain(file)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


def test_too_many_lines(tmp_path: Path) -> None:
    """More than a million lines, or 64 MiB: one sentence at once."""
    path = tmp_path / "log"
    path.write_text("Copy: 1 2\n" * (MOST_LINES + 1))
    sentence(explain(path), "is the most that is read")
    path.write_bytes(b"x " * (MOST_BYTES // 2 + 1))
    sentence(explain(path), "is longer than 64 MiB")


@pytest.mark.long
@pytest.mark.parametrize(
    "text",
    ['{"' * 15_000_000, "[" * 30_000_000, "Copy:  12345.6  0.012  0.011  0.013\n" * 900_000],
    ids=["open braces", "open brackets", "900,000 lines of STREAM"],
)
def test_what_takes_long_is_given_up(tmp_path: Path, text: str) -> None:
    """30 MB of open braces or of lines: an answer, or one sentence within 20 s of CPU."""
    path = tmp_path / "log"
    path.write_text(text)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    done = explain(path, limit_s=580)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime - before.ru_utime < CPU_LIMIT_S + 8, time.monotonic() - began
    if done.returncode != 0:
        assert done.stderr.count("\n") == 1
        assert "takes more than" in done.stderr or "recognised" in done.stderr
