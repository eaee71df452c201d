"""IPython's %time: `CPU times: user 2min 53s, sys: 11 s, total: 3min 4s`, and `Wall time: 11.9 s`
below it."""

from __future__ import annotations

from dataclasses import dataclass, field

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "time"
_CPU = late(r"^CPU times: (?:user|total:) (?P<rest>.{1,80})$")
_PART = late(r"(?:^|, )(?P<name>sys|total)?:? ?(?P<time>\d[\d.]*(?: ?[a-zµ]+\b)(?: \d+ ?[a-z]+)*)")
_WALL = late(r"^Wall time: (?P<time>\d.{0,30}?)$")
_AMOUNT = late(r"(?P<value>\d+(?:\.\d+)?) ?(?P<unit>d|h|min|s|ms|us|µs|ns)\b")
_SECONDS = {
    "d": 86400.0, "h": 3600.0, "min": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6,
    "ns": 1e-9,
}  # fmt: skip
_THREADS = late(r"\b(?P<name>[A-Z_]{2,20}NUM_THREADS)\s*(?:=|unset)\s*(?P<count>\d{1,4})?")
_NEAR = 3  # lines


@dataclass
class _Run(Run):
    """One statement."""

    names: set[str] = field(default_factory=set)

    def finish(self) -> bool:
        """Its wall time is what it is known by."""
        return "time elapsed" in self.names and len(self.names) > 1


def seconds(text: str) -> float | None:
    """How long `14min 31s` or `192 ms` is, in s; None where it is no such time."""
    parts = list(_AMOUNT.finditer(text))
    left = _AMOUNT.sub("", text).strip()
    if not parts or left:
        return None
    return sum(float(part["value"]) * _SECONDS[part["unit"]] for part in parts)


def _line(reading: Reading[_Run], text: str) -> None:
    if found := _CPU.match(text):
        reading.begin()
        reading.above.clear()  # it is of this statement alone
        names = {None: "user time", "sys": "system time", "total": "CPU time"}
        for at, part in enumerate(_PART.finditer(found["rest"])):
            name = names[part["name"]] if at or not text.startswith("CPU times: total") else ""
            _add(reading, name or "CPU time", part["time"])
    elif reading.run.results and (found := _WALL.match(text)):
        if reading.line.number <= reading.run.results[-1].line + _NEAR:
            _add(reading, "time elapsed", found["time"])
    elif found := _THREADS.search(text):
        threads = {"threads": int(found["count"])} if found["count"] else {}
        reading.above["facts"] = {"threads_set_by": found["name"]} | threads


def _add(reading: Reading[_Run], name: str, text: str) -> None:
    value = seconds(text)
    if value is not None and reading.run.line:
        reading.add(name, value, "s")
        reading.run.names.add(name)


read = LineReader(TOOL, _Run, _line)
