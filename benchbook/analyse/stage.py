"""One experiment's estimates, evidence by point, machine states and findings, from its tables."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from benchbook import stats
from benchbook.analyse import tables
from benchbook.analyse.cache_latency import chases
from benchbook.analyse.ceilings import ceilings
from benchbook.analyse.disturbances import KEYS, caches_of, noise, waits
from benchbook.analyse.peer_agreement import agreement
from benchbook.analyse.sample_quality import steadiness
from benchbook.analyse.tables import calls_in_parts, invocation_spans
from benchbook.core.files import naming, read_json, write_json
from benchbook.define import catalogue
from benchbook.detect import judge, scenes
from benchbook.detect.inputs.run_table import RunTables, by_point, part_of, seen_of, starts_of_run
from benchbook.records import journal, seal
from benchbook.records.pointer import run_folder

VERSION = 1
POINTWISE = 0.95
SPREAD = ("p10_ns", "p90_ns", "p99_ns", "mean_ns")  # of each start; pages show their medians
# What analysis.json has of the pointer, of the run's manifest and of its plan.
OF_POINTER = ("experiment", "preset", "host", "run", "folder")
OF_MANIFEST = (
    *("blocks", "stopped_by", "disturbed", "abandoned"),
    *("measuring_s", "probing_s", "claims"),
)
OF_PLAN = ("cpus", "door")
SKIPPED = ("variant", "twin", "factors", "state", "reason")  # what is known of a skipped point


@dataclass(frozen=True)
class Measured:
    """What the other stages left of one run; `content` is that of its pointer."""

    content: dict[str, Any]
    folder: Path
    plan: dict[str, Any]
    manifest: dict[str, Any]
    definition: dict[str, Any]
    evidence: dict[str, Any]


def analyse(pointer: Path, samples: Path, evidence: Path, output: Path) -> None:
    """Write analysis.json (points, states, findings) and summaries.parquet next to it."""
    run = read_measured(pointer, evidence)
    states, readings = machine_states(run.folder)
    summaries, inside = with_states(samples, run.plan["paper_samples"], states)
    summaries = summaries.merge(waits(run.folder, run.plan), on=KEYS, how="left")
    points = [*measured_points(run, summaries, inside), *skipped_points(run.plan)]
    bounds = ceilings(points, run.definition.get("ceilings", {}), run.plan["sizes"]["total LLC"])
    items, starts = run.evidence["items"], starts_of_run(run.folder)
    judged = findings_of(
        RunTables(points, run.plan, items, summaries, starts, readings, bounds),
        scenes.groups(Path(), run.content["experiment"], run.plan),
    )
    built = variants(run.content)
    table = output.with_name("summaries.parquet")
    with naming(table):
        summaries.to_parquet(table)
    write_json(
        output,
        {
            "version": VERSION,
            **about_run(run),
            "variants": built,
            "environments": run.plan.get("environments") or {},
            "machine_states": sorted(set(states["state"].tolist())) if len(states) else [],
            "readings": readings,
            **about_machine(run),
            "points": points,
            "ceilings": bounds,
            "chases": chases(points, summaries),
            "agreement": agreement(run.plan["peers"], points, summaries, built),
            **judged._asdict(),
            "capabilities": run.evidence.get("capabilities", []),
        },
    )


def read_measured(pointer: Path, evidence: Path) -> Measured:
    """The run that a pointer names, with its experiment's definition and its evidence.json."""
    content, folder = run_folder(pointer)
    return Measured(
        content,
        folder,
        plan=read_json(folder / journal.PLAN),
        manifest=read_json(folder / journal.MANIFEST),
        definition=catalogue.definition(Path(), content["experiment"]),
        evidence=read_json(evidence),
    )


def about_run(run: Measured) -> dict[str, Any]:
    """Which run it is, how it was stopped, and where it ran."""
    return {
        **{key: run.content[key] for key in OF_POINTER},
        **{key: run.manifest[key] for key in OF_MANIFEST},
        **{key: run.plan[key] for key in OF_PLAN},
        "harness": harness(run.plan),
        "sealed": seal.FILES in run.manifest,
        "parts": run.plan.get("parts", []),
        "left_out": run.content.get("left_out", []),
    }


def harness(plan: dict[str, Any]) -> int | None:
    """The version of the harness that checked and timed a run; None where the run is older than the
    note of it."""
    return (plan.get("benchbook") or {}).get("harness")


def about_machine(run: Measured) -> dict[str, Any]:
    """Facts, sizes and caches of the machine, and what disturbed the run."""
    return {
        "facts": run.plan["host_facts"],
        "sizes": run.plan["sizes"],
        "caches": caches_of(run.plan["host_facts"], run.plan["cpus"]),
        "page_bytes": (run.plan.get("caches") or {}).get("page_bytes"),
        "disturbance": noise(run.folder, run.plan),
    }


def measured_points(
    run: Measured, summaries: pd.DataFrame, inside: dict[str, Any]
) -> list[dict[str, Any]]:
    """`describe` for each planned point, with the steadiness of its samples (`inside`)."""
    observations, failed = by_point(run.evidence["items"]), failures(run.folder)
    statistic = run.definition.get("paper_statistic", "mean")
    emulation = (run.plan.get("emulation") or {}).get("says", "")
    peers = {row["peer"] for row in run.plan["peers"]}
    return [
        {
            **describe(
                point, summaries, observations.get(point["id"], {}), failed, statistic, emulation
            ),
            "inside": inside.get(point["id"]),
            "peer": point["variant"] in peers,
        }
        for point in run.plan["points"]
    ]


def skipped_points(plan: dict[str, Any]) -> list[dict[str, Any]]:
    """What is known of points that were left out, with their state and reason."""
    return [
        {"point": skip["id"], **{key: skip[key] for key in SKIPPED if key in skip}}
        for skip in plan["skipped"]
    ]


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
    its span of time, whether its block was disturbed and whether it only emulates; and each point's
    steadiness."""
    parts: list[pd.DataFrame] = []
    inside: dict[str, Any] = {}
    for calls in calls_in_parts(samples):
        part = stats.invocation_summaries(calls, paper_samples)
        parts.append(part.sort_values("point", kind="stable"))
        inside |= {str(point): steadiness(own) for point, own in calls.groupby("point")}
    spans = invocation_spans(samples)
    if not parts:
        return spans, inside
    table = pd.concat(parts, ignore_index=True)
    return table.merge(spans, on=["point", "block", "invocation"]), inside


def variants(content: dict[str, Any]) -> list[dict[str, Any]]:
    """Compiler, flags, state and binary of each variant of the run."""
    rows = []
    for name, folder in content["variants"].items():
        record = read_json(Path(folder) / "variant.json")
        keep = ("compiler", "compiler_version", "flags", "wrapper", "state", "reason", "isa")
        rows.append(
            {
                "variant": name,
                **{key: record.get(key) for key in keep},
                "peer": record.get("peer"),
                "sha256": record.get("binary", {}).get("sha256"),
                "timed_functions": record.get("timed_functions", {}),
            }
        )
    return rows


def machine_states(run: Path) -> tuple[pd.DataFrame, list[dict[str, Any]]]:
    """States from anchor and probe alone, and the readings with them (t_ns, name, value, state).

    Values in ns. No probe at all: both empty, and every invocation's state is unknown ("mixed").
    """
    rows = []
    for record in journal.read_lines(run / journal.PROBES):
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
    state = [None if pd.isna(label) else int(label) for label in marked["state"]]
    return states, readings.assign(state=pd.Series(state, dtype=object)).to_dict("records")


def failures(run: Path) -> dict[str, dict[str, str]]:
    """Why points have no samples: from the pilot, or from their last failed invocation."""
    reasons: dict[str, dict[str, str]] = {}
    for record in journal.read_lines(run / journal.JOURNAL):
        if record["kind"] == "pilot":
            reasons |= record["failed"]
        elif record["kind"] == "invocation" and record["state"] not in ("ok", "not_reached"):
            reasons[record["point"]] = {"state": record["state"], "reason": record["reason"]}
    return reasons


def why_not_measured(point: str, failed: dict[str, dict[str, str]]) -> dict[str, str]:
    """State and reason of a point without samples, as `failures` has it."""
    return failed.get(point, {"state": "failed", "reason": "no complete block"})


def describe(
    point: dict[str, Any],
    summaries: pd.DataFrame,
    observations: dict[str, Any],
    failed: dict[str, dict[str, str]],
    statistic: str,
    emulation: str = "",
) -> dict[str, Any]:
    """One point: its time per call with a pointwise 95 % interval over blocks, and its rate.

    Times in ns, rates in bytes per second; `emulates` says what a point only stands for. A point
    that failed has a state and a reason instead.
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
        return {**base, **why_not_measured(point["id"], failed)}
    estimate = center(own["median_ns"])
    bytes_per_call = float(own["bytes_declared"].iloc[0])
    undisturbed = own[~own["disturbed"]]

    def part(rows: pd.DataFrame) -> dict[str, Any]:
        """The estimate over some of the blocks; the primary one is over all."""
        of_part = estimate if len(rows) == len(own) else center(rows["median_ns"])
        return {**of_part, **rates(bytes_per_call, of_part), "blocks": len(rows)}

    return {
        **base,
        "state": "ok",
        "reason": failed.get(point["id"], {}).get("reason", ""),
        "blocks": len(own),
        "samples": int(own["samples"].sum()),
        "emulates": emulation if own.get("simulated", pd.Series(dtype=bool)).any() else "",
        "bytes_per_call": bytes_per_call,
        **estimate,
        **rates(bytes_per_call, estimate),
        "best_ns": float(own["best_ns"].min()),
        "spread_ns": {name: float(own[name].median()) for name in SPREAD if name in own},
        "paper_statistic": statistic,
        # Of fewer samples than the paper has, whose number stands next to it.
        "paper_ns": finite(
            float(own[f"paper_{statistic}_ns"].fillna(own[f"{statistic}_ns"]).median())
        ),
        "paper_samples": int(own["paper_samples"].min()),
        "undisturbed": part(undisturbed) if len(undisturbed) else None,
        "by_machine_state": {
            str(state): part(rows) for state, rows in own.groupby("machine_state")
        },
    }


def center(times_ns: pd.Series) -> dict[str, float | None]:
    """The median of the times of all blocks, with its exact pointwise 95 % interval, in ns.

    Where they fall into two groups the median is near one of them, and not in the gap. Error: it
    needs independent blocks of one unchanging machine; a machine that drifts or changes its state
    has no single figure, so it is shown per state too. Points are compared by `ratio_intervals`,
    never by overlap. None where the clock showed no time at all in some block: nothing has that for
    its logarithm.
    """
    if not (times_ns > 0).all():
        return dict.fromkeys(("time_ns", "time_low_ns", "time_high_ns"))
    interval = stats.median_interval(times_ns, POINTWISE)
    return {
        "time_ns": interval.estimate,
        "time_low_ns": interval.low if interval.low > 0 else None,
        "time_high_ns": finite(interval.high),
    }


def rates(bytes_per_call: float, time: dict[str, float | None]) -> dict[str, float | None]:
    """Declared bytes ÷ time; the interval's ends change places. None where no bytes are declared:
    a call that moves none has no rate of 0."""

    def of(ns: float | None) -> float | None:
        return tables.rate(bytes_per_call, ns) if ns and bytes_per_call else None

    return {
        "rate_bytes_per_s": of(time["time_ns"]),
        "rate_low_bytes_per_s": of(time["time_high_ns"]),
        "rate_high_bytes_per_s": of(time["time_low_ns"]),
    }


def finite(value: float) -> float | None:
    """The value, or None where it is infinite: JSON has no infinity."""
    return value if math.isfinite(value) else None


class Judgements(NamedTuple):
    """What the detectors made of a run, each by its artefact: findings; who abstained, where and
    why; what each judged and found clean."""

    findings: list[dict[str, Any]]
    abstained: dict[str, dict[str, str]]
    clean: dict[str, list[str]]


def findings_of(run_tables: RunTables, groups: list[set[str]] | None = None) -> Judgements:
    """What all detectors say of a run, or of each of its groups by itself. A finding of a group has
    its number as `scene`."""
    seen, judgements = seen_of(run_tables), Judgements([], {}, {})
    for number, group in enumerate(groups or [None]):
        scene = {} if group is None else {"scene": number}
        part = seen if group is None else part_of(seen, group)
        for artefact, judged in judge(part).items():
            judgements.findings.extend(finding.record("") | scene for finding in judged.findings)
            judgements.abstained.setdefault(artefact, {}).update(judged.abstained)
            judgements.clean.setdefault(artefact, []).extend(judged.clean)
    return judgements
