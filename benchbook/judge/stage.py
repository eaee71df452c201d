"""A paper's figures with their reruns: printed cell beside estimate, verdicts and findings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from benchbook.analyse import pairwise
from benchbook.audit import audit
from benchbook.core.files import read_json, storable, write_json
from benchbook.core.sizes import parse_bytes
from benchbook.core.units import RATE, RATE_UNITS, TIME
from benchbook.define import catalogue, peers
from benchbook.define.claim_hashes import claim_hashes
from benchbook.define.published import read_table, waiting
from benchbook.detect.inputs.run_table import trial_id
from benchbook.evidence.throughput.table import table as throughput
from benchbook.explain.api import imported_values
from benchbook.judge import baselines, swapped_labels, traffic
from benchbook.judge.artefact_dependence import through
from benchbook.judge.attribution.explained_share import explained
from benchbook.judge.figures import cell, rerun_figure
from benchbook.judge.flag_effects import flags
from benchbook.judge.plain_ratio import against_plain
from benchbook.judge.recorded_runs import beside as recorded_beside
from benchbook.judge.recorded_runs import transfers as recorded_transfers
from benchbook.judge.settle_runs import beside, measured, settle_runs
from benchbook.judge.sweeps import Context, sweep
from benchbook.judge.verdicts import Measured, judge_alone, judge_claims, printed_by_point
from benchbook.judge.whole_machine import whole_machine
from benchbook.records import journal

VERSION = 1


def judge(
    root: Path,
    name: str,
    wanted: str,
    analyses: list[Path],
    output: Path,
    named: dict[str, str] | None = None,
    recorded: list[Path] | None = None,
) -> None:
    """Write paper.json: every figure (or just `wanted`) with rows, claims and findings.

    `named`: preset and host, which no analysis tells of a paper whose figures are all open;
    `recorded`: recorded runs, analysed anew, that stand beside the figures.
    """
    paper = catalogue.paper(root, name)
    by_experiment = {}
    for path in analyses:
        analysis = read_json(path)
        summaries = pd.read_parquet(path.with_name("summaries.parquet"))
        by_experiment[analysis["experiment"]] = (analysis, summaries, path.parent)
    contents = {one: catalogue.definition(root, one) for one in by_experiment}
    audited = audit(root, name)
    chosen = [one for one in paper["figures"] if not wanted or wanted == f"{name}/{one['id']}"]
    figures = [
        rerun_figure(
            root,
            name,
            figure,
            *by_experiment[figure["experiment"]][:2],
            contents[figure["experiment"]],
            audited,
        )
        for figure in chosen
    ]
    printed = {
        one: printed_by_point([figure for figure in figures if figure["quantity"] == one])
        for one in (RATE, TIME)
    }
    for figure, made in zip(chosen, figures, strict=True):
        experiment = figure["experiment"]
        analysis, summaries, folder = by_experiment[experiment]
        made.update(
            judged(
                root,
                name,
                figure,
                analysis,
                summaries,
                contents[experiment],
                {"audit": audited, **_failures_as_results(folder / "evidence.json")},
                printed[made["quantity"]] | printed_by_point([made]),
            )
        )
        made["imported"] = imported_values(root, figure, made["rows"])
        made["recorded"] = recorded_beside(
            root, name, figure, contents[experiment], analysis, recorded or []
        )
        made["explained"] = explained(
            figure,
            contents[experiment],
            analysis,
            summaries,
            read_json(folder / "evidence.json")["items"],
        )
    shown = {row["point"] for figure in figures for row in figure["rows"]}
    sources = {
        experiment: {
            key: analysis[key]
            for key in (
                "run",
                "folder",
                "preset",
                "host",
                "blocks",
                "stopped_by",
                "disturbed",
                "abandoned",
                "measuring_s",
                "probing_s",
                "cpus",
                "door",
                "variants",
                "machine_states",
                "facts",
                "caches",
                "disturbance",
            )
        }
        | {"results": str(folder)}
        | _side_by_side(root, experiment, figures, analysis, summaries)
        | {"recorded": recorded_transfers(contents[experiment], analysis, recorded or [])}
        | _failures_as_results(folder / "evidence.json")
        | {"evidence": _evidence(folder / "evidence.json", analysis, contents[experiment])}
        | {"throughput": throughput(read_json(folder / "evidence.json")["items"])}
        for experiment, (analysis, summaries, folder) in by_experiment.items()
    }
    first: dict[str, Any] = next((one[0] for one in by_experiment.values()), named or {})
    write_json(
        output,
        storable(
            {
                "version": VERSION,
                **{key: paper[key] for key in ("title", "author", "date", "kind", "language")},
                "paper": name,
                "figure": wanted,
                "answer": paper["answer"],
                "caution": paper.get("caution", ""),
                "sizing": _sizing(paper, sources, first.get("sizes", {})),
                "conditions": paper["conditions"],
                "audit": audited,
                "preset": first["preset"],
                "host": first["host"],
                "experiments": sources,
                "figures": figures,
                "open": [
                    waiting(root, name, one) for one in ([] if wanted else paper.get("open", []))
                ],
                "sweeps": [
                    sweep(
                        one,
                        Context(
                            root,
                            name,
                            contents[one["experiment"]],
                            *by_experiment[one["experiment"]][:2],
                        ),
                    )
                    for one in ([] if wanted else paper.get("sweeps", []))
                ],
                "findings": [
                    {
                        **finding,
                        "experiment": experiment,
                        "shown": bool(shown & set(finding["where"])),
                    }
                    for experiment, (analysis, _, _) in by_experiment.items()
                    for finding in analysis["findings"]
                ],
                "points": [
                    {"experiment": experiment, **point}
                    for experiment, (analysis, _, _) in by_experiment.items()
                    for point in analysis["points"]
                ],
            }
        ),
    )


def judged(
    root: Path,
    paper: str,
    figure: dict[str, Any],
    analysis: dict[str, Any],
    summaries: pd.DataFrame,
    content: dict[str, Any],
    facts: dict[str, Any],
    printed: dict[str, list[float]],
) -> dict[str, Any]:
    """The claims of one figure with their verdicts, and its null.

    A run that was made to settle a claim decides it alone; what was found before stands beside it.
    """
    sizes = analysis["sizes"]
    facts = facts | {"cell": lambda named: _number(root, paper, named)}
    run = Measured(analysis["points"], summaries)
    verdicts, null = judge_claims(figure, content, sizes, run, facts, printed)
    hashes = claim_hashes([{**figure, "paper": paper}])
    folder = root / analysis["folder"]
    binaries = read_json(folder / journal.PLAN)["binaries"] if folder.is_dir() else {}
    claims = []
    for claim, first in zip(figure.get("claims", []), verdicts, strict=True):
        key = f"{paper}/{figure['id']}/{claim['id']}"
        declared = analysis["claims"].get(key)
        runs = settle_runs(folder.parent, key, analysis["preset"], analysis["run"], binaries)
        seen = {one: measured(one) for one in runs}
        again = [
            (one, judge_alone(claim, content, sizes, own, first["intervals"]))
            for one, own in seen.items()
        ]
        # A claim edited since may compare other points than its run measured.
        again = [one for one in again if one[1]["verdict"] != "not_measurable_here"]
        verdict = beside(first, again)
        decided_by = seen[again[-1][0]] if again else run
        found = through(claim, content, sizes, verdict, decided_by, analysis.get("findings", []))
        if found:
            verdict["reason"] += f"; {found['words']}"
        if again:
            declared = read_json(again[-1][0] / journal.PLAN)["claim_hashes"].get(key)
        claims.append(
            {
                "paper": paper,
                "figure": figure["id"],
                **verdict,
                "through": found,
                # Arithmetic on printed numbers has no before and after.
                "post_hoc": claim["estimand"]["kind"] != "audit" and declared != hashes[key],
            }
        )
    return {"claims": claims, "null": null}


def _number(root: Path, paper: str, named: dict[str, Any]) -> float:
    """The number in a cell that a claim names."""
    table = read_table(root, paper, named["table"])
    origin = f"{paper}/{named['table']}"
    return float(cell(table, named["row"], named["column"], origin))


def _side_by_side(
    root: Path,
    experiment: str,
    figures: list[dict[str, Any]],
    analysis: dict[str, Any],
    summaries: pd.DataFrame,
) -> dict[str, Any]:
    """What the page compares across the figures of one experiment, and what its names mean."""
    content = catalogue.definition(root, experiment)
    own = [one for one in figures if one["experiment"] == experiment and one["rows"]]
    rates = [one for one in own if one["quantity"] == RATE]
    points, unit = analysis["points"], rates[0]["y_unit"] if rates else "MiB/s"
    curves = pairwise.curves(points, summaries, RATE_UNITS[unit])
    odd = pairwise.odd(rates, points, summaries)
    quantity = TIME if own and not rates else RATE
    return {
        "quantity": quantity,
        "question": content["question"],
        "definitions": content["definitions"],
        "names": content.get("names", {}),
        "values": {
            factor: one["names"] for factor, one in content["factors"].items() if "names" in one
        },
        "buffers": content["buffers"],
        "forms": pairwise.forms(rates, points, summaries),
        "sweep": pairwise.sweep(rates, points, summaries, RATE_UNITS[unit]),
        "curves": curves,
        "flags": flags(
            points,
            summaries,
            analysis["variants"],
            content["base"],
            list(content["variants"]),
            quantity,
        ),
        "whole_machine": whole_machine(
            points, summaries, RATE_UNITS[unit], analysis["sizes"]["cores"]
        ),
        "ceilings": [_in_unit(one, RATE_UNITS[unit]) for one in analysis["ceilings"]],
        "sweep_unit": unit,
        "odd": odd,
        "net": baselines.net(points, summaries, content.get("baseline", {})),
        "plain": against_plain(points, summaries, content.get("plain", {})),
        "exchanged": swapped_labels.labels(rates, peers.of(content), odd["pairs"]),
    }


def _evidence(path: Path, analysis: dict[str, Any], content: dict[str, Any]) -> dict[str, Any]:
    """What moved, and what tells why."""
    items, largest = read_json(path)["items"], analysis["sizes"]["total LLC"]
    return traffic.evidence(items, analysis["points"], content, analysis["ceilings"], largest)


def _failures_as_results(evidence: Path) -> dict[str, list[dict[str, Any]]]:
    """Sizes at which arrays no longer link, and what happened to arrays beyond memory."""
    items = read_json(evidence)["items"]
    return {
        "limits": [one for one in items if one["source"] == "compiler and linker"],
        "trials": [
            # What a finding calls it.
            one | {"place": trial_id(one["name"].removeprefix("trial: "))}
            for one in items
            if one["name"].startswith("trial: ")
        ],
    }


def _in_unit(ceiling: dict[str, Any], per: float) -> dict[str, Any]:
    """A ceiling with its rates in units of `per` bytes per second."""
    keep = ("traffic", "threads", "method", "point")
    others = {method: value / per for method, value in ceiling["others"].items()}
    return (
        {key: ceiling[key] for key in keep}
        | {"rate": ceiling["rate_bytes_per_s"] / per}
        | {"others": others}
    )


def _sizing(
    paper: dict[str, Any], experiments: dict[str, Any], sizes: dict[str, Any]
) -> dict[str, Any] | None:
    """The paper's rule for the size of a buffer, in bytes on this host, and the knees that the
    sweeps of its method found here."""
    rule = paper.get("sizing")
    if rule is None or rule["experiment"] not in experiments:
        return None
    found = [
        {key: curve[key] for key in ("variant", "factors", "knee")}
        for curve in experiments[rule["experiment"]]["curves"]
        if curve["method"] == rule["method"]
    ]
    return {
        **rule,
        "here_bytes": parse_bytes(rule["bytes"], sizes),
        "total_llc_bytes": sizes["total LLC"],
        "knees": found,
    }


def merge_verdicts(papers: list[Path], output: Path) -> None:
    """verdicts.json over all papers."""
    items = [
        claim
        for path in papers
        for figure in read_json(path)["figures"]
        for claim in figure["claims"]
    ]
    write_json(output, {"version": VERSION, "items": items})


def merge_findings(analyses: list[Path], output: Path) -> None:
    """findings.json over all experiments."""
    items = []
    for path in analyses:
        analysis = read_json(path)
        items += [
            {**finding, "experiment": analysis["experiment"]} for finding in analysis["findings"]
        ]
    write_json(output, {"version": VERSION, "items": items})
