"""scaling: figures by threads, processes or devices that stop growing, fall, or grow too fast."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from benchbook.explain.model import Report, Result
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

COUNTS = ("threads", "processes", "devices", "streams")
SIZES = ("array_bytes", "message_bytes", "block_bytes", "working_set_bytes", "operation", "kernel")
STATISTICS = ("", "mean", "best", "total", "median", "sum")
LEAST_COUNTS, MOST_COUNTS = 3, 1000
GAIN = 1.1  # from a count to all larger ones: less is none
FELL = 0.8  # of the best
SHARED = 1.3  # times as fast with several: the work is shared, not given to each
TOO_FAST = 1.25  # times the ratio of the counts
_PER_SECOND = ("/s", "ops", "iops")
Sweep = list[tuple[int, Result]]


@rule
def scaling(reports: Sequence[Report]) -> Iterator[Finding]:
    """A figure for three numbers of threads and more that stops growing before the last, falls
    again, or grows faster than the number.

    Decided by the figures alone: nothing but the number differs between them, as far as the log
    shows.
    """
    kinds: set[str] = set()
    sweeps = sorted(_sweeps(reports), key=lambda pair: pair[1][0][1].rate is None)
    for counts, sweep in sweeps:
        kind, words = _judged(sweep)
        if kind and kind not in kinds:
            kinds.add(kind)
            words |= {"counts": counts, "is_bytes": sweep[0][1].rate is not None}
            how = "bytes" if sweep[0][1].rate is not None else "work"
            yield finding(kind, words, about=[own for _, own in sweep], how=how)


def _sweeps(reports: Sequence[Report]) -> Iterator[tuple[str, Sweep]]:
    for counts in COUNTS:
        counted = [
            report
            for report in reports
            if counts in report.columns or counts in report.facts
            if not report.facts.get("pattern")  # of messages: more processes are more work
        ]
        numbers = {report.facts.get(counts) for report in counted}
        numbers |= {of.get(counts) for report in counted for of in report.settings}
        if not LEAST_COUNTS <= len(numbers - {None}) <= MOST_COUNTS:
            continue
        sweeps: dict[tuple[object, ...], dict[int, Result]] = {}
        for report in counted:
            for result in report.results:
                count = report.column(result, counts)
                if not isinstance(count, int) or count < 1 or not result.is_positive:
                    continue
                if result.statistic in STATISTICS and _is_figure(result):
                    sizes = [report.column(result, name) for name in SIZES]
                    label = _words_of(result.of.get("label"))
                    figure = report.tool, result.name, result.statistic, result.unit
                    sweeps.setdefault((*figure, label, *sizes), {}).setdefault(count, result)
        for by_count in sweeps.values():
            if len(by_count) >= LEAST_COUNTS:
                yield counts, sorted(by_count.items())


def _words_of(label: object) -> str:
    """What a row is called, without numbers: those may be figures of the row."""
    return " ".join(word for word in str(label or "").split() if not word[0].isdigit())


def _is_figure(result: Result) -> bool:
    unit = result.unit.lower()
    return result.is_time or result.rate is not None or unit.endswith(_PER_SECOND)


def _speed(result: Result) -> float:
    return 1 / result.base_value if result.is_time else result.base_value


def _judged(sweep: Sweep) -> tuple[str, dict[str, object]]:
    """The kind of finding of a sweep and its words; "" where it grows as it should."""
    (least, first), (most, last) = sweep[0], sweep[-1]
    speeds = [_speed(own) for _, own in sweep]
    best_behind = list(accumulate(reversed(speeds), max))[::-1]  # from each count on
    at = next(index for index, speed in enumerate(speeds) if best_behind[index] <= GAIN * speed)
    full, best = sweep[at]
    words: dict[str, object] = {
        "first": first, "best": best, "last": last, "least": least, "full": full, "most": most,
        "times": speeds[at] / speeds[0], "fell": speeds[-1] / max(speeds),
    }  # fmt: skip
    if first.is_time and speeds[at] < SHARED * speeds[0]:
        return "", words  # each may have its own share of the work
    if speeds[-1] < FELL * max(speeds) and most > full:
        return "falls-with-more", words
    if full > least and most >= 2 * full:
        return "stops-scaling", words
    if full == least and most >= 4 * least:
        return "never-scales", words
    if speeds[-1] / speeds[0] > TOO_FAST * most / least:
        return "scales-too-well", words
    return "", words
