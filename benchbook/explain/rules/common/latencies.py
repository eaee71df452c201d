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
        one = self.by_statistic.get(statistic)
        return None if one is None else in_base(one.value, one.unit)[0]

    def said(self, statistic: str) -> str:
        """A statistic as printed, with its line."""
        one = self.by_statistic[statistic]
        return f"{one.value:,.6g} {one.unit} (line {one.line})"


def latencies(report: Report) -> list[Latencies]:
    """The sets of a report: of all of it, never of intervals."""
    found: dict[str, Latencies] = {}
    for (name, statistic, unit), several in report.groups.items():
        if name in NAMES and in_base(1.0, unit)[1] == "ns":
            own = found.setdefault(name, Latencies(name, {}, []))
            if statistic == "sample":
                own.samples.extend(several)
            else:
                # In another unit as well: what comes last counts.
                known = own.by_statistic.get(statistic, several[-1])
                own.by_statistic[statistic] = max(known, several[-1], key=lambda one: one.line)
    return list(found.values())


def repetitions(report: Report, own: Latencies) -> int:
    """How many exchanges the statistics are of, as far as the log tells."""
    told = [report.column(one, "repetitions") for one in own.by_statistic.values()]
    # A test of transactions lasts for whole seconds, one at least.
    told += [
        one.value * (one.of.get("elapsed_s") or 1)
        for one in report.called("transaction rate")
        if 0 < one.value < math.inf
    ]
    return max([len(own.samples), *(int(one) for one in told if one)])
