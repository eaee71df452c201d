"""The command `benchbook settle CLAIM`: one new run for one inconclusive claim.

Its blocks are fixed beforehand. The run measures only what the claim compares and the twins, with
the samples per invocation of the run that left it open, and it alone decides. Nothing is pooled
with what was measured before.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from benchbook.commands.config_option import Config, overrides
from benchbook.commands.options import ROOT, AsJson
from benchbook.core.errors import BenchbookError
from benchbook.core.files import read_json
from benchbook.core.number_format import number, plural, with_interval
from benchbook.core.processes import follow_parent, measuring_lock
from benchbook.define import catalogue
from benchbook.define.claim_hashes import claim_hashes
from benchbook.define.settings import load_settings
from benchbook.estimands import names_of, roles_of, usable
from benchbook.host import facts
from benchbook.judge.resolved_claim import Claim
from benchbook.judge.settle_runs import measured, settle_runs
from benchbook.judge.settling_cost import MOST_BLOCKS, to_settle
from benchbook.judge.verdicts import judge_alone
from benchbook.measure.progress import Progress
from benchbook.measure.stage import measure_run, read_variants
from benchbook.plan.plan import Plan, make_plan
from benchbook.records import journal, seal
from benchbook.report import reasons
from benchbook.stats import least_blocks

VERSION = 1
ENDLESS_S = 1e9  # the blocks are fixed beforehand, so no budget may end the run


def command(
    claim: str,
    config: Config = None,
    blocks: Annotated[
        int | None, typer.Option(help="number of rounds, instead of the computed one")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure a new run that alone decides one CLAIM (paper/figure/claim) that is not decided."""
    follow_parent(None)
    settle(ROOT.absolute(), claim, overrides(config), blocks, as_json=as_json)


def settle(
    root: Path, wanted: str, overrides: dict[str, Any], blocks: int | None, *, as_json: bool
) -> None:
    """Measure and decide; prints the verdict. BenchbookError where nothing is to be settled."""
    settings = load_settings(root, overrides)
    folder = root / "results" / facts.host_id(facts.facts()) / settings.preset
    verdict = _open_claim(folder, wanted, settings.preset)
    key = _key(verdict)
    figure = _figure(root, verdict)
    claim = next(Claim.of(claim) for claim in figure["claims"] if claim["id"] == verdict["claim"])
    pointer = read_json(folder / figure["experiment"] / "current.json")
    current = root / pointer["folder"]
    seal.verify(current)
    declared = read_json(current / journal.PLAN)
    content = catalogue.definition(root, figure["experiment"])
    before = settle_runs(current.parent, key, settings.preset, current.name, declared["binaries"])
    if before:  # verdicts.json may be older
        last = measured(before[-1])
        alone = judge_alone(claim, content, declared["sizes"], last, verdict["intervals"])
        verdict |= reasons.with_sentences(alone.as_json())
        _must_be_open(verdict, settings.preset)
    blocks = _blocks(verdict, blocks)
    order = {
        "claim": key,
        "preset": settings.preset,
        "blocks": blocks,
        "number": len(before) + 1,
        "of": current.name,
        "left_out": verdict["left_out"],
        "pilot": _pilot(current),
    }
    variants = read_variants(
        [root / path / "variant.json" for path in pointer["variants"].values()]
    )
    plan = make_plan(root, figure["experiment"], settings.having(figure=None), variants)
    _only(plan, claim, figure, order, verdict["intervals"])
    run = _measure(root, plan, variants, current.parent, as_json)
    alone = judge_alone(claim, content, plan.sizes, measured(run), verdict["intervals"])
    _tell(key, verdict, reasons.with_sentences(alone.as_json()), run, order["number"], as_json)


def _key(verdict: dict[str, Any]) -> str:
    return f"{verdict['paper']}/{verdict['figure']}/{verdict['claim']}"


def _open_claim(folder: Path, wanted: str, preset: str) -> dict[str, Any]:
    """The verdict of the claim that is meant, which must be inconclusive."""
    path = folder / "verdicts.json"
    if not path.exists():
        raise BenchbookError(
            f"there are no verdicts of preset {preset} on this host ({path} is missing); run "
            f"`snakemake --config preset={preset}` first"
        )
    items = read_json(path)["items"]
    named = [item for item in items if _key(item) == wanted or item["claim"] == wanted]
    if len(named) != 1:
        keys = sorted({_key(item) for item in named or items})
        raise BenchbookError(
            f"{wanted!r} names {'several claims' if named else 'no claim'}; "
            f"{'name one of' if named else 'claims are'}: {', '.join(keys)}"
        )
    verdict: dict[str, Any] = named[0]
    _must_be_open(verdict, preset)
    return verdict


def _must_be_open(verdict: dict[str, Any], preset: str) -> None:
    outcome = verdict["verdict"].replace("_", " ")
    if verdict["verdict"] != "inconclusive":
        raise BenchbookError(
            f"{_key(verdict)} is {outcome} in preset {preset}; "
            "only a claim that is not decided can be settled"
        )


def _figure(root: Path, verdict: dict[str, Any]) -> dict[str, Any]:
    figures = catalogue.paper(root, verdict["paper"])["figures"]
    named = [figure for figure in figures if figure["id"] == verdict["figure"]]
    claims = [claim["id"] for figure in named for claim in figure.get("claims", [])]
    if verdict["claim"] not in claims:
        raise BenchbookError(
            f"{_key(verdict)} is no longer in paper.yaml; run `snakemake` for new verdicts"
        )
    return {**named[0], "paper": verdict["paper"]}


def _blocks(verdict: dict[str, Any], wanted: int | None) -> int:
    """How many blocks the run will have: those that were reckoned, or those asked for."""
    least = least_blocks(verdict["intervals"])
    if wanted is not None:
        if not least <= wanted <= MOST_BLOCKS:
            raise BenchbookError(
                f"--blocks is {wanted}; {_key(verdict)} takes {least} to {MOST_BLOCKS}"
            )
        return wanted
    priced = (verdict.get("price") or {}).get("blocks")
    if priced is None:
        raise BenchbookError(
            f"up to {MOST_BLOCKS} rounds are not expected to settle {_key(verdict)} "
            f"({verdict['reason']}); choose a number with --blocks"
        )
    return int(priced)


def _pilot(run: Path) -> dict[str, Any]:
    """What that run's pilot fixed; a settling run takes it over and needs none of its own."""
    for record in journal.read_lines(run / journal.JOURNAL):
        if record["kind"] == "pilot":
            return {"points": record["points"]}
    raise BenchbookError(f"{run} has no pilot; run `snakemake --config again=2` for a whole run")


def _only(
    plan: Plan,
    claim: Claim,
    figure: dict[str, Any],
    order: dict[str, Any],
    intervals: int,
) -> None:
    """Make the plan that of one claim, with the number of its blocks fixed."""
    content_points = {
        point.id: {"point": point.id, "twin": point.twin, "state": "ok", "reason": ""}
        for point in plan.points
        if point.id in order["pilot"]["points"]
    }
    content_points |= {
        name: {"point": name, "twin": "", "state": "cannot_run", "reason": "left out before"}
        for name in order["left_out"]
    }
    content = catalogue.definition(Path(), plan.experiment)
    roles = roles_of(claim.estimand, content, plan.sizes)
    used, why = usable(claim.estimand, roles, content_points)
    if why:
        text = reasons.cause({"reason": why.as_json()})
        raise BenchbookError(f"{order['claim']} cannot be measured at the moment: {text}")
    kept = set(to_settle(list(content_points.values()), names_of(used)))
    kept &= set(order["pilot"]["points"])
    plan.points = [point for point in plan.points if point.id in kept]
    plan.wanted = list(plan.points)
    plan.skipped, plan.peers, plan.peer_rows = [], {}, []
    variants = {point.variant for point in plan.points}
    binaries = {
        name: binary
        for name, binary in plan.programs.binaries.items()
        if name.partition("~")[0] in variants
    }
    plan.programs = replace(plan.programs, binaries=binaries)
    plan.pairs = [
        pair
        for pair in plan.pairs
        if pair["comparison"] == order["claim"]
        or pair["comparison"].startswith(f"{order['claim']}/")
    ]
    hashes = claim_hashes([figure])
    plan.claim_hashes = {order["claim"]: hashes[order["claim"]]}
    plan.claims, plan.least, plan.looks = intervals, order["blocks"], [order["blocks"]]
    numbers = {name: order["pilot"]["points"][name] for name in kept}
    plan.settle = {**order, "pilot": {"points": numbers}}
    plan.settings = plan.settings.having(budget_s=ENDLESS_S)


def _measure(
    root: Path,
    plan: Plan,
    variants: dict[str, dict[str, Any]],
    folder: Path,
    quiet: bool,
) -> Path:
    progress = Progress(plan.experiment)
    settle = plan.settle or {}
    progress.line(
        f"settling {settle['claim']}: {plural(settle['blocks'], 'round')} of "
        f"{plural(len(plan.points), 'point')}; at most "
        f"{plan.settings.disturbed.repeats} disturbed ones are repeated; run number "
        f"{settle['number']}, on CPU {plan.cpus}"
    )
    with measuring_lock(plan.experiment, root, progress.line) as lock:
        return measure_run(root, plan, variants, folder, lock, progress)


def _tell(
    key: str,
    before: dict[str, Any],
    verdict: dict[str, Any],
    run: Path,
    count: int,
    as_json: bool,
) -> None:
    if as_json:
        kept = ("verdict", "estimate", "interval", "blocks", "unit", "reason")
        record = {
            "version": VERSION,
            "claim": key,
            "run": run.name,
            "number": count,
            **{name: verdict[name] for name in kept},
            "before": {name: before[name] for name in kept},
        }
        print(json.dumps(record, indent=2, ensure_ascii=False))
        return
    print(f"{key}: {verdict['verdict'].replace('_', ' ')}")
    print(f"  this run alone: {verdict['reason']}; {plural(verdict['blocks'], 'round')}")
    interval = with_interval(before["estimate"], *(before["interval"] or [None, None]))
    print(f"  before, not pooled: {interval}, {plural(before['blocks'], 'round')}")
    if verdict["verdict"] == "inconclusive" and verdict["price"]:
        blocks, minutes = verdict["price"]["blocks"], verdict["price"]["minutes"]
        more = f"{blocks} rounds, {number(minutes)} minutes" if blocks else "no number of rounds"
        print(f"  still not decided; expected to decide it: {more}")
    print("  run `snakemake` to show it on the paper's page")
