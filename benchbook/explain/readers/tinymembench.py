"""tinymembench 0.2 to 0.4 and what was made of it: copies, fills and random reads of one core.

A rate of a copy counts the copied bytes once, in units of 10^6; a time is what a read takes longer
than one from the first cache, so that 0.0 ns there are no fault.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Line, Log, Report, Result
from benchbook.explain.printed_digits import printed_lines, unremarked

TOOL = "tinymembench"
LOOKS_FOR = "tinymembench: 'C copy backwards : … MB/s', 'block size : single random read / dual…'"
WORDS = (
    "tinymembench v",
    "C copy",
    "C 2-pass",
    "C fill",
    "standard mem",
    "libc mem",
    " random read",
    " ns ",
)
_BANNER = late(r"\btinymembench v(?P<version>\d[\w.]*)")
# How often it was repeated, and the deviation, are behind the rate; others add threads.
_RATE = late(
    r"^(?P<name>(?:C|standard|libc|[A-Z][A-Z0-9]{1,9})(?: [\w/+-]{1,24}){1,6}"
    r"(?: \([^()]{1,40}\))?)\s*:\s+(?P<rate>\d[\d.,]*) MB/s"
    r"(?: +\((?:(?P<count>\d{1,3})(?=[,)])(?:, )?)?(?:(?P<deviation>\d[\d.,]*)%)?\))?"
    r"(?: +@ (?P<threads>\d{1,4}) threads?)?$"
)
_VERB = late(r"\b(?:copy|fill|read|fetch|scan|mem(?:cpy|set)|write)\b")
_TITLE = late(
    r"^block size : (?:single )?random read(?: / (?P<dual>dual random read))?"
    r"(?:, \[(?P<pages>\w{1,30})\])?$"
)
_READ = late(
    r"^(?P<size>\d{3,11})\s*:\s+(?P<single>\d[\d.,]*) ns(?:\s+/\s+(?P<dual>\d[\d.,]*) ns)?$"
)
_ARRAY_BYTES = 32 << 20  # source and destination have as many each, in all versions
_MOST_RUNS = 10  # of a test; it ends sooner where they are alike
_FILLS = late(r"\b(?:fill|memset|read|fetch|scan)\b")  # what goes over one array


@dataclass
class _Run:
    """One start."""

    line: int
    version: str = ""
    results: list[Result] = field(default_factory=list)
    done: set[str] = field(default_factory=set)  # each of its tests and sizes comes once
    pages: str = ""  # how the buffers of random reads were asked for


def read(log: Log) -> list[Report]:
    """One report for each start of tinymembench."""
    runs = [_Run(0)]
    for line in printed_lines(log):
        text = unremarked(line.text.strip())
        if "tinymembench v" in text and (found := _BANNER.search(text)):
            runs.append(_Run(line.number, found["version"].rstrip(".")))
        elif " MB/s" in text and (found := _RATE.match(text)):
            _rate(log, line, found, runs)
        elif "random read" in text and (found := _TITLE.match(text)):
            pages = found["pages"] or ""
            _of(runs, line, f"title {pages}").pages = pages
        elif " ns" in text and (found := _READ.match(text)):
            _reads(log, line, found, runs)
    return [
        Report(TOOL, one.results, one.line, one.version, {"threads": 1}, _notes(one))
        for one in runs
        if one.results and _is_its_own(one)
    ]


def _is_its_own(run: _Run) -> bool:
    """Whether something is there that no other tool prints: a line alone may be of any."""
    own = ("C copy", "C 2-pass", "C fill", "standard mem", "libc mem", "title")
    return bool(run.version) or any(one.startswith(own) or " ns " in one for one in run.done)


def _notes(run: _Run) -> list[str]:
    """What a reader of the table has to know."""
    if not any(one.unit == "ns" for one in run.results):
        return []
    return ["Its times are what a read takes longer than one from the first cache (L1)."]


def _of(runs: list[_Run], line: Line, test: str) -> _Run:
    """The run that a test is of: another one where the last one has it already."""
    run = runs[-1]
    if test in run.done:
        run = _Run(line.number, run.version)
        runs.append(run)
    run.line = run.line or line.number
    run.done.add(test)
    return run


def _rate(log: Log, line: Line, found: re.Match[str], runs: list[_Run]) -> None:
    """A rate: the best of its repetitions, with their deviation where it is worth a word."""
    name, value = found["name"].rstrip(), log.number(found["rate"])
    if value is None or not _VERB.search(name):
        return
    run = _of(runs, line, name)
    arrays = 1 if _FILLS.search(name) else 2
    of: dict[str, Any] = {}
    if "framebuffer" not in name:
        of = {"array_bytes": _ARRAY_BYTES, "working_set_bytes": arrays * _ARRAY_BYTES}
    if found["count"]:
        of["repetitions"] = int(found["count"])
    if found["threads"]:
        of["threads"] = int(found["threads"])
    run.results.append(Result(name, value, "MB/s", line.number, "best", of))
    deviation = log.number(found["deviation"]) if found["deviation"] else None
    if deviation is not None:
        most = {"repetitions_at_most": int(found["count"] or _MOST_RUNS)}
        run.results.append(Result(name, deviation, "%", line.number, "stddev", most))


def _reads(log: Log, line: Line, found: re.Match[str], runs: list[_Run]) -> None:
    """A row of random reads, one at a time and two at a time: the shortest of its repetitions."""
    size = int(found["size"])
    if size & (size - 1):
        return
    run = _of(runs, line, f"{size} ns {runs[-1].pages}")
    of = {"working_set_bytes": size, "access": "random", "longer_than": "L1"}
    if run.pages:
        of["pages"] = run.pages
    for name in ("single", "dual"):
        value = log.number(found[name]) if found[name] else None
        if value is not None:
            run.results.append(
                Result(f"{name} random read", value, "ns", line.number, "min", dict(of))
            )
