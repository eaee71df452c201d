"""timer-granularity, wall-clock-step: the clock that timed a figure, and what it cannot tell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from benchbook.core.number_format import plural, share
from benchbook.detect import detector
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.explain.rules.common.latencies import NAMES
from benchbook.explain.units import bytes_per_s, in_base
from benchbook.findings import Effect, Finding

RESOLUTIONS = ("clock_resolution_ns", "usual_clock_ns")


@rule
def timer_granularity(report: Report) -> Iterator[Finding]:
    """Timed tests that last so few ticks of the clock that their figures are the clock's.

    Decided by the ticks that the tool itself counts, or by its time against its clock's resolution.
    """
    ticks = [
        (count, test)
        for test in report.knowing("clock_ticks", *RESOLUTIONS)
        if (count := _ticks(report, test)) is not None and count >= 0
    ]
    if not ticks:
        return
    clock = detector("timer-granularity")
    few = [(count, test) for count, test in ticks if count < clock.LEAST_TICKS]
    if few:
        count, test = min(few, key=lambda pair: pair[0])
        resolution = _resolution_ns(report, test)
        words = {"wrong": "all of it" if count <= 1 else share(1 / count), "count": count}
        words["whose"] = "usual" if "usual_clock_ns" in report.facts else "printed"
        words |= {"test": test, "resolution": resolution if is_number(resolution) else None}
        effect: Effect = "invalidates" if count < clock.NO_NUMBER else "informs"
        yield finding("few-ticks", words, about=[test for _, test in few], effect=effect)


def _ticks(report: Report, test: Result) -> float | None:
    """Ticks of the clock in the time that a rate was made of."""
    counted = report.column(test, "clock_ticks")
    if is_number(counted):
        return float(counted)
    resolution, elapsed = _resolution_ns(report, test), test.of.get("elapsed_s")
    if is_number(resolution) and is_number(elapsed) and resolution > 0:
        return elapsed * 1e9 / resolution
    return None


def _resolution_ns(report: Report, test: Result) -> Any:
    """A step of the clock as the log says, else of the one that the tool usually reads."""
    said, usual = (report.column(test, name) for name in RESOLUTIONS)
    return usual if said is None else said


WINDOWS_TICK_NS = 15_625_000.0  # of GetProcessTimes, 64 Hz
OF_TICK = 2e-3  # three digits of a time
MOST_OF_TICKS = 200  # in one time: of more, any number is near one
LEAST_TIMES = 3


@rule
def cpu_times_in_ticks(report: Report) -> Iterator[Finding]:
    """CPU times that are whole ticks of the clock by which Windows counts them.

    Decided by the time of all iterations, which is a multiple of 15.625 ms for each of the
    benchmarks; one of few ticks has no digits.
    """
    times = [
        (time, time.base_value * time.of["iterations"] / WINDOWS_TICK_NS)
        for time in report.knowing("iterations")
        if time.name.endswith(" cpu time") and time.is_time and time.is_number
    ]
    counted = [(time, ticks) for time, ticks in times if ticks > 0]
    if len(counted) < LEAST_TIMES or len({round(ticks) for _, ticks in counted}) < LEAST_OF_KIND:
        return
    near = [abs(ticks - round(ticks)) <= max(OF_TICK * ticks, 1e-3) for _, ticks in counted]
    if all(near) and max(ticks for _, ticks in counted) <= MOST_OF_TICKS:
        least, ticks = min(times, key=lambda pair: pair[1])
        words = {"first": least, "ticks": round(ticks), "count": len(times)}
        words["open"] = 1 / round(ticks) if ticks >= 1 else None
        yield finding("windows-tick", words, about=[time for time, _ in times])


@rule
def changing_clock(report: Report) -> Iterator[Finding]:
    """A tool that counts cycles and says that the clocks of the CPUs differ."""
    line = report.facts.get("clocks_differ_line")
    if line and report.results:
        yield finding("clocks-differ", about=report.results[:1], line=line)


@rule
def debug_build(report: Report) -> Iterator[Finding]:
    """Figures of a program that was built for debugging, as the log says."""
    line = report.facts.get("debug_line")
    if line and report.results:
        yield finding("debug-build", about=report.results[:3], line=line)


LEAST_SHARE = 0.5  # of replies
LEAST = 2  # replies


@rule
def no_time_at_all(report: Report) -> Iterator[Finding]:
    """Exchanges that took no time at all, by a clock whose ticks are longer.

    Decided by the zeros themselves: of pings that print decimals half at least, of those that print
    whole milliseconds the mean, where none took two, of a sweep over sizes any. Where the tool says
    that its clock was set, that is why.
    """
    kind, none, words = "no-time", list[Result](), dict[str, Any](next=None)
    if report.facts.get("below_tick", 0) >= LEAST and not report.facts.get("clock_step_ns"):
        timed = [sample for sample in report.being("sample") if sample.name in NAMES]
        none = [sample for sample in timed if sample.value == 0]
        none = none if len(none) >= LEAST_SHARE * len(timed) else []
        longer = (sample for sample in timed if sample.value > 0)
        words["next"] = min(longer, key=lambda sample: sample.value, default=None)
    elif none := _whole_milliseconds(report):
        kind, words["many"] = "no-mean", "all" if len(none) > 1 else "some"
    else:
        none = [
            mean
            for (_, statistic, unit), means in report.groups.items()
            if statistic == "mean" and in_base(1.0, unit)[1] == "ns"
            for mean in means
            if mean.value == 0 and mean.of.get("message_bytes")
        ]
    if none:
        yield finding(kind, words, about=none, first=none[0], times=len(none))


def _whole_milliseconds(report: Report) -> list[Result]:
    """The mean of round trips in whole milliseconds where it is none, and the longest one if that
    is none as well; two ticks or more are told by those that took them."""
    trips = report.called("round trip")
    ends = [trip for trip in trips if trip.statistic in ("mean", "max")]
    if len(ends) != 2 or any(end.unit != "ms" for end in ends):
        return []
    mean, most = sorted(ends, key=lambda end: end.statistic, reverse=True)
    if not mean.value == 0 <= most.value <= 1:
        return []
    return [end for end in (mean, most) if end.value == 0]


LEAST_SAMPLES, MOST_TICKS = 6, 5
WHOLE = 1e-6  # of a tick
LEAST_SIZES, SMALL_BYTES, MOST_HALVES = 8, 1 << 16, 40
LEAST_OF_KIND = 2  # with a half behind the point, and without
HALF_US = 500.0  # ns


@rule
def whole_ticks(report: Report) -> Iterator[Finding]:
    """Single iterations that take a few ticks of a clock, and nothing in between.

    Decided by the numbers of a tool that prints more digits than that. Repetitions are all whole
    multiples of one step, a few of it at most, and some are none at all; of the sizes of a sweep
    all are multiples of half a microsecond, which is a round trip of whole ones.
    """
    for (_, statistic, unit), several in report.groups.items() if "pattern" in report.facts else ():
        small = [time for time in several if (time.of.get("message_bytes") or 0) <= SMALL_BYTES]
        if statistic == "mean" and unit == "us" and len(small) >= LEAST_SIZES:
            halves = [2 * time.value for time in small]
            ticks = all(0 < half <= MOST_HALVES and half == round(half) for half in halves)
            # Who rounds by hand rounds to whole ones.
            odd = sum(half % 2 for half in halves) if ticks else 0
            if LEAST_OF_KIND <= odd <= len(halves) - LEAST_OF_KIND:
                yield _multiples(small, HALF_US)
    for several in report.groups.values() if "benchmark" in report.columns else ():
        own = [time for time in several if _is_single(time)]
        if len(own) >= LEAST_SAMPLES and (step := _step_ns(own)):
            yield _multiples(own, step)


def _is_single(time: Result) -> bool:
    """Whether it is the time of one iteration by itself."""
    timed = time.is_time and time.name.endswith("real time")
    return timed and time.statistic == "sample" and time.of.get("iterations") == 1


def _step_ns(samples: Sequence[Result]) -> float:
    """The tick of which all are whole multiples, some of them none; 0 where they are not."""
    times = [sample.base_value for sample in samples]
    if not all(is_number(time) and time >= 0 for time in times) or min(times) > 0 or not any(times):
        return 0.0
    step = min(time for time in times if time > 0)
    ticks = [time / step for time in times]
    whole = all(abs(count - round(count)) <= WHOLE and count <= MOST_TICKS for count in ticks)
    return step if whole and len(set(map(round, ticks))) > 1 else 0.0


def _multiples(samples: Sequence[Result], step_ns: float) -> Finding:
    none = sum(sample.value == 0 for sample in samples)
    words: dict[str, Any] = {"first": samples[0], "last": samples[-1], "step": step_ns}
    words["many"] = plural(len(samples), "repetition" if none else "figure")
    return finding("multiples-of-tick", words, none=none or None)


WRAP_NS = 2**32 * 1e3  # 71 minutes
LONGEST_NS = 10e9  # a step of the clock that looks so
LONGEST_STEP_NS = 1e9 * 86400 * 366 * 60  # whoever sets a clock goes to 1970 at most
LEAST_INTERVALS = 4
LONGER = 10.0  # times the usual interval; a stall does not keep the tool from telling of it
AS_MUCH = 1.5  # times what is moved in a usual one


@rule
def wall_clock_step(report: Report) -> Iterator[Finding]:
    """The clock that timed a tool's samples was set while it ran.

    Decided by the tool's own word that its clock went back, by what took less than no time, or by
    an interval many times as long as the others in which no more was moved than in one of them.
    """
    negative = [time for time in _exchanges(report) if abs(time.base_value) < LONGEST_STEP_NS]
    timed = list(_rates(report))
    step_ns, line = (report.facts.get(name) for name in ("clock_step_ns", "clock_step_line"))
    if step_ns and step_ns < LONGEST_STEP_NS:
        about: list[Result | str] = [f"line {line}: clock", *negative]
        yield finding("clock-back-told", about=about, step=step_ns, line=line)
    elif negative:
        first = negative[0]
        short_ns = WRAP_NS - first.base_value if first.value > 0 else None
        words = {"count": len(negative), "first": first, "short": short_ns}
        yield finding("clock-back", words, about=negative)
    elif timed:
        yield finding("clock-back-in-rate", about=timed, first=timed[0], took=_lasted(timed[0]))
    else:
        yield from _jump(report)


@rule
def damaged_stamp(report: Report) -> Iterator[Finding]:
    """Round trips of decades, forward or back: the time stamp that the packet carried was damaged.

    No clock is set so far. ping puts the time of sending into the packet and takes it from the
    answer, so that a wrong bit there is a wrong time.
    """
    far = [time for time in _samples_of_trips(report) if abs(time.base_value) >= LONGEST_STEP_NS]
    if far:
        line = report.facts.get("checksum_line")
        years = abs(far[0].base_value) / (1e9 * 86400 * 365.25)
        yield finding("damaged-stamp", about=far, first=far[0], years=years, checksum=line)
    elif (step := report.facts.get("clock_step_ns", 0)) >= LONGEST_STEP_NS:
        line = report.facts["clock_step_line"]
        years = step / (1e9 * 86400 * 365.25)
        yield finding("damaged-stamp-told", about=[f"line {line}: clock"], line=line, years=years)


def _samples_of_trips(report: Report) -> list[Result]:
    return [
        sample for sample in report.being("sample") if sample.name in NAMES and sample.is_number
    ]


def goes_back(report: Report) -> bool:
    """Whether that is told of it."""
    return any(_exchanges(report)) or any(_rates(report))


def _exchanges(report: Report) -> Iterator[Result]:
    """Those that took less than no time, and those of which a difference below 0 was printed as the
    number above."""
    for (name, statistic, unit), several in report.groups.items():
        of_sizes = "pattern" in report.facts and name.endswith(("latency", "time"))
        is_exchange = name in NAMES and statistic in ("sample", "min", "max")
        size, base = in_base(1.0, unit)
        if (of_sizes or is_exchange) and base == "ns":
            least, most = (WRAP_NS - LONGEST_NS) / size, WRAP_NS / size
            for time in several:
                if time.value < 0 or least <= time.value <= most:
                    yield time


def _rates(report: Report) -> Iterator[Result]:
    """Rates that were made of less than no time; the times that stand beside them have the same."""
    for (_, _, unit), several in report.groups.items():
        if "elapsed_s" in several[0].of and bytes_per_s(1.0, unit) is not None:
            yield from (rate for rate in several if _lasted(rate) < 0)


def _lasted(result: Result) -> float:
    took = result.of.get("elapsed_s")
    return 1.0 * took if is_number(took) else 0.0


def _jump(report: Report) -> Iterator[Finding]:
    """An interval far longer than the others in which no more was moved."""
    rates = report.called("throughput")
    intervals = [rate for rate in rates if rate.statistic == "interval"]
    lasted = sorted(map(_lasted, intervals))
    if len(lasted) < LEAST_INTERVALS or lasted[-1] < LONGER * lasted[0]:
        return
    usual_s = lasted[len(lasted) // 2]
    moved = sorted(rate.of.get("bytes_moved") or 0 for rate in intervals)[len(intervals) // 2]
    for rate in intervals:
        of = rate.of.get("bytes_moved")
        if _lasted(rate) >= LONGER * usual_s > 0 and is_number(of) and 0 < of <= AS_MUCH * moved:
            # Segments are sent again where nothing came through for a while.
            counts = (row.value for row in report.called("retransmits") if row.line == rate.line)
            resent = next(counts, None)
            if not resent:
                words = {"interval": rate, "took_s": _lasted(rate), "usual_s": usual_s}
                yield finding("clock-forward", words, resent=resent)
            return
