"""fio: what it prints of each job and of each group, versions 2 and 3, and its JSON."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Document, Log, Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.readers.common import fio_rest
from benchbook.explain.readers.common.json_values import at, object_at, objects_at
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "fio"
_ASKED = late(
    r"^(?P<job>\S.*?): \(g=\d+\): rw=(?P<rw>\w+), bs=(?P<sizes>.*?), ioengine=(?P<engine>\w+), "
    r"iodepth=(?P<depth>\d+)"
)
_SIZE = late(r"(?P<size>\d+(?:\.\d+)?)(?P<prefix>[KMG]?)i?B?(?=[-/, ]|$)")
_VERSION = late(r"^fio-(?P<version>\d\S*)$")
_JOB = late(r"^(?P<job>\S.*?): \(groupid=\d+, jobs=(?P<jobs>\d+)\): err=\s*(?P<error>-?\d+)")
# Version 3, and version 2.
_WAY = late(
    r"^(?P<way>read|write|trim)\s?: (?:IOPS=(?P<iops>\d+(?:\.\d+)?)(?P<of_iops>[kKM]?), "
    r"BW=(?P<bw>\d+(?:\.\d+)?)(?:(?P<bw_unit>[KMGT]?i?B)/s|(?P<bare_unit>[KMGT]i)(?= \())|"
    r"io=(?P<io>\d+(?:\.\d+)?) ?(?P<io_unit>[KMGT]?B), bw=(?P<old_bw>\d+(?:\.\d+)?) ?"
    r"(?P<old_unit>[KMGT]?B)/s ?, "
    r"iops=(?P<old_iops>\d+(?:\.\d+)?)(?P<of_old_iops>[kKM]?) ?)(?P<rest>.*)$"
)
_MOVED = late(r"\((?P<moved>\d+(?:\.\d+)?)(?P<unit>[KMGT]?i?B)/(?P<ms>\d+)msec")
_OLD_RUN = late(r"runt= *(?P<ms>\d+) ?msec")
_LATENCY = late(
    r"^(?P<kind>slat|clat|lat|sync) \((?P<unit>nsec|usec|msec|sec)\): min= ?(?P<min>\d+(?:\.\d+)?)"
    r"(?P<kmin>[kKM]?) ?, "
    r"max= ?(?P<max>\d+(?:\.\d+)?)(?P<kmax>[kKM]?) ?, avg= ?(?P<mean>\d+(?:\.\d+)?)"
    r"(?P<kmean>[kKM]?) ?, "
    r"stdev= ?(?P<stddev>\d+(?:\.\d+)?)(?P<kstddev>[kKM]?)"
)
_PERCENTILES = late(r"^(?P<kind>clat|lat) percentiles \((?P<unit>nsec|usec|msec)\)")
_PERCENTILE = late(r"(\d+\.\d+)th=\[ *(\d+)\]")
_CPU = late(r"^cpu\s*: usr=(?P<user>\d+(?:\.\d+)?)%, sys=(?P<system>\d+(?:\.\d+)?)%")
_SAMPLED = late(
    r"^iops\s*: min= *(?P<least>\d+(?:\.\d+)?), max= *(?P<most>\d+(?:\.\d+)?), "
    r"avg= *(?P<mean>\d+(?:\.\d+)?), stdev= *(?P<deviation>\d+(?:\.\d+)?), "
    r"samples=(?P<count>\d+)"
)
_DEPTHS = late(r"^IO depths\s*:.*?\b1=(?P<share>\d+(?:\.\d+)?)%")
_GROUP = late(
    r"^(?P<way>READ|WRITE): (?:bw=(?P<bw>\d+(?:\.\d+)?)(?P<unit>[KMGT]i?B)/s|"
    r"io=\d+(?:\.\d+)?[KMGT]?B, aggrb=(?P<old>\d+(?:\.\d+)?)(?P<old_unit>[KMGT]B)/s)"
)
_OF_GROUP = late(r"^Run status group (?P<group>\d{1,6})\b")
_UNITS = {"nsec": "ns", "usec": "us", "msec": "ms", "sec": "s"}
_SIZES = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}
_MANY = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6}
# It counts latencies in 64 classes for each power of two, and prints the end of a class.
_CLASS_WIDTH = 1 / 64


@dataclass
class _Run(Run):
    """One job, or the jobs that --group_reporting puts together."""

    asked: dict[str, dict[str, Any]] = field(default_factory=dict)  # of the jobs to come, by name
    release: str = ""
    jobs: int = 0  # with a head, in this start so far
    way: str = ""
    ways: set[str] = field(default_factory=set)  # of all its results so far
    percentiles: str = ""  # the unit of those that follow
    flushes: str = ""  # the unit of the percentiles of flushes that follow
    of: dict[str, Any] = field(default_factory=dict)


def _binary(unit: str) -> str:
    """Version 2 writes KB for 2^10 bytes, version 3 KiB."""
    return unit if "i" in unit or unit == "B" else unit.replace("B", "iB")


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if run.flushes and "th=[" in text:
        fio_rest.flushes(reading, text, run.flushes, {"class_width": _CLASS_WIDTH})
        return
    if flushes := fio_rest.begins_flushes(text):
        run.percentiles, run.flushes = "", flushes
        return
    run.flushes = ""
    _judged(reading, text)
    run = reading.run
    if run.line or run.results:
        fio_rest.add(reading, text, run.way)


def _judged(reading: Reading[_Run], text: str) -> None:
    """What rules look at."""
    run = reading.run
    if found := _ASKED.match(text):
        facts: dict[str, Any] = {"operation": found["rw"], "engine": found["engine"]}
        facts |= {"queue_depth": int(found["depth"]), "asked_line": reading.line.number}
        sizes = {
            round(float(size["size"]) * _SIZES[size["prefix"]])
            for size in _SIZE.finditer(found["sizes"])
        }
        if len(sizes) == 1:
            facts["block_bytes"] = sizes.pop()
        run.asked[found["job"]] = facts
    elif found := _VERSION.match(text):
        run.release = found["version"]
    elif found := _JOB.match(text):
        asked, release, jobs = run.asked, run.release, run.jobs + 1
        facts = dict(asked.get(found["job"], {}))
        facts |= {"job": found["job"], "processes": int(found["jobs"])}
        run = reading.begin(facts=facts, version=release, asked=asked, release=release, jobs=jobs)
        if found["error"] != "0":
            run.notes.append(
                f"line {reading.line.number}: the job ended with error {found['error']}"
            )
    elif found := _WAY.match(text):
        _way(reading, found)
    elif found := _LATENCY.match(text):
        for statistic in ("min", "max", "mean", "stddev"):
            value = float(found[statistic]) * _MANY[found[f"k{statistic}"]]
            way = "" if found["kind"] == "sync" else run.way  # the flush behind a write
            name = f"{way} {found['kind']}".strip()
            reading.add(name, value, _UNITS[found["unit"]], statistic, run.of)
        run.percentiles = ""
    elif found := _PERCENTILES.match(text):
        run.percentiles = f"{found['kind']} {_UNITS[found['unit']]}"
    elif run.percentiles and "th=[" in text:
        kind, unit = run.percentiles.split()
        for share, value in _PERCENTILE.findall(text):
            statistic = f"p{float(share):g}"
            of = {**run.of, "class_width": _CLASS_WIDTH}
            reading.add(f"{run.way} {kind}".strip(), float(value), unit, statistic, of)
    elif not run.way and (found := _SAMPLED.match(text)):
        # Of a job whose head was cut off: of reads or writes, nobody knows.
        run = _headless(reading)
        for statistic, name in (("min", "least"), ("max", "most"), ("mean", "mean")):
            reading.add("operation rate", found[name], "operations/s", statistic)
    elif found := _SAMPLED.match(text):
        own = {name: float(found[name]) for name in ("least", "most", "mean", "deviation")}
        sampled = run.facts.setdefault("rate_samples", {})
        sampled[run.way] = {**own, "count": int(found["count"]), "line": reading.line.number}
    elif found := _CPU.match(text):
        run.facts |= {f"cpu_{name}_percent": float(found[name]) for name in ("user", "system")}
        run.facts["cpu_line"] = reading.line.number
    elif found := _DEPTHS.match(text):
        run.facts["one_in_flight_percent"] = float(found["share"])
        run.percentiles = ""
    elif run.jobs and (found := _OF_GROUP.match(text)):
        _of_several(reading, f"all jobs of group {found['group']}")
    elif run.jobs and text.startswith("Disk stats ("):
        _of_several(reading, "all jobs")
    elif found := _GROUP.match(text):
        run = run if run.line else _headless(reading)
        bandwidth, unit = (
            (found["bw"], found["unit"]) if found["bw"] else (found["old"], found["old_unit"])
        )
        reading.add(f"{found['way'].lower()} bandwidth", bandwidth, f"{_binary(unit)}/s", "sum")


def _of_several(reading: Reading[_Run], jobs: str) -> None:
    """What follows is of several jobs: their sums are none of the last job's."""
    run = reading.run
    if run.jobs > 1:
        kept: dict[str, Any] = {"asked": run.asked, "release": run.release, "jobs": run.jobs}
        reading.begin(facts={"sum_of": jobs}, version=run.version, **kept)


def _headless(reading: Reading[_Run]) -> _Run:
    """The last run, which begins in this line for all that is known."""
    run = reading.run
    if not run.line and not run.notes:
        run.notes.append(
            f"line {reading.line.number}: what fio prints above it of this job is missing"
        )
    return run


def _has_command(reading: Reading[_Run], above: int) -> bool:
    """Whether a command stands between a line above and this one."""
    return any(number in reading.typed for number in range(above + 1, reading.line.number))


def _way(reading: Reading[_Run], found: re.Match[str]) -> None:
    """What was read or written, and how fast."""
    run = reading.run
    if run.results and not run.line and _has_command(reading, run.results[-1].line):
        run = reading.begin()
    elif found["way"] in run.ways:
        # A job prints each way once: this is the next one, whose head was cut off.
        jobs = max(1, run.jobs) + 1
        run = reading.begin(asked=run.asked, release=run.release, jobs=jobs)
    run.ways.add(found["way"])
    run.way, run.of, run.percentiles = found["way"], {}, ""
    bandwidth, unit = found["bw"] or found["old_bw"], found["bw_unit"] or found["old_unit"]
    unit = unit or f"{found['bare_unit']}B"
    of: dict[str, Any] = {}
    if moved := _MOVED.search(found["rest"]):
        of = {"elapsed_s": int(moved["ms"]) / 1e3}
    elif ran := _OLD_RUN.search(found["rest"]):
        of = {"elapsed_s": int(ran["ms"]) / 1e3}
    reading.add(f"{run.way} bandwidth", bandwidth, f"{_binary(unit)}/s", "mean", of)
    if moved:
        reading.show(f"{run.way} moved", moved["moved"], moved["unit"])
    elif found["io"]:
        reading.show(f"{run.way} moved", found["io"], _binary(found["io_unit"]))
    iops = found["iops"] or found["old_iops"]
    times = _MANY[found["of_iops"] or found["of_old_iops"] or ""]
    reading.add(f"{run.way} operation rate", float(iops) * times, "operations/s", "mean")


def _json(document: Document) -> list[Report]:
    """One report for each job."""
    body = document.value
    if not isinstance(body, dict) or "fio version" not in body:
        return []
    common, reports = object_at(body, "global options"), []
    for job in objects_at(body, "jobs"):
        options = {**common, **object_at(job, "job options")}
        facts: dict[str, Any] = {"job": str(job.get("jobname", ""))}
        facts |= {"operation": options["rw"]} if "rw" in options else {}
        facts |= {"engine": options["ioengine"]} if "ioengine" in options else {}
        if str(options.get("iodepth", "")).isdecimal():
            facts["queue_depth"] = int(options["iodepth"])
        if is_number(share := at(job, "iodepth_level", "1")):
            facts["one_in_flight_percent"] = share
        results = [
            result
            for way in ("read", "write")
            for result in _of_way(document, way, object_at(job, way))
        ]
        if results:
            version = str(body["fio version"]).removeprefix("fio-")
            report = Report(TOOL, results, document.line_of(job), version, facts)
            if "rw" in options or "readwrite" in options:
                report.asked = ("fio", *(f"--{name}={value}" for name, value in options.items()))
            reports.append(report)
    return reports


def _of_way(document: Document, way: str, figures: dict[str, Any]) -> list[Result]:
    line = document.line_of(figures)
    if not is_number(figures.get("total_ios")) or not figures["total_ios"]:
        return []
    results = []
    if is_number(rate := figures.get("bw_bytes")):
        results.append(Result(f"{way} bandwidth", float(rate), "B/s", line, "mean"))
    if is_number(rate := figures.get("iops")):
        results.append(Result(f"{way} operation rate", float(rate), "operations/s", line, "mean"))
    for kind in ("slat", "clat", "lat"):
        times = object_at(figures, f"{kind}_ns")
        for name, statistic in (
            ("min", "min"),
            ("max", "max"),
            ("mean", "mean"),
            ("stddev", "stddev"),
        ):
            if is_number(value := times.get(name)):
                results.append(Result(f"{way} {kind}", float(value), "ns", line, statistic))
        for share, value in object_at(times, "percentile").items():
            if is_number(value):
                statistic, of = f"p{float(share):g}", {"class_width": _CLASS_WIDTH}
                results.append(Result(f"{way} {kind}", float(value), "ns", line, statistic, of))
    return results


_READER = LineReader(TOOL, _Run, _line)


def read(log: Log) -> list[Report]:
    """One report for each job."""
    return [*_READER(log), *(report for document in log.documents for report in _json(document))]
