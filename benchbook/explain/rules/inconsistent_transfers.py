"""inconsistent-report: totals of transfers and exchanges that their parts or times do not make."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar

from benchbook.core.number_format import listed, plural
from benchbook.explain.model import SUM, Report, Result
from benchbook.explain.printed_digits import half_of_last_digit, is_number
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.base_units import in_base_units, rate_of
from benchbook.explain.rules.common.findings import Proof, Relation, finding, unequal
from benchbook.explain.rules.common.latencies import latencies, repetitions
from benchbook.explain.rules.common.transfer_parts import (
    as_long,
    complete,
    covers,
    intervals_of,
    is_part,
    numbers_of_lines,
    owner_of,
    span_of,
)
from benchbook.explain.units import in_base
from benchbook.findings import Finding

Key = TypeVar("Key")
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
Odd = tuple[str, list[Result]]


@rule
def inconsistent_sums(report: Report) -> Iterator[Finding]:
    """Totals that do not add up: counts and the share that they are, streams and their sum,
    intervals and the whole, datagrams and bytes. A printed number is as good as its digits."""
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
        more = [f"{len(odd) - SHOWN} more of that kind"] if len(odd) > SHOWN else []
        said = listed([*(words for words, _ in odd[:SHOWN]), *more])
        about = dict.fromkeys(result.where for _, results in odd for result in results)
        shown = [result for _, results in odd[:SHOWN] for result in results]
        yield finding("sums", {"said": said}, about=about, evidence=shown)


def _shares(report: Report) -> Iterator[Odd]:
    """Lost datagrams of all that are not the printed share."""
    for lost, every, loss in numbers_of_lines(report, "lost datagrams", "datagrams", "loss"):
        if every.value <= 0 or lost.value < 0 or not math.isfinite(loss.value):
            continue
        made = 100 * lost.value / every.value
        least = LEAST_POINTS if loss.value >= 10 else 0.011
        if abs(made - loss.value) > max(least, OF_SHARE * min(made, loss.value)):
            yield (
                f"line {loss.line} says {loss.value:g} % for {lost.value:,.0f} lost of "
                f"{every.value:,.0f} datagrams, which are {made:.3g} %",
                [lost, every, loss],
            )


def _packets(report: Report) -> Iterator[Odd]:
    """Packets received of those sent that are not the printed share, of what was lost or came."""
    for name in ("loss", "received"):
        for row in numbers_of_lines(report, "packets sent", "packets received", name):
            sent, got, share = row
            # Those on their way at the end are neither received nor lost.
            over = sent.value - report.facts.get("in_flight", 0)
            if not all(is_number(count.value) for count in row) or over <= 0 or got.value > over:
                continue
            came = 100 * got.value / over
            made, meant = (100 - came, "lost") if name == "loss" else (came, "received")
            if abs(made - share.value) > WHOLE_POINT:
                yield (
                    f"line {share.line} says {share.value:g} % {name} for {got.value:,.0f} "
                    f"received of {sent.value:,.0f} packets, which are {made:.3g} % {meant}",
                    [*row],
                )


def _moved(report: Report, statistic: str) -> list[Result]:
    moved = report.called("transferred")
    return [row for row in moved if row.statistic == statistic and not row.of.get("omitted")]


def _streams(report: Report) -> Iterator[Odd]:
    """Sums over streams; a sum is of those of its own end, or of all."""
    moved, count = _moved(report, "total"), report.facts.get("streams", 0)
    if any(row.of.get("direction") == "reverse" for row in moved):
        return  # JSON of both ways does not tell which way a stream goes
    every: dict[object, list[Result]] = {}
    ends: dict[object, list[Result]] = {}
    for part in filter(is_part, moved if count > 1 else ()):
        direction, end = part.of.get("direction"), part.of.get("end")
        every.setdefault(direction, []).append(part)
        ends.setdefault((direction, end), []).append(part)
    # Once for each direction and end: a log may have very many sums. Of a log that was cut some
    # streams are missing: only those of which all are there once are added.
    whole_ends, whole_all = complete(ends, count), complete(every, count)
    in_own, in_all = _totals(whole_ends), _totals(whole_all)
    for whole in moved:
        direction, end = whole.of.get("direction"), whole.of.get("end")
        if whole.of.get("stream") != SUM:
            continue
        sums = [in_own.get((direction, end)), in_all.get(direction)]
        totals = [total for total in sums if total is not None]
        parts = whole_ends.get((direction, end)) or whole_all.get(direction, [])
        is_near = any(_near(in_base_units(whole), total) for total in totals)
        if totals and not is_near and as_long(whole, parts):
            yield _unequal("the streams", whole, totals[0], parts)


def _slices(report: Report) -> Iterator[Odd]:
    """Sums over the streams of one interval, of which all are there once."""
    count = report.facts.get("streams", 0)
    moved = _moved(report, "interval") if count > 1 else []
    sums = [row for row in moved if row.of.get("stream") == SUM]
    if any(row.of.get("direction") == "reverse" for row in sums):
        return
    parts: dict[object, list[Result]] = {}
    for part in filter(is_part, moved if sums else ()):
        parts.setdefault(_slice(part), []).append(part)
    own = complete(parts, count)
    totals = _totals(own)
    for whole in sums:
        key = _slice(whole)
        if key in totals and not _near(in_base_units(whole), totals[key]):
            yield _unequal("the streams", whole, totals[key], own[key])


def _slice(result: Result) -> tuple[object, ...]:
    return tuple(map(result.of.get, ("start_s", "end_s", "direction", "end")))


def _totals(parts: Mapping[Key, list[Result]]) -> dict[Key, float]:
    return {key: sum(map(in_base_units, some)) for key, some in parts.items()}


def _intervals(report: Report) -> Iterator[Odd]:
    """Intervals that cover the whole transfer."""
    intervals = intervals_of(report, "transferred")
    spans = {key: span_of(own) for key, own in intervals.items() if len(own) > 1}
    totals = _totals(intervals)
    for whole in _moved(report, "total"):
        key = owner_of(whole)
        reach = spans.get(key)
        if reach and covers(reach, whole) and not _near(in_base_units(whole), totals[key]):
            parts = sorted(intervals[key], key=lambda part: part.line)
            yield _unequal("the intervals", whole, totals[key], parts)


def _near(first: float, second: float) -> bool:
    return abs(first - second) <= TOLERANCE * max(abs(first), abs(second))


def _unequal(what: str, whole: Result, total: float, parts: list[Result]) -> Odd:
    size = whole.value / in_base_units(whole) if in_base_units(whole) else 1.0
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
    lost = {_place(result): result.value for result in report.called("lost datagrams")}
    for moved, sent in numbers_of_lines(report, "transferred", "datagrams"):
        if moved.of.get("end") != sent.of.get("end"):
            continue
        received = sent.of.get("end") == "receiver"
        if received and _place(sent) not in lost:
            continue
        got = sent.value - (lost.get(_place(sent), 0.0) if received else 0.0)
        most, moved_bytes = got * (size or LARGEST_DATAGRAM), in_base_units(moved)
        if got <= 0 or moved.value <= 0 or _near(moved_bytes, most):
            continue
        if size or moved_bytes > most:
            made = most * moved.value / moved_bytes
            of = f"{size:,} bytes make" if size else f"{LARGEST_DATAGRAM:,} bytes at most carry"
            yield (
                f"line {moved.line} says {moved.value:,.6g} {moved.unit}, but {got:,.0f} datagrams "
                f"of {of} {made:,.4g} {moved.unit}",
                [moved, sent],
            )


def _place(result: Result) -> tuple[object, ...]:
    return result.line, result.statistic, *map(result.of.get, ("stream", "interval", "end"))


def _messages(report: Report) -> Iterator[Odd]:
    """A message rate times the size of a message that is not the printed throughput."""
    rates = {
        report.column(rate, "message_bytes"): rate
        for rate in report.called("message rate")
        if rate.value > 0
    }
    for throughput in report.called("throughput") if rates else ():
        size = report.column(throughput, "message_bytes")
        rate, printed = rates.get(size), rate_of(throughput)
        if not size or rate is None or printed is None:
            continue
        # Old versions of sockperf count the heads of IP and UDP, too.
        with_heads = size + HEADS_BYTES * math.ceil(size / OF_FRAME_BYTES)
        if _near(printed, rate.value * with_heads):
            continue
        if throughput.value >= LEAST_DIGITS and not _near(printed, rate.value * size):
            yield (
                f"line {throughput.line} says {throughput.value:,.6g} {throughput.unit}, but "
                f"{rate.value:,.6g} messages of {size:,} bytes a second are "
                f"{rate.value * size / 1e6:,.4g} MB/s",
                [throughput, rate],
            )


def _matrices(report: Report) -> Iterator[Odd]:
    """Cells of a matrix and their printed sum."""
    cells: dict[str, list[Result]] = {}
    for cell in report.being("sample") if "column" in report.columns else ():
        if "column" in cell.of:
            cells.setdefault(cell.name, []).append(cell)
    totals = {
        name: sum(cell.value for cell in own) for name, own in cells.items() if _is_matrix(own)
    }
    for whole in report.being("sum"):
        total = totals.get(whole.name)
        if total is not None and not _near(whole.value, total):
            own = cells[whole.name]
            yield (
                f"line {whole.line} says that {whole.name} sums to {whole.value:,.6g} "
                f"{whole.unit}, but its {len(own)} cells make {total:,.6g} {whole.unit}",
                [whole, *own[:2]],
            )


def _is_matrix(cells: Sequence[Result]) -> bool:
    """Whether they are of one matrix, of which no row and no column is known to be missing: a log
    may be cut, or have the same test several times."""
    if len(cells) != len({(cell.of.get("row"), cell.of.get("column")) for cell in cells}):
        return False
    rows, columns = ({cell.of.get(name) for cell in cells} for name in ("row", "column"))
    begun = rows == set(range(len(rows))) and columns == set(range(len(columns)))
    return begun and len(rows) in (1, len(columns))


def _cores(report: Report) -> Iterator[Odd]:
    """What counters say of each core and their printed sum, where other sums of the same table are
    right: else cores are missing from it."""
    sums = [whole for whole in report.being("sum") if is_number(whole.value)]
    cells: dict[tuple[object, ...], list[Result]] = {}
    for cell in report.results if sums and "core" in report.columns else ():
        if "core" in cell.of and is_number(cell.value):
            cells.setdefault(_counted(cell), []).append(cell)
    odd: dict[tuple[object, ...], list[Odd]] = {}
    whole_tables: set[tuple[object, ...]] = set()
    for whole in sums:
        own = cells.get(_counted(whole), [])
        total = sum(cell.value for cell in own)
        if len(own) < 2 or len({cell.of["core"] for cell in own}) < len(own):
            continue
        if abs(whole.value - total) > OF_CORE * len(own) + TOLERANCE * abs(total):
            unit = "" if whole.unit == "1" else f" {whole.unit}"
            words = (
                f"line {whole.line} says that {whole.name} sums to {whole.value:,.6g}{unit}, but "
                f"the {len(own)} cores (line {own[0].line}) make {total:,.6g}{unit}"
            )
            odd.setdefault(_table(whole), []).append((words, [whole, *own[:2]]))
        elif total > 0:
            whole_tables.add(_table(whole))
    for table, several in odd.items():
        yield from several if table in whole_tables else ()
    # The least and the most of all cores that no core has, in tables that lack none.
    for extreme in report.being("min", "max") if whole_tables else ():
        own = cells.get(_counted(extreme), [])
        if len(own) < 2 or _table(extreme) not in whole_tables or not is_number(extreme.value):
            continue
        made = (min if extreme.statistic == "min" else max)(cell.value for cell in own)
        if abs(extreme.value - made) > OF_CORE + LEAST_SHARE * abs(made):
            yield (
                f"line {extreme.line} says that the {extreme.statistic} of {extreme.name} is "
                f"{extreme.value:,.6g}, but that of the {len(own)} cores (line {own[0].line}) is "
                f"{made:,.6g}",
                [extreme, *own[:2]],
            )


def _table(result: Result) -> tuple[object, ...]:
    return tuple(map(result.of.get, ("group", "region", "kind")))


def _counted(result: Result) -> tuple[object, ...]:
    return result.name, result.unit, result.of.get("counter"), *_table(result)


FEW = 2  # counts that are nothing
Counted = tuple[Result, Result]  # what was moved, which tells of the time, and the count beside it


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
            if not moved.of.get("omitted") and is_number(count.value)
            if moved.of.get("end") == count.of.get("end")
        ]
        if any(moved.of.get("direction") == "reverse" for moved, _ in rows):
            continue  # JSON of both ways does not tell which way a stream goes
        totals = [row for row in rows if row[1].statistic == "total"]
        yield from _tallies_of_streams(totals, report.facts.get("streams", 0))
        intervals = [row for row in rows if row[1].statistic == "interval"]
        yield from _tallies_of_intervals(totals, intervals)


def _tallies_of_streams(totals: list[Counted], count: int) -> Iterator[Finding]:
    parts: dict[object, list[Result]] = {}
    counts = {id(moved): tally for moved, tally in totals}
    for moved, _ in totals if count > 1 else ():
        if is_part(moved):
            parts.setdefault(owner_of(moved)[1:], []).append(moved)
    whole = complete(parts, count)
    for moved, tally in totals:
        own = whole.get(owner_of(moved)[1:], [])
        if moved.of.get("stream") == SUM and own and as_long(moved, own):
            yield from _unequal_tally("streams", tally, [counts[id(part)] for part in own])


def _tallies_of_intervals(totals: list[Counted], rows: list[Counted]) -> Iterator[Finding]:
    parts: dict[object, list[Counted]] = {}
    for row in rows if totals else ():
        parts.setdefault(owner_of(row[0]), []).append(row)
    # Once for each stream: a log may have very many totals of it.
    spans = {key: span_of([part for part, _ in own]) for key, own in parts.items() if len(own) > 1}
    counts = {key: [count for _, count in own] for key, own in parts.items()}
    for moved, tally in totals:
        reach = spans.get(owner_of(moved))
        if reach and covers(reach, moved):
            yield from _unequal_tally("intervals", tally, counts[owner_of(moved)])


def _unequal_tally(what: str, whole: Result, parts: list[Result]) -> Iterator[Finding]:
    made = sum(part.value for part in parts)
    lines = f"lines {parts[0].line} to {parts[-1].line}"
    evidence = [
        ("printed total", whole.value, whole.unit, whole.line),
        (f"sum of the {what}", made, whole.unit, lines),
    ]
    words = {"whole": whole, "what": what, "lines": lines}
    slack = max(FEW, TOLERANCE * max(abs(whole.value), abs(made)))
    yield from unequal("tally", Relation(whole.value, made, slack), words, evidence=evidence)


COVERED = 0.1  # of the time: what may be missing, or stand at its ends
COURSE_TOLERANCE = 0.2  # of the rate: what was not covered may have been slower


@rule
def inconsistent_course(report: Report) -> Iterator[Finding]:
    """Rates printed while a test ran, and one of the whole that they cannot make. Where bytes are
    printed as well, inconsistent_sums adds them."""
    for (name, statistic, unit), intervals in report.groups.items():
        if statistic != "interval" or report.has("transferred"):
            continue
        wholes = report.groups.get((name, "total", unit))
        made = _mean_rate(intervals, wholes[0]) if wholes and len(wholes) == 1 else None
        if wholes and made is not None:
            whole, lines = wholes[0], f"lines {intervals[0].line} to {intervals[-1].line}"
            evidence = [
                ("rate of the whole", whole.value, whole.unit, whole.line),
                ("mean of its intervals", made, whole.unit, lines),
            ]
            words = {"whole": whole, "count": len(intervals), "lines": lines, "made": made}
            yield finding("course", words, evidence=evidence)


def _mean_rate(intervals: Sequence[Result], whole: Result) -> float | None:
    """The rate of the whole by its intervals; None where it is that, or they are not all of it."""
    times = [result.of.get("elapsed_s") for result in intervals]
    took = whole.of.get("elapsed_s")
    positive = [time for time in times if is_number(time) and time > 0]
    if len(positive) < max(2, len(times)) or not is_number(took) or not is_number(whole.value):
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
            total = sum(part.value for part in parts)
            if len(parts) == 2:
                slack = OF_DIGITS + OF_WAYS * max(total, both.value)
                words = {"both": both, "first": parts[0], "second": parts[1]}
                yield from unequal("directions", Relation(both.value, total, slack), words)


def _by_place(several: Sequence[Result]) -> dict[tuple[object, ...], Result]:
    """By pair of devices, or the sum of all; what a log has twice tells nothing."""
    found: dict[tuple[object, ...], Result] = {}
    twice = set()
    for result in several:
        place = result.statistic, result.of.get("row"), result.of.get("column")
        if place in found:
            twice.add(place)
        if is_number(result.value) and result.value >= 0:
            found[place] = result
    return {place: result for place, result in found.items() if place not in twice}


@rule
def inconsistent_echoes(report: Report) -> Iterator[Finding]:
    """Sums of a ping that its own lines contradict: more replies than it counts, more that timed
    out than it calls lost, or answers of a router that the host cannot be reached, counted as
    replies of the host."""
    names = ("packets sent", "packets received", "loss")
    sent, got, lost = (own[0] if len(own := report.called(name)) == 1 else None for name in names)
    if not sent or not got or sent.value <= 0:
        return
    facts = report.facts
    others, none = (facts.get(name, 0) for name in ("answers_of_others", "timed_out"))
    lines = [row for row in report.being("sample") if row.name == "round trip"]
    twice, seen = sum(row.value for row in report.called("duplicates")), ""
    if others and got.value == len(lines) + others <= sent.value:
        shown, first = [row for row in (sent, got, lost) if row], facts["answered_in_line"]
        words: dict[str, Any] = {"got": got, "sent": sent, "line": first}
        words["called"] = f", and calls {lost.value:g} % lost" if lost else ""
        words["others"] = plural(others, "of them is", "of them are")
        words["came"] = plural(len(lines), "reply", "replies") if lines else "no reply"
        words["made"] = 100 * (1 - len(lines) / sent.value)
        evidence: list[Proof] = [*shown, ("answers_of_others", others, "1", first)]
        yield finding("echoes-of-others", words, about=shown, evidence=evidence)
    elif facts.get("has_head") and got.value + twice < len(lines):
        came = plural(len(lines), "reply stands", "replies stand")
        seen = f"{came} above it (lines {lines[0].line} to {lines[-1].line})"
    elif none > sent.value - got.value >= 0:
        of_lines = plural(none, "line above it says", "lines above it say")
        seen = f"{of_lines} that nothing came in time"
    if seen:
        yield finding("echoes", {"sent": sent, "got": got, "seen": seen})


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
        if took and mean and is_number(took.value) and is_number(mean.value):
            passes = PASSES[own.name]
            had_ns, _ = in_base(took.value + half_of_last_digit(took.value), took.unit)
            needed_ns = passes * in_base_units(mean) * count
            if needed_ns > had_ns * (1 + LOOP_TOLERANCE):
                evidence: list[Proof] = [
                    (took.name, took.value, took.unit, took.line),
                    mean,
                    ("exchanges", count, "1", "log"),
                ]
                each = "twice as long" if passes == 2 else "as long"
                words: dict[str, Any] = {"took": took, "mean": mean, "count": count, "each": each}
                words["needed"] = needed_ns
                factor = needed_ns / had_ns if had_ns > 0 else None
                yield finding("loop", words, evidence=evidence, factor=factor)


PACE_TOLERANCE = 0.15  # a mean out of a histogram, and the ends of a test


@rule
def inconsistent_pace(report: Report) -> Iterator[Finding]:
    """More exchanges a second than their round trips leave room for.

    With so many under way at any time, a rate times the mean round trip is that number; less where
    the tool pauses or waits for what was lost, never more.
    """
    outstanding = report.facts.get("outstanding")
    rates = [rate for rate in report.called("transaction rate") if rate.statistic == "total"]
    if not outstanding or len(rates) != 1 or not is_number(rates[0].value):
        return
    for own in latencies(report):
        mean_ns = own.ns("mean")
        if mean_ns is None or not 0 < mean_ns < math.inf:
            continue
        rate, most = rates[0], outstanding * 1e9 / mean_ns
        if rate.value > most * (1 + PACE_TOLERANCE):
            at_once = "one after another" if outstanding == 1 else f"{outstanding} at a time"
            words = {"rate": rate, "mean": own.by_statistic["mean"], "most": most}
            yield finding("pace", words | {"at_once": at_once}, factor=rate.value / most)


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
        evidence = [("end of the interval", end, "s", result.line) for end, result in odd[0]]
        words = {"own": own, "above": above, "own_s": own_s, "above_s": above_s}
        yield finding("stamps", words, evidence=evidence)
