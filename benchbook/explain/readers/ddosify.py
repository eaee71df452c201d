"""ddosify (anteon): counts of requests, the parts of their time, and why they failed."""

from __future__ import annotations

from dataclasses import dataclass

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.load_lines import COUNT, NUMBER, TIME, add_failed

TOOL = "ddosify"
_COUNT = late(r"^(?P<what>Success|Failed) Count: +(?P<count>\d{1,12}) +\(\d{1,3}%\)$")
_PART = late(rf"^(?P<what>[A-Z][A-Za-z ]{{1,30}}?) +:(?P<time>{NUMBER})s$")
_STATUS = late(r"^(?P<code>\d{3}) \([^()]{1,60}\) +:(?P<count>\d{1,12})$")
_REASON = late(r"^(?P<count>\d{1,12}) +:(?P<why>[a-z]\S.{2,120})$")


@dataclass
class _Run(Run):
    """One summary."""

    good: float | None = None
    is_of_errors: bool = False
    timed_out: float = 0.0


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if found := _COUNT.match(text):
        count = float(found["count"])
        if found["what"] == "Success":
            run = reading.begin()
            run.good = count
            reading.show("successful requests", count, "requests")
        elif run.good is not None:
            reading.add(COUNT, run.good + count, "requests", "total")
            run.facts["failed_are_counted"] = True
            add_failed(reading, count, "failed")
    elif run.good is None:
        return
    elif text.startswith("Error Distribution"):
        run.is_of_errors = True
    elif run.is_of_errors and (found := _REASON.match(text)):
        reading.show(found["why"][:60], float(found["count"]), "requests")
        if "timeout" in found["why"].lower():
            run.timed_out += float(found["count"])
            run.facts["timed_out"] = run.timed_out
    elif found := _PART.match(text):
        name = TIME if found["what"] == "Total" else f"{found['what']} time"
        reading.show(name, found["time"], "s", "mean")
    elif found := _STATUS.match(text):
        reading.add("responses", float(found["count"]), "responses", "", {"status": found["code"]})


read = LineReader(TOOL, _Run, _line)
