"""Samples of a log that belong together: all repetitions of one figure, in their order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchbook.importers import Report, Result
from benchbook.logs.units import bytes_per_s, in_base


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
        if not report.facts.get("mixed"):  # with those of other processes
            yield from (Series(report, *one) for one in report.series)


def time_s(one: Result) -> float | None:
    """How long a sample took: as printed, as its unit says, or as its rate and bytes say."""
    moved, rate = one.of.get("bytes_moved"), bytes_per_s(one.value, one.unit)
    if moved and rate:
        return float(moved) / rate
    value, base = in_base(one.value, one.unit)
    return value / 1e9 if base == "ns" else None
