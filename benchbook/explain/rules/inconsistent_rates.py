"""inconsistent-report: rates and times of memory and devices that the numbers with them deny."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from benchbook.core.number_format import listed, number, plural
from benchbook.core.sizes import format_bytes
from benchbook.explain.model import Report, Result, Twice
from benchbook.explain.printed_digits import half_of_last_digit, is_number
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.base_units import in_base_units, is_time, rate_of
from benchbook.explain.rules.common.findings import Proof, finding
from benchbook.explain.units import bytes_per_s, in_base
from benchbook.findings import Finding

RATE_TOLERANCE = 0.02  # what rounding of more than was printed may make
MOST_HALF_S = 0.05  # seconds are printed with one decimal at least, if it is a zero
ON_CONSTANT = 0.004
CONSTANTS = {
    1.024: "kilobytes of 1000 and of 1024 bytes",
    1.048576: "megabytes of 10⁶ and of 2²⁰ bytes",
    1.073741824: "gigabytes of 10⁹ and of 2³⁰ bytes",
    8.0: "bits and bytes",
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
    odd = [found for rate in rates if (found := _odd_rate(rate))]
    if not odd:
        return
    constants = {_constant(rate.ratio) for rate in odd}
    of_units = constants.pop() if len(constants) == 1 else None
    worst = max(odd, key=lambda rate: abs(math.log(rate.ratio)) if rate.is_finite else 99)
    shown = odd[0] if of_units else worst
    made = shown.moved / shown.elapsed_s if shown.elapsed_s > 0 else math.inf
    words: dict[str, Any] = {
        "rate": shown.result,
        "moved": shown.moved,
        "elapsed_s": shown.elapsed_s,
    }
    words |= {"mb": made / 1e6, "mib": made / 2**20, "ratio": shown.ratio}
    words["units"] = CONSTANTS.get(of_units or 0.0)
    words["more"] = f"; {plural(len(odd) - 1, 'more line')} like it" if len(odd) > 1 else ""
    evidence = [
        ("rate", shown.result.value, shown.result.unit, shown.result.line),
        ("bytes_moved", shown.moved, "bytes", shown.result.line),
        ("elapsed_s", shown.elapsed_s, "s", shown.result.line),
    ]
    factor = shown.ratio if shown.is_finite else None
    kind = "rate-of-units" if of_units else "rate"
    about = [rate.result for rate in odd]
    yield finding(kind, words, about=about, evidence=evidence, factor=factor)


def _odd_rate(result: Result) -> _OddRate | None:
    """A rate that its bytes and its time cannot make, whatever digits were cut off them."""
    rate = rate_of(result)
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
    share = RATE_TOLERANCE + (half_of_last_digit(result.value) / result.value if rate else 1.0)
    high = moved / (elapsed - half) * (1 + share) if elapsed > half else math.inf
    if moved / (elapsed + half) * (1 - share) <= rate <= high:
        return None
    return _OddRate(result, moved, elapsed, rate * elapsed / moved if elapsed > 0 else math.inf)


def _constant(ratio: float) -> float | None:
    factor = max(ratio, 1 / ratio) if ratio > 0 else 0.0
    near = (size for size in CONSTANTS if math.isclose(factor, size, rel_tol=ON_CONSTANT))
    return next(near, None)


class _Moved(NamedTuple):
    """The bytes that a rate and its time make, as far as their digits tell."""

    result: Result
    least: float
    most: float


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
        for more, less, why in (*_unlike(run), *_out_of_ratio(run)):
            pair = sorted((more, less), key=lambda moved: moved.result.line)
            evidence: list[Proof] = []
            for moved in pair:
                result = moved.result
                evidence.append(("rate", result.value, result.unit, result.line))
                evidence.append(("elapsed_s", result.of["elapsed_s"], "s", result.line))
            sizes = [(moved.least + moved.most) / 2 for moved in pair]
            words: dict[str, Any] = {"first": pair[0].result, "second": pair[1].result, "why": why}
            words |= {"first_moved": sizes[0], "second_moved": sizes[1]}
            yield finding("kernels", words, evidence=evidence)
            return


def _unlike(run: dict[int, list[_Moved]]) -> Iterator[tuple[_Moved, _Moved, str]]:
    """Two of as many arrays that moved unlike much."""
    for several in run.values():
        less = min(several, key=lambda moved: moved.most)
        more = max(several, key=lambda moved: moved.least)
        if more.least > (1 + RATE_TOLERANCE) * less.most:
            yield more, less, "both go over as many arrays of one size"


def _out_of_ratio(run: dict[int, list[_Moved]]) -> Iterator[tuple[_Moved, _Moved, str]]:
    """Two of other numbers of arrays, whose bytes no way of counting makes."""
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
            ratio = number((more.least + more.most) / (less.least + less.most))
            why = f"these go over {few} and {many} arrays of one size, which makes no {ratio} times"
            yield more, less, why


def _moved(result: Result) -> _Moved | None:
    """None where it is not known, or where the tool says it, so that each rate is judged alone."""
    rate, elapsed = rate_of(result), result.of.get("elapsed_s")
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
        return rate_of(result) or 0.0

    named = report.knowing("from_node", "inject_delay", "mix")
    figures = [result for result in named if is_number(result.value) and result.value > 0]
    parts = [result for result in figures if {"from_node", "inject_delay"} & {*result.of}]
    wholes = [result for result in figures if "mix" in result.of]
    whole = max(wholes, key=rate, default=None)
    if whole and (far := [part for part in parts if rate(part) > MORE * rate(whole)]):
        yield _loaded("part-above-whole", max(far, key=rate), whole, far)
    times = [part for part in parts if is_time(part)]
    idle = [time for time in times if "from_node" in time.of and "homed_in" not in time.of]
    least = min(idle, key=in_base_units, default=None)
    loaded = [time for time in times if "inject_delay" in time.of]
    limit_ns = LESS * in_base_units(least) if least else 0.0
    if least and (fast := [time for time in loaded if in_base_units(time) < limit_ns]):
        yield _loaded("load-below-idle", min(fast, key=in_base_units), least, fast)


def _loaded(kind: str, far: Result, limit: Result, every: Sequence[Result]) -> Finding:
    words, about = {"far": far, "limit": limit}, [*every, limit]
    factor = far.value / limit.value
    return finding(kind, words, about=about, evidence=[far, limit], factor=factor)


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
            yield finding("walk", {"first": first, "second": second, "why": why})
            return


def _falls(walk: _Walk) -> Iterator[tuple[Result, Result, str]]:
    """Blocks whose reads are far faster than those of a smaller one."""
    for reads in walk.values():
        longest: Result | None = None
        for size, read in sorted(reads.items()):
            if not is_number(read.value) or read.value < 0:
                continue
            if longest and read.value < SHORTER * longest.value and longest.value >= LEAST_NS:
                why = (
                    f"a block of {format_bytes(size)} has no more of itself in any cache than one "
                    f"of {format_bytes(longest.of['working_set_bytes'])}, and its reads cannot be "
                    "so much shorter"
                )
                yield longest, read, why
            if longest is None or read.value > longest.value:
                longest = read


def _unlike_two(walk: _Walk) -> Iterator[tuple[Result, Result, str]]:
    """Two reads at a time that took far less than one, or far more than two."""
    for size, single in walk.get(SINGLE, {}).items():
        dual = walk.get(DUAL, {}).get(size)
        if dual is None or not (is_number(single.value) and is_number(dual.value)):
            continue
        if dual.value > max(MOST_OF_TWO * single.value, single.value + LEAST_NS):
            yield single, dual, "two reads at a time take at most as long as one after the other"
        if dual.value < min(LEAST_OF_TWO * single.value, single.value - LEAST_NS):
            yield single, dual, "two reads at a time cannot be over before one alone is"


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
        more = f"; {plural(len(odd) - 1, 'more pair')} like it" if len(odd) > 1 else ""
        about = dict.fromkeys(result.where for pair in odd for result in pair)
        words = {"single": single, "both": both, "more": more}
        factor = single.value / both.value if both.value > 0 else None
        yield finding("ways", words, about=about, evidence=[single, both], factor=factor)


def _rates_of_pairs(report: Report, ways: int) -> dict[tuple[object, object], Result]:
    """The rates of pairs of devices that may reach each other; the least, where there are several:
    reads and writes are measured apart in one direction only."""
    found: dict[tuple[object, object], Result] = {}
    for rate in report.knowing("ways") if "ways" in report.columns else ():
        of = rate.of
        if of.get("ways") != ways or of.get("peers") != "enabled" or of["row"] == of["column"]:
            continue
        pair = of["row"], of["column"]
        if is_number(rate.value) and (pair not in found or rate.value < found[pair].value):
            found[pair] = rate
    return found


def _is_above(single: Result, both: Result) -> bool:
    rate, sum_of_both = (rate_of(result) for result in (single, both))
    if rate is None or sum_of_both is None or single.of.get("peer_access") is False:
        return False
    if rate > OWN_LINK_BYTES_PER_S:
        return rate > OF_OWN_LINK * sum_of_both
    return bool(single.of.get("peer_access")) and rate > OF_BUS * sum_of_both


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
        yield finding("overlap-above-all", {"worst": worst}, about=beyond, evidence=[worst])
        return
    lines: dict[int, dict[str, Result]] = {}
    for time in report.being("mean") if overlaps else ():
        if end := next((end for end in TIMES if time.name.endswith(end)), None):
            lines.setdefault(time.line, {})[end] = time
    odd = []
    for overlap in overlaps:
        line = lines.get(overlap.line, {})
        times = [line[end] for end in TIMES if end in line]
        if len(times) < len(TIMES) or not all(is_number(row.value) for row in (overlap, *times)):
            continue
        overall, compute, alone = (time.value for time in times)
        if alone <= 0:
            continue
        made = 100 * (alone + compute - overall) / alone
        made = made if overlap.value < 0 else max(0.0, made)
        halves = sum(max(LEAST_HALF, half_of_last_digit(time.value)) for time in times)
        slack = POINTS + 100 * halves * (1 + made / 100) / alone
        if abs(overlap.value - made) > slack:
            odd.append((overlap, times, made))
    if odd:
        overlap, times, made = max(odd, key=lambda entry: abs(entry[0].value - entry[2]))
        words: dict[str, Any] = dict(zip(("overall", "compute", "alone"), times, strict=True))
        words |= {"overlap": overlap, "made": made}
        about = [overlap for overlap, _, _ in odd]
        yield finding("overlap", words, about=about, evidence=[overlap, *times])


@rule
def inconsistent_nothing(report: Report) -> Iterator[Finding]:
    """A run that was to move bytes performed not one operation.

    sysbench 1.0 gives each thread the whole blocks of its share, and where a share is less than one
    block it has none: the run ends at once, with rates of 0 that no memory has.
    """
    asked, counted = report.facts.get("total_bytes"), report.called("operations")
    if not is_number(asked) or asked <= 0 or not counted or any(row.value for row in counted):
        return
    none, asked = counted[0], int(asked)
    block, threads = report.facts.get("array_bytes"), report.facts.get("threads")
    shared = ""
    if is_number(block) and is_number(threads) and block * threads > asked:
        shared = (
            f" Shared among {plural(int(threads), 'thread')} that is less than one block of "
            f"{format_bytes(int(block))} for each."
        )
    evidence = [
        ("operations", none.value, none.unit, none.line),
        ("total_bytes", asked, "bytes", report.line),
    ]
    yield finding("nothing", {"none": none, "asked": asked, "shared": shared}, evidence=evidence)


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
        first = figures[0]
        evidence = [("validated", 0, "passed checks", first.line)]
        words = {"first": first, "line": report.line}
        yield finding("check", words, about=figures, evidence=evidence)


TWICE_TOLERANCE = 0.03  # what rounding of more than was printed may make
SHOWN = 3


@rule
def inconsistent_twice(report: Report) -> Iterator[Finding]:
    """Numbers of the log that are not what others of the same run make of them: the relations that
    its reader declares (readers/common/relations.py).

    A time that is not cycles over clock, a volume that is not size times repetitions, operations of
    all threads that are not those of one times their number: what the tool computed itself from
    what it printed beside it. A printed number is as good as its digits.
    """
    odd = [twice for twice in report.twice if _is_odd(twice)]
    if odd:
        said = [
            f"line {twice.line} says {_amount(twice.said, twice.unit)} for {twice.name}, but "
            f"{twice.made_of} {'are' if twice.unit else 'is'} {_amount(twice.made, twice.unit)}"
            for twice in odd[:SHOWN]
        ]
        more = [f"{len(odd) - SHOWN} more"] if len(odd) > SHOWN else []
        about = [f"line {twice.line}: {twice.name}" for twice in odd]
        evidence = [(twice.name, twice.said, twice.unit or "1", twice.line) for twice in odd]
        yield finding("twice", {"said": listed([*said, *more])}, about=about, evidence=evidence)


def _is_odd(twice: Twice) -> bool:
    apart = abs(twice.said - twice.made)
    return is_number(apart) and apart > twice.slack + TWICE_TOLERANCE * abs(twice.made)


def _amount(value: float, unit: str) -> str:
    if unit == "bytes" and value >= 1:
        return f"{value:,.0f} bytes"
    return f"{value:,.6g} {unit}".strip()
