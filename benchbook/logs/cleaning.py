"""Dirty text -> a Log: any encoding, colours, carriage returns, prompts, quoting, fences, pages and
stamps of continuous integration go; lines keep the numbers that they have in the file."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import partial
from itertools import accumulate

from benchbook.importers import Document, Line, Log
from benchbook.logs.decoding import SOFT, text_of
from benchbook.logs.fragments import Found, documents
from benchbook.logs.markup import unwrapped
from benchbook.logs.numerals import has_decimal_commas
from benchbook.logs.shells import commands
from benchbook.logs.strings import printed

_MOST_DIGITS = 60
_ZEROS = str.maketrans("123456789", "000000000")  # many times as fast as a pattern
_ENDLESS = re.compile(rf"[0-9]{{{_MOST_DIGITS},}}")


def log_of(content: bytes) -> Log:
    """The content of a file as importers see it."""
    lines = _numbered(unwrapped(_without_endless(text_of(content))))
    text = "\n".join(line.text for line in lines)
    return Log(
        printed(lines, text),
        _documents(lines, text),
        tuple(commands(lines, text)),
        has_decimal_commas(text),
    )


def _without_endless(text: str) -> str:
    """Without numbers that no tool prints: of thousands of digits Python makes none, and what was
    made of hundreds can be multiplied by no other."""
    if "0" * _MOST_DIGITS not in text.translate(_ZEROS):
        return text
    return _ENDLESS.sub("…", text)


def _numbered(plain: list[str]) -> tuple[Line, ...]:
    if not any(SOFT in one for one in plain):
        # Line(number, text) for very many lines, without a call of Python's for each.
        return tuple(map(partial(tuple.__new__, Line), enumerate(map(str.rstrip, plain), 1)))
    return tuple(
        Line(number, one.rstrip())
        for number, several in enumerate(plain, 1)
        for one in several.split(SOFT)
    )


def _documents(lines: tuple[Line, ...], text: str) -> tuple[Document, ...]:
    found = list(documents(text))
    if not found:
        return ()
    ends = list(accumulate(len(line.text) + 1 for line in lines))
    return tuple(_document(lines, text, bisect_right(ends, one.start), one) for one in found)


def _document(lines: tuple[Line, ...], text: str, first: int, one: Found) -> Document:
    own = text[one.start : one.end]
    within = lines[first : first + own.count("\n") + 1]
    return Document(lines[first].number, one.value, one.whole, own, within)
