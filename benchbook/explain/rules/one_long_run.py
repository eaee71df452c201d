"""heavy-tail: one repetition of a few takes longer than the others together, and is in the mean.

Decided by the repetitions themselves, where the log has all of them: then the mean is that of no
repetition. A first one is told by `first-touch` and `warm-up`, and many by logs/seen.py. Only of
work that is the same each time: a message that was sent again is another matter.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.core.number_format import duration, number, share
from benchbook.explain.model import Report
from benchbook.explain.rules import Machine
from benchbook.explain.rules.common.samples import Series, series
from benchbook.explain.sample_detectors import LEAST_SAMPLES
from benchbook.explain.units import in_base
from benchbook.findings import Finding, proof

ARTEFACT = "heavy-tail"
NEEDS = ("sample",)
LEAST = 5  # repetitions: of fewer, nobody knows which is the usual one
ALIKE = 2.0  # slowest ÷ fastest of the others
LIKELY = 0.8
REMEDY = (
    "Give the median instead of the mean, or measure again: what interrupted that repetition is no "
    "part of what was timed."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each mean that one repetition makes."""
    del machine
    for one in series(reports):
        if LEAST <= len(one.samples) < LEAST_SAMPLES and one.is_whole() and _is_work(one):
            times = [time for time in one.times() if time]
            if len(times) == len(one.samples) and times[0] < max(times) > sum(times) / 2:
                yield from _finding(one, times)


def _is_work(one: Series) -> bool:
    return bool(one.samples[0].of.get("array_bytes")) or "command" in one.report.facts


def _finding(one: Series, times: list[float]) -> Iterator[Finding]:
    at = times.index(max(times))
    longest, others = times[at], sorted(times[:at] + times[at + 1 :])
    mean = one.mean
    if mean is None or others[-1] > ALIKE * others[0]:
        return
    usual = others[len(others) // 2]
    sample = one.samples[at]
    longer = sum(times) / len(times) / usual
    is_time = in_base(1.0, mean.unit)[1] == "ns"
    yield Finding(
        artefact=ARTEFACT,
        effect="biases",
        factor=longer if is_time else 1 / longer,
        where=[mean.where, sample.where],
        confidence=LIKELY,
        evidence=[
            proof("longest repetition", longest, "s", f"line {sample.line}"),
            proof("slowest of the others", others[-1], "s", "log"),
        ],
        explanation=(
            f"One repetition of {sample.name} (line {sample.line}) took {duration(longest * 1e9)}, "
            f"{share(longest / sum(times))} of the time of all {len(times)}; the others took "
            f"{duration(others[-1] * 1e9)} at most. It makes the mean in line {mean.line}, "
            f"{number(mean.value)} {mean.unit}, which is that of no repetition."
        ),
        remedy=REMEDY,
    )
