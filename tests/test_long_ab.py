"""`benchbook ab` on pairs of programs whose difference is known, under changing load: `make
test-long`, in calls of BENCHBOOK_LONG_MINUTES that go on from each other."""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest
from rich.console import Console
from rich.table import Table

from benchbook.ab.answer import Answer
from benchbook.ab.programs import Case, Program
from benchbook.ab.rounds import Limits, measure
from benchbook.ab.runs import Place, on_time, run_whole
from benchbook.commands.bench_pairs import busy
from benchbook.core.processes import Scheduling, measuring_lock

ROOT = Path(__file__).resolve().parent.parent
JOURNAL = ROOT / "build" / "ab-plays.jsonl"
MINUTES = float(os.environ.get("BENCHBOOK_LONG_MINUTES", "50"))
WANTED = 500
DIFFERENCES = (0.0, 0.005, 0.01, 0.03, 0.10)  # more work of B, or of A
BUSY = (0, 1, 2, 4)
PASSES = {"short": 20, "long": 200}  # through the work below
BUDGET_S = 20.0
RUNS = 9  # of each program, to see what loading it takes
# A pass takes about a millisecond, most of it computing and a part of it memory.
SOURCE = """
#include <stdlib.h>
static unsigned table[1 << 16];
int main(int argc, char **argv) {
    if (argc < 2) return 2;
    unsigned long left = strtoul(argv[1], 0, 10), state = 1;
    while (left--) {
        state = state * 6364136223846793005ul + 1442695040888963407ul;
        table[state >> 48] += (unsigned)state;
    }
    return table[7] == 12345;
}
"""
STEPS = 400_000  # of a pass


@dataclass(frozen=True)
class Play:
    """One comparison: what was planted, and what `ab` said."""

    length: str
    work: float  # B's over A's
    factor: float  # B's time over A's: loading the program is the same in both
    busy: int
    answer: str
    low: float
    high: float
    seconds: float

    @property
    def is_wrong(self) -> bool:
        """Faster for slower, or a difference where there is none."""
        right = {1: {"slower"}, 0: set[str](), -1: {"faster"}}
        sign = (self.work > 1) - (self.work < 1)
        return self.answer in {"faster", "slower"} - right[sign]

    @property
    def covers(self) -> bool:
        """Whether the interval contains what was planted."""
        return self.low <= self.factor <= self.high


def program(folder: Path) -> Path:
    source, binary = folder / "work.c", folder / "work"
    source.write_text(SOURCE)
    subprocess.run(["cc", "-O1", "-o", binary, source], check=True)
    return binary


def play(binary: Path, dice: random.Random) -> Play:
    length, difference = dice.choice(list(PASSES)), dice.choice(DIFFERENCES)
    processes = dice.choice(BUSY)
    steps = [PASSES[length] * STEPS] * 2
    steps[dice.randrange(2)] = round(steps[0] * (1 + difference))
    a, b = (Program((str(binary), str(amount)), binary.parent) for amount in steps)
    case = Case("play", ("a", "b"), a, a, b)
    started_ns = own_ns(Program((str(binary), "0"), binary.parent), dice)
    first_ns = own_ns(a, dice)
    work = steps[1] / steps[0]
    factor = (started_ns + work * (first_ns - started_ns)) / first_ns
    with measuring_lock("ab on known programs", ROOT, print), busy(processes):
        measured = measure(case, Limits(budget_s=BUDGET_S), dice)
    outcome = measured.compared
    assert outcome is not None
    return Play(
        *(length, work, factor, processes, outcome.answer.value),
        *(outcome.factor.low, outcome.factor.high, measured.seconds),
    )


def own_ns(program: Program, dice: random.Random) -> float:
    """Median of a program's time, in ns, without that in which it waited for its CPU."""
    place = Place([max(os.sched_getaffinity(0))], 60, Scheduling.REAL_TIME)
    with on_time():
        runs = [run_whole(program, None, dice, place) for _ in range(RUNS)]
    return statistics.median(run.wall_ns - run.delay_ns for run in runs)


def plays() -> list[Play]:
    lines = JOURNAL.read_text().splitlines() if JOURNAL.exists() else []
    return [Play(**json.loads(line)) for line in lines]


def table(played: Iterable[Play]) -> Table:
    """A row for each planted difference and whether others were busy."""
    made = Table("work", "busy", "plays", *(answer.value for answer in Answer), "wrong", "covered")
    groups: dict[tuple[float, bool], list[Play]] = {}
    for done in played:
        planted = round(max(done.work, 1 / done.work) - 1, 4)
        groups.setdefault((planted, done.busy > 0), []).append(done)
    for (planted, was_busy), group in sorted(groups.items()):
        answers = Counter(done.answer for done in group)
        made.add_row(
            f"{planted:.1%} more",
            "1 to 4" if was_busy else "none",
            str(len(group)),
            *(str(answers[answer.value]) for answer in Answer),
            str(sum(done.is_wrong for done in group)),
            f"{sum(done.covers for done in group) / len(group):.0%}",
        )
    return made


@pytest.mark.long
@pytest.mark.timeout(MINUTES * 60 + 600)
def test_answers_are_true(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    JOURNAL.parent.mkdir(exist_ok=True)
    binary, dice = program(tmp_path), random.Random()
    until = time.monotonic() + MINUTES * 60
    while len(played := plays()) < WANTED and time.monotonic() < until:
        with JOURNAL.open("a") as file:
            file.write(json.dumps(asdict(play(binary, dice))) + "\n")
    with capsys.disabled():
        Console().print(table(played))
    assert sum(done.is_wrong for done in played) <= max(2, 0.02 * len(played))
    assert sum(done.covers for done in played) >= 0.95 * len(played) - 3
    quiet = [done for done in played if not done.busy and max(done.work, 1 / done.work) > 1.029]
    decided = sum(done.answer in ("faster", "slower") for done in quiet)
    assert decided >= 0.95 * len(quiet) - 1
    if len(played) < WANTED:
        pytest.skip(f"{len(played)} of {WANTED} plays so far, run again: it goes on")
