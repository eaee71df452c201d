"""fio's terse output (--minimal, --output-format=terse), version 3: a line of figures for a job."""

from __future__ import annotations

from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log, Report, Result

TOOL = "fio"
_LINE = late(r"(?:^|[`'\" ])(?P<cells>3;fio-[\w.-]{1,40};[^;`]{0,200};\d+;\d+;\d[^`'\" ]+)")
_LONGEST, _MOST = 6000, 5000  # characters of a line; lines
# Where the figures of a direction begin, and the percentiles among them.
_WAYS = {"read": 5, "write": 46}
_SPREAD = ("min", "max", "mean", "stddev")
_KINDS = {"slat": 4, "clat": 8, "lat": 32}
_PERCENTILES = slice(12, 32)
_CPU = 87


def read(log: Log) -> list[Report]:
    """One report for each job."""
    reports = []
    for line in log.having("3;fio-")[:_MOST]:
        found = _LINE.search(line.text[:_LONGEST])
        cells = found["cells"].split(";") if found else []
        if len(cells) > _CPU:
            results = [own for way in _WAYS for own in _of_way(cells, way, line.number)]
            facts: dict[str, Any] = {"job": cells[2]}
            for name, cell in (("user", _CPU), ("system", _CPU + 1)):
                if (share := _number(cells[cell])) is not None:
                    facts[f"cpu_{name}_percent"] = share
            facts["cpu_line"] = line.number
            if results:
                version = cells[1].removeprefix("fio-")
                reports.append(Report(TOOL, results, line.number, version, facts))
    return reports


def _of_way(cells: list[str], way: str, line: int) -> list[Result]:
    """The figures of reads or writes: KiB, KiB/s, requests a second, ms, and times in us."""
    own = cells[_WAYS[way] : _WAYS[way] + 41]
    moved, rate, count, took = map(_number, own[:4])
    if not moved or rate is None or count is None:
        return []
    of: dict[str, Any] = {"elapsed_s": took / 1e3} if took else {}
    results = [
        Result(f"{way} bandwidth", rate, "KiB/s", line, "mean", of),
        Result(f"{way} operation rate", count, "operations/s", line, "mean"),
    ]
    for kind, begin in _KINDS.items():
        times = list(map(_number, own[begin : begin + 4]))
        if any(times):
            results += [
                Result(f"{way} {kind}", time, "us", line, statistic)
                for statistic, time in zip(_SPREAD, times, strict=True)
                if time is not None
            ]
    for cell in own[_PERCENTILES]:
        share, equals, time = cell.partition("%=")
        value, percent = _number(time), _number(share)
        if equals and value and percent:
            own_of = {"class_width": 1 / 64}
            results.append(Result(f"{way} clat", value, "us", line, f"p{percent:g}", own_of))
    return results


def _number(text: str) -> float | None:
    digits = text.rstrip("%")
    return float(digits) if digits.replace(".", "", 1).isdecimal() and len(digits) < 30 else None
