"""Time and memory of tables, analysis, verdicts and pages by the number of samples (make bench).

A recorded run is the model: each of its runs of the program gets as many samples as are wanted,
drawn from its own times, in the format in which the measurer stores them.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchbook.core.files import read_json, write_json
from benchbook.fleet.node_checkout import bring_up_to_date
from benchbook.records import archive, journal, seal

DECADES = (10**5, 10**6, 10**7)
MORE = "BENCHBOOK_BENCH_SAMPLES"  # the environment's, for another number: 100000000
MODEL = "data/recorded/*/mbw/*"
PAPER, FIGURE = "slocum2013-mbw", "mbw-b4096-32"
GIB = 2**30
_CALL = (
    "from benchbook.judge.recorded_analysis import {0}; from pathlib import Path; "
    "{0}(*map(Path, {1}))"
)


@dataclass(frozen=True)
class Cost:
    """What a stage took: wall and CPU time in s, and the most memory that one process held."""

    stage: str
    wall_s: float
    cpu_s: float
    memory_bytes: int
    failed: bool

    def __str__(self) -> str:
        text = f"{self.wall_s:.1f} s, {self.cpu_s:.1f} s of CPU, {self.memory_bytes / GIB:.2f} GiB"
        return f"failed after {text}" if self.failed else text


def decades() -> tuple[int, ...]:
    """The numbers of samples to try, in rising order."""
    asked_for = os.environ.get(MORE, "")
    return (int(asked_for),) if asked_for.isdigit() else DECADES


def by_samples(root: Path, amounts: tuple[int, ...]) -> Iterator[tuple[str, str]]:
    """Rows of (stage and number of samples, time and memory). Nothing without a recorded run."""
    model = next(iter(sorted(root.glob(MODEL))), None)
    for amount in amounts if model else ():
        with TemporaryDirectory(dir=root / "build" if (root / "build").exists() else None) as place:
            for cost in costs(root, model or root, Path(place), amount):
                yield f"{amount:,} samples, {cost.stage}", str(cost)


def costs(root: Path, model: Path, place: Path, amount: int) -> Iterator[Cost]:
    """The cost of each stage for a run of `amount` samples, in a checkout made at `place`."""
    bring_up_to_date(root.absolute(), place, {})
    run = enlarged(model, place / "data/runs" / model.parts[-3] / "mbw" / model.name, amount)
    folder = place / "results" / model.parts[-3] / "tiny/mbw"
    arguments = repr([str(path.relative_to(place)) for path in (run, folder)])
    analysis = str(folder.relative_to(place) / "analysis.json")
    paper = str(folder.parent.relative_to(place) / PAPER / "paper.json")
    python = [sys.executable, "-c"]
    benchbook = [sys.executable, "-m", "benchbook"]
    named = ("--figure", f"{PAPER}/{FIGURE}", "--output", paper, analysis)
    page = ("--paper", paper, "--executed", "executed.ipynb", "--output", "reports/page.html")
    for stage, command in (
        ("table", [*python, _CALL.format("make_table", arguments)]),
        ("analysis and detection", [*python, _CALL.format("estimated", arguments)]),
        ("verdicts", [*benchbook, "judge", PAPER, *named]),
        ("page", [*benchbook, "page", f"notebooks/{PAPER}.ipynb", *page]),
    ):
        yield cost_of(stage, command, place)


def enlarged(model: Path, run: Path, amount: int) -> Path:
    """A run like the model with `amount` samples in all, or a few more; returns its folder."""
    run.mkdir(parents=True)
    for name in (journal.PLAN, journal.PROBES, archive.VARIANTS):
        (run / name).write_bytes((model / name).read_bytes())
    records = list(journal.read_lines(model / journal.JOURNAL))
    starts = sum(record["kind"] == "invocation" for record in records)
    dice = np.random.default_rng(1)
    for record in records:
        measured = record["kind"] == "invocation"
        each = -(-amount // starts)
        enlarged_record = _with_samples(model, run, record, each, dice) if measured else record
        journal.append(run / journal.JOURNAL, [dict(enlarged_record)])
    manifest = dict(read_json(model / journal.MANIFEST)) | {seal.FILES: seal.sums(run)}
    write_json(run / journal.MANIFEST, manifest)
    return run


def _with_samples(
    model: Path, run: Path, record: dict[str, Any], amount: int, dice: np.random.Generator
) -> dict[str, Any]:
    """The record of an invocation with `amount` samples behind the warm-up."""
    samples = journal.load_samples(model, record)
    warm = record["warm_up"]
    drawn = dice.choice(samples.time_ns[warm:], amount)
    times = np.concatenate([samples.time_ns[:warm], drawn])
    begins = samples.t_start_ns[0] + np.concatenate([[0], np.cumsum(times)[:-1] + 100])
    kept = {name: value for name, value in record.items() if name not in ("t_start_ns", "time_ns")}
    return kept | journal.store_samples(run, begins.tolist(), times.tolist())


def cost_of(stage: str, command: list[str], place: Path) -> Cost:
    """Run a command in a checkout and return what it took, with all that it started."""
    began = time.perf_counter()
    process = os.posix_spawn(
        "/usr/bin/env", ["env", "-C", str(place), *command], os.environ, file_actions=_quiet()
    )
    _, status, usage = os.wait4(process, 0)
    wall_s, cpu_s = time.perf_counter() - began, usage.ru_utime + usage.ru_stime
    return Cost(stage, wall_s, cpu_s, usage.ru_maxrss * 1024, status != 0)


def _quiet() -> list[tuple[Any, ...]]:
    return [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)]
