"""zero-page: a program that worked on buffers took fewer page faults than its buffers have pages.

Decided by what perf stat counted of the same program in the same log, even if all pages were huge:
what was never written has no memory of its own. Pages may be larger still, or be there before the
program touches them, so that this is likely and not certain.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from benchbook.core.number_format import count
from benchbook.core.sizes import format_bytes
from benchbook.explain.model import Report, Result
from benchbook.explain.rules import Machine
from benchbook.explain.rules.common.devices import has_own_memory
from benchbook.findings import Finding, proof

ARTEFACT = "zero-page"
HUGE_PAGE_BYTES = 2 << 20
LEAST_PAGES = 8  # fewer are the program's own
LIKELY = 0.7
COUNTER = "perf-stat"
EVENTS = ("page-faults", "faults", "minor-faults")
# What was counted instead: from some moment on, or where a program was for some time.
NO_WHOLE_PROGRAM = ("process id", "thread id", "CPU(s)", "system wide")
REMEDY = (
    "Write to every page of every buffer before measuring, and count again: each page that has "
    "memory of its own is one fault at least."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each program whose faults, counted right behind it, are too few."""
    del machine
    for program, counted in pairwise(reports):
        if counted.tool != COUNTER or program.tool == COUNTER or has_own_memory(program):
            continue
        if str(counted.facts.get("program", "")).startswith(NO_WHOLE_PROGRAM):
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
            "written and have no memory of their own, unless its pages are larger still (hugetlbfs "
            "of 1 GiB, kernels with pages of 64 KiB) or came without faults (MAP_POPULATE)."
        ),
        remedy=REMEDY,
    )
