"""Which program printed what the general readers read, or what it says as it fails: known by its
banner, by the head of its table, or by the command line right above. The programs stand in
program_names.toml."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from benchbook.explain import general_readers
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Command, Line, Log, Report
from benchbook.explain.readers.common.text.sentences import NOTE

_NEAR_LINES = 15  # from a banner or a command to the first figures
_MOST_LINES = 2000  # that may name a program
_LONGEST = 400
_INTERPRETERS = late(
    r"^(?:python[\d.]*|pypy[\d.]*|node|julia|ruby|perl|bash|sh|zsh|php|Rscript|deno|bun|lua(?:jit)?)$"
)
_SCRIPT = late(r"^[\w./~+-]{1,200}\.(?:py|jl|rb|js|mjs|ts|sh|pl|php|R|lua)$")
_NAME = late(r"^(?=.*[A-Za-z])[A-Za-z0-9_][\w.+-]{1,40}$")
_VALUE = late(r"^[\d.,:/x-]{1,20}$|^[\w-]{1,20}=\S{0,60}$")
# Who says something of another program, and data frames, which have a name already.
_NO_PROGRAMS = ("kernel", "shell", "pandas")
_FENCE = ("```", "~~~")
# Programs that print as the one of the reader does, from whose source they come.
_FORKS = {
    "lammps": ("LIGGGHTS",),
    "redis-benchmark": ("valkey-benchmark", "keydb-benchmark"),
    "wrk": ("wrk2",),
}
# A command without a prompt: a path to a program, and options or names of files.
_PATH = late(r"^(?:\.{1,2}|~)?/(?:[\w.+-]+/)*[A-Za-z][\w.+-]*(?: +[\w./=:,%-]+)*$")
# A command in a sentence: a path from here, or a word with options.
_QUOTED = late(
    r"`(?P<command>(?:sudo )?(?:\./[\w./+-]{1,100}(?: [^`]{0,300})?"
    r"|[A-Za-z][\w.+-]{1,40} -{1,2}[A-Za-z][^`]{0,300}))`"
)
_OF_PARAGRAPH = 4  # lines
_MOST_WORDS = 9  # of a line without a digit that a program may print between: more is prose


class Sign(NamedTuple):
    """What a program is called, where its line does not name it, and the line that only it prints.
    `above`: whether it is a banner, and `near` from how many lines. Without one of the words a log
    has none."""

    name: str
    words: Sequence[str]
    pattern: re.Pattern[str]
    above: bool
    near: int = _NEAR_LINES


class _Named(NamedTuple):
    line: int
    name: str
    version: str
    above: bool
    near: int


@cache
def signs() -> list[Sign]:
    """All programs that are known by a line."""
    text = Path(__file__).with_name("program_names.toml").read_text(encoding="utf-8")
    return [
        Sign(
            own.get("name", name),
            own["words"],
            late(own["pattern"]),
            own.get("above", False),
            own.get("near", _NEAR_LINES),
        )
        for name, own in tomllib.loads(text).items()
    ]


def tell(log: Log, reports: Sequence[Report]) -> None:
    """Give what general readers read the name of the program that printed it, where that is sure:
    nothing of another report stands between."""
    _tell_forks(log, reports)
    if not any(_is_general(report) for report in reports):
        return
    named = _named(log)
    numbers = [own.line for own in named]
    above = 0
    last: _Named | None = None
    for report in sorted(reports, key=lambda each: each.line):
        lines = [result.line for result in report.results] or [report.line]
        first, end = min(lines), max(lines)
        if _is_general(report):
            own = named[bisect_right(numbers, above) : bisect_right(numbers, end)]
            sign = next((banner for banner in reversed(own) if _is_of(banner, report, first)), None)
            if sign is None and last and report.line - above <= _NEAR_LINES and not own:
                sign = last if last.above and last.near == _NEAR_LINES else None
            name = sign.name if sign else _of_command(log, report, first, above)
            if name:
                _tell(report, name, sign.version if sign else "")
            last = sign
        else:
            last = None
        above = max(above, end)


def _tell_forks(log: Log, reports: Sequence[Report]) -> None:
    """Give what the reader of one program read the name of its fork, where the command above, or
    a banner, has that."""
    for tool in {report.tool for report in reports} & _FORKS.keys():
        forks = {name.lower(): name for name in _FORKS[tool]}
        banners = sorted(
            (line.number, name)
            for name in (*forks.values(), tool.upper())
            for line in log.having(f"{name} (")
        )
        for report in reports:
            if report.tool != tool or report.facts.get("printed_by"):
                continue
            place = bisect_left(log.commands, report.line + 1, key=_number_of_command) - 1
            own = program_of(log.commands[place].words) if place >= 0 else ""
            is_told = own.lower() in (tool, *forks)
            if not is_told and (last := bisect_left(banners, (report.line, ""))):
                own = banners[last - 1][1]
            if own.lower() in forks:
                report.facts["printed_by"] = forks[own.lower()]


def tell_failed(log: Log, reports: Sequence[Report]) -> None:
    """Give what a program said as it failed the name of the program, whose banner is above."""
    named = [own for own in _named(log) if own.above]
    for report in reports:
        if report.results or report.tool in _NO_PROGRAMS or report.facts.get("printed_by"):
            continue
        names = {own.name: own for own in named if own.line < report.line}
        if len(names) == 1:
            [own] = names.values()
            if own.name.lower() != report.tool.lower():
                report.facts["printed_by"] = own.name
            report.version = report.version or own.version


def _is_general(report: Report) -> bool:
    is_named = report.tool in _NO_PROGRAMS
    return (
        report.tool in general_readers.TOOLS and not is_named and not report.facts.get("printed_by")
    )


def _is_of(own: _Named, report: Report, first: int) -> bool:
    """Whether a line is of a report: its banner near above it, its head or a row."""
    if own.above:
        return first - own.line <= own.near
    return own.line >= min(report.line, first) - 1


def _tell(report: Report, name: str, version: str) -> None:
    report.facts["printed_by"] = name
    report.version = report.version or version
    if NOTE in report.notes:
        report.notes[report.notes.index(NOTE)] = (
            f"No reader knows these lines of {name}: the figures with units are shown as they "
            "stand in the text."
        )


def _named(log: Log) -> list[_Named]:
    """The lines that name their program, in their order."""
    found: list[_Named] = []
    for sign in signs():
        for line in log.having(*sign.words)[:_MOST_LINES]:
            match = sign.pattern.search(line.text[:_LONGEST].strip())
            if match:
                version = match.groupdict().get("version") or ""
                name = match.groupdict().get("name") or sign.name
                found.append(_Named(line.number, name, version, sign.above, sign.near))
    return sorted(found)


def _of_command(log: Log, report: Report, first: int, above: int) -> str:
    """The program of the command right above a report; "" where that is not sure."""
    end = bisect_left(log.lines, first, key=_number)
    begin = max(bisect_right(log.lines, above, key=_number), end - _NEAR_LINES)
    at = bisect_left(log.commands, report.line + 1, key=lambda command: command.number) - 1
    typed = log.commands[at] if at >= 0 else None
    for place in range(end - 1, begin - 1, -1):
        line = log.lines[place]
        text = line.text.strip()
        if typed and typed.number == line.number:
            return program_of(typed.words)
        if line.number < report.line and len(text) < _LONGEST and _PATH.match(text):
            return program_of(text.split())  # without its prompt
        if text.startswith(_FENCE):
            return _of_paragraph(log, place)
        if _is_prose(text):
            return ""
    return ""


def _of_paragraph(log: Log, fence: int) -> str:
    """The program of the one command in the paragraph right above a fence; "" where none is."""
    lines = [line.text for line in log.lines[max(0, fence - _OF_PARAGRAPH) : fence]]
    while lines and not lines[-1].strip():
        lines.pop()
    blank = next((at for at in range(len(lines) - 1, -1, -1) if not lines[at].strip()), -1)
    text = " ".join(line[:_LONGEST] for line in lines[blank + 1 :])
    commands = {found["command"] for found in _QUOTED.finditer(text)}
    return program_of(commands.pop().split()) if len(commands) == 1 else ""


def _number(line: Line) -> int:
    return line.number


def _number_of_command(command: Command) -> int:
    return command.number


def _is_prose(text: str) -> bool:
    """Whether a line between a command and the figures is none that a program prints."""
    return len(text.split()) > _MOST_WORDS and not any(map(str.isdigit, text))


@cache
def _words() -> Mapping[str, frozenset[str]]:
    """The words that begin a command line and are no benchmark, by what they do."""
    text = Path(__file__).with_name("command_words.toml").read_text(encoding="utf-8")
    return {kind: frozenset(words) for kind, words in tomllib.loads(text).items()}


def program_of(words: Sequence[str]) -> str:
    """The program that a command line starts, behind what only starts it; "" where that is not
    sure, or it shows or builds something."""
    ends = [place for place, word in enumerate(words) if word == "&&" or word[-1:] == ";"]
    own = list(words[ends[-1] + 1 :] if ends else words)
    pipe = next((place for place, word in enumerate(own) if word == "|"), len(own))
    name = _program(own[:pipe])
    return "" if name in _words()["others"] or not _NAME.match(name) else name


def _program(words: Sequence[str]) -> str:
    """The word of a command line that is its program; "" where none is for sure."""
    is_started = False
    for place, word in enumerate(words):
        name = word.rpartition("/")[2].removesuffix(".exe")
        behind = words[place + 1 :]
        if is_started and (word.startswith("-") or _VALUE.match(word)):
            continue
        if name in _words()["starters"]:
            is_started = True
        elif name in _words()["of_ranks"]:  # whose options may have any value
            path = next(
                (at for at, own in enumerate(behind) if own.startswith((".", "/", "~"))), -1
            )
            is_plain = len(behind) > 2 and behind[0] in ("-n", "-np") and behind[2][:1] != "-"
            at = path if path >= 0 else 2 if is_plain else -1
            return _program(behind[at:]) if at >= 0 else ""
        elif _INTERPRETERS.match(name):
            script = next((own for own in behind if not own.startswith("-")), "")
            return script.rpartition("/")[2] if _SCRIPT.match(script) else ""
        else:
            return "" if "=" in word else name
    return ""
