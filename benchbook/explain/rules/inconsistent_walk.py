"""inconsistent-report: random reads that a larger block, or one more at a time, makes far faster.

A larger block has all caches of a smaller one, and less of it in each of them: its reads take as
long at least. Of two reads at a time neither is answered before one alone would be, and both of
them within the time of two after each other. Decided with room for what disturbs a run.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.core.sizes import format_bytes
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import Machine
from benchbook.findings import Finding, proof

ARTEFACT = "inconsistent-report"
NEEDS = ("access",)
RANDOM = "random"
LESS = 0.5  # of a larger block ÷ of a smaller one
MOST_OF_TWO, LEAST_OF_TWO = 3.0, 0.5  # of two at a time ÷ of one
LEAST_NS = 8.0  # shorter ones are mostly what was subtracted from them
LIKELY = 0.85
SINGLE, DUAL = "single random read", "dual random read"
REMEDY = (
    "Do not use these rows before it is known which of them is wrong: look whether the log was "
    "edited, and run the tool again on a machine with nothing else to do."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report with such reads."""
    del machine
    for report in reports:
        walks: dict[object, dict[str, dict[int, Result]]] = {}
        for one in report.knowing("access"):
            size = one.of.get("working_set_bytes")
            if one.unit == "ns" and one.of.get("access") == RANDOM and is_number(size):
                of_pages = walks.setdefault(one.of.get("pages"), {})
                of_pages.setdefault(one.name, {})[int(size)] = one
        found = [pair for walk in walks.values() for pair in (_fall(walk), _of_two(walk)) if pair]
        if found:
            yield _finding(*found[0])


_Pair = tuple[Result, Result, str]


def _fall(walk: dict[str, dict[int, Result]]) -> _Pair | None:
    """A block whose reads are far faster than those of a smaller one."""
    for own in walk.values():
        longest: Result | None = None
        for size in sorted(own):
            one = own[size]
            if not is_number(one.value) or one.value < 0:
                continue
            if longest and one.value < LESS * longest.value and longest.value >= LEAST_NS:
                smaller = format_bytes(longest.of["working_set_bytes"])
                why = (
                    f"a block of {format_bytes(size)} has no more of itself in any cache than one "
                    f"of {smaller}, and its reads cannot be so much shorter"
                )
                return longest, one, why
            if longest is None or one.value > longest.value:
                longest = one
    return None


def _of_two(walk: dict[str, dict[int, Result]]) -> _Pair | None:
    """Two reads at a time that took far less than one, or far more than two."""
    for size, single in walk.get(SINGLE, {}).items():
        dual = walk.get(DUAL, {}).get(size)
        if dual is None or not (is_number(single.value) and is_number(dual.value)):
            continue
        if dual.value > max(MOST_OF_TWO * single.value, single.value + LEAST_NS):
            return single, dual, "two reads at a time take at most as long as one after the other"
        if dual.value < min(LEAST_OF_TWO * single.value, single.value - LEAST_NS):
            return single, dual, "two reads at a time cannot be over before one alone is"
    return None


def _finding(one: Result, other: Result, why: str) -> Finding:
    pair = (one, other)
    said = [f"{each.value:,.6g} ns for a {each.name} (line {each.line})" for each in pair]
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=[each.where for each in pair],
        confidence=LIKELY,
        evidence=[proof(each.name, each.value, each.unit, f"line {each.line}") for each in pair],
        explanation=f"{said[0]} and {said[1]} do not go together: {why}.",
        remedy=REMEDY,
    )
