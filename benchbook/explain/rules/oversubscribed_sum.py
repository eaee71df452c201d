"""oversubscribed-sum: averages of several processes were added, as if all had run all the time.

Each average is over the time in which its process copied. Nothing says that the others copied then:
what ends first leaves its share to the rest, and with more processes than cores each average leaves
out the time in which its process waited.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.model import Report, Result
from benchbook.explain.rules import Machine
from benchbook.explain.rules.above_link import BEYOND_LINK
from benchbook.explain.units import bytes_per_s
from benchbook.findings import Finding, proof

ARTEFACT = "oversubscribed-sum"
NEEDS = ("sum", "devices")
ADDED = {"mean": "averages", "best": "best rates", "total": "averages"}
SURE, LIKELY = 1.0, 0.8
REMEDY = (
    "Start all processes at one barrier, and divide the bytes of the whole group by the time from "
    "the first start to the last end."
)


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each run that prints sums of averages."""
    for report in reports:
        if in_turn := [one for one in report.knowing("devices") if _is_of_turns(one)]:
            yield _of_devices(in_turn)
        sums = [one for one in report.being("sum") if _is_wrong(report, one)]
        if sums:
            yield _finding(report, sums, machine)


def _is_of_turns(one: Result) -> bool:
    """Whether a tool added what devices did one after the other."""
    return one.statistic == "mean" and "summed_of" in one.of and one.of.get("devices", 1) > 1


def _of_devices(sums: list[Result]) -> Finding:
    first = sums[0]
    devices = first.of["devices"]
    return Finding(
        artefact=ARTEFACT,
        effect="biases",
        where=[one.where for one in sums],
        confidence=LIKELY,
        evidence=[proof("sum of rates", first.value, first.unit, f"line {first.line}")],
        explanation=(
            f"{first.value:,.6g} {first.unit} in line {first.line} are the rates of {devices} "
            "devices added, each of which was measured by itself, one after the other. What they "
            "have when all of them work at the same time was not measured."
        ),
        remedy=REMEDY,
    )


def _is_wrong(report: Report, one: Result) -> bool:
    """Whether averages of several were added; of transfers, which may well have run at the same
    time, only where their link cannot carry the sum."""
    if one.of.get("summed_of") not in ADDED or report.column(one, "processes") == 1:
        return False
    link = report.facts.get("link_bits_per_s")
    if one.of["summed_of"] != "total" and "pattern" not in report.facts:
        return True
    return bool(link) and (bytes_per_s(one.value, one.unit) or 0) * 8 > BEYOND_LINK * link


def _finding(report: Report, sums: list[Result], machine: Machine) -> Finding:
    largest = max(sums, key=lambda one: one.value)
    processes = report.column(largest, "processes")
    cores = report.facts.get("cores") or machine.cores
    what = ADDED[largest.of["summed_of"]]
    of = f" of {processes} processes" if processes else ""
    crowded = processes and cores and processes > cores
    more = (
        f" {processes} processes on {cores} cores take turns, and an average leaves out the time "
        "in which its process waited."
        if crowded
        else ""
    )
    return Finding(
        artefact=ARTEFACT,
        effect="biases",
        where=[one.where for one in sums],
        confidence=SURE if crowded else LIKELY,
        evidence=[proof("sum of averages", largest.value, largest.unit, f"line {largest.line}")],
        explanation=(
            f"Line {largest.line} adds the {what}{of} to {largest.value:,.0f} {largest.unit} "
            f"for {largest.name}. Nothing makes them work at the same time, so each has moments "
            "in which the others were idle, and the sum can be more than the machine delivers."
            f"{more}"
        ),
        remedy=REMEDY,
    )
