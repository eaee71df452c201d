"""What decides what continuous integration reports: the counter of tests, the linters' gates, and
which tests start nothing.
"""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import conftest
import pytest
import yaml
from setup_place import LOCKS, ROOT


def load(name: str):
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def count_tests(*reports: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "scripts/count_tests.py", *reports],
        capture_output=True,
        text=True,
        check=False,
    )


def test_tests_are_counted_and_skips_named(tmp_path):
    report = tmp_path / "tests.xml"
    report.write_text(
        """<testsuites><testsuite>
        <testcase classname="a" name="one"/>
        <testcase classname="a" name="two"><skipped message="no PCIe here"/></testcase>
        <testcase classname="a" name="three"><failure/></testcase>
        <testcase classname="a" name="four"/><testcase classname="a" name="four"><error/></testcase>
        </testsuite></testsuites>"""
    )
    done = count_tests(report)
    assert done.stdout.splitlines() == [
        "skipped: a::two: no PCIe here",
        "1 passed, 2 failed, 1 skipped",
    ]
    assert done.returncode == 1


def test_what_one_report_skipped_and_another_ran_counts_as_run(tmp_path):
    case = '<testcase classname="a" name="{}">{}</testcase>'
    skipped = '<skipped message="not here"/>'
    reports = {
        "check.xml": [("x", ""), ("y", skipped), ("z", skipped), ("w", skipped)],
        "tests.xml": [("y", ""), ("z", skipped), ("w", "<failure/>")],
    }
    for name, cases in reports.items():
        inside = "".join(case.format(*words) for words in cases)
        (tmp_path / name).write_text(f"<testsuites><testsuite>{inside}</testsuite></testsuites>")
    done = count_tests(*(tmp_path / name for name in reports))
    assert done.stdout.splitlines() == [
        "skipped: a::z: not here",
        "2 passed, 1 failed, 1 skipped",
    ]


@pytest.mark.parametrize("text", [None, "", "<testsuites><testsuite/></testsuites>"])
def test_no_test_is_a_failure(tmp_path, text):
    report = tmp_path / "tests.xml"
    if text is not None:
        report.write_text(text)
    done = count_tests(report)
    assert done.stdout.splitlines()[-1] == "0 passed, 0 failed, 0 skipped"
    assert done.returncode == 1


SNAKEMAKE_LINT = """Using workflow specific profile profiles/default.
Lints for rule page (line 1, /x/one.smk):
    * Specify a conda environment or container for each rule.:
      This way, the used software is documented.
    * No log directive defined:
      Without a log directive, all output will be printed to the terminal.
"""


@pytest.mark.parametrize(
    ("output", "status", "complaint"),
    [
        (SNAKEMAKE_LINT, 1, "No log directive defined"),
        (SNAKEMAKE_LINT.partition("    * No log")[0], 0, ""),
        ("SyntaxError in file Snakefile", 1, "SyntaxError in file Snakefile"),
    ],
)
def test_only_the_notice_about_conda_is_let_through(
    tmp_path, monkeypatch, capsys, output, status, complaint
):
    (tmp_path / "snakemake").write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{output}\nEND\nexit 1\n")
    (tmp_path / "snakemake").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert load("lint_workflow").main() == status
    said = capsys.readouterr().err
    assert complaint in said
    assert "conda" not in said


GATED = ["ruff", "import-linter", "mypy", "clang-format", "vulture", "snakefmt", "snakemake"]
LOCKED = dict(re.findall(r"(?m)^([\w-]+)==(\S+)", "".join(path.read_text() for path in LOCKS)))


@pytest.fixture
def lint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Runs scripts/lint with stand-ins: each says the version given for it, the lock's by default,
    and finds a fault where it is named in `faulty`.
    """
    place = tmp_path / "checkout"
    for path in [ROOT / "scripts/lint", *LOCKS]:
        copy = place / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    (place / "kernels").mkdir()
    (place / "kernels/a.c").touch()
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)

    def run(*faulty: str, **versions: str) -> subprocess.CompletedProcess[str]:
        for package in [*GATED, "python"]:
            program = tmp_path / "bin" / package.replace("import-linter", "lint-imports")
            version = versions.get(package, LOCKED.get(package, ""))
            program.write_text(
                f'#!/bin/sh\n[ "$1" != --version ] || exec echo "{package}, version {version}"\n'
                + "echo a fault; exit 1\n" * (package in faulty)
            )
            program.chmod(0o755)
        return subprocess.run(
            ["scripts/lint"], cwd=place, capture_output=True, text=True, check=False
        )

    return run


def test_every_linter_with_the_version_of_the_lock_gates(lint):
    done = lint()
    assert (done.returncode, done.stderr) == (0, "")
    assert "not gated" not in done.stdout
    for package in set(GATED) - {"snakemake"}:  # which scripts/lint_workflow.py starts
        assert lint(package).returncode == 1, package


def test_a_linter_of_another_version_is_shown_and_does_not_gate(lint):
    done = lint("ruff", "snakefmt", ruff="0.14.3", snakefmt="")
    assert done.returncode == 0
    assert [line for line in done.stdout.splitlines() if "not gated" in line] == [
        f"-- ruff-check: not gated; ruff is 0.14.3 here, {LOCKED['ruff']} in the lock",
        f"-- ruff-format: not gated; ruff is 0.14.3 here, {LOCKED['ruff']} in the lock",
        f"-- snakefmt: not gated; snakefmt is absent here, {LOCKED['snakefmt']} in the lock",
    ]
    assert "a fault" not in done.stdout


TESTS_THAT_START = """
import os
import subprocess
import pytest

def test_that_starts_nothing():
    pass

def test_that_starts():
    subprocess.run(["true"])

def test_that_forks():
    os.fork() or os._exit(0)

def test_that_goes_on_without():
    try:
        subprocess.run(["true"])
    except BaseException:
        pass

@pytest.fixture(scope="module")
def wrapped():
    try:
        subprocess.run(["true"])
    except BaseException as error:
        raise RuntimeError("cannot start") from error

def test_with_a_fixture(wrapped):
    pass

def test_with_the_same_fixture(wrapped):
    pass

def test_that_fails():
    assert False
"""


def test_what_is_refused_a_start_is_skipped_and_never_an_error(tmp_path):
    (tmp_path / "test_all.py").write_text(TESTS_THAT_START)
    (tmp_path / "pytest.ini").touch()

    def run(*words: str) -> list[str]:
        command = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", *words]
        environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'tests'}:{ROOT}"}
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        return re.findall(r"(?m)^(\d+ failed, .*) in [\d.]+s", done.stdout)

    assert run("starts_nothing") == ["1 failed, 1 passed, 5 skipped"]
    kept = tmp_path / "build/check.passed"
    assert kept.read_text() == "test_all.py::test_that_starts_nothing\n"
    left = run("conftest", f"--passed-before={kept}")
    assert left == ["1 failed, 5 passed, 1 deselected"]
    assert run("conftest", "--passed-before=nowhere") == ["1 failed, 6 passed"]


def test_files_of_which_all_passed_are_listed(tmp_path):
    (tmp_path / "test_one.py").write_text("def test_one():\n    pass\n")
    (tmp_path / "test_two.py").write_text(TESTS_THAT_START)
    (tmp_path / "pytest.ini").touch()
    command = [sys.executable, "-m", "pytest", "-q", "-p", "starts_nothing"]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'tests'}:{ROOT}"}
    subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False)
    listed = (tmp_path / "build/check.passed").read_text().splitlines()
    assert listed == [
        "test_one.py::test_one",
        "test_two.py::test_that_starts_nothing",
        "test_one.py",
    ]


@pytest.mark.parametrize(
    ("name", "marks", "left_out"),
    [
        ("test_harness.py", "not long", True),
        ("test_harness.py", "long", None),  # these did not run
        ("test_open.py", "not long", None),  # not listed
        ("test_stats_ticks.py", "not long", None),  # written since then
    ],
)
def test_files_of_which_all_passed_are_not_imported_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, marks: str, left_out: bool | None
) -> None:
    for number, file in enumerate(("test_harness.py", "check.passed", "test_stats_ticks.py")):
        (tmp_path / file).touch()
        os.utime(tmp_path / file, (number, number))
    monkeypatch.setattr(conftest, "ROOT", tmp_path)
    options = {"markexpr": marks, "passed_before": tmp_path / "check.passed"}
    stash = {conftest.PASSED_BEFORE: frozenset({"test_harness.py", "test_stats_ticks.py"})}
    config = SimpleNamespace(getoption=options.get, stash=stash)
    assert conftest.pytest_ignore_collect(tmp_path / name, config) is left_out


def test_the_workflows_elsewhere_type_the_same_and_pin_what_they_use():
    github = yaml.safe_load((ROOT / ".github/workflows/nix.yml").read_text())
    gitlab = yaml.safe_load((ROOT / ".gitlab-ci.yml").read_text())
    steps = github["jobs"]["nix"]["steps"]
    typed = [step["run"] for step in steps if "run" in step]
    assert gitlab["nix"]["script"] == [line for line in typed if line.startswith("nix ")]
    for command in ("nix flake check", "nix develop -c snakemake"):
        assert command in (ROOT / "README.md").read_text()
        assert any(line.startswith(command) for line in typed)
    used = [step["uses"] for step in steps if "uses" in step]
    assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action) for action in used)
