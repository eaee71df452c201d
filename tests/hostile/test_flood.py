"""A flood of datagrams of every size at `benchbook serve udp-echo`, on loopback."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT

from benchbook.build.stage import build_variant
from benchbook.define import catalogue

DATAGRAMS = 200_000
SIZES = (0, 1, 64, 512, 1400, 9000, 60_000)
MORE_KB = 512  # that its memory may grow by


def resident_kb(pid: int) -> int:
    """The memory that a process has in use."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0])


def free_port() -> int:
    """A port of loopback that nobody listens on."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_answered(asker: socket.socket, port: int) -> bool:
    """Whether an echo comes back; a datagram finds no room while the flood is still worked off."""
    asker.sendto(b"x" * 64, ("127.0.0.1", port))
    try:
        return asker.recv(2000) == b"x" * 64
    except TimeoutError:
        return False


@pytest.fixture
def server(tmp_path: Path) -> Path:
    """The program that `benchbook serve udp-echo` becomes."""
    base = catalogue.definition(ROOT, "udp")["base"]
    record = build_variant(ROOT, "udp", base, tmp_path / base / "variant.json")
    return tmp_path / base / record["binary"]["file"]


@pytest.mark.long
def test_the_servers_memory_stays_flat_and_it_answers_afterwards(server: Path) -> None:
    port = free_port()
    command = [server, "--serve", "--bind=127.0.0.1", f"--port={port}", "--wait=block"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        try:
            assert process.stdout and re.search(rb"\bport\b", process.stdout.readline())
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as source:
                source.connect(("127.0.0.1", port))
                source.setblocking(False)
                texts = [os.urandom(size) for size in SIZES]
                before_kb = resident_kb(process.pid)
                for number in range(DATAGRAMS):
                    with contextlib.suppress(BlockingIOError):
                        source.send(texts[number % len(texts)])
                assert resident_kb(process.pid) < before_kb + MORE_KB
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asker:
                asker.settimeout(0.5)
                assert any(is_answered(asker, port) for _ in range(240))
        finally:
            process.kill()
