"""inconsistent-report: kernels that move as many arrays of one size moved unlike many bytes.

By a rate and the time that it was made of. Where the tool's head is cut off, nobody says how large
its arrays were; that two of them were alike is known all the same, whatever a tool counts for one.
Of kernels that go over two and over three arrays the bytes have one of few ratios, by what counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from benchbook.artefacts import Finding, proof
from benchbook.importers import Report, Result
from benchbook.logs.printed import is_number
from benchbook.logs.rules import Machine
from benchbook.logs.units import bytes_per_s
from benchbook.sizes import format_bytes

ARTEFACT = "inconsistent-report"
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
        alike: dict[tuple[object, ...], list[_Moved]] = {}
        for one in report.knowing("arrays_moved"):
            if moved := _moved(one):
                key = one.of.get("arrays_moved"), one.of.get("process"), one.unit
                alike.setdefault(key, []).append(moved)
        for several in alike.values():
            less = min(several, key=lambda one: one.most)
            more = max(several, key=lambda one: one.least)
            if more.least > (1 + TOLERANCE) * less.most:
                yield _finding(more, less, "go over as many arrays of one size")
                break
        else:
            yield from islice(_of_unlike(alike), 1)


def _of_unlike(alike: dict[tuple[object, ...], list[_Moved]]) -> Iterator[Finding]:
    """Kernels of unlike many arrays whose bytes are in no ratio that any way of counting makes:
    all that is read and written, what stores read first as well, or what is read alone."""
    for (few, *of), less in alike.items():
        for (many, *other), more in alike.items():
            if of != other or not (is_number(few) and is_number(many) and 1 < few < many):
                continue
            least, most = _ratio(more[0], less[0])
            ratios = [(many + by) / (few + by) for by in (-1, 0, 1)]
            if not any(least <= one * (1 + TOLERANCE) and one * (1 - TOLERANCE) <= most
                       for one in ratios):  # fmt: skip
                yield _finding(more[0], less[0], "go over {} and {} arrays of one size")


def _ratio(more: _Moved, less: _Moved) -> tuple[float, float]:
    """Between which numbers it is, as far as their digits tell."""
    return more.least / less.most, more.most / less.least


def _moved(one: Result) -> _Moved | None:
    """None where it is not known, or where the tool says it, so that each rate is judged alone."""
    rate, elapsed = bytes_per_s(one.value, one.unit), one.of.get("elapsed_s")
    error = one.of.get("elapsed_error_s")
    if "bytes_moved" in one.of or not (is_number(rate) and is_number(elapsed)):
        return None
    half = error if is_number(error) else 0.0
    least, most = rate * (elapsed - half), rate * (elapsed + half)
    return _Moved(one, least, most) if least > 0 and is_number(most) else None


def _finding(more: _Moved, less: _Moved, how: str) -> Finding:
    pair = sorted((more, less), key=lambda one: one.result.line)
    counts = [one.result.of["arrays_moved"] for one in pair]
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
            f"By their rates and the times that these are made of, {said[0]} and {said[1]}: they "
            f"{how.format(*counts)}, so that one of these figures is wrong."
        ),
        remedy=REMEDY,
    )
