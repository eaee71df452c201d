"""one-run-decides, few-repetitions: what mean, deviation and extremes say together of few runs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding

STATISTICS = ("mean", "stddev", "min", "max")
OWN_COLUMNS = {"elapsed_s", "elapsed_error_s", "bytes_moved", "class_width"}
LEAST_RUNS, MOST_RUNS = 4, 200
MOST_OF_IT = 0.75  # of the sum of squares: without that run the deviation is half as large or less
WORTH = 0.03  # of the mean, a deviation that is worth a word
DIGITS = 60.0  # halves of the last digit between the extremes: fewer fit by chance
MOST_SETS = 5000


@rule
def one_run_decides(report: Report) -> Iterator[str]:
    """A note on few runs, one of which alone makes most of their deviation.

    Decided by the count, the mean, the deviation and the extreme: the mean of the other runs
    follows from them. Whether the tool divides by n or by n - 1 is left open.
    """
    found = []
    for own in _sets(report):
        mean, deviation = own["mean"], own["stddev"]
        count = report.column(mean, "repetitions")
        if not is_number(count) or not LEAST_RUNS <= count <= MOST_RUNS or count != int(count):
            continue
        if deviation.value < WORTH * mean.value:
            continue
        far = max((own["min"], own["max"]), key=lambda end: abs(end.value - mean.value))
        away = abs(far.value - mean.value)
        if away <= far.half + mean.half:
            continue
        others = (count * mean.value - far.value) / (count - 1)
        alone = (away - far.half - mean.half) ** 2 * count / (count - 1)
        share = alone / (count * (deviation.value + deviation.half) ** 2)
        if MOST_OF_IT <= share <= 1 and own["min"].value <= others <= own["max"].value:
            words: dict[str, Any] = {"far": far, "mean": mean, "deviation": deviation}
            words |= {"count": int(count), "rest": int(count) - 1, "others": others}
            words |= {"share": share, "which": "longest" if far.is_time else "largest"}
            if far is own["min"]:
                words["which"] = "shortest" if far.is_time else "smallest"
            found.append((share * deviation.value / mean.value, words))
    if found:
        words = max(found, key=lambda entry: entry[0])[1]
        yield finding("one-run-decides", words, about=[words["far"]]).explanation


@rule
def only_two_runs(report: Report) -> Iterator[str]:
    """A note on statistics that only two runs have, where the log does not count them.

    Of two runs the deviation is their distance over the root of 2, and the mean lies between.
    More than two never deviate as much: at most 0.61 of that distance.
    """
    for own in _sets(report):
        mean, deviation, least, most = (own[name] for name in ("mean", "stddev", "min", "max"))
        if is_number(report.column(mean, "repetitions")):
            continue
        apart, half = most.value - least.value, most.half + least.half
        if apart < DIGITS * max(half, deviation.half, mean.half):
            continue
        is_root = abs(deviation.value - apart / math.sqrt(2)) <= deviation.half + half
        if is_root and abs(mean.value - (least.value + most.value) / 2) <= mean.half + half:
            words = {"mean": mean, "deviation": deviation, "least": least, "most": most}
            yield finding("only-two-runs", words).explanation
            return


def _sets(report: Report) -> Iterator[Mapping[str, Result]]:
    """Mean, deviation and both extremes of each figure that has all four, each once."""
    if not report.being("stddev") or len(report.results) > MOST_SETS:
        return
    figures: dict[tuple[object, ...], dict[str, list[Result]]] = {}
    setting = sorted(report.columns - OWN_COLUMNS)
    for own in report.being(*STATISTICS):
        key = own.name, *(str(own.of.get(name)) for name in setting)
        figures.setdefault(key, {}).setdefault(own.statistic, []).append(own)
    for several in figures.values():
        if len(several) < len(STATISTICS) or any(len(own) > 1 for own in several.values()):
            continue
        found = {name: own[0] for name, own in several.items()}
        is_wanted = len({own.unit for own in found.values()}) == 1 and all(
            own.is_number and own.value >= 0 for own in found.values()
        )
        if is_wanted and found["min"].value < found["mean"].value < found["max"].value:
            yield found


_OBSERVED = {"sysbench": ("latency", "event"), "benchmarktools": ("time", "sample")}


@rule
def one_observation(report: Report) -> Iterator[str]:
    """A note on statistics of one event of sysbench, or one sample of BenchmarkTools."""
    if report.tool not in _OBSERVED:
        return
    name, what = _OBSERVED[report.tool]
    mean = report.only(name, "mean")
    if mean is None:
        return
    count = report.facts.get("events") if what == "event" else report.column(mean, "repetitions")
    if count == 1:
        yield finding("one-observation", first=mean, what=what).explanation
