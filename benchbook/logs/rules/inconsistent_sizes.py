"""inconsistent-report: the size of the arrays, or of all of them, is not what their head makes it.

A tool that prints elements and bytes of one, of an array and of all arrays computes each from the
others: where they do not fit, the head is not of this run, or was edited.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.artefacts import Finding, proof
from benchbook.importers import Report, Result
from benchbook.logs.printed import is_number
from benchbook.logs.rules import Machine
from benchbook.sizes import format_bytes

ARTEFACT = "inconsistent-report"
ARRAYS = 3  # of STREAM and what is made after it
TOLERANCE = 0.06  # megabytes of 10^6 and of 2^20 bytes are no contradiction here
CERTAIN = 1.0
REMEDY = (
    "Do not use these figures before it is known which arrays they were measured with: ask whoever "
    "copied or edited the log."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report with such a size."""
    del machine
    for report in reports:
        array, error = report.facts.get("array_bytes"), report.facts.get("said_error_bytes")
        if not is_number(array) or not is_number(error):
            continue
        for arrays, name in ((1, "said_array_bytes"), (ARRAYS, "said_total_bytes")):
            said = report.facts.get(name)
            # An array that was itself rounded is so in each of them.
            slack = TOLERANCE * arrays * array + (1 + arrays) * error
            if is_number(said) and abs(said - arrays * array) > slack:
                yield _finding(report, arrays, array, said)
                break
        else:
            other = next((one for one in report.results if _is_other(one, array)), None)
            if other:
                yield _unlike(report, other, array)


def _is_other(one: Result, array: float) -> bool:
    """Whether its own line says another size of an array."""
    own = one.of.get("array_bytes")
    return is_number(own) and own > 0 and abs(own - array) > TOLERANCE * array


def _unlike(report: Report, one: Result, array: float) -> Finding:
    own = one.of["array_bytes"]
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        factor=own / array if array > 0 else None,
        where=[one.where],
        confidence=CERTAIN,
        evidence=[
            proof("array_bytes", own, "bytes", f"line {one.line}"),
            proof("array_bytes of the head", array, "bytes", f"line {report.line}"),
        ],
        explanation=(
            f"Line {one.line} is of {format_bytes(round(own))}, but the head of its run (line "
            f"{report.line}) is of arrays of {format_bytes(round(array))}."
        ),
        remedy=REMEDY,
    )


def _finding(report: Report, arrays: int, array: float, said: float) -> Finding:
    made = arrays * array
    of = "an array" if arrays == 1 else f"all {arrays} arrays"
    parts = "its elements" if arrays == 1 else f"{arrays} of {format_bytes(round(array))}"
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        factor=said / made,
        where=[f"line {report.line}: size of {of}"],
        confidence=CERTAIN,
        evidence=[
            proof("array_bytes", array, "bytes", "log"),
            proof(f"size of {of}", said, "bytes", "log"),
        ],
        explanation=(
            f"The run from line {report.line} says {format_bytes(round(said))} for {of}, but "
            f"{parts} make {format_bytes(round(made))}."
        ),
        remedy=REMEDY,
    )
