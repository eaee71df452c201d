"""cache-resident: what is called a figure of memory, and is one of a cache."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from benchbook.core.number_format import listed
from benchbook.core.sizes import format_bytes
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.results import grouped
from benchbook.explain.rules import Ask, Machine, rule
from benchbook.explain.rules.common.devices import has_own_memory
from benchbook.explain.rules.common.findings import ask, finding
from benchbook.explain.sweeps import Sweep, time_of, with_printed_rates
from benchbook.explain.units import bytes_per_s
from benchbook.findings import Finding

# What STREAM asks for, whose repetitions go over three arrays: each as large as so many times the
# last-level caches. What has fewer arrays meets it by all that it works on.
RULE, ARRAYS = 4, 3
# Caches of machines that people measure: all have as much, few have more.
SMALLEST, LARGEST = 256 << 10, 256 << 20
# What reaches such a rate has a last-level cache of so much.
FAST_BYTES_PER_S, OF_FAST = 20e9, 1 << 20
COPIED = 2  # a copy is of two arrays
SWEEP = 4  # sizes: who walks through the caches knows that they are there
WALK = 16  # largest ÷ smallest, of several starts
OF_MEMORY_NS = 40  # no memory answers a load that was not prefetched within less


class _Sized(NamedTuple):
    """Results of one report with the same arrays; `array_bytes`: 0 where the tool tells of none."""

    all_bytes: int
    array_bytes: int
    results: list[Result]

    @property
    def size(self) -> tuple[int, int]:
        """What sizes are ordered by."""
        return self.all_bytes, self.array_bytes

    @property
    def ruled_bytes(self) -> int:
        """What the rule is about."""
        are_arrays = self.all_bytes >= ARRAYS * self.array_bytes > 0
        return self.array_bytes if are_arrays else self.all_bytes

    def words(self) -> dict[str, int]:
        """What findings say of it."""
        line = self.results[0].line
        return {"array": self.array_bytes, "all": self.all_bytes, "line": line}


@rule
def cache_resident(reports: list[Report], machine: Machine) -> Iterator[Finding | Ask]:
    """Reports whose arrays fit into the last-level caches, or may fit in part; an Ask where the
    size of the caches would decide.

    Decided by the sizes that the log tells against the caches of its machine: as the caller or the
    log says. Where nobody says, the size alone decides if every machine has such a cache, or none.
    """
    undecided, of_devices = list[_Sized](), list[_Sized]()
    every = [_sized(report) for report in reports]
    by_tool = grouped(zip(reports, every, strict=True), lambda pair: pair[0].tool)
    walks: dict[tuple[str, int | None], bool] = {}
    for report, sized in zip(reports, every, strict=True):
        llc = machine.llc_bytes or _size(report.facts.get("llc_bytes"))
        by = (machine.source or "the caller") if machine.llc_bytes else "the log"
        if report.facts.get("cached_on_purpose"):
            continue
        if has_own_memory(report) and machine.source != "--l3":
            llc, by = _size(report.facts.get("device_cache_bytes")), "the log"  # not the host's
        elif llc:
            yield from _short_walk(report, llc, by)
        key = report.tool, llc
        if key not in walks:
            of_tool = [own for _, several in by_tool[report.tool] for own in several]
            walks[key] = _is_walk(of_tool, llc)
        if walks[key] or _is_sweep(sized, llc):
            continue
        words: dict[str, Any] = {"llc": llc, "by": by, "rule": RULE}
        words["ruled_llc"] = RULE * llc if llc else None
        if fitting := [own for own in sized if own.all_bytes <= (llc or _surely(report, own))]:
            yield _fits(fitting, words)
        elif small := [own for own in sized if own.ruled_bytes < RULE * (llc or LARGEST)]:
            least = min(small, key=lambda own: own.size)
            if not llc:
                if not has_own_memory(report):
                    undecided.append(least)
                elif least.all_bytes < LARGEST:  # by its own cache, not the host's
                    of_devices.append(least)
                continue
            is_array = least.ruled_bytes == least.array_bytes
            words["what"] = "Each array has" if is_array else "What is worked on has"
            words |= {"ruled": least.ruled_bytes, "part": llc / least.all_bytes}
            about = [result for own in small for result in own.results]
            yield finding("below-rule", words | least.words(), about=about)
    if undecided:
        least = min(undecided, key=lambda own: own.size)
        yield ask("size-undecided", least.words(), less_than=least.ruled_bytes // RULE)
    elif of_devices:
        least = min(of_devices, key=lambda own: own.size)
        yield ask("device-undecided", least.words(), less_than=least.ruled_bytes // RULE)


def _surely(report: Report, own: _Sized) -> int:
    """As much as the caches of any machine hold that reaches its rate."""
    is_fast = any((result.rate or 0.0) >= FAST_BYTES_PER_S for result in own.results)
    return OF_FAST if is_fast and not has_own_memory(report) else SMALLEST


def _fits(fitting: list[_Sized], words: dict[str, Any]) -> Finding:
    sizes = [format_bytes(size) for size in sorted({own.all_bytes for own in fitting})]
    words["sizes"] = f"{sizes[0]} to {sizes[-1]}" if len(sizes) > 3 else listed(sizes)
    words |= max(fitting, key=lambda own: own.size).words()
    about = [result for own in fitting for result in own.results]
    kind = "fits-caches" if words["llc"] else "fits-all-caches"
    return finding(kind, words, about=about)


def _size(value: object) -> int | None:
    return int(value) if isinstance(value, int | float) and 0 < value < 1 << 62 else None


def _sized(report: Report) -> list[_Sized]:
    """The rates of the report by the arrays that they were measured with."""
    by_arrays: dict[tuple[int, int], list[Result]] = {}
    # Copies within a device are judged where the log says what it caches.
    for copy in report.knowing("direction") if "device_cache_bytes" in report.facts else ():
        size = _size(report.column(copy, "message_bytes"))
        if size and report.column(copy, "direction") == "device to device":
            by_arrays.setdefault((COPIED * size, size), []).append(copy)
    for rate in report.knowing("array_bytes", "working_set_bytes", "processes"):
        if bytes_per_s(1.0, rate.unit) is not None and rate.value > 0:  # not where nothing was
            array, every, processes = (
                _size(report.column(rate, name))
                for name in ("array_bytes", "working_set_bytes", "processes")
            )
            if array or every:
                times = processes or 1
                key = ((every or array or 0) * times, (array or 0) * times)
                by_arrays.setdefault(key, []).append(rate)
    return [
        _Sized(*key, sorted(results, key=lambda result: result.line))
        for key, results in sorted(by_arrays.items())
    ]


def _is_sweep(sized: list[_Sized], llc: int | None) -> bool:
    """Whether it walks through sizes on purpose: several, the largest well beyond the caches."""
    return len(sized) >= SWEEP and sized[-1].all_bytes >= (llc or SMALLEST) * RULE


def _is_walk(sized: list[_Sized], llc: int | None) -> bool:
    """Whether the starts of a tool do so, each with a size of its own."""
    sizes = {own.all_bytes: own for own in sized}
    walk = [sizes[size] for size in sorted(sizes)]
    return bool(walk) and walk[-1].all_bytes >= WALK * walk[0].all_bytes and _is_sweep(walk, llc)


def _short_walk(report: Report, llc: int, by: str) -> Iterator[Finding]:
    """A walk of loads that ends before it leaves the caches: who reads its last latency as that of
    memory errs."""
    sets = [
        (size, read)
        for read in report.knowing("stride_bytes", "access")
        if read.unit == "ns" and (size := _size(read.of.get("working_set_bytes")))
    ]
    largest, last = max(sets, key=lambda pair: pair[0], default=(0, None))
    if last and largest <= llc and last.value < OF_MEMORY_NS:
        words = {"last": last, "largest": largest, "llc": llc, "by": by}
        yield finding("short-walk", words, least=RULE * llc)


MOST_SIZES = 3  # all in the caches: more are a walk through them
_STATISTICS = ("", "mean", "median", "sample")
# Bytes of an iteration ÷ the number in the name: once, a copy twice, a triad of doubles 24 times.
LEAST_TIMES, MOST_TIMES = 0.9, 26
_NUMBER = late(r"(?<=[/:])\d{3,15}(?![\d.])")
_OF_MEMORY = late(
    r"(?i:mem(?:ory)?[ _-]?(?:bw|bandwidth)|main[ _-]?memory|stream[ _-]?(?:copy|scale|add|triad))"
    r"|(?<![A-Z])D(?:RAM|ram)(?![a-z])|(?<![A-Za-z])dram(?![a-z])"
)


@rule
def named_for_memory(report: Report, machine: Machine) -> Iterator[Finding]:
    """Benchmarks that are called ones of memory, and whose bytes the caches hold.

    Decided by the bytes of an iteration, its rate times its time, which it has no fewer of in hand,
    and by what somebody calls it. Other loops over little are meant to be in a cache.
    """
    llc = machine.llc_bytes or report.facts.get("llc_bytes")
    if not llc or report.facts.get("cached_on_purpose"):
        return
    sized = list(_iterations(report))
    # What a rate and a time make of one size differs by their digits.
    sizes = {f"{size:.1e}" for size, _ in sized}
    if sized and len(sizes) <= MOST_SIZES and max(size for size, _ in sized) <= llc:
        size, rate = max(sized, key=lambda pair: pair[0])
        words = {"rate": rate, "bytes": size, "llc": int(llc), "by": machine.source or "the log"}
        yield finding("named-for-memory", words, about=[result for _, result in sized])


def _iterations(report: Report) -> Iterator[tuple[int, Result]]:
    """The bytes of an iteration of what is called a benchmark of memory, where its name has a
    number of bytes or elements that they are of."""
    called = [
        result
        for result in report.knowing("benchmark")
        if _OF_MEMORY.search(f"{result.of.get('benchmark', '')} {result.of.get('label', '')}")
    ]
    times = {
        (time.of["benchmark"], time.line): time.base_value / 1e9
        for time in called
        if time.name.endswith(" real time") and time.is_time
    }
    for result in called:
        rate = result.rate
        if rate is None or not is_number(rate) or result.statistic not in _STATISTICS:
            continue
        size = rate * times.get((result.of["benchmark"], result.line), 0.0)
        counts = [int(digits) for digits in _NUMBER.findall(str(result.of["benchmark"]))]
        if is_number(size) and any(
            LEAST_TIMES * count <= size <= MOST_TIMES * count for count in counts if count
        ):
            yield round(size), result


LEAST_BYTES = 64 * 1024  # of the fastest size: smaller ones are not of bandwidth
FALLS = 0.6  # of the fastest, at the largest size
FARTHER = 4  # times the fastest size: fewer may be one odd size


BUFFERS = 2  # of a message: the sender's and the receiver's


@rule
def sweep_leaves_cache(reports: list[Report], machine: Machine) -> Iterator[Ask | Finding]:
    """The sweep whose rate falls most towards its largest messages: a question where no cache is
    known, and its answer where one is.

    Which it is, a cache between processes of one host or another way through the network, the log
    alone cannot tell: the size of the caches does.
    """
    falls = [
        (*fall, report)
        for report in reports
        if "message_bytes" in report.columns and "device_buffers" not in report.facts
        # Of messages, not of an algorithm of many that changes with the size.
        if report.facts.get("pattern") == "point to point" or report.called("time")
        for sweep in report.sweeps
        if (fall := fall_of(with_printed_rates(report.results, sweep)))
    ]
    if not falls:
        return
    share, best, last, report = min(falls, key=lambda fall: fall[0])
    words: dict[str, Any] = {"share": share, "best": best, "last": last}
    llc = machine.llc_bytes or _size(report.facts.get("llc_bytes"))
    if not llc:
        yield ask("sweep-undecided", words)
        return
    smaller, larger = (BUFFERS * int(row.of["message_bytes"]) for row in (best, last))
    words |= {"llc": llc, "by": machine.source or "the log", "smaller": smaller, "larger": larger}
    if smaller <= llc < larger:
        yield finding("sweep-leaves-cache", words)
    else:
        yield finding("sweep-unexplained", words, both="fit" if larger <= llc else "do not fit")


def fall_of(sweep: Sweep) -> tuple[float, Result, Result] | None:
    """The share of the fastest rate at the largest size, and both of them."""
    rates = [
        (float(row.of["message_bytes"]) / time_of(row), row)
        for row in sweep
        if time_of(row) and row.of["message_bytes"] >= LEAST_BYTES
    ]
    if not rates:
        return None
    most, best = max(rates, key=lambda pair: pair[0])
    far = FARTHER * int(best.of["message_bytes"])
    after = [rate for rate, row in rates if row.of["message_bytes"] >= far]
    if not after or most <= 0 or max(after) > FALLS * most:
        return None
    return rates[-1][0] / most, best, rates[-1][1]
