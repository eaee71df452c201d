"""Samples of a log that belong together: all repetitions of one figure, in their order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchbook.importers import Report, Result
from benchbook.logs.units import bytes_per_s, in_base

SETTING = ("benchmark", "block_bytes", "array_bytes", "threads", "command", "region", "core")
_OF_ANY, _NO_SETTING = frozenset(SETTING), (None,) * len(SETTING)


@dataclass(frozen=True)
class Series:
    """Repetitions 0 to n - 1 of one figure, and the mean that the log prints of them, if any."""

    report: Report
    samples: list[Result]
    mean: Result | None

    def is_whole(self) -> bool:
        """Whether the mean is known to be of exactly these samples: a log may lack some."""
        return bool(self.mean and self.mean.of.get("repetitions") == len(self.samples))


def series(reports: list[Report]) -> Iterator[Series]:
    """All figures whose repetitions the log has without a gap."""
    for report in reports:
        if report.facts.get("mixed"):  # with those of other processes
            continue
        found: dict[tuple[object, ...], list[Result]] = {}
        for one in report.results:
            if one.statistic in ("sample", "mean") and abs(one.value) < float("inf"):
                setting: tuple[object, ...] = _NO_SETTING
                if not _OF_ANY.isdisjoint(one.of):
                    setting = tuple(one.of.get(name) for name in SETTING)
                found.setdefault((one.name, one.unit, *setting), []).append(one)
        for several in found.values():
            samples = [one for one in several if one.statistic == "sample"]
            numbers = [one.of.get("repetition") for one in samples]
            if len(samples) > 1 and numbers == list(range(len(samples))):
                means = [one for one in several if one.statistic == "mean"]
                yield Series(report, samples, means[0] if len(means) == 1 else None)


def time_s(one: Result) -> float | None:
    """How long a sample took: as printed, as its unit says, or as its rate and bytes say."""
    moved, rate = one.of.get("bytes_moved"), bytes_per_s(one.value, one.unit)
    if moved and rate:
        return float(moved) / rate
    value, base = in_base(one.value, one.unit)
    return value / 1e9 if base == "ns" else None
