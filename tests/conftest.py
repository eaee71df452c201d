"""A checkout of one's own for tests that run the workflow, and the commands they type."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import hostile_table
import pytest
from browser import ARGUMENTS, CHROMIUM
from hostile_table import pytest_runtest_logreport, pytest_terminal_summary  # noqa: F401

import kernels  # noqa: F401 - so that all workers share what it keeps

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# A shell's background job ignores it, and so would every program that a test interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)

TESTS = Path(__file__).parent
ROOT = TESTS.parent
MEASURED = ("results", "reports", "data/runs")
# What `make` made in this checkout, relative to it; Snakemake's memory of it is one of them.
MADE = ("build", "results", "reports", "data/runs", ".snakemake/metadata")
NOT_COPIED = (*MEASURED, "build", "fleet", ".git", ".venv", ".snakemake", "config/local.yaml")
WORKFLOW_LIMIT_S = 1800  # 3 minutes on two quiet cores
FIXTURE_LIMIT_S = WORKFLOW_LIMIT_S + 600
PASSED_BEFORE = pytest.StashKey[frozenset[str]]()


def needs_workflow(file: Path) -> bool:
    """Whether tests of the file use the fixture `measured`."""
    return re.search(r"\bmeasured: Path\b", file.read_text()) is not None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Two more than CPUs where programs are started: many of those tests wait for a time limit."""
    starts_programs = config.getvalue("dist") == "loadfile"
    return len(os.sched_getaffinity(0)) + 2 * starts_programs


# Both look at all samples of explain, and one asks the other for what was read.
OF_CORPUS = ("tests/test_explain_corpus.py", "tests/test_explain_declared_columns.py")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """What --dist does, but one worker has all files that need `measured`, so that the workflow
    runs once and not once in each worker, and one has those that share the samples of explain.
    """
    from xdist.scheduler import LoadFileScheduling, LoadScopeScheduling

    if config.getvalue("dist") == "loadfile":
        files = (path for path in TESTS.rglob("test_*.py") if needs_workflow(path))
        together = dict.fromkeys((str(path.relative_to(ROOT)) for path in files), "measured")
    elif config.getvalue("dist") == "loadscope":
        together = dict.fromkeys(OF_CORPUS, "corpus")
    else:
        return None
    kinds = {"loadfile": LoadFileScheduling, "loadscope": LoadScopeScheduling}

    class Scheduling(kinds[config.getvalue("dist")]):
        def _split_scope(self, nodeid: str) -> str:
            scope = super()._split_scope(nodeid)
            return together.get(scope, scope)

    return Scheduling(config, log)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--passed-before",
        type=Path,
        metavar="FILE",
        help="leave out the tests whose ids FILE holds, one a line; all run where there is no FILE",
    )


def passed_before(config: pytest.Config) -> frozenset[str]:
    """The lines of the file that --passed-before names; none where there is no file."""
    file = config.getoption("passed_before")
    return frozenset(file.read_text().splitlines() if file is not None and file.exists() else ())


def pytest_configure(config: pytest.Config) -> None:
    config.stash[PASSED_BEFORE] = passed_before(config)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Whether a file is not even imported: all its tests passed before, and it is as it was then.
    With all of them a worker collects for 17 s of CPU. The long ones of the file did not run.
    """
    if config.getoption("markexpr") != "not long" or not collection_path.is_relative_to(ROOT):
        return None
    if collection_path.relative_to(ROOT).as_posix() not in config.stash[PASSED_BEFORE]:
        return None
    before_s = config.getoption("passed_before").stat().st_mtime
    return True if collection_path.stat().st_mtime < before_s else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What takes longest comes first, so that no worker has it left at the end. A test that needs
    `measured` may run a workflow of its own.
    """
    hostile_table.note(items)
    if before := config.stash[PASSED_BEFORE]:
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in before])
        items[:] = [item for item in items if item.nodeid not in before]
    first = {path for path in {item.path for item in items} if needs_workflow(path)}
    items.sort(key=lambda item: item.path not in first)
    for item in items:
        if "measured" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.timeout(WORKFLOW_LIMIT_S + 600))


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Generator[None, Any, Any]:
    """Setting up has a limit of its own: the limit in pyproject.toml is that of a test's body, so
    the first test that needs a shared fixture does not pay for it.
    """

    def end(number: int, frame: object) -> NoReturn:
        what = f"fixture '{fixturedef.argname}' of {request.node.nodeid}"
        pytest.fail(f"{what} was not set up within {FIXTURE_LIMIT_S} s")

    handler = signal.signal(signal.SIGALRM, end)
    timer = signal.setitimer(signal.ITIMER_REAL, FIXTURE_LIMIT_S)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, *timer)  # of the body, where it asked for the fixture
        signal.signal(signal.SIGALRM, handler)


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
        paths = (checkout / "data" / "runs").rglob("journal.jsonl")
        return {str(path.relative_to(checkout)): path.read_bytes() for path in paths}

    return read
