"""A paper's figures with their reruns: printed cells, estimates, verdicts and findings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchbook.audit import audit
from benchbook.core.errors import BenchbookError
from benchbook.core.files import storable, write_json
from benchbook.core.sizes import parse_bytes
from benchbook.core.units import RATE, TIME
from benchbook.explain.api import imported_values
from benchbook.judge.attribution.explained_share import explained
from benchbook.judge.experiment_run import ExperimentRun, read_runs
from benchbook.judge.experiment_section import section
from benchbook.judge.figure_claims import judged
from benchbook.judge.figures import rerun_figure
from benchbook.judge.paper_json import VERSION as PAPER_VERSION
from benchbook.judge.paper_source import PaperSource
from benchbook.judge.recorded_runs import recorded_rows
from benchbook.judge.sweeps import Context, sweep
from benchbook.judge.verdicts import printed_by_point

Runs = dict[str, ExperimentRun]


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
    paper = PaperSource.read(root, name, wanted)
    runs = read_runs(root, analyses)
    audited = audit(root, name)
    figures = _figures(paper, runs, audited, recorded or [])
    experiments = {key: section(root, run, figures, recorded or []) for key, run in runs.items()}
    content = {
        "version": PAPER_VERSION,
        "paper": name,
        "figure": wanted,
        **paper.about,
        **preset_and_host(runs, named or {}),
        "sizing": _sizing(paper, runs, experiments),
        "audit": audited,
        "experiments": experiments,
        "figures": figures,
        "open": paper.waiting_figures(),
        "sweeps": _sweeps(paper, runs),
        "findings": _findings(runs, figures),
        "points": _points(runs),
    }
    write_json(output, storable(content))


def _figures(
    paper: PaperSource, runs: Runs, audited: list[dict[str, Any]], recorded: list[Path]
) -> list[dict[str, Any]]:
    """Every figure with its rows, its claims, and what else was measured of it."""
    made = []
    for figure in paper.figures:
        run = runs[figure.experiment]
        of_run = (run.analysis, run.summaries, run.content)
        made.append(rerun_figure(paper.root, paper.name, figure, *of_run, audited))
    printed = {
        quantity: printed_by_point([shown for shown in made if shown["quantity"] == quantity])
        for quantity in (RATE, TIME)
    }
    for figure, shown in zip(paper.figures, made, strict=True):
        run = runs[figure.experiment]
        cells = printed[shown["quantity"]] | printed_by_point([shown])
        shown.update(judged(paper, figure, run, {"audit": audited, **run.failures}, cells))
        declared = paper.as_written[figure.id]
        shown["imported"] = imported_values(paper.root, declared, shown["rows"])
        shown["recorded"] = recorded_rows(
            paper.root, paper.name, figure, run.content, run.analysis, recorded
        )
        shown["explained"] = explained(
            figure.anomalies, run.content, run.analysis, run.summaries, run.evidence
        )
    return made


def preset_and_host(runs: Runs, named: dict[str, str]) -> dict[str, str]:
    """The preset and the host of all runs; `named` where there is none. BenchbookError where two
    runs differ: their claims would be judged on a mixture."""
    seen = [run.analysis for run in runs.values()] or [named]
    for key in ("preset", "host"):
        values = sorted({about[key] for about in seen})
        if len(values) > 1:
            raise BenchbookError(
                f"the analyses are of {key} {' and '.join(values)}; judge those of one {key} only"
            )
    return {key: seen[0][key] for key in ("preset", "host")}


def _sizing(paper: PaperSource, runs: Runs, experiments: dict[str, Any]) -> dict[str, Any] | None:
    """The paper's rule for the size of a buffer, in bytes on this host, and the knees that the
    sweeps of its method found here."""
    rule = paper.sizing
    if rule is None or rule.experiment not in runs:
        return None
    sizes = next(iter(runs.values())).sizes
    return {
        **rule.model_dump(),
        "here_bytes": parse_bytes(rule.bytes, sizes),
        "total_llc_bytes": sizes["total LLC"],
        "knees": [
            {key: curve[key] for key in ("variant", "factors", "knee")}
            for curve in experiments[rule.experiment]["curves"]
            if curve["method"] == rule.method
        ],
    }


def _sweeps(paper: PaperSource, runs: Runs) -> list[dict[str, Any]]:
    made = []
    for declared in paper.sweeps:
        run = runs[declared.experiment]
        context = Context(paper.root, paper.name, run.content, run.analysis, run.summaries)
        made.append(sweep(declared, context))
    return made


def _findings(runs: Runs, figures: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The findings of all runs; `shown`: at a point that a figure shows."""
    shown = {row["point"] for figure in figures for row in figure["rows"]}
    return [
        {**finding, "experiment": experiment, "shown": bool(shown & set(finding["where"]))}
        for experiment, run in runs.items()
        for finding in run.analysis["findings"]
    ]


def _points(runs: Runs) -> list[dict[str, Any]]:
    return [
        {"experiment": experiment, **point}
        for experiment, run in runs.items()
        for point in run.analysis["points"]
    ]
