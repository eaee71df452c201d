"""inconsistent-report: statistics that no samples, or not the printed samples, have."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import combinations, islice
from typing import Any

from benchbook.core.number_format import duration, listed, plural
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import SETTING, Report, Result
from benchbook.explain.printed_digits import half_of_last_digit, is_number
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.base_units import in_base_units
from benchbook.explain.rules.common.findings import Proof, Relation, finding, span, unequal
from benchbook.explain.rules.common.latencies import NAMES, Latencies, latencies, repetitions
from benchbook.explain.rules.common.samples import series
from benchbook.explain.units import bytes_per_s, in_base
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
        if is_number(first.value) and is_number(again.value):
            slack = AGAIN_DIGITS * (half + half_again)
            words = {"first": first, "again": again}
            relation = Relation(value, value_again, slack)
            yield from unequal("said-again", relation, words, factored=False)


def _comparable(result: Result) -> tuple[float, float]:
    """Its value and half of its last digit; rates in bytes/s, for one may be in bits."""
    value, half = (
        rate
        if (rate := bytes_per_s(size, result.unit)) is not None
        else in_base(size, result.unit)[0]
        for size in (result.value, half_of_last_digit(result.value))
    )
    return value, half


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
    yield from islice((found for line in lines.values() for found in _bounds(report, line)), 1)


def _bounds(report: Report, line: dict[str, Result]) -> Iterator[Finding]:
    if len(line) < len(EXTREMES) or not all(is_number(result.value) for result in line.values()):
        return
    least, mean, most = shown = [line[name] for name in EXTREMES]
    count = _samples_of(report, mean)
    if count < 2 or len(report.groups.get((mean.name, "sample", mean.unit), [])) == count:
        return  # where the samples themselves tell which figure is wrong, other rules say it
    low, high = (
        (end.value + (count - 1) * other.value) / count
        for end, other in ((most, least), (least, most))
    )
    digits = sum(half_of_last_digit(result.value) for result in shown)
    slack = BOUND_DIGITS * digits + NEARLY * mean.value
    if not 0 <= least.value <= mean.value <= most.value or (
        low - slack <= mean.value <= high + slack
    ):
        return  # a mean that is not between them at all is told by others
    side, bound = ("most", high) if mean.value > high else ("least", low)
    evidence = [(result.statistic, result.value, mean.unit, mean.line) for result in shown]
    evidence.append(("samples", count, "1", mean.line))
    words: dict[str, Any] = {"least": least, "mean": mean, "most": most}
    words |= {"count": count, "side": side, "bound": bound}
    yield finding("mean-beyond-extremes", words, evidence=evidence)


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
        if all(len(own) == 1 and is_number(own[0].value) for own in figure.values())
    )
    yield from islice((found for own in sets for found in _deviation_beyond(report, own)), 1)


def _deviation_beyond(report: Report, own: dict[str, Result]) -> Iterator[Finding]:
    deviation = own.get("sd") or own.get("stddev")
    least, most, mean = own.get("min"), own.get("max"), own.get("mean")
    if deviation is None or least is None or most is None or most.value < least.value:
        return
    count = max(2, repetitions(report, Latencies(deviation.name, own, [])))
    bound = (most.value - least.value) / 2 * math.sqrt(count / (count - 1))
    shown = (deviation, least, most)
    slack = 3 * max(half_of_last_digit(result.value) for result in shown)
    if mean:
        half = half_of_last_digit(mean.value)
        if least.value <= mean.value <= most.value:
            around = (mean.value - least.value + half) * (most.value - mean.value + half)
            bound = min(bound, math.sqrt(around * count / (count - 1)))
        # Tools that subtract the square of a mean which they cut lose as much as that is off.
        slack += math.sqrt(4 * half * abs(mean.value))
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
    means = {(mean.name, mean.line): mean for mean in report.being("mean") if is_number(mean.value)}
    for error in report.being("standard error"):
        printed, mean = error.of.get("error_percent"), means.get((error.name, error.line))
        if mean and is_number(error.value) and is_number(printed) and mean.value > 0:
            made = 100 * error.value / mean.value
            half = half_of_last_digit(error.value) / error.value if error.value > 0 else 0.0
            relation = Relation(printed, made, made * (ERROR_TOLERANCE + half) + HALF_PERCENT)
            evidence: list[Proof] = [mean, error, ("error", float(printed), "%", error.line)]
            words = {"mean": mean, "error": error}
            yield from unequal("error-of-mean", relation, words, factored=False, evidence=evidence)


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
        digits = 2 * half_of_last_digit(mean.value) + max(map(half_of_last_digit, values))
        low = 0.0 if any(sample.of.get("at_most") for sample in figure.samples) else low - digits
        if not low <= mean.value <= high + digits:
            lines = span(figure.samples)
            evidence = [
                ("printed mean", mean.value, mean.unit, mean.line),
                ("mean of the samples", arithmetic, mean.unit, lines),
            ]
            words: dict[str, Any] = {
                "mean": mean,
                "samples": plural(len(values), "sample"),
                "lines": lines,
            }
            words |= {"least": min(values), "most": max(values), "made": arithmetic}
            factor = mean.value / arithmetic
            yield finding("mean-of-samples", words, factor=factor, evidence=evidence)
    for report in reports:
        yield from islice(_variations(report), 1)


def _variations(report: Report) -> Iterator[Finding]:
    shares = [share for share in report.being("cv") if share.unit == "%" and is_number(share.value)]
    printed = {
        (result.name, result.of.get("benchmark"), result.statistic): result
        for result in (report.being("mean", "stddev") if shares else ())
        if is_number(result.value) and result.value > 0
    }
    for share in shares:
        key = share.name, share.of.get("benchmark")
        mean, deviation = printed.get((*key, "mean")), printed.get((*key, "stddev"))
        if not mean or not deviation:
            continue
        made = 100 * in_base_units(deviation) / in_base_units(mean)
        halves = sum(half_of_last_digit(each.value) / each.value for each in (mean, deviation))
        slack = made * (VARIATION_TOLERANCE + halves) + half_of_last_digit(share.value)
        if made > 0:
            words = {"share": share, "deviation": deviation, "mean": mean}
            yield from unequal("variation", Relation(share.value, made, slack), words)


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
    found: dict[tuple[object, ...], list[Result]] = {}
    for result in report.being(*STATISTICS) if report.series else ():
        if is_number(result.value) and "process" not in result.of:
            found.setdefault(_figure(result, result.statistic), []).append(result)
    printed = {key: several[0] for key, several in found.items() if len(several) == 1}
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
            said = printed.get(_figure(samples[0], statistic))
            if said is None or said.unit != samples[0].unit or said.of.get("computed"):
                continue
            made = of(values) if said.of.get("repetitions") == len(values) else math.nan
            beyond = {"min": said.value > made, "max": said.value < made}
            if not is_number(made) or beyond.get(statistic):
                continue
            is_deviation = statistic == "stddev"
            share = SAMPLE_DEVIATION_TOLERANCE if is_deviation else SAMPLES_TOLERANCE
            # Of few samples it matters whether a deviation is that of all or of a sample.
            least = made * math.sqrt(1 - 1 / len(values)) if is_deviation else made
            low, high = least * (1 - share), made * (1 + share)
            if low <= said.value <= high:
                continue  # as nearly all do: the digits of very many take long
            digits = 2 * (half_of_last_digit(said.value) + _half(values))
            if not low - digits <= said.value <= high + digits:
                lines = span(samples)
                evidence: list[Proof] = [
                    said,
                    (f"{statistic} of the samples", made, said.unit, lines),
                ]
                words = {"said": said, "count": len(samples), "lines": lines, "made": made}
                yield finding("statistic-of-samples", words, evidence=evidence)


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
SHOWN = 3


@rule
def inconsistent_order(report: Report) -> Iterator[Finding]:
    """Statistics of the same samples in an order that no samples have: a mean outside the smallest
    and the largest, percentiles that fall, samples beyond the extremes."""
    wrong = [pair for several in _same_samples(report) for pair in _wrong(several)]
    if wrong:
        said = [
            f"the {low.statistic} of {low.name} (line {low.line}: {_valued(low)}) is "
            f"above its {high.statistic} (line {high.line}: {_valued(high)})"
            for low, high in wrong[:SHOWN]
        ]
        more = [f"{len(wrong) - SHOWN} more of that kind"] if len(wrong) > SHOWN else []
        every = [result for pair in wrong for result in pair]
        about = dict.fromkeys(result.where for result in every)
        shown = [(result.where, result.value, result.unit, "log") for result in every[: 2 * SHOWN]]
        text = listed([*said, *more])
        yield finding("order-of-statistics", {"said": text}, about=about, evidence=shown)


def _same_samples(report: Report) -> list[list[Result]]:
    """Statistics of the same samples: one name, unit and setting."""
    placed = {statistic for _, statistic, _ in report.groups if _place(statistic, "")}
    figures: dict[tuple[str, str], list[Sequence[Result]]] = {}
    for (name, statistic, unit), several in report.groups.items():
        if statistic in placed and not placed <= {"sample"}:
            figures.setdefault((name, unit), []).append(several)
    setting = sorted(report.columns - OWN_COLUMNS - {"repetition", "iterations", "clock_ticks"})
    found: dict[tuple[object, ...], list[Result]] = {}
    for figure, groups in figures.items():
        for result in (result for several in groups if len(groups) > 1 for result in several):
            if is_number(result.value):
                key = *figure, *(str(result.of.get(name)) for name in setting)
                found.setdefault(key, []).append(result)
    return [several for several in found.values() if len(several) > 1]


@lru_cache
def _place(statistic: str, unit: str) -> tuple[float, float] | None:
    """The least and the greatest place that it can have among the samples, in per cent."""
    if statistic in _ENDS or statistic == "best":
        is_rate = bytes_per_s(1.0, unit) is not None
        end = _ENDS.get(statistic, 100.0 if is_rate else 0.0)
        return end, end
    if found := _PERCENTILE.fullmatch(statistic):
        return float(found[1]), float(found[1])
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
    for (first, place), (second, other_place) in combinations(placed, 2):
        if place[1] <= other_place[0] and _exceeds(first, second):
            yield first, second
        elif other_place[1] <= place[0] and _exceeds(second, first):
            yield second, first


def _deciding(several: list[Result]) -> list[Result]:
    """Those that decide: of samples, and of a statistic that is there very often, both ends."""
    by_statistic: dict[str, list[Result]] = {}
    for result in several:
        by_statistic.setdefault(result.statistic, []).append(result)
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
    halves = half_of_last_digit(low.value), half_of_last_digit(high.value)
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


def _valued(result: Result) -> str:
    unit = "" if result.unit == "1" else f" {result.unit}"
    return f"{result.value:,.10g}{unit}"


OF_RATIO = 0.0015  # three decimals, of which the last may be cut
OF_SHARE = 0.05  # of what two printed numbers make
OF_HUNDREDTH = 0.011  # two decimals
Odd = tuple[str, list[Result]]


@rule
def inconsistent_latencies(report: Report) -> Iterator[Finding]:
    """Statistics of latencies that are not what others make: a variation is the deviation over the
    mean, an interval holds it, and there are no more observations than replies."""
    odd = [pair for own in latencies(report) for pair in _odd_latencies(report, own)]
    if odd := odd + list(_odd_counts(report)):
        shown = [result for _, several in odd for result in several]
        about, said = dict.fromkeys(result.where for result in shown), [said for said, _ in odd]
        yield finding("latencies", {"said": listed(said)}, about=about, evidence=shown)


def _odd_latencies(report: Report, own: Latencies) -> Iterator[Odd]:
    mean, sd = own.by_statistic.get("mean"), own.by_statistic.get("sd")
    if mean is None or not is_number(mean.value) or mean.value <= 0:
        return
    means = report.groups[own.name, "mean", mean.unit]
    if any(result.of.get("said_again") for result in means):
        return  # nobody knows which of them the others go with
    low, high = (report.facts.get(f"interval_{end}_us") for end in ("from", "to"))
    if is_number(low) and is_number(high) and not low <= mean.value <= high:
        yield (
            f"the interval from {low:,.10g} to {high:,.10g} us does not hold the mean, "
            f"{own.printed('mean')}",
            [mean],
        )
    if sd is None or not is_number(sd.value):
        return
    said, made = report.facts.get("variation"), sd.value / mean.value
    if is_number(said) and abs(said - made) > OF_RATIO + OF_SHARE * made:
        yield (
            f"cv is {said:g}, but the deviation, {own.printed('sd')}, is {made:.3g} of the mean, "
            f"{own.printed('mean')}",
            [sd, mean],
        )


def _odd_counts(report: Report) -> Iterator[Odd]:
    """Observations and replies, where one server gives one reply to a message."""
    count, hundredth = (report.facts.get(n) for n in ("repetitions", "per_cent_of_repetitions"))
    if is_number(count) and is_number(hundredth) and abs(count / 100 - hundredth) > OF_HUNDREDTH:
        yield (
            f"a hundredth of {count:,} observations is {count / 100:,.2f}, not {hundredth:,.2f}",
            [],
        )
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
        yield (
            f"{got.value:,} replies were received to {sent.value:,} messages (line {got.line})",
            [sent, got],
        )
    elif got and is_number(count) and count > got.value:
        yield f"{count:,} observations are of {got.value:,} replies (line {got.line})", [got]


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
    made, what = 100 * spread / middle, ""
    if abs(made - share) > LEAST_POINTS + WARNING_TOLERANCE * made:
        what = (
            f"{duration(spread)} are {share:g} % of {duration(middle)}, and they are {made:.3g} %"
        )
    else:
        what = next(_printed_otherwise(report, {"mean": middle, "stddev": spread}), "")
    if what:
        line = report.facts.get("warned_in_line", report.line)
        evidence = [(name, report.facts[name], "ns", line) for name in names[:2]]
        place = f"line {line}: warning"
        yield finding("warning", {"line": line, "what": what}, about=[place], evidence=evidence)


def _printed_otherwise(report: Report, warned: dict[str, float]) -> Iterator[str]:
    """What the tool printed otherwise than it warned."""
    for result in report.called("time"):
        value, base = in_base(result.value, result.unit)
        said = warned.get(result.statistic)
        if said is None or base != "ns" or not is_number(value):
            continue
        half = in_base(half_of_last_digit(result.value), result.unit)[0]
        if abs(value - said) > 2 * half + WARNING_TOLERANCE * max(value, said):
            yield (
                f"the {result.statistic} is {duration(said)}, but line {result.line} says "
                f"{result.value:g} {result.unit}"
            )


RATIO_TOLERANCE = 0.03  # the ratio is made of times with more digits than are printed


@rule
def inconsistent_ratio(report: Report) -> Iterator[Finding]:
    """A printed ratio of two times is not that of the times."""
    facts = report.facts
    said, fastest_s = facts.get("said_times"), facts.get("fastest_s")
    means = [result for result in report.called("time") if result.statistic == "mean"]
    if not is_number(said) or not is_number(fastest_s) or fastest_s <= 0 or len(means) != 1:
        return
    (mean,) = means
    mean_s = in_base_units(mean) / 1e9 if is_number(mean.value) else 0.0
    if mean.value <= 0 or mean_s <= 0:
        return  # no float holds it
    # A table tells the faster ones by their reference, too.
    is_faster = bool(facts.get("is_faster"))
    made = fastest_s / mean_s if is_faster else mean_s / fastest_s
    # Of the other time only the number is left: its digits are taken to be as many.
    half_s = in_base(half_of_last_digit(mean.value), mean.unit)[0] / 1e9
    slack = made * (RATIO_TOLERANCE + half_s / mean_s + half_s / fastest_s)
    line, other = facts["said_times_line"], facts["fastest_line"]
    name = "times-faster" if is_faster else "times-as-long"
    evidence = [
        ("times faster", said, "1", line),
        ("mean", mean.value, mean.unit, mean.line),
        ("reference" if is_faster else "fastest", fastest_s, "s", other),
    ]
    about, words = [mean.where, f"line {line}: times faster"], {"mean": mean, "line": line}
    relation = Relation(said, made, slack + half_of_last_digit(said))
    yield from unequal(name, relation, {**words, "other": other}, about=about, evidence=evidence)
