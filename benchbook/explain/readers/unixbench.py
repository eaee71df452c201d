"""UnixBench: the result of each test, its index, and the score, for each number of copies."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Twice
from benchbook.explain.printed_digits import half_digit
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "unixbench"
_BEGINS = late(r"^Benchmark Run: ")
_COPIES = late(
    r"^(?P<cpus>\d{1,5}) CPUs? in system; running (?P<copies>\d{1,5}) parallel cop(?:y|ies)"
)
_NUMBER = r"\d{1,12}(?:\.\d)?"
_ROW = late(
    rf"^(?P<test>[A-Z]\S.{{4,60}}?)\s{{1,60}}(?P<value>{_NUMBER}) (?P<unit>lps|lpm|MWIPS|KBps) +"
    r"\((?P<took>\d{1,5}\.\d) s, (?P<samples>\d{1,3}) samples?\)$"
)
_INDEX = late(
    rf"^(?P<test>[A-Z]\S.{{4,60}}?)\s{{1,60}}(?P<base>{_NUMBER})\s+(?P<value>{_NUMBER})\s+"
    rf"(?P<index>{_NUMBER})$"
)
# Indices of two builds or more, below the names of these: `INDEX     INDEX`.
_SEVERAL = late(r"^System Benchmarks (?:Index Values|Partial Index)\s+INDEX(?:\s+INDEX){1,5}$")
_INDICES = late(rf"^(?P<test>[A-Z]\S.{{4,60}}?)(?P<values>(?:\s+{_NUMBER}){{2,6}})$")
_AFTER_HEAD = late(r"(?<=Index Values) +\S.*|(?<=Partial Index) +\S.*")
_TITLES = late(r"\s{2,60}")
_HEAD = "System Benchmarks Index Values"
_SCORE = late(
    rf"^(?:(?P<label>[\w.-]{{1,60}})(?:\s+\d{{1,3}})?\s+)?System Benchmarks Index Score"
    rf"(?P<part> \([\w ]+\))?:?\s+(?P<score>{_NUMBER})$"
)
_UNITS = {"lps": "loops/s", "lpm": "loops/min", "MWIPS": "MWIPS", "KBps": "KiB/s"}

_ALL = "index of all tests"
_TOTAL = "System Benchmarks Index Score"
# What a test counts whose name has this word; all others count loops a second.
_OTHERS = {"Whetstone": "MWIPS", "File Copy": "KBps", "Shell Scripts": "lpm"}


@dataclass
class _Run(Run):
    """All tests with one number of copies."""

    has_table: bool = False
    builds: list[str] = field(default_factory=list)
    above: str = ""  # the last line


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    above, run.above = run.above, text
    if _SEVERAL.match(text):
        titles = [own for own in _TITLES.split(above.strip()) if own]
        count = text.count("INDEX")
        run.builds = titles[-count:] if len(titles) > count - 1 else [""] * count
    elif run.builds and (found := _INDICES.match(text)):
        values = found["values"].split()
        name = _ALL if found["test"].startswith(_TOTAL) else f"index of {found['test']}"
        for build, value in zip(run.builds, values, strict=False):
            reading.show(name, value, "points", "", {"label": build} if build else {})
    elif _BEGINS.match(text):
        reading.begin()
    elif found := _COPIES.match(text):
        run = reading.begin() if run.results or "copies" in run.facts else run
        run.line = run.line or reading.line.number
        run.facts["cores"] = int(found["cpus"])
        run.facts["copies"] = int(found["copies"])
    elif found := _ROW.match(text):
        of: dict[str, Any] = {"test": found["test"], "repetitions": int(found["samples"])}
        reading.add(found["test"], found["value"], _UNITS[found["unit"]], "", of)
        reading.show(f"time of {found['test']}", found["took"], "s", of=of)
    elif text.startswith((_HEAD, "System Benchmarks Partial Index")):
        if any(own.name == _ALL for own in run.results):
            run = reading.begin()  # another table, whose head was not posted
        # Others head a column for each host there, and have no column of the base.
        columns = _AFTER_HEAD.search(text)
        run.has_table = columns is None or "BASELINE" in columns[0].upper()
    elif found := _SCORE.match(text):
        of_score = {"label": found["label"]} if found["label"] else {}
        reading.add(_ALL, found["score"], "points", "", of_score)
        run.has_table = False
    elif run.has_table and (found := _INDEX.match(text)):
        name = f"index of {found['test']}"
        reading.add(name, found["index"], "points", "", {"test": found["test"]})
        index, base, value = (float(found[key]) for key in ("index", "base", "value"))
        if not any(result.name == found["test"] for result in run.results):
            own_unit = next((own for word, own in _OTHERS.items() if word in found["test"]), "lps")
            reading.add(
                found["test"], found["value"], _UNITS[own_unit], "", {"test": found["test"]}
            )
        if base > 0:
            made = 10 * value / base
            words = f"10 times the result over the base of {base:g}"
            slack = half_digit(found["index"]) + made * half_digit(found["value"]) / max(value, 1)
            number = reading.line.number
            run.twice.append(Twice(name, index, "points", number, made, words, 2 * slack))


def _clean(text: str) -> str:
    """A line without quoting of Markdown and the bars of its tables."""
    own = text.strip()
    return "  ".join(cell.strip(" *`") for cell in own.strip("|").split("|")) if "|" in own else own


read = LineReader(TOOL, _Run, _line, clean=_clean)
