"""Detectors, one file each, found by wildcard; ids are those of the catalogue of artefacts.

A detector module has ARTEFACT (its entry of the catalogue, read from the TOML file beside it) and
`detect(seen) -> Judged`. It reads physical columns and observations, never the names of variants,
methods, forms or experiments: ids are opaque.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from benchbook.core import plugins
from benchbook.findings import Artefact, Finding, artefact_in

if TYPE_CHECKING:
    import pandas as pd
    from typing_extensions import TypeIs

DETECTORS = "benchbook.detect.detectors"
CATALOGUE = Path(__file__).parent / "detectors"

Row = dict[str, Any]
T = TypeVar("T")


def _empty() -> pd.DataFrame:
    # What only explains a log has findings and no tables: pandas alone takes longer than it may.
    import pandas as pd

    return pd.DataFrame()


@dataclass(frozen=True)
class Seen:
    """What a detector may look at: the tables of one run, without labels. Times in ns.

    points: one row per point that was measured. `where`, `series` and `setting` are opaque ids (the
    point; the points that differ in size only; those that differ in their binary or environment
    only). Physical columns: the numeric factors (bytes, block_bytes, threads, processes, ...),
    working_set_bytes, bytes_per_call, time_ns with time_low_ns and time_high_ns (per call, over
    invocations), rate_bytes_per_s, best_ns, paper_ns, samples, blocks. Observations: every evidence
    row of the point or of its binary whose state is ok, under its name; `environment` (variables
    that were set for it); `twin`: an opaque id that a point shares with its rows in `twins`.
    What steadiness.py tells of its samples is there under its names too.

    twins: the same columns for points that were measured once more: `again` is "again" (the same
    binary) or "relinked" (the same code at other addresses). `starts` has theirs too.

    starts: one row per point and invocation of complete blocks: where, block, invocation, position
    (of the invocation in its block), t_start_ns, t_end_ns, samples, median_ns, mean_ns, best_ns,
    p10_ns, p90_ns (per call), machine_state ("1", "2", ..., "mixed"), disturbed, and whatever the
    harness recorded of it (minor_faults, run_delay_ns, on_cpu_ns, wall_ns, migrations,
    involuntary_switches, voluntary_switches, resident_bytes, anonymous_bytes, anon_huge_bytes,
    cpus_given, environment_padding_bytes, source_address_mod_4096, destination_address_mod_4096,
    steal_fraction, frequency_khz, clock_resolution_ns, clock_cost_ns).

    readings: of anchor and probe: t_ns, name ("anchor", "work 0", "pair 0-1"), value, state.
    evidence: all rows of evidence.json that are not `ok` values of a point (absent and denied ones,
    counters with their state, limits, trials), with `where` for the point; a trial has a `where` of
    its own, and `binary` is an opaque id.
    missing: points without numbers: where, state, reason, and the physical columns that are known.
    host: what the machine says of itself; None is unknown. llc_sysfs_bytes, llc_sysconf_bytes,
    smaller_caches_bytes, caches (level, kind, bytes, ways, line_bytes, shared_cpus),
    page_bytes, total_llc_bytes, cpus (given to the run), cores, numa_nodes, memory_bytes, ceilings
    (as analysis.json has them), disturbed_above (the run's thresholds, under their names in
    config/default.yaml).
    """

    points: pd.DataFrame
    twins: pd.DataFrame = field(default_factory=_empty)
    starts: pd.DataFrame = field(default_factory=_empty)
    readings: pd.DataFrame = field(default_factory=_empty)
    evidence: list[Row] = field(default_factory=list)
    missing: list[Row] = field(default_factory=list)
    host: dict[str, Any] = field(default_factory=dict)

    def rows(self) -> list[Row]:
        """The points, fastest first: of equal ones the first stands, and no id decides which."""
        return [dict(row) for row in self._rows]

    def starts_of(self, where: str) -> pd.DataFrame:
        """The starts of one point in the order of time; empty where there are none."""
        return self._starts_by_point.get(where, self.starts[:0])

    def start_rows_of(self, where: str) -> list[Row]:
        """`starts_of` as rows; they are shared, so do not change them."""
        return self._start_rows_by_point.get(where, [])

    # Every detector asks for them.

    @cached_property
    def _rows(self) -> list[Row]:
        if self.points.empty:
            return []
        order = [name for name in ("time_ns", "where") if name in self.points]
        ordered = self.points.sort_values(order, kind="stable").to_dict("records")
        return [{str(name): value for name, value in row.items()} for row in ordered]

    @cached_property
    def _starts_by_point(self) -> dict[str, pd.DataFrame]:
        if self.starts.empty:
            return {}
        return {str(where): own for where, own in self._starts_in_time.groupby("where")}

    @cached_property
    def _start_rows_by_point(self) -> dict[str, list[Row]]:
        rows: dict[str, list[Row]] = {}
        if not self.starts.empty:
            for row in self._starts_in_time.to_dict("records"):
                rows.setdefault(str(row["where"]), []).append(row)
        return rows

    @cached_property
    def _starts_in_time(self) -> pd.DataFrame:
        return self.starts.sort_values("t_start_ns", kind="stable")


@dataclass
class Judged:
    """What a detector made of its rows: findings, points it could not judge, with why, and points
    that it judged and found nothing at. Of a point that does not concern it, it says nothing.

    What is no point's is called "host" here.
    """

    findings: list[Finding] = field(default_factory=list)
    abstained: dict[str, str] = field(default_factory=dict)
    clean: list[str] = field(default_factory=list, compare=False)

    def rest_is_clean(self, judged: Iterable[str]) -> Judged:
        """Of these points, all that have no finding and of which it did not abstain; itself."""
        with_finding = {where for finding in self.findings for where in finding.where or ["host"]}
        self.clean = sorted({*judged} - with_finding - {*self.abstained})
        return self


def is_known(value: T | None) -> TypeIs[T]:
    """Whether a cell holds something: not None, not NaN, and a list counts."""
    if value is None:
        return False
    if isinstance(value, list | tuple | dict | str):
        return True
    import pandas as pd

    return not pd.isna(value)


def first_unknown(row: Row, names: tuple[str, ...]) -> str | None:
    """The first of these columns that the row does not have; None where it has them all."""
    return next((name for name in names if not is_known(row.get(name))), None)


def all_detectors() -> Iterator[ModuleType]:
    """All detector modules, by name."""
    yield from plugins.load_all(DETECTORS)


@cache
def artefact(name: str) -> Artefact:
    """The entry of that artefact (its id) in the catalogue: the file beside its detector."""
    return artefact_in(CATALOGUE / f"{name.replace('-', '_')}.toml", name)


def catalogue_of_artefacts() -> list[Artefact]:
    """The entries of all detectors, by the name of their module."""
    return [detector.ARTEFACT for detector in all_detectors()]


def detector(artefact: str) -> ModuleType:
    """The detector of that artefact (its id)."""
    return plugins.load(DETECTORS, artefact.replace("-", "_"))


def judge(seen: Seen) -> dict[str, Judged]:
    """What each detector, by its artefact, made of one table."""
    return {detector.ARTEFACT.id: detector.detect(seen) for detector in all_detectors()}
