"""Lines and bytes that one call touches, by cache simulation at a reduced size.

Rows of a point: lines_read, lines_written (distinct lines, by whether a read or a write came
first), bytes_read_from_memory (a line that is written is read first) and bytes_written_to_memory (a
line that is written goes back once). `declared_bytes` is what the same call declares. A peer has a
row method_by_lines: the method of ours that touches the same lines.
"""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path

from benchbook.core.processes import measuring_lock
from benchbook.define.points import Point
from benchbook.evidence.simulation.choice import Choice, choice
from benchbook.evidence.simulation.geometry import geometry_of
from benchbook.evidence.simulation.lines import Lines, Touched
from benchbook.evidence.simulation.profile import ProfileError
from benchbook.evidence.simulation.start import NotSimulatedError, Simulator
from benchbook.evidence.stage import Context, Row, evidence_row
from benchbook.host.capabilities import capability
from benchbook.host.topology import read_topology

SOURCE = "cachegrind"
LINES = ("lines_read", "lines_written")
TRAFFIC = ("bytes_read_from_memory", "bytes_written_to_memory")
# Forms of a block copy differ by the number of blocks, far more; what a peer does beside its copy
# may add a few lines.
ALIKE = 4


def rows(context: Context) -> list[Row]:
    """Rows of the points that are simulated: each method of a few variants, and peers."""
    name, cpus = context.experiment, context.plan["cpus"]
    if context.definition.get("network") or not context.definition.get("simulate", True):
        return []  # a control says whether; over a network, caches are not what decides
    geometry = geometry_of(read_topology(), cpus[0])
    wanted = choice(Path(), name, context.definition, context.plan, geometry.block_most_bytes)
    able = capability("cachegrind")
    valgrind = shutil.which("valgrind")
    if able.state != "ok" or valgrind is None:
        reason = "; ".join(filter(None, (able.reason, able.remedy)))
        points = [*wanted.points(), *wanted.of_peers()]
        return [row for point in points for row in _absent(name, point, reason)]
    with measuring_lock(f"{name} (cache simulation)", Path().absolute(), _say) as lock:
        limit_s = context.plan["settings"]["time_limit_s"]
        simulator = Simulator(valgrind, geometry, cpus, limit_s, lock)
        lines = Lines(Path(), name, context.definition, context.variants, simulator)
        return _Stage(wanted, lines).rows()


def _say(text: str) -> None:
    print(text, file=sys.stderr)


@dataclass
class _Stage:
    choice: Choice
    lines: Lines
    done: list[Touched] = field(default_factory=list)
    found: list[Row] = field(default_factory=list)

    def rows(self) -> list[Row]:
        """Simulated traffic: the rows of our own points, then those of peers."""
        for point in self.choice.points():
            self._simulate(point)
        self._loops_of_their_own()
        ours = list(self.done)
        for point in self.choice.of_peers():
            self._simulate(point, ours)
        return self.found

    def _simulate(self, point: Point, ours: list[Touched] | None = None) -> None:
        """One point of ours; with `ours`, one of a peer."""
        try:
            touched = self.lines.of_variant(point) if ours is None else self.lines.of_peer(point)
        except (NotSimulatedError, ProfileError) as why:
            self.found += _absent(self.lines.name, point, str(why))
            return
        self.done.append(touched)
        self.found += self._of(touched)
        if ours is not None:
            self.found.append(method_of(self.lines.name, touched, ours))

    def _loops_of_their_own(self) -> None:
        """Where the C library copies, traffic is seldom modelled: another variant's may be."""
        kinds = {
            self.choice.kind(touched.point) for touched in self.done if not touched.wrong_traffic
        }
        for touched in [touched for touched in self.done if touched.copies]:
            kind = self.choice.kind(touched.point)
            if kind in kinds:
                continue
            for like_it in self.choice.others_like(touched.point):
                if not self.lines.copies(like_it.variant, touched.found):
                    kinds.add(kind)
                    self._simulate(like_it)
                    break

    def _of(self, touched: Touched) -> list[Row]:
        geometry = self.lines.simulator.geometry
        line = geometry.ll.line_bytes
        read, written = touched.found.lines_read, touched.found.lines_written
        values = {
            "lines_read": read,
            "lines_written": written,
            "bytes_read_from_memory": (read + written) * line,
            "bytes_written_to_memory": written * line,
        }
        common = {
            "declared_bytes": touched.declared_bytes,
            "simulated_bytes": geometry.buffer_bytes,
            "line_bytes": line,
            "geometry": " ".join(geometry.options),
            "host_geometry": geometry.host,
        }
        made = [
            _row(self.lines.name, touched.point, key, value, touched.text) | common
            for key, value in values.items()
        ]
        if touched.wrong_traffic:
            lost = {"value": None, "state": "absent", "reason": touched.wrong_traffic}
            made = [row | (lost if row["name"] in TRAFFIC else {}) for row in made]
        return made


def method_of(name: str, touched: Touched, ours: list[Touched]) -> Row:
    """Row method_by_lines of a peer's point: the method of ours that touches the same lines in
    blocks of the same size; absent where none or more than one does."""
    block = touched.point.factors.get("block_bytes")
    alike: dict[str, Touched] = {}
    for own in ours:
        if own.point.factors.get("block_bytes") == block and _alike(touched, own):
            alike.setdefault(str(own.point.factors.get("method")), own)
    lines = f"it reads {touched.found.lines_read} lines and writes {touched.found.lines_written}"
    if len(alike) != 1:
        why = f"{lines}, which is like {len(alike)} of our methods"
        return _row(name, touched.point, "method_by_lines", None, why)
    ((method, twin),) = alike.items()
    why = (
        f"{lines}; {method} of {twin.point.variant} reads {twin.found.lines_read} and writes "
        f"{twin.found.lines_written}, and no other method of ours is like it"
    )
    return _row(name, touched.point, "method_by_lines", method, why)


def _alike(first: Touched, second: Touched) -> bool:
    pairs = (
        (first.found.lines_read, second.found.lines_read),
        (first.found.lines_written, second.found.lines_written),
    )
    return all(0 < left <= ALIKE * right and right <= ALIKE * left for left, right in pairs)


def _row(name: str, point: Point, what: str, value: int | str | None, reason: str) -> Row:
    unit = "lines" if what in LINES else "bytes" if what in TRAFFIC else ""
    state = {"state": "absent" if value is None else "simulated", "reason": reason}
    about = {"point": point.id, "variant": point.variant}
    return evidence_row(name, what, value, SOURCE, unit=unit, **about, **state)


def _absent(name: str, point: Point, reason: str) -> list[Row]:
    return [_row(name, point, what, None, reason) for what in (*LINES, *TRAFFIC)]
