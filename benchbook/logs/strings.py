"""Text out of JSON strings, a line each: of the lists in notebooks of Jupyter, and of the objects
that Docker keeps (json-file)."""

from __future__ import annotations

import json
import re

_ENDED = '\\n"'  # how such a line ends, but the last of a list
_LINE = re.compile(r'\s*("(?:[^"\\]|\\.)*\\n"),?\s*')
_LAST = re.compile(r'\s*("(?:[^"\\]|\\.)*")\s*')
_COLOURS = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
_KEPT = re.compile(r'\s*\{"log": ?("(?:[^"\\]|\\.)*"), ?"stream": ?"std(?:out|err)"[^{}]*\}\s*')
_LIST_ENDS = re.compile(r"\s*\],?\s*")


def out_of_strings(text: str) -> str:
    """The text with such lines as they were printed; every other stays as it is."""
    if _ENDED not in text:
        return text
    lines = text.split("\n")
    found, inside = list[str](), False
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        is_last = inside and _LIST_ENDS.fullmatch(after) is not None
        own = _LINE.fullmatch(line) or (_LAST.fullmatch(line) if is_last else None)
        inside = own is not None and not is_last
        own = own or _KEPT.fullmatch(line)
        found.append(_printed(own[1]) if own else line)
    return "\n".join(found)


def _printed(string: str) -> str:
    """What the string shows; it may spell control characters, which must not part lines."""
    try:
        shown = _COLOURS.sub("", str(json.loads(string)))
    except ValueError:
        return string
    last = next((one for one in reversed(shown.rstrip().split("\r")) if one.strip()), "")
    return "".join(one for one in last if one.isprintable() or one == "\t")
