"""nvidia-smi -q: state, clocks, temperatures, powers and reasons for lower clocks of each GPU."""

from __future__ import annotations

from dataclasses import dataclass, field

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

_GPU = late(r"^GPU [0-9A-Fa-f]{4,8}:(?P<bus>[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d)$")
_FIELD = late(r"^(?P<name>[A-Z][\w /.()-]{1,44}?)\s*:\s(?P<value>\S.{0,100}?)$")
_GROUPS = (
    "Clocks Throttle Reasons", "Clocks Event Reasons", "Temperature", "Power Readings",
    "GPU Power Readings", "Clocks", "Max Clocks", "Utilization", "FB Memory Usage",
    "Applications Clocks", "Default Applications Clocks",
)  # fmt: skip
_STATE = late(r"P(\d{1,2})")
_VALUE = late(r"(?P<value>\d{1,9}(?:\.\d{1,4})?) (?P<unit>C|W|MHz|MiB|%)")
_UNITS = {"C": "°C", "W": "W", "MHz": "MHz", "MiB": "MiB", "%": "%"}
# Names of figures by the group that they stand in, and their names there.
_OF_QUERY = {
    ("Temperature", "GPU Current Temp"): "temperature",
    ("Temperature", "GPU Slowdown Temp"): "slowdown temperature",
    ("Temperature", "Memory Current Temp"): "memory temperature",
    ("Power Readings", "Power Draw"): "power", ("Power Readings", "Power Limit"): "power limit",
    ("Power Readings", "Enforced Power Limit"): "power limit",
    ("GPU Power Readings", "Power Draw"): "power",
    ("GPU Power Readings", "Average Power Draw"): "power",
    ("GPU Power Readings", "Current Power Limit"): "power limit",
    ("Clocks", "SM"): "clock", ("Clocks", "Graphics"): "graphics clock",
    ("Clocks", "Memory"): "memory clock", ("Clocks", "Video"): "video clock",
    ("Max Clocks", "SM"): "highest clock", ("Max Clocks", "Graphics"): "highest graphics clock",
    ("Max Clocks", "Memory"): "highest memory clock",
    ("Max Clocks", "Video"): "highest video clock",
    ("Utilization", "Gpu"): "busy", ("Utilization", "GPU"): "busy",
    ("FB Memory Usage", "Total"): "memory", ("FB Memory Usage", "Used"): "memory used",
}  # fmt: skip


@dataclass
class _Query(Run):
    """What it says of one GPU; `group` is the heading above the line."""

    group: str = ""
    seen: set[str] = field(default_factory=set)
    reasons: dict[str, bool] = field(default_factory=dict)

    def finish(self) -> bool:
        """Whether it says anything of its state."""
        if self.reasons:
            self.facts["clock_reasons"] = dict(self.reasons)
        return bool(self.results or self.reasons)

    def report(self, tool: str) -> Report:
        """What it says, which may be reasons without a figure."""
        line = self.line or (self.results[0].line if self.results else 0)
        line = line or int(self.facts.get("reasons_line", 0))
        return Report(tool, self.results, line, "", self.facts, self.notes)


def _field(reading: Reading[_Query], text: str) -> None:
    run = reading.run
    if _GPU.match(text):
        reading.begin()
        return
    if text in _GROUPS:
        if text in run.seen and text.endswith("Reasons"):
            run = reading.begin()
        run.group = text
        run.seen.add(text)
        return
    if (found := _FIELD.match(text)) is None:
        run.group = "" if text[:1] not in ("|", "+") else run.group
        return
    name, value = found["name"], found["value"]
    if name == "Product Name":
        run.facts["device"] = value
    elif name == "Performance State" and (state := _STATE.fullmatch(value)):
        reading.add("performance state", state[1], "1", "sample", {})
    elif run.group.endswith("Reasons") and value in ("Active", "Not Active"):
        run.reasons[name] = value == "Active"
        run.facts.setdefault("reasons_line", reading.line.number)
    elif (
        (called := _OF_QUERY.get((run.group, name)))
        and called not in run.seen
        and (figure := _VALUE.match(value))
    ):
        run.seen.add(called)
        reading.add(called, figure["value"], _UNITS[figure["unit"]], "sample", {})


read = LineReader("nvidia-smi", _Query, _field)
