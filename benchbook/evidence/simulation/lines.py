"""The lines that one call of a point touches: of a variant of ours by its twin, of a peer by its
own program."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchbook.build.objects import BuildFailedError
from benchbook.core.sizes import format_bytes
from benchbook.define.points import Point
from benchbook.evidence.simulation import library
from benchbook.evidence.simulation.profile import Difference
from benchbook.evidence.simulation.start import NotSimulatedError, Simulator
from benchbook.evidence.simulation.twin import Twin, build_twin
from benchbook.host import tools
from benchbook.peers.matching import measure_of, refusal
from benchbook.peers.start import filled, values_of

_NOT_MODELLED = ("non_temporal_stores", "string_instructions")  # of a timed function
_BY_CACHEGRIND = ", which cachegrind does not model"


@dataclass(frozen=True)
class Touched:
    """What one call of a point touched in a simulation."""

    point: Point
    found: Difference
    declared_bytes: int  # of that call
    text: str  # what was simulated, in words
    wrong_traffic: str  # why its traffic is not what it would be here; empty where it is
    copies: bool = False  # the C library did it


@dataclass
class Lines:
    """One experiment: its definition, and its variants as name -> (folder, variant.json)."""

    root: Path
    name: str
    content: dict[str, Any]
    variants: dict[str, tuple[Path, dict[str, Any]]]
    simulator: Simulator
    twins: dict[str, Twin | str] = field(default_factory=dict)  # or why there is none

    def of_variant(self, point: Point) -> Touched:
        """One call of a point of ours. NotSimulatedError or ProfileError where there is none."""
        _, record = self.variants[point.variant]
        if record["state"] != "ok":
            raise NotSimulatedError(record["reason"])
        twin = self._twin(point.variant)
        size = self.simulator.geometry.buffer_bytes
        none, once = (self._command(twin, point, calls) for calls in (0, 1))
        difference, printed = self.simulator.compare(none, once)
        if not printed.strip().isdigit():
            raise NotSimulatedError(
                "its simulated variant did not print how many bytes a call declares"
            )
        text = (
            f"one call less none, by a control build of {point.variant} ({' '.join(twin.flags)}) "
            f"with one thread, buffers of {format_bytes(size)} and a C library that copies by "
            "ordinary loads and stores"
        )
        copies = library.copies(self.library_calls(point.variant, difference))
        wrong = self._wrong_traffic(point, twin, difference)
        return Touched(point, difference, int(printed), text, wrong, copies)

    def _twin(self, variant: str) -> Twin:
        if variant not in self.twins:
            size = self.simulator.geometry.buffer_bytes
            try:
                twin = build_twin(self.root, self.name, self.content, variant, size)
            except BuildFailedError as why:
                self.twins[variant] = f"no variant for the simulation could be built: {why}"
            else:
                self.twins[variant] = twin
        twin_or_reason = self.twins[variant]
        if isinstance(twin_or_reason, str):
            raise NotSimulatedError(twin_or_reason)
        return twin_or_reason

    def _command(self, twin: Twin, point: Point, calls: int) -> list[str | Path]:
        starts = self.content["starts"]
        reduced = {"bytes": self.simulator.geometry.buffer_bytes, "threads": 1}
        factors = {key: reduced.get(key, value) for key, value in point.factors.items()}
        own = {key: value for key, value in factors.items() if key not in starts}
        own |= {"samples": 1, "warmup": calls, "loops": 1}
        options = [f"--{key}={value}" for key, value in factors.items() if key in starts]
        pairs = ",".join(f"{key}={value}" for key, value in own.items())
        return [twin.program.absolute(), *options, "--point", pairs]

    def _wrong_traffic(self, point: Point, twin: Twin, difference: Difference) -> str:
        folder, record = self.variants[point.variant]
        if not twin.timed_functions:
            return f"objdump is not on PATH; {tools.remedy(tools.package_of('objdump'))}"
        # Which vectors a function is for may be decided where it runs, and otherwise in a twin.
        sides = (record["timed_functions"], twin.timed_functions)
        ran = [facts[name] for facts in sides for name in _timed(difference) & set(facts)]
        named = {
            instruction
            for facts in ran
            for key in _NOT_MODELLED
            for instruction in facts.get(key, [])
        }
        if named:
            return f"it moves data by {' and '.join(sorted(named))}{_BY_CACHEGRIND}"
        size = point.factors.get("block_bytes", point.factors["bytes"])
        calls = self.library_calls(point.variant, difference)
        why = library.library_of(folder / record["binary"]["file"]).unmodelled(
            calls, size // point.factors.get("threads", 1)
        )
        return f"{why}{_BY_CACHEGRIND}" if why else ""

    def library_calls(self, variant: str, difference: Difference) -> list[str]:
        """Library calls of the timed functions that ran, as this variant's own binary has them."""
        facts = self.variants[variant][1].get("timed_functions", {})
        ran = sorted(_timed(difference) & set(facts))
        return [call for name in ran for call in facts[name]["library_calls"]]

    def copies(self, variant: str, difference: Difference) -> bool:
        """Whether the C library copies in these functions of a variant; also where nobody knows."""
        functions = self.variants.get(variant, (None, {}))[1].get("timed_functions")
        return not functions or library.copies(self.library_calls(variant, difference))

    def of_peer(self, point: Point) -> Touched:
        """One repetition of a peer's own program, at a point that it says how to simulate."""
        spec = self.content["variants"][point.variant]["peer"]
        _, record = self.variants[point.variant]
        if record["state"] != "ok":
            raise NotSimulatedError(record["reason"])
        program = Path(record["binary"]["file"])
        size = self.simulator.geometry.buffer_bytes
        factors = {**point.factors, "bytes": size}
        if why := refusal(point.variant, spec, factors, self.content.get("names", {})):
            raise NotSimulatedError(why)
        wanted = (measure_of(spec, factors) or {})["simulated"]
        values = values_of(spec, factors, 1)
        less, more = ([str(program), *filled(wanted[key], values)] for key in ("less", "more"))
        difference, _ = self.simulator.compare(less, more)
        text = (
            f"`{spec['tool']} {' '.join(more[1:])}` less "
            f"`{spec['tool']} {' '.join(less[1:])}`: the program itself, unmodified, "
            "and a C library that copies by ordinary loads and stores"
        )
        wrong = f"which instructions {spec['tool']} copies by here is unknown"
        return Touched(point, difference, spec.get("declares", 1) * size, text, wrong)


def _timed(difference: Difference) -> set[str]:
    """The timed functions that ran; a loop that OpenMP shares is part of one."""
    return {name.split(".")[0] for name in difference.executed if name.startswith("timed_")}
