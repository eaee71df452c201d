"""The starts of a run, made once more below a tool that counts, apart from what is timed."""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from types import SimpleNamespace
from typing import Any, NoReturn

from benchbook.core import scratch
from benchbook.core.files import write_text
from benchbook.core.processes import Scheduling
from benchbook.define.points import Point
from benchbook.evidence.counters import Count, write_counts
from benchbook.evidence.stage import Context, Row, evidence_row
from benchbook.host.capabilities.place import Capability
from benchbook.measure.invocation import Request, command_line, environment, run_program
from benchbook.measure.starter import Numbers, Starter
from benchbook.records import journal

HARDWARE_SHARE = 0.4  # of the measuring's budget: what counting may take
SOFTWARE_SHARE = 0.04
SAMPLES_MOST = 10  # counted per point; a count needs no statistics
PATIENCE_S = 4.0  # beyond twice what the start took when it was timed; likwid's daemon waits 10 s
FAILURES_BORNE = 2  # starts in a row without any count, then a tool is given up
DOCTOR = "benchbook doctor"  # names the remedy for this machine
FOLDER = "counters"  # beside evidence.json: what the tools printed
COUNTS = "counts.csv"  # in it


class _NotCountedError(Exception):
    """Why nothing was counted, in the words of a capability of the host."""

    def __init__(self, state: str, reason: str, remedy: str = "") -> None:
        super().__init__(reason)
        self.state, self.reason, self.remedy = state, reason, remedy


class NothingCountedError(_NotCountedError):
    """Why a start below a tool gave no count at all."""


class GivenUpError(_NotCountedError):
    """Why a tool counts no further."""


class TimedOutError(GivenUpError):
    """It was stopped, and would cost as much the next time."""


@dataclass
class Session:
    """What can be counted of one run: its own points that were measured, in their starts, those
    behind a claim first and then the cheapest; none of a network, which is gone by then."""

    context: Context
    lock: int | None = None
    starts: list[list[Point]] = field(default_factory=list)
    crowds: list[Point] = field(default_factory=list)  # of several processes: not counted
    numbers: Numbers = field(default_factory=dict)
    took_ns: dict[str, float] = field(default_factory=dict)  # point -> its share of a timed start
    once_ns: dict[str, float] = field(default_factory=dict)  # point -> one call of its method
    counts: list[tuple[dict[str, str], Count]] = field(default_factory=list)
    failures: int = 0
    files: int = 0

    def __post_init__(self) -> None:
        self._read_journal()
        plan = self.context.plan
        ours = self.context.ours()
        points = [Point.of_record(point) for point in plan.get("points", [])]
        points = [] if self.context.definition.get("network") else points
        points = [
            point
            for point in points
            if point.variant in ours and not point.twin and point.id in self.took_ns
        ]
        self.crowds = [point for point in points if int(point.factors.get("processes", 1)) > 1]
        alone = [point for point in points if point not in self.crowds]
        planned: Any = SimpleNamespace(
            cpus=plan.get("cpus"),
            settings=SimpleNamespace(**(plan.get("settings") or {})),
            takers=frozenset(),  # what is counted takes no turns
            environments=plan.get("environments", {}),
            buffers=plan.get("buffers"),
            options=plan.get("options", {}),
            serial=plan.get("serial", []),
            parts=[],  # nor does it share a start with other sizes
            all_cpus=plan.get("all_cpus", False),
            scheduling=Scheduling.NORMAL,  # a tool that counts runs beside it
        )
        starts = self.context.definition.get("starts", [])
        self.starter = Starter(planned, self.context.run, starts, self._binary, None)
        claimed = {
            pair[side] for pair in plan.get("pairs", []) for side in ("numerator", "denominator")
        }

        def rank(group: list[Point]) -> tuple[bool, float]:
            return not any(point.id in claimed for point in group), self.expected_s(group)

        self.starts = sorted(self.starter.groups(alone), key=rank)
        if self.context.folder is not None:
            shutil.rmtree(self.context.folder / FOLDER, ignore_errors=True)

    def _read_journal(self) -> None:
        run = self.context.run
        for record in journal.read_lines(run / journal.JOURNAL):
            if record["kind"] == "pilot":
                self.numbers = record["points"]
            elif record["kind"] == "invocation" and record["state"] == "ok":
                name = record["point"]
                if name not in self.took_ns:
                    times = journal.load_samples(run, record).time_ns
                    self.took_ns[name] = record["share_ns"]
                    self.once_ns[name] = median(times) / record["loops"]

    def _binary(self, point: Point) -> Path:
        folder, record = self.context.variants[point.variant]
        return folder / record["binary"]["file"]

    def expected_s(self, group: list[Point]) -> float:
        """Seconds that the start took when it was timed."""
        return sum(self.took_ns[point.id] for point in group) / 1e9

    def until(self, share: float) -> float:
        """The monotonic time at which a share of the measuring's budget will be used up."""
        return time.monotonic() + self.allowed_s(share)

    def allowed_s(self, share: float) -> float:
        """Seconds that counting may take: a share of the measuring's budget."""
        return share * self.context.plan["settings"]["budget_s"]

    def request(self, group: list[Point], samples: int | None = None) -> Request:
        """The start of these points, with few samples of each."""
        counts = {
            point.id: self.numbers[point.id]
            | {"samples": samples or min(self.numbers[point.id]["samples"], SAMPLES_MOST)}
            for point in group
        }
        return self.starter.request(group, counts, random.Random(group[0].id))

    def run(
        self, command: Callable[[list[str]], list[str]], request: Request, limit_s: float
    ) -> tuple[int, str, str]:
        """Start the program below a tool: (exit status, stdout, stderr). `command` makes the
        tool's command line of the program's. TimedOutError where it had to be
        stopped, GivenUpError without the tool."""
        words = command(command_line(request))
        status, out, err = run_program(
            [program_path(words[0]), *words[1:]],
            cpus=request.cpus,
            env=environment(request) | surroundings(),
            time_limit_s=limit_s,
            lock=self.lock,
            with_children=True,
        )
        if status is None:
            reason = f"{words[0]} did not end within {limit_s:.3g} s and was stopped"
            raise TimedOutError("absent", reason, DOCTOR)
        return status, out, err

    def limit_s(self, group: list[Point]) -> float:
        """Seconds after which a start is stopped."""
        return 2 * self.expected_s(group) + PATIENCE_S

    def keep(self, name: str, text: str) -> str:
        """Write what a tool printed; returns the file's name."""
        self.files += 1
        if self.context.folder is None:
            return name
        path = self.context.folder / FOLDER / f"{self.files:03d}-{name}"
        write_text(path, text)
        return str(path)

    def note(self, source: str, point: str, variant: str, counts: list[Count]) -> None:
        """Remember counts for counts.csv."""
        about = {"source": source, "variant": variant, "point": point}
        self.counts += [(about, count) for count in counts]

    def keep_counts(self) -> None:
        """Write counts.csv, where anything was counted."""
        if self.counts and self.context.folder is not None:
            write_counts(self.context.folder / FOLDER / COUNTS, self.counts)

    def row(self, source: str, point: str, name: str, **more: Any) -> Row:
        """An evidence row; absent without a value unless `more` says otherwise."""
        words = {"value": None, "state": "absent", **more}
        return evidence_row(self.context.experiment, name, source=source, point=point, **words)

    def nothing(
        self, source: str, point: str, name: str, why: _NotCountedError | Capability, **more: Any
    ) -> Row:
        """The evidence row of what was not counted, with why."""
        why_not = {"state": why.state, "reason": why.reason, "remedy": why.remedy}
        return self.row(source, point, name, **why_not, **more)

    def failed(self, state: str, reason: str, remedy: str = "") -> NoReturn:
        """A start without any count; after two in a row nothing better is expected."""
        self.failures += 1
        kind = GivenUpError if self.failures >= FAILURES_BORNE else NothingCountedError
        raise kind(state, reason, remedy)

    def left_out(self, source: str, what: str, points: list[Point], share: float) -> list[Row]:
        """The row that says what the time did not allow; none where all was counted."""
        if not points:
            return []
        reason = (
            f"{len(points)} points were not counted: the {self.allowed_s(share):.0f} s that "
            "counting may take were used up"
        )
        remedy = "raise budget_s in config/local.yaml"
        return [self.row(source, "", what, reason=reason, remedy=remedy)]


def program_path(program: str) -> str:
    """The path of a tool; GivenUpError where there is none."""
    path = shutil.which(program)
    if path is None:
        raise GivenUpError("absent", f"{program} is not on PATH", DOCTOR)
    return path


def surroundings() -> dict[str, str]:
    """The environment that likwid and perf need themselves."""
    return {
        "HOME": os.environ.get("HOME", "/"),
        "PATH": os.environ.get("PATH", os.defpath),
        **scratch.variables(),
    }
