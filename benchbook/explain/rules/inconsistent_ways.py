"""inconsistent-report: two devices move more in one direction than the same two in both together.

The rate of both directions is their sum, so that it is at least that of one. Only staging in the
host's memory, or a bus that others use as well, can make it less: so of pairs that reach each other
directly, and clearly.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.core.number_format import number, plural
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import Machine
from benchbook.explain.units import bytes_per_s
from benchbook.findings import Finding, proof

ARTEFACT = "inconsistent-report"
NEEDS = ("ways",)
# How much more one direction may have. Through bridges and sockets both get into each other's way;
# what is faster than any PCIe has a link of its own for each direction.
OF_OWN_LINK, OF_BUS = 1.1, 1.5
OWN_LINK_BYTES_PER_S = 64e9
REMEDY = (
    "Do not use either figure before it is known which of them is wrong: run the test again with "
    "nothing else on the devices, and ask whoever copied or edited the log."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report with such pairs."""
    del machine
    for report in reports:
        if "ways" not in report.columns:
            continue
        one_way, both_ways = (_by_pair(report, ways) for ways in (1, 2))
        odd = [
            (one, both)
            for pair, one in one_way.items()
            if (both := both_ways.get(pair)) and _is_odd(one, both)
        ]
        if odd:
            yield _finding(odd)


def _by_pair(report: Report, ways: int) -> dict[tuple[object, object], Result]:
    """The rates of pairs of devices that may reach each other; the least, where there are several:
    reads and writes are measured apart in one direction only."""
    found: dict[tuple[object, object], Result] = {}
    for one in report.knowing("ways"):
        of = one.of
        if of.get("ways") != ways or of.get("peers") != "enabled" or of["row"] == of["column"]:
            continue
        pair = of["row"], of["column"]
        if is_number(one.value) and (pair not in found or one.value < found[pair].value):
            found[pair] = one
    return found


def _is_odd(one: Result, both: Result) -> bool:
    rate, sum_of_both = (bytes_per_s(each.value, each.unit) for each in (one, both))
    if rate is None or sum_of_both is None or one.of.get("peer_access") is False:
        return False
    if rate > OWN_LINK_BYTES_PER_S:
        return rate > OF_OWN_LINK * sum_of_both
    return bool(one.of.get("peer_access")) and rate > OF_BUS * sum_of_both


def _finding(odd: list[tuple[Result, Result]]) -> Finding:
    one, both = max(odd, key=lambda pair: pair[0].value / max(pair[1].value, 1e-9))
    more = f"; {plural(len(odd) - 1, 'more pair')} like it" if len(odd) > 1 else ""
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        factor=one.value / both.value if both.value > 0 else None,
        where=list(dict.fromkeys(each.where for pair in odd for each in pair)),
        confidence=1.0,
        evidence=[
            proof(each.where, each.value, each.unit, f"line {each.line}") for each in (one, both)
        ],
        explanation=(
            f"From device {one.of['row']} to {one.of['column']} line {one.line} says "
            f"{number(one.value)} {one.unit} one way, but line {both.line} "
            f"{number(both.value)} {both.unit} for both directions together{more}: the sum of both "
            "is not less than one of them."
        ),
        remedy=REMEDY,
    )
