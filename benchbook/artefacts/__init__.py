"""Detectors, one file each, found by wildcard; ids are those of the catalogue of artefacts.

A detector module has ARTEFACT (its id) and `detect(rows, host) -> Judged`. `rows` is a table with
one row per point: `where`, `series` and `setting` (opaque ids: the point, the points that differ in
size only, those that differ in their binary only), the physical columns (bytes, working_set_bytes,
block_bytes, blocks_declared, bytes_per_call, time_ns) and the observations, those of the binary
among them (isa, flags_asked, flags_dropped, flags_added). It never sees the names of variants,
methods, forms or experiments. `host` holds what the machine says of itself: llc_sysfs_bytes,
llc_sysconf_bytes, smaller_caches_bytes; None is unknown.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from types import ModuleType
from typing import Any, Literal

Effect = Literal["invalidates", "biases", "explains", "informs"]


@dataclass(frozen=True)
class Finding:
    """A detector's statement about the points `where`; factor: seen ÷ honest, None if unknown."""

    artefact: str
    effect: Effect
    where: list[str]
    confidence: float
    evidence: list[dict[str, Any]]
    explanation: str
    remedy: str
    factor: float | None = None

    def record(self, experiment: str) -> dict[str, Any]:
        """As findings.json carries it."""
        return {**asdict(self), "experiment": experiment}


@dataclass
class Judged:
    """What a detector made of its rows: findings, and points it could not judge, with why."""

    findings: list[Finding] = field(default_factory=list)
    abstained: dict[str, str] = field(default_factory=dict)


def detectors() -> Iterator[ModuleType]:
    """All detector modules of this folder, by name."""
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda found: found.name):
        yield importlib.import_module(f"{__name__}.{module.name}")
