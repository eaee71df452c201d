"""Which points of a run are simulated: each method once, of few variants, those of the papers'
figures first. A simulation takes a third of a second, and a size does not change its answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchbook.define import catalogue, peers, points
from benchbook.define.points import Point
from benchbook.peers.matching import measure_of

MOST_VARIANTS = 2  # the base, and the one that the figures show first beside it
MOST_POINTS = 16


@dataclass(frozen=True)
class Choice:
    """What there is to choose from: the points of a plan, those of figures first."""

    content: dict[str, Any]
    ordered: list[Point]
    shown: list[str]  # variants
    block_most_bytes: int

    def points(self) -> list[Point]:
        """One point of each kind, of the variants that matter most."""
        variants = list(dict.fromkeys([self.content["base"], *self.shown]))[:MOST_VARIANTS]
        chosen: dict[tuple[Any, ...], Point] = {}
        for point in self._fitting():
            if point.variant in variants:
                chosen.setdefault((point.variant, self.kind(point)), point)
        return list(chosen.values())[:MOST_POINTS]

    def of_peers(self) -> list[Point]:
        """One point of each kind of the peers that say how one repetition is simulated."""
        specs = peers.of(self.content)
        chosen: dict[tuple[Any, ...], Point] = {}
        for point in self._fitting():
            spec = specs.get(point.variant)
            measure = measure_of(spec, point.factors) if spec else None
            if measure and measure.get("simulated"):
                chosen.setdefault((point.variant, self.kind(point)), point)
        return list(chosen.values())

    def others_like(self, point: Point) -> Iterator[Point]:
        """Points of other variants that differ from it in sizes and counts only."""
        wanted = self._setting(point)
        for candidate in self._fitting():
            if candidate.variant != point.variant and self._setting(candidate) == wanted:
                yield candidate

    def _setting(self, point: Point) -> dict[str, Any]:
        return {
            key: value
            for key, value in point.factors.items()
            if not self._is_size(key) and key not in points.COUNTS
        }

    def kind(self, point: Point) -> tuple[Any, ...]:
        """Factors that are neither sizes nor decided when a program starts: what is done."""
        return tuple((key, value) for key, value in point.factors.items() if self._does(key))

    def _does(self, factor: str) -> bool:
        return factor not in self.content["starts"] and not self._is_size(factor)

    def _is_size(self, factor: str) -> bool:
        return bool(self.content["factors"][factor].get("unit") == "bytes")

    def _fitting(self) -> Iterator[Point]:
        """Points whose smaller sizes (of blocks) stay what they are in a simulation."""
        for point in self.ordered:
            sizes = [
                value
                for key, value in point.factors.items()
                if self._is_size(key) and key not in self.content["starts"]
            ]
            if all(size <= self.block_most_bytes for size in sizes):
                yield point


def choice(
    root: Path, name: str, content: dict[str, Any], plan: dict[str, Any], block_most_bytes: int
) -> Choice:
    """Of the points of one process that were planned, none of a relinked or repeated binary."""
    shown: dict[str, Point] = {}
    for figure in catalogue.figures_of(root, name):
        expanded, _ = points.expand(content, catalogue.shown_settings(figure), plan["sizes"])
        shown |= {point.id: point for point in expanded}
    planned = [
        Point.of_record(point)
        for point in plan.get("points", [])
        if not point["twin"] and point["factors"].get("processes", 1) == 1
    ]
    place = {identity: index for index, identity in enumerate(shown)}
    ordered = sorted(planned, key=lambda point: place.get(point.id, len(place)))
    variants = [point.variant for point in ordered if point.id in shown]
    return Choice(content, ordered, list(dict.fromkeys(variants)), block_most_bytes)
