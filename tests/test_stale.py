"""What a changed module makes stale: every output of a stage that loads it, and nothing else."""

from __future__ import annotations

import json
import os
import re
import subprocess
from functools import cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import pytest
from conftest import ROOT, clean_environment, copy_checkout, in_env

from benchbook.core import import_closure
from benchbook.define.settings import load_settings
from benchbook.workflow import Lab

PACKAGE, COMMANDS = "benchbook", "benchbook.commands"
# Told apart by the fingerprint of a plan, not by the age of files: a run is not measured again
# because a module changed.
BY_FINGERPRINT = {"measure"}
# What every command begins with: they read its words, time it, and decide nothing of what it does.
NAMES = ("__main__.py", "commands/app.py", "commands/main.py", "core/stage_times.py")
COMMAND_LINE = {f"{PACKAGE}/{name}" for name in NAMES}
# A job's command is run again with this on its path; the kernel of a notebook inherits it.
RECORDER = """
import atexit, json, os, sys
def record():
    files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    with open(os.path.join(os.environ["LOADED_MODULES"], str(os.getpid())), "w") as stream:
        json.dump([file for file in files if file], stream)
atexit.register(record)
"""


class Job(NamedTuple):
    """One job of the workflow's graph; paths are relative to the checkout."""

    rule: str
    inputs: frozenset[str]
    outputs: frozenset[str]
    command: str  # "None" for a rule that has none, as Snakemake prints it


def jobs_of(printed: str) -> list[Job]:
    """The jobs that a dry run names, with their inputs and outputs."""
    jobs = []
    for block in re.split(r"^rule ", printed, flags=re.M)[1:]:
        rule = block.split(":", 1)[0]
        lists = {
            key: frozenset(names.split(", "))
            for key, names in re.findall(r"^    (input|output): (.*)$", block, re.M)
        }
        command = re.search(r"^Shell command: (.*)$", block, re.M)
        inputs, outputs = (lists.get(key, frozenset()) for key in ("input", "output"))
        jobs.append(Job(rule, inputs, outputs, command[1] if command else "None"))
    return jobs


def dry_run(checkout: Path, *words: str) -> list[Job]:
    """The jobs that Snakemake would run for preset tiny."""
    shown = ("--quiet", "host", "--printshellcmds", "--config", "preset=tiny")
    done = in_env(checkout, "snakemake", "-n", *words, *shown)
    assert done.returncode == 0, done.stdout[-3000:]
    return jobs_of(done.stdout)


@cache
def graph(checkout: Path) -> list[Job]:
    """All jobs that `make PRESET=tiny` stands for."""
    jobs = dry_run(checkout, "--forceall")
    assert {"analyse", "judge", "page"} <= {job.rule for job in jobs}, "no graph was printed"
    return jobs


def stale_outputs(checkout: Path, changed: str) -> set[str]:
    """Outputs that depend on a module, through others too."""
    jobs = graph(checkout)
    rules = {rule for rule, files in needed(checkout, called(jobs)).items() if changed in files}
    stale = {path for job in jobs if job.rule in rules for path in job.outputs}
    while True:
        grown = {path for job in jobs if job.inputs & stale for path in job.outputs}
        if grown <= stale:
            return stale
        stale |= grown


def called(jobs: list[Job]) -> list[Job]:
    """Those that call a command and are run again when a module of it changes."""
    return [job for job in jobs if job.command != "None" and job.rule not in BY_FINGERPRINT]


def needed(checkout: Path, jobs: list[Job]) -> dict[str, set[str]]:
    """Rule -> the package's files that its command depends on."""
    files = {
        job.rule: set(import_closure.closure(checkout, PACKAGE, [module_of(job)])) for job in jobs
    }
    if "judge_controls" in files:
        files["judge_controls"] |= set(replayed(checkout))
    return files


def replayed(checkout: Path) -> list[str]:
    """What the replays of controls depend on, which their judge loads by path."""
    files = (checkout / "kernels/controls").glob("*/replay.py")
    begins = [import_closure.of_file(checkout, PACKAGE, file) for file in files]
    return import_closure.closure(checkout, PACKAGE, chain.from_iterable(begins))


@pytest.mark.parametrize("file", sorted((ROOT / "workflows").glob("*.smk")), ids=lambda f: f.name)
def test_each_rule_depends_on_the_modules_of_the_command_that_it_calls(file: Path) -> None:
    """A module that changes makes stale what imports it, and nothing else."""
    text = file.read_text(encoding="utf-8")
    rules = [
        rule for rule in re.split(r"^ *(?=rule\b)", text, flags=re.M) if "-m benchbook" in rule
    ]
    assert rules
    for rule in rules:
        (command,) = re.findall(r"-m benchbook --log \S+\"?\s+\"?([\w-]+)", rule)
        hashed = re.findall(r"modules=lab\.modules\(\"([\w-]+)\"\)", rule)
        # A job of a fleet runs a whole workflow, so it depends on all sources that decide.
        by_all = re.search(r"sources=lab\.(measured|all)_sources\(\)", rule)
        is_free = command in BY_FINGERPRINT or by_all
        wanted = [] if is_free else [command] * rule.count("params:")
        assert hashed == wanted, rule


def test_the_hash_of_a_command_changes_with_a_file_that_it_imports(tmp_path: Path) -> None:
    def hash_of(name: str, **texts: str) -> str:
        root = tmp_path / name
        files = {"core/sizes": "", "commands/show": "from benchbook.core import sizes", **texts}
        for path, text in {"__init__": "", "core/__init__": "", **files}.items():
            file = root / PACKAGE / f"{path}.py"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return Lab(root, load_settings(ROOT, {}), "host").modules("show")

    before = hash_of("before")
    assert hash_of("beside", **{"core/units": "# not imported"}) == before
    assert hash_of("after", **{"core/sizes": "# a comment"}) != before


def module_of(job: Job) -> str:
    """The module of the command that a job calls."""
    command = re.search(r"-m benchbook --log \S+ (\S+)", job.command)
    assert command
    return f"{COMMANDS}.{command[1].replace('-', '_')}"


@pytest.mark.parametrize("module", ["judge/sweeps.py", "judge/plain_ratio.py", "define/points.py"])
def test_a_comment_in_a_module_is_seen_by_a_dry_run(measured: Path, module: str) -> None:
    """These three once left pages stale."""
    path = measured / PACKAGE / module
    before, stamp = path.read_bytes(), path.stat()
    try:
        path.write_bytes(before + b"# a comment\n")
        jobs = dry_run(measured, "--rerun-triggers", "params")
    finally:
        path.write_bytes(before)
        os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    outputs = {output for job in jobs for output in job.outputs}
    assert outputs == stale_outputs(measured, f"{PACKAGE}/{module}")
    assert any(output.startswith("reports/") for output in outputs)


@pytest.mark.long
def test_no_stage_loads_a_module_that_is_no_input_of_it(measured: Path, tmp_path: Path) -> None:
    """One job of each rule is run again, and the modules that its processes really loaded are
    looked at."""
    checkout = copy_checkout(tmp_path / "checkout")
    for name in ("build", "results", "reports", "data/runs"):
        subprocess.run(["cp", "-a", f"{measured / name}/.", checkout / name], check=False)
    recorder = tmp_path / "recorder"
    recorder.mkdir()
    (recorder / "sitecustomize.py").write_text(RECORDER)
    jobs = {job.rule: job for job in graph(measured) if job.command != "None"}
    path = f"{checkout / '.venv/bin'}:{os.environ['PATH']}"
    for rule, job in jobs.items():
        if rule in BY_FINGERPRINT | {"play_controls"}:
            continue
        loaded = tmp_path / "loaded" / rule
        loaded.mkdir(parents=True)
        environment = clean_environment(
            PATH=path, PYTHONPATH=str(recorder), LOADED_MODULES=str(loaded)
        )
        command = ["bash", "-c", job.command]
        subprocess.run(command, cwd=checkout, env=environment, check=True, capture_output=True)
        files = {Path(file) for seen in loaded.iterdir() for file in json.loads(seen.read_text())}
        own = {str(file.relative_to(checkout)) for file in files if checkout in file.parents}
        own = {name for name in own if name.startswith(f"{PACKAGE}/")} - COMMAND_LINE
        assert own, rule
        assert own - needed(checkout, [job])[rule] == set(), rule
