"""report-errors: losses, jitters and uses of CPUs that no transfer can have, times and counts below
none, as some versions of tools print them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from benchbook.core.number_format import listed
from benchbook.detect.detectors.report_errors import FIRST_JITTER, OUT_OF_RANGE
from benchbook.evidence.throughput.ranges import first_jitters, out_of_range
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.results import by_columns
from benchbook.explain.rules import Machine
from benchbook.explain.rules.common.transfer_parts import groups_beside
from benchbook.explain.rules.wall_clock_step import goes_back
from benchbook.explain.units import in_base
from benchbook.findings import Finding, proof

ARTEFACT = "report-errors"
CERTAIN, BY_SIZE = 1.0, 0.9
SHOWN = 3
LEAST_S = 0.5
MORE_RECEIVED = 1.02  # times what was sent: digits and the ends of a test make less
LAST_NUMBERS = frozenset((2**31 - 1, 2**32 - 1))
LONGER = 1.5  # times as long: a sender's total that was cut off, and an interval in its place
_COUNTED = ("datagrams", "lost datagrams", "messages")
_NAMES = {
    "jitter": "jitter_ms",
    "lost datagrams": "lost_datagrams",
    "loss": "lost_percent",
}


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for all values of a report that cannot be, one for its first jitter."""
    del machine
    for report in reports:
        groups = {} if _all_may_be(report) else _groups(report)
        lasted = {
            _stretch(one): (one.of["elapsed_s"], one.of.get("start_s") == 0)
            for one in (report.results if groups else ())
            if "elapsed_s" in one.of
        }
        out = [
            (own[one.name], f"{one.words} (line {own[one.name].line})")
            for own in groups.values()
            for one in out_of_range({"": _values(own, lasted)})
        ]
        out += _too_many(report)
        out += _full(report)
        if out:
            yield _finding(out, CERTAIN, OUT_OF_RANGE, _OUT)
        if idle := list(_less_than_idle(report)):
            yield _finding(idle, CERTAIN, IDLE_REMEDY, _IDLE)
        below = list(_below_none(report))
        if below and not goes_back(report):  # else a step of its clock is told
            yield _finding(below, CERTAIN, OF_TIMES, _BELOW)
        if fewer := list(_fewer_than_none(report)):
            yield _finding(fewer, CERTAIN, OF_COUNTS, _FEWER)
        first = list(_first(report))
        if first and not out:
            yield _finding(first[:1], BY_SIZE, FIRST_JITTER, _FIRST)


_OUT = "The log says {0}. No network makes such a value: the report is wrong."
_IDLE = (
    "The log says that {0} of the CPUs were in use. Nothing is busy for less than no time: the "
    "counters of idle time were not read as this system has them."
)
IDLE_REMEDY = (
    "Set these values aside, and what the tool makes of them for each unit of work, and look at "
    "the CPUs with mpstat on both hosts; the rate beside them does not rest on them."
)
_BELOW = (
    "The log says {0}. Nothing takes less than no time: the tool took more away for what it did "
    "not mean to time than it had, or its clock was set while it ran."
)
OF_TIMES = (
    "Set these times aside, and those of the same run that are as short: give each repetition more "
    "to do, without pauses of the clock, and try another version of the tool."
)
_FEWER = (
    "The log says {0}. Nothing happens less often than never: a counter ran over the last number "
    "of its type, or the log was edited."
)
OF_COUNTS = "Set these counts aside, and every ratio that was made of them, and count once more."
_FIRST = (
    "The log says {0}. Jitter is the smoothed change from one datagram's way to the next, and the "
    "first has none before it: the offset between the two clocks stands in its place."
)


def _all_may_be(report: Report) -> bool:
    """Whether every value can be true, as in nearly all logs: told without a table of lines."""
    if not (_are_within(report, "jitter", 1e3 * LEAST_S) and _are_within(report, "loss", 100)):
        return False
    groups = groups_beside(report, "lost datagrams", "datagrams")
    if groups is not None and not any("sender" in every.column("end") for _, every in groups):
        return all(
            0 <= a <= b
            for lost, every in groups
            for a, b in zip(lost.values, every.values, strict=True)
        )
    lost = report.called("lost datagrams")
    every = [one for one in report.called("datagrams") if one.of.get("end") != "sender"]
    return len(lost) == len(every) and all(
        a.line == b.line and a.of == b.of and 0 <= a.value <= b.value
        for a, b in zip(lost, every, strict=True)
    )


def _are_within(report: Report, name: str, most: float) -> bool:
    groups = (own for (called, *_), own in report.groups.items() if called == name)
    return all(0 <= value <= most for own in groups for value in own.values)


def _groups(report: Report) -> dict[tuple[Any, ...], dict[str, Result]]:
    """The values of one line of one stream, by the names that ranges.py has for them."""
    found: dict[tuple[Any, ...], dict[str, Result]] = {}
    for one in report.called(*_NAMES, "datagrams"):
        name = _NAMES.get(one.name)
        if one.name == "datagrams" and one.of.get("end") != "sender":
            name = "expected_datagrams"
        if name is not None:
            found.setdefault((*_stretch(one), one.of.get("end")), {})[name] = one
    return found


def _stretch(one: Result) -> tuple[Any, ...]:
    """What a line tells of: numbers of one stretch of one stream."""
    return one.line, one.statistic, one.of.get("stream"), one.of.get("interval")


def _values(
    own: Mapping[str, Result], lasted: Mapping[tuple[Any, ...], tuple[float, bool]]
) -> dict[str, float]:
    """By name, and how long the transfer was received, as far as it is known; of a moment that has
    no length at its digits a jitter can be longer, and what was smoothed before it is in it."""
    values = {name: one.value for name, one in own.items()}
    if values.get("expected_datagrams") == 0 and math.isnan(values.get("lost_percent", 0.0)):
        del values["lost_percent"]  # a share of nothing
    took, from_begin = lasted.get(_stretch(next(iter(own.values()))), (0.0, False))
    beyond = from_begin and values.get("jitter_ms", 0.0) > 1e3 * LEAST_S
    return values | {"receiving_s": took} if took and (took >= LEAST_S or beyond) else values


def _below_none(report: Report) -> Iterator[tuple[Result, str]]:
    """Times that a program cannot take; those of single exchanges are told of their clock."""
    for (name, _, unit), several in report.groups.items():
        if name.endswith(("time", "memory latency", "launch")) and in_base(1.0, unit)[1] == "ns":
            for one in several:
                if one.value < 0:
                    yield one, f"{one.value:,.6g} {one.unit} for {one.name} (line {one.line})"


def _fewer_than_none(report: Report) -> Iterator[tuple[Result, str]]:
    """Counts of events that are below 0."""
    for (name, _, unit), several in report.groups.items():
        for at, value in enumerate(several.values if unit == "events" else ()):
            if value < 0:
                yield several[at], f"{value:,.0f} {name} (line {several[at].line})"


def _full(report: Report) -> Iterator[tuple[Result, str]]:
    """Counts at the last number of their type, where a counter stands still or a cast ends."""
    several = [own for (name, *_), own in report.groups.items() if name in _COUNTED]
    full = [
        own[at]
        for own in several
        if not LAST_NUMBERS.isdisjoint(own.values)
        for at, one in enumerate(own.values)
        if one in LAST_NUMBERS
    ]
    for one in sorted(full, key=lambda one: one.line):
        yield one, f"{one.value:,.0f} {one.name}, the last number of its type (line {one.line})"


def _too_many(report: Report) -> Iterator[tuple[Result, str]]:
    """More received than sent."""
    totals = {
        (one.name, one.of.get("stream"), one.of.get("direction"), one.of.get("end")): one
        for one in report.being("total")
    }
    left_out = "omitted" in report.facts or "omitted" in report.columns
    for (name, stream, direction, end), got in totals.items():
        if name == "packets received":
            sent = totals.get(("packets sent", stream, direction, end))
            most = sent.value if sent else None
        elif _tells_received(got) and end == "receiver" and not left_out:
            sent = totals.get((name, stream, direction, "sender"))
            most = MORE_RECEIVED * _bytes(sent) if sent else None
        else:
            continue
        if not is_number(got.value) or (sent is not None and not is_number(sent.value)):
            continue
        took = [one.of.get("elapsed_s") for one in (got, sent) if one is not None]
        if is_number(took[0]) and is_number(took[-1]) and took[0] > LONGER * took[-1] + LEAST_S:
            continue
        if sent is not None and most is not None and _bytes(got) > most > 0:
            of_sent = f"{sent.value:,.6g} {sent.unit}".removesuffix(f" {got.unit}")
            said = f"{got.value:,.6g} {got.unit} received of {of_sent} sent"
            yield got, f"{said} (line {got.line})"


def _tells_received(one: Result) -> bool:
    """Whether it is of what arrived: some count lost datagrams as well, without a time."""
    return one.name == "transferred" or (one.name == "datagrams" and "elapsed_s" in one.of)


def _less_than_idle(report: Report) -> Iterator[tuple[Result, str]]:
    for one in report.called("CPU"):
        if is_number(one.value) and one.value < 0:
            yield one, f"{one.value:,.6g} % (line {one.line})"


def _bytes(one: Result) -> float:
    """Of what was transferred; packets are as many as they are."""
    return in_base(one.value, one.unit)[0]


def _first(report: Report) -> Iterator[tuple[Result, str]]:
    """First jitters that have nothing to do with that of the whole transfer."""
    firsts, wholes = (_of_streams(report, one) for one in ("interval", "total"))
    for stream, first in firsts.items():
        if (whole := wholes.get(stream)) is None:
            continue
        ends = {"": {"first_jitter_ms": first.value, "jitter_ms": whole.value}}
        for doubt in first_jitters(ends):
            yield first, f"{doubt.words} (line {first.line})"


def _of_streams(report: Report, statistic: str) -> dict[object, Result]:
    """The first jitter of each."""
    found: dict[object, Result] = {}
    for _, several in report.alike("jitter", statistic):
        for (stream,), own in by_columns(several, ("stream",)).items():
            found.setdefault(stream, own[0])
    return found


def _finding(
    doubted: list[tuple[Result, str]], confidence: float, remedy: str, text: str
) -> Finding:
    words = list(dict.fromkeys(said for _, said in doubted))
    more = [f"{len(words) - SHOWN} more"] if len(words) > SHOWN else []
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=[one.where for one, _ in doubted],
        confidence=confidence,
        evidence=[
            proof(one.name, one.value, one.unit, f"line {one.line}") for one, _ in doubted[:SHOWN]
        ],
        explanation=text.format(listed([*words[:SHOWN], *more])),
        remedy=remedy,
    )
