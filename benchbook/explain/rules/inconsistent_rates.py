"""inconsistent-report: rates and times of memory and devices that the numbers with them deny."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations
from typing import Any, NamedTuple

from benchbook.explain.model import Report, Result, Twice
from benchbook.explain.printed_digits import half_of_last_digit, is_number
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import Clause, finding, listing
from benchbook.explain.rules.inconsistent_counters import fits_operations
from benchbook.explain.units import bytes_per_s, in_base
from benchbook.findings import Finding

RATE_TOLERANCE = 0.02  # what rounding of more than was printed may make
MOST_HALF_S = 0.05  # seconds are printed with one decimal at least, if it is a zero
ON_CONSTANT = 0.004
OF_LABEL = 8.388608  # of bits under the label of bytes, as iperf makes both
CONSTANTS = {
    1.024: "kilobytes of 1000 and of 1024 bytes",
    1.048576: "megabytes of 10⁶ and of 2²⁰ bytes",
    1.073741824: "gigabytes of 10⁹ and of 2³⁰ bytes",
    8.0: "bits and bytes",
    OF_LABEL: "megabits of 10⁶ bits and megabytes of 2²⁰ bytes",
}


class _OddRate(NamedTuple):
    """A rate that is not its bytes over its time; `ratio`: printed ÷ made."""

    result: Result
    moved: float
    elapsed_s: float
    ratio: float

    @property
    def is_finite(self) -> bool:
        return 0 < self.ratio < math.inf


@rule
def inconsistent_rate(report: Report) -> Iterator[Finding]:
    """Rates that are not the printed bytes over the printed time; where they are all off by a unit,
    the label is wrong and not the arithmetic: then it is `unit-mix`.

    A printed number is the interval that its digits allow.
    """
    rates = (
        result
        for (_, _, unit), several in report.groups.items()
        if "bytes_moved" in report.columns and bytes_per_s(1.0, unit)
        for result in several
    )
    odd = [odd_rate for rate in rates if (odd_rate := _odd_rate(rate))]
    if len(odd) == 1 and fits_operations(report, odd[0].result):
        return  # inconsistent_counts says that the bytes are wrong
    if not odd:
        return
    if len(odd) == 1 and (other := _confirmed(report, odd[0])):
        made = odd[0].moved / odd[0].elapsed_s if odd[0].elapsed_s > 0 else math.inf
        yield finding("size-or-time", odd[0]._asdict(), made=made, **other)
        return
    constants = {_constant(rate) for rate in odd}
    of_units = constants.pop() if len(constants) == 1 else None
    worst = max(odd, key=lambda rate: abs(math.log(rate.ratio)) if rate.is_finite else 99)
    shown = odd[0] if of_units else worst
    made = shown.moved / shown.elapsed_s if shown.elapsed_s > 0 else math.inf
    words = {"made": made, "units": CONSTANTS.get(of_units or 0.0), "others": len(odd) - 1 or None}
    about, factor = [rate.result for rate in odd], shown.ratio if shown.is_finite else None
    kind = "rate-of-units" if of_units else "rate"
    yield finding(kind, shown._asdict() | words, about=about, factor=factor)


_PER_S = {"operations/s": "operations", "messages/s": "messages", "requests/s": "requests"}
_BLOCKS = ("array_bytes", "block_bytes", "message_bytes")


def _confirmed(report: Report, odd: _OddRate) -> dict[str, Any]:
    """The one rate of operations whose blocks make an odd rate of bytes, which is right then, and
    what is wrong; empty where the log has none such."""
    rates = [own for own in report.results if own.unit in _PER_S and own.is_positive]
    blocks = {report.column(odd.result, name) for name in _BLOCKS}
    block = next((size for size in blocks if is_number(size) and size > 0), None)
    if len(rates) != 1 or block is None or not odd.result.rate:
        return {}
    per_s = rates[0]
    if abs(per_s.value * block / odd.result.rate - 1) > RATE_TOLERANCE:
        return {}
    counts = [own for own in report.results if own.unit == _PER_S[per_s.unit]]
    is_timed = len(counts) == 1 and math.isclose(
        counts[0].value, per_s.value * odd.elapsed_s, rel_tol=RATE_TOLERANCE
    )
    wrong = "the size" if is_timed else "the size or the time"
    where = [own for own in report.called("transferred", "total time") if own.line]
    return {"per_s": per_s, "block": block, "wrong": wrong, "other": where or [odd.result]}


def _odd_rate(result: Result) -> _OddRate | None:
    """A rate that its bytes and its time cannot make, whatever digits were cut off them."""
    rate = result.rate
    moved, elapsed = result.of.get("bytes_moved"), result.of.get("elapsed_s")
    if rate is None or not is_number(moved) or not is_number(elapsed) or moved <= 0 or rate < 0:
        return None
    made = moved / elapsed if elapsed > 0 else math.inf
    if made * (1 - RATE_TOLERANCE) <= rate <= made * (1 + RATE_TOLERANCE):
        return None
    error = result.of.get("elapsed_error_s")
    half = float(error) if is_number(error) else min(half_of_last_digit(elapsed), MOST_HALF_S)
    if elapsed + half <= 0:
        return None
    share = RATE_TOLERANCE + (result.half / result.value if rate else 1.0)
    high = moved / (elapsed - half) * (1 + share) if elapsed > half else math.inf
    if moved / (elapsed + half) * (1 - share) <= rate <= high:
        return None
    return _OddRate(result, moved, elapsed, rate * elapsed / moved if elapsed > 0 else math.inf)


def _constant(rate: _OddRate) -> float | None:
    ratio = rate.ratio
    factor = max(ratio, 1 / ratio) if ratio > 0 else 0.0
    near = (size for size in CONSTANTS if math.isclose(factor, size, rel_tol=ON_CONSTANT))
    size = next(near, None)
    return None if size == OF_LABEL and (ratio < 1 or "iB" not in rate.result.unit) else size


class _Moved(NamedTuple):
    """The bytes that a rate and its time make, as far as their digits tell."""

    result: Result
    least: float
    most: float

    @property
    def middle(self) -> float:
        return (self.least + self.most) / 2


@rule
def inconsistent_kernels(report: Report) -> Iterator[Finding]:
    """Kernels of one run that moved other bytes than arrays of one size have.

    By a rate and the time that it was made of. Where the tool's head is cut off, nobody says how
    large its arrays were; that two of them were alike is known all the same. Kernels that move as
    many moved as much, whatever a tool counts for an array; those of 2 and of 3 moved 2 : 3, or 3 :
    4 where what stores read is counted too, or as much where a build counts alike for all.
    """
    runs: dict[tuple[object, ...], dict[int, list[_Moved]]] = {}
    for result in report.knowing("arrays_moved"):
        arrays = result.of.get("arrays_moved")
        if is_number(arrays) and (moved := _moved(result)):
            key = result.of.get("process"), result.of.get("part"), result.unit
            runs.setdefault(key, {}).setdefault(int(arrays), []).append(moved)
    for run in runs.values():
        for more, less, of in (*_unlike(run), *_out_of_ratio(run)):
            if less.middle <= 0:
                continue  # a rate of 0 has a finding of its own
            first, second = sorted((more, less), key=lambda moved: moved.result.line)
            words = {"first": first, "second": second, "ratio": more.middle / less.middle}
            few, many = of or (None, None)
            yield finding("kernels", words, why="ratio" if of else "alike", few=few, many=many)
            return


def _unlike(run: dict[int, list[_Moved]]) -> Iterator[tuple[_Moved, _Moved, None]]:
    """Two of as many arrays that moved unlike much."""
    for several in run.values():
        less = min(several, key=lambda moved: moved.most)
        more = max(several, key=lambda moved: moved.least)
        if more.least > (1 + RATE_TOLERANCE) * less.most:
            yield more, less, None


def _out_of_ratio(run: dict[int, list[_Moved]]) -> Iterator[tuple[_Moved, _Moved, tuple[int, int]]]:
    """Two of other numbers of arrays, whose bytes no way of counting makes; with both numbers."""
    surest = {
        arrays: min(several, key=lambda moved: moved.most / moved.least)
        for arrays, several in run.items()
    }
    for few, many in combinations(sorted(surest), 2):
        less, more = surest[few], surest[many]
        least, most = more.least / less.most, more.most / less.least
        slack = 1 + RATE_TOLERANCE
        # All that is read and written, with what stores read first, what is read alone, or as many.
        ways = (many / few, (many + 1) / (few + 1), (many - 1) / max(few - 1, 1), 1.0)
        if not any(least <= slack * way and way <= slack * most for way in ways):
            yield more, less, (few, many)


def _moved(result: Result) -> _Moved | None:
    """None where it is not known, or where the tool says it, so that each rate is judged alone."""
    rate, elapsed = result.rate, result.of.get("elapsed_s")
    error = result.of.get("elapsed_error_s")
    if "bytes_moved" in result.of or not (is_number(rate) and is_number(elapsed)):
        return None
    half = error if is_number(error) else 0.0
    least, most = rate * (elapsed - half), rate * (elapsed + half)
    return _Moved(result, least, most) if least > 0 and is_number(most) else None


MORE = 1.5  # a part ÷ the whole; what a run beside others may be off by is less
LESS = 0.5  # under load ÷ idle


@rule
def inconsistent_load(report: Report) -> Iterator[Finding]:
    """Figures of a memory under load that its figures without load do not leave room for.

    One node to another cannot carry half as much again as all nodes together with any mixture of
    reads and writes, and a load that is under way makes no access wait half as long as in an idle
    system. Decided within one run; where only cores that were asleep or a clock that was low makes
    the idle figures worse, they are less far off than that.
    """

    def rate(result: Result) -> float:
        return result.rate or 0.0

    def time_ns(result: Result) -> float:
        return result.base_value

    named = report.knowing("from_node", "inject_delay", "mix")
    figures = [result for result in named if result.is_positive]
    parts = [result for result in figures if {"from_node", "inject_delay"} & {*result.of}]
    wholes = [result for result in figures if "mix" in result.of]
    whole = max(wholes, key=rate, default=None)
    if whole and (above := [part for part in parts if rate(part) > MORE * rate(whole)]):
        far = max(above, key=rate)
        about, factor = [*above, whole], far.value / whole.value
        yield finding("part-above-whole", about=about, far=far, limit=whole, factor=factor)
    times = [part for part in parts if part.is_time]
    idle = [time for time in times if "from_node" in time.of and "homed_in" not in time.of]
    least = min(idle, key=time_ns, default=None)
    loaded = [time for time in times if "inject_delay" in time.of]
    limit_ns = LESS * time_ns(least) if least else 0.0
    if least and (below := [time for time in loaded if time_ns(time) < limit_ns]):
        far = min(below, key=time_ns)
        about, factor = [*below, least], far.value / least.value
        yield finding("load-below-idle", about=about, far=far, limit=least, factor=factor)


SHORTER = 0.5  # of a larger block ÷ of a smaller one
MOST_OF_TWO, LEAST_OF_TWO = 3.0, 0.5  # of two at a time ÷ of one
LEAST_NS = 8.0  # shorter ones are mostly what was subtracted from them
SINGLE, DUAL = "single random read", "dual random read"
_Walk = dict[str, dict[int, Result]]  # by name and size


@rule
def inconsistent_walk(report: Report) -> Iterator[Finding]:
    """Random reads that a larger block, or one more at a time, makes far faster.

    A larger block has all caches of a smaller one, and less of it in each of them: its reads take
    as long at least. Of two reads at a time neither is answered before one alone would be, and both
    of them within the time of two after each other. Decided with room for what disturbs a run.
    """
    walks: dict[object, _Walk] = {}
    for read in report.knowing("access"):
        size = read.of.get("working_set_bytes")
        if read.unit == "ns" and read.of.get("access") == "random" and is_number(size):
            of_pages = walks.setdefault(read.of.get("pages"), {})
            of_pages.setdefault(read.name, {})[int(size)] = read
    for walk in walks.values():
        for first, second, why in (*_falls(walk), *_unlike_two(walk)):
            yield finding("walk", first=first, second=second, why=why)
            return


def _falls(walk: _Walk) -> Iterator[tuple[Result, Result, str]]:
    """Blocks whose reads are far faster than those of a smaller one."""
    for reads in walk.values():
        longest: Result | None = None
        for _, read in sorted(reads.items()):
            if not read.is_number or read.value < 0:
                continue
            if longest and read.value < SHORTER * longest.value and longest.value >= LEAST_NS:
                yield longest, read, "larger"
            if longest is None or read.value > longest.value:
                longest = read


def _unlike_two(walk: _Walk) -> Iterator[tuple[Result, Result, str]]:
    """Two reads at a time that took far less than one, or far more than two."""
    for size, single in walk.get(SINGLE, {}).items():
        dual = walk.get(DUAL, {}).get(size)
        if dual is None or not (single.is_number and dual.is_number):
            continue
        if dual.value > max(MOST_OF_TWO * single.value, single.value + LEAST_NS):
            yield single, dual, "after_each_other"
        if dual.value < min(LEAST_OF_TWO * single.value, single.value - LEAST_NS):
            yield single, dual, "before_one"


# How much more one direction may have. Through bridges and sockets both get into each other's way;
# what is faster than any PCIe has a link of its own for each direction.
OF_OWN_LINK, OF_BUS = 1.1, 1.5
OWN_LINK_BYTES_PER_S = 64e9


@rule
def inconsistent_ways(report: Report) -> Iterator[Finding]:
    """Two devices move more in one direction than the same two in both together.

    The rate of both directions is their sum, so that it is at least that of one. Only staging in
    the host's memory, or a bus that others use as well, can make it less: so of pairs that reach
    each other directly, and clearly.
    """
    one_way, both_ways = (_rates_of_pairs(report, ways) for ways in (1, 2))
    odd = [
        (single, both_ways[pair])
        for pair, single in one_way.items()
        if pair in both_ways and _is_above(single, both_ways[pair])
    ]
    if odd:
        single, both = max(odd, key=lambda pair: pair[0].value / max(pair[1].value, 1e-9))
        about = dict.fromkeys(result.where for pair in odd for result in pair)
        factor = single.value / both.value if both.value > 0 else None
        words = {"single": single, "both": both, "others": len(odd) - 1 or None}
        yield finding("ways", words, about=about, factor=factor)


def _rates_of_pairs(report: Report, ways: int) -> dict[tuple[object, object], Result]:
    """The rates of pairs of devices that may reach each other; the least, where there are several:
    reads and writes are measured apart in one direction only."""
    least: dict[tuple[object, object], Result] = {}
    for rate in report.knowing("ways") if "ways" in report.columns else ():
        of = rate.of
        if of.get("ways") != ways or of.get("peers") != "enabled" or of["row"] == of["column"]:
            continue
        pair = of["row"], of["column"]
        if rate.is_number and (pair not in least or rate.value < least[pair].value):
            least[pair] = rate
    return least


def _is_above(single: Result, both: Result) -> bool:
    if single.rate is None or both.rate is None or single.of.get("peer_access") is False:
        return False
    if single.rate > OWN_LINK_BYTES_PER_S:
        return single.rate > OF_OWN_LINK * both.rate
    return bool(single.of.get("peer_access")) and single.rate > OF_BUS * both.rate


TIMES = ("overall", "compute", "pure comm.")  # what the names of such times end with
WHOLE = 100.01  # per cent
POINTS = 2.0  # per cent; what the rounding of more than was printed may make
LEAST_HALF = 0.005  # of a time with two decimals, of which zeros are lost here


@rule
def inconsistent_overlap(report: Report) -> Iterator[Finding]:
    """An overlap of communication and computation that its own times do not make: of the time that
    communication alone takes, that is hidden by which both together are shorter than one after the
    other."""
    overlaps = [overlap for overlap in report.called("overlap") if overlap.unit == "%"]
    if beyond := [overlap for overlap in overlaps if overlap.value > WHOLE]:
        worst = max(beyond, key=lambda overlap: overlap.value)
        yield finding("overlap-above-all", about=beyond, worst=worst)
        return
    lines: dict[int, dict[str, Result]] = {}
    for time in report.being("mean") if overlaps else ():
        if end := next((end for end in TIMES if time.name.endswith(end)), None):
            lines.setdefault(time.line, {})[end] = time
    odd = []
    for shown in overlaps:
        line = lines.get(shown.line, {})
        times = [line[end] for end in TIMES if end in line]
        if len(times) < len(TIMES) or not all(row.is_number for row in (shown, *times)):
            continue
        overall, compute, alone = (time.value for time in times)
        if alone <= 0:
            continue
        made = 100 * (alone + compute - overall) / alone
        made = made if shown.value < 0 else max(0.0, made)
        halves = sum(max(LEAST_HALF, time.half) for time in times)
        slack = POINTS + 100 * halves * (1 + made / 100) / alone
        if abs(shown.value - made) > slack:
            odd.append((shown, times, made))
    if odd:
        shown, times, made = max(odd, key=lambda entry: abs(entry[0].value - entry[2]))
        words = dict(zip(("overall", "compute", "alone"), times, strict=True))
        about = [overlap for overlap, _, _ in odd]
        yield finding("overlap", words, about=about, overlap=shown, made=made)


@rule
def inconsistent_nothing(report: Report) -> Iterator[Finding]:
    """A run that was to move bytes performed not one operation.

    sysbench 1.0 gives each thread the whole blocks of its share, and where a share is less than one
    block it has none: the run ends at once, with rates of 0 that no memory has.
    """
    total, counted = report.facts.get("total_bytes"), report.called("operations")
    if not is_number(total) or total <= 0 or not counted or any(row.value for row in counted):
        return
    block, threads = report.facts.get("array_bytes"), report.facts.get("threads")
    is_short = is_number(block) and is_number(threads) and block * threads > int(total)
    words = {"operations": counted[0], "total": int(total), "line": report.line}
    yield finding("nothing", words, threads=threads, block=block if is_short else None)


@rule
def inconsistent_check(report: Report) -> Iterator[Finding]:
    """Figures, with a word of the tool that its own check of the results failed.

    A figure counts the work that the program should have done; its check says that something else
    was done, or that memory, link or compiler are at fault.
    """
    figures = [
        result
        for result in report.knowing("validated")
        if report.column(result, "validated") is False
        and in_base(1.0, result.unit)[1] in ("B/s", "bit/s", "ns")
    ]
    if figures:
        yield finding("check", about=figures, first=figures[0], line=report.line, passed=0)


TWICE_TOLERANCE = 0.03  # what rounding of more than was printed may make


@rule
def inconsistent_twice(report: Report) -> Iterator[Finding]:
    """Numbers of the log that are not what others of the same run make of them: the relations that
    its reader declares (readers/common/relations.py).

    A time that is not cycles over clock, a volume that is not size times repetitions, operations of
    all threads that are not those of one times their number: what the tool computed itself from
    what it printed beside it. A printed number is as good as its digits.
    """
    odd = [twice for twice in report.twice if _is_odd(twice)]
    clauses = [
        Clause("numbers" if twice.unit else "number", {"twice": twice, **_amounts(twice)})
        for twice in odd
    ]
    shown = [Result(row.name, row.said, row.unit or "1", row.line) for row in odd]
    yield from listing("twice", clauses, about=[row.where for row in shown], shown=shown)


def _is_odd(twice: Twice) -> bool:
    apart = abs(twice.said - twice.made)
    return is_number(apart) and apart > twice.slack + TWICE_TOLERANCE * abs(twice.made)


def _amounts(twice: Twice) -> dict[str, str]:
    """What was printed and what was made, with their unit: bytes are whole."""
    return {
        name: f"{value:,.0f} bytes"
        if twice.unit == "bytes" and value >= 1
        else f"{value:,.6g} {twice.unit}".strip()
        for name, value in (("printed", twice.said), ("made", twice.made))
    }
