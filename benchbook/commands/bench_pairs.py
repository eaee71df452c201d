"""Two programs compared by us, by hyperfine and by pyperf, in the same time; and identical ones.

Both programs are our copying kernel. They are the same, or one copies a known share more. We let
both run in turns, start after start, and take the exact signed-rank interval of the ratios of each
start's medians. Where the system allows it, they run before other work. The other two tools run one
program many times, then the other, and report means; their interval here is Welch's, of the means
of the runs that they list.
"""

from __future__ import annotations

import json
import math
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchbook import stats
from benchbook.ab.programs import Case, Program
from benchbook.ab.rounds import Limits, measure
from benchbook.core.files import read_json
from benchbook.core.processes import Scheduling, child_setup, measuring_lock
from benchbook.host import tools, topology
from benchbook.measure.invocation import Request, command_line, invoke_in_turns
from benchbook.stats.checks import Floats

BUILT = Path("build/mbw/gcc-O2")
POINT = {"method": "copy", "call": "memcpy"}
BYTES = 2**20
LOOPS, MORE_LOOPS = 100, 103  # of one sample: some 10 ms
SAMPLES, TURNS = 16, 8  # of a start, of which there are several
WHOLE_RUN = 64  # samples of a run that hyperfine or pyperf times: what starting takes is 1 % of it
WARM_UP = 3  # runs of each program before hyperfine times it
BUSY = 4  # processes that run beside the programs
LEAST_STARTS = 8
JOURNAL = Path("build/bench/identical.jsonl")
WANTED_PAIRS, PAIR_S = 1000, 5.0
VERSION = 1


class NotComparedError(Exception):
    """Why nothing can be said here."""


@dataclass(frozen=True)
class Compared:
    """The ratio of two programs' times with its 95 % interval, and of how many runs of each."""

    ratio: float
    low: float
    high: float
    runs: int

    @property
    def half_width(self) -> float:
        """Of the interval, as a share of the ratio."""
        return math.log(self.high / self.low) / 2 if self.low > 0 else math.inf

    def holds(self, truth: float) -> bool:
        """Whether the truth is in the interval."""
        return self.low <= truth <= self.high


@dataclass(frozen=True)
class Programs:
    """The kernel's binary, the CPU on which both programs run, and whether they go before others
    where we measure."""

    binary: Path
    cpu: int
    scheduling: Scheduling = Scheduling.REAL_TIME

    def request(self, loops: int, samples: int, dice: random.Random, turns: int = 1) -> Request:
        """One start; in turns it waits for each of them."""
        return Request(
            binary=self.binary,
            options={"bytes": BYTES},
            points=[POINT | {"samples": samples, "warmup": 1, "loops": loops}],
            cpus=[self.cpu],
            seed=dice.randrange(1, 2**31),
            scheduling=self.scheduling,
            turns=turns,
            pauses=turns > 1,
        )


def programs(root: Path) -> Programs:
    """The kernel that is built already. NotComparedError: there is none."""
    about = root / BUILT / "variant.json"
    if not about.exists() or read_json(about)["state"] != "ok":
        raise NotComparedError("our kernel is not built; run `snakemake slocum2013-mbw` first")
    binary = root / BUILT / read_json(about)["binary"]["file"]
    return Programs(binary.absolute(), topology.pin_order(topology.read_topology())[0])


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """That many processes that do nothing but use a CPU, meanwhile."""
    cpus = sorted(os.sched_getaffinity(0))
    with ExitStack() as stack:
        for _ in range(processes):
            process = subprocess.Popen(
                [sys.executable, "-c", "while True: pass"],
                preexec_fn=child_setup(cpus),  # noqa: PLW1509 - we have one thread
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
        yield


def ours(pair: Programs, loops: tuple[int, int], seconds: float, dice: random.Random) -> Compared:
    """Both programs in turns, in as many starts as there is time for."""
    logs: list[float] = []
    until = time.monotonic() + seconds
    while len(logs) < LEAST_STARTS or time.monotonic() < until:
        requests = [pair.request(count, SAMPLES, dice, TURNS) for count in loops]
        medians = []
        for result in invoke_in_turns(requests, dice):
            (point,) = result.points
            if point.state != "ok":
                raise NotComparedError(point.reason)
            medians.append(float(np.median(point.time_ns)))
        logs.append(math.log(medians[1] / medians[0]))
    interval = stats.signed_rank_interval(logs)
    ratio, low, high = (math.exp(end) for end in interval[:3])
    return Compared(ratio, low, high, len(logs))


def hyperfine(
    pair: Programs, loops: tuple[int, int], seconds: float, dice: random.Random
) -> Compared:
    """As many runs of each as there is time for, by `hyperfine --shell=none`."""
    program = shutil.which("hyperfine")
    if program is None:
        raise NotComparedError(f"hyperfine is not on PATH; {tools.remedy('hyperfine')}")
    commands = _commands(pair, loops, dice)
    runs = max(3, _runs_in(commands, seconds) - WARM_UP)
    with TemporaryDirectory() as folder:
        output = Path(folder) / "times.json"
        words = ["--shell=none", "--style=none", f"--warmup={WARM_UP}", f"--runs={runs}"]
        _run([program, *words, f"--export-json={output}", *map(" ".join, commands)], pair)
        results = json.loads(output.read_text(encoding="utf-8"))["results"]
    return welch(*(np.array(result["times"]) for result in results))


def pyperf(pair: Programs, loops: tuple[int, int], seconds: float, dice: random.Random) -> Compared:
    """As many runs of each as there is time for, by `pyperf command`."""
    program = shutil.which("pyperf")
    if program is None:
        raise NotComparedError("pyperf is not on PATH; install it (`pip install pyperf`)")
    each = [program, "command", "--values=1", "--warmups=0", "--loops=1", "--quiet"]
    commands = _commands(pair, loops, dice)
    runs = _runs_in([[*each, "--processes=1", "--", *command] for command in commands], seconds)
    times = []
    with TemporaryDirectory() as folder:
        for number, command in enumerate(commands):
            output = Path(folder) / f"{number}.json"
            _run([*each, f"--processes={runs}", f"--output={output}", "--", *command], pair)
            whole = json.loads(output.read_text(encoding="utf-8"))["benchmarks"][0]["runs"]
            times.append(np.array([value for run in whole for value in run.get("values", [])]))
    return welch(*times)


def ours_among_others(
    pair: Programs, loops: tuple[int, int], seconds: float, dice: random.Random
) -> Compared:
    """The same at the priority that the other two have."""
    return ours(replace(pair, scheduling=Scheduling.NORMAL), loops, seconds, dice)


def by_ab(pair: Programs, loops: tuple[int, int], seconds: float, dice: random.Random) -> Compared:
    """By `benchbook ab`, which times whole runs, too. Its interval has 99 %, not 95."""
    commands = [Program(tuple(command), Path()) for command in _commands(pair, loops, dice)]
    case = Case("bench", ("a", "b"), commands[0], commands[0], commands[1])
    outcome = measure(case, Limits(budget_s=seconds, cpus=[pair.cpu]), dice).outcome
    return Compared(outcome.factor.ratio, outcome.factor.low, outcome.factor.high, outcome.rounds)


TOOLS = {
    "ours": ours,
    "ours, not before others": ours_among_others,
    "benchbook ab": by_ab,
    "hyperfine": hyperfine,
    "pyperf": pyperf,
}


def welch(first: Floats, second: Floats) -> Compared:
    """The ratio of the second's mean to the first's, with Welch's interval of logs of means.

    Times (n,) of runs of each. Error: as for independent runs, which those of a machine that
    changes its state are not.
    """
    from scipy.stats import t  # slow to load

    parts = [
        (float(times.std(ddof=1)) / float(times.mean())) ** 2 / len(times)
        for times in (first, second)
    ]
    total = sum(parts)
    ratio = float(second.mean() / first.mean())
    if total == 0:
        return Compared(ratio, ratio, ratio, len(first))
    squares = (
        part**2 / (len(times) - 1) for part, times in zip(parts, (first, second), strict=True)
    )
    reach = float(t.ppf(0.975, total**2 / sum(squares))) * math.sqrt(total)
    return Compared(ratio, ratio * math.exp(-reach), ratio * math.exp(reach), len(first))


def _commands(pair: Programs, loops: tuple[int, int], dice: random.Random) -> list[list[str]]:
    return [command_line(pair.request(count, WHOLE_RUN, dice)) for count in loops]


def _runs_in(commands: list[list[str]], seconds: float) -> int:
    """How many runs of each there is time for, by one of each."""
    began = time.monotonic()
    for command in commands:
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return max(3, int(seconds / (time.monotonic() - began)))


def _run(command: list[str], pair: Programs) -> None:
    """On the CPU of the programs."""
    ended = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=child_setup([pair.cpu]),
    )
    if ended.returncode != 0:
        words = (ended.stderr or ended.stdout).split()
        raise NotComparedError(f"{Path(command[0]).name} ended: {' '.join(words)[-300:]}")


def identical(root: Path, seconds: float) -> Iterator[tuple[str, str]]:
    """A row for `make bench`: pairs of identical programs, for that long beside busy processes,
    added to those of earlier calls; how many are called different."""
    journal = root / JOURNAL
    journal.parent.mkdir(parents=True, exist_ok=True)
    dice = random.Random()
    until = time.monotonic() + seconds
    what = f"identical programs, {PAIR_S:g} s a pair, next to {BUSY} busy processes"
    try:
        pair = programs(root)
        while time.monotonic() < until:
            with measuring_lock("identical programs", root, print), busy(BUSY):
                made = ours(pair, (LOOPS, LOOPS), PAIR_S, dice)
            line = vars(made) | {"version": VERSION, "busy": BUSY, "pair_s": PAIR_S}
            with journal.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line | {"binary": pair.binary.name}) + "\n")
    except NotComparedError as why:
        yield what, f"not measurable here: {why}"
        return
    yield what, in_words(read_pairs(journal))


def read_pairs(journal: Path) -> list[Compared]:
    """The pairs of a journal that were measured as they are now."""
    pairs = []
    for text in journal.read_text(encoding="utf-8").splitlines():
        line = json.loads(text)
        if (line["version"], line["busy"], line["pair_s"]) == (VERSION, BUSY, PAIR_S):
            fields = ("ratio", "low", "high", "runs")
            pairs.append(Compared(*(line[field] for field in fields)))
    return pairs


def in_words(pairs: list[Compared]) -> str:
    """`60 of 1,000 pairs, called different 3.3 %, median half-width 0.8 %`."""
    if not pairs:
        return "no pair yet"
    different = sum(not pair.holds(1.0) for pair in pairs) / len(pairs)
    width = float(np.median([pair.half_width for pair in pairs]))
    counted = f"{len(pairs)} of {WANTED_PAIRS:,} pairs"
    return f"{counted}, called different {different:.1%}, median half-width {width:.2%}"
