"""Statistics of one set of latencies in a report, in one unit."""

from __future__ import annotations

import math
from dataclasses import dataclass

from benchbook.explain.model import Report, Result
from benchbook.explain.units import in_base

NAMES = ("latency", "round trip")


@dataclass(frozen=True)
class Latencies:
    """By statistic (min, mean, median, p99, max, sd), as printed; values are read in ns."""

    name: str
    by_statistic: dict[str, Result]
    samples: list[Result]

    def ns(self, statistic: str) -> float | None:
        """A statistic in ns; None where it was not printed."""
        result = self.by_statistic.get(statistic)
        return None if result is None else result.base_value


def latencies(report: Report) -> list[Latencies]:
    """The sets of a report: of all of it, never of intervals."""
    by_name: dict[str, Latencies] = {}
    for (name, statistic, unit), several in report.groups.items():
        if name in NAMES and in_base(1.0, unit)[1] == "ns":
            own = by_name.setdefault(name, Latencies(name, {}, []))
            if statistic == "sample":
                own.samples.extend(several)
            else:
                # In another unit as well: what comes last counts.
                before = own.by_statistic.get(statistic, several[-1])
                last = max(before, several[-1], key=lambda result: result.line)
                own.by_statistic[statistic] = last
    return list(by_name.values())


def repetitions(report: Report, own: Latencies) -> int:
    """How many exchanges the statistics are of, as far as the log tells."""
    counts = [report.column(result, "repetitions") for result in own.by_statistic.values()]
    # A test of transactions lasts for whole seconds, one at least.
    counts += [
        rate.value * (rate.of.get("elapsed_s") or 1)
        for rate in report.called("transaction rate")
        if 0 < rate.value < math.inf
    ]
    return max([len(own.samples), *(math.trunc(count) for count in counts if count)])
