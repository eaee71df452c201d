"""What shells and GNU time print of a command: elapsed, user and system time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Command, Log, Report
from benchbook.explain.readers.common.command_lines import last_above, option
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "time"
_TIME = r"(?:\d{1,4}h ?)?(?:\d{1,6}m ?)?\d{1,9}(?:[.,]\d{1,6})?s?"
# bash, ksh and dash: three lines, or all in one.
_LINE = late(rf"^(?P<name>real|user|sys)\s+(?P<time>{_TIME})`?$")
_ALL = late(
    rf"\breal\s+(?P<real>{_TIME})[ ,;]+user\s+(?P<user>{_TIME})(?:[ ,;]+sys\s+(?P<sys>{_TIME}))?$"
)
_ZSH = late(
    r"^(?P<label>.*?)(?P<user>\d+[.,]\d+)s user (?P<sys>\d+[.,]\d+)s system \d+% cpu "
    r"(?P<real>(?:\d+:){0,2}\d+(?:[.,]\d+)?) total$"
)
_GNU = late(
    r"^(?P<user>\d+\.\d+)user (?P<sys>\d+\.\d+)system (?P<real>(?:\d+:){1,2}\d+(?:\.\d+)?)elapsed "
)
_CSH = late(r"^(?P<user>\d+\.\d+)u (?P<sys>\d+\.\d+)s (?P<real>(?:\d+:){1,2}\d+\.\d+) \d+\.\d+%")
# R's system.time(): its heads, and a row of three numbers below.
_R_HEAD = late(r"^user +system +elapsed$")
_R_ROW = late(
    r"^(?P<user>\d{1,9}(?:\.\d{1,6})?) +(?P<sys>\d{1,9}(?:\.\d{1,6})?) +"
    r"(?P<real>\d{1,9}(?:\.\d{1,6})?)$"
)
_BSD = late(
    r"^(?:(?P<label>[\w./-][^\n:]{0,60}?):? +)?(?P<real>\d+\.\d+) real +(?P<user>\d+\.\d+) user +"
    r"(?P<sys>\d+\.\d+) sys$"
)
_WHOLE = (_ALL, _ZSH, _GNU, _CSH, _BSD)  # lines with all three
_VERBOSE = {
    "User time (seconds)": "user", "System time (seconds)": "sys",
    "Elapsed (wall clock) time (h:mm:ss or m:ss)": "real",
}  # fmt: skip
_OF_VERBOSE = {
    "Percent of CPU this job got": ("CPU share", "%", 1),
    "Maximum resident set size (kbytes)": ("maximum resident set", "KiB", 1),
    "Major (requiring I/O) page faults": ("major faults", "faults", 1),
    "Minor (reclaiming a frame) page faults": ("minor faults", "faults", 1),
    "Voluntary context switches": ("voluntary switches", "switches", 1),
    "Involuntary context switches": ("involuntary switches", "switches", 1),
    "File system inputs": ("blocks read", "blocks", 1),
    "File system outputs": ("blocks written", "blocks", 1),
    "Swaps": ("swaps", "1", 1),
    "Exit status": ("exit status", "1", 1),
}
# Of /usr/bin/time -l by BSD, one a line, and what GNU's has behind its three times.
_OF_BSD = {
    "maximum resident set size": ("maximum resident set", "B"),
    "peak memory footprint": ("peak of its memory", "B"),
    "page reclaims": ("minor faults", "faults"),
    "page faults": ("major faults", "faults"),
    "swaps": ("swaps", "1"),
    "block input operations": ("blocks read", "blocks"),
    "block output operations": ("blocks written", "blocks"),
    "messages sent": ("messages sent", "messages"),
    "messages received": ("messages received", "messages"),
    "voluntary context switches": ("voluntary switches", "switches"),
    "involuntary context switches": ("involuntary switches", "switches"),
    "instructions retired": ("instructions", "1"),
    "cycles elapsed": ("cycles", "1"),
}
_BSD_ROW = late(r"^(?P<count>\d{1,18}) {2,}(?P<what>[a-z][a-z ]{4,40})$")
_GNU_SET = late(r" (?P<share>\d{1,7})%CPU \(\d+avgtext\+\d+avgdata (?P<set>\d+)maxresident\)k")
_GNU_ROW = late(
    r"^(?P<read>\d+)inputs\+(?P<written>\d+)outputs \((?P<major>\d+)major\+(?P<minor>\d+)minor\)"
    r"pagefaults (?P<swaps>\d+)swaps$"
)
_GNU_NAMES = {
    "read": ("blocks read", "blocks"), "written": ("blocks written", "blocks"),
    "major": ("major faults", "faults"), "minor": ("minor faults", "faults"),
    "swaps": ("swaps", "1"),
}  # fmt: skip
_ZSH_SHARE = late(r" (?P<share>\d{1,7})% cpu ")
_TIMED = late(r'Command being timed: "(?P<command>.{1,2000})"$')
_FISH = late(
    r"^(?P<name>Executed in|usr time|sys time)\s+(?P<value>\d+(?:\.\d+)?) "
    r"(?P<unit>secs|millis|micros|mins)\b"
)
_FISH_NAMES = {"Executed in": "real", "usr time": "user", "sys time": "sys"}
_FISH_UNITS = {"secs": 1.0, "millis": 1e-3, "micros": 1e-6, "mins": 60.0}
_NAMES = {"real": "time elapsed", "user": "user time", "sys": "system time"}
_LEAST = 2  # of the three: one line alone may be of anything
# What stands above tells how many threads there were.
_WORKERS = r"threads?|cores?|CPUs?|procs?|processes|workers|ranks"
_COUNTED = late(rf"(?:^|[\s(])(?P<count>\d{{1,4}})[ -](?:{_WORKERS})\b", re.I)
_NEAR, _FAR = 4, 12  # lines
_BUILT = late(
    r"^Finished .{1,80} target\(s\) in (?:(?P<minutes>\d{1,3})m )?(?P<seconds>\d{1,4}(?:\.\d+)?)s$"
)
_TYPED = late(r"^time +(?P<command>(?![A-Z])[\w./~-]{2,200} .{0,20}-\S.{0,1000})$")
_VARIABLE = late(r"\w*(?:THREADS|CONCURRENCY|NPROCS?|WORKERS)")
_OPTIONS = ("--threads", "--num-threads", "--num_threads", "-np", "--nproc", "--jobs", "-j")


@dataclass
class _Run(Run):
    """One timed command; `counted` is what the lines above say of its threads, and where."""

    counted: tuple[int, int] = (0, 0)
    built: tuple[float, int] = (0.0, 0)  # seconds, and the line that says it
    typed: tuple[str, int] = ("", 0)  # `time make` as text shows it, without a prompt
    is_headed: bool = False  # whether the line above holds the names of R's columns

    def finish(self) -> bool:
        """Keep it if it has two of its times or more."""
        count, line = self.counted
        if count and self.line - line <= _NEAR:
            self.facts["threads"] = count
        seconds, line = self.built
        if seconds and 0 < self.line - line <= _FAR:
            self.facts |= {"built_s": seconds, "built_line": line}
        command, line = self.typed
        if command and 0 < self.line - line <= _FAR:
            self.facts.setdefault("command", command)
        return len(self.results) >= _LEAST and any(own.unit == "s" for own in self.results)


def read(log: Log) -> list[Report]:
    """One report for each timed command, with the threads that its command or the text names."""
    reports = _READER(log)
    counts = (list(_asked(command, is_last=False)) for command in log.commands)
    exported = [*accumulate(counts, lambda before, own: own[-1:] or before, initial=list[int]())]
    for report in reports:
        command = last_above(log.commands, report.line)
        is_near = command is not None and report.line - command.number <= 2 * _NEAR
        if command is not None and is_near and command.words != ("user", "system", "elapsed"):
            report.facts.setdefault("command", " ".join(command.words))
        if threads := _threads(log, report.line, exported):
            report.facts["threads"] = threads
    return reports


def _threads(log: Log, line: int, exported: Sequence[Sequence[int]]) -> int:
    """How many threads the commands above a line ask for; 0 where they do not. `exported`: the last
    count that is exported by so many commands, if any."""
    above = log.commands_above(line)
    last = log.commands[above - 1 : above]
    counts = [*exported[above], *(count for own in last for count in _asked(own, is_last=True))]
    return counts[-1] if counts else 0


def _asked(command: Command, *, is_last: bool) -> Iterator[int]:
    """The counts that a command asks for: an exported variable lasts, the rest is its own."""
    set_here = [
        tuple(word.split("=", 1))
        for word in command.words[1:]
        if command.words[0] == "export"
        if "=" in word
    ]
    own = list(command.environment.items()) if is_last else []
    for name, value in [*set_here, *own]:
        if _VARIABLE.fullmatch(name) and value.isdecimal():
            yield int(value)
    if is_last and (value := option(command, *_OPTIONS)).isdecimal():
        yield int(value)


def _line(reading: Reading[_Run], text: str) -> None:
    if found := next((found for form in _WHOLE if (found := form.search(text))), None):
        _whole(reading, found)
    elif _R_HEAD.match(text):
        reading.begin().is_headed = True
    elif reading.run.is_headed:
        reading.run.is_headed = False
        if found := _R_ROW.match(text):
            _whole(reading, found)
    elif found := _TIMED.search(text):
        reading.begin(facts={"command": found["command"]})
    elif found := _LINE.match(text):
        _part(reading, found["name"], _seconds(reading, found["time"]))
    elif found := _FISH.match(text):
        value = reading.number(found["value"])
        seconds = None if value is None else value * _FISH_UNITS[found["unit"]]
        _part(reading, _FISH_NAMES[found["name"]], seconds)
    elif (label := text.rpartition(": ")[0]) in _VERBOSE:
        _part(reading, _VERBOSE[label], _seconds(reading, text.rpartition(": ")[2]))
    elif label in _OF_VERBOSE and reading.run.line:
        name, unit, size = _OF_VERBOSE[label]
        value = reading.number(text.rpartition(": ")[2].removesuffix("%"))
        reading.add(name, None if value is None else value * size, unit)
    elif reading.run.line and (found := _BSD_ROW.match(text)) and found["what"] in _OF_BSD:
        name, unit = _OF_BSD[found["what"]]
        reading.add(name, found["count"], unit)
    elif reading.run.line and (found := _GNU_ROW.match(text)):
        for key, (name, unit) in _GNU_NAMES.items():
            reading.add(name, found[key], unit)
    elif text.startswith("Finished ") and (found := _BUILT.match(text)):
        seconds = 60 * int(found["minutes"] or 0) + float(found["seconds"])
        reading.above["built"] = (seconds, reading.line.number)
    elif text.startswith("time ") and (found := _TYPED.match(text)):
        reading.above["typed"] = (found["command"], reading.line.number)
    elif found := _COUNTED.search(text):
        reading.above["counted"] = (int(found["count"]), reading.line.number)


def _part(reading: Reading[_Run], name: str, seconds: float | None) -> None:
    """One of three lines: another command begins where it has this one already."""
    run = reading.run
    names = {result.name for result in run.results}
    is_far = run.results and reading.line.number - run.results[-1].line > _NEAR
    if not run.line or _NAMES[name] in names or is_far:
        reading.begin()
    reading.add(_NAMES[name], seconds, "s")


def _whole(reading: Reading[_Run], found: re.Match[str]) -> None:
    label = (found.groupdict().get("label") or "").strip()
    reading.begin(**({"facts": {"command": label}} if label else {}))
    for name, called in _NAMES.items():
        if found[name]:
            reading.add(called, _seconds(reading, found[name]), "s")
    if share := _GNU_SET.search(found.string) or _ZSH_SHARE.search(found.string):
        reading.add("CPU share", share["share"], "%")
        if "set" in share.groupdict():
            reading.add("maximum resident set", share["set"], "KiB")


def _seconds(reading: Reading[_Run], text: str) -> float | None:
    """`1m28.974s`, `1:02.33` or plain seconds."""
    parts = text.replace(",", ".").replace(" ", "")
    if ":" in parts:
        numbers: list[Any] = [reading.number(part) for part in parts.split(":")]
        if None in numbers:
            return None
        return float(sum(n * 60**power for power, n in enumerate(reversed(numbers))))
    seconds = 0.0
    for mark, size in (("h", 3600.0), ("m", 60.0)):
        before, sign, after = parts.partition(mark)
        if sign and before.isdecimal():
            seconds, parts = seconds + size * int(before), after
    rest = parts.removesuffix("s")
    return seconds + float(rest) if rest else None


def _uncommented(text: str) -> str:
    """A line without the mark of a comment or of a quotation: people keep times with the code."""
    return text.strip().lstrip("#/*>").strip()


_READER = LineReader(TOOL, _Run, _line, clean=_uncommented)
