"""few-observations, rounded-away, parallel-time: what printed figures have too few parts for."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.explain.rules.start_of_shells import is_below_start
from benchbook.findings import Finding

_PERCENTILE = late(r"p(\d{2}(?:\.\d+)?)")
BETWEEN_TOKENS = "time between tokens"  # of which a request has many
COUNTS = ("messages received", "events", "operations", "transactions", "requests")


@rule
def few_observations(report: Report) -> Iterator[Finding | str]:
    """Percentiles that less than one observation lies above; a note where it is the highest only.

    Decided by the number of observations that the tool counts itself: the p99.99 of a thousand is
    their maximum, or one of the largest, whatever was printed for it.
    """
    beyond = []
    counted = _counted(report)
    for (_, statistic, _), several in report.groups.items():
        if (found := _PERCENTILE.fullmatch(statistic)) is None:
            continue
        share = 1 - float(found[1]) / 100
        beyond += [
            (percentile, count)
            for percentile in several
            if (count := _observations(report, percentile) or counted) and count * share < 1
            if percentile.name != BETWEEN_TOKENS
        ]
    if beyond:
        least, count = min(beyond, key=lambda entry: float(entry[0].statistic[1:]))
        minimum = report.only(least.name, "min")
        if minimum is not None and minimum.base_value <= least.base_value:
            minimum = None
        words = {"least": least, "count": count, "minimum": minimum}
        words["largest"] = None if minimum else "the maximum"
        few = finding("few-observations", words, about=[each for each, _ in beyond])
        yield few if len(beyond) > 1 else few.explanation


def _observations(report: Report, percentile: Result) -> float:
    """How many a percentile is of, as the tool says; 0 where it does not."""
    own = report.column(percentile, "repetitions")
    return float(own) if is_number(own) and own > 0 else 0.0


def _counted(report: Report) -> float:
    """What the tool counted of all of a run; 0 where it did not."""
    counts = [count.value for name in COUNTS if (count := report.only(name))]
    return counts[0] if len(counts) == 1 and is_number(counts[0]) and counts[0] > 0 else 0.0


DEVIATIONS = ("stddev", "sd", "standard error")


@rule
def rounded_away(report: Report) -> Iterator[Finding]:
    """Deviations that were printed as 0, because their digits end before them.

    Decided by extremes that differ, or by repetitions without samples: real times are never equal.
    """
    for (name, statistic, unit), several in report.groups.items():
        if statistic not in DEVIATIONS:
            continue
        none = [deviation for deviation in several if deviation.value == 0]
        if len(none) != 1:
            continue  # as nearly all: a log may have thousands of names
        ends = [
            end
            for end in report.called(name)
            if end.statistic in ("min", "max") and end.unit == unit
        ]
        mean = report.only(name, "mean")
        if len(ends) == 2 and mean is not None and mean.is_positive:
            least, most = sorted(ends, key=lambda end: end.value)
            if least.value < most.value:
                words = {"deviation": none[0], "least": least, "most": most}
                yield finding("rounded-away", words, about=none)


@rule
def rounded_in_tables(report: Report) -> Iterator[str]:
    """A note on errors of a table that are printed as 0: their digits end before them."""
    if report.tool != "table":
        return
    means = {(mean.name, mean.line): mean for mean in report.being("mean")}
    none = [
        (mean, error)
        for error in report.being("error")
        if error.value == 0 and (mean := means.get((error.name, error.line)))
        if mean.is_positive and mean.half > 0
    ]
    if none:
        mean = none[0][0]
        are_several = any(error.value > 0 for error in report.being("error"))
        words = {"mean": mean, "digit": 2 * mean.half, "lost": "" if are_several else None}
        words["one"] = None if are_several else ""
        yield finding("error-of-no-digit", words).explanation


FEW_DIGITS = 0.05  # of a rate: half of its last digit


@rule
def rate_of_one_digit(report: Report) -> Iterator[str]:
    """A note on a rate of sysbench that has a digit only, with what its events and time make."""
    if report.tool != "sysbench":
        return
    rate, events = report.only("event rate"), report.only("events")
    took = report.only("total time")
    if not (rate and events and took and took.is_positive):
        return
    if rate.is_positive and rate.half >= FEW_DIGITS * rate.value and events.is_positive:
        made = events.value / (took.base_value / 1e9)
        words = {"rate": rate, "events": events, "made": made, "took": took}
        yield finding("rate-of-one-digit", words, about=[rate]).explanation


PARALLEL = 2.0  # times the elapsed time
OPEN = 0.1  # of the elapsed time, which its digits leave open at most


@rule
def parallel_time(report: Report) -> Iterator[str]:
    """A note that user time is far above the elapsed time: several CPUs were busy at once."""
    elapsed = report.only("time elapsed") or report.only("time", "mean")
    user = report.only("user time")
    if elapsed is None or user is None or not (elapsed.is_positive and user.is_positive):
        return
    # Seconds lost the zeros behind them: 2.000 may look like a 2.
    is_open = elapsed.base_half > OPEN * elapsed.base_value and elapsed.base_value < 1e9
    if is_open or is_below_start(report):
        return
    kernel = report.only("system time")
    used = user.base_value + (kernel.base_value if kernel else 0)
    if user.base_value >= PARALLEL * elapsed.base_value:
        words = {"user": user, "elapsed": elapsed, "times": used / elapsed.base_value}
        yield finding("parallel-time", words, kernel=kernel).explanation


SPREAD = 0.25  # deviation ÷ mean
REPEATED = ("benchmarkdotnet",)  # of hyperfine other rules know why
LEAST_NS = 1.0  # of a mean: below, nothing was timed


@rule
def wide_spread(report: Report) -> Iterator[Finding]:
    """Runs that deviate from their mean by a quarter of it or more."""
    deviations = {(own.name, own.line, own.unit): own for own in report.being("stddev")}
    wide = [
        (own.value / mean.value, mean, own)
        for mean in (report.being("mean") if report.tool in REPEATED else ())
        if mean.base_value >= LEAST_NS
        and (own := deviations.get((mean.name, mean.line, mean.unit)))
        if own.value >= SPREAD * mean.value
    ]
    if wide:
        share, mean, own = max(wide, key=lambda entry: entry[0])
        yield finding("wide-spread", mean=mean, deviation=own, share=share)


HALVED = ("sockperf",)  # tools whose latency is that of one way


@rule
def half_round_trip(report: Report) -> Iterator[str]:
    """A note that a tool's latency is half of a round trip: others call the whole one so."""
    if report.tool in HALVED and report.called("latency"):
        yield (
            f"{report.tool} calls half of a round trip latency: double it before you compare it "
            "with ping or netperf, which give the whole round trip."
        )
