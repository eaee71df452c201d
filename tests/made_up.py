"""Made-up results of the real papers and experiments, so that pages need no measurement."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import made_up_evidence
import made_up_stream
import made_up_udp
import nbformat
import numpy as np
import pandas as pd

from benchbook.analyse import stage as analyse_stage
from benchbook.analyse.ceilings import ceilings
from benchbook.analyse.peer_agreement import agreement
from benchbook.controls.controls_json import VERSION
from benchbook.define import catalogue, peers
from benchbook.detect.inputs.run_table import RunTables
from benchbook.judge import stage as judge_stage
from benchbook.peers import matching
from benchbook.plan import plan

ROOT = Path(__file__).resolve().parent.parent
PAPER = "slocum2013-mbw"
STREAM = "stream-array-size"
UDP = "e7udpip-latency"
HOST = "made-up-2c-00000000"
MIB, GIB = 2**20, 2**30
# What a size like `3 x LLC` means on this host.
SIZES = {"L1d": 2**15, "L2": MIB, "LLC": 32 * MIB, "total LLC": 32 * MIB, "cores": 2}
# Bytes per second of each method, before noise.
RATES = {"copy": 8 * GIB, "loop": 7 * GIB, "block-1.1.1": 90 * GIB, "block-1.2.2": 15 * GIB}
ADDRESS = "https" + "://example.org/?a=1&b=2"  # in two parts: no file of ours holds an address
REASON = f"its check failed; see <{ADDRESS}> <script>alert(1)</script>"


def rate_of(experiment: str, point: plan.Point) -> float:
    """Bytes per second, before noise."""
    if experiment == "stream":
        return made_up_stream.rate_of(point.variant, point.factors)
    return RATES.get(point.factors["method"], 7.5 * GIB) * (2 * GIB / point.factors["bytes"]) ** 0.1


def declared_bytes(experiment: str, factors: dict[str, Any]) -> float:
    """Bytes that one call says it moves."""
    arrays = made_up_stream.ARRAYS.get(factors["method"], 2) if experiment == "stream" else 1
    return float(arrays * factors["bytes"])


def observed(experiment: str, factors: dict[str, Any]) -> dict[str, Any]:
    """What the destination check sees of a form, by what its method leaves out."""
    if experiment == "udp":
        return made_up_udp.observed(factors)
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
        "buffers_bytes": 2 * factors["bytes"],
        "buffers_resident_bytes": 3 * factors["bytes"],
        "anon_huge_bytes": factors["bytes"],
    }


def points_of(experiment: str, preset: str) -> tuple[dict[str, Any], list[plan.Point]]:
    """The experiment's definition, and the points and twins of a preset on this host."""
    content = catalogue.definition(ROOT, experiment)
    points, _ = plan.expand(content, catalogue.crosses(content, preset), SIZES)
    chosen, _ = plan.expand(content, content["twins"], SIZES)
    known = {point.id for point in points}
    twins = [
        plan.Point(point.variant, point.factors, twin)
        for point in chosen
        if point.id in known
        for twin in ("again", "relinked")
    ]
    return content, points + twins


def summaries_of(
    experiment: str, points: list[plan.Point], blocks: int, spread: float
) -> pd.DataFrame:
    """One row per point and block, as analysis.summarise gives them; ns."""
    dice = np.random.default_rng(1)
    times = ("median_ns", "mean_ns", "best_ns", "p10_ns", "p90_ns", "p99_ns")
    times += ("paper_mean_ns", "paper_best_ns")
    rows = []
    for point in points:
        if experiment == "udp":
            size, truth_ns = 0.0, made_up_udp.time_ns(point.factors)
        else:
            size = declared_bytes(experiment, point.factors)
            truth_ns = size / rate_of(experiment, point) * 1e9
        for block in range(blocks):
            time_ns = truth_ns * np.exp(spread * dice.standard_normal())
            start_ns = int(1e9 * (block + 1))
            rows.append(
                {
                    "point": point.id,
                    "block": block,
                    "invocation": 0,
                    "samples": 10,
                    **dict.fromkeys(times, time_ns),
                    "paper_samples": 10,
                    "bytes_declared": size,
                    "t_start_ns": start_ns,
                    "t_end_ns": start_ns + int(time_ns),
                    "disturbed": block == 1,
                    "simulated": point.factors.get("path") == "emulated",
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
                "block": start["block"],
                "t_start_ns": start["t_start_ns"],
                "t_end_ns": start["t_start_ns"] + int(9e8),
                "state": "disturbed" if start["block"] == 1 else "ok",
                "reasons": ["waited"] if start["block"] == 1 else [],
            }
            for start in starts
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


WRAPPED = {"state": "changed", "dropped": ["-march=native"], "added": ["-O2", "-fPIC"]}


def variants(experiment: str, content: dict[str, Any]) -> list[dict[str, Any]]:
    """All built but one; the peers are there."""
    functions = {"timed_loop": {"library_calls": [], "loads_in_loop": 1}}
    found = [
        {
            "variant": name,
            "compiler": spec["compiler"],
            "compiler_version": f"{spec['compiler']} 1.0",
            "flags": spec.get("flags", []),
            "wrapper": WRAPPED if spec["compiler"] == "clang" else {"state": "none"},
            "state": "ok",
            "reason": "",
            "isa": [],
            "sha256": "0" * 64,
            "timed_functions": made_up_stream.functions(name)
            if experiment == "stream"
            else functions,
            "peer": None,
        }
        for name, spec in content["variants"].items()
        if "peer" not in spec
    ]
    lost = made_up_stream.NOT_BUILT if experiment == "stream" else found[-1]["variant"]
    missing = {"state": "cannot_run", "reason": "compiler 'x' is not on PATH; install it"}
    found = [entry | missing if entry["variant"] == lost else entry for entry in found]
    nothing = {"compiler": None, "compiler_version": None, "flags": [], "isa": None}
    about = {"package": "p", "text": "Somebody's program.", "version": "1.0-<1>"}
    found += [
        {"variant": name, "state": "ok", "reason": "", "sha256": "1" * 64, "timed_functions": {}}
        | {**nothing, "peer": {"tool": spec["tool"], **about}}
        for name, spec in peers.of(content).items()
    ]
    return found


def results(
    folder: Path,
    preset: str,
    *,
    paper: str = PAPER,
    figure: str = "",
    blocks: int = 8,
    **case: Any,
) -> Path:
    """Write analysis.json, summaries.parquet and evidence.json of each experiment of a paper, and
    paper.json, below `folder`; returns paper.json. `case`: as `measured` takes it.
    """
    analyses = []
    for experiment in catalogue.experiments_of(ROOT, paper):
        analyses.append(folder / experiment / "analysis.json")
        measured(analyses[-1], experiment, preset, blocks, **case)
    output = folder / paper / "paper.json"
    judge_stage.judge(ROOT, paper, figure, analyses, output)
    return output


def measured(
    path: Path,
    experiment: str,
    preset: str,
    blocks: int,
    *,
    spread: float = 0.02,
    failing: str = "",
    bare: bool = False,
) -> None:
    """Write analysis.json of one experiment to `path`, and its tables beside it.

    `failing`: points whose id matches this pattern failed. `bare`: no probe, no twins, no facts
    of the host, no other evidence, as of a run from elsewhere.
    """
    content, points = points_of(experiment, preset)
    theirs, beside = matching.matched(content, points)
    points += theirs
    theirs_named = {point.variant for point in theirs}
    built = variants(experiment, content)
    if bare:
        points = [point for point in points if not point.twin]
    left_out = {}
    if experiment == "stream":
        left_out = made_up_stream.left_out(points, built)
    if experiment == "udp":
        left_out = made_up_udp.left_out(points)
    points = [point for point in points if point.id not in left_out]
    lost = {point.id for point in points if failing and re.search(failing, point.id)}
    kept = [point for point in points if point.id not in lost]
    summaries = summaries_of(experiment, kept, blocks, spread)
    if summaries.empty:
        summaries = pd.DataFrame(columns=["point", "block", "invocation", "disturbed"])
    failed = {name: {"state": "failed", "reason": REASON} for name in lost}
    described = [
        analyse_stage.describe(
            {
                "id": point.id,
                "variant": point.variant,
                "twin": point.twin,
                "factors": point.factors,
            },
            summaries,
            {} if point.id in lost else observed(experiment, point.factors),
            failed,
            content.get("paper_statistic", "mean"),
            (content.get("emulation") or {}).get("says", ""),
        )
        for point in points
    ]
    bounds = ceilings(described, content.get("ceilings", {}), SIZES["total LLC"])
    planned = {"buffers": content["buffers"], "sizes": SIZES}
    found, abstained, clean = analyse_stage.findings_of(
        RunTables(described, planned, ceilings=bounds)
    )
    described += left_out.values()
    run = "20260102T030405Z-0123abcd-ef01"
    record = {
        "version": 1,
        "experiment": experiment,
        "preset": preset,
        "host": HOST,
        "run": run,
        "folder": f"data/runs/{HOST}/{experiment}/{run}",
        "blocks": blocks,
        "stopped_by": "last_look",
        "disturbed": [1],
        "abandoned": [],
        "measuring_s": 12.5,
        "probing_s": 0.5,
        "claims": plan.claim_hashes(catalogue.figures_of(ROOT, experiment)),
        "cpus": [0, 1] if experiment == "stream" else [1],
        "door": "host",
        "parts": ["bytes"] if experiment == "stream" else [],
        "variants": built,
        "machine_states": [] if bare else [1, 2],
        "readings": [] if bare else readings(blocks),
        "facts": {} if bare else facts(),
        "sizes": SIZES,
        "caches": {} if bare else {"L1d": SIZES["L1d"], "L2": SIZES["L2"], "L3": SIZES["LLC"]},
        "disturbance": noise(0 if bare else blocks),
        "points": described,
        "agreement": agreement(beside, described, summaries, built),
        "ceilings": bounds,
        "findings": found,
        "abstained": abstained,
        "clean": clean,
        "capabilities": [] if bare else made_up_evidence.CAPABILITIES,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record), encoding="utf-8")
    summaries.to_parquet(path.with_name("summaries.parquet"))
    items = made_up_stream.evidence() if experiment == "stream" and not bare else []
    counted = not bare and experiment != "udp"
    items += made_up_evidence.rows(experiment, points, theirs_named) if counted else []
    evidence = json.dumps({"version": 1, "items": items})
    path.with_name("evidence.json").write_text(evidence, encoding="utf-8")


def facts() -> dict[str, Any]:
    """A host of which some things are unknown."""
    cache = {"ways": 8, "line_bytes": 64, "source": "sysfs"}
    own = {1: ("data", SIZES["L1d"]), 2: ("unified", SIZES["L2"])}
    caches = [
        {**cache, "level": level, "kind": kind, "bytes": size, "shared_cpus": [cpu]}
        for level, (kind, size) in own.items()
        for cpu in (0, 1)
    ]
    last = {"level": 3, "kind": "unified", "bytes": SIZES["LLC"], "shared_cpus": [0, 1]}
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
        "caches": [*caches, {**cache, **last}],
        "cpus": [
            {"id": cpu, "core": cpu, "socket": 0, "node": 0, "kind": "uniform", "max_khz": None}
            for cpu in (0, 1)
        ],
        "unknown": {"turbo": "/sys/devices/system/cpu/cpufreq/boost is absent"},
        "nix_revision": "8fd9daa",
    }


def controls(path: Path) -> Path:
    """A controls.json with one control that ran and one that could not."""
    empty = dict.fromkeys(("provoked", "detected", "abstained", "nulls", "false_alarms"), 0)
    ran = {"provoked": 3, "detected": 1, "abstained": 1, "nulls": 1, "false_alarms": 1}
    where = {"provoked_at": ["a", "b", "c"], "nulls_at": ["d"], "detected_at": ["a"]}
    where |= {"missed_at": ["b"], "false_alarms_at": ["d"]}
    content = {
        "version": VERSION,
        "host": HOST,
        "preset": "tiny",
        "runs": [{"door": "host", "facts": {}, "variants": [{"compiler_version": "gcc 1.0"}]}],
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
        if cell.cell_type != "code" or "lab" in cell.metadata.get("tags", []):
            continue
        *before, last = ast.parse(cell.source).body
        if not isinstance(last, ast.Expr):
            exec(cell.source, names)
            continue
        exec(compile(ast.Module(before, []), "cell", "exec"), names)
        shown = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
        data = {"text/html": shown._repr_html_()}
        cell.outputs = [nbformat.v4.new_output("execute_result", data)]
    return cells
