"""An answer on every host: all pages beside four busy processes for each core, and with a fifth of
one core."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from conftest import copy_checkout, run

from benchbook.define import catalogue

LIMIT_S = 7200
BUSY_PER_CORE = 4
QUOTA = 0.2  # of one core
PERIOD_US = 100_000
ROOT_OF_GROUPS = Path("/sys/fs/cgroup")

pytestmark = [pytest.mark.long, pytest.mark.timeout(LIMIT_S + 300)]


@contextmanager
def busy_processes(count: int) -> Iterator[None]:
    """That many processes which never rest."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


@contextmanager
def group_with_quota() -> Iterator[Path]:
    """A control group whose processes get QUOTA of one core; skips where none can be made."""
    newer = (ROOT_OF_GROUPS / "cgroup.controllers").exists()
    group = (ROOT_OF_GROUPS if newer else ROOT_OF_GROUPS / "cpu") / f"benchbook-test-{os.getpid()}"
    quota_us = int(QUOTA * PERIOD_US)
    try:
        group.mkdir()
        if newer:
            (group / "cpu.max").write_text(f"{quota_us} {PERIOD_US}\n")
        else:
            (group / "cpu.cfs_period_us").write_text(f"{PERIOD_US}\n")
            (group / "cpu.cfs_quota_us").write_text(f"{quota_us}\n")
    except OSError as error:
        pytest.skip(f"no control group with a quota can be made here: {error}")
    try:
        yield group
    finally:
        group.rmdir()


def answered(checkout: Path, *command: str) -> None:
    """The workflow in preset tiny, begun by `command`; it must end well."""
    words = [*command, "scripts/in-env", "snakemake", "--config", "preset=tiny"]
    done = run(checkout, *words, limit_s=LIMIT_S)
    assert done.returncode == 0, done.stdout[-6000:]
    assert "Traceback" not in done.stdout


def test_all_pages_are_made_beside_four_busy_processes_for_each_core(tmp_path: Path) -> None:
    checkout = copy_checkout(tmp_path / "checkout")
    with busy_processes(BUSY_PER_CORE * len(os.sched_getaffinity(0))):
        answered(checkout)
    pages = {page.stem for page in (checkout / "reports").glob("*.html")}
    assert {"index", "controls", "machine", *catalogue.papers(checkout)} <= pages


def test_all_pages_are_made_with_a_fifth_of_a_core(tmp_path: Path) -> None:
    checkout = copy_checkout(tmp_path / "checkout")
    with group_with_quota() as group:
        enter = f'echo $$ >{group}/cgroup.procs && exec "$@"'
        answered(checkout, "sh", "-c", enter, "sh")
    pages = {page.stem for page in (checkout / "reports").glob("*.html")}
    assert {"index", "controls", "machine", *catalogue.papers(checkout)} <= pages
