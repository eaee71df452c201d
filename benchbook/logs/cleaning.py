"""Dirty text -> a Log: colours, carriage returns, prompts, quoting and fences go, lines keep their
numbers."""

from __future__ import annotations

import json
import re
import shlex

from benchbook.importers import Command, Document, Line, Log

_COLOUR = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_QUOTED = re.compile(r"^(?:\s*(?:>|\|))+ ?")
_PROMPT = re.compile(
    r"^\s*(?:\[[^\]]+\]|\(\w+\)|[\w.-]+@[\w.-]+)?[\w:~/.@ -]{0,60}[$#%❯>] +(\S.*)$"
)
_VARIABLE = re.compile(r"^(\w+)=(\S*)$")
_COMMA = re.compile(r"(?<![\d.,])\d+,\d+(?![\d.,])")
_POINT = re.compile(r"(?<![\d.,])\d+\.\d+(?![\d.,])")


def log_of(content: bytes) -> Log:
    """The content of a file as importers see it."""
    text = _decoded(content)
    lines = tuple(
        Line(number, _clean(raw)) for number, raw in enumerate(re.split(r"\r\n|\n", text), 1)
    )
    return Log(lines, _documents(lines), _commands(lines), _has_decimal_commas(lines))


def _decoded(content: bytes) -> str:
    for mark, encoding in ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if content.startswith(mark):
            return content.decode(encoding, "replace")
    return content.decode("utf-8-sig", "replace").replace("\x00", "")


def _clean(raw: str) -> str:
    text = _COLOUR.sub("", raw).rsplit("\r", 1)[-1]
    return _QUOTED.sub("", text).expandtabs(8).rstrip()


def _commands(lines: tuple[Line, ...]) -> tuple[Command, ...]:
    found = []
    for line in lines:
        if shown := _PROMPT.match(line.text):
            try:
                words = shlex.split(shown[1], comments=True)
            except ValueError:
                continue
            variables: dict[str, str] = {}
            while words and (one := _VARIABLE.match(words[0])):
                variables[one[1]] = one[2]
                words = words[1:]
            if words:
                found.append(Command(line.number, tuple(words), variables))
    return tuple(found)


def _documents(lines: tuple[Line, ...]) -> tuple[Document, ...]:
    """JSON objects and arrays that begin at the start of a line."""
    text = "\n".join(line.text for line in lines)
    decoder, found, at = json.JSONDecoder(), [], 0
    for begin in re.finditer(r"^\s*[{\[]", text, re.MULTILINE):
        if begin.start() < at:
            continue
        start = begin.end() - 1
        try:
            value, at = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        found.append(Document(text.count("\n", 0, start) + 1, value))
    return tuple(found)


def _has_decimal_commas(lines: tuple[Line, ...]) -> bool:
    text = "\n".join(line.text for line in lines)
    return len(_COMMA.findall(text)) > len(_POINT.findall(text))
