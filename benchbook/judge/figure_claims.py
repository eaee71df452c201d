"""The claims of one figure, each decided by its run, or by the last run made to settle it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from benchbook.core.files import read_json
from benchbook.define.claim_hashes import claim_hashes
from benchbook.define.models import Figure
from benchbook.judge.artefact_dependence import dependence
from benchbook.judge.claims import NOT_MEASURABLE, REPRODUCED, Verdict
from benchbook.judge.experiment_run import ExperimentRun
from benchbook.judge.paper_source import PaperSource
from benchbook.judge.resolved_claim import Claim
from benchbook.judge.settle_runs import measured, settle_runs, settled
from benchbook.judge.verdicts import judge_alone, judge_claims
from benchbook.records import journal


def judged(
    paper: PaperSource,
    figure: Figure,
    run: ExperimentRun,
    facts: dict[str, Any],
    printed: dict[str, list[float]],
) -> dict[str, Any]:
    """{claims, null}: the claims of one figure with their verdicts, and its null.

    A run that was made to settle a claim decides it alone; what was found before stands beside it.
    `facts`: {audit} of the paper, {limits, trials} of the run; `printed`: the source's cells.
    """
    facts = facts | {
        "cell": paper.number,
        "content": run.content,
        "sizes": run.sizes,
        "points": run.measured.known,
    }
    declared = paper.as_written[figure.id]
    claims = [Claim.of(claim) for claim in declared.get("claims", [])]
    verdicts, null = judge_claims(
        claims, figure.y_unit, run.content, run.sizes, run.measured, facts, printed
    )
    hashes = claim_hashes([{**declared, "paper": paper.name}])
    folder = paper.root / run.analysis["folder"]
    binaries = read_json(folder / journal.PLAN)["binaries"] if folder.is_dir() else {}
    decided = []
    for first in verdicts:
        key = f"{paper.name}/{figure.id}/{first.claim.id}"
        settling = settle_runs(
            folder.parent, key, run.analysis["preset"], run.analysis["run"], binaries
        )
        again = [(path, _decided_alone(first, run, path)) for path in settling]
        # A claim edited since may compare other points than its run measured.
        again = [(path, alone) for path, alone in again if alone.verdict != NOT_MEASURABLE]
        before = run.analysis["claims"].get(key)
        if again:
            before = read_json(again[-1][0] / journal.PLAN)["claim_hashes"].get(key)
        verdict = _with_artefacts(settled(first, again), run)
        decided.append(
            {
                "paper": paper.name,
                "figure": figure.id,
                **verdict.as_json(),
                "source": paper.with_cells(first.claim.source),
                # Arithmetic on printed numbers has no before and after.
                "post_hoc": first.claim.kind != "audit" and before != hashes[key],
            }
        )
    return {"claims": decided, "null": null}


def _decided_alone(first: Verdict, run: ExperimentRun, settling: Path) -> Verdict:
    """The verdict of a run that was made to settle this one."""
    return judge_alone(first.claim, run.content, run.sizes, measured(settling), first.intervals)


def _with_artefacts(verdict: Verdict, run: ExperimentRun) -> Verdict:
    """A reproduced claim with the artefacts that it rests on."""
    if verdict.resolved is None or verdict.verdict != REPRODUCED:
        return verdict
    rests = dependence(verdict.resolved, run.analysis.get("findings", []))
    return replace(verdict, dependence=rests)
