"""Command lines that a log shows: which of them started a run, and what it asked for."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from benchbook.explain.model import Command, Log


def last_above(commands: Sequence[Command], line: int) -> Command | None:
    """The last of these commands that stands above a line; None where that line contradicts it."""
    above = bisect_left(commands, line, key=lambda command: command.number)
    return commands[above - 1] if above and line <= commands[above - 1].holds_to else None


def starts_of(log: Log, program: str) -> list[Command]:
    """The command lines that begin with this program, or one that is named after it."""
    return [command for command in log.commands if program in command.words[0]]


def option(command: Command | None, *names: str) -> str:
    """The value of an option of a command line, however it is written (`-b 4`, `-b4`,
    `--size 4`, `--size=4`); "" where the command does not have it."""
    words = command.words if command else ()
    for word, value in zip(words, [*words[1:], ""], strict=False):
        for name in names:
            if word == name:
                return value
            joined = f"{name}=" if name.startswith("--") else name
            if word.startswith(joined):
                return word[len(joined) :]
    return ""
