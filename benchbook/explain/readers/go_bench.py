"""Go's testing package: lines of `go test -bench`, and tables of benchcmp."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Result
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "go-bench"
_ROW = late(
    r"^(?P<name>Benchmark[^\Wa-z]\S*?)(?:-(?P<cpus>\d{1,4}))?\s+(?:(?P<count>\d+)\s+)?(?P<figures>"
    r"\d+(?:\.\d+)?(?:e[+-]?\d+)? ns/op.*)$"
)
# What prints no time took none that it could print.
_UNTIMED = late(
    r"^(?P<name>Benchmark[^\Wa-z]\S*?)(?:-(?P<cpus>\d{1,4}))?\s+(?P<count>1000000000)\s+"
    r"(?P<figures>\d+ B/op\s+\d+ allocs/op)$"
)
_FIGURE = late(r"(\d+(?:\.\d+)?(?:e[+-]?\d+)?) (\S+)")
_CPU = late(r"^cpu: (?P<cpu>.+)$")
_UNITS = {"ns/op": ("time", "ns"), "MB/s": ("rate", "MB/s"), "B/op": ("allocated", "B")}
_UNITS |= {"allocs/op": ("allocations", "allocations")}
# benchcmp: one run of each side below a head for each quantity.
_OF_ONE_HEAD = late(
    r"^benchmark\s+old (?P<what>ns/op|MB/s|allocs|bytes)\s+new \S+\s+(?:delta|speedup)$"
)
_OF_ONE = late(
    r"^(?P<name>Benchmark\S+)\s+(?P<old>\d+(?:\.\d+)?)\s+(?P<new>\d+(?:\.\d+)?)\s+"
    r"(?:[+-]\d+(?:\.\d+)?%|\d+(?:\.\d+)?x|n/a)$"
)
_OF_ONE_UNITS = {"ns/op": "ns", "MB/s": "MB/s", "allocs": "allocations", "bytes": "B"}
# What Go itself prints between rows, and marks of a page.
_OF_GO = (
    "Benchmark", "PASS", "ok ", "ok\t", "goos:", "goarch:", "pkg:", "cpu:", "---", "===", "```",
    "?", "testing:", "$", "+", "exit status", "FAIL",
)  # fmt: skip
# The same of one build alone, below `name  time/op`.
_ALONE = late(
    r"^(?P<name>[A-Z]\w*(?:/\S+?)?)(?:-(?P<cpus>\d{1,4}))?\s{2,}(?P<value>\d+(?:\.\d+)?)"
    r"(?P<unit>[nµm]?s) ± *(?P<spread>\d+)%$"
)


@dataclass
class _Run(Run):
    """All rows of one package; `what` is what a table of benchcmp compares."""

    line: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    what: str = ""
    parted: bool = False  # whether words of somebody stand below its rows

    def finish(self) -> bool:
        """Rows of one name are repetitions. Without a number behind its name a benchmark ran with
        one CPU, if the same one has such a number in another row."""
        several = {own.of["benchmark"] for own in self.results if own.of.get("cpus_given")}
        for result in self.results:
            if result.of.get("benchmark") in several and "cpus_given" not in result.of:
                result.of = {**result.of, "cpus_given": 1}
        counts = Counter(map(_row_of, self.results))
        for result in self.results:
            if counts[_row_of(result)] > 1 and not result.statistic:
                result.statistic = "sample"
        seen: dict[tuple[str, object], int] = {}
        for result in self.results:
            if result.statistic == "sample":
                row = _row_of(result)
                number = seen[row] = seen.get(row, -1) + 1
                result.of = {**result.of, "repetition": number}
        return bool(self.results)


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if "/op" in text and (found := _ROW.match(text) or _UNTIMED.match(text)):
        if run.parted and f"{found['name']} time" in run.counts:
            run = reading.begin(facts=dict(run.facts))  # another block, of before or after
        of: dict[str, Any] = {"benchmark": found["name"]}
        if found["count"]:
            of["iterations"] = int(found["count"])
        if "ns/op" not in text:
            of["is_untimed"] = True
        if found["cpus"]:
            of["cpus_given"] = int(found["cpus"])
        for value, unit in _FIGURE.findall(found["figures"]):
            title, own = _UNITS.get(unit, (unit, "1"))
            name = f"{found['name']} {title}"
            if reading.add(name, value, own, "", of):
                run.counts[name] = run.counts.get(name, 0) + 1
    elif found := _OF_ONE_HEAD.match(text):
        run.what = found["what"]
    elif run.what and (found := _OF_ONE.match(text)):
        of = {"benchmark": found["name"], "is_single": True}
        for side in ("old", "new"):
            name, unit = f"{found['name']} {run.what} {side}", _OF_ONE_UNITS[run.what]
            reading.add(name, found[side], unit, "", {**of, "build": side})
    elif "±" in text and (found := _ALONE.match(text)):
        of = {"benchmark": found["name"], "spread_percent": int(found["spread"])}
        if found["cpus"]:
            of["cpus_given"] = int(found["cpus"])
        unit = found["unit"].replace("µ", "u")
        reading.add(f"{found['name']} time", found["value"], unit, "median", of)
    elif text.startswith("cpu: ") and (found := _CPU.match(text)):
        run.facts["cpu"] = found["cpu"]
    elif run.counts and not text.startswith(_OF_GO):
        run.parted = True


def _row_of(result: Result) -> tuple[str, object]:
    """What rows that repeat each other share: benchmarks with other CPUs are others."""
    return result.name, result.of.get("cpus_given")


read = LineReader(TOOL, _Run, _line)
