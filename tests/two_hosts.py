"""Kernels between two hosts, started as the measurer starts them, and their processes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from benchbook import network
from kernels import LIMIT_S, points

CPUS = sorted(os.sched_getaffinity(0))
HERE = "127.0.0.1"
VETH = {"path": "veth", "switches": 0}
LOOPBACK = {"path": "loopback", "switches": 0}
SANITIZERS = ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


def start(
    program: Path,
    hosts: network.Network,
    path: dict[str, Any],
    *arguments: str,
    cpus: int = 3,
    told: bool = True,
) -> subprocess.CompletedProcess[str]:
    """As the measurer starts it; skips the test where there can be no such network. `told`: it
    gets the options that lead into the network."""
    door = hosts.door(path)
    if door.refused:
        pytest.skip(door.refused)
    options = [f"--{name}={value}" for name, value in door.options.items()] if told else []

    def enter() -> None:
        os.sched_setaffinity(0, CPUS[:cpus])
        if door.enter:
            door.enter()

    return subprocess.run(
        [str(program), *options, *arguments],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
        pass_fds=door.inherits,
        preexec_fn=enter,
    )


def good(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    """What was observed at each point of a start that went well."""
    found = points(done.stdout)
    assert (done.returncode, done.stderr) == (0, "")
    assert [(point["status"], point["reason"]) for point in found] == [("ok", "")] * len(found)
    return [point["observations"] for point in found]


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_running(pid: int) -> bool:
    """Not ended, whether or not anybody has asked after it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False
