"""What was measured, as other programs take it: the values of a program at one time."""

from __future__ import annotations

import math
import statistics
import time
from calendar import timegm
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchbook.ab.counted import Count
from benchbook.ab.rounds import Measured
from benchbook.history.series import Entry, Series
from benchbook.stats import median_interval

TIME, FIGURE, RATIO = "time", "figure", "ratio"
NS, TIMES, EVENTS, UNKNOWN = "ns", "times", "events", ""  # units


@dataclass(frozen=True)
class Measurement:
    """Values of a quantity, their middle with its interval, and when they were measured.

    `quantity` is TIME (in NS), FIGURE (printed by the program, in a unit that is unknown), RATIO
    (of b to a, in TIMES) or a counted event. `program` is a or b of a comparison, else empty.
    Without an interval its ends are NaN.
    """

    host: str
    group: str  # of the comparison, or what `benchbook history` was asked for
    name: str
    program: str
    quantity: str
    unit: str
    at_s: float  # since 1970
    values: list[float]
    value: float
    low: float = math.nan
    high: float = math.nan
    more_is_better: bool = False

    @property
    def label(self) -> str:
        """The name with that of the program."""
        return f"{self.name} {self.program}".strip()


def of_comparisons(
    results: Sequence[tuple[Measured, Sequence[Count]]], host: str
) -> list[Measurement]:
    """Of each comparison: both programs, the ratio with its 99 % interval, and what was counted.
    The interval of a program's median has 95 %."""
    return [item for result in results for item in _of_comparison(*result, host)]


def _of_comparison(measured: Measured, counts: Sequence[Count], host: str) -> Iterator[Measurement]:
    name, metric, now_s = measured.case.name, measured.case.metric, time.time()
    for program in ("a", "b"):
        values = [measured.cost(run) for run in measured.runs_of(program)]
        quantity, unit = (FIGURE, UNKNOWN) if metric else (TIME, NS)
        if metric and metric.higher_is_better:
            values = [1 / value for value in values]
        middle = median_interval(values)
        yield Measurement(
            *(host, name, name, program, quantity, unit, now_s),
            *(values, middle.estimate, _end(middle.low), _end(middle.high)),
            more_is_better=bool(metric and metric.higher_is_better),
        )
        for event in counts:
            counted = [float(number) for number in event.counts[program]]
            middle_count = statistics.median(counted)
            yield Measurement(
                host, name, name, program, event.event, EVENTS, now_s, counted, middle_count
            )
    factor = measured.outcome.factor
    yield Measurement(
        *(host, name, name, "", RATIO, TIMES, now_s, [factor.ratio], factor.ratio),
        *(_end(factor.low), _end(factor.high)),
    )


def of_history(subject: str, series: Sequence[Series], host: str) -> list[Measurement]:
    """Each run of each series, which has one value: the oldest first."""
    return [_of_entry(subject, item, entry, host) for item in series for entry in item.entries]


def _of_entry(subject: str, series: Series, entry: Entry, host: str) -> Measurement:
    is_time = series.unit == NS
    return Measurement(
        *(host, subject, series.name, "", TIME if is_time else RATIO, NS if is_time else TIMES),
        *(seconds_of(entry.run), [entry.value], entry.value),
    )


def seconds_of(run: str) -> float:
    """When a run began, in s since 1970, by its name, which begins with `20261127T121506Z`."""
    return float(timegm(time.strptime(run[:15], "%Y%m%dT%H%M%S")))


def _end(value: float) -> float:
    return value if math.isfinite(value) else math.nan
