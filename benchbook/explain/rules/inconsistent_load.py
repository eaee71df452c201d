"""inconsistent-report: figures of a memory under load that its figures without load do not leave
room for.

One node to another cannot carry half as much again as all nodes together with any mixture of reads
and writes, and a load that is under way makes no access wait half as long as in an idle system.
Decided within one run; where only cores that were asleep or a clock that was low makes the idle
figures worse, they are less far off than that.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.core.number_format import number
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import Machine
from benchbook.explain.units import bytes_per_s, in_base
from benchbook.findings import Finding, proof

ARTEFACT = "inconsistent-report"
NEEDS = ("from_node", "inject_delay")
MORE = 1.5  # a part ÷ the whole; what a run beside others may be off by is less
LESS = 0.5  # under load ÷ idle
SURE = 0.9
REMEDY = (
    "Do not use these figures before it is known which of them is wrong: ask whoever copied or "
    "edited the log, or run the tool again on an idle machine with its clock held."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each kind of contradiction of a report."""
    del machine
    for report in reports:
        parts = [one for one in report.knowing("from_node", "inject_delay") if _is_fine(one)]
        wholes = [one for one in report.knowing("mix") if _is_fine(one) and "mix" in one.of]
        rates = [one for one in parts if bytes_per_s(1.0, one.unit)]
        whole = max(wholes, key=_rate, default=None)
        if whole and (far := [one for one in rates if _rate(one) > MORE * _rate(whole)]):
            yield _too_much(max(far, key=_rate), whole, far)
        times = [one for one in parts if in_base(1.0, one.unit)[1] == "ns"]
        idle = [one for one in times if "from_node" in one.of and "homed_in" not in one.of]
        least = min(idle, key=_ns, default=None)
        loaded = [one for one in times if "inject_delay" in one.of]
        if least and (fast := [one for one in loaded if _ns(one) < LESS * _ns(least)]):
            yield _too_fast(min(fast, key=_ns), least, fast)


def _is_fine(one: Result) -> bool:
    return is_number(one.value) and one.value > 0


def _rate(one: Result) -> float:
    return bytes_per_s(one.value, one.unit) or 0.0


def _ns(one: Result) -> float:
    return in_base(one.value, one.unit)[0]


def _too_much(part: Result, whole: Result, far: list[Result]) -> Finding:
    why = "the most that the whole system carried in this run, and no part of it can carry more"
    return _finding(part, whole, far, why)


def _too_fast(fast: Result, idle: Result, every: list[Result]) -> Finding:
    why = "and nobody waits so much less while others use the memory than where nobody does"
    return _finding(fast, idle, every, why)


def _finding(one: Result, other: Result, every: list[Result], why: str) -> Finding:
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        factor=one.value / other.value,
        where=[each.where for each in (*every, other)],
        confidence=SURE,
        evidence=[
            proof(each.name, each.value, each.unit, f"line {each.line}") for each in (one, other)
        ],
        explanation=(
            f"{one.name} in line {one.line} is {one.value:,.6g} {one.unit}, "
            f"{number(one.value / other.value)} times the {other.value:,.6g} {other.unit} of "
            f"{other.name} in line {other.line}, {why}."
        ),
        remedy=REMEDY,
    )
