"""zero-page: a program that worked on buffers took fewer page faults than its buffers have pages.

Decided by what perf stat counted of the same program in the same log, even if all pages were huge:
what was never written has no memory of its own, and reads of it come from one page of zeros.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from benchbook.artefacts import Finding, proof
from benchbook.digits import count
from benchbook.importers import Report, Result
from benchbook.logs.rules import Machine
from benchbook.sizes import format_bytes

ARTEFACT = "zero-page"
HUGE_PAGE_BYTES = 2 << 20
LEAST_PAGES = 8  # fewer are the program's own
LIKELY = 0.8
COUNTER = "perf-stat"
EVENTS = ("page-faults", "faults", "minor-faults")
REMEDY = (
    "Write to every page of every buffer before measuring, and count again: each page that has "
    "memory of its own is one fault at least."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each program whose faults, counted right behind it, are too few."""
    del machine
    for program, counted in pairwise(reports):
        if counted.tool != COUNTER or program.tool == COUNTER:
            continue
        if program.results and program.results[-1].line < counted.facts.get("asked_in_line", 0):
            continue  # somebody called another one in between
        faults = next((one for one in counted.results if _is_fault(one)), None)
        if faults is None:
            continue
        sized = program.knowing("working_set_bytes")
        sizes = [program.column(one, "working_set_bytes") for one in sized]
        largest = max((size for size in sizes if isinstance(size, int)), default=0)
        pages = largest // HUGE_PAGE_BYTES
        if pages >= LEAST_PAGES and faults.value < pages:
            yield _finding(program, faults, largest, pages)


def _is_fault(one: Result) -> bool:
    name = one.name.partition(":")[0]
    return name in EVENTS and one.of.get("state") == "ok" and not one.of.get("place")


def _finding(program: Report, faults: Result, size: int, pages: int) -> Finding:
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=[one.where for one in program.results[:1]] + [faults.where],
        confidence=LIKELY,
        evidence=[
            proof("working_set_bytes", size, "bytes", f"line {program.line}"),
            proof("page faults", faults.value, "faults", f"line {faults.line}"),
        ],
        explanation=(
            f"The {program.tool} of line {program.line} works on {format_bytes(size)}, but its "
            f"program took {count(faults.value)} page faults in all (line {faults.line}): even "
            f"huge pages of 2 MiB would take {count(pages)}. So most of its buffers were never "
            "written, and what is read from there is one page of zeros, out of a cache."
        ),
        remedy=REMEDY,
    )
