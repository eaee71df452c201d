"""Two commits of a repository, each checked out in a folder of its own and built there, the first
of them twice: what a build and a path change shows in the comparison of a with itself."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchbook.ab.programs import ARMS, Case, Metric, Program
from benchbook.core.errors import BenchbookError

OUTPUT_KEPT = 600  # characters of a failed build
FOLDERS = {"a": "a", "again": "c", "b": "b"}  # paths of one length


@dataclass(frozen=True)
class RevisionPair:
    """What it takes to build and compare commits once more: the full names of the two, the shell
    command that builds each, and the command that was timed."""

    commits: tuple[str, str]
    build: str
    command: tuple[str, ...]

    @classmethod
    def of_json(cls, content: dict[str, Any]) -> RevisionPair:
        """The inverse of `vars`; KeyError, ValueError or TypeError where the content is odd."""
        first, second = map(str, content["commits"])
        return cls((first, second), str(content["build"]), tuple(map(str, content["command"])))


@contextmanager
def of_revisions(
    revisions: list[str], build: str, command: list[str], root: Path, metric: Metric | None
) -> Iterator[Case]:
    """The case of one command in two commits, which are removed at the end.

    BenchbookError where a revision is unknown, or its build fails.
    """
    if len(revisions) != 2:
        raise BenchbookError(
            f"--rev was given {len(revisions)} times; name two commits, the older first"
        )
    if not command:
        raise BenchbookError("no command is given; put it behind --, as it runs in each checkout")
    commits = [commit_of(root, name) for name in revisions]
    for name, commit in zip(revisions, commits, strict=True):
        if not commit:
            raise BenchbookError(f"--rev {name}: {root} has no such commit; see `git log`")
    prefix = git_output(root, "rev-parse", "--show-prefix").strip()
    with TemporaryDirectory(prefix="benchbook-ab-") as made:
        folders = {arm: Path(made) / folder for arm, folder in FOLDERS.items()}
        of_arm = {"a": commits[0], "again": commits[0], "b": commits[1]}
        try:
            for arm, folder in folders.items():
                _checked(
                    [
                        "git",
                        "worktree",
                        "add",
                        "--quiet",
                        "--detach",
                        str(folder),
                        of_arm[arm],
                    ],
                    root,
                )
            with ThreadPoolExecutor(len(ARMS)) as pool:
                list(pool.map(lambda folder: _built(build, folder / prefix), folders.values()))
            programs = {
                arm: Program(tuple(command), folder / prefix) for arm, folder in folders.items()
            }
            yield Case("ab", (revisions[0], revisions[1]), **programs, metric=metric)
        finally:
            for folder in folders.values():
                git_output(root, "worktree", "remove", "--force", str(folder))


def commit_of(root: Path, name: str) -> str:
    """The full name of a commit; empty where there is none."""
    return git_output(root, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}").strip()


def git_output(root: Path, *words: str) -> str:
    """What git prints in a folder; empty where it fails."""
    return subprocess.run(
        ["git", *words],
        cwd=root,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    ).stdout


def _built(build: str, folder: Path) -> None:
    if build:
        _checked(["sh", "-c", build], folder)


def _checked(command: list[str], folder: Path) -> None:
    if not folder.is_dir():
        raise BenchbookError(f"{folder} is not in that commit; choose commits that have it")
    done = subprocess.run(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        words = done.stdout.strip()[-OUTPUT_KEPT:]
        raise BenchbookError(f"{command[-1]} failed in {folder}: {words}")
