"""disturbed: something else ran on the machine while this was measured.

Decided by what the operating system accounts of each start: how long it waited for its CPU, and
what the hypervisor took, against the thresholds that were set before the run. Where the probe
between starts saw a core at less than its best, that tells that the machine was slower, with less
certainty and not why.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from statistics import median
from typing import Any

import numpy as np
import pandas as pd

from benchbook.core.number_format import share
from benchbook.define.points import COUNTS
from benchbook.detect import Judged, Row, Seen, artefact, is_known
from benchbook.detect.inputs.timed_work import number_of
from benchbook.findings import Finding

LEAST_SHARE, LEAST_STARTS = 0.25, 2  # of the starts: fewer do not reach a median
READINGS = 6
BEST = 0.1  # quantile of the readings that counts as a core at its best
VISIBLE = 1.02
ARTEFACT = artefact("disturbed")


@dataclass(frozen=True)
class Bounds:
    """Above these a start counts as disturbed; named as in the settings of the run."""

    run_delay_fraction: float
    run_delay_least_ns: float
    steal_fraction: float
    work_factor: float


@dataclass(frozen=True)
class Start:
    """One start of one point: shares of its time, None where nothing tells."""

    time_ns: float
    wall_ns: float
    waited_ns: float | None
    stolen: float | None
    slower: float | None
    switches: float
    above: Bounds
    among: bool = False  # its own workers moved among CPUs, and may have waited for each other

    @property
    def lost(self) -> bool:
        """Whether the operating system says that the CPU was not its own."""
        waited = self.waited_ns or 0.0
        most = max(self.above.run_delay_least_ns, self.above.run_delay_fraction * self.wall_ns)
        return waited > most or self.robbed

    @property
    def robbed(self) -> bool:
        """Whether the hypervisor took it."""
        return (self.stolen or 0.0) > self.above.steal_fraction

    @property
    def slowed(self) -> bool:
        """Whether the probe saw its cores slower."""
        return (self.slower or 0.0) > self.above.work_factor

    @property
    def disturbed(self) -> bool:
        """Whether a point was lost or slowed."""
        return self.lost or self.slowed


def detect(seen: Seen) -> Judged:
    """One finding for the points disturbed in half of their starts or more, as far as undisturbed
    ones do not show that the median bore it, and one for those in a quarter; abstains where no
    waiting was accounted, or where the run has no thresholds."""
    judged = Judged()
    above = _bounds(seen.host)
    by_effect: dict[str, list[tuple[str, list[Start]]]] = {"biases": [], "informs": []}
    observed = []
    probes = _probes(seen.readings)
    for row in seen.rows():
        if above is None:
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("no-thresholds")
            continue
        starts = _starts(row, seen, probes, above)
        accounted = [start for start in starts if start.waited_ns is not None]
        bad = [start for start in starts if start.disturbed]
        observed += [row["where"]] if accounted else []
        if len(bad) >= max(min(LEAST_STARTS, len(starts)), LEAST_SHARE * len(starts), 1):
            factor = _factor(starts)
            shows = factor is None or factor < 1 / VISIBLE
            effect = "biases" if shows and len(bad) >= len(starts) / 2 else "informs"
            by_effect[effect].append((row["where"], starts))
        elif not starts:
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("no-starts")
        elif not accounted and not _crowded(row, seen):
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("not-observed")
    for effect, points in by_effect.items():
        if points:
            judged.findings.append(_finding(effect, points))
    return judged.rest_is_clean(observed)


def _bounds(host: Row) -> Bounds | None:
    thresholds = host.get("disturbed_above") or {}
    names = [field.name for field in fields(Bounds)]
    if any(not is_known(thresholds.get(name)) for name in names):
        return None
    return Bounds(**{name: float(thresholds[name]) for name in names})


def _workers(row: Row) -> int:
    return max([1, *(int(row[name]) for name in COUNTS if is_known(row.get(name)))])


def _crowded(row: Row, seen: Seen) -> bool:
    """More workers than CPUs: that they wait for their turn is what is measured."""
    starts = seen.starts_of(row["where"])
    cpus_given = starts["cpus_given"].dropna() if "cpus_given" in starts else []
    return len(cpus_given) > 0 and _workers(row) > min(cpus_given)


def _starts(row: Row, seen: Seen, probes: dict[str, tuple[Any, Any]], above: Bounds) -> list[Start]:
    crowded, workers = _crowded(row, seen), _workers(row)
    return [
        Start(
            time_ns=number_of(start, "median_ns") or 0.0,
            wall_ns=number_of(start, "wall_ns") or 0.0,
            waited_ns=None if crowded else _waited(start, workers),
            stolen=number_of(start, "steal_fraction"),
            slower=_slower(start, probes, workers),
            switches=number_of(start, "involuntary_switches") or 0.0,
            above=above,
            among=workers > 1 and (number_of(start, "migrations") or 0.0) > 0,
        )
        for start in seen.start_rows_of(row["where"])
    ]


def _waited(start: Row, workers: int) -> float | None:
    """As the kernel accounts it; else, of one worker that never slept, the time off its CPU."""
    delay, wall = number_of(start, "run_delay_ns"), number_of(start, "wall_ns")
    if wall is None:
        return None
    if delay is not None:
        return delay / workers
    on_cpu = number_of(start, "on_cpu_ns")
    if workers > 1 or on_cpu is None or number_of(start, "voluntary_switches") != 0:
        return None
    return max(0.0, wall - on_cpu)


def _probes(readings: pd.DataFrame) -> dict[str, tuple[Any, Any]]:
    """Each core's fixed work over time, as a factor of its best, where it was read often."""
    if readings.empty:
        return {}
    work = readings[readings["name"].str.startswith("work ")].sort_values("t_ns")
    return {
        str(name): (
            own["t_ns"].to_numpy(),
            (own["value"] / own["value"].quantile(BEST)).to_numpy(),
        )
        for name, own in work.groupby("name")
        if len(own) >= READINGS
    }


def _slower(start: Row, probes: dict[str, tuple[Any, Any]], workers: int) -> float | None:
    """How much slower the worst core under its workers was at least, in the readings on both sides
    of the start; None where it could not use all cores, because which ones is not known."""
    cpus_given = number_of(start, "cpus_given")
    if cpus_given is None or cpus_given < len(probes):
        return None
    begin, end = number_of(start, "t_start_ns"), number_of(start, "t_end_ns")
    if begin is None or end is None:
        return None
    slowdowns = []
    for own in probes.values():
        times, factors = own
        before = int(np.searchsorted(times, begin, side="right")) - 1
        after = int(np.searchsorted(times, end, side="left"))
        if before >= 0 and after < len(times):
            slowdowns.append(float(min(factors[before], factors[after])))
    if not slowdowns or len(slowdowns) < len(probes):
        return None
    # Wherever they ran, one of them was on a core as slow as this.
    return sorted(slowdowns)[min(workers, len(slowdowns)) - 1]


def _finding(effect: Any, points: list[tuple[str, list[Start]]]) -> Finding:
    starts = [start for _, own in points for start in own]
    bad = [start for start in starts if start.disturbed]
    factors = {where: factor for where, own in points if (factor := _factor(own)) is not None}
    factor = median(factors.values()) if factors else None
    by_probe = not any(start.lost for start in bad)
    among = any(start.among for start in bad if start.lost) and not any(
        start.robbed for start in bad
    )
    values = _values(bad, by_probe)
    words = {
        **values,
        "starts": len(starts),
        "bad": len(bad),
        "causes": " and ".join(_causes(values, bad[0].above)),
        "by_probe": by_probe,
        "among": among and not by_probe,
        "alone": not among and not by_probe,
        "shows": factor is not None and factor < 1 / VISIBLE,
        "hides": factor is not None and factor >= 1 / VISIBLE,
    }
    kind = "by-probe" if by_probe else "own-turns" if among else "accounted"
    where = [where for where, _ in points]
    return ARTEFACT.finding(where, words, kind, effect=effect, factor=factor, factors=factors)


def _factor(starts: list[Start]) -> float | None:
    """Seen rate, of all starts, ÷ that of the undisturbed ones of the same point."""
    alone = [start.time_ns for start in starts if not start.disturbed and start.time_ns > 0]
    every = [start.time_ns for start in starts if start.time_ns > 0]
    return median(alone) / median(every) if alone else None


def _values(bad: list[Start], by_probe: bool) -> dict[str, float | None]:
    """What is known of the disturbed starts together."""
    waited = [start for start in bad if start.waited_ns is not None]
    wall_ns = sum(start.wall_ns for start in waited)
    waited_ns = sum(start.waited_ns or 0.0 for start in waited)
    stolen = [start.stolen for start in bad if start.stolen is not None]
    slower = [start.slower for start in bad if start.slower is not None]
    is_slowed = by_probe or any(start.slowed for start in bad)
    return {
        "waited": waited_ns / wall_ns if wall_ns > 0 else None,
        "stolen": float(np.mean(stolen)) if stolen else None,
        "slower": float(median(slower)) if slower and is_slowed else None,
        "switches": sum(start.switches for start in bad),
    }


def _causes(values: dict[str, float | None], above: Bounds) -> Iterator[str]:
    waited, stolen, slower = (values[name] or 0.0 for name in ("waited", "stolen", "slower"))
    if waited > above.run_delay_fraction / 5:
        yield f"the program waited for a CPU for {share(waited)} of its time"
    if stolen > above.steal_fraction / 5:
        yield f"the hypervisor took {share(stolen)} of the CPUs’ time"
    if slower:
        yield f"a core did a fixed piece of work {slower:.2f} times slower than at its best"
