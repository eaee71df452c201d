"""first-touch: the first repetition over new buffers takes far longer, and the mean has it in.

A log shows no page faults, so that this is likely and not certain; what else makes a first
repetition slow (a sleeping clock, cold code) is over within milliseconds. With huge pages a first
pass takes about a write more than the others: that is told where these are alike.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.core.number_format import duration, plural, share
from benchbook.explain.model import Report
from benchbook.explain.rules import Machine
from benchbook.explain.rules.common.samples import FAR, STEADY, Series, series, time_s
from benchbook.explain.units import bytes_per_s
from benchbook.findings import Finding, proof

ARTEFACT = "first-touch"
NEEDS = ("sample",)
LEAST_SAMPLES = 3
# The same where many others are nearly equal, so that no chance makes one so slow.
LESS_FACTOR, ALIKE, LEAST_ALIKE = 1.25, 1.03, 5
LIKELY, PERHAPS = 0.8, 0.6
PAGES_BYTES = 1 << 20  # of a function: fewer are touched within no time
REMEDY = (
    "Leave the first repetition out, or let the program write to every page of its buffers before "
    "it takes the time."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each run whose first figure, over buffers of memory, begins like that."""
    del machine
    looked: set[int] = set()
    for one in series(reports):
        if moves_bytes(one) and id(one.report) not in looked:
            looked.add(id(one.report))
            yield from _finding(one)


def moves_bytes(one: Series) -> bool:
    """Whether its repetitions go over buffers of memory: over arrays, or over some pages of bytes
    that Google Benchmark counts beside the time."""
    of = one.samples[0].of
    if of.get("array_bytes"):
        return True
    rates = one.report.called(f"{of.get('benchmark')} bytes_per_second")
    rate = bytes_per_s(rates[0].value, rates[0].unit) if rates else None
    return bool(rate) and rate * (time_s(one.samples[-1]) or 0.0) >= PAGES_BYTES


def _finding(one: Series) -> Iterator[Finding]:
    begun = [time_s(sample) for sample in one.samples[:2]]
    if not all(begun) or (begun[0] or 0) < LESS_FACTOR * (begun[1] or 0):
        return  # as nearly all do
    times = one.times()
    known = [time for time in times if time]
    if len(known) != len(times) or len(known) < LEAST_SAMPLES:
        return
    first, others = known[0], known[1:]
    is_far = first >= FAR * max(others) and max(others) <= STEADY * min(others)
    is_apart = first >= LESS_FACTOR * max(others) and max(others) <= ALIKE * min(others)
    if not is_far and not (is_apart and len(others) >= LEAST_ALIKE):
        return
    sample = one.samples[0]
    usual = sum(others) / len(others)
    biased = sum(known) / len(known) / usual
    text = (
        f"The first repetition of {sample.name} (line {sample.line}) took {duration(first * 1e9)}, "
        f"and the other {len(others)} took {duration(max(others) * 1e9)} at most: "
        f"{'' if is_far else 'perhaps '}what is touched for the first time has to be brought in "
        "page by page while the clock runs."
    )
    if one.mean and one.is_whole():
        text += (
            f" The mean of {plural(len(known), 'repetition')} in line {one.mean.line} has it in, "
            f"and is {share(1 - 1 / biased)} slower than the others are."
        )
    yield Finding(
        artefact=ARTEFACT,
        effect="biases",
        factor=1 / biased,
        where=[sample.where, *([one.mean.where] if one.mean else [])],
        confidence=LIKELY if is_far else PERHAPS,
        evidence=[
            proof("first repetition", first, "s", f"line {sample.line}"),
            proof("slowest of the others", max(others), "s", "log"),
        ],
        explanation=text,
        remedy=REMEDY,
    )
