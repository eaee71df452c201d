"""bimodal: repetitions, or whole runs of the same, that fall into two kinds with nothing between.

Decided by a gap that is wider than either kind, far beyond what was rounded, with several of each
on both sides, which change places: what comes first and never again is another matter. Detectors of
shape want more samples, and leave alone what comes in stretches.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from benchbook.core.number_format import number
from benchbook.explain.context.same_runs import of_same
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import half_of_last_digit, is_number
from benchbook.explain.rules import Machine
from benchbook.explain.rules.bimodal_ends import REMEDY
from benchbook.explain.rules.common.samples import series
from benchbook.explain.units import bytes_per_s
from benchbook.findings import Finding, proof

ARTEFACT = "bimodal"
LEAST, MOST = 6, 2000  # values; more have a shape, which detectors read
LEAST_OF_KIND, LEAST_SHARE = 3, 0.2
APART = 1.25  # slower ÷ faster, across the gap
FEW = 8  # values: fewer are of two kinds by chance
WIDER, WIDER_OF_FEW = 2.0, 5.0  # gap ÷ width of either kind
ROUNDED = 4.0  # gap ÷ the last digit
CHANGES, CHANGES_OF_RUNS = 2, 3  # of kind, in their order; runs may be of before and after
LIKELY = 0.9


class _Kinds(NamedTuple):
    fast: list[Result]
    slow: list[Result]
    changes: int


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each figure whose repetitions are of two kinds, or whose runs are."""
    del machine
    for one in series(reports):
        kinds = _kinds(one.samples)
        if kinds and kinds.changes >= CHANGES and not _are_first(kinds.slow, one.samples):
            yield _finding(kinds, "repetitions", one.mean)
    for own in of_same(reports):
        kinds = _kinds([one for _, one in own])
        # Who takes two of them in turn compares two.
        if kinds and CHANGES_OF_RUNS <= kinds.changes < len(own) - 1:
            yield _finding(kinds, "runs", None)
            return  # what else they have is of the same runs


def _kinds(values: list[Result]) -> _Kinds | None:
    """The two kinds of these values, all of one unit; None where they are not two."""
    if not LEAST <= len(values) <= MOST or not all(
        is_number(one.value) and one.value > 0 for one in values
    ):
        return None
    ordered = sorted(values, key=lambda one: one.value)
    least = max(LEAST_OF_KIND, round(LEAST_SHARE * len(ordered)))
    ends = ordered[least - 1].value, ordered[-least].value
    if ends[1] < APART * ends[0]:
        return None  # as nearly all are
    gap, index = max(
        (two.value - one.value, at)
        for at, (one, two) in enumerate(pairwise(ordered), 1)
        if least <= at <= len(ordered) - least
    )
    low, high = ordered[:index], ordered[index:]
    widths = [part[-1].value - part[0].value for part in (low, high)]
    digit = 2 * min(half_of_last_digit(one.value) for one in values)
    wider = WIDER if len(values) >= FEW else WIDER_OF_FEW
    if high[0].value < APART * low[-1].value or gap < wider * max(widths) or gap < ROUNDED * digit:
        return None
    above = [one.value >= high[0].value for one in values]
    changes = sum(one != two for one, two in pairwise(above))
    is_rate = bytes_per_s(1.0, values[0].unit) is not None
    return _Kinds(high, low, changes) if is_rate else _Kinds(low, high, changes)


def _are_first(slow: list[Result], samples: list[Result]) -> bool:
    """Whether they are the first of their processes, which is a warm-up and told as such."""
    first = {one.of.get("process"): one for one in reversed(samples)}
    return "process" in samples[0].of and all(one is first[one.of["process"]] for one in slow)


def _finding(kinds: _Kinds, what: str, mean: Result | None) -> Finding:
    fast, slow, _ = kinds
    ends = [[min(part, key=_value), max(part, key=_value)] for part in (fast, slow)]
    unit = fast[0].unit
    spans = [f"{number(low.value)} to {number(high.value)} {unit}" for low, high in ends]
    told = f" The mean in line {mean.line} is of neither." if mean else ""
    several = sorted((*fast, *slow), key=lambda one: one.line)
    return Finding(
        artefact=ARTEFACT,
        effect="informs",
        where=[one.where for one in (*several[:1], *several[-1:], *([mean] if mean else []))],
        confidence=LIKELY,
        evidence=[
            proof(one.where, one.value, one.unit, f"line {one.line}")
            for part in ends
            for one in part
        ],
        explanation=(
            f"Of {len(several)} {what} of {fast[0].name} (lines {several[0].line} to "
            f"{several[-1].line}) {len(fast)} are of one kind, {spans[0]}, and {len(slow)} of "
            f"another, {spans[1]}, with none between: they change from one to the other.{told}"
        ),
        remedy=REMEDY,
    )


def _value(one: Result) -> float:
    return one.value
