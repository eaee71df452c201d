"""k6: the summary at the end of a test, with the parts of a request's time."""

from __future__ import annotations

from dataclasses import dataclass

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.load_lines import (
    COUNT,
    NUMBER,
    RATE,
    TIME,
    add_failed,
    unit_of,
)

TOOL = "k6"
_ROW = late(r"^(?P<name>[a-z][a-z0-9_]{2,40})\.{1,120}:\s+(?P<rest>\S.*)$")
_TIME = late(r"(?P<minutes>\d{1,6}m)?(?:(?P<time>\d+(?:\.\d+)?)(?P<unit>ns|µs|us|ms|s))?")
_CELL = late(r"(?P<what>avg|min|med|max|p\(\d{1,2}(?:\.\d{1,3})?\))=(?P<time>[\d.]+\S*)")
_COUNTED = late(rf"^(?P<count>\d{{1,15}})\s+(?P<rate>{NUMBER})/s$")
_LEVEL = late(r"^(?P<count>\d{1,9})\s+min=\d+\s+max=(?P<most>\d{1,9})$")
_SHARE = late(
    r"^(?P<share>\d{1,3}(?:\.\d+)?)%\s+(?:✓ (?P<yes>\d+)\s+✗ (?P<no>\d+)|(?P<part>\d+) out of \d+)$"
)
_PARTS = {
    "http_req_duration": TIME,
    "http_req_blocked": "time before sending",
    "http_req_connecting": "time to connect",
    "http_req_tls_handshaking": "time of TLS",
    "http_req_waiting": "time to the first byte",
    "iteration_duration": "iteration",
}
# How much it moved, and counters of its own or of a script.
_MOVED = late(rf"^(?P<count>{NUMBER}) (?P<unit>[kMGT]?B)\s+(?P<rate>{NUMBER}) (?P<per>[kMGT]?B)/s$")
_STATISTICS = {"avg": "mean", "med": "median", "min": "min", "max": "max"}


@dataclass
class _Run(Run):
    """One summary."""

    def finish(self) -> bool:
        """Whether it has a request or an iteration."""
        return any(own.name in (TIME, RATE, "iteration") for own in self.results)


def _line(reading: Reading[_Run], text: str) -> None:
    found = _ROW.match(text)
    if found is None:
        return
    name, rest, run = found["name"], found["rest"].strip(), reading.run
    if name in _PARTS:
        if any(own.name == _PARTS[name] for own in run.results):
            run = reading.begin()
        for cell in _CELL.finditer(rest):
            _add_time(reading, _PARTS[name], cell["what"], cell["time"], is_judged=True)
    elif name in ("http_reqs", "iterations") and (counted := _COUNTED.match(rest)):
        is_request = name == "http_reqs"
        unit = "requests" if is_request else "iterations"
        reading.add(COUNT if is_request else unit, float(counted["count"]), unit, "total")
        rate = RATE if is_request else "iteration rate"
        reading.add(rate, counted["rate"], f"{unit}/s", "mean")
    elif name == "http_req_failed" and (shared := _SHARE.match(rest)):
        failed = float(shared["yes"] or shared["part"])
        if float(shared["share"]) > 0 and failed:
            run.facts["failed_are_counted"] = True
            add_failed(reading, failed, "failed")
        elif not failed:
            add_failed(reading, 0.0, "failed")
        reading.show("not failed", shared["no"], "requests")
    elif name == "checks" and (shared := _SHARE.match(rest)) and shared["no"]:
        every = float(shared["yes"]) + float(shared["no"])
        reading.add("checks", every, "checks", "total")
        reading.add("failed checks", float(shared["no"]), "checks", "total")
    elif name == "dropped_iterations" and (counted := _COUNTED.match(rest)):
        reading.add("dropped iterations", float(counted["count"]), "iterations", "total")
    elif name not in ("http_reqs", "iterations", "checks") and (
        cells := list(_CELL.finditer(rest))
    ):
        for cell in cells:  # a part of a request, a group, or a trend of a script
            _add_time(reading, name, cell["what"], cell["time"], is_judged=False)
    elif moved := _MOVED.match(rest):
        reading.show(name, moved["count"], moved["unit"])
        reading.show(f"{name} rate", moved["rate"], f"{moved['per']}/s")
    elif counted := _COUNTED.match(rest):
        reading.show(name, float(counted["count"]), "1")
        reading.show(f"{name} rate", counted["rate"], "1/s")
    elif name == "vus_max" and (level := _LEVEL.match(rest)):
        run.facts["users"] = int(level["most"])


def _add_time(reading: Reading[_Run], name: str, what: str, text: str, *, is_judged: bool) -> None:
    time = _TIME.fullmatch(text)
    if time is None or not (time["minutes"] or time["time"]):
        return
    add = reading.add if is_judged else reading.show
    statistic = _STATISTICS.get(what) or f"p{float(what[2:-1]):g}"
    if time["minutes"]:
        seconds = float(time["time"] or 0) * {"s": 1.0, "ms": 1e-3}.get(time["unit"] or "s", 0.0)
        add(name, 60 * float(time["minutes"][:-1]) + seconds, "s", statistic)
    else:
        unit = "ns" if time["unit"] == "ns" else unit_of(time["unit"])
        add(name, time["time"], unit, statistic)


read = LineReader(TOOL, _Run, _line)
