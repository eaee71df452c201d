"""Our comparisons, hyperfine and pyperf side by side: how often each says something false, how
narrow its interval is, and how often that covers the truth.

In each trial every tool compares the same two programs, one tool after another in random order, for
the same time and under the same load. Trials of all calls are kept and counted together.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from benchbook.commands.bench_pairs import (
    BUSY,
    LOOPS,
    MORE_LOOPS,
    TOOLS,
    Compared,
    NotComparedError,
    busy,
    programs,
)
from benchbook.core.processes import measuring_lock

JOURNAL = Path("build/bench/tools.jsonl")
TOOL_S = 5.0  # for one tool and one pair
SETTINGS = [(work, others) for work in (LOOPS, MORE_LOOPS) for others in (0, BUSY)]
LOADING = 0.02  # of a difference of work: less of it shows where loading the program is timed, too
VERSION = 1


@dataclass(frozen=True)
class Trial:
    """What a tool said of two programs, of which the second does `truth` times the work, next to
    `busy` processes of ours; `load` is the machine's one-minute load."""

    tool: str
    truth: float
    busy: int
    seconds: float
    load: float
    ratio: float
    low: float
    high: float
    runs: int

    @property
    def is_false(self) -> bool:
        """Whether its interval shows a difference where there is none, or the wrong direction."""
        return self.low > 1 >= self.truth or self.high < 1 <= self.truth

    @property
    def shows(self) -> bool:
        """Whether its interval shows the difference that there is."""
        return self.low > 1 < self.truth

    @property
    def covers(self) -> bool:
        """Whether the truth is in its interval."""
        return self.low <= self.truth and self.high >= self.truth - LOADING * (self.truth - 1)


def side_by_side(root: Path, seconds: float) -> Iterator[tuple[str, str]]:
    """Rows for `make bench`: trials for that long, added to those of earlier calls."""
    journal = root / JOURNAL
    journal.parent.mkdir(parents=True, exist_ok=True)
    dice = random.Random()
    absent: dict[str, str] = {}
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for work, others in dice.sample(SETTINGS, len(SETTINGS)):
            for name in dice.sample(list(TOOLS), len(TOOLS)):
                try:
                    _try(root, name, work, others, dice)
                except NotComparedError as why:
                    absent[name] = f"not measurable here: {why}"
        if len(absent) == len(TOOLS):
            break
    trials = read_trials(journal)
    for work, others in SETTINGS:
        for name in TOOLS:
            group = [t for t in trials if (t.tool, t.truth, t.busy) == (name, work / LOOPS, others)]
            if group or name in absent:
                yield _what(work, others, name), in_words(group) if group else absent[name]


def _try(root: Path, name: str, work: int, others: int, dice: random.Random) -> None:
    """One trial of one tool, added to the journal."""
    pair = programs(root)
    with measuring_lock("programs side by side", root, print), busy(others):
        load = os.getloadavg()[0]
        made: Compared = TOOLS[name](pair, (LOOPS, work), TOOL_S, dice)
    trial = Trial(name, work / LOOPS, others, TOOL_S, load, **vars(made))
    with (root / JOURNAL).open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(trial) | {"version": VERSION}) + "\n")


def read_trials(journal: Path) -> list[Trial]:
    """The trials that were made as they are now."""
    if not journal.exists():
        return []
    lines = map(json.loads, journal.read_text(encoding="utf-8").splitlines())
    return [
        Trial(**{key: value for key, value in line.items() if key != "version"})
        for line in lines
        if (line["version"], line["seconds"]) == (VERSION, TOOL_S)
    ]


def _what(work: int, others: int, name: str) -> str:
    kind = "same work" if work == LOOPS else f"{work / LOOPS - 1:.0%} more work"
    where = f"next to {others} busy processes" if others else "nothing else of ours"
    return f"{kind}, {where}, {TOOL_S:g} s: {name}"


def in_words(trials: list[Trial]) -> str:
    """`8 trials: 1 false, 6 show it, 7 cover; ± 0.8 %; load 2 to 9`."""
    amount = len(trials)
    wrong, shown, covered = (
        sum(getattr(trial, name) for trial in trials) for name in ("is_false", "shows", "covers")
    )
    widths = [Compared(t.ratio, t.low, t.high, t.runs).half_width for t in trials]
    shows = f" {shown} show it," if trials[0].truth != 1 else ""
    width = statistics.median(widths)
    loads = [trial.load for trial in trials]
    counted = f"{amount} trials: {wrong} false,{shows} {covered} cover"
    return f"{counted}; ± {width:.2%} (median); load {min(loads):.0f} to {max(loads):.0f}"
