"""inconsistent-report: kernels of one run moved other bytes than arrays of one size have.

By a rate and the time that it was made of. Where the tool's head is cut off, nobody says how large
its arrays were; that two of them were alike is known all the same. Kernels that move as many moved
as much, whatever a tool counts for an array; those of 2 and of 3 moved 2 : 3, or 3 : 4 where what
stores read is counted too, or as much where a build counts alike for all.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from benchbook.core.number_format import number
from benchbook.core.sizes import format_bytes
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import Machine
from benchbook.explain.units import bytes_per_s
from benchbook.findings import Finding, proof

ARTEFACT = "inconsistent-report"
NEEDS = ("arrays_moved",)
TOLERANCE = 0.02  # what rounding of more than was printed may make
SURE = 0.95
REMEDY = (
    "Do not use either figure before it is known which of the numbers is wrong: ask whoever copied "
    "or edited the log."
)


class _Moved(NamedTuple):
    """The bytes that a rate and its time make, as far as their digits tell."""

    result: Result
    least: float
    most: float


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report with such kernels."""
    del machine
    for report in reports:
        runs: dict[tuple[object, ...], dict[int, list[_Moved]]] = {}
        for one in report.knowing("arrays_moved"):
            arrays = one.of.get("arrays_moved")
            if is_number(arrays) and (moved := _moved(one)):
                key = one.of.get("process"), one.of.get("part"), one.unit
                runs.setdefault(key, {}).setdefault(int(arrays), []).append(moved)
        for run in runs.values():
            if found := _unlike(run) or _out_of_ratio(run):
                yield found
                break


def _unlike(run: dict[int, list[_Moved]]) -> Finding | None:
    """Two of as many arrays that moved unlike much."""
    for several in run.values():
        less = min(several, key=lambda one: one.most)
        more = max(several, key=lambda one: one.least)
        if more.least > (1 + TOLERANCE) * less.most:
            why = "both go over as many arrays of one size"
            return _finding(more, less, why)
    return None


def _out_of_ratio(run: dict[int, list[_Moved]]) -> Finding | None:
    """Two of other numbers of arrays, whose bytes no way of counting makes."""
    surest = {
        arrays: min(several, key=lambda one: one.most / one.least)
        for arrays, several in run.items()
    }
    for few, many in combinations(sorted(surest), 2):
        less, more = surest[few], surest[many]
        least, most = more.least / less.most, more.most / less.least
        # All that is read and written, with what stores read first, what is read alone, or as many.
        ways = (many / few, (many + 1) / (few + 1), (many - 1) / max(few - 1, 1), 1.0)
        if not any(
            least <= (1 + TOLERANCE) * one and one <= (1 + TOLERANCE) * most for one in ways
        ):
            ratio = number((more.least + more.most) / (less.least + less.most))
            why = f"these go over {few} and {many} arrays of one size, which makes no {ratio} times"
            return _finding(more, less, why)
    return None


def _moved(one: Result) -> _Moved | None:
    """None where it is not known, or where the tool says it, so that each rate is judged alone."""
    rate, elapsed = bytes_per_s(one.value, one.unit), one.of.get("elapsed_s")
    error = one.of.get("elapsed_error_s")
    if "bytes_moved" in one.of or not (is_number(rate) and is_number(elapsed)):
        return None
    half = error if is_number(error) else 0.0
    least, most = rate * (elapsed - half), rate * (elapsed + half)
    return _Moved(one, least, most) if least > 0 and is_number(most) else None


def _finding(more: _Moved, less: _Moved, why: str) -> Finding:
    pair = sorted((more, less), key=lambda one: one.result.line)
    said = [
        f"{one.result.name} (line {one.result.line}) moved "
        f"{format_bytes(round((one.least + one.most) / 2))}"
        for one in pair
    ]
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=[one.result.where for one in pair],
        confidence=SURE,
        evidence=[
            proof(name, value, unit, f"line {one.result.line}")
            for one in pair
            for name, value, unit in (
                ("rate", one.result.value, one.result.unit),
                ("elapsed_s", one.result.of["elapsed_s"], "s"),
            )
        ],
        explanation=(
            f"By their rates and the times that these are made of, {said[0]} and {said[1]}: {why}, "
            "so that one of these figures is wrong."
        ),
        remedy=REMEDY,
    )
