"""What the detectors see of a run: its tables without labels (`artefacts.Seen`)."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from benchbook.detect import Seen
from benchbook.records import journal

# Names of variants, functions and trials, and what is told elsewhere.
LABELS = ("experiment", "point", "variant", "function", "command", "measured", "device_name")
NAMED_AFTER_LABELS = ("library calls in ", "trial: ")
OF_SUMMARY = (
    "point",
    "block",
    "invocation",
    "t_start_ns",
    "t_end_ns",
    "samples",
    "median_ns",
    "mean_ns",
    "best_ns",
    "p10_ns",
    "p90_ns",
    "machine_state",
    "disturbed",
)
OF_POINT = (
    "bytes_per_call",
    "time_ns",
    "time_low_ns",
    "time_high_ns",
    "rate_bytes_per_s",
    "best_ns",
    "paper_ns",
    "samples",
    "blocks",
)
# Of a call that moves none: nothing is divided by them, and no buffer is read.
NO_BYTES = {"bytes_per_call": None, "moves_no_bytes": True}


@dataclass(frozen=True)
class RunTables:
    """What the analysis has made of one run, for the detectors to look at."""

    points: list[dict[str, Any]]  # as analysis.json carries them
    plan: dict[str, Any]
    evidence: list[dict[str, Any]] = field(default_factory=list)
    summaries: pd.DataFrame = field(default_factory=pd.DataFrame)
    starts: list[dict[str, Any]] = field(default_factory=list)  # as `starts_of_run` reads them
    readings: list[dict[str, Any]] = field(default_factory=list)
    ceilings: list[dict[str, Any]] = field(default_factory=list)


def seen_of(tables: RunTables) -> Seen:
    """The tables of one run; ids of points stay, because findings name them."""
    of_variants = by_variant(tables.evidence)
    rows = [_row(point, tables.plan, of_variants) for point in tables.points]
    good = [row for row, point in zip(rows, tables.points, strict=True) if point["state"] == "ok"]
    return Seen(
        points=pd.DataFrame([row for row in good if not row["again"]]).drop(
            columns="again", errors="ignore"
        ),
        twins=pd.DataFrame([row for row in good if row["again"]]),
        starts=_starts(tables.summaries, tables.starts),
        readings=pd.DataFrame(tables.readings),
        evidence=[row for row in map(_unlabelled, tables.evidence) if row],
        missing=[
            row | {name: point.get(name, "") for name in ("state", "reason")}
            for row, point in zip(rows, tables.points, strict=True)
            if point["state"] != "ok"
        ],
        host=host_of(tables.plan) | {"ceilings": tables.ceilings},
    )


def part_of(seen: Seen, where: Collection[str]) -> Seen:
    """The tables of a run with these points, and the trials of these ids, only."""

    def kept(table: pd.DataFrame) -> pd.DataFrame:
        return table[table["where"].isin(where)] if len(table) else table

    points = kept(seen.points)
    twins = seen.twins
    if len(twins):
        twins = twins[twins["twin"].isin(set(points["twin"]))] if len(points) else twins[:0]
    with_twins = {*where, *(twins["where"] if len(twins) else [])}
    starts = seen.starts
    return replace(
        seen,
        points=points,
        twins=twins,
        starts=starts[starts["where"].isin(with_twins)] if len(starts) else starts,
        evidence=[row for row in seen.evidence if not row["where"] or row["where"] in where],
        missing=[row for row in seen.missing if row["where"] in where],
    )


def host_of(plan: dict[str, Any]) -> dict[str, Any]:
    """What the machine says of itself, as far as the plan of a run has it."""
    facts, sizes = plan.get("host_facts") or {}, plan.get("sizes") or {}
    return {
        **(plan.get("caches") or {}),
        "total_llc_bytes": sizes.get("total LLC"),
        "memory_bytes": sizes.get("RAM"),
        "cores": facts.get("usable_cores"),
        "cpus": plan.get("cpus"),
        "numa_nodes": facts.get("numa_nodes"),
        "caches": facts.get("caches") or [],
        "disturbed_above": (plan.get("settings") or {}).get("disturbed"),
    }


def starts_of_run(run: Path) -> list[dict[str, Any]]:
    """One row for each start and point of a run: what the journal holds beside the samples."""
    starts = []
    for record in journal.read_lines(run / journal.JOURNAL):
        if record["kind"] != "invocation" or record["state"] != "ok":
            continue
        conditions = dict(record["conditions"])
        cpus = conditions.pop("cpus", None) or []
        starts.append(
            {
                **{name: record[name] for name in ("point", "block", "invocation")},
                "position": record["invocation"],
                "cpus_given": len(cpus),
                **record["usage"],
                **{name: value for name, value in conditions.items() if name != "seed"},
            }
        )
    return starts


def by_point(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Evidence rows -> point -> name -> value, for rows whose state is ok."""
    table: dict[str, dict[str, Any]] = {}
    for row in rows:
        if row["state"] == "ok" and row.get("point"):
            table.setdefault(row["point"], {})[row["name"]] = row["value"]
    return table


def by_variant(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Evidence rows about a variant's binary -> variant -> name -> value, state ok only."""
    table: dict[str, dict[str, Any]] = {}
    for row in rows:
        about_binary = row["state"] == "ok" and not row.get("point") and row.get("variant")
        if about_binary and not row["name"].startswith(NAMED_AFTER_LABELS):
            table.setdefault(row["variant"], {})[row["name"]] = row["value"]
    return table


def opaque(content: Any) -> str:
    """An id that is the same for the same content, and tells nothing else."""
    text = json.dumps(content, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _row(
    point: dict[str, Any], plan: dict[str, Any], of_variants: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    factors = point.get("factors", {})
    numbers = {name: value for name, value in factors.items() if isinstance(value, int | float)}
    others = {name: value for name, value in factors.items() if name != "bytes"}
    return {
        "where": point["point"],
        "series": opaque([point.get("variant"), others]),
        "setting": opaque(factors),
        "twin": opaque([point.get("variant"), factors]),
        "again": point.get("twin") or "",
        "environment": (plan.get("environments") or {}).get(point.get("variant"), {}),
        **numbers,
        **(point.get("inside") or {}),
        **{
            name: value
            for name, value in point.get("observations", {}).items()
            if name not in LABELS
        },
        **of_variants.get(point.get("variant", ""), {}),
        "working_set_bytes": plan["buffers"] * numbers.get("bytes", math.nan),
        **{name: point[name] for name in OF_POINT if name in point},
        **(NO_BYTES if point.get("bytes_per_call") == 0 else {}),
    }


def _starts(summaries: pd.DataFrame, starts: list[dict[str, Any]]) -> pd.DataFrame:
    """Summaries of complete blocks with what the journal tells of their starts."""
    keys = ["point", "block", "invocation"]
    if summaries.empty:
        return pd.DataFrame(columns=["where", *OF_SUMMARY[1:]])
    table = summaries[[name for name in OF_SUMMARY if name in summaries]]
    if starts:
        table = table.merge(pd.DataFrame(starts), on=keys, how="left")
    return table.rename(columns={"point": "where"})


def _unlabelled(evidence: dict[str, Any]) -> dict[str, Any] | None:
    """An evidence row that no column of a point carries; None for those that one does. Counts
    stay: a column does not say how they were counted."""
    point, name = evidence.get("point", ""), evidence["name"]
    in_column = evidence["state"] == "ok" and point and "multiplexed" not in evidence
    if in_column or name.startswith(NAMED_AFTER_LABELS[0]):
        return None
    row = {key: value for key, value in evidence.items() if key not in LABELS}
    row["where"] = point
    if evidence.get("variant"):
        row["binary"] = opaque(evidence["variant"])
    if name.startswith("trial: "):
        row |= {"name": "trial", "where": trial_id(name.removeprefix("trial: "))}
    return row


def trial_id(text: str) -> str:
    """What a finding calls a trial."""
    return f"trial {opaque(text)}"
