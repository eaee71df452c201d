"""Ctrl-C, locks of other users, and servers that answer too many."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT
from test_terminate import living, started

from benchbook.commands import serve
from benchbook.core.errors import BenchbookError
from benchbook.core.processes import LOCK_NAME, measuring_lock


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    for pid in living(tmp_path):
        os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_of_a_workflow(folder: Path, times: int) -> None:
    """Ctrl-C once or twice while a workflow runs: one line, and everything is gone."""
    workflow = started(folder)
    for _ in range(times):
        workflow.send_signal(signal.SIGINT)
        time.sleep(0.01)
    _, err = workflow.communicate(timeout=20)
    assert workflow.returncode == 128 + signal.SIGINT
    assert err.decode().splitlines()[-1:] == [
        "benchbook: ended by SIGINT; the next start continues from here"
    ]
    assert err.decode().count("benchbook:") == 1
    until = time.monotonic() + 10
    while living(folder):
        assert time.monotonic() < until
        time.sleep(0.05)


def test_what_is_ignored_stays_ignored() -> None:
    """A workflow under nohup: SIGHUP does not end it."""
    program = (
        "import os, signal; signal.signal(signal.SIGHUP, signal.SIG_IGN);"
        "from benchbook.core.processes import end_all_when_terminated;"
        "end_all_when_terminated(); os.kill(os.getpid(), signal.SIGHUP); print('goes on')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "goes on\n"


def test_ctrl_c_of_a_command() -> None:
    """Ctrl-C while a command runs: one line."""
    command = [sys.executable, "-m", "benchbook", "explain", "-"]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        wait_until_it_reads(process.pid)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 128 + signal.SIGINT
        assert process.stderr.read() == "benchbook: interrupted\n"


def wait_until_it_reads(pid: int) -> None:
    until = time.monotonic() + 30
    while "pipe" not in Path(f"/proc/{pid}/wchan").read_text():
        if time.monotonic() > until:
            pytest.skip("this system does not say what a process waits for")
        time.sleep(0.05)


def test_a_lock_that_somebody_holds_without_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another user locks the folder of the measuring lock for ever: who waits reads how to find
    that user, and how to measure all the same."""
    monkeypatch.setenv("BENCHBOOK_LOCK_DIR", str(tmp_path))
    (tmp_path / LOCK_NAME).write_text('{"pid": 999999999, "what": "stream", "checkout": "/there"}')
    foreign = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(foreign, fcntl.LOCK_EX)
    sentences: list[str] = []

    def say(sentence: str) -> None:
        sentences.append(sentence)
        fcntl.flock(foreign, fcntl.LOCK_UN)

    with measuring_lock("mbw", Path("/elsewhere"), say):
        pass
    os.close(foreign)
    (sentence,) = sentences
    assert "lslocks" in sentence
    assert "BENCHBOOK_LOCK_DIR" in sentence


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("0.0.0.0", "would answer every network"),
        ("0", "is no IPv4 address"),
        ("::1", "is no IPv4 address"),
        ("localhost", "is no IPv4 address"),
        ("10.0.0.1:7707", "is no IPv4 address"),
    ],
)
def test_addresses_that_a_server_does_not_take(address: str, words: str) -> None:
    """`serve --bind 0.0.0.0`, a name, IPv6 or nonsense: one sentence before anything is built."""
    with pytest.raises(BenchbookError, match=words):
        serve.udp_echo(ROOT, address, None, "block")
