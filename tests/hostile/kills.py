"""kill -9 at random points of random experiments, each completed afterwards; prints its table.

    PYTHONPATH=.:tests python tests/hostile/kills.py FOLDER [KILLS]

FOLDER gets a checkout and kills.jsonl, one line for each kill; a second start goes on from there.
Each kill: one figure is measured anew, make, snakemake, the measurer or the kernel is killed at a
random moment, and `make` is called again. What must hold then stands in `CHECKS`.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from conftest import clean_environment, copy_checkout
from test_kill import all_gone, journals, victim, wait_for

from benchbook.core.errors import BenchbookError
from benchbook.define import catalogue
from benchbook.records import seal

KILLS = 100
LATEST_S = 12.0  # after the measurer began
KINDS = ("make", "snakemake", "measurer", "kernel")
END_S = 900
CHECKS = (
    "make ends well",  # the second one
    "no journal line lost",
    "one complete run, and it is sealed",
    "analysed again, the same bytes",
    "no half file, no draft",
    "nothing runs on",
)


def figures(root: Path) -> list[tuple[str, str]]:
    """Every experiment with a figure of its own: (`paper/figure`, experiment)."""
    by_experiment: dict[str, str] = {}
    for paper in catalogue.papers(root):
        for figure in catalogue.paper(root, paper)["figures"]:
            by_experiment.setdefault(figure["experiment"], f"{paper}/{figure['id']}")
    return [(figure, experiment) for experiment, figure in sorted(by_experiment.items())]


class Checkout:
    """A checkout whose figures are killed."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "checkout"
        if not self.root.exists():
            copy_checkout(self.root)
            # No priority above what else is measured on this host.
            (self.root / "config/local.yaml").write_text("before_others: false\nbudget_s: 20\n")
        self.locks = folder / "locks"
        self.locks.mkdir(exist_ok=True)
        self.locks.chmod(0o1777)

    def make(self, figure: str, log: Path) -> subprocess.Popen[bytes]:
        with log.open("ab") as stream:
            return subprocess.Popen(
                ["make", "PRESET=tiny", f"FIGURE={figure}"],
                cwd=self.root,
                env=clean_environment(BENCHBOOK_LOCK_DIR=str(self.locks), BENCHBOOK_ENV="host"),
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def runs(self, experiment: str) -> list[Path]:
        found = (self.root / "data/runs").glob(f"*/{experiment}/*/plan.json")
        return [path.parent for path in found]

    def forget(self, experiment: str) -> None:
        """So that it is measured anew."""
        for path in (self.root / "data/runs").glob(f"*/{experiment}"):
            shutil.rmtree(path)
        for path in (self.root / "results").glob(f"*/tiny/figures/*/*/{experiment}"):
            shutil.rmtree(path)

    def analysed_again(self, experiment: str, scratch: Path) -> bool:
        """Whether the analysis of its run gives the same bytes a second time."""
        (analysis,) = (self.root / "results").glob(f"*/tiny/figures/*/*/{experiment}/analysis.json")
        scratch.mkdir(exist_ok=True)
        output = scratch / "analysis.json"
        command = [
            *("scripts/in-env", "python3", "-m", "benchbook", "analyse"),
            *(str(analysis.with_name("current.json")), "--output", str(output)),
            *("--evidence", str(analysis.with_name("evidence.json"))),
            *("--samples", str(scratch / "samples.parquet")),
        ]
        subprocess.run(
            command, cwd=self.root, env=clean_environment(BENCHBOOK_ENV="host"), check=True
        )
        return output.read_bytes() == analysis.read_bytes()


def play(checkout: Checkout, folder: Path, number: int) -> dict[str, Any]:
    """One kill, and what came of it."""
    dice = random.Random(f"kills/{number}")
    declared = figures(checkout.root)
    figure, experiment = declared[number % len(declared)]
    kind, delay_s = dice.choice(KINDS), dice.uniform(0, LATEST_S)
    log = folder / "make.log"
    checkout.forget(experiment)
    make = checkout.make(figure, log)
    wait_for(make, victim, checkout.root, "measurer")
    time.sleep(delay_s)
    killed = ""
    until = time.monotonic() + 30
    while not killed and make.poll() is None and time.monotonic() < until:
        if pid := victim(checkout.root, kind):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                killed = kind
        time.sleep(0.005)
    make.wait(END_S)
    left = all_gone(checkout.root, 30)
    before = journals(checkout.root)
    again = checkout.make(figure, log)
    failures = [] if again.wait(END_S) == 0 else ["make ends well"]
    after = journals(checkout.root)
    if not all(after.get(path, b"").startswith(content) for path, content in before.items()):
        failures.append("no journal line lost")
    complete = [run for run in checkout.runs(experiment) if (run / "manifest.json").exists()]
    try:
        sealed = [seal.verify(run) for run in complete]
    except BenchbookError:
        sealed = []
    if sealed != [True]:
        failures.append("one complete run, and it is sealed")
    if not failures and not checkout.analysed_again(experiment, folder / "scratch"):
        failures.append("analysed again, the same bytes")
    if broken(checkout.root):
        failures.append("no half file, no draft")
    if left or all_gone(checkout.root, 30):
        failures.append("nothing runs on")
    words = {"number": number, "experiment": experiment, "kind": killed, "delay_s": delay_s}
    return words | {"failures": failures, "date": time.strftime("%Y-%m-%d", time.gmtime())}


def broken(root: Path) -> list[Path]:
    """Files of results that are no JSON, and drafts."""
    found = []
    for folder in (root / "results", root / "reports", root / "data/runs", root / "build"):
        for path in folder.rglob("*"):
            draft = path.name.startswith(".") and path.is_file()
            try:
                if path.suffix == ".json" and path.is_file():
                    json.loads(path.read_text())
            except ValueError:
                draft = True
            if draft:
                found.append(path)
    return found


def table(lines: list[dict[str, Any]]) -> str:
    """Kills by experiment and by what was killed, and what failed."""
    kinds = [*KINDS, ""]
    rows = [f"{'experiment':<12}" + "".join(f"{kind or 'ended first':>12}" for kind in kinds)]
    for experiment in sorted({line["experiment"] for line in lines}):
        counts = Counter(line["kind"] for line in lines if line["experiment"] == experiment)
        rows.append(f"{experiment:<12}" + "".join(f"{counts[kind]:>12}" for kind in kinds))
    failed = Counter(failure for line in lines for failure in line["failures"])
    rows += [f"{check}: {len(lines) - failed[check]} of {len(lines)}" for check in CHECKS]
    return "\n".join(rows)


def main() -> None:
    """Go on until so many kills are done."""
    folder, kills = Path(sys.argv[1]).absolute(), int((*sys.argv[2:], KILLS)[0])
    folder.mkdir(parents=True, exist_ok=True)
    notes = folder / "kills.jsonl"
    lines = [json.loads(line) for line in notes.read_text().splitlines()] if notes.exists() else []
    checkout = Checkout(folder)
    while len(lines) < kills:
        lines.append(play(checkout, folder, len(lines)))
        with notes.open("a") as stream:
            stream.write(json.dumps(lines[-1]) + "\n")
        print(json.dumps(lines[-1]), flush=True)
    print(table(lines))


if __name__ == "__main__":
    main()
