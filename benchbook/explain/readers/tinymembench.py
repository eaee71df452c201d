"""tinymembench 0.2 to 0.4 and what was made of it: copies, fills and random reads of one core.

A rate of a copy counts the copied bytes once, in units of 10^6; a time is what a read takes longer
than one from the first cache, so that 0.0 ns there are no fault.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.printed_digits import unremarked
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "tinymembench"
_BANNER = late(r"\btinymembench v(?P<version>\d[\w.]*\b)")
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
class _Run(Run):
    """One start; `done` are its tests and sizes, each of which comes once."""

    done: set[str] = field(default_factory=set)
    pages: str = ""  # how the buffers of random reads were asked for

    def finish(self) -> bool:
        """Only what has something that no other tool prints: a line alone may be of any."""
        self.facts = {"threads": 1}
        if any(result.unit == "ns" for result in self.results):
            self.notes.append(
                "Its times are what a read takes longer than one from the first cache (L1)."
            )
        own = ("C copy", "C 2-pass", "C fill", "standard mem", "libc mem", "title")
        is_own = any(test.startswith(own) or " ns " in test for test in self.done)
        return bool(self.results and (self.version or is_own))


def _run_of(reading: Reading[_Run], test: str) -> _Run:
    """The run that a test is of: another one where the last one has it already."""
    run = reading.run
    if test in run.done:
        run = reading.begin(version=run.version)
    run.line = run.line or reading.line.number
    run.done.add(test)
    return run


def _rate(reading: Reading[_Run], found: re.Match[str]) -> None:
    """A rate: the best of its repetitions, with their deviation where it is worth a word."""
    name, value = found["name"].rstrip(), reading.number(found["rate"])
    if value is None or not _VERB.search(name):
        return
    _run_of(reading, name)
    arrays = 1 if _FILLS.search(name) else 2
    of: dict[str, Any] = {}
    if "framebuffer" not in name:
        of = {"array_bytes": _ARRAY_BYTES, "working_set_bytes": arrays * _ARRAY_BYTES}
    if found["count"]:
        of["repetitions"] = int(found["count"])
    if found["threads"]:
        of["threads"] = int(found["threads"])
    reading.add(name, value, "MB/s", "best", of)
    most = {"repetitions_at_most": int(found["count"] or _MOST_RUNS)}
    reading.add(name, found["deviation"], "%", "stddev", most)


def _reads(reading: Reading[_Run], found: re.Match[str]) -> None:
    """A row of random reads, one at a time and two at a time: the shortest of its repetitions."""
    size = int(found["size"])
    if size & (size - 1):
        return
    run = _run_of(reading, f"{size} ns {reading.run.pages}")
    of = {"working_set_bytes": size, "access": "random", "longer_than": "L1"}
    if run.pages:
        of["pages"] = run.pages
    for name in ("single", "dual"):
        reading.add(f"{name} random read", found[name], "ns", "min", of)


def _line(reading: Reading[_Run], text: str) -> None:
    if found := _RATE.match(text):
        _rate(reading, found)
    elif found := _TITLE.match(text):
        pages = found["pages"] or ""
        _run_of(reading, f"title {pages}").pages = pages
    elif found := _READ.match(text):
        _reads(reading, found)


read = LineReader(TOOL, _Run, _line, _BANNER, clean=lambda text: unremarked(text.strip()))
