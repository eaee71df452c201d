"""Statistics of one set of latencies in a report, in one unit."""

from __future__ import annotations

from dataclasses import dataclass

from benchbook.importers import Report, Result
from benchbook.logs.units import in_base

NAMES = ("latency", "round trip")


@dataclass(frozen=True)
class Latencies:
    """By statistic (min, mean, median, p99, max, sd), as printed; values are read in ns."""

    name: str
    by_statistic: dict[str, Result]
    samples: list[Result]

    def ns(self, statistic: str) -> float | None:
        """A statistic in ns; None where it was not printed."""
        one = self.by_statistic.get(statistic)
        return None if one is None else in_base(one.value, one.unit)[0]

    def said(self, statistic: str) -> str:
        """A statistic as printed, with its line."""
        one = self.by_statistic[statistic]
        return f"{one.value:,.6g} {one.unit} (line {one.line})"


def latencies(report: Report) -> list[Latencies]:
    """The sets of a report: of all of it, never of intervals."""
    found: dict[str, Latencies] = {}
    is_time = {unit: in_base(1.0, unit)[1] == "ns" for unit in {one.unit for one in report.results}}
    for one in report.results:
        if one.name in NAMES and is_time[one.unit]:
            own = found.setdefault(one.name, Latencies(one.name, {}, []))
            if one.statistic == "sample":
                own.samples.append(one)
            else:
                own.by_statistic[one.statistic] = one
    return list(found.values())


def repetitions(report: Report, own: Latencies) -> int:
    """How many exchanges the statistics are of, as far as the log tells."""
    told = [report.column(one, "repetitions") for one in own.by_statistic.values()]
    return max([len(own.samples), *(int(one) for one in told if one)])
