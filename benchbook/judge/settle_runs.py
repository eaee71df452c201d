"""Runs that were made to settle one claim (`benchbook settle`), and what each decides alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from benchbook.analyse.bare_run import read_bare_run
from benchbook.core.errors import BenchbookError
from benchbook.core.files import read_json
from benchbook.define.catalogue import SETTLING
from benchbook.judge.claims import Verdict
from benchbook.judge.resolved_claim import Measured
from benchbook.records import journal, seal

CANNOT = {"state": "cannot_run", "reason": "could not run in the run that this one settles"}


def settle_runs(
    folder: Path, claim: str, preset: str, of: str, binaries: dict[str, Any]
) -> list[Path]:
    """Complete runs that settle `paper/figure/claim` as the run `of` left it, oldest first: of this
    preset, with these binaries (`variant~twin` -> {file, sha256})."""
    runs = []
    for run in sorted(folder.glob(f"*{SETTLING}/")):
        try:
            plan = read_json(run / journal.PLAN) if (run / journal.PLAN).exists() else {}
        except BenchbookError:
            continue  # the measuring stage tells of folders that it passes over
        settled_claim = plan.get("settle") or {}
        same = all(
            binaries.get(name) == binary for name, binary in plan.get("binaries", {}).items()
        )
        if (
            [settled_claim.get(key) for key in ("claim", "preset", "of")] == [claim, preset, of]
            and same
            and (run / journal.MANIFEST).exists()
            and not seal.damage(run)  # the page names it: `damaged_runs`
        ):
            runs.append(run)
    return runs


def damaged_runs(folder: Path) -> list[dict[str, str]]:
    """Settling runs in a folder that are left out because they are damaged: {run, reason}."""
    complete = sorted(path.parent for path in folder.glob(f"*{SETTLING}/{journal.MANIFEST}"))
    return [damage.as_json() for run in complete if (damage := seal.damage(run))]


def measured(run: Path) -> Measured:
    """Points and summaries of a complete run that has no results of its own."""
    bare = read_bare_run(run)
    summaries = bare.summaries
    emulated = set(summaries.loc[summaries["simulated"], "point"])
    emulates = (bare.plan.get("emulation") or {}).get("says", "")
    points = [
        point | {"peer": False, "emulates": emulates if point["point"] in emulated else ""}
        for point in bare.points
    ]
    points += [
        {"point": name, "variant": "", "twin": "", "factors": {}, "peer": False, **CANNOT}
        for name in (bare.plan.get("settle") or {}).get("left_out", [])
    ]
    return Measured(points, summaries)


def settled(first: Verdict, verdicts: list[tuple[Path, Verdict]]) -> Verdict:
    """The verdict of the last of the settling runs, with the others and the first next to it."""
    if not verdicts:
        return first
    run, last = verdicts[-1]
    before = [_replaced("", first), *(_replaced(run.name, made) for run, made in verdicts[:-1])]
    blocks = read_json(run / journal.PLAN)["settle"]["blocks"]
    settling = {"run": run.name, "number": len(verdicts), "asked": blocks, "before": before}
    return replace(last, published=first.published, elsewhere=first.elsewhere, settled=settling)


def _replaced(run: str, verdict: Verdict) -> dict[str, Any]:
    """What a page shows of a verdict that a later run replaced; `run`: the name of its settling
    run, "" of the run that was settled."""
    return {
        "run": run or None,
        "verdict": verdict.verdict,
        "estimate": verdict.estimate,
        "interval": verdict.interval,
        "blocks": verdict.blocks,
        "reason": verdict.reason.as_json(),
    }
