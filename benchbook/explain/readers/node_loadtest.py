"""loadtest (of Node.js): rate, errors, latency and percentiles."""

from __future__ import annotations

from dataclasses import dataclass

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.load_lines import (
    COUNT,
    FAILED,
    NUMBER,
    RATE,
    TIME,
    host_of,
    whole,
)

TOOL = "loadtest"
_STAMP = late(r"^(?:\[[^\]]{8,60}\] )?(?:INFO )?")
_ROW = late(
    r"^(?P<what>Target URL|Max requests|Max time \(s\)|Target rps|Concurrency level"
    r"|Concurrent clients|Completed requests|Total errors|Total time|Requests per second"
    r"|Effective rps|Mean latency|Running on cores):\s+(?P<value>\S+)"
)
_SHARE = late(rf"^(?P<share>\d{{1,3}})%\s+(?P<time>{NUMBER}) ms\b")
_NUMBER = late(rf"^{NUMBER}$")


@dataclass
class _Run(Run):
    """One summary."""

    def finish(self) -> bool:
        """Whether it has a rate and a mean."""
        return {RATE, TIME} <= {own.name for own in self.results}


def _line(reading: Reading[_Run], text: str) -> None:
    text = _STAMP.sub("", text)
    run = reading.run
    if found := _ROW.match(text):
        what, value = found["what"], found["value"]
        begins = what == "Target URL" or (what == "Max requests" and "requests_asked" in run.facts)
        run = reading.begin() if begins and run.results else run
        run.line = run.line or reading.line.number
        if what == "Target URL":
            run.facts["served_at"] = host_of(value)
        elif what == "Target rps":
            run.facts["is_paced"] = True
        elif not _NUMBER.match(value):
            return
        elif what == "Max requests":
            run.facts["requests_asked"] = whole(value)
        elif what in ("Concurrency level", "Concurrent clients"):
            run.facts["concurrency"] = whole(value)
        elif what == "Completed requests":
            reading.add(COUNT, value, "requests", "total")
        elif what == "Total errors" and float(value):
            run.facts["failed_are_counted"] = True
            reading.add(FAILED, value, "requests", "", {"failure": "failed"})
        elif what == "Total time":
            run.facts["elapsed_s"] = float(value)
        elif what in ("Requests per second", "Effective rps"):
            reading.add(RATE, value, "requests/s", "mean")
        elif what == "Mean latency":
            reading.add(TIME, value, "ms", "mean")
    elif run.results and (found := _SHARE.match(text)):
        share = int(found["share"])
        statistic = "median" if share == 50 else "max" if share == 100 else f"p{share}"
        reading.add(TIME, found["time"], "ms", statistic)


read = LineReader(TOOL, _Run, _line)
