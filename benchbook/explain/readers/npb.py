"""NAS Parallel Benchmarks: the summary that each program prints when it has ended, in any language,
on one processor, by threads or by MPI.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from benchbook.explain import npb_classes
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Twice
from benchbook.explain.printed_digits import is_number
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.relations import Printed, printed, product

TOOL = "npb"

_HEAD = late(r"^(BT|CG|DC|DT|EP|FT|IS|LU|MG|SP|UA|(?:BT|LU|SP)-MZ) Benchmark Completed\b")
_ROW = late(r"^(?P<key>[A-Za-z][\w/ ]{2,24}?)\s*=\s*(?P<value>\S.{0,60}?)$")
_SIZE = late(r"\d{1,12}(?:\s*x\s*\d{1,12}){0,2}")
_TOTAL, _TIME = "Mop/s total", "Time in seconds"
_SHARES = {"Mop/s/process": "processes", "Mop/s/thread": "threads", "Mop/s/proc": "processes"}
_WORKERS = {
    "Total processes": "processes", "Active processes": "processes", "Processes": "processes",
    "Total threads": "threads", "Threads requested": "threads", "Number of threads": "threads",
}  # fmt: skip
_VERIFICATIONS = {
    "SUCCESSFUL": "successful",
    "UNSUCCESSFUL": "unsuccessful",
    "NOT PERFORMED": "not performed",
}


@dataclass
class _Run(Run):
    """One summary; `printed` are its numbers, for what they make of each other."""

    printed: dict[str, Printed] = field(default_factory=dict)

    def finish(self) -> bool:
        """Find what its numbers tell twice."""
        for share, workers in _SHARES.items():
            self.twice += product(self.printed, share, (_TOTAL,), (workers,), unit="Mop/s")
        self.twice += self._rate_of_class()
        return bool(self.results)

    def _rate_of_class(self) -> list[Twice]:
        """The total rate that the operations of the class make in the printed time."""
        total, time = self.printed.get(_TOTAL), self.printed.get(_TIME)
        benchmark, size = (
            str(self.facts.get("benchmark", "")),
            str(self.facts.get("problem_class", "")),
        )
        count = npb_classes.operations(benchmark, size, self.facts.get("iterations"))
        usable = [own for own in (total, time) if own and is_number(own.value) and own.value > 0]
        if not count or total is None or time is None or len(usable) < 2:
            return []
        made = count / time.value / 1e6
        words = f"the {count:,.0f} operations of class {size} of {benchmark} over {time.words}"
        slack = total.half + made * time.half / time.value
        return [Twice(total.name, total.value, "Mop/s", total.line, made, words, slack)]


def _line(reading: Reading[_Run], text: str) -> None:
    if found := _HEAD.search(text):
        reading.begin(facts={"benchmark": found[1]})
    elif reading.run.line and (row := _ROW.search(text)):
        _row(reading, row["key"], row["value"])


def _row(reading: Reading[_Run], key: str, value: str) -> None:
    facts, run = reading.run.facts, reading.run
    if key in ("Class", "class_npb") and len(value) == 1:
        facts["problem_class"] = value
    elif key == "Size" and _SIZE.fullmatch(value):
        facts["problem_size"] = "x".join(part.strip() for part in value.split("x"))
    elif key == "Iterations" and value.isdecimal():
        facts["iterations"] = int(value)
    elif key in _WORKERS and value.isdecimal() and int(value) > 0:
        facts[_WORKERS[key]] = int(value)
        number = int(value)
        run.printed[_WORKERS[key]] = Printed(key, number, 0.0, reading.line.number)
    elif key == "Verification":
        facts["verification"] = _VERIFICATIONS.get(value.upper(), value.lower())
        facts["verification_line"] = reading.line.number
    elif key == "Version":
        run.version = value
    elif key in (_TIME, _TOTAL) or key in _SHARES:
        _figure(reading, key, value)


def _figure(reading: Reading[_Run], key: str, value: str) -> None:
    name, unit = ("time", "s") if key == _TIME else (key.replace("Mop/s", "rate"), "Mop/s")
    name = {"rate total": "rate", "rate/proc": "rate/process"}.get(name, name)
    figure = reading.number(value)
    if figure is not None and reading.add(name, figure, unit):
        reading.run.printed[key] = printed(key, figure, value, reading.line.number)


read = LineReader(TOOL, _Run, _line)
