"""A checkout of one's own for tests that run the workflow, and the commands they type."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browser import ARGUMENTS, CHROMIUM

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# A shell's background job ignores it, and so would every program that a test interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).parents[1]
MEASURED = ("results", "reports", "data/runs")
# What `make` made in this checkout, relative to it; Snakemake's memory of it is one of them.
MADE = ("build", "results", "reports", "data/runs", ".snakemake/metadata")
NOT_COPIED = (*MEASURED, "build", ".git", ".venv", ".snakemake", "config/local.yaml")
WORKFLOW_LIMIT_S = 480


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The first test that needs it waits for the whole workflow, and then for its own."""
    for item in items:
        if "measured" in item.fixturenames:
            item.add_marker(pytest.mark.timeout(WORKFLOW_LIMIT_S + 120))


def without(top: Path, *left_out: str) -> Callable[[str, list[str]], set[str]]:
    """What copytree ignores: these paths, relative to `top`, and caches anywhere."""

    def ignored(folder: str, names: list[str]) -> set[str]:
        here = Path(folder).relative_to(top)
        caches = {name for name in names if name == "__pycache__" or name.endswith("_cache")}
        return caches | {name for name in names if str(here / name) in left_out}

    return ignored


def copy_checkout(target: Path) -> Path:
    """The working tree without anything generated; the environment is shared, not copied."""
    shutil.copytree(ROOT, target, ignore=without(ROOT, *NOT_COPIED))
    (target / ".venv").symlink_to(ROOT / ".venv")
    # The set-up has tests of its own; here it would make another .venv of half a gigabyte.
    (target / "scripts" / "setup").write_text("#!/bin/sh\nexit 0\n")
    return target


def copy_built(measured: Path, target: Path) -> Path:
    """A copy of the measured checkout that has its binaries and nothing measured."""
    return shutil.copytree(measured, target, symlinks=True, ignore=without(measured, *MEASURED))


def clean_environment(**extra: str) -> dict[str, str]:
    """The environment of a shell that never heard of this test run."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTEST", "BENCHBOOK", "SNAKEMAKE", "MAKE", "MFLAGS", "OMP"))
    }
    return {**kept, **extra}


def run(
    checkout: Path, *command: str, limit_s: float = WORKFLOW_LIMIT_S, **extra: str
) -> subprocess.CompletedProcess[str]:
    """Run a command in a checkout; what it printed is in the result, both streams together."""
    return subprocess.run(
        command,
        cwd=checkout,
        env=clean_environment(**extra),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=limit_s,
        check=False,
    )


def in_env(checkout: Path, *command: str, limit_s: float = WORKFLOW_LIMIT_S, **extra: str):
    """Run a command as `make` does: through scripts/in-env."""
    return run(checkout, "scripts/in-env", *command, limit_s=limit_s, **extra)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests that look at pages."""
    from playwright.sync_api import sync_playwright

    # In plain code: a start that is refused inside of playwright ends as an error of its own.
    subprocess.run([CHROMIUM, "--version"], check=True, capture_output=True)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A fresh checkout for one test."""
    return copy_checkout(tmp_path / "checkout")


@pytest.fixture(scope="session")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout in which `make PRESET=tiny` has run; tests must leave it as it was.

    What was made in this one already is taken over, and `make` brings it up to date.
    """
    checkout = copy_checkout(tmp_path_factory.mktemp("measured") / "checkout")
    for name in MADE:
        if (ROOT / name).exists():
            shutil.copytree(ROOT / name, checkout / name, symlinks=True, dirs_exist_ok=True)
    done = run(checkout, "make", "PRESET=tiny")
    assert done.returncode == 0, done.stdout[-6000:]
    return checkout


@pytest.fixture
def journals() -> Callable[[Path], dict[str, bytes]]:
    """Every journal of a checkout: path -> content."""

    def read(checkout: Path) -> dict[str, bytes]:
        found = (checkout / "data" / "runs").rglob("journal.jsonl")
        return {str(path.relative_to(checkout)): path.read_bytes() for path in found}

    return read
