"""Libraries and programs that time loops, each with few lines of its own: Celero of C++, poop of
Zig, the first `deno bench`, and results of criterion in columns.

They are read where no benchmark with a reader of its own was.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log, Report
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run
from benchbook.explain.readers.common.times import UNIT, scaled, time_of

CELERO, POOP, DENO, CHANGES = "celero", "poop", "deno-bench", "criterion-changes"
LOOKS_FOR = {
    CELERO: "Celero: `| Group | Experiment | Prob. Space | Samples | Iterations | Baseline | …`",
    POOP: "poop: `measurement  mean ± σ  min … max  outliers  delta`",
    CHANGES: "criterion's results in columns: `parse JSON  1.0414 us  -2.1158%  none`",
    DENO: "deno bench: `bench parse ... 250 iterations 23,063 ns/iter (208..356,041 ns/iter)`",
}
_N = r"\d[\d,]{0,20}(?:\.\d{1,20})?"
_COLUMNS = ("Group", "Experiment", "Samples", "Iterations", "us/Iteration")


@dataclass
class _Celero(Run):
    """A table, or what the older version prints of each experiment."""

    heads: list[str] = field(default_factory=list)
    of: dict[str, Any] = field(default_factory=dict)


_RUN = late(
    r"^\[ RUN +\] (?P<name>\S{1,200})(?: @ (?P<size>\d{1,12}))?"
    rf" \[(?P<samples>{_N}) samples of (?P<calls>{_N}) calls each\.?\]$"
)
_DONE = late(
    rf"^\[ +DONE \] (?P<name>\S{{1,200}}) .*\[(?P<whole>{_N}) us\] \[(?P<each>{_N}) us/call\]"
)
_BASELINE = late(
    rf"^\[ BASELINE \] (?P<name>\S{{1,200}}) (?P<ratio>{_N}|inf|-?nan)(?: \[SD: (?P<spread>{_N}))?"
)


def _celero(reading: Reading[_Celero], text: str) -> None:
    run = reading.run
    if text.startswith("|"):
        cells = [cell.strip() for cell in text.strip("|").split("|")]
        if all(name in cells for name in _COLUMNS):
            reading.begin(heads=cells)
        elif len(cells) == len(run.heads) and not set(text) <= set("|:- "):
            _row(reading, dict(zip(run.heads, cells, strict=True)))
    elif not text.startswith("["):
        return
    elif found := _RUN.match(text):
        name = found["name"] + (f" @ {found['size']}" if found["size"] else "")
        counts = {"repetitions": found["samples"], "iterations": found["calls"]}
        run.of = {"benchmark": name}
        run.of |= {key: int(value.replace(",", "")) for key, value in counts.items()}
    elif (found := _DONE.match(text)) and run.of:
        name = run.of["benchmark"]
        reading.add(name, found["each"], "us", "best", run.of)
        reading.add(f"{name} shortest sample", found["whole"], "us", "", run.of)
    elif (found := _BASELINE.match(text)) and run.of:
        name = run.of["benchmark"]
        if found["ratio"][0].isdecimal():
            reading.add(f"{name} ratio", found["ratio"], "1", "ratio", run.of)
        else:
            _unmeasured(reading)
        if found["spread"]:
            reading.add(f"{name} samples", found["spread"], "us", "stddev", run.of)


def _row(reading: Reading[_Celero], row: dict[str, str]) -> None:
    name = ".".join(filter(None, (row["Group"], row["Experiment"])))
    if (size := row.get("Prob. Space", "Null")) not in ("Null", ""):
        name = f"{name} @ {size}"
    counts = (row["Samples"], row["Iterations"])
    if not all(count.isdecimal() for count in counts):
        return
    of: dict[str, Any] = {"benchmark": name}
    of |= dict(zip(("repetitions", "iterations"), map(int, counts), strict=True))
    if not reading.add(name, _figure(row["us/Iteration"]), "us", "best", of):
        _unmeasured(reading)
        return
    reading.add(f"{name} rate", _figure(row.get("Iterations/sec", "")), "operations/s", "", of)
    ratio = _figure(row.get("Baseline", ""))
    if ratio and ratio != "1.00000":
        reading.add(f"{name} ratio", ratio, "1", "ratio", of)


def _figure(text: str) -> str | None:
    return text if re.fullmatch(_N, text) else None


def _unmeasured(reading: Reading[_Celero]) -> None:
    facts = reading.run.facts
    facts["no_ratio"] = facts.get("no_ratio", 0) + 1
    facts.setdefault("no_ratio_line", reading.line.number)


@dataclass
class _Poop(Run):
    """What was counted of one command; `of` belongs to all of its figures."""

    of: dict[str, Any] = field(default_factory=dict)


_BEGINS = late(r"^Benchmark \d{1,3} \((?P<runs>\d{1,9}) runs?\): ?(?P<command>.{0,300})$")
_VALUE = r"\d{1,12}(?:\.\d{1,9})?(?: ?[a-zA-Zµμ]{1,3})?"
_MEASURED = late(
    rf"^(?P<name>[a-z]+(?:_[a-z]+)*) +(?P<mean>{_VALUE}) +± +(?P<spread>{_VALUE}) +"
    rf"(?P<min>{_VALUE}) +… +(?P<max>{_VALUE})"
    r"(?:  +\d{1,9} \( ?\d{1,3}%\)(?P<delta>.{0,60})?)?$"
)
_DELTA = late(
    r"(?P<sign>[-+]) *(?P<change>\d{1,6}(?:\.\d{1,3})?)% ± *(?P<error>\d{1,6}(?:\.\d{1,3})?)%"
)
_PART = late(r"^(?P<value>\d+(?:\.\d*)?) ?(?P<unit>[a-zA-Zµμ]*)$")
_COUNTED = {"K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "": 1.0}
_BYTES = ("B", "KB", "MB", "GB")


def _poop(reading: Reading[_Poop], text: str) -> None:
    if text.startswith("Benchmark ") and (found := _BEGINS.match(text)):
        run = reading.begin()
        run.facts["command"] = found["command"].strip()
        run.of = {"repetitions": int(found["runs"])}
        return
    run = reading.run
    if not run.line or "±" not in text or (found := _MEASURED.match(text)) is None:
        return
    name = found["name"]
    for part, statistic in (("mean", "mean"), ("spread", "stddev"), ("min", "min"), ("max", "max")):
        if value := _value(found[part], name):
            # 212G may be off by half a G, which no rule could know of the number.
            add = reading.show if found[part][-1] in "KMGT" else reading.add
            add(name, *value, statistic, run.of)
    if found["delta"] and (delta := _DELTA.search(found["delta"])):
        change = float(delta["change"]) * (-1 if delta["sign"] == "-" else 1)
        error = float(delta["error"])
        of = run.of | {"change_low_percent": change - error, "change_high_percent": change + error}
        reading.add(name, change, "%", "change", of | {"benchmark": name})


def _value(text: str, name: str) -> tuple[float, str] | None:
    found = _PART.match(text)
    if found is None:
        return None
    value, unit = float(found["value"]), found["unit"]
    if name.endswith("time") and re.fullmatch(UNIT, unit):
        return time_of(value, unit)
    if name.endswith("rss") and unit in _BYTES:
        return value, unit.replace("KB", "kB")
    return (scaled(value, unit.replace("G", "B")), "events") if unit in _COUNTED else None


_BENCH = late(
    rf"^bench (?P<name>\S.{{0,200}}?) \.\.\. (?P<count>{_N}) iterations (?P<mean>{_N}) ns/iter "
    rf"\((?P<min>{_N})\.\.(?P<max>{_N}) ns/iter\)"
)


def _deno(reading: Reading[Run], text: str) -> None:
    if "ns/iter" in text and (found := _BENCH.match(text)):
        count = int(found["count"].replace(",", ""))
        of: dict[str, Any] = {"benchmark": found["name"], "repetitions": count}
        for statistic in ("mean", "min", "max"):
            reading.add(found["name"], found[statistic], "ns", statistic, of)


_CHANGED = late(
    r"^(?P<name>\S(?:.{0,150}\S)?)\s{2,200}(?P<value>\d{1,9}(?:\.\d{1,6})?) "
    r"(?P<unit>ps|ns|us|µs|ms|s)\s{1,60}"
    r"(?P<change>[-+−]\d{1,9}(?:\.\d{1,6})?)%\s{1,60}(?P<verdict>none|improved|regressed)$"
)


def _changes(reading: Reading[Run], text: str) -> None:
    if text.endswith(("none", "improved", "regressed")) and (found := _CHANGED.match(text)):
        of: dict[str, Any] = {"benchmark": found["name"]}
        if found["verdict"] == "none":
            of["is_same"] = True
        reading.add(found["name"], *time_of(float(found["value"]), found["unit"]), "mean", of)
        change = float(found["change"].replace("−", "-"))
        reading.add(found["name"], change, "%", "change", of)


_READERS = (
    ("us/Iteration", LineReader(CELERO, _Celero, _celero)),
    ("us/call]", LineReader(CELERO, _Celero, _celero)),
    ("wall_time", LineReader(POOP, _Poop, _poop)),
    ("ns/iter", LineReader(DENO, Run, _deno)),
    ("%", LineReader(CHANGES, Run, _changes)),
)


def read(log: Log) -> list[Report]:
    """One report for each table or command."""
    every: list[Report] = []
    for word, reader in _READERS:
        if log.has(word):
            every += reader(log)
    return sorted(every, key=lambda report: report.line)
