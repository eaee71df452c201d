"""What many plays of the controls have told so far, and what to play next."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from benchbook.controls.background_load import LOADS, NONE
from benchbook.controls.score import Outcome

PROVOKED, NULLS = 60, 300  # runs wanted of each artefact, clean runs of each detector
TRIES = 3  # plays in which nothing could be provoked, until a control counts as not played here
REPLAYED = "replay"  # stands where else a load is named
QUIET, LOADED = "quiet", "loaded"


class Candidate(NamedTuple):
    """What can be done next: a control, and the load beside it (or REPLAYED)."""

    control: str
    load: str

    @property
    def kind(self) -> str:
        """REPLAYED, QUIET or LOADED: what a play gives depends on that."""
        return self.load if self.load == REPLAYED else QUIET if self.load == NONE else LOADED


@dataclass(frozen=True)
class Line:
    """What came of a candidate; seconds: measuring and judging. `noisy`: others kept the machine
    busy, who were not started for it."""

    control: str
    load: str
    seed: int
    seconds: float
    noisy: bool
    outcomes: list[Outcome]

    @property
    def kind(self) -> str:
        """REPLAYED, QUIET or LOADED, as for a candidate."""
        return Candidate(self.control, self.load).kind


@dataclass
class Tally:
    """Counts over lines, kept up to date. `controls`: name -> its artefact, whether it can be
    played, whether it has a replay.

    A run is one play, however many scenes it has; replayed, each scene is one of its own. `undone`:
    control -> loads beside which it cannot provoke.
    """

    controls: dict[str, tuple[str, bool, bool]]
    detectors: list[str]
    undone: dict[str, frozenset[str]] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)
    # Runs, by control and whether replayed.
    provoked: Counter[tuple[str, bool]] = field(default_factory=Counter)
    plays: Counter[tuple[str, str]] = field(default_factory=Counter)  # by control and kind
    seconds: defaultdict[tuple[str, str], float] = field(default_factory=lambda: defaultdict(float))
    nulls: Counter[str] = field(default_factory=Counter)  # clean runs, by detector
    given: dict[tuple[str, str], Counter[str]] = field(default_factory=dict)

    def add(self, line: Line) -> None:
        """Count the outcomes of one more line."""
        key, own = (line.control, line.kind), self.controls[line.control][0]
        self.lines.append(line)
        self.plays[key] += 1
        self.seconds[key] += line.seconds
        clean: Counter[str] = Counter()
        for run in runs(line):
            clean.update({outcome.artefact for outcome in run if is_null(outcome)})
        self.given[key] = self.given.get(key, Counter()) + clean
        self.nulls += clean
        self.provoked[line.control, line.kind == REPLAYED] += sum(
            any(
                is_played(outcome) and outcome.provoked and outcome.artefact == own
                for outcome in run
            )
            for run in runs(line)
        )

    def played(self, control: str) -> int:
        """How often a control was played, under whatever load."""
        return self.plays[control, QUIET] + self.plays[control, LOADED]

    def cannot_be_played(self, control: str) -> bool:
        """Whether every play so far was one in which nothing could be provoked."""
        return self.played(control) >= TRIES and not self.provoked[control, False]

    def sides(self) -> Iterable[tuple[str, bool]]:
        """Each control played, if that is possible here, and replayed, if it has a replay."""
        for name, (_, playable, replayable) in self.controls.items():
            if playable and not self.cannot_be_played(name):
                yield name, False
            if replayable:
                yield name, True

    def candidates(self) -> list[Candidate]:
        """All that can be done: played alone, played under the load whose turn it is, replayed."""
        possible = []
        for name, replayed in self.sides():
            loads = [load for load in LOADS if load not in self.undone.get(name, ())]
            turn = loads[self.played(name) % len(loads)]
            own = [REPLAYED] if replayed else dict.fromkeys((turn, NONE))
            possible += [Candidate(name, load) for load in own]
        return possible

    def gain(self, candidate: Candidate) -> float:
        """Missing nulls per second that this has given so far."""
        key = (candidate.control, candidate.kind)
        if not self.plays[key]:
            return 0.0
        each = {name: n / self.plays[key] for name, n in self.given[key].items()}
        missing = {name: NULLS - self.nulls[name] for name in each}
        useful = sum(min(n, missing[name]) for name, n in each.items() if missing[name] > 0)
        return useful * self.plays[key] / max(self.seconds[key], 1e-3)

    def next(self) -> Candidate | None:
        """The control with the fewest provoked runs while they are too few; then what gives most
        missing nulls, under load as long as that gives any. None: nothing more can be had."""
        possible = self.candidates()
        short = [
            (self.provoked[name, replayed], name, replayed)
            for name, replayed in self.sides()
            if self.provoked[name, replayed] < PROVOKED
        ]
        if short:
            _, name, replayed = min(short)
            return next(
                candidate
                for candidate in possible
                if candidate.control == name and (candidate.load == REPLAYED) == replayed
            )
        for kinds in ((LOADED, REPLAYED), (QUIET,)):
            ranked = [
                (self.gain(candidate), candidate)
                for candidate in possible
                if candidate.kind in kinds
            ]
            if ranked and max(ranked)[0] > 0:
                return max(ranked)[1]
        return None

    def progress(self) -> tuple[int, int]:
        """Runs counted and wanted; nulls that nothing gives here are not wanted."""
        sides = [self.provoked[side] for side in self.sides()]
        judged = {name for counts in self.given.values() for name in counts}
        nulls = [self.nulls[name] for name in self.detectors if name in judged or not self.lines]
        have = sum(min(n, PROVOKED) for n in sides) + sum(min(n, NULLS) for n in nulls)
        return have, PROVOKED * len(sides) + NULLS * len(nulls)


def runs(line: Line) -> list[list[Outcome]]:
    """The outcomes of each run of a line."""
    if line.kind == REPLAYED:
        return [[outcome] for outcome in line.outcomes]
    return [line.outcomes]


def is_played(outcome: Outcome) -> bool:
    """Whether the scene was there to be judged."""
    return outcome.answer != "skipped"


def is_null(outcome: Outcome) -> bool:
    """Whether a detector judged a clean scene, rightly or wrongly."""
    return not outcome.provoked and outcome.answer in ("silent", "found")
