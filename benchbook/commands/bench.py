"""The command `benchbook bench`: ratios and seconds of Benchbook itself."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

from benchbook.commands import (
    bench_pairs,
    bench_samples,
    bench_sockperf,
    bench_tools,
    bench_verdicts,
)
from benchbook.commands.options import ROOT
from benchbook.core.files import read_json
from benchbook.core.stage_times import NOTES, split
from benchbook.records import journal, seal

REPEATS = 3
SIMULATING_S = 60.0
IDENTICAL_S = 300.0
TOOLS_S = 240.0
LINES = 100_000  # of a long log


def seconds(*command: str) -> float:
    """Median wall time of a command over a few repeats, in s; its output is thrown away."""
    return statistics.median(once(*command) for _ in range(REPEATS))


def once(*command: str) -> float:
    """Wall time of a command, in s; its output is thrown away."""
    began = time.perf_counter()
    subprocess.run(command, capture_output=True, check=False)
    return time.perf_counter() - began


def command() -> None:
    """Measure Benchbook itself: ratios and seconds (make bench)."""
    # Start-up of the workflow against bare Snakemake; a peer's round trips against ours; two
    # programs by us and by other tools, identical ones, verdicts on simulated runs; where the last
    # workflow's time went; what probing cost in the latest runs.
    console = Console(highlight=False)
    table = Table("what", "figure", title="Benchbook itself", title_justify="left")
    bare = seconds("snakemake", "--version")
    dry = seconds("snakemake", "--dry-run", "--quiet", "all")
    table.add_row("snakemake --version", f"{bare:.2f} s")
    table.add_row("snakemake, nothing to do (dry run)", f"{dry:.2f} s")
    table.add_row("ratio", f"{dry / bare:.2f}")
    own = seconds(sys.executable, "-m", "benchbook", "--help")
    table.add_row("benchbook --help", f"{own:.2f} s")
    for name, took in explaining(ROOT):
        table.add_row(f"benchbook explain, {LINES:,} lines of {name}", f"{took:.2f} s")
    what = f"round trip ÷ {bench_sockperf.PEER}'s, in turns of {bench_sockperf.TURN_S * 1e3:.0f} ms"
    table.add_row(what, bench_sockperf.against_sockperf(ROOT))
    for name, rows in (
        (f"two programs by all tools, {TOOLS_S:g} s", bench_tools.side_by_side(ROOT, TOOLS_S)),
        (f"identical programs, {IDENTICAL_S:g} s", bench_pairs.identical(ROOT, IDENTICAL_S)),
        ("many samples", bench_samples.by_samples(ROOT, bench_samples.decades())),
        (f"simulated runs, {SIMULATING_S:g} s", bench_verdicts.table(ROOT, SIMULATING_S)),
    ):
        with console.status(name):
            for what, value in rows:
                table.add_row(what, value)
    for what, took_s in (split(ROOT / NOTES) or {}).items():
        table.add_row(f"last workflow that measured, {what}", f"{took_s:.1f} s")
    for run in latest_runs(ROOT):
        seal.verify(run)
        manifest = read_json(run / journal.MANIFEST)
        share = manifest["probing_s"] / max(manifest["measuring_s"], 1e-9)
        what = f"{manifest['experiment']}: {manifest['blocks']} blocks"
        table.add_row(f"{what}, measuring", f"{manifest['measuring_s']:.1f} s")
        table.add_row(f"{what}, probing ÷ measuring", f"{share:.3f}")
        timed_ns = sum(
            journal.load_samples(run, record).timed_ns()
            for record in journal.read_lines(run / journal.JOURNAL)
            if record["kind"] == "invocation"
        )
        share = timed_ns / 1e9 / max(manifest["measuring_s"], 1e-9)
        table.add_row(f"{what}, inside timed regions ÷ measuring", f"{share:.3f}")
    console.print(table)


def explaining(root: Path) -> Iterator[tuple[str, float]]:
    """Seconds from start to end of explaining a long log of each importer's kind: a sample of the
    tests, many times over. Nothing where the samples are not there."""
    with TemporaryDirectory() as folder:
        for kind in sorted((root / "tests/logs").glob("*/")):
            sample = max(kind.glob("*.log"), key=lambda file: file.stat().st_size)
            lines = sample.read_bytes().splitlines()
            log = Path(folder) / f"{kind.name}.log"
            log.write_bytes(b"\n".join((lines * (LINES // len(lines) + 1))[:LINES]))
            yield kind.name, once(sys.executable, "-m", "benchbook", "explain", str(log))


def latest_runs(root: Path) -> list[Path]:
    """The runs that results/ points at, each once."""
    pointers = sorted((root / "results").glob("*/*/**/current.json"))
    folders = {json.loads(path.read_text(encoding="utf-8"))["folder"] for path in pointers}
    return [root / folder for folder in sorted(folders) if (root / folder).exists()]
