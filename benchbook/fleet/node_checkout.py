"""A checkout for each kind of nodes, `fleet/<kind>/`: its build, runs, results and pages.

The sources are copied, so that a build for one CPU never replaces that for another, and no edit
reaches a measurement that has begun.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchbook.core.errors import BenchbookError
from benchbook.core.files import read_json, write_json, write_text
from benchbook.fleet.slurm import without_job

FOLDER = "fleet"
HOST_FILE = "measured-host.json"  # names the host that a checkout's measurements are of
VERSION = 1
_DEFINED = ("data/published", "kernels")  # what is measured
_SOURCES = (
    *(*_DEFINED, "Snakefile", "benchbook", "config", "data/imported", "data/recorded"),
    *("notebooks", "profiles/default", "pyproject.toml", "workflows"),
)
_OWN = "config/local.yaml"
_RULE = re.compile(r"^(?:use rule \w+ as |rule )(\w+)", re.MULTILINE)
_LATER = ("analyse", "report")  # files of workflows/ that need nothing of the host measured


def node_checkout(root: Path, kind: str) -> Path:
    """Where a kind of nodes has its checkout."""
    return root / FOLDER / kind


def definition_files(root: Path) -> list[Path]:
    """What a measurement depends on apart from the package: kernels and published data."""
    return [root / path for place in _DEFINED for path in sorted(_files(root, place))]


def source_files(root: Path) -> list[Path]:
    """All that a kind's checkout is made of."""
    return [root / path for place in _SOURCES for path in sorted(_files(root, place))]


def measured_host(checkout: Path) -> str | None:
    """The host that the measurements in a checkout are of, where that is not simply this one."""
    path = checkout / HOST_FILE
    return str(read_json(path, VERSION)["host"]) if path.exists() else None


def claim_host(checkout: Path, host: str) -> None:
    """Note whose measurements these are. BenchbookError where they are another host's."""
    earlier = measured_host(checkout)
    if earlier not in (None, host):
        raise BenchbookError(
            f"{checkout} holds measurements of {earlier}, and this node is {host}; the nodes of a "
            "kind must be alike: make two kinds, by partition or constraint"
        )
    write_json(checkout / HOST_FILE, {"version": VERSION, "host": host})


def bring_up_to_date(root: Path, checkout: Path, settings: dict[str, Any]) -> None:
    """Copy sources that changed, remove those that are gone, write the settings of this workflow.

    Unchanged files keep their times, so that nothing is made anew for their sake.
    """
    wanted = {path for place in _SOURCES for path in _files(root, place)}
    present = {path for place in _SOURCES for path in _files(checkout, place)}
    for path in present - wanted - {_OWN}:
        (checkout / path).unlink()
    for path in wanted - {_OWN}:
        if _stamp(root / path) != _stamp(checkout / path):
            (checkout / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / path, checkout / path)
    # JSON is YAML, and this layer lies above the preset's.
    write_text(checkout / _OWN, json.dumps(settings, indent=1, sort_keys=True) + "\n")


def _files(root: Path, place: str) -> Iterator[str]:
    """All files of a folder, or the one file, relative to the root; no byte code."""
    top = root / place
    if top.is_file():
        yield place
    for folder, inside, names in os.walk(top):
        inside[:] = [name for name in inside if name != "__pycache__"]
        for name in names:
            yield str((Path(folder) / name).relative_to(root))


def _stamp(path: Path) -> tuple[int, int] | None:
    """Size and time of change; None where there is no file."""
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_size, facts.st_mtime_ns


def run_workflow(checkout: Path, *arguments: str) -> None:
    """Run the checkout's own workflow, which dies with this process. BenchbookError with the last
    lines that it printed where it fails."""
    command = ["setpriv", "--pdeathsig", "KILL", sys.executable, "-m", "snakemake", "--keep-going"]
    printed: list[str] = []
    with subprocess.Popen(
        [*command, *arguments],
        cwd=checkout,
        env=without_job(dict(os.environ)),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as workflow:
        for line in workflow.stdout or ():
            print(line, end="", file=sys.stderr)
            printed.append(line)
    if workflow.returncode:
        status = f"its workflow ended with status {workflow.returncode}"
        raise BenchbookError(_why_failed("".join(printed)) or status)


def _why_failed(output: str) -> str:
    """The rules that failed, and the first sentence of ours."""
    rules = list(dict.fromkeys(re.findall(r"^Error in rule (\S+?):?$", output, re.MULTILINE)))
    sentences = re.findall(r"^benchbook: (.+)$", output, re.MULTILINE)
    parts = [f"these jobs failed: {', '.join(rules)}"] if rules else []
    return "; ".join(parts + sentences[:1])


def later_rules(checkout: Path) -> list[str]:
    """The rules of the workflow that read runs and evidence, and measure nothing."""
    files = [checkout / "workflows" / f"{name}.smk" for name in _LATER]
    return ["all"] + [
        name for path in files for name in _RULE.findall(path.read_text(encoding="utf-8"))
    ]


def show_in(root: Path, checkout: Path, host: str) -> str:
    """Have `results/<host>` and `data/runs/<host>` of the main checkout lead to those of a kind.
    Returns why they do not: the same host has some of its own there. Empty where they do."""
    taken = []
    for place in ("results", "data/runs"):
        link, target = root / place / host, checkout / place / host
        if link.is_symlink():
            with suppress(FileNotFoundError):
                link.unlink()
        if link.exists():
            taken.append(f"{place}/{host}")
        elif target.exists():
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(os.path.relpath(target.absolute(), link.parent.absolute()))
    return f"{' and '.join(taken)} are of another measurement of this host" if taken else ""
