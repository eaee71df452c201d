"""Text out of JSON that somebody's tool keeps it in: notebooks, recordings of terminals, logs of
containers, what Ansible registered, what an API answered.

Each line of the file stays one; `SOFT` parts what one of them holds as several.
"""

from __future__ import annotations

import ast
import base64
import json
import re
from collections.abc import Callable
from typing import Any

from benchbook.explain.clean.encodings import SOFT, shown
from benchbook.explain.lazy_regex import late
from benchbook.explain.line_index import has

# Members whose text is what a program printed, or what a person pasted.
_TEXTS = (
    "log|MESSAGE|message|msg|text|stdout|stderr|output|rawOutput|raw_output|body|content|comment"
    "|description|textPayload|line"
)
_OF_LOGGERS = "log|MESSAGE|message|msg|textPayload|line"
_STRING = r'"((?:[^"\\\n]++|\\.)*+)"'
_RECORDING = late(r'\s*\{"version": ?[23], ?')  # asciinema
_EVENT = late(rf'\[ ?\d+(?:\.\d+)?(?:e-\d+)?, ?"o", ?{_STRING} ?\]')
_RECORD = late(rf'^[ \t]{{0,8}}\{{(?=[^\n]*"(?:{_OF_LOGGERS})" ?: ?")[^\n]*\}}[ \t]*$', re.M)
# The same records with each member in a line of its own, as clients of log services print them.
_SPREAD = late(rf'^[ \t]*"(?:{_OF_LOGGERS})": {_STRING},?[ \t]*$', re.M)
# A list of lines: in a notebook, and from Ansible. Reports of benchmarks have no list so called.
_LIST = late(
    r'"(?:text|text/plain|source|[\w.]{0,60}(?:stdout|stderr)_lines|msg|output|lines)": \[[ \t]*\n'
    rf"(?:[ \t]*{_STRING.replace('(', '(?:', 1)},?[ \t]*\n)+"
)
_ITEM = late(rf"^[ \t]*{_STRING},?[ \t]*$", re.M)
# Ansible has both, alike: a text, and behind it the list of its lines, in a line of its own or not.
_LISTED = late(r'"(stdout|stderr)_lines": \[[ \t]*\n')
_AGAIN = late(r'\s{0,200},\s{0,200}"(stdout|stderr)_lines" ?: ?\[(?![ \t\n]{0,200}\])')
_IN_ROW = late(
    rf'"(?:stdout|stderr)_lines" ?: ?\[((?:[ \t]*+{_STRING.replace("(", "(?:", 1)},?)++)[ \t]*+\]'
)
_ROW_ITEM = late(_STRING)
_OF_SERVER = "server_output_text"  # of iperf3; in a whole document it is another's
_MEMBER = late(rf'"({_TEXTS}|{_OF_SERVER})" ?: ?{_STRING}')
# What a script of Python says of a program that it ran, and loggers that write name=value.
_LITERAL = late(
    r"(?:(?:(?<=[=(])|^)b?|(?<=[\[: ])b)'(?P<single>(?:[^'\\\n]++|\\.)*+)'"
    r"|(?:(?<=[=([: ])|^)b\"(?P<bytes>(?:[^\"\\\n]++|\\.)*+)\""
    r"|(?<==)\"(?P<double>(?:[^\"\\\n]++|\\.)*+)\"",
    re.M,
)
_ATTACHED = late(
    r"^(Content-Transfer-Encoding:[ \t]*base64[ \t]*\n(?:[^\n]+\n)*+\n)"
    r"((?:[A-Za-z\d+/]{1,80}={0,2}(?:\n|\Z))++)",
    re.I | re.M,
)
_PARTED = late(r"\\n(?=[^\n]*\\n)")  # two ends of lines in one string
_MOST = 0.5  # of the lines that are not empty
_LEAST = 3  # such members; fewer are no log


def contained(text: str) -> str:
    """The text with each such line as what it holds."""
    if has(text, "#012"):  # so rsyslog writes the line feeds of one message
        text = "\n".join(
            line.replace("#012", SOFT).replace("#011", "\t") if line.count("#012") > 1 else line
            for line in text.split("\n")
        )
    if has(text, "ase64"):
        text = _each(_ATTACHED, _of_mail, text)
    if has(text, "\\n"):
        text = _each(_LITERAL, _of_literal, text)
    if '"' not in text:
        return text
    if _RECORDING.match(text):
        return _recorded(text)
    if has(text, '{"') and _is_of_records(text):
        return _each(_RECORD, _of_record, text)
    if '"nbformat"' in text:
        text = _notebook(text)
    elif has(text, ": ["):
        text = _each(_LIST, lambda match: _each(_ITEM, _of_item, match[0]), text)
    is_logged = any(f'"{logger}": "' in text for logger in _OF_LOGGERS.split("|"))
    if is_logged and len(_SPREAD.findall(text)) >= _LEAST:
        text = _each(_SPREAD, _of_item, text)
    if has(text, "\\n"):
        kept = {listed[1] for listed in _LISTED.finditer(text)}
        kept |= {_OF_SERVER} if '"end"' in text or '"event"' in text else set()
        text = _each(_MEMBER, lambda match: _of_member(match, kept), text)
    if '_lines"' in text:
        text = _each(_IN_ROW, _of_row, text)
    return text


def _each(
    pattern: re.Pattern[str], change: Callable[[re.Match[str]], str | None], text: str
) -> str:
    def changed(match: re.Match[str]) -> str:
        new = change(match)
        return match[0] if new is None else new

    return pattern.sub(changed, text)


def _recorded(text: str) -> str:
    """What the terminal showed: an event may hold a part of a line, or several."""
    texts, begun = list[str](), list[str]()
    for line in text.split("\n"):
        event = _EVENT.match(line)
        chunk = (_string(event[1]) or "") if event else ""
        if "\n" not in chunk:
            begun.append(chunk)
            texts.append("")
            continue
        *whole, rest = "".join([*begun, chunk]).split("\n")
        begun = [rest]
        texts.append(SOFT.join(_as_shown(whole)))
    texts[-1] = SOFT.join([texts[-1], *_as_shown(["".join(begun)])])
    return "\n".join(texts)


def _notebook(text: str) -> str:
    """What was typed, printed and written, without the JSON around it: another's may be in it."""
    texts, at = list[str](), 0
    for cells in _LIST.finditer(text):
        items = cells[0].partition("\n")[2]
        texts += ["\n" * (text.count("\n", at, cells.start()) + 1), _each(_ITEM, _of_item, items)]
        at = cells.end()
    return "".join([*texts, "\n" * text.count("\n", at)]) if texts else text


def _is_of_records(text: str) -> bool:
    lines = [line for line in text.split("\n") if line and not line.isspace()]
    return sum(_RECORD.match(line) is not None for line in lines) > _MOST * len(lines)


def _of_record(match: re.Match[str]) -> str | None:
    """A line of a log whose records are JSON."""
    try:
        record: Any = json.loads(match[0])
    except (ValueError, RecursionError):
        return None
    own = (record.get(name) for name in _TEXTS.split("|")) if isinstance(record, dict) else ()
    return _lines(next((text for text in own if isinstance(text, str)), None))


def _of_item(match: re.Match[str]) -> str | None:
    return _lines(_string(match[1]))


def _of_member(match: re.Match[str], kept: set[str]) -> str | None:
    """A member with several lines; the command of a benchmark may have them too, and is none."""
    name, escaped = match.groups()
    if "\\n" in escaped and (again := _AGAIN.match(match.string, match.end())):
        return f'"{name}": ""' if again[1] == name else None
    if name in kept or not _PARTED.search(escaped):
        return None
    inner = _lines(_string(escaped))
    return None if inner is None else SOFT + inner + SOFT


def _of_row(match: re.Match[str]) -> str | None:
    """A list of lines that stands in one line."""
    items = [_string(item[1]) for item in _ROW_ITEM.finditer(match[1])]
    whole = [item for item in items if item is not None]
    inner = _lines("\n".join(whole)) if len(whole) == len(items) else None
    return None if inner is None else SOFT + inner + SOFT


def _of_literal(match: re.Match[str]) -> str | None:
    """A string with several lines, as source code spells it."""
    escaped = next(text for text in match.group("double", "single", "bytes") if text is not None)
    begin = match.string.rfind("\n", 0, match.start()) + 1
    inside_json = match.string[begin : match.start()].lstrip()[:1] in ("{", "[", '"')
    if inside_json or not _PARTED.search(escaped):
        return None
    if match["double"] is not None:
        inner = _string(escaped)
    else:
        try:
            value = ast.literal_eval(match[0])
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return None
        inner = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    lines = _lines(inner)
    return None if lines is None else SOFT + lines + SOFT


def _of_mail(match: re.Match[str]) -> str | None:
    """A part of a mail that is text."""
    try:
        inner = base64.b64decode(match[2]).decode("utf-8")
    except ValueError:
        return None
    return f"{match[1]}{_lines(inner)}" + "\n" * match[2].count("\n")


def _string(escaped: str) -> str | None:
    try:
        return str(json.loads(f'"{escaped}"'))
    except ValueError:
        return None


def _lines(text: str | None) -> str | None:
    return None if text is None else SOFT.join(_as_shown(text.removesuffix("\n").split("\n")))


def _as_shown(lines: list[str]) -> list[str]:
    return shown("".join(f"{line}\n" for line in lines)).split("\n")[:-1]
