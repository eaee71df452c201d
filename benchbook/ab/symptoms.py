"""What was wrong with the machine, or with how the commands can be timed, in a comparison."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from benchbook.ab.programs import ARMS
from benchbook.ab.rounds import Measured
from benchbook.ab.runs import Run
from benchbook.stats import ticks, two_groups

STEAL_LEAST = 0.01
WAITED_LEAST = 0.05  # of the time of a run
WAITED_ROUNDS = 0.25
COLD_LEAST = 1.5
SHORT_NS = 5_000_000
LEAST_RUNS = 8
COARSE = 0.005  # of the figure


@dataclass(frozen=True)
class Symptom:
    """A code with the figures that its sentence needs, see report/ab_sentences.py."""

    code: str
    figures: dict[str, float]


def of(measured: Measured) -> list[Symptom]:
    """All symptoms, the worst first."""
    return [
        *_twins_differ(measured),
        *_steal(measured),
        *_waited(measured),
        *_two_states(measured),
        *_cold_start(measured),
        *_short(measured),
        *_coarse(measured),
    ]


def _twins_differ(measured: Measured) -> Iterator[Symptom]:
    outcome = measured.compared
    if outcome and not outcome.null.holds_one:
        yield Symptom("twins_differ", {"share": outcome.null.furthest})


def _steal(measured: Measured) -> Iterator[Symptom]:
    if measured.steal is not None and measured.steal > STEAL_LEAST:
        yield Symptom("steal", {"share": measured.steal})


def _waited(measured: Measured) -> Iterator[Symptom]:
    shares = [max(run.delay_share for arm in ARMS for run in runs[arm]) for runs in measured.rounds]
    rounds = sum(share > WAITED_LEAST for share in shares)
    if rounds > WAITED_ROUNDS * len(shares):
        yield Symptom("waited", {"rounds": rounds, "of": len(shares), "share": max(shares)})


def _two_states(measured: Measured) -> Iterator[Symptom]:
    for arm in ("a", "b"):
        groups = two_groups([run.cost for run in measured.runs_of(arm)])
        if groups:
            low, high = (statistics.median(group) for group in groups)
            share = len(groups[1]) / sum(map(len, groups))
            yield Symptom("two_states", {"factor": high / low, "share": share})
            return


def _cold_start(measured: Measured) -> Iterator[Symptom]:
    """The very first run of each program, before anything of it was in memory."""
    for arm, runs in measured.pilot.items():
        usual_ns = statistics.median(_own_ns(run) for run in measured.runs_of(arm))
        if _own_ns(runs[0]) > COLD_LEAST * usual_ns:
            yield Symptom("cold_start", {"factor": _own_ns(runs[0]) / usual_ns})
            return


def _own_ns(run: Run) -> int:
    return max(run.wall_ns - run.delay_ns, 1)


def _short(measured: Measured) -> Iterator[Symptom]:
    shortest = min(statistics.median(r.wall_ns for r in measured.runs_of(arm)) for arm in ARMS)
    if measured.case.metric is None and shortest < SHORT_NS:
        yield Symptom("short", {"time_ns": shortest})


def _coarse(measured: Measured) -> Iterator[Symptom]:
    """A printed figure of few digits."""
    if measured.case.metric is None:
        return
    figures = [run.cost for run in measured.runs_of("a")]
    if measured.case.metric.higher_is_better:
        figures = [1 / figure for figure in figures]
    distinct = sorted(set(figures))
    if len(figures) < LEAST_RUNS or len(distinct) < 2:
        return
    step = min(b - a for a, b in pairwise(distinct))
    share = step / statistics.median(figures)
    if share > COARSE and ticks([figure / step for figure in figures]).coincide:
        yield Symptom("coarse", {"share": share})
