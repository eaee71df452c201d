"""JMH: its table of results, the iterations above it, and its JSON."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log, Report
from benchbook.explain.readers.common import jmh_json
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "jmh"
_HEAD = late(
    r"^Benchmark\s+(?:\([^)]*\)\s+)*(?P<mode>Mode\s+(?:Cnt|Samples)\s+)?Score\s+(?:Score )?Error"
    r"\s+Units$"
)
# A row of a table that somebody left modes and counts out of.
_MODELESS = late(
    r"^(?P<name>[\w.$:·/ -]+?) (?P<score>\d[\d.,]*)(?: ± ?(?P<error>\d[\d.,]*))? "
    r"(?P<unit>[a-zA-Z/]+)$"
)
_ROW = late(
    r"^(?P<name>[\w.$:·/-]+)(?P<parameters>(?:\s+\S+)*?)\s+(?P<mode>thrpt|avgt|sample|ss)\s+(?:"
    r"(?P<count>\d+)\s+)?"
    r"(?P<score>[\d.,]+(?:e[+-]?\d+)?|≈ ?10(?P<power>⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,2})|≈ ?(?P<nearly>0))"
    r"(?:\s+(?:±|\?|�|\+-)?\s*(?P<error>[\d.,]+|NaN))?\s+(?P<unit>\S+)$"
)
_UNIT = late(r"ops/(?:ns|us|ms|s|min)|(?:ns|us|ms|s|min)/op")
_POWER = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_UNITS = {"ns/op": "ns", "us/op": "us", "ms/op": "ms", "s/op": "s"}


_SECONDARY = {"MB/sec": "MB/s", "B/op": "B/operation"}
_THREADS = late(r"^Threads: (?P<threads>\d+) threads?\b")


# What is printed behind the last iteration of a benchmark, without its table.
_RESULT = late(r'^Result "(?P<name>[\w.$]+)":$')
_SCORE = late(
    r"^(?P<score>\d[\d.,]*)(?: ±\(99\.9%\) (?P<error>\d[\d.,]*))? (?P<unit>\S+)(?: \[Average\])?$"
)
_OF_BENCHMARK = late(r"^Benchmark: (?P<name>[\w.$]+)$")
_ITERATION = late(
    r"^(?P<warm>Warmup )?Iteration\s+\d+: (?P<value>\d[\d.,]*)(?: ±\(99\.9%\) \S+)? (?P<unit>\S+)$"
)


@dataclass
class _Run(Run):
    """A table, or the iterations that were printed above it."""

    name: str = ""
    count: int = 0  # iterations of the benchmark that are being printed
    rows: set[tuple[str, ...]] = field(default_factory=set)  # of the table, each once
    is_modeless: bool = False
    result_of: str = ""  # the benchmark whose result comes next


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if found := _HEAD.match(text):
        reading.begin(facts=dict(run.facts), is_modeless=not found["mode"])
    elif run.is_modeless and (found := _MODELESS.match(text)):
        _modeless(reading, found)
    elif found := _OF_BENCHMARK.match(text):
        run.name, run.count = found["name"], 0
    elif (found := _ITERATION.match(text)) and (run.name or _UNIT.fullmatch(found["unit"])):
        run.name = run.name or "benchmark"  # of a log that begins between two iterations
        unit = _UNITS.get(found["unit"], found["unit"].replace("ops/", "operations/"))
        if found["warm"]:
            reading.add(run.name, found["value"], unit, "warm-up", {"benchmark": run.name})
        else:
            of: dict[str, Any] = {"benchmark": run.name, "repetition": run.count}
            run.count += reading.add(run.name, found["value"], unit, "sample", of)
    elif found := _THREADS.match(text):
        reading.run.facts["threads"] = int(found["threads"])
    elif found := _RESULT.match(text):
        run.result_of = found["name"]
    elif run.result_of:
        _score(reading, text)
    elif (found := _ROW.match(text)) and (run.line or _is_sure(found)):
        key = (found["name"], *found["parameters"].split(), found["unit"])
        if key in run.rows or not run.line:
            run = reading.begin(facts=dict(run.facts))  # a table whose head was cut off
        run.rows.add(key)
        of = {"benchmark": found["name"], "mode": found["mode"]}
        if found["count"]:
            of["repetitions"] = int(found["count"])
        if parameters := found["parameters"].split():
            of["parameters"] = " ".join(parameters)
        unit = _UNITS.get(found["unit"], found["unit"].replace("ops/", "operations/"))
        if found["power"]:  # of so small a score it prints the order of magnitude only
            magnitude = 10.0 ** int(found["power"].translate(_POWER))
            reading.add(found["name"], magnitude, unit, "magnitude", of)
        elif found["nearly"]:
            reading.show(found["name"], 0.0, unit, of=of)
        elif reading.add(found["name"], found["score"], unit, "mean", of) and found["error"]:
            reading.add(found["name"], found["error"], unit, "confidence 99.9 %", of)


def _modeless(reading: Reading[_Run], found: re.Match[str]) -> None:
    unit = _UNITS.get(found["unit"], found["unit"].replace("ops/", "operations/"))
    unit = _SECONDARY.get(unit, unit)
    of = {"benchmark": found["name"]}
    if reading.add(found["name"], found["score"], unit, "mean", of) and found["error"]:
        reading.add(found["name"], found["error"], unit, "confidence 99.9 %", of)


def _is_sure(found: re.Match[str]) -> bool:
    """Whether a row is one of JMH without a head above it: it has a count, an error and a unit."""
    return bool(found["count"] and found["error"] and _UNIT.fullmatch(found["unit"]))


def _score(reading: Reading[_Run], text: str) -> None:
    """The score behind a title, where no table below has it."""
    run = reading.run
    name, run.result_of = run.result_of, ""
    if (found := _SCORE.match(text)) and _UNIT.fullmatch(found["unit"]):
        if any(result.name == name and result.statistic == "mean" for result in run.results):
            run = reading.begin(facts=dict(run.facts))
        unit = _UNITS.get(found["unit"], found["unit"].replace("ops/", "operations/"))
        of = {"benchmark": name}
        reading.add(name, found["score"], unit, "mean", of)
        if found["error"]:
            reading.add(name, found["error"], unit, "confidence 99.9 %", of)


def _uncommented(text: str) -> str:
    """A line without the mark of a comment: people keep the table with the code."""
    bare = text.strip().lstrip("/*#").strip()
    return " ".join(bare.replace("|", " ").split()) if " | " in bare else bare


_READER = LineReader(TOOL, _Run, _line, clean=_uncommented)


def read(log: Log) -> list[Report]:
    """One report for each table, and one for all scores of its JSON."""
    return [*_READER(log), *jmh_json.read(log)]
