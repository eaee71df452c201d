"""`benchbook ci`: a pull request against its base, on a small repository that the test makes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
import yaml
from conftest import clean_environment

from benchbook.ab import pull_request
from benchbook.ab.condition import FAILED, Condition
from benchbook.ab.counted import Count
from benchbook.core.errors import BenchbookError

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs/ci"
SOURCE = """
static unsigned table[1 << 12];
int main(void) {
    unsigned long state = 1, sum = 0;
    for (int i = 0; i < 1000000; i++) {
        state = state * 6364136223846793005ul + 1442695040888963407ul;
        table[state >> 52] += (unsigned)state;
        /* HERE */
    }
    return sum + table[7] == 12345;
}
"""
LOAD = "sum += ((volatile unsigned *)table)[i & 4095];"


def git(folder: Path, *words: str) -> str:
    settings = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    return subprocess.run(
        ["git", *settings, *words], cwd=folder, capture_output=True, text=True, check=True
    ).stdout.strip()


def commit(folder: Path, text: str) -> str:
    (folder / "work.c").write_text(text)
    git(folder, "add", "work.c")
    git(folder, "commit", "-qm", "a change")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Branch main with one commit, `comment` with another comment, `load` with an added load."""
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-qb", "main")
    commit(folder, SOURCE)
    for name, line in (("comment", "/* the same */"), ("load", LOAD)):
        git(folder, "checkout", "-qb", name, "main")
        commit(folder, SOURCE.replace("/* HERE */", line))
    return folder


def ci(folder: Path, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """The command, with a lock of its own, on no system of continuous integration."""
    lock = folder.with_name("lock")
    lock.mkdir(exist_ok=True)
    systems = dict.fromkeys(("GITHUB_ACTIONS", "GITLAB_CI", "GITHUB_STEP_SUMMARY"), "")
    environment = clean_environment(PYTHONPATH=str(ROOT), BENCHBOOK_LOCK_DIR=str(lock))
    return subprocess.run(
        [sys.executable, "-m", "benchbook", "ci", *words],
        cwd=folder,
        env={**environment, **systems, **environ},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind is absent")
@pytest.mark.parametrize(("branch", "status"), [("comment", 0), ("load", FAILED)])
def test_an_added_load_is_found_and_another_comment_is_not(
    repository: Path, branch: str, status: int
) -> None:
    git(repository, "checkout", "-q", branch)
    summary = repository.with_name("summary.md")
    done = ci(
        repository,
        *("--build=cc -O1 -o work work.c", "--fail-if=more than 1 %", "--budget=1"),
        *("--export=pyperf=benchbook-ci/pyperf.json", "--", "./work"),
        GITHUB_STEP_SUMMARY=str(summary),
    )
    assert done.returncode == status, done.stderr
    made = repository / "benchbook-ci"
    assert {path.name for path in made.iterdir()} == {
        *("comment.md", "badge.svg", "page.html", "result.json", "metrics.txt"),
        *("pyperf-a.json", "pyperf-b.json"),
    }
    comment = (made / "comment.md").read_text()
    assert summary.read_text() == comment
    result = json.loads((made / "result.json").read_text())
    instructions = result["counts"][0]
    assert instructions["event"] == "instructions"
    assert result["facts"]["cpu_model"]
    rows = re.findall(r"(?m)^\| (\w[^|]*) \|", comment)
    assert rows[0] == "instructions"
    assert rows[-1] == "time"  # counted work first, time second
    badge = ElementTree.parse(made / "badge.svg").getroot()
    assert badge.attrib["aria-label"].startswith("performance: ")
    if branch == "load":
        assert re.match(r"### Benchbook: \d+ % more instructions", comment.replace("\xa0", " "))
        assert instructions["ratio"] > 1.2
        assert result["forbidden"] == ["more than 1 %"]
    else:
        assert comment.startswith("### Benchbook: Same instructions")
        assert abs(instructions["ratio"] - 1) <= instructions["floor"]
    assert git(repository, "worktree", "list").count("\n") == 0


def test_without_valgrind_the_time_is_compared_and_the_reason_given(repository: Path) -> None:
    git(repository, "checkout", "-q", "comment")
    place = repository.with_name("bin")
    place.mkdir()
    for name in ("git", "sh", "cat", "setpriv"):
        (place / name).symlink_to(shutil.which(name) or "")
    words = ("--budget=0.5", "--limit=60", r"--metric=(\d+)", "--", "cat", "work.c")
    done = ci(repository, *words, PATH=str(place))
    assert done.returncode == 0, done.stderr
    comment = (repository / "benchbook-ci/comment.md").read_text()
    assert "Nothing was counted: valgrind, which counts, is not on PATH" in comment
    assert "| printed figure |" in comment
    refused = ci(repository, "--fail-if=more", *words, PATH=str(place))
    assert refused.returncode == 1
    assert "--fail-if needs counted instructions: valgrind" in refused.stderr


def github(folder: Path, **event: object) -> dict[str, str]:
    path = folder.with_name("event.json")
    path.write_text(json.dumps(event))
    return {"GITHUB_ACTIONS": "true", "GITHUB_EVENT_PATH": str(path)}


def test_the_base_is_what_the_system_names(repository: Path) -> None:
    main, load = (git(repository, "rev-parse", name) for name in ("main", "load"))
    short = pull_request.SHORT

    def base_of(environ: dict[str, str], base: str = "") -> tuple[str, str]:
        pair = pull_request.of_environment(environ, repository, base)
        assert pair.head == git(repository, "rev-parse", "HEAD")[:short]
        return pair.system, pair.base

    pull = github(repository, pull_request={"base": {"sha": main}})
    assert base_of(pull) == ("GitHub Actions", main[:short])
    push = github(repository, before=main)
    assert base_of(push) == ("GitHub Actions", main[:short])
    merge = {"GITLAB_CI": "true", "CI_MERGE_REQUEST_DIFF_BASE_SHA": main}
    assert base_of(merge) == ("GitLab", main[:short])
    branch = {"GITLAB_CI": "true", "CI_COMMIT_BEFORE_SHA": main}
    assert base_of(branch) == ("GitLab", main[:short])
    assert base_of({}) == ("shell", main[:short])
    assert base_of({}, "comment") == ("shell", main[:short])  # what both branches share
    # GitHub's checkout of a pull request: a merge into the base as it is by now.
    git(repository, "checkout", "-q", "main")
    later = commit(repository, SOURCE.replace("HERE", "later"))
    git(repository, "checkout", "-q", "--detach", "main")
    git(repository, "merge", "-qs", "ours", "-m", "merge", load)
    assert base_of(pull | {"GITHUB_REF": "refs/pull/7/merge"}) == ("GitHub Actions", later[:short])
    git(repository, "checkout", "-q", load)  # the branch itself: no merge
    assert base_of(pull | {"GITHUB_REF": "refs/pull/7/merge"}) == ("GitHub Actions", main[:short])


def test_where_there_is_no_base_the_remedy_is_named(repository: Path, tmp_path: Path) -> None:
    def why(folder: Path, environ: dict[str, str], base: str = "") -> str:
        with pytest.raises(BenchbookError) as error:
            pull_request.of_environment(environ, folder, base)
        return str(error.value)

    absent = "1234567890" * 4
    assert "fetch-depth: 0" in why(repository, github(repository, before=absent))
    assert "its base is no commit" in why(repository, github(repository, before="0" * 40))
    assert "or use --base" in why(repository, {}, "absent")
    git(repository, "checkout", "-q", "main")
    assert "`--base HEAD~1`" in why(repository, {})
    git(repository, "checkout", "-q", "--orphan", "alone")
    commit(repository, "int main(void) { return 1; }")
    assert "no commit in common" in why(repository, {})
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "is in no git repository" in why(empty, {})


def test_conditions_on_instructions() -> None:
    def is_met(text: str, ratio: float, floor: float = 0.001) -> bool:
        count = Count("instructions", {}, ratio, floor)
        return Condition.of(text).is_met(None, [count])  # type: ignore[arg-type]

    assert is_met("more than 1 %", 1.02)
    assert not is_met("more than 1 %", 1.02, floor=0.03)  # equal programs differ by as much
    assert not is_met("more than 1 %", 1.005)
    assert not is_met("more", 0.9)
    assert is_met("fewer than 5 %", 0.9)
    assert Condition.of("more").needs_counts
    assert not Condition.of("slower").needs_counts


def test_files_to_copy_pin_what_they_use_and_call_the_command() -> None:
    workflow = yaml.safe_load((DOCS / "github.yml").read_text())
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    used = [step["uses"] for step in steps if "uses" in step]
    assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action) for action in used)
    assert workflow["permissions"] == {"contents": "read"}
    # The job that runs the pull request's code may write nothing.
    assert "permissions" not in workflow["jobs"]["compare"]
    scripts = [step["run"] for step in steps if "run" in step]
    assert any("benchbook ci --build" in script for script in scripts)
    assert not any("${{" in script for script in scripts)  # text from outside is no script
    gitlab = yaml.safe_load((DOCS / "gitlab.yml").read_text())["performance"]
    assert "benchbook ci --build" in gitlab["script"][0]
    assert gitlab["artifacts"]["paths"] == ["benchbook-ci/"]
    for name in ("github.yml", "gitlab.yml", "shell.sh"):
        text = (DOCS / name).read_text()
        assert text.count("EDIT:") == 3
        assert f"({name})" in (DOCS / "README.md").read_text()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("github.yml", ["vendor.github-workflows"]),
        ("gitlab.yml", ["vendor.gitlab-ci", "--data-transform", "gitlab-ci"]),
    ],
)
def test_files_to_copy_follow_the_schemas(name: str, words: list[str]) -> None:
    program = shutil.which("check-jsonschema")
    if program is None:
        pytest.skip("check-jsonschema, which has the schemas, is absent")
    subprocess.run([program, "--builtin-schema", *words, DOCS / name], check=True)


def test_the_script_for_a_shell(repository: Path) -> None:
    """With a Benchbook whose door prints what it is called with."""
    home = repository.with_name("benchbook home")
    door = home / "scripts/in-env"
    door.parent.mkdir(parents=True)
    door.write_text('#!/bin/sh\nprintf "%s\\n" "$BENCHBOOK_ENV" "$@"\n')
    door.chmod(0o755)
    environ = {**os.environ, "BENCHBOOK": str(home), "BASE": "main", "BUILD": "cc -o a b"}
    done = subprocess.run(
        [DOCS / "shell.sh"], env=environ, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [
        *("host", "benchbook", "ci", "--base", "main", "--build", "cc -o a b"),
        *("--fail-if", "more than 1 %", "--", "./program"),
    ]
