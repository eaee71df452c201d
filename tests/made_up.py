"""Made-up results of the real papers and experiments, so that pages need no measurement."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pandas as pd

from benchbook import analysis, definitions, papers, plan
from benchbook.topology import pin, read_topology

ROOT = Path(__file__).resolve().parent.parent
PAPER = "slocum2013-mbw"
HOST = "made-up-2c-00000000"
GIB = 2**30
# Bytes per second of each method, before noise.
RATES = {"copy": 8 * GIB, "loop": 7 * GIB, "block-1.1.1": 90 * GIB, "block-1.2.2": 15 * GIB}
ADDRESS = "https" + "://example.org/?a=1&b=2"  # in two parts: no file of ours holds an address
REASON = f"its check failed; see <{ADDRESS}> <script>alert(1)</script>"


def observed(factors: dict[str, Any]) -> dict[str, Any]:
    """What the destination check sees of a form, by what its method leaves out."""
    blocks = factors["bytes"] // factors["block_bytes"] if "block_bytes" in factors else 1
    one = 1 / blocks
    still_source = factors["method"] in ("block-1.1.1", "block-1.2.2")
    still_destination = factors["method"] == "block-1.1.1"
    return {
        "work_done_fraction": one if still_source else 1.0,
        "destination_written_fraction": one if still_destination else 1.0,
        "distinct_source_blocks": 1 if still_source else blocks,
        "last_source_block": 0 if still_source else blocks - 1,
        "blocks_declared": blocks,
        "minor_faults": 0,
    }


def points_of(preset: str) -> tuple[dict[str, Any], list[plan.Point]]:
    """The experiment's definition, and the points and twins of a preset on this host."""
    content = definitions.definition(ROOT, "mbw")
    topology = read_topology()
    sizes = plan.caches(topology, pin(topology, 1))
    points, _ = plan.expand(content, plan.crosses(content, preset), sizes)
    chosen, _ = plan.expand(content, content["twins"], sizes)
    twins = [
        plan.Point(plan.point_id(one.variant, one.factors, twin), one.variant, one.factors, twin)
        for one in chosen
        for twin in ("again", "relinked")
    ]
    return content, points + twins


def summaries_of(points: list[plan.Point], blocks: int, spread: float) -> pd.DataFrame:
    """One row per point and block, as analysis.summarise gives them; ns."""
    dice = np.random.default_rng(1)
    rows = []
    for point in points:
        size = point.factors["bytes"]
        rate = RATES.get(point.factors["method"], 7.5 * GIB) * (2 * GIB / size) ** 0.1
        for block in range(blocks):
            time_ns = size / rate * 1e9 * np.exp(spread * dice.standard_normal())
            start_ns = int(1e9 * (block + 1))
            rows.append(
                {
                    "point": point.id,
                    "block": block,
                    "invocation": 0,
                    "samples": 10,
                    **dict.fromkeys(("median_ns", "mean_ns", "best_ns", "paper_mean_ns"), time_ns),
                    "paper_samples": 10,
                    "bytes_declared": float(size),
                    "t_start_ns": start_ns,
                    "t_end_ns": start_ns + int(time_ns),
                    "disturbed": block == 1,
                    "machine_state": "1" if block % 2 else "2",
                }
            )
    return pd.DataFrame(rows)


def noise(blocks: int) -> dict[str, Any]:
    """A quiet run with one disturbed block."""
    starts = [
        {
            "block": block,
            "t_start_ns": int(1e9 * (block + 1)),
            "run_delay_fraction": 0.2 if block == 1 else 0.001,
            "involuntary_switches": block,
            "migrations": 0,
            "steal_fraction": None,
            "frequency_khz": None,
        }
        for block in range(blocks)
    ]
    return {
        "start_ns": 0,
        "thresholds": {"run_delay_fraction": 0.05, "repeats": 1},
        "starts": starts,
        "blocks": [
            {
                "block": one["block"],
                "t_start_ns": one["t_start_ns"],
                "t_end_ns": one["t_start_ns"] + int(9e8),
                "state": "disturbed" if one["block"] == 1 else "ok",
                "reasons": ["waited"] if one["block"] == 1 else [],
            }
            for one in starts
        ],
        "core_pairs": [{"a": 0, "b": 1, "round_trip_ns": 120.0, "readings": 1}],
        "probe_failures": [],
    }


def readings(blocks: int) -> list[dict[str, Any]]:
    """Two states of the anchor, one of the work."""
    return [
        {"t_ns": int(1e9 * (k + 1)), "name": name, "value": value, "state": state}
        for k in range(blocks)
        for name, value, state in (
            ("anchor", 1.5e6 * (1 + k % 2), 1 + k % 2),
            ("work 1", 1.6 + 0.01 * k, None),
        )
    ]


def variants(content: dict[str, Any]) -> list[dict[str, Any]]:
    """All built but the last one."""
    found = [
        {
            "variant": name,
            "compiler": spec["compiler"],
            "compiler_version": f"{spec['compiler']} 1.0",
            "flags": spec.get("flags", []),
            "state": "ok",
            "reason": "",
            "isa": [],
            "sha256": "0" * 64,
            "timed_functions": {"timed_loop": {"library_calls": [], "loads_in_loop": 1}},
        }
        for name, spec in content["variants"].items()
    ]
    found[-1] |= {"state": "cannot_run", "reason": "compiler 'x' is not on PATH; install it"}
    return found


def results(
    folder: Path,
    preset: str,
    *,
    blocks: int = 8,
    spread: float = 0.02,
    failing: str = "",
    bare: bool = False,
    figure: str = "",
) -> Path:
    """Write analysis.json, summaries.parquet and paper.json below `folder`; returns paper.json.

    `failing`: points whose id matches this pattern failed. `bare`: no probe, no twins, no facts
    of the host, as of a run from elsewhere.
    """
    content, points = points_of(preset)
    if bare:
        points = [point for point in points if not point.twin]
    lost = {one.id for one in points if failing and re.search(failing, one.id)}
    summaries = summaries_of([one for one in points if one.id not in lost], blocks, spread)
    if summaries.empty:
        summaries = pd.DataFrame(columns=["point", "block", "invocation", "disturbed"])
    failed = {name: {"state": "failed", "reason": REASON} for name in lost}
    described = [
        analysis.describe(
            {"id": one.id, "variant": one.variant, "twin": one.twin, "factors": one.factors},
            summaries,
            {} if one.id in lost else observed(one.factors),
            failed,
        )
        for one in points
    ]
    found, abstained = analysis.detect(described, 2, {})
    claims = plan.claim_hashes(plan.figures_of(ROOT, "mbw"))
    record = {
        "version": 1,
        "experiment": "mbw",
        "preset": preset,
        "host": HOST,
        "run": "20260102T030405Z-0123abcd-ef01",
        "folder": f"data/runs/{HOST}/mbw/20260102T030405Z-0123abcd-ef01",
        "blocks": blocks,
        "stopped_by": "last_look",
        "disturbed": [1],
        "abandoned": [],
        "measuring_s": 12.5,
        "probing_s": 0.5,
        "claims": claims,
        "cpus": [1],
        "door": "host",
        "variants": variants(content),
        "machine_states": [] if bare else [1, 2],
        "readings": [] if bare else readings(blocks),
        "facts": {} if bare else facts(),
        "caches": {} if bare else {"L1d": 32 * 2**10, "L2": 2**20, "L3": 32 * 2**20},
        "disturbance": noise(0 if bare else blocks),
        "points": described,
        "findings": found,
        "abstained": abstained,
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "mbw" / "analysis.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(record), encoding="utf-8")
    summaries.to_parquet(path.with_name("summaries.parquet"))
    paper = folder / PAPER / "paper.json"
    papers.judge(ROOT, PAPER, figure, [path], paper)
    return paper


def facts() -> dict[str, Any]:
    """A host of which some things are unknown."""
    cache = {"level": 1, "kind": "data", "bytes": 2**15, "ways": 8, "line_bytes": 64}
    return {
        "cpu_model": "Made-up CPU <1>",
        "architecture": "x86_64",
        "sockets": 1,
        "cores": 2,
        "threads": 2,
        "usable_cores": 2,
        "usable_cpus": [0, 1],
        "memory_total_bytes": 4 * GIB,
        "virtualisation": "none",
        "os": "Debian",
        "kernel_release": "6.0",
        "libc": None,
        "isa": ["sse2"],
        "frequency_readable": False,
        "caches": [{**cache, "shared_cpus": [0], "source": "sysfs"}],
        "unknown": {"turbo": "/sys/devices/system/cpu/cpufreq/boost is absent"},
    }


def controls(path: Path) -> Path:
    """A controls.json with one control that ran and one that could not."""
    empty = dict.fromkeys(("provoked", "detected", "abstained", "nulls", "false_alarms"), 0)
    ran = {"provoked": 3, "detected": 1, "abstained": 1, "nulls": 1, "false_alarms": 1}
    where = {"provoked_at": ["a", "b", "c"], "nulls_at": ["d"], "detected_at": ["a"]}
    where |= {"missed_at": ["b"], "false_alarms_at": ["d"]}
    content = {
        "version": 1,
        "host": HOST,
        "preset": "tiny",
        "artefacts": {
            "source-not-advanced": {"text": "A pointer stays.", **ran, "skipped": 0, "reason": ""}
            | where,
            "other": {**empty, "skipped": 2, "reason": "compiler 'clang' is not on PATH"},
        },
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def executed_here(notebook: Path) -> Any:
    """The notebook with its outputs, run in this process: no kernel's start to wait for."""
    cells = nbformat.read(notebook, as_version=4)
    names: dict[str, Any] = {}
    for cell in cells.cells:
        if cell.cell_type != "code":
            continue
        *before, last = ast.parse(cell.source).body
        exec(compile(ast.Module(before, []), "cell", "exec"), names)
        shown = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
        data = {"text/html": shown._repr_html_()}
        cell.outputs = [nbformat.v4.new_output("execute_result", data)]
    return cells
