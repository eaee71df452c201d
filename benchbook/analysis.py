"""One experiment's estimates, evidence by point, machine states and findings, from its tables."""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from typing import Any

import pandas as pd

from benchbook import definitions, records, stats, tables
from benchbook.agreement import agreement
from benchbook.artefacts import detectors
from benchbook.ceilings import ceilings
from benchbook.files import read_json, write_json
from benchbook.noise import caches_of, noise
from benchbook.steadiness import steadiness
from benchbook.tables import calls_by_point, invocation_spans, run_folder

VERSION = 1
POINTWISE = 0.95
SKIPPED = ("variant", "twin", "factors", "state", "reason")  # what is known of a skipped point


def analyse(pointer: Path, samples: Path, evidence: Path, output: Path) -> None:
    """Write analysis.json (points, states, findings) and summaries.parquet beside it."""
    content, run = run_folder(pointer)
    plan = read_json(run / records.PLAN)
    manifest = read_json(run / records.MANIFEST)
    defined = definitions.definition(Path(), content["experiment"])
    states, readings = machine_states(run)
    summaries, inside = with_states(samples, plan["paper_samples"], states)
    summaries.to_parquet(output.with_name("summaries.parquet"))
    theirs = {row["peer"] for row in plan["peers"]}
    seen = read_json(evidence)
    items = seen["items"]
    observations = by_point(items)
    points = [
        describe(
            point,
            summaries,
            observations.get(point["id"], {}),
            failures(run),
            defined.get("paper_statistic", "mean"),
        )
        | {"inside": inside.get(point["id"]), "peer": point["variant"] in theirs}
        for point in plan["points"]
    ]
    points += [
        {"point": skip["id"], **{key: skip[key] for key in SKIPPED if key in skip}}
        for skip in plan["skipped"]
    ]
    of_variants = by_variant(items)
    found, abstained = detect(points, plan["buffers"], plan["caches"], of_variants)
    built = variants(content)
    write_json(
        output,
        {
            "version": VERSION,
            "experiment": content["experiment"],
            "preset": content["preset"],
            "host": content["host"],
            "run": content["run"],
            "folder": content["folder"],
            "blocks": manifest["blocks"],
            "stopped_by": manifest["stopped_by"],
            "disturbed": manifest["disturbed"],
            "abandoned": manifest["abandoned"],
            "measuring_s": manifest["measuring_s"],
            "probing_s": manifest["probing_s"],
            "claims": manifest["claims"],
            "cpus": plan["cpus"],
            "door": plan["door"],
            "variants": built,
            "machine_states": sorted(set(states["state"].tolist())) if len(states) else [],
            "readings": readings,
            "facts": plan["host_facts"],
            "sizes": plan["sizes"],
            "caches": caches_of(plan["host_facts"], plan["cpus"]),
            "disturbance": noise(run, plan),
            "points": points,
            "ceilings": ceilings(points, defined.get("ceilings", {}), plan["sizes"]["total LLC"]),
            "agreement": agreement(plan["peers"], points, summaries, built),
            "findings": found,
            "abstained": abstained,
            "capabilities": seen.get("capabilities", []),
        },
    )


def with_states(
    samples: Path, paper_samples: int, states: pd.DataFrame
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """`summarise` with a column machine_state."""
    summaries, inside = summarise(samples, paper_samples)
    if not summaries.empty:
        summaries["machine_state"] = stats.state_of(
            summaries[["t_start_ns", "t_end_ns"]], states
        ).to_numpy()
    return summaries, inside


def summarise(samples: Path, paper_samples: int) -> tuple[pd.DataFrame, dict[str, Any]]:
    """One row per invocation and point: stats.invocation_summaries per call of the method, with
    its span of time and whether its block was disturbed; and each point's steadiness."""
    parts, inside = [], {}
    for calls in calls_by_point(samples):
        if not calls.empty:
            parts.append(stats.invocation_summaries(calls, paper_samples))
            inside[calls["point"].iloc[0]] = steadiness(calls)
    spans = invocation_spans(samples)
    if not parts:
        return spans, inside
    table = pd.concat(parts, ignore_index=True)
    return table.merge(spans, on=["point", "block", "invocation"]), inside


def variants(content: dict[str, Any]) -> list[dict[str, Any]]:
    """Compiler, flags, state and binary of each variant of the run."""
    found = []
    for name, folder in content["variants"].items():
        record = read_json(Path(folder) / "variant.json")
        keep = ("compiler", "compiler_version", "flags", "wrapper", "state", "reason", "isa")
        found.append(
            {
                "variant": name,
                **{key: record.get(key) for key in keep},
                "peer": record.get("peer"),
                "sha256": record.get("binary", {}).get("sha256"),
                "timed_functions": record.get("timed_functions", {}),
            }
        )
    return found


def machine_states(run: Path) -> tuple[pd.DataFrame, list[dict[str, Any]]]:
    """States from anchor and probe alone, and the readings with them (t_ns, name, value, state).

    Values in ns. No probe at all: both empty, and every invocation's state is unknown ("mixed").
    """
    rows = []
    for record in records.read_lines(run / records.PROBES):
        match record["kind"]:
            case "anchor":
                name, value = "anchor", record["median_ns"]
            case "work":
                name, value = f"work {record['cpu']}", record["ns_per_iteration"]
            case "pair" if not record["full"]:
                name, value = f"pair {record['a']}-{record['b']}", record["round_trip_ns"]
            case _:
                continue
        if value:
            rows.append({"t_ns": record["t_start_ns"], "name": name, "value": float(value)})
    if not rows:
        return pd.DataFrame(columns=["t_ns", "name", "value", "state"]), []
    readings = pd.DataFrame(rows)
    states = stats.assign_states(readings)
    # Only one kind of reading decides; the others have no state of their own.
    marked = readings.merge(states, on=["t_ns", "name", "value"], how="left")
    state = [None if pd.isna(one) else int(one) for one in marked["state"]]
    return states, readings.assign(state=pd.Series(state, dtype=object)).to_dict("records")


def failures(run: Path) -> dict[str, dict[str, str]]:
    """Why points have no samples: from the pilot, or from their last failed invocation."""
    found: dict[str, dict[str, str]] = {}
    for record in records.read_lines(run / records.JOURNAL):
        if record["kind"] == "pilot":
            found |= record["failed"]
        elif record["kind"] == "invocation" and record["state"] not in ("ok", "not_reached"):
            found[record["point"]] = {"state": record["state"], "reason": record["reason"]}
    return found


def by_point(items: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Evidence rows -> point -> name -> value, for rows whose state is ok."""
    table: dict[str, dict[str, Any]] = {}
    for item in items:
        if item["state"] == "ok" and item["point"]:
            table.setdefault(item["point"], {})[item["name"]] = item["value"]
    return table


def by_variant(items: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The same of rows about a variant's binary: variant -> name -> value."""
    table: dict[str, dict[str, Any]] = {}
    for item in items:
        if item["state"] == "ok" and not item["point"] and item.get("variant"):
            table.setdefault(item["variant"], {})[item["name"]] = item["value"]
    return table


def describe(
    point: dict[str, Any],
    summaries: pd.DataFrame,
    observations: dict[str, Any],
    failed: dict[str, dict[str, str]],
    statistic: str,
) -> dict[str, Any]:
    """One point: its time per call with a pointwise 95 % interval over blocks, and its rate.

    Times in ns, rates in bytes per second. A point that failed has a state and a reason instead.
    """
    base = {
        "point": point["id"],
        "variant": point["variant"],
        "twin": point["twin"],
        "factors": point["factors"],
        "observations": observations,
    }
    own = summaries[summaries["point"] == point["id"]]
    if own.empty:
        why = failed.get(point["id"], {"state": "failed", "reason": "no complete block"})
        return {**base, **why}
    estimate = center(own["median_ns"])
    bytes_per_call = float(own["bytes_declared"].iloc[0])
    undisturbed = own[~own["disturbed"]]
    parts = {str(state): part for state, part in own.groupby("machine_state")}
    return {
        **base,
        "state": "ok",
        "reason": failed.get(point["id"], {}).get("reason", ""),
        "blocks": len(own),
        "samples": int(own["samples"].sum()),
        "bytes_per_call": bytes_per_call,
        **estimate,
        **rates(bytes_per_call, estimate),
        "best_ns": float(own["best_ns"].min()),
        "paper_statistic": statistic,
        "paper_ns": finite(float(own[f"paper_{statistic}_ns"].median())),
        "paper_samples": int(own["paper_samples"].min()),
        "undisturbed": _part(undisturbed, bytes_per_call) if len(undisturbed) else None,
        "by_machine_state": {state: _part(part, bytes_per_call) for state, part in parts.items()},
    }


def _part(own: pd.DataFrame, bytes_per_call: float) -> dict[str, Any]:
    """The estimate over some of the blocks, beside the primary one over all."""
    estimate = center(own["median_ns"])
    return {**estimate, **rates(bytes_per_call, estimate), "blocks": len(own)}


def center(times_ns: pd.Series) -> dict[str, float | None]:
    """Hodges-Lehmann centre of log times over blocks, with its pointwise 95 % interval, in ns."""
    table = pd.DataFrame({"block": range(len(times_ns)), "point": "", "value": list(times_ns)})
    row = stats.point_intervals(table, POINTWISE).iloc[0]
    low, high = float(row["low"]), float(row["high"])
    return {
        "time_ns": float(row["value"]),
        "time_low_ns": low if low > 0 else None,
        "time_high_ns": finite(high),
    }


def rates(bytes_per_call: float, time: dict[str, float | None]) -> dict[str, float | None]:
    """Declared bytes ÷ time; the interval's ends change places."""

    def of(ns: float | None) -> float | None:
        return tables.rate(bytes_per_call, ns) if ns else None

    return {
        "rate_bytes_per_s": of(time["time_ns"]),
        "rate_low_bytes_per_s": of(time["time_high_ns"]),
        "rate_high_bytes_per_s": of(time["time_low_ns"]),
    }


def finite(value: float) -> float | None:
    """The value, or None where it is infinite: JSON has no infinity."""
    return value if math.isfinite(value) else None


def detect(
    points: list[dict[str, Any]],
    buffers: int,
    host: dict[str, Any],
    of_variants: dict[str, dict[str, Any]] | None = None,
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """All detectors over rows without labels; findings, and who abstained where and why."""
    rows = pd.DataFrame(
        [
            {
                "where": point["point"],
                "series": series(point),
                "setting": opaque(point["factors"]),
                **{
                    name: value
                    for name, value in point["factors"].items()
                    if isinstance(value, int | float)
                },
                **point["observations"],
                **(of_variants or {}).get(point["variant"], {}),
                "working_set_bytes": buffers * point["factors"].get("bytes", math.nan),
                "bytes_per_call": point["bytes_per_call"],
                "time_ns": point["time_ns"],
            }
            for point in points
            if point["state"] == "ok" and not point["twin"]
        ]
    )
    found: list[dict[str, Any]] = []
    abstained: dict[str, Any] = {}
    for detector in detectors() if len(rows) else []:
        judged = detector.detect(rows, host)
        found += [finding.record("") for finding in judged.findings]
        abstained[detector.ARTEFACT] = judged.abstained
    return found, abstained


def series(point: dict[str, Any]) -> str:
    """The same for points that differ in their size only; tells nothing else."""
    rest = {name: value for name, value in point["factors"].items() if name != "bytes"}
    return opaque([point["variant"], rest])


def opaque(content: Any) -> str:
    """An id that is the same for the same content, and tells nothing else."""
    text = json.dumps(content, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]
