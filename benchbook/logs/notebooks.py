"""Text out of notebooks of Jupyter, whose outputs are lists of JSON strings, a line each."""

from __future__ import annotations

import json
import re

_ENDED = '\\n"'  # how such a line ends, but the last of a list
_LINE = re.compile(r'\s*("(?:[^"\\]|\\.)*\\n"),?\s*')
_LAST = re.compile(r'\s*("(?:[^"\\]|\\.)*")\s*')
_COLOURS = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
_LIST_ENDS = re.compile(r"\s*\],?\s*")


def unlisted(text: str) -> str:
    """The text with the lines of such lists as they were printed; every other stays as it is."""
    if _ENDED not in text:
        return text
    lines = text.split("\n")
    found, inside = list[str](), False
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        is_last = inside and _LIST_ENDS.fullmatch(after) is not None
        own = _LINE.fullmatch(line) or (_LAST.fullmatch(line) if is_last else None)
        found.append(_printed(own[1]) if own else line)
        inside = own is not None and not is_last
    return "\n".join(found)


def _printed(string: str) -> str:
    """What the string shows; it may spell control characters, which must not part lines."""
    try:
        shown = _COLOURS.sub("", str(json.loads(string)))
    except ValueError:
        return string
    last = next((one for one in reversed(shown.rstrip().split("\r")) if one.strip()), "")
    return "".join(one for one in last if one.isprintable() or one == "\t")
