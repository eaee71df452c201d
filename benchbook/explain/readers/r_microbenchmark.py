"""microbenchmark of R: the statistics of each expression, in tables that may be wrapped."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.printed_digits import is_number
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "microbenchmark"
_UNIT = late(r"^(?:Unit: )?(?P<unit>nanoseconds|microseconds|milliseconds|seconds|[nuµm]?s)$")
_UNITS = {"nanoseconds": "ns", "microseconds": "us", "milliseconds": "ms", "seconds": "s"}
_STATISTICS = {
    "min": "min", "lq": "p25", "mean": "mean", "median": "median", "uq": "p75", "max": "max",
}  # fmt: skip
_COLUMNS = frozenset((*_STATISTICS, "expr", "neval", "cld"))
_NUMBER = late(r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[+-]?\d+)?")


@dataclass
class _Run(Run):
    """A table; `columns` are the heads of the part that is being read, `names` the expressions."""

    unit: str = ""
    columns: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    row: int = 0
    counts: dict[str, int] = field(default_factory=dict)

    def finish(self) -> bool:
        """The number of runs may stand below the figures."""
        for result in self.results:
            name = str(result.of.get("benchmark"))
            if name in self.counts:
                result.of = {**result.of, "repetitions": self.counts[name]}
        return bool(self.results)


def _line(reading: Reading[_Run], text: str) -> None:
    if found := _UNIT.match(text):
        reading.begin(unit=_UNITS.get(found["unit"], found["unit"].replace("µ", "u")))
        return
    run = reading.run
    words = text.split()
    if len(words) > 1 and _COLUMNS.issuperset(words) and run.unit:
        run.columns, run.row = words, 0
        return
    if not run.columns:
        return
    figures = [column for column in run.columns if column not in ("expr", "cld")]
    if run.columns[-1] == "cld" and words and not _NUMBER.fullmatch(words[-1]):
        while words and not _NUMBER.fullmatch(words[-1]):
            words.pop()  # letters that say which rows differ
    values = words[len(words) - len(figures) :]
    if len(values) < len(figures) or not all(map(_NUMBER.fullmatch, values)):
        run.columns = []
        return
    label = " ".join(words[: len(words) - len(figures)])
    values = [value.replace(",", "") for value in values]
    if run.columns[0] == "expr" or label:
        run.names.append(label or "expression")
        name = run.names[-1]
    else:
        name = run.names[run.row] if run.row < len(run.names) else "expression"
    run.row += 1
    of: dict[str, Any] = {"benchmark": name}
    for column, value in zip(figures, values, strict=True):
        if column == "neval":
            if is_number(count := reading.number(value)):
                run.counts[name] = round(count)
        else:
            reading.add(name, value, run.unit, _STATISTICS[column], of)


read = LineReader(TOOL, _Run, _line)
