"""inconsistent-report: totals of transfers and exchanges that their parts do not make.

Counts and the share that they are, streams and their sum, intervals and the whole, datagrams and
bytes. A printed number is as good as its digits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from benchbook.core.number_format import listed
from benchbook.explain.model import SUM, Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import Machine
from benchbook.explain.rules.common.transfer_parts import (
    as_long,
    beside,
    complete,
    covers,
    groups_beside,
    intervals_of,
    is_part,
    whose,
)
from benchbook.explain.units import bytes_per_s, in_base
from benchbook.findings import Finding, proof

ARTEFACT = "inconsistent-report"
TOLERANCE = 0.03  # of bytes: three digits of many lines, and the ends of a test
OF_SHARE = 0.06  # of a share that is printed with two digits
LEAST_POINTS = 0.51  # of a per cent that is printed without any
WHOLE_POINT = 1.01  # a share that is cut, not rounded
HEADS_BYTES, OF_FRAME_BYTES = 28, 1472  # of IP and UDP; what a frame has beside them
LEAST_DIGITS = 1.0  # of a rate with two decimals
OF_CORE = 1e-4  # what four decimals of each core leave open in their sum
LEAST_SHARE = 1e-3  # of a number that is printed twice
LARGEST_DATAGRAM = 65_507  # bytes that UDP over IPv4 carries in one (RFC 768)
SHOWN = 3
# Names and columns of which something below is made up.
_ADDED = ("transferred", "loss", "received", "message rate")
_OF_PARTS = ("column", "core")
REMEDY = (
    "Do not use these figures before it is known which of them is wrong: the tool, or who copied "
    "or edited the log; where the log is whole, compute the totals from its parts."
)
Odd = tuple[str, list[Result]]


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each report whose totals do not add up."""
    del machine
    for report in reports:
        if not any(map(report.has, _ADDED)) and report.columns.isdisjoint(_OF_PARTS):
            continue
        odd = [
            *_shares(report),
            *_packets(report),
            *_streams(report),
            *_slices(report),
            *_intervals(report),
            *_datagrams(report),
            *_messages(report),
            *_matrices(report),
            *_cores(report),
        ]
        if odd:
            yield _finding(odd)


def _shares(report: Report) -> Iterator[Odd]:
    """Lost datagrams of all that are not the printed share."""
    names = "lost datagrams", "datagrams", "loss"
    groups = groups_beside(report, *names)
    if groups is not None and all(
        none == said == 0 < every or _is_share(none, every, said)
        for beside in groups
        for none, every, said in zip(*(one.values for one in beside), strict=True)
    ):
        return  # as of nearly all
    for lost, every, loss in beside(report, *names):
        if not _is_share(lost.value, every.value, loss.value):
            made = 100 * lost.value / every.value
            yield (
                f"line {loss.line} says {loss.value:g} % for {lost.value:,.0f} lost of "
                f"{every.value:,.0f} datagrams, which are {made:.3g} %",
                [lost, every, loss],
            )


def _is_share(lost: float, every: float, loss: float) -> bool:
    """Whether the last one can be that of the others, in per cent."""
    if every <= 0 or lost < 0 or not math.isfinite(loss):
        return True
    made = 100 * lost / every
    slack = max(LEAST_POINTS if loss >= 10 else 0.011, OF_SHARE * min(made, loss))
    return not abs(made - loss) > slack  # what is no number tells nothing


def _packets(report: Report) -> Iterator[Odd]:
    """Packets received of those sent that are not the printed share, of what was lost or came."""
    for name in ("loss", "received"):
        for sent, got, share in beside(report, "packets sent", "packets received", name):
            counted = all(is_number(one.value) for one in (sent, got, share))
            # Those on their way at the end are neither received nor lost.
            over = sent.value - report.facts.get("in_flight", 0)
            if not counted or over <= 0 or got.value > over:
                continue
            came = 100 * got.value / over
            made, meant = (100 - came, "lost") if name == "loss" else (came, "received")
            if abs(made - share.value) > WHOLE_POINT:
                yield (
                    f"line {share.line} says {share.value:g} % {name} for {got.value:,.0f} "
                    f"received of {sent.value:,.0f} packets, which are {made:.3g} % {meant}",
                    [sent, got, share],
                )


def _moved(report: Report, statistic: str) -> list[Result]:
    return [one for one in report.kind("transferred", statistic) if not one.of.get("omitted")]


def _bytes(one: Result) -> float:
    return in_base(one.value, one.unit)[0]


def _streams(report: Report) -> Iterator[Odd]:
    """Sums over streams; a sum is of those of its own end, or of all."""
    moved = _moved(report, "total")
    if any(one.of.get("direction") == "reverse" for one in moved):
        return  # JSON of both ways does not tell which way a stream goes
    every: dict[object, list[Result]] = {}
    ends: dict[object, list[Result]] = {}
    for one in filter(is_part, moved):
        direction, end = one.of.get("direction"), one.of.get("end")
        every.setdefault(direction, []).append(one)
        ends.setdefault((direction, end), []).append(one)
    # Once for each direction and end: a log may have very many sums. Of a log that was cut some
    # streams are missing: only those of which all are there once are added.
    count = report.facts.get("streams", 0)
    whole_ends, whole_all = complete(ends, count), complete(every, count)
    in_own, in_all = _totals(whole_ends), _totals(whole_all)
    for whole in moved if count > 1 else ():
        direction, end = whole.of.get("direction"), whole.of.get("end")
        if whole.of.get("stream") != SUM:
            continue
        sums = [
            *([in_own[direction, end]] if (direction, end) in in_own else []),
            *([in_all[direction]] if direction in in_all else []),
        ]
        parts = whole_ends.get((direction, end)) or whole_all.get(direction, [])
        if sums and as_long(whole, parts) and not any(_near(_bytes(whole), one) for one in sums):
            yield _unequal("the streams", whole, sums[0], parts)


def _slices(report: Report) -> Iterator[Odd]:
    """Sums over the streams of one interval, of which all are there once."""
    count = report.facts.get("streams", 0)
    moved = _moved(report, "interval") if count > 1 else []
    sums = [one for one in moved if one.of.get("stream") == SUM]
    if any(one.of.get("direction") == "reverse" for one in sums):
        return
    parts: dict[object, list[Result]] = {}
    for one in filter(is_part, moved if sums else ()):
        parts.setdefault(_slice(one), []).append(one)
    own = complete(parts, count)
    totals = _totals(own)
    for whole in sums:
        key = _slice(whole)
        if key in totals and not _near(_bytes(whole), totals[key]):
            yield _unequal("the streams", whole, totals[key], own[key])


def _slice(one: Result) -> tuple[object, ...]:
    of = one.of
    return of.get("start_s"), of.get("end_s"), of.get("direction"), of.get("end")


def _totals(parts: dict[Any, list[Result]]) -> dict[Any, float]:
    return {key: sum(map(_bytes, some)) for key, some in parts.items()}


def _intervals(report: Report) -> Iterator[Odd]:
    """Intervals that cover the whole transfer."""
    intervals = intervals_of(report, "transferred")
    spans = {key: own.span() for key, own in intervals.items() if len(own) > 1}
    totals = {key: sum(own.values()) for key, own in intervals.items()}
    for whole in _moved(report, "total"):
        key = whose(whole)
        if (
            (span := spans.get(key))
            and covers(span, whole)
            and not _near(_bytes(whole), totals[key])
        ):
            parts = sorted(intervals[key].rows(), key=lambda one: one.line)
            yield _unequal("the intervals", whole, totals[key], parts)


def _near(one: float, other: float) -> bool:
    return abs(one - other) <= TOLERANCE * max(abs(one), abs(other))


def _unequal(what: str, whole: Result, total: float, parts: list[Result]) -> Odd:
    size = whole.value / _bytes(whole) if _bytes(whole) else 1.0
    return (
        f"line {whole.line} says {whole.value:,.6g} {whole.unit} for the whole, but {what} "
        f"(lines {parts[0].line} to {parts[-1].line}) make {total * size:,.4g} {whole.unit}",
        [whole, *parts[:2]],
    )


def _datagrams(report: Report) -> Iterator[Odd]:
    """Bytes that are not the datagrams times their size, or more than fit into as many."""
    size = report.facts.get("message_bytes")
    if report.facts.get("protocol") != "udp":
        return
    if _all_fit(report, size):
        return
    lost = {_place(one): one.value for one in report.called("lost datagrams")}
    for moved, sent in beside(report, "transferred", "datagrams"):
        if moved.of.get("end") != sent.of.get("end"):
            continue
        received = sent.of.get("end") == "receiver"
        if received and _place(sent) not in lost:
            continue
        got = sent.value - (lost.get(_place(sent), 0.0) if received else 0.0)
        most = got * (size or LARGEST_DATAGRAM)
        if got <= 0 or moved.value <= 0 or _near(_bytes(moved), most):
            continue
        if size or _bytes(moved) > most:
            made = most * moved.value / _bytes(moved)
            of = f"{size:,} bytes make" if size else f"{LARGEST_DATAGRAM:,} bytes at most carry"
            yield (
                f"line {moved.line} says {moved.value:,.6g} {moved.unit}, but {got:,.0f} datagrams "
                f"of {of} {made:,.4g} {moved.unit}",
                [moved, sent],
            )


def _all_fit(report: Report, size: int | None) -> bool:
    """Whether all do, as of nearly all reports."""
    groups = groups_beside(report, "transferred", "datagrams", "lost datagrams")
    for moved, sent, lost in groups or ():
        unit = in_base(1.0, moved[0].unit)[0]
        ends = moved.column("end"), sent.column("end")
        for value, every, less, *both in zip(
            moved.values, sent.values, lost.values, *ends, strict=True
        ):
            got = every - (less if both[0] == "receiver" else 0.0)
            moved_bytes, most = value * unit, got * (size or LARGEST_DATAGRAM)
            if abs(moved_bytes - most) <= TOLERANCE * most:
                continue  # as nearly all
            fits = _near(moved_bytes, most) or (not size and moved_bytes <= most)
            if both[0] == both[1] and got > 0 and value > 0 and not fits:
                return False
    return groups is not None


def _place(one: Result) -> tuple[object, ...]:
    names = ("stream", "interval", "end")
    return one.line, one.statistic, *(one.of.get(name) for name in names)


def _messages(report: Report) -> Iterator[Odd]:
    """A message rate times the size of a message that is not the printed throughput."""
    rates = {
        report.column(one, "message_bytes"): one
        for one in report.called("message rate")
        if one.value > 0
    }
    for one in report.called("throughput") if rates else ():
        size = report.column(one, "message_bytes")
        rate, printed = rates.get(size), bytes_per_s(one.value, one.unit)
        if not size or rate is None or printed is None:
            continue
        # Old versions of sockperf count the heads of IP and UDP, too.
        with_heads = size + HEADS_BYTES * math.ceil(size / OF_FRAME_BYTES)
        if _near(printed, rate.value * with_heads):
            continue
        if one.value >= LEAST_DIGITS and not _near(printed, rate.value * size):
            yield (
                f"line {one.line} says {one.value:,.6g} {one.unit}, but {rate.value:,.6g} messages "
                f"of {size:,} bytes a second are {rate.value * size / 1e6:,.4g} MB/s",
                [one, rate],
            )


def _matrices(report: Report) -> Iterator[Odd]:
    """Cells of a matrix and their printed sum."""
    cells: dict[str, list[Result]] = {}
    for one in report.being("sample") if "column" in report.columns else ():
        if "column" in one.of:
            cells.setdefault(one.name, []).append(one)
    totals = {name: sum(one.value for one in own) for name, own in cells.items() if _is_one(own)}
    for whole in report.being("sum"):
        if whole.name in totals:
            own, total = cells[whole.name], totals[whole.name]
            if not _near(whole.value, total):
                yield (
                    f"line {whole.line} says that {whole.name} sums to {whole.value:,.6g} "
                    f"{whole.unit}, but its {len(own)} cells make {total:,.6g} {whole.unit}",
                    [whole, *own[:2]],
                )


def _cores(report: Report) -> Iterator[Odd]:
    """What counters say of each core and their printed sum, where other sums of the same table are
    right: else cores are missing from it."""
    sums = report.being("sum") if "core" in report.columns else []
    cells: dict[tuple[object, ...], list[Result]] = {}
    for one in report.results if sums else ():
        if "core" in one.of and is_number(one.value):
            cells.setdefault(_counted(one), []).append(one)
    odd: dict[tuple[object, ...], list[Odd]] = {}
    whole_tables: set[tuple[object, ...]] = set()
    for whole in filter(lambda one: is_number(one.value), sums):
        own = cells.get(_counted(whole), [])
        total = sum(one.value for one in own)
        table = _table(whole)
        if len(own) < 2 or len({one.of["core"] for one in own}) < len(own):
            continue
        if abs(whole.value - total) > OF_CORE * len(own) + TOLERANCE * abs(total):
            unit = "" if whole.unit == "1" else f" {whole.unit}"
            words = (
                f"line {whole.line} says that {whole.name} sums to {whole.value:,.6g}{unit}, but "
                f"the {len(own)} cores (line {own[0].line}) make {total:,.6g}{unit}"
            )
            odd.setdefault(table, []).append((words, [whole, *own[:2]]))
        elif total > 0:
            whole_tables.add(table)
    for table, several in odd.items():
        if table in whole_tables:
            yield from several
    if whole_tables:
        yield from _ends_of_cores(report, cells, whole_tables)


def _ends_of_cores(
    report: Report, cells: dict[tuple[object, ...], list[Result]], tables: set[tuple[object, ...]]
) -> Iterator[Odd]:
    """The least and the most of all cores that no core has, in tables that lack none."""
    for said in report.being("min", "max"):
        own = cells.get(_counted(said), [])
        if len(own) < 2 or _table(said) not in tables or not is_number(said.value):
            continue
        values = [one.value for one in own]
        made = min(values) if said.statistic == "min" else max(values)
        if abs(said.value - made) > OF_CORE + LEAST_SHARE * abs(made):
            yield (
                f"line {said.line} says that the {said.statistic} of {said.name} is "
                f"{said.value:,.6g}, but that of the {len(own)} cores (line {own[0].line}) is "
                f"{made:,.6g}",
                [said, *own[:2]],
            )


def _table(one: Result) -> tuple[object, ...]:
    return tuple(one.of.get(name) for name in ("group", "region", "kind"))


def _counted(one: Result) -> tuple[object, ...]:
    names = ("group", "region", "kind", "counter")
    return one.name, one.unit, *(one.of.get(name) for name in names)


def _is_one(cells: list[Result]) -> bool:
    """Whether they are of one matrix, of which no row and no column is known to be missing: a log
    may be cut, or have the same test several times."""
    if len(cells) != len({(one.of.get("row"), one.of.get("column")) for one in cells}):
        return False
    rows, columns = ({one.of.get(name) for one in cells} for name in ("row", "column"))
    begun = rows == set(range(len(rows))) and columns == set(range(len(columns)))
    return begun and len(rows) in (1, len(columns))


def _finding(odd: list[Odd]) -> Finding:
    said = [words for words, _ in odd[:SHOWN]]
    more = [f"{len(odd) - SHOWN} more of that kind"] if len(odd) > SHOWN else []
    text = f"{listed([*said, *more])}."
    return Finding(
        artefact=ARTEFACT,
        effect="invalidates",
        where=list(dict.fromkeys(one.where for _, results in odd for one in results)),
        confidence=1.0,
        evidence=[
            proof(one.where, one.value, one.unit, f"line {one.line}")
            for _, results in odd[:SHOWN]
            for one in results
        ],
        explanation=text[0].upper() + text[1:],
        remedy=REMEDY,
    )
