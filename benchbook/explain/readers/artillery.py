"""artillery: the summary of a load, with counts of answers and errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.load_lines import COUNT, FAILED, NUMBER, RATE, TIME

TOOL = "artillery"
_ROW = late(rf"^(?P<name>[\w.-]{{2,60}}):(?: \.{{1,120}})? (?P<value>{NUMBER})(?P<rate>/sec)?$")
_STATISTICS = {"min": "min", "max": "max", "median": "median", "mean": "mean"}
_STATISTICS |= {"p95": "p95", "p99": "p99"}


@dataclass
class _Run(Run):
    """One summary: those of single periods above it are left behind."""

    of_times: bool = False


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if text.startswith(("Summary report @", "Metrics for period to:")):
        is_whole = text.startswith("Summary")
        if is_whole and run.facts.get("part"):
            run.results.clear()
        reading.begin(facts={} if is_whole else {"part": 1})
        return
    if text.startswith("http.response_time:"):
        run.of_times = True
        return
    found = _ROW.match(text)
    if found is None:
        run.of_times = run.of_times and not text.endswith(":")
        return
    name, value = found["name"], float(found["value"])
    if run.of_times and name in _STATISTICS:
        reading.add(TIME, value, "ms", _STATISTICS[name])
        return
    run.of_times = False
    of: dict[str, Any] = {}
    if name.startswith("errors."):
        of["failure"] = name.removeprefix("errors.")
        reading.add(FAILED, value, "requests", "", of)
    elif name.startswith("http.codes."):
        code = name.removeprefix("http.codes.")
        reading.add("responses", value, "responses", "", {"status": code})
        if not code.startswith(("2", "3")):
            reading.add(FAILED, value, "requests", "", {"failure": "status"})
    elif name == "http.request_rate" and found["rate"]:
        reading.add(RATE, value, "requests/s", "mean")
    elif name == "http.requests":
        reading.add("requests sent", value, "requests", "total")
    elif name == "http.responses":
        reading.add(COUNT, value, "requests", "total")


read = LineReader(TOOL, _Run, _line)
