"""Samples of a log that belong together: all repetitions of one figure, in their order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from benchbook.explain.model import Report, Result
from benchbook.explain.results import Group
from benchbook.explain.units import bytes_per_s, in_base

FAR, STEADY = 1.8, 1.5  # first ÷ slowest of the others; slowest ÷ fastest of those
CLEAR = 1.05  # a cold one ÷ slowest of the later half


@dataclass(frozen=True)
class Series:
    """Repetitions 0 to n - 1 of one figure, and the mean that the log prints of them, if any."""

    report: Report
    samples: Group
    mean: Result | None

    @property
    def values(self) -> list[float]:
        """The samples' values, in the order of the log."""
        return self.samples.values

    def times(self) -> list[float | None]:
        """How long each took, as `time_s`."""
        unit, values = self.samples[0].unit, self.values
        per_s, (ns, base) = bytes_per_s(1.0, unit), in_base(1.0, unit)
        if per_s is None:
            return [value * ns / 1e9 for value in values] if base == "ns" else [None] * len(values)
        moved = self.samples.column("bytes_moved")
        return [
            float(of) / (value * per_s) if of and value * per_s else None
            for value, of in zip(values, moved, strict=True)
        ]

    def is_whole(self) -> bool:
        """Whether the mean is known to be of exactly these samples: a log may lack some."""
        return bool(self.mean and self.mean.of.get("repetitions") == len(self.samples))


def series(reports: list[Report]) -> Iterator[Series]:
    """All figures whose repetitions the log has without a gap."""
    for report in reports:
        if not report.facts.get("mixed"):  # with those of other processes
            yield from (Series(report, samples, mean) for samples, mean in report.series)


def time_s(sample: Result) -> float | None:
    """How long a sample took: as printed, as its unit says, or as its rate and bytes say."""
    moved, rate = sample.of.get("bytes_moved"), sample.rate
    if moved and rate:
        return float(moved) / rate
    value, base = in_base(sample.value, sample.unit)
    return value / 1e9 if base == "ns" else None


def cold(times: list[float]) -> int:
    """How many of the first, each less than the one before, come before those that are alike; 0
    where the first is not far above these."""
    if len(times) < 2:
        return 0
    most = CLEAR * max(times[len(times) // 2 :])
    count = next((at for at, time in enumerate(times) if time <= most), len(times))
    first, others = times[:count], times[count:]
    if not 0 < count <= len(times) // 2 or max(others) > STEADY * min(others):
        return 0
    falls = all(before > after for before, after in pairwise(first))
    return count if falls and first[0] >= FAR * max(others) else 0
