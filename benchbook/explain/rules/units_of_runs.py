"""unit-mix: two runs of one tool are the same, and only their units make them look apart.

Decided by all rates that both have: one run prints units of 2¹⁰, the other of 10³ or bits, and in
bytes they are equal. Whoever compares the digits finds a gain that is none.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import pairwise

from benchbook.core.number_format import number
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import Machine
from benchbook.explain.rules.unit_mix import REMEDY
from benchbook.explain.units import bytes_per_s, is_binary
from benchbook.findings import Finding, proof

ARTEFACT = "unit-mix"
MOST = 200  # reports of a log
EQUAL = 0.01
LAST = 4  # sizes of a sweep: small ones have few digits
LIKELY = 0.8
_WHOLE = ("total", "mean", "best", "")
_SETTING = ("direction", "reverse", "end", "host_memory", "threads", "streams")


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each two runs, one after the other, that differ so."""
    del machine
    if len(reports) > MOST:
        return
    for one, other in pairwise(reports):
        if one.tool == other.tool and (pairs := _alike(one, other)):
            yield _finding(*pairs[0])


def _alike(one: Report, other: Report) -> list[tuple[Result, Result]]:
    """The rates that both have; none where they are not equal, or of units of one kind."""
    for setting in (_SETTING, (*_SETTING, "message_bytes")):
        both = _rates(one, setting), _rates(other, setting)
        pairs = [(both[0][key], both[1][key]) for key in both[0] if key in both[1]]
        pairs = [(a, b) for a, b in pairs if a.value or b.value]
        are_two = all(is_binary(a.unit) != is_binary(b.unit) for a, b in pairs)
        if pairs and are_two and all(_are_equal(a, b) for a, b in pairs[-LAST:]):
            return pairs[-1:]
    return []


def _rates(report: Report, setting: tuple[str, ...]) -> dict[Hashable, Result]:
    """Its rates by what they are of; none of what it has several of."""
    found: dict[Hashable, Result] = {}
    twice: set[Hashable] = set()
    for (name, statistic, unit), several in report.groups.items():
        if statistic not in _WHOLE or not bytes_per_s(1.0, unit):
            continue
        for one in several:
            key = name, statistic, *(report.column(one, each) for each in setting)
            twice |= {key} & found.keys()
            found[key] = one
    return {key: one for key, one in found.items() if key not in twice}


def _are_equal(one: Result, other: Result) -> bool:
    if not all(is_number(each.value) and each.value > 0 for each in (one, other)):
        return False
    rates = [bytes_per_s(each.value, each.unit) or 0.0 for each in (one, other)]
    return abs(rates[0] - rates[1]) <= EQUAL * max(rates)


def _finding(one: Result, other: Result) -> Finding:
    rates = [(bytes_per_s(each.value, each.unit) or 0.0) / 1e9 for each in (one, other)]
    return Finding(
        artefact=ARTEFACT,
        effect="explains",
        where=[one.where, other.where],
        confidence=LIKELY,
        evidence=[
            proof(each.name, each.value, each.unit, f"line {each.line}") for each in (one, other)
        ],
        explanation=(
            f"{one.value:,.10g} {one.unit} (line {one.line}) and {other.value:,.10g} {other.unit} "
            f"(line {other.line}) of {one.name} are {number(rates[0])} and {number(rates[1])} "
            "GB/s: the same. One counts by powers of 2¹⁰ and the other by powers of 10³, bytes or "
            "bits, so that their digits look further apart than the runs are."
        ),
        remedy=REMEDY,
    )
