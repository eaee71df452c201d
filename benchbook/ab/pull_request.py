"""Which two commits a continuous integration compares: a pull request's, and the one that it is
based on."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchbook.ab.revisions import commit_of, git_output
from benchbook.core.errors import BenchbookError

SHORT = 10  # letters of a commit's name
NO_COMMIT = re.compile("0+")  # in a system's variables: a branch that is new
DEFAULT_BRANCHES = ("origin/HEAD", "origin/main", "origin/master", "main", "master")


@dataclass(frozen=True)
class PullRequest:
    """Two commits by the beginnings of their names, and who runs: `GitHub Actions`, `GitLab`, or
    `shell`."""

    system: str
    base: str
    head: str


def of_environment(environ: Mapping[str, str], root: Path, base: str = "") -> PullRequest:
    """The commit that is checked out, and the last one that it has in common with its base.

    The base is `base`, or what the system's variables name, or in a plain shell the main branch.
    BenchbookError where there is none, or where it is this very commit.
    """
    head = commit_of(root, "HEAD")
    if not head:
        raise BenchbookError(
            f"{root} is in no git repository with a commit; run this in a checkout"
        )
    system, named = _of_system(environ, root)
    candidates = (
        [base] if base else [name for name in named if name and not NO_COMMIT.fullmatch(name)]
    )
    existing = [name for name in candidates if commit_of(root, name)]
    if not existing:
        names = " or ".join(candidates) or "its base"
        raise BenchbookError(
            f"{names} is no commit of this checkout; fetch the whole history (`fetch-depth: 0` on "
            "GitHub, `GIT_DEPTH: 0` on GitLab), or use --base"
        )
    common = git_output(root, "merge-base", existing[0], "HEAD").strip()
    if not common:
        raise BenchbookError(
            f"{existing[0]} and HEAD have no commit in common; fetch all of the history, or name "
            "another commit with --base"
        )
    if common == head:
        raise BenchbookError(
            f"HEAD has no commit that {existing[0]} lacks; name an older commit, as `--base HEAD~1`"
        )
    return PullRequest(system, common[:SHORT], head[:SHORT])


def _of_system(environ: Mapping[str, str], root: Path) -> tuple[str, list[str]]:
    """The system, and what may be the base there, the best first."""
    if environ.get("GITHUB_ACTIONS") == "true":
        return "GitHub Actions", list(_of_github(environ, root))
    if environ.get("GITLAB_CI") == "true":
        names = ("CI_MERGE_REQUEST_DIFF_BASE_SHA", "CI_COMMIT_BEFORE_SHA")
        return "GitLab", [environ.get(name, "") for name in names]
    return "shell", list(DEFAULT_BRANCHES)


def _of_github(environ: Mapping[str, str], root: Path) -> Iterator[str]:
    """Of a pull request GitHub checks out a merge; its first parent is the base as it is now."""
    is_merge = re.fullmatch(r"refs/pull/\d+/merge", environ.get("GITHUB_REF", ""))
    if is_merge and commit_of(root, "HEAD^2"):
        yield "HEAD^1"
    try:
        event = json.loads(Path(environ.get("GITHUB_EVENT_PATH", "")).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        event = {}
    yield str((event.get("pull_request") or {}).get("base", {}).get("sha") or "")
    yield str(event.get("before") or "")
