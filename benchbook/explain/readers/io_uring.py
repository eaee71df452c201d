"""fio's own small program `t/io_uring`: operations and bytes a second, one line each second."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "t/io_uring"
_NUMBER = r"\d{1,15}(?:\.\d{1,6})?"
# Its BWPS is what it calls BW since: whole MiB, made of operations and the block.
_ROW = late(
    rf"^I?OPS=(?P<rate>{_NUMBER})(?P<many>[KM]?), ?(?:BW(?:PS)?=(?P<bytes>{_NUMBER}) ?"
    r"(?P<unit>[KMG]i?B)(?:/s)?,? ?)?IOS/call=-?\d"
)
_MOST = late(rf"^Maximum IOPS=(?P<rate>{_NUMBER})(?P<many>[KM]?)$")
_DEPTH = late(r"\bQD=(?P<depth>\d{1,7})\b")
_COMMAND = late(r"\bt/io_uring\S* (?P<options>-.{2,200})")
_OPTION = late(r"-(?P<name>[bdn]) ?(?P<count>\d{1,9})\b")
_CALLED = {"b": "block_bytes", "d": "queue_depth", "n": "threads"}
_MANY = {"": 1.0, "K": 1e3, "M": 1e6}
_NEAR = 2  # lines between those of one run


@dataclass
class _Run(Run):
    """One start; `last`: the number of its last line of figures."""

    last: int = 0


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if found := _COMMAND.search(text):
        run = reading.begin()
        for option in _OPTION.finditer(found["options"]):
            run.facts[_CALLED[option["name"]]] = int(option["count"])
    elif found := _DEPTH.search(text):
        run = reading.begin() if run.results else run
        run.facts["queue_depth"] = int(found["depth"])
    elif found := _ROW.match(text):
        if run.last and reading.line.number - run.last > _NEAR:
            facts = {"queue_depth": depth} if (depth := run.facts.get("queue_depth")) else {}
            run = reading.begin(facts=facts)
        run.line, run.last = run.line or reading.line.number, reading.line.number
        of: dict[str, Any] = {"interval": sum(own.name == "IOPS" for own in run.results)}
        _add(reading, found["rate"], found["many"], "", of)
        if found["bytes"]:
            unit = found["unit"] if "i" in found["unit"] else f"{found['unit'][0]}iB"
            reading.add("BW", found["bytes"], f"{unit}/s", "", of)
    elif run.results and (found := _MOST.match(text)):
        _add(reading, found["rate"], found["many"], "max", {})


def _add(reading: Reading[_Run], rate: str, many: str, statistic: str, of: dict[str, Any]) -> None:
    value = reading.number(rate)
    if value is not None:
        name = "IOPS"
        reading.add(name, round(value * _MANY[many], 6), "operations/s", statistic, of)


read = LineReader(TOOL, _Run, _line)
