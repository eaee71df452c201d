"""What the analysis knew of a run, read again from the files that it left."""

from __future__ import annotations

from pathlib import Path

from benchbook.core.files import read_json
from benchbook.core.parquet import read_parquet
from benchbook.detect.inputs.run_table import RunTables, starts_of_run
from benchbook.records import journal, seal


def run_tables_of(root: Path, analysed: Path) -> RunTables:
    """Out of analysis.json, the evidence and summaries beside it, and the run in the checkout
    `root` that it names; BenchbookError where one of them is gone."""
    analysis = read_json(analysed)
    run = root / analysis["folder"]
    seal.verify(run)
    return RunTables(
        points=analysis["points"],
        plan=read_json(run / journal.PLAN),
        evidence=read_json(analysed.with_name("evidence.json"))["items"],
        summaries=read_parquet(analysed.with_name("summaries.parquet")),
        starts=starts_of_run(run),
        readings=analysis["readings"],
        ceilings=analysis["ceilings"],
    )
