"""report-errors: values that no transfer can have, as some versions of tools print them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from benchbook.core.number_format import listed
from benchbook.evidence.throughput.ranges import first_jitters, out_of_range
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import rule
from benchbook.explain.rules.clocks import goes_back
from benchbook.explain.rules.common.findings import finding
from benchbook.explain.units import in_base
from benchbook.findings import Finding

SHOWN = 3
LEAST_S = 0.5
MORE_RECEIVED = 1.02  # times what was sent: digits and the ends of a test make less
LAST_NUMBERS = frozenset((2**31 - 1, 2**32 - 1))
LONGER = 1.5  # times as long: a sender's total that was cut off, and an interval in its place
_COUNTED = ("datagrams", "lost datagrams", "messages")
_NAMES = {"jitter": "jitter_ms", "lost datagrams": "lost_datagrams", "loss": "lost_percent"}
Doubt = tuple[Result, str]
_Line = tuple[Any, ...]


@rule
def report_errors(report: Report) -> Iterator[Finding]:
    """Losses, jitters and uses of CPUs that no transfer can have, times and counts below none: one
    finding for each kind, one for the first jitter."""
    out, more = [*_out_of_range(report), *_full(report)], list(_too_many(report))
    if report.tool == "packet generator":
        more = []  # what a port receives is not what it sent
    jitters = [doubt for doubt in out if doubt[0].name == "jitter"]
    yield from _doubted("out-of-range", [doubt for doubt in out if doubt[0].name != "jitter"])
    yield from _doubted("jitter-out-of-range", jitters)
    yield from _doubted("more-received", more)
    cpus = report.called("CPU")
    idle = [cpu for cpu in cpus if cpu.is_number and cpu.value < 0]
    yield from _doubted("less-than-idle", [(cpu, f"{cpu.value:,.6g} %") for cpu in idle])
    below = list(_below_none(report))
    if below and not goes_back(report):  # else a step of its clock is told
        yield from _doubted("times-below-none", below)
    fewer = [
        (count, f"{count.value:,.0f} {count.name}")
        for (_, _, unit), several in report.groups.items()
        for count in (several if unit == "events" else ())
        if count.value < 0
    ]
    yield from _doubted("counts-below-none", fewer)
    if not out and not more:
        yield from _doubted("first-jitter", list(_first_jitters(report))[:1])


def _doubted(kind: str, doubts: list[Doubt]) -> Iterator[Finding]:
    if doubts:
        every = list(dict.fromkeys(f"{words} (line {result.line})" for result, words in doubts))
        more = [f"{len(every) - SHOWN} more"] if len(every) > SHOWN else []
        text = listed([*every[:SHOWN], *more])
        shown = [result for result, _ in doubts]
        yield finding(kind, said=text, about=shown, shown=shown[:SHOWN])


def _out_of_range(report: Report) -> Iterator[Doubt]:
    groups: dict[_Line, dict[str, Result]] = {}
    for result in report.called(*_NAMES, "datagrams"):
        name = _NAMES.get(result.name)
        if result.name == "datagrams" and result.of.get("end") != "sender":
            name = "expected_datagrams"
        if name is not None:
            groups.setdefault((*_line(result), result.of.get("end")), {})[name] = result
    lasted = {
        _line(result): (result.of["elapsed_s"], result.of.get("start_s") == 0)
        for result in (report.results if groups else ())
        if "elapsed_s" in result.of
    }
    for own in groups.values():
        for doubt in out_of_range({"": _values(own, lasted)}):
            yield own[doubt.name], doubt.words


def _line(result: Result) -> _Line:
    """What a line tells of: numbers of one stretch of one stream."""
    return result.line, result.statistic, result.of.get("stream"), result.of.get("interval")


def _values(
    own: Mapping[str, Result], lasted: Mapping[_Line, tuple[float, bool]]
) -> dict[str, float]:
    """By name, and how long the transfer was received, as far as it is known; of a moment that has
    no length at its digits a jitter can be longer, and what was smoothed before it is in it."""
    values = {name: result.value for name, result in own.items()}
    if values.get("expected_datagrams") == 0 and math.isnan(values.get("lost_percent", 0.0)):
        del values["lost_percent"]  # a share of nothing
    took, from_begin = lasted.get(_line(next(iter(own.values()))), (0.0, False))
    beyond = from_begin and values.get("jitter_ms", 0.0) > 1e3 * LEAST_S
    return values | {"receiving_s": took} if took and (took >= LEAST_S or beyond) else values


def _below_none(report: Report) -> Iterator[Doubt]:
    """Times that a program cannot take; those of single exchanges are told of their clock."""
    for (name, _, unit), several in report.groups.items():
        if name.endswith(("time", "memory latency", "launch")) and in_base(1.0, unit)[1] == "ns":
            for time in several:
                if time.value < 0:
                    yield time, f"{time.value:,.6g} {time.unit} for {time.name}"


def _full(report: Report) -> Iterator[Doubt]:
    """Counts at the last number of their type, where a counter stands still or a cast ends."""
    for count in sorted(report.called(*_COUNTED), key=lambda count: count.line):
        if count.value in LAST_NUMBERS:
            yield count, f"{count.value:,.0f} {count.name}, the last number of its type"


def _too_many(report: Report) -> Iterator[Doubt]:
    """More received than sent."""
    totals = {
        (total.name, total.of.get("stream"), total.of.get("direction"), total.of.get("end")): total
        for total in report.being("total")
    }
    left_out = "omitted" in report.facts or "omitted" in report.columns
    for (name, stream, direction, end), got in totals.items():
        # Some count lost datagrams as well, without a time.
        arrived = name == "transferred" or (name == "datagrams" and "elapsed_s" in got.of)
        if name == "packets received":
            sent = totals.get(("packets sent", stream, direction, end))
            times = 1.0
        elif arrived and end == "receiver" and not left_out:
            sent = totals.get((name, stream, direction, "sender"))
            times = MORE_RECEIVED
        else:
            continue
        if sent is None or not (got.is_number and sent.is_number):
            continue
        took = [total.of.get("elapsed_s") for total in (got, sent)]
        if is_number(took[0]) and is_number(took[1]) and took[0] > LONGER * took[1] + LEAST_S:
            continue
        most = sent.value if times == 1.0 else times * sent.base_value
        if got.base_value > most > 0:
            of_sent = f"{sent.value:,.6g} {sent.unit}".removesuffix(f" {got.unit}")
            yield got, f"{got.value:,.6g} {got.unit} received of {of_sent} sent"


def _first_jitters(report: Report) -> Iterator[Doubt]:
    """First jitters that have nothing to do with that of the whole transfer."""
    firsts: dict[str, dict[object, Result]] = {"interval": {}, "total": {}}
    for jitter in report.called("jitter"):
        if jitter.statistic in firsts:
            firsts[jitter.statistic].setdefault(jitter.of.get("stream"), jitter)
    for stream, first in firsts["interval"].items():
        if whole := firsts["total"].get(stream):
            values = {"first_jitter_ms": first.value, "jitter_ms": whole.value}
            for doubt in first_jitters({"": values}):
                yield first, doubt.words
