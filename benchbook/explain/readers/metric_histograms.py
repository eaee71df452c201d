"""Histograms of Prometheus, as servers print their metrics: `NAME_bucket{le="0.01"} 12`.

A bucket counts all that took at most so long. So a percentile is known as a range only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.results import Result

TOOL = "metric histogram"
_BUCKET = late(
    r'^(?P<name>[a-zA-Z_:][\w:]{2,100}_seconds)_bucket\{(?P<labels>[^{}]{0,300})\ble="'
    r'(?P<most>\+Inf|-?\d{1,18}(?:\.\d{1,18})?(?:[eE][+-]?\d{1,3})?)"(?P<more>[^{}]{0,300})\} '
    r"(?P<count>\d{1,18}(?:\.\d{1,9})?(?:e\+\d{1,3})?)$"
)
_WHOLE = late(
    r"^(?P<name>[a-zA-Z_:][\w:]{2,100}_seconds)_(?P<what>sum|count)(?:\{[^{}]{0,300}\})? "
    r"(?P<value>\d{1,18}(?:\.\d{1,18})?(?:e[+-]?\d{1,3})?)$"
)
_SHARES = (("median", 50.0), ("p90", 90.0), ("p99", 99.0), ("p99.9", 99.9))
_LEAST = 3  # buckets


@dataclass
class _Run(Run):
    """One histogram; `buckets`: end in seconds (None: no end), count, line."""

    name: str = ""
    buckets: list[tuple[float | None, float, int]] = field(default_factory=list)

    def finish(self) -> bool:
        """Make percentiles of its buckets: each lies between two ends."""
        every = next((count for end, count, _ in self.buckets if end is None), 0.0)
        if len(self.buckets) < _LEAST or every <= 0:
            return False
        self.facts["histogram_of"] = self.name
        line = self.buckets[-1][2]
        self.results.append(Result("observations", every, "observations", line, "total"))
        for statistic, share in _SHARES:
            below = 0.0
            for end, count, number in self.buckets:
                if count >= share / 100 * every:
                    if end is not None:
                        of: dict[str, Any] = {"bucket_from_s": below}
                        self.results.append(Result("time at most", end, "s", number, statistic, of))
                    break
                below = end or below
        return True


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if "_bucket{" in text and (found := _BUCKET.match(text)):
        name = f"{found['name']} {found['labels']}{found['more']}".strip(" ,")
        if run.name != name:
            run = reading.begin(name=name)
        end = None if found["most"] == "+Inf" else float(found["most"])
        run.buckets.append((end, float(found["count"]), reading.line.number))
    elif run.name and (found := _WHOLE.match(text)) and run.name.startswith(found["name"]):
        if found["what"] == "sum":
            reading.show("sum of the times", float(found["value"]), "s")
        else:
            reading.show("observations in all", float(found["value"]), "observations")


read = LineReader(TOOL, _Run, _line)
