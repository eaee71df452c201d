"""What tools that load a server have in common: the host of an address, times with their unit, and
the command that started them."""

from __future__ import annotations

from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Command, Log
from benchbook.explain.readers.common.command_lines import starts_of
from benchbook.explain.readers.common.line_reader import Reading

RATE, TIME, COUNT, FAILED = "request rate", "response time", "requests", "failed requests"
NONE_FAILED = "failed"  # a count of 0, which people look for, and no rule
NUMBER = r"\d+(?:\.\d+)?"
_HOST = late(r"^(?:\w+://)?(?:[^/@\s]*@)?(?P<host>\[[0-9a-fA-F:.]+\]|[\w.-]+)(?=[:/?#]|$)")
_UNITS = {"us": "us", "µs": "us", "μs": "us", "ms": "ms", "s": "s", "sec": "s", "secs": "s"}
TIME_UNIT = "(?:us|µs|μs|ms|secs?|s)"


def host_of(address: str) -> str:
    """The host of an address of the web; "" where there is none."""
    match = _HOST.match(address.strip("'\"<>`"))
    return match["host"].strip("[]") if match else ""


def unit_of(text: str) -> str:
    """Our name of a unit of time."""
    return _UNITS[text]


def commands_of(log: Log, *programs: str) -> list[Command]:
    """The command lines that start one of these programs, in their order."""
    started = [own for program in programs for own in starts_of(log, program)]
    named = [own for own in started if _program(own) in programs]
    return sorted(named, key=lambda command: command.number)


def _program(command: Command) -> str:
    return command.words[0].replace("\\", "/").rpartition("/")[2].removesuffix(".exe")


def whole(text: str) -> int | None:
    """A whole number of a command or a line; None where it is none, or too long for one."""
    return int(text) if text.isdecimal() and len(text) < 13 else None


def known(**facts: Any) -> dict[str, Any]:
    """These facts, without those that nobody knows."""
    return {name: fact for name, fact in facts.items() if fact not in (None, "")}


def add_failed(reading: Reading[Any], count: float, kind: str, unit: str = "requests") -> None:
    """Add how many of a kind failed; where none did, as a figure that is only shown."""
    if count:
        reading.add(FAILED, count, unit, "", {"failure": kind})
    else:
        name = NONE_FAILED if kind == NONE_FAILED else f"{NONE_FAILED}: {kind}"
        reading.show(name, count, unit)
