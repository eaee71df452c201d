"""Command lines whose options contradict what the output below them counts: that output is of
another command, so nothing of them may be said of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from benchbook.explain.context.counts_of_commands import SETTINGS, STREAMS, Setting, settings_of
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import SUM, Command, Log, Report, Result
from benchbook.explain.readers.common.command_lines import last_above

MORE = 1.5  # counts above so many times the one asked for contradict it: some tools do a few more
_ENDS = frozenset(("|", "||", "&&", ";", ">", ">>", "2>&1", "&", "--"))
_WHOLE = late(r"=?0*([1-9]\d{0,11})")
# Two programs whose outputs differ: the one that prints so, by tool, and the one that never does.
_OTHER_FORMS: dict[str, tuple[str, ...]] = {"iperf": ("iperf", "iperf3")}
_UDP = ("iperf", "iperf3")
_RATE = late(r"=?(\d{1,12}(?:\.\d{1,6})?)([kKmMgG]?)(?:/\d{1,6})?")
_SIZES = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9}


class Contradiction(NamedTuple):
    """A command line that the report below it is not of. `option`: as the command has it; "" where
    another program prints such a report."""

    command: Command
    report: Report
    program: str
    option: str = ""
    asked: float = 0
    counted: float = 0.0
    what: str = ""
    result: Result | None = None
    is_last: bool = False  # no other command stands between them


def contradictions(log: Log, reports: Sequence[Report]) -> list[Contradiction]:
    """The commands of a log that the reports below them contradict, each with the first of those.

    Decided by counts that a tool takes from its command, and prints.
    """
    started = _by_program(log.commands)
    found: dict[int, Contradiction] = {}
    for report in reports if started else ():
        line = report.results[0].line if report.results else report.line
        for own in _of_report(started, report, line):
            if own.command.number not in found:
                is_last = last_above(log.commands, line) is own.command
                found[own.command.number] = own._replace(is_last=is_last)
    return list(found.values())


def limited(log: Log, found: Sequence[Contradiction]) -> Log:
    """The log whose commands end above the first report that contradicts them."""
    ends = {own.command.number: own.report.line - 1 for own in found}
    commands = tuple(
        replace(command, holds_to=max(ends[command.number], command.number))
        if command.number in ends
        else command
        for command in log.commands
    )
    return replace(log, commands=commands, index=log.kinds)


def _program(word: str) -> str:
    return word.replace("\\", "/").rpartition("/")[2].removesuffix(".exe")


def _by_program(commands: Sequence[Command]) -> dict[str, list[Command]]:
    """By program, the commands that start it once, in their order."""
    wanted = {program for setting in SETTINGS for program in setting.programs}
    started: dict[str, list[Command]] = {}
    for command in commands:
        programs = [name for word in command.words if (name := _program(word)) in wanted]
        for name in programs if len(set(programs)) == len(programs) else ():
            started.setdefault(name, []).append(command)
    return started


def _of_report(
    started: dict[str, list[Command]], report: Report, line: int
) -> Iterator[Contradiction]:
    others = _OTHER_FORMS.get(report.tool, ("",))
    if (last := _last(started, others, line)) and last[1] == others[-1]:
        yield Contradiction(last[0], report, last[1])
        return
    if report.facts.get("protocol") == "udp" and report.tool in _UDP:
        yield from _of_rate(started, report, line)
    for setting in settings_of(report.tool):
        last = _last(started, setting.programs, line)
        if last is None or not (counted := setting.counted(report)):
            continue
        command, program = last
        words = _words_of(command, program)
        if program == "fio" and not _has_one_job(words):
            continue
        if not _has_any(words, setting.unless) and (asked := _asked(words, setting)):
            value, result = counted
            if _contradicts(asked[1], value, is_same=setting.is_same):
                own = (command, report, program, *asked, value, setting.what, result)
                yield Contradiction(*own)


def _of_rate(
    started: dict[str, list[Command]], report: Report, line: int
) -> Iterator[Contradiction]:
    """Rates that are all above the one at which a command sends datagrams."""
    rates = [own for own in report.called("throughput") if own.statistic == "total" and own.rate]
    if not rates or (last := _last(started, (report.tool,), line)) is None:
        return
    words = _words_of(*last)
    streams = _asked(words, STREAMS)
    if _has_any(words, STREAMS.unless):
        return
    sums = [own for own in rates if own.of.get("stream") == SUM] or rates
    result = min(sums, key=lambda own: own.rate or 0.0)
    for word, following in zip(words, [*words[1:], ""], strict=True):
        rest = word[2:] if word.startswith("-b") else None
        if rest is not None and (found := _RATE.fullmatch(rest or following)):
            each = float(found[1]) * _SIZES[found[2].lower()]
            asked, counted = each * (streams[1] if streams else 1), 8 * (result.rate or 0.0)
            if asked and counted > MORE * asked:
                option = word if rest else f"{word} {following}"
                own = (option, asked, counted, "bit/s", result)
                yield Contradiction(last[0], report, last[1], *own)


def _last(
    started: dict[str, list[Command]], programs: Sequence[str], line: int
) -> tuple[Command, str] | None:
    """The last command above a line that starts one of these programs, and which of them."""
    above = [
        (command, program)
        for program in programs
        if program in started and (command := last_above(started[program], line))
    ]
    return max(above, key=lambda own: own[0].number, default=None)


def _has_any(words: Sequence[str], options: Sequence[str]) -> bool:
    """Whether one of these options is there, also with its value behind it."""
    return any(
        word == name or word.startswith(f"{name}=" if name.startswith("--") else name)
        for word in words
        for name in options
    )


def _contradicts(asked: int, counted: float, *, is_same: bool) -> bool:
    return counted != asked if is_same else counted > MORE * asked


def _words_of(command: Command, program: str) -> tuple[str, ...]:
    """The words of a program in its command, up to what is the shell's."""
    names = list(map(_program, command.words))
    own = command.words[names.index(program) + 1 :]
    end = next((at for at, word in enumerate(own) if word in _ENDS or word.endswith(";")), None)
    return own[:end]


def _has_one_job(words: Sequence[str]) -> bool:
    """Whether all options of fio are of one job, which no file describes."""
    names = [word for word in words if word.lstrip("-").partition("=")[0] == "name"]
    return len(names) == 1 and not any(word.endswith((".fio", ".ini", ".job")) for word in words)


def _asked(words: Sequence[str], setting: Setting) -> tuple[str, int] | None:
    """The option as it stands there and its whole number; None where there are several."""
    found: dict[int, str] = {}
    for word, following in zip(words, [*words[1:], ""], strict=True):
        for name in setting.options:
            rest = word[len(name) :] if word.startswith(name) else None
            if rest is None or (name.startswith("--") and rest and rest[0] != "="):
                continue
            if value := _WHOLE.fullmatch(rest or following):
                found[int(value[1])] = word if rest else f"{word} {following}"
        if setting.is_first:
            break
    return next(((text, count) for count, text in found.items()), None) if len(found) == 1 else None
