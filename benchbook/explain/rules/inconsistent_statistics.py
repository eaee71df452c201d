"""inconsistent-report: statistics that no samples, or not the printed samples, have."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import combinations, islice
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import SETTING, Report, Result
from benchbook.explain.outlines import root
from benchbook.explain.printed_digits import half_of_last_digit, is_number
from benchbook.explain.results import grouped
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import Clause, finding, listing, span, unequal
from benchbook.explain.rules.common.latencies import NAMES, Latencies, latencies, repetitions
from benchbook.explain.rules.common.samples import series
from benchbook.explain.rules.last_numbers import power_of
from benchbook.explain.units import bytes_per_s
from benchbook.findings import Finding

# Columns of one number, not of its setting.
OWN_COLUMNS = {"elapsed_s", "elapsed_error_s", "bytes_moved", "repetitions", "class_width"}
AGAIN_DIGITS = 1.01  # times what they leave open: a rate may be cut before it is made bits


@rule
def inconsistent_again(report: Report) -> Iterator[Finding]:
    """A tool says one of its figures twice, and not as the same."""
    firsts: dict[tuple[str, str], Result] = {}
    for result in report.results if "said_again" in report.columns else ():
        firsts.setdefault((result.name, result.statistic), result)
    for again in report.knowing("said_again"):
        first = firsts[again.name, again.statistic]
        (value, half), (value_again, half_again) = map(_comparable, (first, again))
        if first.is_number and again.is_number:
            slack = AGAIN_DIGITS * (half + half_again)
            yield from unequal("said-again", value, value_again, slack, first=first, again=again)


def _comparable(result: Result) -> tuple[float, float]:
    """Its value and half of its last digit; rates in bytes/s, for one may be in bits."""
    if (rate := result.rate) is not None:
        return rate, bytes_per_s(result.half, result.unit) or 0.0
    return result.base_value, result.base_half


EXTREMES = ("min", "mean", "max")
BOUND_DIGITS = 2.0  # halves of the last one: some tools cut what they do not print
NEARLY = 0.005  # of a mean: processes may leave out a part of what each of them timed


@rule
def inconsistent_bounds(report: Report) -> Iterator[Finding]:
    """The first mean that is nearer to an extreme than it can be.

    One of n samples is the minimum and one the maximum: even if all others are the one or the
    other, the mean stays so far from both. Of two processes it is half of their sum.
    """
    if report.has("duplicates"):
        return  # they are in the times and not in the count
    if not any(map(report.has, NAMES)) and not report.knowing("processes_timed"):
        return  # of how many samples they are is not told
    lines: dict[tuple[str, str, int], dict[str, Result]] = {}
    for result in report.being(*EXTREMES):
        key = result.name, result.unit, result.line
        lines.setdefault(key, {})[result.statistic] = result
    whole = (line for line in lines.values() if len(line) == len(EXTREMES))
    odd = (finding for line in whole for finding in _bounds(report, line))
    yield from islice(odd, 1)


def _bounds(report: Report, line: dict[str, Result]) -> Iterator[Finding]:
    least, mean, most = shown = [line[name] for name in EXTREMES]
    count = _samples_of(report, mean)
    if not all(result.is_number for result in shown) or count < 2:
        return
    if len(report.groups.get((mean.name, "sample", mean.unit), [])) == count:
        return  # where the samples themselves tell which figure is wrong, other rules say it
    low, high = (
        (end.value + (count - 1) * opposite.value) / count
        for end, opposite in ((most, least), (least, most))
    )
    slack = BOUND_DIGITS * sum(result.half for result in shown) + NEARLY * mean.value
    is_between = 0 <= least.value <= mean.value <= most.value  # else others tell it
    if is_between and not low - slack <= mean.value <= high + slack:
        side, bound = ("most", high) if mean.value > high else ("least", low)
        words = {"least": least, "mean": mean, "most": most, "count": count}
        yield finding("mean-beyond-extremes", words, side=side, bound=bound)


def _samples_of(report: Report, mean: Result) -> int:
    """Of how many samples it is: exchanges, or the times of processes; 0 if unknown."""
    if mean.name in NAMES:
        count = mean.of.get("repetitions")
    elif "group" in mean.of:
        return 0  # of all groups together, whose number is not told
    else:
        count = report.column(mean, "processes_timed")
    return int(count) if is_number(count) else 0


DEVIATIONS = ("sd", "stddev")
DEVIATION_TOLERANCE = 0.01


@rule
def inconsistent_deviation(report: Report) -> Iterator[Finding]:
    """The first deviation that no samples between the printed extremes have.

    Of n samples from a to b with a mean of m none deviate by more than the root of (m - a)(b - m),
    times that of n ÷ (n - 1), as they do where all are at the ends (Bhatia and Davis 2000): half of
    their span at most. Where nobody tells how many there are, they are taken to be two.
    """
    if not report.being(*DEVIATIONS):
        return
    figures: dict[tuple[object, ...], dict[str, list[Result]]] = {}
    setting = sorted(report.columns - OWN_COLUMNS)
    for result in report.being("min", "max", "mean", *DEVIATIONS):
        key = result.name, result.unit, *(str(result.of.get(name)) for name in setting)
        figures.setdefault(key, {}).setdefault(result.statistic, []).append(result)
    # Of several sets of samples with one setting nobody knows which is whose.
    sets = (
        {name: own[0] for name, own in figure.items()}
        for figure in figures.values()
        if all(len(own) == 1 and own[0].is_number for own in figure.values())
    )
    yield from islice((finding for own in sets for finding in _deviation(report, own)), 1)


def _deviation(report: Report, own: dict[str, Result]) -> Iterator[Finding]:
    deviation = own.get("sd") or own.get("stddev")
    least, most, mean = own.get("min"), own.get("max"), own.get("mean")
    if deviation is None or least is None or most is None or most.value < least.value:
        return
    count = max(2, repetitions(report, Latencies(deviation.name, own, [])))
    bound = (most.value - least.value) / 2 * root(count / (count - 1))
    slack = 3 * max(result.half for result in (deviation, least, most))
    if mean:
        if least.value <= mean.value <= most.value:
            around = (mean.value - least.value + mean.half) * (most.value - mean.value + mean.half)
            bound = min(bound, root(around * count / (count - 1)))
        # Tools that subtract the square of a mean which they cut lose as much as that is off.
        slack += root(4 * mean.half * abs(mean.value))
    if deviation.value > bound * (1 + DEVIATION_TOLERANCE) + slack:
        factor = deviation.value / bound if bound > 0 else None
        words = {"deviation": deviation, "least": least, "most": most, "bound": bound}
        yield finding("deviation-beyond-extremes", words, factor=factor)


ERROR_TOLERANCE = 0.02  # of the share, beside what digits leave open
HALF_PERCENT = 0.005  # shares are printed with two decimals


@rule
def inconsistent_error(report: Report) -> Iterator[Finding]:
    """An error of a mean that is printed as a time and as a share of the mean, unlike."""
    if "error_percent" not in report.columns:
        return
    means = {(mean.name, mean.line): mean for mean in report.being("mean") if mean.is_positive}
    for error in report.being("standard error"):
        printed, mean = error.of.get("error_percent"), means.get((error.name, error.line))
        if mean and error.is_number and is_number(printed):
            made = 100 * error.value / mean.value
            half = error.half / error.value if error.value > 0 else 0.0
            slack = made * (ERROR_TOLERANCE + half) + HALF_PERCENT
            yield from unequal("error-of-mean", float(printed), made, slack, mean=mean, error=error)


MEAN_TOLERANCE = 0.005
VARIATION_TOLERANCE = 0.02  # beside what digits leave open


@rule
def inconsistent_mean(reports: list[Report]) -> Iterator[Finding]:
    """A mean that is not that of all the samples printed with it, or a share of variation that is
    not the deviation over the mean."""
    for figure in series(reports):
        mean, values = figure.mean, figure.values
        if not mean or not figure.is_whole() or min(values) <= 0:
            continue
        # Of rates some tools print bytes over the mean time, which is the harmonic mean.
        arithmetic = sum(values) / len(values)
        harmonic = len(values) / sum(1 / value for value in values)
        low, high = harmonic * (1 - MEAN_TOLERANCE), arithmetic * (1 + MEAN_TOLERANCE)
        if low <= mean.value <= high:
            continue  # as nearly all are: the digits of very many take long
        # Some tools cut a mean off instead of rounding it; `<1ms` may be anything below.
        digits = 2 * mean.half + max(map(half_of_last_digit, values))
        low = 0.0 if any(sample.of.get("at_most") for sample in figure.samples) else low - digits
        if not low <= mean.value <= high + digits:
            words = {"mean": mean, "count": len(values), "lines": span(figure.samples)}
            words |= {"least": min(values), "most": max(values), "made": arithmetic}
            sent = figure.report.only("packets sent")
            of_sent = sum(values) / sent.value if sent and sent.value > len(values) else 0.0
            if sent and abs(mean.value - of_sent) <= digits:
                words["sent"] = sent
            kind = "mean-over-sent" if "sent" in words else "mean-of-samples"
            yield finding(kind, words, factor=mean.value / arithmetic)
    for report in reports:
        yield from islice(_variations(report), 1)


def _variations(report: Report) -> Iterator[Finding]:
    shares = [share for share in report.being("cv") if share.unit == "%" and share.is_number]
    printed = {
        (result.name, result.of.get("benchmark"), result.statistic): result
        for result in (report.being("mean", "stddev") if shares else ())
        if result.is_positive
    }
    for share in shares:
        key = share.name, share.of.get("benchmark")
        mean, deviation = printed.get((*key, "mean")), printed.get((*key, "stddev"))
        if mean and deviation and (made := 100 * deviation.base_value / mean.base_value) > 0:
            halves = sum(each.half / each.value for each in (mean, deviation))
            slack = made * (VARIATION_TOLERANCE + halves) + share.half
            words = {"share": share, "deviation": deviation, "mean": mean}
            yield from unequal("variation", share.value, made, slack, words)


def deviation_of(values: Sequence[float]) -> float:
    """Of a sample. (The module's own takes a minute for a million.)"""
    mean = sum(values) / len(values)
    return math.sqrt(sum((value - mean) * (value - mean) for value in values) / (len(values) - 1))


STATISTICS: dict[str, Callable[[Sequence[float]], float]] = {
    "min": min,
    "max": max,
    "median": statistics.median,
    "stddev": deviation_of,
}
SAMPLES_TOLERANCE, SAMPLE_DEVIATION_TOLERANCE = 0.005, 0.03


@rule
def inconsistent_samples(report: Report) -> Iterator[Finding]:
    """The first minimum, maximum, median or deviation that is not that of the samples printed with
    it. Where a sample lies beyond the printed ends, inconsistent_order tells it: here the ends are
    those that no sample reaches."""
    figures = report.being(*STATISTICS) if report.series else ()
    by_figure = grouped(
        (figure for figure in figures if figure.is_number and "process" not in figure.of),
        lambda figure: _figure(figure, figure.statistic),
    )
    printed = {key: several[0] for key, several in by_figure.items() if len(several) == 1}
    if printed:
        yield from islice(_unlike_samples(report, printed), 1)


def _figure(result: Result, statistic: str) -> tuple[object, ...]:
    return result.name, statistic, *(result.of.get(name) for name in SETTING)


def _unlike_samples(report: Report, printed: dict[tuple[object, ...], Result]) -> Iterator[Finding]:
    for figure in series([report]):
        samples, values = figure.samples, figure.values
        if any(sample.of.get("at_most") for sample in samples) or min(values) <= 0:
            continue
        for statistic, of in STATISTICS.items():
            result = printed.get(_figure(samples[0], statistic))
            if result is None or result.unit != samples[0].unit or result.of.get("computed"):
                continue
            made = of(values) if result.of.get("repetitions") == len(values) else math.nan
            beyond = {"min": result.value > made, "max": result.value < made}
            if not is_number(made) or beyond.get(statistic):
                continue
            is_deviation = statistic == "stddev"
            share = SAMPLE_DEVIATION_TOLERANCE if is_deviation else SAMPLES_TOLERANCE
            # Of few samples it matters whether a deviation is that of all or of a sample.
            least = made * math.sqrt(1 - 1 / len(values)) if is_deviation else made
            low, high = least * (1 - share), made * (1 + share)
            if low <= result.value <= high:
                continue  # as nearly all do: the digits of very many take long
            digits = 2 * (result.half + _half(values))
            if not low - digits <= result.value <= high + digits:
                words = {"count": len(samples), "lines": span(samples), "made": made}
                yield finding("statistic-of-samples", words, printed=result)


def _half(values: Sequence[float]) -> float:
    """Half of the last digit: those that are as large have as many, whatever zeros were lost."""
    by_size: dict[int, float] = {}
    for value in values:
        size, half = math.frexp(value)[1] // 3, half_of_last_digit(value)
        by_size[size] = min(by_size.get(size, half), half)
    return max(by_size.values())


_PERCENTILE = late(r"p(\d{1,2}(?:\.\d+)?)")
# Where a statistic stands among others of the same samples; what lies strictly between 0 and 100
# has that share of the samples below it.
_ENDS = {"min": 0.0, "max": 100.0}
_INSIDE = ("mean", "median", "sample")
ORDER_TOLERANCE = 1e-6
MOST_ALIKE = 20  # of one statistic; of more, the least and the greatest tell
MOST = 1000  # statistics of the same samples; no tool prints more


@rule
def inconsistent_order(report: Report) -> Iterator[Finding]:
    """Statistics of the same samples in an order that no samples have: a mean outside the smallest
    and the largest, percentiles that fall, samples beyond the extremes."""
    wrong = [
        pair
        for several in _same_samples(report)
        for pair in _wrong(several)
        if not any(power_of(own) for own in pair)  # last_numbers.py says it
    ]
    clauses = [Clause("order", {"low": low, "high": high}, (low, high)) for low, high in wrong]
    yield from listing("order-of-statistics", clauses)


def _same_samples(report: Report) -> list[list[Result]]:
    """Statistics of the same samples: one name, unit and setting."""
    placed = {statistic for _, statistic, _ in report.groups if _place(statistic, "")}
    figures: dict[tuple[str, str], list[Sequence[Result]]] = {}
    for (name, statistic, unit), several in report.groups.items():
        if statistic in placed and not placed <= {"sample"}:
            figures.setdefault((name, unit), []).append(several)
    setting = sorted(report.columns - OWN_COLUMNS - {"repetition", "iterations", "clock_ticks"})
    by_setting: dict[tuple[object, ...], list[Result]] = {}
    for figure, groups in figures.items():
        for result in (result for several in groups if len(groups) > 1 for result in several):
            if result.is_number:
                key = *figure, *(str(result.of.get(name)) for name in setting)
                by_setting.setdefault(key, []).append(result)
    sets = (own for several in by_setting.values() for own in _told_apart(several))
    return [own for own in sets if len(own) > 1]


def _told_apart(several: list[Result]) -> list[list[Result]]:
    """All of them, or those of each line where one of them has several values: these are of
    several sets of samples, and across the lines nobody knows which is whose."""
    values: dict[str, float] = {}
    for own in several:
        is_one = own.statistic != "sample" and not own.of.get("said_again")
        if is_one and values.setdefault(own.statistic, own.value) != own.value:
            return list(grouped(several, lambda result: result.line).values())
    return [several]


@lru_cache
def _place(statistic: str, unit: str) -> tuple[float, float] | None:
    """The least and the greatest place that it can have among the samples, in per cent."""
    if statistic in _ENDS or statistic == "best":
        is_rate = bytes_per_s(1.0, unit) is not None
        end = _ENDS.get(statistic, 100.0 if is_rate else 0.0)
        return end, end
    if match := _PERCENTILE.fullmatch(statistic):
        return float(match[1]), float(match[1])
    if statistic == "median":
        return 50.0, 50.0
    return (0.0, 100.0) if statistic in _INSIDE else None


def _wrong(several: list[Result]) -> Iterator[tuple[Result, Result]]:
    """Pairs of which the first, which cannot be the greater, is greater."""
    placed = [
        (result, place)
        for result in _deciding(several)
        if (place := _place(result.statistic, result.unit)) is not None
    ]
    if not _may_be_wrong(placed):
        return
    for (first, place), (second, place_of_second) in combinations(placed, 2):
        if place[1] <= place_of_second[0] and _exceeds(first, second):
            yield first, second
        elif place_of_second[1] <= place[0] and _exceeds(second, first):
            yield second, first


def _deciding(several: list[Result]) -> list[Result]:
    """Those that decide: of samples, and of a statistic that is there very often, both ends."""
    by_statistic = grouped(several, lambda result: result.statistic)
    often = {"sample"} | {name for name, own in by_statistic.items() if len(own) > MOST_ALIKE}
    deciding = [result for result in several if result.statistic not in often][:MOST]
    for name in sorted(often & by_statistic.keys()):
        deciding += [end(by_statistic[name], key=lambda result: result.value) for end in (min, max)]
    return deciding


def _may_be_wrong(placed: list[tuple[Result, tuple[float, float]]]) -> bool:
    """Whether any is above one that stands higher, whatever the digits: nearly always none is, and
    the pairs of a thousand need not be looked at."""
    below = -math.inf  # the greatest of those that stand no higher
    waiting = sorted(placed, key=lambda pair: pair[1][1])
    at = 0
    for result, (least, _) in sorted(placed, key=lambda pair: pair[1][0]):
        while at < len(waiting) and waiting[at][1][1] <= least:
            below = max(below, waiting[at][0].value)
            at += 1
        if below > result.value:
            return True
    return False


def _exceeds(low: Result, high: Result) -> bool:
    """Whether what should be lower is higher, beyond the digits that were printed."""
    if low.value <= high.value or low.statistic == high.statistic:
        return False
    halves = low.half, high.half
    # Rounding keeps the order of numbers that are printed with as many digits; zeros at the end of
    # one are not known here, but what is as large in the same row has as many.
    as_many = halves[0] == halves[1] or _are_in_a_row(low, high)
    digits = 0.0 if as_many else max(halves)
    if high.statistic == "sample" and halves[1] > halves[0]:
        digits *= 2  # old pings cut off what they do not print of it
    classes = max(result.of.get("class_width", 0.0) for result in (low, high))
    return low.value - high.value > digits + (ORDER_TOLERANCE + classes) * abs(high.value)


def _are_in_a_row(low: Result, high: Result) -> bool:
    """Whether one line has both, both are of ordered samples, and their first digits stand in the
    same place. A mean may have more digits than what it is of."""
    if low.line != high.line or {"mean", "sample"} & {low.statistic, high.statistic}:
        return False
    if min(low.value, high.value) <= 0:
        return False
    return math.floor(math.log10(low.value)) == math.floor(math.log10(high.value))


OF_RATIO = 0.0015  # three decimals, of which the last may be cut
OF_SHARE = 0.05  # of what two printed numbers make
OF_HUNDREDTH = 0.011  # two decimals


@rule
def inconsistent_latencies(report: Report) -> Iterator[Finding]:
    """Statistics of latencies that are not what others make: a variation is the deviation over the
    mean, an interval holds it, and there are no more observations than replies."""
    odd = [clause for own in latencies(report) for clause in _odd_latencies(report, own)]
    yield from listing("latencies", [*odd, *_odd_counts(report)])


def _odd_latencies(report: Report, own: Latencies) -> Iterator[Clause]:
    mean, sd = own.by_statistic.get("mean"), own.by_statistic.get("sd")
    if mean is None or not mean.is_positive:
        return
    means = report.groups[own.name, "mean", mean.unit]
    if any(result.of.get("said_again") for result in means):
        return  # nobody knows which of them the others go with
    low, high = report.facts.get("interval_from_us"), report.facts.get("interval_to_us")
    if is_number(low) and is_number(high) and not low <= mean.value <= high:
        yield Clause("interval", {"low": low, "high": high, "mean": mean}, [mean])
    variation = report.facts.get("variation")
    if sd and sd.is_number and is_number(variation):
        made = sd.value / mean.value
        if abs(variation - made) > OF_RATIO + OF_SHARE * made:
            words = {"variation": variation, "sd": sd, "made": made, "mean": mean}
            yield Clause("variation", words, [sd, mean])


def _odd_counts(report: Report) -> Iterator[Clause]:
    """Observations and replies, where one server gives one reply to a message."""
    count = report.facts.get("repetitions")
    hundredth = report.facts.get("per_cent_of_repetitions")
    if is_number(count) and is_number(hundredth) and abs(count / 100 - hundredth) > OF_HUNDREDTH:
        yield Clause("hundredth", {"count": count, "made": count / 100, "printed": hundredth})
    twice = report.called("duplicated messages")
    if report.facts.get("servers", 1) > 1 or not twice or any(result.value for result in twice):
        return
    valid = {
        result.name: result
        for result in report.called("messages sent", "messages received")
        if result.of.get("part") == "valid"
    }
    sent, got = valid.get("messages sent"), valid.get("messages received")
    if sent and got and got.value > sent.value:
        yield Clause("replies", {"sent": sent, "got": got}, [sent, got])
    elif got and is_number(count) and count > got.value:
        yield Clause("observations", {"count": count, "got": got}, [got])


WARNING_TOLERANCE = 0.03  # three digits here, and fewer there
LEAST_POINTS = 1.01  # of a share in whole per cent


@rule
def inconsistent_warning(report: Report) -> Iterator[Finding]:
    """A warning of the tool has other figures than what it warns of: it names the deviation, the
    mean and their ratio, and below it the tool prints mean and deviation again."""
    names = ("warned_stddev_ns", "warned_mean_ns", "warned_share")
    spread, middle, share = (report.facts.get(name) for name in names)
    if not is_number(spread) or not is_number(middle) or not is_number(share) or middle <= 0:
        return
    made = 100 * spread / middle
    words: dict[str, Any] = {"line": report.facts.get("warned_in_line", report.line)}
    words |= {"spread": spread, "middle": middle, "share": share, "made": made}
    place = f"line {words['line']}: warning"
    if abs(made - share) > LEAST_POINTS + WARNING_TOLERANCE * made:
        yield finding("warning", words, why="ratio", about=[place])
        return
    for result in report.called("time"):
        warned = {"mean": middle, "stddev": spread}.get(result.statistic)
        ns = result.base_value
        if warned is None or not result.is_time or not is_number(ns):
            continue
        if abs(ns - warned) > 2 * result.base_half + WARNING_TOLERANCE * max(ns, warned):
            own = {"result": result, "warned": warned}
            yield finding("warning", words | own, why="printed", about=[place])
            return


RATIO_TOLERANCE = 0.03  # the ratio is made of times with more digits than are printed


@rule
def inconsistent_ratio(report: Report) -> Iterator[Finding]:
    """A printed ratio of two times is not that of the times."""
    facts, mean = report.facts, report.only("time", "mean")
    printed, reference_s = facts.get("said_times"), facts.get("fastest_s")
    if not is_number(printed) or not is_number(reference_s) or reference_s <= 0 or not mean:
        return
    mean_s = mean.base_value / 1e9
    if mean_s <= 0:
        return  # no float holds it
    # A table tells the faster ones by their reference, too.
    is_faster = bool(facts.get("is_faster"))
    made = reference_s / mean_s if is_faster else mean_s / reference_s
    # Of the other time only the number is left: its digits are taken to be as many.
    half_s = mean.base_half / 1e9
    slack = made * (RATIO_TOLERANCE + half_s / mean_s + half_s / reference_s)
    slack += half_of_last_digit(printed)
    line = facts["said_times_line"]
    words = {"mean": mean, "line": line, "reference_s": reference_s}
    words |= {"reference_line": facts["fastest_line"], "place": f"line {line}: times faster"}
    yield from unequal(
        "times-faster" if is_faster else "times-as-long", printed, made, slack, words
    )
