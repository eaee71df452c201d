"""A paper's figures with their reruns: printed cell beside estimate, verdicts and findings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from benchbook import comparisons, definitions
from benchbook.audit import audit
from benchbook.claims import judge_claim, null_of
from benchbook.errors import BenchbookError
from benchbook.files import read_json, write_json
from benchbook.flags import flags
from benchbook.plan import claim_hashes
from benchbook.points import resolve
from benchbook.processes import whole_machine
from benchbook.published import labels, read_table
from benchbook.sizes import parse_bytes
from benchbook.steadiness import UNTOLD
from benchbook.tables import rate
from benchbook.units import RATE_UNITS

VERSION = 1


def judge(root: Path, name: str, wanted: str, analyses: list[Path], output: Path) -> None:
    """Write paper.json: every figure (or just `wanted`) with rows, claims and findings."""
    paper = definitions.paper(root, name)
    by_experiment = {}
    for path in analyses:
        analysis = read_json(path)
        summaries = pd.read_parquet(path.with_name("summaries.parquet"))
        by_experiment[analysis["experiment"]] = (analysis, summaries, path.parent)
    contents = {one: definitions.definition(root, one) for one in by_experiment}
    hashes = {one: claim_hashes(definitions.figures_of(root, one)) for one in by_experiment}
    figures = [
        judge_figure(
            root,
            name,
            figure,
            *by_experiment[figure["experiment"]][:2],
            contents[figure["experiment"]],
            hashes[figure["experiment"]],
        )
        for figure in paper["figures"]
        if not wanted or wanted == f"{name}/{figure['id']}"
    ]
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
        | _failures_as_results(folder / "evidence.json")
        for experiment, (analysis, summaries, folder) in by_experiment.items()
    }
    first = next(iter(by_experiment.values()))[0]
    write_json(
        output,
        comparisons.storable(
            {
                "version": VERSION,
                **{key: paper[key] for key in ("title", "author", "date", "kind", "language")},
                "paper": name,
                "figure": wanted,
                "answer": paper["answer"],
                "sizing": _sizing(paper, sources, first["sizes"]),
                "conditions": paper["conditions"],
                "audit": audit(root, name),
                "preset": first["preset"],
                "host": first["host"],
                "experiments": sources,
                "figures": figures,
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


def _side_by_side(
    root: Path,
    experiment: str,
    figures: list[dict[str, Any]],
    analysis: dict[str, Any],
    summaries: pd.DataFrame,
) -> dict[str, Any]:
    """What the page compares across the figures of one experiment, and what its names mean."""
    content = definitions.definition(root, experiment)
    own = [figure for figure in figures if figure["experiment"] == experiment]
    points, unit = analysis["points"], own[0]["y_unit"] if own else "MiB/s"
    curves = comparisons.curves(points, summaries, RATE_UNITS[unit])
    return {
        "question": content["question"],
        "definitions": content["definitions"],
        "names": content.get("names", {}),
        "buffers": content["buffers"],
        "forms": comparisons.forms(own, points, summaries),
        "sweep": comparisons.sweep(own, points, summaries, RATE_UNITS[unit]),
        "curves": curves,
        "flags": flags(
            points, summaries, analysis["variants"], content["base"], list(content["variants"])
        ),
        "whole_machine": whole_machine(
            points, summaries, RATE_UNITS[unit], analysis["sizes"]["cores"]
        ),
        "ceilings": [_in_unit(one, RATE_UNITS[unit]) for one in analysis["ceilings"]],
        "sweep_unit": unit,
        "odd": comparisons.odd(own, points, summaries),
    }


def _failures_as_results(evidence: Path) -> dict[str, list[dict[str, Any]]]:
    """Sizes at which arrays no longer link, and what happened to arrays beyond memory."""
    items = read_json(evidence)["items"]
    return {
        "limits": [one for one in items if one["source"] == "compiler and linker"],
        "trials": [one for one in items if one["name"].startswith("trial: ")],
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


def _not_rerun(
    table: list[dict[str, str]], figure: dict[str, Any], as_printed: dict[str, str]
) -> list[dict[str, str]]:
    """Cells of a grid's table that it does not rerun, such as failures that stand for a rate."""
    if "grid" not in figure:
        return []
    known = {figure["x"], *figure["grid"]["columns"]}
    return [
        {"row": row[figure["x"]], "label": as_printed.get(column, column), "printed": cell}
        for row in table
        for column, cell in row.items()
        if column not in known and cell
    ]


def _cell(rows: list[dict[str, str]], wanted: dict[str, Any], column: str, origin: str) -> str:
    found = [
        row for row in rows if all(row.get(key) == str(value) for key, value in wanted.items())
    ]
    if len(found) != 1 or column not in found[0]:
        raise BenchbookError(
            f"{origin}: {wanted} must name one row with a column {column!r}; it names {len(found)}"
        )
    return found[0][column]


def judge_figure(
    root: Path,
    paper: str,
    figure: dict[str, Any],
    analysis: dict[str, Any],
    summaries: pd.DataFrame,
    content: dict[str, Any],
    hashes: dict[str, str],
) -> dict[str, Any]:
    """One figure: printed and rerun value per row, claims with verdicts, the A/A null.

    `content` is the experiment's definition, `hashes` are those of all claims on it.
    """
    sizes = analysis["sizes"]
    points = {point["point"]: point for point in analysis["points"]}
    table = read_table(root, paper, figure["table"])
    as_printed = labels(root, paper, figure["table"])
    rows = []
    for series in figure["select"]:
        column = series.get("y") or figure["y"]
        printed = _cell(table, series["row"], column, f"{paper}/{figure['table']}")
        name = resolve(content, series["point"], sizes)
        point = points.get(name or "", {"state": "not_in_preset", "reason": "not in this preset"})
        label = str(series["row"].get(figure["x"], ""))
        rows.append(
            {
                "row": series["row"],
                # Rows of a grid stand in one group for each of its lines, labelled by column.
                "group": label if "grid" in figure else "",
                "label": as_printed.get(column, column) if "grid" in figure else label,
                "column": column,
                "printed": printed,
                "point": name,
                "state": point["state"],
                "reason": point["reason"],
                **_rerun(point, figure["y_unit"]),
            }
        )
    comparisons.beside(rows, summaries, RATE_UNITS[figure["y_unit"]])
    claims = figure.get("claims", [])
    null = null_of(analysis["points"], summaries, max(len(claims), 1))
    measured = analysis["claims"]
    verdicts = []
    for claim in claims:
        sides = {
            side: resolve(content, claim["estimand"][side], sizes)
            for side in ("numerator", "denominator")
        }
        verdict = judge_claim(claim, sides, points, summaries, null, len(claims))
        key = f"{paper}/{figure['id']}/{claim['id']}"
        post_hoc = measured.get(key) != hashes[key]
        verdicts.append({"paper": paper, "figure": figure["id"], **verdict, "post_hoc": post_hoc})
    keep = ("id", "title", "table", "experiment", "x", "y_unit", "published")
    return {
        **{key: figure[key] for key in keep},
        "grid": "grid" in figure,
        "machine": figure.get("machine", ""),
        "not_rerun": _not_rerun(table, figure, as_printed),
        "rows": rows,
        "claims": verdicts,
        "null": null,
    }


def _rerun(point: dict[str, Any], unit: str) -> dict[str, Any]:
    """The rerun of one row in the published unit; empty values where there is none."""
    per = RATE_UNITS[unit]
    names = {
        "rerun": "rate_bytes_per_s",
        "low": "rate_low_bytes_per_s",
        "high": "rate_high_bytes_per_s",
    }
    values = {
        key: point[name] / per if point.get(name) is not None else None
        for key, name in names.items()
    }
    paper_ns = point.get("paper_ns")
    return {
        **values,
        "paper_statistic": rate(point["bytes_per_call"], paper_ns) / per if paper_ns else None,
        "paper_statistic_name": point.get("paper_statistic"),
        "paper_samples": point.get("paper_samples"),
        "blocks": point.get("blocks", 0),
        "samples": point.get("samples", 0),
        "observations": point.get("observations", {}),
        "inside": point.get("inside") or UNTOLD,
        "other_blocks": {
            name: {key: part[one] / per if part[one] else None for key, one in names.items()}
            | {"blocks": part["blocks"]}
            for name, part in _parts(point).items()
        },
    }


def _parts(point: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Estimates over some of the blocks: the undisturbed ones, and each machine state."""
    states = point.get("by_machine_state", {})
    parts = {"undisturbed blocks": point.get("undisturbed")}
    parts |= {f"machine state {name}": part for name, part in states.items()}
    return {name: part for name, part in parts.items() if part}


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
