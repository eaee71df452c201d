"""SIGTERM at the moment a job of Snakemake ends: nothing hangs, nothing lives on."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT

# Short jobs, so that one ends all the time, and one that nobody waits for.
SNAKEFILE = """
import sys
sys.path.insert(0, {root!r})
from benchbook.core.processes import end_all_when_terminated

JOBS = 400

rule all:
    input:
        expand("done/{{job}}", job=range(JOBS)), "long"

rule short:
    output:
        "done/{{job}}",
    shell:
        "touch {{output}}"

rule long:
    output:
        "long",
    priority: 9
    shell:
        "sleep 300"

onstart:
    if {mended}:
        end_all_when_terminated()
"""
WITHIN_S = 10
SEED = 20261127


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    for pid in living(tmp_path):
        subprocess.run(["kill", "-9", str(pid)], check=False)


def living(folder: Path) -> list[int]:
    """Processes that work in this folder."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "cwd").readlink() == folder:
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def hear_all() -> None:
    """What started the tests may ignore some of them, as nohup does, and so would the workflow."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def started(folder: Path, *, mended: bool = True) -> subprocess.Popen[bytes]:
    """Snakemake in that folder, some of whose jobs have ended."""
    (folder / "Snakefile").write_text(SNAKEFILE.format(root=str(ROOT), mended=mended))
    workflow = subprocess.Popen(
        [sys.executable, "-m", "snakemake", "--cores", "4", "--nolock", "--quiet", "all"],
        cwd=folder,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        preexec_fn=hear_all,  # noqa: PLW1509 - we have one thread
    )
    until = time.monotonic() + 120
    while not any(folder.glob("done/*")):
        assert time.monotonic() < until, "no job ended in 120 s"
        assert workflow.poll() is None, workflow.communicate()
        time.sleep(0.02)
    return workflow


def terminate(folder: Path, plays: int, number: signal.Signals) -> None:
    dice = random.Random(SEED)
    for play in range(plays):
        place = folder / str(play)
        place.mkdir()
        workflow = started(place)
        time.sleep(dice.random())
        workflow.send_signal(number)
        _, err = workflow.communicate(timeout=WITHIN_S)
        assert workflow.returncode == 128 + number, err
        sentences = [line for line in err.decode().splitlines() if line.startswith("benchbook:")]
        assert sentences == [
            f"benchbook: ended by {number.name}; the next start continues from here"
        ]
        until = time.monotonic() + WITHIN_S
        while left := living(place):
            assert time.monotonic() < until, left
            time.sleep(0.05)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_workflow_that_is_told_to_end_is_gone_soon(folder: Path, number: signal.Signals) -> None:
    terminate(folder, 1, number)


@pytest.mark.long
def test_fifty_ends_at_random_moments(folder: Path) -> None:
    terminate(folder, 50, signal.SIGTERM)
