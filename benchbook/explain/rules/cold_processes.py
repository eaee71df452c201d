"""warm-up: in every process the first value is far above those after it, and none was left out.

Decided by the values of each process: what a compiler at run time, a cache or a connection needs
first is paid once in each of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from benchbook.core.number_format import number, plural
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import Machine
from benchbook.explain.rules.common.samples import cold
from benchbook.findings import Finding, proof

ARTEFACT = "warm-up"
NEEDS = ("process",)
LEAST_PROCESSES, LEAST_VALUES = 3, 3
LIKELY = 0.9
REMEDY = (
    "Let each process run a few times before it counts (pyperf --warmups, or more where a compiler "
    "at run time is at work), or give the median of the later values."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report of which all processes begin so."""
    del machine
    for report in reports:
        if "process" not in report.columns:
            continue
        for several in report.groups.values():
            if several[0].statistic == "sample" and "repetition" in several[0].of:
                yield from _judged(several)


def _judged(samples: list[Result]) -> Iterator[Finding]:
    processes = [list(own) for _, own in groupby(samples, lambda one: one.of.get("process"))]
    whole = [own for own in processes if len(own) >= LEAST_VALUES]
    counts = list(map(_cold, whole))
    if len(whole) < LEAST_PROCESSES or len(whole) < len(processes) or not all(counts):
        return
    first = whole[0][0]
    others = [one for own, count in zip(whole, counts, strict=True) for one in own[count:]]
    mean, usual = (sum(one.value for one in some) / len(some) for some in (samples, others))
    yield Finding(
        artefact=ARTEFACT,
        effect="biases",
        factor=mean / usual,
        where=[own[0].where for own in whole],
        confidence=LIKELY,
        evidence=[
            proof("first value", first.value, first.unit, f"line {first.line}"),
            proof("mean of the others", usual, first.unit, "log"),
        ],
        explanation=(
            f"In each of {plural(len(whole), 'process', 'processes')} the first value of "
            f"{first.name} is far above the others, as {number(first.value)} {first.unit} in line "
            f"{first.line} against {number(usual)} {first.unit} on average: what a process needs "
            f"once is in the mean, which is {number(mean / usual)} times what it takes later."
        ),
        remedy=REMEDY,
    )


def _cold(own: list[Result]) -> int:
    """How many of its first values are far above those after them."""
    known = all(is_number(one.value) and one.value > 0 for one in own)
    return cold([one.value for one in own]) if known else 0
