"""heavy-tail: a mean and a deviation of latencies that few long ones make.

Decided by quantiles where the tool prints them; by the deviation beside the mean where it does not.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.core.number_format import number, share
from benchbook.explain.model import Report
from benchbook.explain.rules import Machine
from benchbook.explain.rules.common.latencies import NAMES, Latencies, latencies, repetitions
from benchbook.findings import Finding, proof

ARTEFACT = "heavy-tail"
NEEDS = NAMES
FAR = 10.0  # times the median, one in a hundred
AWAY = 2.0  # mean ÷ median, though not one in a hundred is far
WIDE = 1.5  # deviation ÷ mean; of an exponential law it is 1
WIDER = 3.0  # where quantiles show that hardly one in a hundred is long
FARTHER = ("p99.9", "p99.99", "p99.999")
MOSTLY = 0.5  # of a mean, made by the longest exchange alone
LEAST = 50  # exchanges: among few, the first one is slow
BY_QUANTILE, BY_DEVIATION = 0.95, 0.85


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """One finding for each set of latencies with such a tail."""
    del machine
    for report in reports:
        for own in latencies(report):
            if (several := repetitions(report, own)) < LEAST:
                continue
            median, far = own.ns("median"), own.ns("p99")
            mean, sd, most = own.ns("mean"), own.ns("sd"), own.ns("max")
            if median and far:
                if far >= FAR * median:
                    yield _by_quantile(own, far / median)
                elif mean and sd and mean >= AWAY * median and sd >= WIDE * mean:
                    yield _by_mean(own, mean / median)
                elif mean and sd and sd >= max(_least_deviation(own, sd) * mean, far):
                    yield _by_few(own, sd / (far / 2))
            elif mean and sd and most and sd >= WIDE * mean:
                yield _by_deviation(own, sd / mean, most / mean)
            elif mean and most and not sd and most / several >= MOSTLY * mean:
                yield _by_longest(own, several, most / several / mean)


def _least_deviation(own: Latencies, sd: float) -> float:
    """In means: less is told where not even one in a thousand is so long."""
    farther = max((time for name in FARTHER if (time := own.ns(name))), default=None)
    return WIDE if farther and sd >= farther else WIDER


def _by_quantile(own: Latencies, times: float) -> Finding:
    mean = f" The mean, {own.said('mean')}, is of neither." if "mean" in own.by_statistic else ""
    return _finding(
        own,
        ("median", "p99", "mean"),
        BY_QUANTILE,
        f"Half of all exchanges take at most {own.said('median')}, but one in a hundred takes "
        f"{number(times)} times as long or longer, from {own.said('p99')} on.{mean}",
    )


def _by_mean(own: Latencies, times: float) -> Finding:
    return _finding(
        own,
        ("median", "mean", "sd", "p99"),
        BY_QUANTILE,
        f"Half of all exchanges take at most {own.said('median')}, and even the 99th percentile is "
        f"{own.said('p99')}: fewer than one in a hundred make the mean, {own.said('mean')}, "
        f"{number(times)} times the median, and nearly all of the deviation, {own.said('sd')}.",
    )


def _by_few(own: Latencies, times: float) -> Finding:
    """What lies between 0 and some time deviates by half of that at most."""
    return _finding(
        own,
        ("p99", "mean", "sd", "max"),
        BY_QUANTILE,
        f"99 of 100 exchanges take at most {own.said('p99')}, and by themselves deviate by half of "
        f"that at most; the deviation, {own.said('sd')}, is {number(times)} times as much. Fewer "
        "than one in a hundred make it, and it tells nothing of the others.",
    )


def _by_deviation(own: Latencies, spread: float, times: float) -> Finding:
    return _finding(
        own,
        ("mean", "sd", "max"),
        BY_DEVIATION,
        f"The deviation, {own.said('sd')}, is {number(spread)} times the mean, {own.said('mean')}, "
        f"and the longest exchange took {number(times)} times the mean: few long ones make both, "
        "and neither tells what an exchange usually takes.",
    )


def _by_longest(own: Latencies, several: int, part: float) -> Finding:
    return _finding(
        own,
        ("mean", "max"),
        BY_DEVIATION,
        f"The longest of {several:,} exchanges, {own.said('max')}, makes {share(part)} of their "
        f"mean, {own.said('mean')}, by itself: the mean is that of no other one.",
    )


def _finding(own: Latencies, names: tuple[str, ...], confidence: float, text: str) -> Finding:
    # Not above: what detectors stand on takes longer to load than a log to read.
    from benchbook.detect.detectors.heavy_tail import REMEDY

    shown = [own.by_statistic[name] for name in names if name in own.by_statistic]
    return Finding(
        artefact=ARTEFACT,
        effect="biases",
        where=[one.where for one in shown],
        confidence=confidence,
        evidence=[proof(one.where, one.value, one.unit, f"line {one.line}") for one in shown],
        explanation=text,
        remedy=REMEDY,
    )
