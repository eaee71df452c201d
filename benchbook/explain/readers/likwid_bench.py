"""likwid-bench: what it prints of one kernel, versions 3 to 5."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log, Twice
from benchbook.explain.printed_digits import half_digit
from benchbook.explain.readers.common.command_lines import last_above, option
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.relations import Printed, printed, product
from benchbook.explain.units import BASE

TOOL = "likwid-bench"

_TEST = late(r"^Test: +(\S+)")
_OF_REGISTERS = "peakflops"  # kernels that are about arithmetic, and load next to nothing
_GROUPS = late(r"^Using (\d+) work ?groups?")
_THREADS = late(r"^Using (\d+) threads?")
_ON = late(r"running on (?:hwthread|core|hardware thread) (\d+)", re.IGNORECASE)
_FIGURE = late(r"^([A-Z][\w ()/.:-]*?):\s+([\d.,]+(?:e[+-]?\d+)?)(?: (sec))?$")
# what it prints -> what it is, in which unit
_RESULTS = {
    "MByte/s": ("bandwidth", "MB/s"),
    "MFlops/s": ("arithmetic rate", "MFLOP/s"),
    "Data volume (Byte)": ("data volume", "B"),
    "Time": ("time", "s"),
    "Cycles": ("cycles", "cycles"),
    "Instructions": ("instructions", "instructions"),
    "UOPs": ("micro-operations", "micro-operations"),
    "Cycles per update": ("cycles per update", "cycles"),
    "Cycles per cacheline": ("cycles per cache line", "cycles"),
}
_FACTS = {
    "Size (Byte)": "working_set_bytes",
    "Size": "working_set_bytes",
    "Size per thread": "bytes_per_thread",
    "Iterations per thread": "loops",
    "CPU Clock": "cpu_clock_hz",
    "Cycle Clock": "cycle_clock_hz",
    "Number of Flops": "operations",
}
_MORE_NUMBERS = (
    "Cycle Clock",
    "Iterations",
    "Loads per update",
    "Stores per update",
    "Load/store ratio",
)
# What -w and -W ask for: the work group's domain, and all bytes that it works on.
_WORKGROUP = late(r"[A-Z]\d*:(?P<size>\d+(?:\.\d+)?)(?P<unit>[kKMGT]?i?B)\b(?::(?P<threads>\d+))?")
_QUOTED = late(r"likwid-bench -t (?P<kernel>\w{2,60})")
_HEADLESS = "The head of its output, which names the kernel, is missing."
_IN_A_LINE = (4, 8, 16, 32, 64)  # elements of a cache line


@dataclass
class _Run(Run):
    """One test; `numbers` are all that it prints, by the words before them."""

    numbers: dict[str, Printed] = field(default_factory=dict)

    def finish(self) -> bool:
        """Only with its own words: the others are common. The bandwidth knows the bytes and the
        time that it was made of."""
        moved, time = (
            next((result for result in self.results if result.name == name), None)
            for name in ("data volume", "time")
        )
        of: dict[str, Any] = {"bytes_moved": moved.value} if moved and moved.value else {}
        if time is not None:
            of |= {"elapsed_s": time.value, **time.of}
        self.results = [
            replace(result, of=of if result.name == "bandwidth" else {}) for result in self.results
        ]
        self.twice = _twice(self)
        return any(result.name in ("bandwidth", "cycles per update") for result in self.results)

    def has(self, name: str) -> bool:
        """Whether it says that already: then another run's output follows, without its head."""
        if name in _FACTS:
            return _FACTS[name] in self.facts
        return any(result.name == _RESULTS[name][0] for result in self.results)


def _line(reading: Reading[_Run], text: str) -> None:
    if test := _TEST.match(text):
        facts: dict[str, Any] = {"kernel": test[1]}
        if test[1].startswith(_OF_REGISTERS):
            facts["cached_on_purpose"] = True
        reading.begin(facts=facts)
    elif found := _FIGURE.match(text):
        _figure(reading, found)
    elif len(reading.runs) == 1:
        return  # what another program says
    elif groups := _GROUPS.match(text):
        reading.run.facts["workgroups"] = int(groups[1])
    elif threads := _THREADS.match(text):
        reading.run.facts["threads"] = int(threads[1])
    elif on := _ON.search(text):
        before = str(reading.run.facts.get("cpus", ""))
        reading.run.facts["cpus"] = f"{before},{on[1]}".lstrip(",")


def _figure(reading: Reading[_Run], found: re.Match[str]) -> None:
    name, value = found[1], reading.number(found[2])
    if value is None:
        return
    if name in _FACTS or name in _RESULTS:
        if len(reading.runs) == 1 or reading.run.has(name):
            facts = _asked(reading)
            notes = [] if "kernel" in facts else [_HEADLESS]
            reading.begin(facts=facts, notes=notes)
    elif name not in _MORE_NUMBERS:
        return
    if name in _FACTS:
        reading.run.facts[_FACTS[name]] = int(value) if value.is_integer() else value
    elif name in _RESULTS:
        title, unit = _RESULTS[name]
        error = {"elapsed_error_s": half_digit(found[2])} if name == "Time" else {}
        reading.add(title, value, unit, "", error)
    number = printed(name, value, found[2], reading.line.number)
    reading.run.numbers.setdefault(name, number)


def _asked(reading: Reading[_Run]) -> dict[str, Any]:
    """What the command above the line asked for; {} where it is another program's."""
    command = last_above(reading.log.commands, reading.line.number)
    if command is None:
        return _named_elsewhere(reading.log) if len(reading.runs) == 1 else {}
    if not any(word.endswith(TOOL) for word in command.words):
        return {}
    facts: dict[str, Any] = {}
    if kernel := option(command, "-t", "--test"):
        facts["kernel"] = kernel
        if kernel.startswith(_OF_REGISTERS):
            facts["cached_on_purpose"] = True
    groups = [_WORKGROUP.match(word) for word in command.words]
    asked = [group for group in groups if group]
    if len(asked) == 1:
        unit = asked[0]["unit"].replace("K", "k") if "i" not in asked[0]["unit"] else ""
        size = BASE[unit or asked[0]["unit"]][0]
        facts["working_set_bytes"] = round(float(asked[0]["size"]) * size)
        if asked[0]["threads"]:
            facts["threads"] = int(asked[0]["threads"])
    return facts


def _named_elsewhere(log: Log) -> dict[str, Any]:
    """The kernel of the only command of likwid-bench that a sentence of the log quotes."""
    quoted = (line.text for line in log.having(f"{TOOL} -t "))
    kernels = {found["kernel"] for text in quoted for found in _QUOTED.finditer(text)}
    if len(kernels) != 1:
        return {}
    facts: dict[str, Any] = {"kernel": (kernel := kernels.pop())}
    return facts | ({"cached_on_purpose": True} if kernel.startswith(_OF_REGISTERS) else {})


def _twice(run: _Run) -> list[Twice]:
    """What it computes of what it prints, as its sources do since version 3."""
    own = run.numbers
    size = "Size (Byte)" if "Size (Byte)" in own else "Size"
    volume = "Data volume (Byte)"
    moves = volume in own and own[volume].value > 0
    twice = [
        *product(own, "Time", ["Cycles"], ["Cycle Clock"], unit="s"),
        *product(own, "MFlops/s", ["Number of Flops"], ["Time"], scale=1e-6, unit="MFLOP/s"),
        # A kernel of arithmetic says that it moves none.
        *(product(own, volume, [size, "Iterations per thread"], unit="bytes") if moves else ()),
        *product(own, "Load/store ratio", ["Loads per update"], ["Stores per update"]),
    ]
    if run.facts.get("workgroups", 1) == 1:  # others may have sizes of their own
        shares = "Iterations", "Iterations per thread"
        twice += product(own, size, ["Size per thread", shares[0]], [shares[1]], unit="bytes")
    # Cycles of a cache line are those of as many updates as it has elements: 8 or 16, mostly.
    update, line = own.get("Cycles per update"), own.get("Cycles per cacheline")
    if update is None or line is None or update.value <= 0:
        return twice
    elements = min(_IN_A_LINE, key=lambda count: abs(count * update.value - line.value))
    return twice + product(own, line.name, [update.name], count=elements, unit="cycles")


read = LineReader(TOOL, _Run, _line)
