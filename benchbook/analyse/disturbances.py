"""What disturbed a run, from its journal and probes."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any

import pandas as pd

from benchbook.measure.disturbance import run_delay_ns
from benchbook.records import journal

KEYS = ["point", "block", "invocation"]  # of a summary


def noise(run: Path, plan: dict[str, Any]) -> dict[str, Any]:
    """Starts of the program, blocks and pairs of cores of one run; times in ns, shares of 1.

    `start_ns` is the run's first moment on the raw monotonic clock, which all times here are on.
    """
    starts: dict[tuple[int, int], dict[str, Any]] = {}
    blocks: dict[int, dict[str, Any]] = {}
    scheduling: set[str | None] = set()
    for record in journal.read_lines(run / journal.JOURNAL):
        match record["kind"]:
            case "block":
                blocks[record["block"]] = _block(record)
            case "invocation":
                _add(starts, record)
                scheduling.add(record["conditions"].get("scheduling"))
            case "block_end" if record["block"] in blocks:
                reasons = list(record["disturbed"])
                state = "disturbed" if reasons else "ok"
                blocks[record["block"]] |= {"state": state, "reasons": reasons}
                blocks[record["block"]]["t_end_ns"] = record["t_end_ns"]
            case "abandoned" if record["block"] in blocks:
                # No gap where the program died and the measurer lived, or after a reboot.
                gap_ns = record["gap_ns"]
                gap = f"; a gap of {gap_ns / 1e9:.0f} s" if gap_ns is not None else ""
                blocks[record["block"]]["reasons"] = [record["reason"] + gap]
    probes = list(journal.read_lines(run / journal.PROBES))
    times = [start["t_start_ns"] for start in [*starts.values(), *blocks.values()]]
    times += [probe["t_start_ns"] for probe in probes if "t_start_ns" in probe]
    return {
        "start_ns": min((time for time in times if time), default=0),
        "thresholds": plan["settings"]["disturbed"],
        "starts": list(starts.values()),
        "blocks": list(blocks.values()),
        "scheduling": sorted(scheduling - {None}),
        "core_pairs": _pairs(probes),
        "probe_failures": sorted(
            {probe["reason"] for probe in probes if probe["kind"] == "probe_failed"}
        ),
    }


def caches_of(facts: dict[str, Any], cpus: list[int]) -> dict[str, int]:
    """Name -> bytes of the caches that the first CPU in use sees, by the host's facts."""
    caches = {}
    for cache in facts.get("caches") or []:
        seen = not cache["shared_cpus"] or cpus[0] in cache["shared_cpus"]
        if seen and cache["bytes"] and cache["kind"] != "instruction":
            caches[f"L{cache['level']}{'d' if cache['kind'] == 'data' else ''}"] = cache["bytes"]
    return caches


def _block(record: dict[str, Any]) -> dict[str, Any]:
    # A block that never ended was interrupted.
    common = {"block": record["block"], "state": "abandoned", "reasons": []}
    return {**common, "t_start_ns": record["t_block_ns"], "t_end_ns": None}


def _add(starts: dict[tuple[int, int], dict[str, Any]], record: dict[str, Any]) -> None:
    """One row per start of the program, summed over its points."""
    usage, conditions = record["usage"], record["conditions"]
    row = starts.setdefault(
        (record["block"], record["invocation"]),
        {
            "block": record["block"],
            "t_start_ns": record["t_invocation_ns"],
            "run_delay_ns": None,
            "timed_ns": None,
            "run_delay_fraction": None,
            "involuntary_switches": None,
            "migrations": None,
            "steal_fraction": conditions.get("steal_fraction"),
            "frequency_khz": conditions.get("frequency_khz"),
        },
    )
    values = {
        "run_delay_ns": _waited_ns(record),
        "timed_ns": usage.get("wall_ns"),
        "involuntary_switches": usage.get("involuntary_switches"),
        "migrations": usage.get("migrations"),
    }
    for name, value in values.items():
        if value is not None:
            row[name] = (row[name] or 0) + value
    if row["run_delay_ns"] is not None and row["timed_ns"]:
        row["run_delay_fraction"] = row["run_delay_ns"] / row["timed_ns"]


def _waited_ns(record: dict[str, Any]) -> float | None:
    """How long one point of a start waited for a CPU."""
    seen = record["observations"]
    count = max(seen.get("processes") or 1, seen.get("threads_used") or 1)
    return run_delay_ns(record["usage"], count, len(record["conditions"]["cpus"]))


def waits(run: Path, plan: dict[str, Any]) -> pd.DataFrame:
    """[point, block, invocation, waited_fraction]: the share of its time that each point of a start
    waited for a CPU; 0 within the limits that were set before the run, and where nothing tells."""
    limits = plan["settings"]["disturbed"]
    rows = []
    for record in journal.read_lines(run / journal.JOURNAL):
        if record["kind"] == "invocation":
            waited_ns, wall_ns = _waited_ns(record) or 0.0, record["usage"].get("wall_ns") or 0
            most_ns = max(limits["run_delay_least_ns"], limits["run_delay_fraction"] * wall_ns)
            share = min(waited_ns / wall_ns, 1.0) if wall_ns and waited_ns > most_ns else 0.0
            rows.append((record["point"], record["block"], record["invocation"], share))
    return pd.DataFrame(rows, columns=[*KEYS, "waited_fraction"])


def _pairs(probes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Round trips of a cache line between two CPUs: the median over the run, in ns."""
    seen: dict[tuple[int, int], list[float]] = {}
    for probe in probes:
        if probe["kind"] == "pair" and probe["round_trip_ns"]:
            seen.setdefault((probe["a"], probe["b"]), []).append(probe["round_trip_ns"])
    return [
        {"a": a, "b": b, "round_trip_ns": median(values), "readings": len(values)}
        for (a, b), values in sorted(seen.items())
    ]
