"""heavy-tail, best-of-n: few long repetitions make a figure, or are hidden by it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

from benchbook.explain.model import Report, Result
from benchbook.explain.outlines import root
from benchbook.explain.printed_digits import MOST, is_number
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.explain.rules.common.latencies import Latencies, latencies, repetitions
from benchbook.explain.rules.common.samples import Series, series
from benchbook.explain.rules.delays import is_delayed, stalls_of
from benchbook.explain.rules.start_of_shells import is_below_start
from benchbook.explain.sample_detectors import LEAST_SAMPLES
from benchbook.explain.units import in_base
from benchbook.findings import Finding

FAR = 10.0  # times the median, one in a hundred
AWAY = 2.0  # mean ÷ median, though not one in a hundred is far
WIDE = 1.5  # deviation ÷ mean; of an exponential law it is 1
WIDER = 3.0  # where quantiles show that hardly one in a hundred is long
FARTHER = ("p99.9", "p99.99", "p99.999")
MOSTLY = 0.5  # of a mean, made by the longest exchange alone
LEAST_EXCHANGES = 50  # among few, the first one is slow


@rule
def latency_tail(report: Report) -> Iterator[Finding]:
    """A mean and a deviation of latencies that few long ones make.

    Decided by quantiles where the tool prints them; by the deviation and the mean where it does
    not.
    """
    for own in latencies(report):
        if (count := repetitions(report, own)) < LEAST_EXCHANGES:
            continue
        median, far, mean, sd, most = map(own.ns, ("median", "p99", "mean", "sd", "max"))
        if median and far:
            if far >= FAR * median:
                yield _tail("tail-by-quantile", own, times=far / median)
            elif mean and sd and mean >= AWAY * median and sd >= WIDE * mean:
                yield _tail("tail-by-mean", own, times=mean / median)
            elif mean and sd and sd >= max(_least_deviation(own, sd) * mean, far):
                # What lies between 0 and some time deviates by half of that at most.
                yield _tail("tail-by-few", own, times=sd / (far / 2))
        elif mean and sd and most and sd >= WIDE * mean:
            yield _tail("tail-by-deviation", own, spread=sd / mean, times=most / mean)
        elif mean and most and not sd and most / count >= MOSTLY * mean:
            yield _tail("tail-by-longest", own, count=count, part=most / count / mean)


def _least_deviation(own: Latencies, sd: float) -> float:
    """In means: less is told where not even one in a thousand is so long."""
    farther = max((time for name in FARTHER if (time := own.ns(name))), default=None)
    return WIDE if farther and sd >= farther else WIDER


def _tail(kind: str, own: Latencies, **words: float) -> Finding:
    statistics = {
        name: own.by_statistic.get(name) for name in ("median", "mean", "sd", "max", "p99")
    }
    return finding(kind, statistics | words)


LEAST = 5  # repetitions: of fewer, nobody knows which is the usual one
ALIKE = 2.0  # slowest ÷ fastest of the others


@rule
def one_long_run(reports: list[Report]) -> Iterator[Finding]:
    """One repetition of a few takes longer than the others together, and is in the mean.

    Decided by the repetitions themselves, where the log has all of them: then the mean is that of
    no repetition. A first one is told by `first-touch` and `warm-up`, and many by
    sample_detectors.py. Only of work that is the same each time: a message that was sent again is
    another matter.
    """
    for figure in series(reports):
        if LEAST <= len(figure.samples) < LEAST_SAMPLES and figure.is_whole() and _is_work(figure):
            times = [time for time in figure.times() if time]
            if len(times) == len(figure.samples) and times[0] < max(times) > sum(times) / 2:
                yield from _one_long(figure, times)


def _is_work(figure: Series) -> bool:
    return bool(figure.samples[0].of.get("array_bytes")) or "command" in figure.report.facts


def _one_long(figure: Series, times: list[float]) -> Iterator[Finding]:
    at = times.index(max(times))
    longest, others = times[at], sorted(times[:at] + times[at + 1 :])
    mean, sample = figure.mean, figure.samples[at]
    if mean is None or others[-1] > ALIKE * others[0]:
        return
    longer = sum(times) / len(times) / others[len(others) // 2]
    words = {"mean": mean, "sample": sample, "longest_s": longest, "slowest_s": others[-1]}
    words |= {"count": len(times), "part": longest / sum(times)}
    yield finding("one-long-run", words, factor=longer if mean.is_time else 1 / longer)


@rule
def stalled_size(report: Report) -> Iterator[Finding]:
    """The size of a sweep, or two, that takes many times as long as the next smaller and the next
    larger.

    Decided by the sweep: no protocol makes a message dearer than one of more bytes, so that few of
    its exchanges, which waited for something else, are in the mean. Where all waited for a known
    time, the rule of that time tells it.
    """
    sweeps = report.sweeps if "message_bytes" in report.columns else []
    every = [stall for sweep in sweeps for stall in stalls_of(sweep)]
    stalls = [stall for stall in every if not is_delayed(stall[1])]
    if stalls:
        times, worst = max(stalls, key=lambda stall: stall[0])
        yield finding(
            "stalled-size", about=[stall[1] for stall in stalls], worst=worst, times=times
        )


BEYOND = 2.0  # mean ÷ p90


@rule
def tail_of_sizes(report: Report) -> Iterator[Finding]:
    """Means of messages of some sizes that a few long ones make.

    Decided by the quantiles that stand beside them: a mean beyond the time that nine of ten stay
    below.
    """
    quantiles = {
        (time.name, time.line): time
        for time in (report.being("p90") if "message_bytes" in report.columns else ())
        if time.is_time and time.is_number
    }
    far = [
        (mean, quantile)
        for mean in (report.being("mean") if quantiles else ())
        if (quantile := quantiles.get((mean.name, mean.line)))
        and mean.value >= BEYOND * quantile.value > 0
    ]
    if far:
        mean, quantile = max(far, key=lambda pair: pair[0].value / pair[1].value)
        about, factor = [mean for mean, _ in far], mean.value / quantile.value
        words = {"mean": mean, "quantile": quantile, "sizes": len(far)}
        words["size"] = int(mean.of.get("message_bytes", 0))
        yield finding("tail-of-sizes", words, about=about, factor=factor)


WIDE_RUNS, WIDER_RUNS = 0.25, 0.5  # deviation ÷ mean, with and without a warning
FAR_RUN, FARTHER_RUN = 1.5, 2.0  # longest ÷ mean, with and without a warning
OUTSIDE = 3.0  # deviations that the longest run is above the mean
FEW_RUNS = 8  # which have no tail
APART, LEAST_RUNS = 0.5, 3  # deviation ÷ mean that has a finding of its own; the runs it needs
WIDE_OF_BEST, FAR_FROM_USUAL, LEAST_OTHERS = 0.2, 5.0, 3  # one deviation among small ones
LEAST_SHARE = 5.0  # per cent of the mean
MOSTLY_FIRST = 0.8  # of the longest run, the first
UNSURE = 0.1  # error to one side ÷ mean: two such means may differ by a quarter without a reason


@rule
def unstable(report: Report) -> Iterator[Finding]:
    """Runs so unstable that their mean and deviation do not tell what one takes; or the error of
    their mean says so.

    Decided by the figures: a warning of the tool alone comes with differences that nobody minds.
    With none they have to be wider, for a wide deviation may be what the program does; a tool that
    warns with the interval of its mean has said both. The error of a mean looks small where there
    were many runs: it is the deviation over the root of their number. A deviation that is printed
    with a best alone bounds that error from below: no mean is beyond it.
    """
    yield from _apart(report)
    yield from islice(_open_means(report), 1)
    yield from islice(_open_bests(report), 1)
    yield from _shares_of_means(report)
    for width in report.called("confidence interval"):
        if width.value >= 100 * 2 * UNSURE:
            yield finding("wide-interval", width=width)
    by = {time.statistic: time for time in report.called("time")}
    several = (result.of.get("repetitions") for result in (report.results if by else ()))
    counts = [count for count in several if is_number(count)]
    if not by or (counts and max(counts) < FEW_RUNS):
        return
    is_warned = bool(report.facts.get("said_unstable"))
    if not is_warned and (_is_of_first(report, by) or report.being("sample")):
        return  # the first run makes it wide, or the runs themselves tell what does
    mean, deviation, most = _ns(by.get("mean")), _ns(by.get("stddev")), _ns(by.get("max"))
    if most is None and is_number(report.facts.get("said_longest_s")):
        most = report.facts["said_longest_s"] * 1e9
    if not (mean and deviation and most) or is_below_start(report):
        return
    wide, far = (WIDE_RUNS, FAR_RUN) if is_warned else (WIDER_RUNS, FARTHER_RUN)
    runs = by["mean"].of.get("repetitions")
    words: dict[str, Any] = {"mean": by["mean"], "deviation": by["stddev"]}
    if deviation >= wide * mean and most >= far * mean:
        words |= {"spread": deviation / mean, "times": most / mean}
        words["begin"] = "warned" if is_warned else "unwarned"
        is_tail = most >= FARTHER_RUN * mean and most - mean >= OUTSIDE * deviation
        words["what"] = "few" if is_tail else "unlike"
        lines = {by[name].line for name in ("mean", "max") if name in by}
        words["where"] = " and ".join(map(str, sorted(lines)))
        words["where"] = f"line{'s' if len(lines) > 1 else ''} {words['where']}"
        yield finding("unstable-runs", words)
    elif is_number(runs) and deviation >= UNSURE * mean * root(runs):
        error = 100 * deviation / mean / math.sqrt(runs)
        yield finding("open-mean", words, error=error, runs=runs)


@rule
def wanted_wide(reports: list[Report]) -> Iterator[Finding]:
    """Results of a tool that was told to be content with a wide interval.

    Decided by the interval that its title names.
    """
    wide = [
        (report.results[0], wanted)
        for report in reports
        if is_number(wanted := report.facts.get("wanted_half_percent"))
        if wanted >= 100 * UNSURE and report.results
    ]
    if wide:
        figure, wanted = wide[0]
        words = {"figure": figure, "wanted": wanted, "left": len(wide) - 1 or None}
        yield finding("wanted-wide", words, about=[own for own, _ in wide])


def _is_of_first(report: Report, by: Mapping[str, Result]) -> bool:
    """Whether the first run is the longest one: it makes the deviation."""
    first, most = report.facts.get("first_run_s"), _ns(by.get("max"))
    return is_number(first) and (most is None or first * 1e9 >= MOSTLY_FIRST * most)


def _ns(result: Result | None) -> float | None:
    return result.base_value if result and result.is_number else None


def _apart(report: Report) -> Iterator[Finding]:
    """Means whose printed error is that of runs which have little in common."""
    runs = report.facts.get("repetitions")
    if not is_number(runs) or runs < LEAST_RUNS:
        return
    for error in report.being("standard error"):
        means = (
            result
            for result in report.called(error.name)
            if result.statistic == "mean" and result.line == error.line and result.is_number
        )
        if (mean := next(means, None)) is None or not error.is_number:
            continue
        deviation = error.value * math.sqrt(runs)
        if 0 < mean.value <= max(deviation / APART, error.value / UNSURE):
            words = {"deviation": deviation, "runs": int(runs), "times": deviation / mean.value}
            yield finding("runs-apart", words, mean=mean, error=error)


def _open_means(report: Report) -> Iterator[Finding]:
    """Means of repeated loops that these leave open, by the time of the CPU: in the other one is
    what other programs took away."""
    deviations = {
        deviation.name: deviation
        for deviation in (report.being("stddev") if "benchmark" in report.columns else ())
        if deviation.is_number
    }
    for mean in report.being("mean") if deviations else ():
        deviation, runs = deviations.get(mean.name), mean.of.get("repetitions")
        if deviation is None or not is_number(runs) or runs < LEAST_RUNS or not _ns(mean):
            continue
        if mean.name.endswith(" cpu time") and deviation.unit == mean.unit and mean.value > 0:
            error = deviation.value / mean.value / math.sqrt(runs)
            if error >= UNSURE:
                words = {"mean": mean, "deviation": deviation, "error": 100 * error}
                yield finding("open-mean", words, runs=runs)


def _open_bests(report: Report) -> Iterator[Finding]:
    """Bests of rates whose deviation, in per cent of them, leaves open what their mean is: that is
    no more than the best, and of so many repetitions at most."""
    bests = {best.line: best for best in report.being("best")}
    widest: list[Result] = []
    for spread in report.knowing("repetitions_at_most"):
        best, runs = bests.get(spread.line), spread.of.get("repetitions_at_most")
        if best is None or spread.unit != "%" or not (is_number(runs) and spread.is_number):
            continue
        if runs >= LEAST_RUNS and spread.value >= 100 * UNSURE * math.sqrt(runs):
            yield finding("best-of-unlike", best=best, spread=spread, runs=runs)
        elif runs >= LEAST_RUNS and spread.value >= 100 * WIDE_OF_BEST:
            widest = widest or _widest_spreads(report)
            usual = _usual_spread(widest, spread)
            if usual is not None and spread.value >= FAR_FROM_USUAL * usual:
                words = {"best": best, "spread": spread, "usual": usual}
                yield finding("best-of-spread", words, runs=runs)


def _widest_spreads(report: Report) -> list[Result]:
    """Its deviations in per cent, the widest first; as many as are needed."""
    spreads = [own for own in report.knowing("repetitions_at_most") if own.unit == "%"]
    known = (own for own in spreads if own.is_number)
    return sorted(known, key=_value, reverse=True)[: LEAST_OTHERS + 1]


def _usual_spread(widest: list[Result], spread: Result) -> float | None:
    """The widest of the other deviations in per cent; None where there are too few of them."""
    others = [own.value for own in widest if own is not spread]
    return max(others) if len(others) >= LEAST_OTHERS else None


def _shares_of_means(report: Report) -> Iterator[Finding]:
    """Means of a suite that runs a test again while its deviation is above 3.5 %, and gave up."""
    if report.tool != "phoronix":
        return
    means = {mean.name: mean for mean in report.being("mean")}
    for spread in report.being("stddev"):
        mean = means.get(spread.name)
        if mean is None or spread.unit != "%" or not spread.value >= LEAST_SHARE:
            continue
        runs = [run for run in report.called(mean.name) if run.statistic == "sample"]
        ends = (min(runs, key=_value), max(runs, key=_value)) if runs else (None, None)
        words: dict[str, Any] = {"mean": mean, "spread": spread}
        words |= {"least": ends[0], "most": ends[1], "more": mean.of.get("runs_added")}
        words["runs"] = f"{len(runs)} runs" if runs else "runs"
        yield finding("share-of-mean", words, about=[mean, spread])


def _value(result: Result) -> float:
    return result.value


LEAST_MEAN = 1.5  # mean ÷ best; detectors of our own runs ask for as much
CONTRADICTED = 1.02  # mean ÷ longest: one of the two is no such figure
LEAST_WORST = 3.0  # longest ÷ best, with a mean that notices it
NOTICED = 1.15
MANY_THREADS = 16  # more than most sockets had for long
_Line = dict[tuple[str, str], Result]  # by name and statistic


class _Spread(NamedTuple):
    best: Result
    mean: Result | None
    worst: Result | None
    mean_over_best: float
    worst_over_best: float

    def is_far(self) -> bool:
        """Whether it is, and the mean not beyond the longest: that is told as what it is."""
        over = self.mean_over_best
        contradicted = self.worst is not None and over > CONTRADICTED * self.worst_over_best
        return (over >= LEAST_MEAN and not contradicted) or (
            self.worst_over_best >= LEAST_WORST and over >= NOTICED
        )


@rule
def best_of_n(report: Report) -> Iterator[Finding]:
    """A printed best that hides how far the others are from it.

    Decided by the statistics that are printed with it: where the mean takes half as long again as
    the best, or a sample several times as long, the best is what seldom happens.
    """
    bests = report.being("best")
    lines: dict[int, _Line] = {best.line: {} for best in bests}
    for result in report.results if bests else ():
        if 0 < result.value < MOST and result.line in lines:
            lines[result.line][result.name, result.statistic] = result
    spreads = [spread for best in bests if (spread := _spread(lines[best.line], best))]
    if far := [spread for spread in spreads if spread.is_far()]:
        worst = max(far, key=lambda spread: (spread.mean_over_best, spread.worst_over_best))
        words = {"times": worst.worst_over_best if worst.worst else None}
        about, factor = [spread.best for spread in far], worst.mean_over_best
        threads = report.facts.get("threads")
        is_crowd = is_number(threads) and threads >= MANY_THREADS
        words["threads"] = threads if is_crowd and report.facts.get("unpinned") else None
        yield finding("best-of-far", worst._asdict() | words, about=about, factor=factor)


def _spread(line: _Line, best: Result) -> _Spread | None:
    """How long the mean and the longest take, in times of the best."""
    timed = f"{best.name} time"
    if (least := line.get((timed, "min"))) is not None:
        mean, worst = line.get((timed, "mean")), line.get((timed, "max"))
        return _Spread(best, mean, worst, _ratio(mean, least), _ratio(worst, least))
    is_rate = in_base(1.0, best.unit)[1] in ("B/s", "bit/s")
    mean, worst = line.get((best.name, "mean")), line.get((best.name, "min" if is_rate else "max"))
    if not best.is_number or best.value <= 0 or not (mean or worst):
        return None
    if is_rate:
        return _Spread(best, mean, worst, _ratio(best, mean), _ratio(best, worst))
    return _Spread(best, mean, worst, _ratio(mean, best), _ratio(worst, best))


def _ratio(above: Result | None, below: Result | None) -> float:
    return above.value / below.value if above and below else 1.0


FAR_BEST = 1.3  # best ÷ median of the runs


@rule
def best_of_runs(report: Report) -> Iterator[Finding]:
    """What somebody gives is the best of several runs, and the others are far from it.

    Decided by the runs that the log shows, and by the line that calls one of their figures the
    best.
    """
    for best in report.being("best") if "best_of" in report.columns else ():
        median = best.of.get("median_of_runs")
        if is_number(median) and 0 < FAR_BEST * median <= best.value:
            yield finding("best-of-runs", best=best, median=median, factor=best.value / median)
