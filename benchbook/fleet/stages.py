"""The stages of a kind of nodes: measured on a node of it, made into pages anywhere."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from benchbook.core.errors import BenchbookError
from benchbook.core.files import write_json
from benchbook.fleet import slurm
from benchbook.fleet.node_checkout import (
    bring_up_to_date,
    claim_host,
    later_rules,
    node_checkout,
    run_workflow,
    show_in,
)
from benchbook.fleet.outcome import Outcome, State, begun, write_outcome
from benchbook.host import facts

VERSION = 1


def measure_kind(root: Path, kind: str, here: bool, settings: dict[str, Any], output: Path) -> None:
    """Build and measure everything on this node, into the kind's checkout, and note how it went.

    `here`: the submitting node itself is the kind. BenchbookError where it is not and this process
    is in no Slurm job, or where the workflow fails; the outcome is kept in any case.
    """
    checkout = node_checkout(root, kind)
    outcome = begun(kind, facts.host_id(facts.facts()))
    try:
        if not here and not outcome.job:
            raise BenchbookError(
                f"kind {kind} is measured by a Slurm job, and this is none; run `snakemake "
                "--profile profiles/slurm`"
            )
        checkout.mkdir(parents=True, exist_ok=True)
        write_outcome(checkout, outcome)
        if lacking := slurm.missing_cpus():
            raise BenchbookError(f"{lacking}; a host is measured as a whole")
        claim_host(checkout, outcome.host)
        bring_up_to_date(root, checkout, settings)
        run_workflow(checkout, "measured")
    except (BenchbookError, OSError) as error:
        if checkout.exists():
            write_outcome(checkout, replace(outcome, state=State.FAILED, reason=f"{error}"))
        raise
    write_outcome(checkout, replace(outcome, state=State.MEASURED))
    write_json(output, {"version": VERSION, "kind": kind, "host": outcome.host})


def make_kind_pages(
    root: Path, outcome: Outcome, settings: dict[str, Any], output: Path, cores: int
) -> None:
    """Analyse what a kind's job measured and make its pages, in its checkout; measures nothing.
    The main checkout's results and runs lead there afterwards."""
    checkout = node_checkout(root, outcome.kind)
    bring_up_to_date(root, checkout, settings)
    run_workflow(checkout, "--cores", str(cores), "--allowed-rules", *later_rules(checkout))
    note = show_in(root, checkout, outcome.host)
    write_json(output, {"version": VERSION, "kind": outcome.kind, "note": note})
