"""dd: bytes, time and rate of a copy, and what its command asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.printed_digits import half_digit
from benchbook.explain.readers.common.command_lines import last_above
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "dd"
_ROW = late(
    r"^(?P<bytes>\d+) (?:bytes|Bytes|octets|byte)\b(?: \([^)]*\))? ?(?:copied|transferred|kopiert"
    r"|copiés|copiados)?"
    r"[, ]+(?:in )?(?P<time>[\d.,]+(?:e[+-]?\d+)?) ?(?:s|secs?|seconds)\b,? ?\(?(?P<rate>"
    r"[\d.,]+) ?(?P<unit>[kMGT]?B/s|bytes/sec)"
)
_PASTED = late(r"^(?:sudo )?dd (?:\w+=\S+ ?)+")
_UNITS = {"bytes/sec": "B/s"}
_SYNCED = ("fdatasync", "fsync", "direct", "dsync", "sync")


@dataclass
class _Run(Run):
    """One copy; `asked`: words of a command below it that has no prompt."""

    asked: tuple[str, ...] = ()


def _line(reading: Reading[_Run], text: str) -> None:
    if found := _ROW.match(text):
        words = reading.run.asked
        run = reading.begin()
        command = last_above(reading.log.commands, reading.line.number)
        words = command.words if command else words
        if words and words[0].rpartition("/")[2] == "dd":
            options = dict(word.split("=", 1) for word in words[1:] if "=" in word)
            run.facts |= {"input": options.get("if", ""), "output": options.get("of", "")}
            flags = ",".join(options.get(name, "") for name in ("conv", "oflag", "iflag"))
            run.facts["flags"] = ", ".join(flag for flag in flags.split(",") if flag in _SYNCED)
        moved, took = int(found["bytes"]), reading.number(found["time"])
        of: dict[str, Any] = {}
        if took:
            of = {
                "bytes_moved": moved,
                "elapsed_s": took,
                "elapsed_error_s": half_digit(found["time"]),
            }
        reading.add("copy", found["rate"], _UNITS.get(found["unit"], found["unit"]), "mean", of)
    elif _PASTED.match(text):
        reading.run.asked = tuple(text.removeprefix("sudo ").split())


read = LineReader(TOOL, _Run, _line)
