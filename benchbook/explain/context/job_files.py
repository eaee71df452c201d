"""What a job file of fio asks for that the log shows above its run: as if the command had it."""

from __future__ import annotations

from bisect import bisect_left

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log, Report

_SECTION = late(r"^\s{0,8}\[(?P<name>[\w./ -]{1,60})\]\s*$")
_OPTION = late(r"^\s{0,8}(?P<name>[a-z][a-z_]{1,30})(?:=(?P<value>\S[^#;]{0,200}?))?\s*$")
_COMMENT = (";", "#")
_WORDS = ("rw=", "readwrite=", "ioengine=", "iodepth=")
_MOST = 200  # lines of a file
_OF_CACHE = {"direct", "buffered"}
_NEEDED = ("rw", "readwrite", "ioengine", "iodepth", "bs", "blocksize")


def tell(log: Log, reports: list[Report]) -> None:
    """Give each run of fio the options of the last job file above it, where its command names no
    operation itself; not where two jobs of the file contradict each other."""
    runs = [report for report in reports if report.tool == "fio"]
    if not runs or not any(map(log.has, _WORDS)):
        return
    files = _files(log)
    ends = [line for line, _ in files]
    for report in runs:
        if any(word.lstrip("-").startswith(("rw", "readwrite")) for word in report.asked):
            continue
        if above := bisect_left(ends, report.line):
            own = [f"--{name}={value}" for name, value in files[above - 1][1].items()]
            report.asked = ("fio", *own)
            report.facts["options_of"] = "the job file above"


def _files(log: Log) -> list[tuple[int, dict[str, str]]]:
    """The job files that the log shows: the line where each ends, and its options."""
    files: list[tuple[int, dict[str, str]]] = []
    options: dict[str, str] = {}
    last, count, twice = 0, 0, set[str]()
    inside = False
    for line in log.like(_may_be):
        text = line.text
        if inside and line.number > last + 3:  # other lines follow it
            _add(files, last, options, twice)
            options, twice, inside, count = {}, set(), False, 0
        if _SECTION.match(text):
            inside, last = True, line.number
        elif inside and count < _MOST and (match := _OPTION.match(text)):
            name, value = match["name"], (match["value"] or "1").strip()
            if options.get(name, value) != value:
                twice.add(name)
            options[name] = value
            last, count = line.number, count + 1
        elif inside and text.lstrip().startswith(_COMMENT):
            last = line.number
    _add(files, last, options, twice)
    return files


def _add(
    files: list[tuple[int, dict[str, str]]], line: int, options: dict[str, str], twice: set[str]
) -> None:
    sure = {name: value for name, value in options.items() if name not in twice}
    if _OF_CACHE.isdisjoint(twice) and any(name in sure for name in _NEEDED):
        files.append((line, sure))


def _may_be(text: str) -> bool:
    plain = text.strip()
    return plain.startswith(("[", *_COMMENT)) or "=" in plain or plain.isidentifier()
