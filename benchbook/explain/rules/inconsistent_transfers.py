"""inconsistent-report: totals of transfers and exchanges that their parts or times do not make."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from benchbook.explain.model import SUM, Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.results import Group, grouped
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import Clause, finding, listing, unequal
from benchbook.explain.rules.common.latencies import latencies, repetitions
from benchbook.explain.rules.common.transfer_parts import (
    as_long,
    complete,
    covers,
    is_part,
    numbers_of_lines,
    owner_of,
    span_of,
)
from benchbook.explain.units import in_base
from benchbook.findings import Finding

TOLERANCE = 0.03  # of bytes: three digits of many lines, and the ends of a test
OF_SHARE = 0.06  # of a share that is printed with two digits
LEAST_POINTS = 0.51  # of a per cent that is printed without any
WHOLE_POINT = 1.01  # a share that is cut, not rounded
HEADS_BYTES, OF_FRAME_BYTES = 28, 1472  # of IP and UDP; what a frame has beside them
LEAST_DIGITS = 1.0  # of a rate with two decimals
OF_CORE = 1e-4  # what four decimals of each core leave open in their sum
LEAST_SHARE = 1e-3  # of a number that is printed twice
LARGEST_DATAGRAM = 65_507  # bytes that UDP over IPv4 carries in one (RFC 768)
Key = tuple[object, ...]
Row = tuple[Result, Result]  # what was moved, which tells of the time, and the number to be added


class _Sum(NamedTuple):
    """Numbers that belong together, what was moved in the lines that they stand in, and their sum
    in base units."""

    moved: list[Result]
    numbers: list[Result]
    total: float


@rule
def inconsistent_sums(report: Report) -> Iterator[Finding]:
    """Totals that do not add up: counts and the share that they are, streams and their sum,
    intervals and the whole, datagrams and bytes. A printed number is as good as its digits."""
    checks = (
        *(_shares, _packets, _streams, _slices, _intervals),
        *(_datagrams, _messages, _matrices, _cores),
    )
    yield from listing("sums", [clause for check in checks for clause in check(report)])


def _shares(report: Report) -> Iterator[Clause]:
    """Lost datagrams of all that are not the printed share."""
    for lost, every, loss in numbers_of_lines(report, "lost datagrams", "datagrams", "loss"):
        if every.value <= 0 or lost.value < 0 or not math.isfinite(loss.value):
            continue
        made = 100 * lost.value / every.value
        least = LEAST_POINTS if loss.value >= 10 else 0.011
        if loss.value == round(loss.value):
            least = max(least, 0.501)  # some print whole per cents
        if abs(made - loss.value) > max(least, OF_SHARE * min(made, loss.value)):
            yield Clause("share", {"lost": lost, "every": every, "loss": loss, "made": made})


def _packets(report: Report) -> Iterator[Clause]:
    """Packets received of those sent that are not the printed share, of what was lost or came."""
    for name in ("loss", "received"):
        for row in numbers_of_lines(report, "packets sent", "packets received", name):
            sent, got, share = row
            # Those on their way at the end are neither received nor lost.
            over = sent.value - report.facts.get("in_flight", 0)
            if not all(count.is_number for count in row) or over <= 0 or got.value > over:
                continue
            came = 100 * got.value / over
            made, meant = (100 - came, "lost") if name == "loss" else (came, "received")
            if abs(made - share.value) > WHOLE_POINT:
                words = {"sent": sent, "got": got, "share": share, "made": made, "meant": meant}
                yield Clause("packets", words)


def _transferred(report: Report, statistic: str) -> list[Row]:
    return [
        (row, row)
        for row in report.called("transferred")
        if row.statistic == statistic and not row.of.get("omitted")
    ]


def _of_both_ways(rows: Sequence[Row]) -> bool:
    """Whether they are of JSON of both ways, which does not tell which way a stream goes."""
    return any(moved.of.get("direction") == "reverse" for moved, _ in rows)


def _by(rows: Iterable[Row], *columns: str) -> dict[Key, list[Row]]:
    return grouped(rows, lambda row: _place(row[0], *columns))


def _place(result: Result, *columns: str) -> Key:
    return tuple(map(result.of.get, columns))


def _sum(rows: Sequence[Row]) -> _Sum:
    numbers = [number for _, number in rows]
    return _Sum([moved for moved, _ in rows], numbers, sum(part.base_value for part in numbers))


def _sums_of_streams(rows: Sequence[Row], count: int, *columns: str) -> dict[Key, _Sum]:
    """The sum of so many streams with the same columns, where each of them is there once: of a log
    that was cut some are missing. Made once for all that are held against it."""
    parts = _by((row for row in rows if is_part(row[0])), *columns) if count > 1 else {}
    return {key: _sum(own) for key, own in parts.items() if complete([m for m, _ in own], count)}


def _sums_of_intervals(rows: Sequence[Row], wholes: Sequence[Row]) -> Iterator[tuple[Result, _Sum]]:
    """Numbers of a whole transfer, each with the intervals that cover it."""
    parts = _by(rows if wholes else (), "stream", "end", "direction")
    sums = {key: _sum(own) for key, own in parts.items() if len(own) > 1}
    spans = {key: span_of(own.moved) for key, own in sums.items()}
    for moved, whole in wholes:
        key = owner_of(moved)
        reach = spans.get(key)
        if reach and covers(reach, moved):
            yield whole, sums[key]


def _streams(report: Report) -> Iterator[Clause]:
    """Sums over streams; a sum is of those of its own end, or of all."""
    rows, count = _transferred(report, "total"), report.facts.get("streams", 0)
    if _of_both_ways(rows):
        return
    of_ends = _sums_of_streams(rows, count, "direction", "end")
    of_all = _sums_of_streams(rows, count, "direction")
    for whole, _ in rows:
        if whole.of.get("stream") == SUM:
            own = of_ends.get(_place(whole, "direction", "end"))
            sums = [each for each in (own, of_all.get(_place(whole, "direction"))) if each]
            is_near = any(_near(whole.base_value, each.total) for each in sums)
            if sums and not is_near and as_long(whole, sums[0].moved):
                yield _unequal("the streams", whole, sums[0])


def _slices(report: Report) -> Iterator[Clause]:
    """Sums over the streams of one interval, of which all are there once."""
    count = report.facts.get("streams", 0)
    rows = _transferred(report, "interval") if count > 1 else []
    sums = [row for row in rows if row[0].of.get("stream") == SUM]
    if not sums or _of_both_ways(sums):
        return
    columns = ("start_s", "end_s", "direction", "end")
    of_streams = _sums_of_streams(rows, count, *columns)
    for whole, _ in sums:
        own = of_streams.get(_place(whole, *columns))
        if own and not _near(whole.base_value, own.total):
            yield _unequal("the streams", whole, own)


def _intervals(report: Report) -> Iterator[Clause]:
    """Intervals that cover the whole transfer."""
    rows, wholes = _transferred(report, "interval"), _transferred(report, "total")
    for whole, own in _sums_of_intervals(rows, wholes):
        if not _near(whole.base_value, own.total):
            yield _unequal("the intervals", whole, own)


def _near(first: float, second: float) -> bool:
    return abs(first - second) <= TOLERANCE * max(abs(first), abs(second))


def _unequal(what: str, whole: Result, own: _Sum) -> Clause:
    size = whole.value / whole.base_value if whole.base_value else 1.0
    words = {"whole": whole, "what": what, "made": own.total * size}
    return _of_parts("parts", own.numbers, **words)


def _of_parts(phrase: str, parts: Sequence[Result], **words: object) -> Clause:
    """A clause of a `whole` and its parts, of which the first two are evidence."""
    whole = words["whole"]
    ends = {"first": parts[0], "last": parts[-1], "count": len(parts)}
    shown = [each for each in (whole, *parts[:2]) if isinstance(each, Result)]
    return Clause(phrase, words | ends, shown)


def _datagrams(report: Report) -> Iterator[Clause]:
    """Bytes that are not the datagrams times their size, or more than fit into as many."""
    size = report.facts.get("message_bytes")
    if report.facts.get("protocol") != "udp":
        return
    lost = {_counted_at(result): result.value for result in report.called("lost datagrams")}
    for moved, sent in numbers_of_lines(report, "transferred", "datagrams"):
        if moved.of.get("end") != sent.of.get("end"):
            continue
        received = sent.of.get("end") == "receiver"
        if received and _counted_at(sent) not in lost:
            continue
        got = sent.value - (lost.get(_counted_at(sent), 0.0) if received else 0.0)
        most, moved_bytes = got * (size or LARGEST_DATAGRAM), moved.base_value
        if got <= 0 or moved.value <= 0 or _near(moved_bytes, most):
            continue
        if size or moved_bytes > most:
            words = {"moved": moved, "sent": sent, "got": got, "size": size or LARGEST_DATAGRAM}
            words["made"] = most * moved.value / moved_bytes
            yield Clause("datagrams" if size else "largest-datagrams", words)


def _counted_at(result: Result) -> Key:
    return result.line, result.statistic, *_place(result, "stream", "interval", "end")


def _messages(report: Report) -> Iterator[Clause]:
    """A message rate times the size of a message that is not the printed throughput."""
    rates = {
        report.column(rate, "message_bytes"): rate
        for rate in report.called("message rate")
        if rate.value > 0
    }
    for throughput in report.called("throughput") if rates else ():
        size = report.column(throughput, "message_bytes")
        rate, printed = rates.get(size), throughput.rate
        if not size or rate is None or printed is None:
            continue
        # Old versions of sockperf count the heads of IP and UDP, too.
        with_heads = size + HEADS_BYTES * math.ceil(size / OF_FRAME_BYTES)
        is_near = any(_near(printed, rate.value * each) for each in (with_heads, size))
        if throughput.value >= LEAST_DIGITS and not is_near:
            words = {"throughput": throughput, "rate": rate, "size": size}
            yield Clause("messages", words | {"made": rate.value * size / 1e6})


def _matrices(report: Report) -> Iterator[Clause]:
    """Cells of a matrix and their printed sum."""
    samples = report.being("sample") if "column" in report.columns else ()
    cells = grouped((cell for cell in samples if "column" in cell.of), lambda cell: cell.name)
    totals = {
        name: sum(cell.value for cell in own) for name, own in cells.items() if _is_matrix(own)
    }
    for whole in report.being("sum"):
        total = totals.get(whole.name)
        if total is not None and not _near(whole.value, total):
            yield _of_parts("matrix", cells[whole.name], whole=whole, made=total)


def _is_matrix(cells: Sequence[Result]) -> bool:
    """Whether they are of one matrix, of which no row and no column is known to be missing: a log
    may be cut, or have the same test several times."""
    if len(cells) != len({_place(cell, "row", "column") for cell in cells}):
        return False
    rows, columns = ({cell.of.get(name) for cell in cells} for name in ("row", "column"))
    begun = rows == set(range(len(rows))) and columns == set(range(len(columns)))
    return begun and len(rows) in (1, len(columns))


def _cores(report: Report) -> Iterator[Clause]:
    """What counters say of each core and their printed sum, where other sums of the same table are
    right: else cores are missing from it."""
    sums = [whole for whole in report.being("sum") if whole.is_number]
    every = report.results if sums and "core" in report.columns else ()
    cells = grouped((cell for cell in every if "core" in cell.of and cell.is_number), _counted)
    odd: dict[Key, list[Clause]] = {}
    whole_tables: set[Key] = set()
    for whole in sums:
        own = cells.get(_counted(whole), [])
        total = sum(cell.value for cell in own)
        if len(own) < 2 or len({cell.of["core"] for cell in own}) < len(own):
            continue
        if abs(whole.value - total) > OF_CORE * len(own) + TOLERANCE * abs(total):
            clause = _of_parts("cores", own, whole=whole, made=total)
            odd.setdefault(_table(whole), []).append(clause)
        elif total > 0:
            whole_tables.add(_table(whole))
    for table, several in odd.items():
        yield from several if table in whole_tables else ()
    # The least and the most of all cores that no core has, in tables that lack none.
    for extreme in report.being("min", "max") if whole_tables else ():
        own = cells.get(_counted(extreme), [])
        if len(own) < 2 or _table(extreme) not in whole_tables or not extreme.is_number:
            continue
        made = (min if extreme.statistic == "min" else max)(cell.value for cell in own)
        if abs(extreme.value - made) > OF_CORE + LEAST_SHARE * abs(made):
            yield _of_parts("extreme-of-cores", own, whole=extreme, made=made)


def _table(result: Result) -> Key:
    return _place(result, "group", "region", "kind")


def _counted(result: Result) -> Key:
    return result.name, result.unit, result.of.get("counter"), *_table(result)


FEW = 2  # counts that are nothing


@rule
def inconsistent_tallies(report: Report) -> Iterator[Finding]:
    """The first total of retransmits and datagrams that is not that of the streams, or of the
    intervals. Counts are whole numbers, but the last ones of a test may be in one of the two only.
    """
    yield from islice(_tallies(report), 1)


def _tallies(report: Report) -> Iterator[Finding]:
    for name in ("retransmits", "datagrams"):
        rows = [
            (moved, count)
            for moved, count in numbers_of_lines(report, "transferred", name)
            if not moved.of.get("omitted") and count.is_number
            if moved.of.get("end") == count.of.get("end")
        ]
        if _of_both_ways(rows):
            continue
        totals = [row for row in rows if row[1].statistic == "total"]
        intervals = [row for row in rows if row[1].statistic == "interval"]
        streams = _sums_of_streams(totals, report.facts.get("streams", 0), "end", "direction")
        for moved, tally in totals:
            own = streams.get(_place(moved, "end", "direction"))
            if moved.of.get("stream") == SUM and own and as_long(moved, own.moved):
                yield from _unequal_tally("streams", tally, own)
        for tally, own in _sums_of_intervals(intervals, totals):
            yield from _unequal_tally("intervals", tally, own)


def _unequal_tally(what: str, whole: Result, own: _Sum) -> Iterator[Finding]:
    parts, made = own.numbers, own.total
    slack = max(FEW, TOLERANCE * max(abs(whole.value), abs(made)))
    ends = {"first_line": parts[0].line, "last_line": parts[-1].line}
    yield from unequal("tally", whole.value, made, slack, ends, whole=whole, what=what)


COVERED = 0.1  # of the time: what may be missing, or stand at its ends
COURSE_TOLERANCE = 0.2  # of the rate: what was not covered may have been slower


@rule
def inconsistent_course(report: Report) -> Iterator[Finding]:
    """Rates printed while a test ran, and one of the whole that they cannot make. Where bytes are
    printed as well, inconsistent_sums adds them."""
    for (name, statistic, unit), intervals in report.groups.items():
        if statistic != "interval" or report.has("transferred"):
            continue
        wholes = report.groups.get((name, "total", unit), Group())
        if len(wholes) == 1 and (made := _mean_rate(intervals, wholes[0])) is not None:
            words = {"whole": wholes[0], "count": len(intervals), "made": made}
            ends = {"first_line": intervals[0].line, "last_line": intervals[-1].line}
            yield finding("course", words | ends)


def _mean_rate(intervals: Sequence[Result], whole: Result) -> float | None:
    """The rate of the whole by its intervals; None where it is that, or they are not all of it."""
    times = [result.of.get("elapsed_s") for result in intervals]
    took = whole.of.get("elapsed_s")
    positive = [time for time in times if is_number(time) and time > 0]
    if len(positive) < max(2, len(times)) or not is_number(took) or not whole.is_number:
        return None
    if not math.isclose(sum(positive), took, rel_tol=COVERED):
        return None
    moved = sum(result.value * time for result, time in zip(intervals, positive, strict=True))
    made = moved / sum(positive)
    return None if math.isclose(made, whole.value, rel_tol=COURSE_TOLERANCE) else made or None


TOGETHER = "_total"
WAYS = (("_read1", "_read2"), ("_write1", "_write2"))
OF_WAYS = 0.002
OF_DIGITS = 0.016  # half of the second decimal, of each of the three


@rule
def inconsistent_directions(report: Report) -> Iterator[Finding]:
    """What both directions of a transfer carried together is not what each of them did; of each
    pair of devices, and of their sums."""
    for name in dict.fromkeys(key[0] for key in report.groups if key[0].endswith(TOGETHER)):
        yield from islice(_directions(report, name), 1)


def _directions(report: Report, name: str) -> Iterator[Finding]:
    for ends in WAYS:
        ways = [_by_place(report.called(name.removesuffix(TOGETHER) + end)) for end in ends]
        for place, both in _by_place(report.called(name)).items() if all(ways) else ():
            parts = [way[place] for way in ways if place in way]
            if len(parts) == 2:
                first, second = parts
                total = first.value + second.value
                slack = OF_DIGITS + OF_WAYS * max(total, both.value)
                words = {"both": both, "first": first, "second": second}
                yield from unequal("directions", both.value, total, slack, words)


def _by_place(several: Sequence[Result]) -> dict[Key, Result]:
    """By pair of devices, or the sum of all; what a log has twice tells nothing."""
    by_place: dict[Key, Result] = {}
    twice = set()
    for result in several:
        place = result.statistic, *_place(result, "row", "column")
        if place in by_place:
            twice.add(place)
        if result.is_number and result.value >= 0:
            by_place[place] = result
    return {place: result for place, result in by_place.items() if place not in twice}


@rule
def inconsistent_echoes(report: Report) -> Iterator[Finding]:
    """Sums of a ping that its own lines contradict: more replies than it counts, more that timed
    out than it calls lost, or answers of a router that the host cannot be reached, counted as
    replies of the host."""
    names = ("packets sent", "packets received", "loss")
    sent, got, lost = (own[0] if len(own := report.called(name)) == 1 else None for name in names)
    if not sent or not got or sent.value <= 0:
        return
    strangers = report.facts.get("answers_of_others", 0)
    none = report.facts.get("timed_out", 0)
    lines = [row for row in report.being("sample") if row.name == "round trip"]
    twice = sum(row.value for row in report.called("duplicates"))
    words: dict[str, Any] = {"got": got, "sent": sent, "lost": lost}
    if strangers and got.value == len(lines) + strangers <= sent.value:
        words |= {"line": report.facts["answered_in_line"], "strangers": strangers}
        words |= {"replies": len(lines) or None, "none": None if lines else "no reply"}
        yield finding("echoes-of-others", words, made=100 * (1 - len(lines) / sent.value))
    elif report.facts.get("has_head") and got.value + twice < len(lines):
        ends = {"first": lines[0].line, "last": lines[-1].line, "replies": len(lines)}
        yield finding("echoes", ends | words, why="more")
    elif none > sent.value - got.value >= 0:
        yield finding("echoes", words, why="late", none=none)


LOOP_TOLERANCE = 0.05  # of the time: which exchanges are counted at its ends
PASSES = {"latency": 2, "round trip": 1}  # half of an exchange, or all of it


@rule
def inconsistent_loop(report: Report) -> Iterator[Finding]:
    """More exchanges, one after another, than the time beside them allows."""
    if not report.facts.get("one_at_a_time"):
        return
    took = {time.of.get("part"): time for time in report.called("run time")}.get("valid")
    for own in latencies(report):
        mean, count = own.by_statistic.get("mean"), repetitions(report, own)
        if took and mean and took.is_number and mean.is_number:
            passes = PASSES[own.name]
            had_ns, _ = in_base(took.value + took.half, took.unit)
            needed_ns = passes * mean.base_value * count
            if needed_ns > had_ns * (1 + LOOP_TOLERANCE):
                words = {"took": took, "mean": mean, "count": count, "needed": needed_ns}
                words["each"] = "twice as long" if passes == 2 else "as long"
                factor = needed_ns / had_ns if had_ns > 0 else None
                yield finding("loop", words, factor=factor)


PACE_TOLERANCE = 0.15  # a mean out of a histogram, and the ends of a test


@rule
def inconsistent_pace(report: Report) -> Iterator[Finding]:
    """More exchanges a second than their round trips leave room for.

    With so many under way at any time, a rate times the mean round trip is that number; less where
    the tool pauses or waits for what was lost, never more.
    """
    outstanding, rate = report.facts.get("outstanding"), report.only("transaction rate", "total")
    if not outstanding or not rate:
        return
    for own in latencies(report):
        mean_ns = own.ns("mean")
        if mean_ns is None or not 0 < mean_ns < math.inf:
            continue
        most = outstanding * 1e9 / mean_ns
        if rate.value > most * (1 + PACE_TOLERANCE):
            at_once = "one after another" if outstanding == 1 else f"{outstanding} at a time"
            words = {"rate": rate, "mean": own.by_statistic["mean"], "most": most}
            yield finding("pace", words, at_once=at_once, factor=rate.value / most)


@rule
def inconsistent_stamps(report: Report) -> Iterator[Finding]:
    """The one interval of a report that ends before the one above it began, between others that go
    on; more are outputs that were mixed. Where the stamps begin anew, another run begins."""
    ends: list[tuple[float, Result]] = []
    for result in report.results if "interval_end_s" in report.columns else ():
        end = result.of.get("interval_end_s")
        if is_number(end) and (not ends or end != ends[-1][0]):
            ends.append((float(end), result))
    odd = [
        (above, own)
        for above, own, below in zip(ends, ends[1:], ends[2:], strict=False)
        if own[0] < above[0] < below[0]
    ]
    if len(odd) == 1:
        ((above_s, above), (own_s, own)) = odd[0]
        yield finding("stamps", own=own, above=above, own_s=own_s, above_s=above_s)
