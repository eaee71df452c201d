"""likwid-perfctr: its ASCII tables and its CSV (-O), of programs and of marker regions, on CPUs and
GPUs; its timeline (-t).

benchbook/evidence/counters/likwid.py reads the CSV of a start that we made and refuses what is not
whole; a log may lack any line, and has other programs' output between.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report, Result
from benchbook.explain.printed_digits import as_float

TOOL = "likwid-perfctr"

_GROUP = late(r"^(?:Region (?P<region>.+), )?(?:GPU )?Group (?P<index>\d+): (?P<group>\S+)")
_TABLE = late(
    r"^TABLE,(?:Region (?P<region>.*),)?(?:GPU )?Group (?P<index>\d+) (?:Raw|Metric)(?: STAT)?,"
    r"(?P<group>[^,]*),(?P<rows>\d+)"
)
# What it says where it may or can not count; a 0 or an empty table would be all else that is left.
_REFUSED = late(
    r"Cannot g(?:et|ain) access to (?:MSRs|performance counters|PCI)|not supported by LIKWID"
    r"|Cannot initialize performance monitoring|Failed to (?:execute|lock) the daemon"
    r"|Access to performance monitoring registers|Unsupported [Pp]rocessor"
)
_RAW = late(r"^TABLE,.*Group \d+ Raw,")
_CORE = late(r"^(?:HWThread|[Cc]ore|(?P<gpu>GPU)) +(\d+)$")
# The timeline: its cores, what its columns are, of one group each, and a row.
_CORES = late(r"^# ?(?:CORES|HWThreads)(?:: |,)(?P<cores>\d+(?:[|,]\d+)*)[|,]?$")
_COLUMNS = late(
    r"^# ?GID[|,](?:Metrics|Event)Count[|,]CpuCount[|,]Total runtime(?: \[s\])?[|,](?P<names>.+)$"
)
_SAMPLE = late(r"^\d{1,4}([ ,])\d{1,4}\1\d{1,5}\1\d+(?:\.\d+)?\1\S")
_MEASURED = late(r"^Measuring group (?P<group>\S+)$")  # version 3, before all of its tables
_CPU = late(r"^CPU name:[\s,]*(\S.*?),*$")
_CPU_CLOCK = late(r"^CPU clock:[\s,]*(\d{1,2}\.\d+) GHz")
_ENERGY = late(r"PWR\d")  # registers of energy, which it prints in joules
_STATISTICS = {"Sum": "sum", "Min": "min", "Max": "max", "Avg": "mean"}
_UNIT = late(r"^([^\[]*)\[([^\]]*)\](.*)$")
_BARE = late(r"^(.*?) ?\b(M(?:FLOP|UOPS)/s)$")  # by version 4 and older
_UNITS = {"MBytes/s": "MB/s", "GBytes": "GB", "Bytes": "B", "GBytes/s": "GB/s", "MBytes": "MB"}
# The last are minima of what had no value at all: the largest number that it can hold.
_NO_NUMBER = ("-", "nan", "-nan", "inf", "-inf", "N/A", "9.223372e+18", "1.797693e+308")
# What every program that ran has counted, by its name on Intel, AMD, Arm and Power; a memory is
# read from all the time.
_NEVER_ZERO = late(
    r"^(INSTR?_RETIRED(_ANY)?|RETIRED_INSTRUCTIONS|CPU_CLK_UNHALTED\w*|CPU_CLOCKS_UNHALTED"
    r"|CPU_CYCLES|PM_(RUN_)?(INST|CYC)\w*|CAS_COUNT_(RD|ALL))$"
)


@dataclass
class _Place:
    """Where in the output a line is."""

    region: str = ""
    group: str = ""
    index: int = 0
    kind: str = ""  # Event, Metric or Region Info
    columns: list[str] = field(default_factory=list)
    comma: bool = False
    lead: int = 1  # cells before those of columns
    rows: int | None = None  # that follow in the table, as its head says
    cores: list[int] = field(default_factory=list)  # of the timeline
    timelines: list[list[str]] = field(default_factory=list)  # its columns, of each group


def read(log: Log) -> list[Report]:
    """One report for each start of likwid-perfctr."""
    reports: list[Report] = []
    facts: dict[str, Any] = {}
    place = _Place()
    seen: set[tuple[str, int]] = set()
    refused: list[tuple[Line, str]] = []
    for line in log.printed_lines():
        text = line.text.strip()
        if not text:
            continue
        if text.startswith("|"):  # a row of a table, as most lines are
            _line(line, _cells(text, place), place, reports)
            continue
        if facts and _REFUSED.search(text):
            refused.append((line, str(facts["cpu"])))
        head = _TABLE.match(text) or _GROUP.match(text)
        if cpu := _CPU.match(text):
            facts = {"cpu": cpu[1]}
            place = _Place()
        elif facts and (clock := _CPU_CLOCK.match(text)):
            facts["cpu_clock_ghz"] = float(clock[1])
        elif head:
            comma = text.startswith("TABLE,")
            place = _Place(head["region"] or "", head["group"], int(head["index"]), comma=comma)
            place.rows = int(head["rows"]) if comma else None
            key = place.region, place.index
            if not comma or _RAW.match(text):
                # Each group of each region comes once in a start.
                if key in seen or not reports:
                    seen = set()
                    reports.append(Report(TOOL, [], line.number, "", dict(facts)))
                seen.add(key)
        elif measured := _MEASURED.match(text):
            place = _Place("", measured["group"])
            reports.append(Report(TOOL, [], line.number, "", dict(facts)))
        elif cores := _CORES.match(text):
            place = _Place(cores=[int(word) for word in re.split("[|,]", cores["cores"])])
        elif columns := _COLUMNS.match(text):
            if not place.timelines:
                reports.append(Report(TOOL, [], line.number, "", dict(facts)))
            place.timelines.append(re.split("[|,]", columns["names"]))
        elif place.timelines and (sample := _SAMPLE.match(text)):
            _sample(line, text.split(sample[1]), place, reports[-1])
        elif cells := _cells(text, place):
            _line(line, cells, place, reports)
        elif not text.startswith("+"):
            place.kind = ""
    found = [_judged(report) for report in reports if report.results]
    return found or _refused(refused)


def _refused(said: list[tuple[Line, str]]) -> list[Report]:
    """A start that counted nothing at all, and says why."""
    if not said:
        return []
    line, cpu = said[0]
    why = line.text.strip().rstrip(".")
    return [Report(TOOL, [], line.number, "", {"cpu": cpu, "refused": why})]


def _cells(text: str, place: _Place) -> list[str]:
    """The cells of a row of a table, whichever way it is drawn; [] of other lines."""
    if "|" in text:
        return [cell.strip() for cell in text.strip("|").split("|")]
    starts = text.startswith(("Event,Counter,", "Metric,", "Region Info,"))
    if "," in text and (starts or (place.comma and place.kind)):
        return [cell.strip() for cell in text.rstrip(",").split(",")]
    return []


def _line(line: Line, cells: list[str], place: _Place, reports: list[Report]) -> None:
    if cells[0] in ("Event", "Metric", "Region Info") and len(cells) > 1:
        place.lead = 2 if cells[1] == "Counter" else 1  # version 3 does not tell the counter
        columns = cells[place.lead :]
        known = [item for item in columns if _CORE.match(item) or item in _STATISTICS]
        place.kind = cells[0] if known else ""
        place.columns = columns
        if known and not reports:
            reports.append(Report(TOOL, [], line.number))
        return
    if not place.kind or len(cells) < place.lead + len(place.columns) or place.rows == 0:
        return
    if place.rows and place.kind != "Region Info":
        place.rows -= 1
    for column, printed in zip(place.columns, cells[place.lead :], strict=False):
        if result := _result(line, cells, column, printed, place):
            reports[-1].results.append(result)


def _result(
    line: Line, cells: list[str], column: str, printed: str, place: _Place
) -> Result | None:
    core = _CORE.match(column)
    if not core and column not in _STATISTICS:
        return None
    if (value := _value(printed)) is None:
        return None
    unit = "events" if place.kind == "Event" else "1"
    if place.kind == "Event" and place.lead > 1 and _ENERGY.match(cells[1]):
        unit = "J"
    name, unit = _named(cells[0].removesuffix(" STAT"), unit)
    of: dict[str, Any] = {"group": place.group, "kind": place.kind.lower(), "state": "ok"}
    if place.region:
        of["region"] = place.region
    if place.kind == "Event" and place.lead > 1:
        of["counter"] = cells[1]
    if core:
        of["gpu" if core["gpu"] else "core"] = int(core[2])
    if math.isnan(value):
        of |= {"state": "absent", "reason": f"{printed!r} stands where its number should"}
    return Result(name, value, unit, line.number, _STATISTICS.get(column, ""), of)


def _value(printed: str) -> float | None:
    """nan for what it prints where it has no number; None of what is none."""
    return math.nan if printed in _NO_NUMBER else as_float(printed)


@lru_cache(maxsize=256)  # rows of a log have few names
def _named(words: str, unit: str) -> tuple[str, str]:
    """A name without its unit, and that."""
    if found := _UNIT.match(words):
        return (found[1].rstrip(" ") + found[3]).strip(), _UNITS.get(found[2], found[2])
    if bare := _BARE.match(words):
        return bare[1] or words, bare[2]
    return words, unit


def _sample(line: Line, cells: list[str], place: _Place, report: Report) -> None:
    """A row of the timeline: group, metrics, cores, time, and each metric of all cores."""
    group, metrics, cores = (int(cell) for cell in cells[:3])
    values = cells[4:]
    known = 0 < group <= len(place.timelines)
    columns = place.timelines[group - 1] if known else []
    if len(columns) != metrics or len(values) != metrics * cores:
        return
    numbers = place.cores if len(place.cores) == cores else list(range(cores))
    of = {"kind": "metric", "state": "ok", "interval_end_s": float(cells[3]), "group": group}
    of_cores = [{**of, "core": number} for number in numbers]
    for index, printed in enumerate(values):
        name, unit = _named(columns[index // cores], "1")
        if (value := _value(printed)) is None:
            return
        if not math.isnan(value):
            own = of_cores[index % cores]
            report.results.append(Result(name, value, unit, line.number, "sample", own))


def _judged(report: Report) -> Report:
    """A 0 that nothing counted is absent: of what every program has, or where all counts are 0."""
    events = [
        result for result in report.results if result.of["kind"] == "event" and not result.statistic
    ]
    dead = bool(events) and not any(result.value > 0 for result in events)
    alive = {(result.name, result.of.get("region")) for result in events if result.value > 0}
    for index, result in enumerate(report.results):
        never = (
            _NEVER_ZERO.match(result.name) and (result.name, result.of.get("region")) not in alive
        )
        if (
            result.value == 0
            and result.of["kind"] == "event"
            and not result.statistic
            and (dead or never)
        ):
            why = "0 where there was work to count"
            of = {**result.of, "state": "absent", "reason": why}
            report.results[index] = replace(result, of=of)
    # Metrics without the counts that they were made of: no program runs without a cycle.
    awake = [
        result.value
        for result in report.results
        if result.name == "Runtime unhalted" and result.statistic in ("", "sum")
    ]
    if awake and not events and not any(awake):
        report.facts["refused"] = "the unhalted time of every core is 0"
    groups = list(dict.fromkeys(str(result.of["group"]) for result in events if result.of["group"]))
    if len(groups) > 1:
        _mark_shared(report, groups)
    return report


def _mark_shared(report: Report, groups: list[str]) -> None:
    """Several groups in one start took turns: each event counted for a part of the time."""
    for index, result in enumerate(report.results):
        if result.of["kind"] == "event" and result.of["state"] == "ok" and not result.statistic:
            of = {**result.of, "multiplexed": True}
            report.results[index] = replace(result, of=of)
    report.notes.append(f"The groups {', '.join(groups)} took turns in one start.")
