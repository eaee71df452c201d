"""What paper.json has of one experiment, across the figures that show it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchbook.analyse import pairwise
from benchbook.core.units import RATE, RATE_UNITS, TIME
from benchbook.define import peers
from benchbook.evidence.throughput.table import table as throughput
from benchbook.judge import baselines, swapped_labels, traffic
from benchbook.judge.experiment_run import ExperimentRun
from benchbook.judge.flag_effects import flags
from benchbook.judge.plain_ratio import against_plain
from benchbook.judge.recorded_runs import transfers
from benchbook.judge.settle_runs import damaged_runs
from benchbook.judge.whole_machine import whole_machine

OF_ANALYSIS = (
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


def section(
    root: Path, run: ExperimentRun, figures: list[dict[str, Any]], recorded: list[Path]
) -> dict[str, Any]:
    """The run in the checkout `root`, what is compared across its figures, and what its evidence
    says.

    `figures` are all of the paper with their reruns, `recorded` the recorded runs next to them.
    """
    largest = run.sizes["total LLC"]
    siblings = (root / run.analysis["folder"]).parent
    points, bounds = run.analysis["points"], run.analysis["ceilings"]
    return (
        {key: run.analysis[key] for key in OF_ANALYSIS}
        | {"results": str(run.folder), "sealed": run.analysis.get("sealed", False)}
        | {"harness": run.analysis.get("harness"), "parts": run.analysis.get("parts", [])}
        | {"left_out": run.analysis.get("left_out", []) + damaged_runs(siblings)}
        | _side_by_side(run, figures)
        | {"recorded": transfers(run.content, run.analysis, recorded)}
        | run.failures
        | {"evidence": traffic.evidence(run.evidence, points, run.content, bounds, largest)}
        | {"throughput": throughput(run.evidence)}
    )


def _side_by_side(run: ExperimentRun, figures: list[dict[str, Any]]) -> dict[str, Any]:
    """What the page compares across the figures of one experiment, and what its names mean."""
    content, summaries, points = run.content, run.summaries, run.analysis["points"]
    own = [figure for figure in figures if figure["experiment"] == run.experiment]
    own = [figure for figure in own if figure["rows"]]
    rates = [figure for figure in own if figure["quantity"] == RATE]
    unit = rates[0]["y_unit"] if rates else "MiB/s"
    per = RATE_UNITS[unit]
    odd = pairwise.odd(rates, points, summaries)
    quantity = TIME if own and not rates else RATE
    variants, base, order = run.analysis["variants"], content["base"], list(content["variants"])
    return {
        "quantity": quantity,
        "question": content["question"],
        "definitions": content["definitions"],
        "names": content.get("names", {}),
        "values": {
            name: factor["names"]
            for name, factor in content["factors"].items()
            if "names" in factor
        },
        "buffers": content["buffers"],
        "forms": pairwise.forms(rates, points, summaries),
        "sweep": pairwise.sweep(rates, points, summaries, per),
        "curves": pairwise.curves(points, summaries, per),
        "flags": flags(points, summaries, variants, base, order, quantity),
        "whole_machine": whole_machine(points, summaries, per, run.sizes["cores"]),
        "ceilings": [_in_unit(ceiling, per) for ceiling in run.analysis["ceilings"]],
        "sweep_unit": unit,
        "odd": odd,
        "net": baselines.net(points, summaries, content.get("baseline", {})),
        "plain": against_plain(points, summaries, content.get("plain", {})),
        "exchanged": swapped_labels.labels(rates, peers.of(content), odd["pairs"]),
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
