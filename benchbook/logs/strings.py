"""What a program printed, out of JSON that has it as a string or as a list of lines: runners of
tasks and containers keep it so (notebooks: logs/notebooks.py)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from benchbook.importers import Line
from benchbook.logs.decoding import text_of

_INSIDE = r'(?:[^"\\\n]++|\\.)*+'
_ITEM = re.compile(rf'[ \t\[]*"({_INSIDE})",?[ \t\]]*')
_TWO_ITEMS = re.compile(rf'",\n[ \t]*"{_INSIDE}",?[ \t\]]*\n')
_VALUE = re.compile(rf'"(?:stdout|stderr|output|msg)": ?"({_INSIDE})"')
_LOGGED = re.compile(rf'\{{"log": ?"({_INSIDE})", ?"stream"')  # of containers, for each line
_ALONE = re.compile(r"\\u001b(?!\[)")
_LEAST = 3  # lines: fewer are the names of something


def printed(lines: tuple[Line, ...], text: str) -> tuple[Line, ...]:
    """The lines, those that are such strings as the program printed them."""
    if "\\n" in text or ('",\n' in text and _TWO_ITEMS.search(text)):
        return tuple(_printed(lines))
    return lines


def _printed(lines: Sequence[Line]) -> Iterator[Line]:
    said: list[str] = []  # some write the same twice: as one string, then as lines
    at = 0
    while at < len(lines):
        items = _items(lines, at)
        own = lines[at : at + max(len(items), 1)]
        at += len(own)
        if len(items) >= _LEAST and items != said:
            for line, several in zip(own, items, strict=True):
                yield from (Line(line.number, one) for one in several.split("\n"))
        elif not items and (values := _values(own[0].text)):
            said = values
            yield from (Line(own[0].number, one) for one in values)
        else:
            yield from own


def _items(lines: Sequence[Line], at: int) -> list[str]:
    """The strings of a list from a line on, each in a line of its own."""
    items: list[str] = []
    while at + len(items) < len(lines):
        text = lines[at + len(items)].text
        found = _ITEM.fullmatch(text) if '"' in text[-3:] else None
        plain = _plain(found[1]) if found else None
        if plain is None:
            break
        items.append(plain)
    return items


def _values(text: str) -> list[str]:
    """The lines of the strings of a line that have several, or of the one of a container's log."""
    if (logged := _LOGGED.match(text)) and (plain := _plain(logged[1])) is not None:
        return [plain]
    if text.count("\\n") < _LEAST - 1:
        return []
    several = [(_plain(found[1]) or "").split("\n") for found in _VALUE.finditer(text)]
    return [one.rstrip() for lines in several if len(lines) >= _LEAST for one in lines]


def _plain(inside: str) -> str | None:
    """A string without its quotation marks; None where it is none."""
    # What made colours of it may have lost all but the escape.
    if "\\u001b" in inside:
        inside = _ALONE.sub("", inside)
    try:
        plain = str(json.loads(f'"{inside}"', strict=False)).rstrip()
    except ValueError:
        return None
    return plain if plain.isprintable() else text_of(plain.encode("utf-8", "replace"))
