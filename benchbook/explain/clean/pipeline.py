"""Dirty text -> a Log: any encoding, colours, carriage returns, prompts, quoting, fences, pages and
stamps of continuous integration go; lines keep the numbers that they have in the file."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate, count

from benchbook.explain.clean.encodings import SOFT, beyond_ascii, text_of
from benchbook.explain.clean.json_envelopes import contained
from benchbook.explain.clean.json_fragments import Found, documents
from benchbook.explain.clean.markup import BAR, panes, unwrapped
from benchbook.explain.clean.quoted_printable import decoded
from benchbook.explain.clean.shell_prompts import commands
from benchbook.explain.clean.wrapped_lines import rejoined
from benchbook.explain.decimal_marks import has_decimal_commas
from benchbook.explain.lazy_regex import late
from benchbook.explain.line_index import Kinds
from benchbook.explain.model import Document, Line, Log

_MOST_DIGITS = 60
_ZEROS = bytes.maketrans(b"123456789", b"000000000")  # many times as fast as a pattern
# What people paint behind a figure: `12.3ms ⚡ WINNER`, `| 74 MiB/s ❌ |`.
_PAINTED = late(
    r"(?<=[\w)%])[ \t]{0,8}[\u2600-\u27bf\u2b05-\u2b55\U0001f300-\U0001faff\ufe0f\u200d]{1,8}"
    r"(?: [A-Z]{4,12})?(?=[ \t]{0,80}(?:\||$))"
    r"|(?<=\| )[\u2600-\u27bf\u2b05-\u2b55\U0001f300-\U0001faff\ufe0f\u200d]{1,8} (?=[\w`*])",
    re.M,
)
# A fence of Markdown that somebody wrote in the line of the text: "```real 0m1.2s".
_GLUED = late(
    r"^([ \t>]{0,12}```)(?=[\w./$-]{1,40}(?:[ \t]+\S|[!:(]))|(?<=[\w.%)])(?=```[ \t]{0,12}$)", re.M
)
# The line below the head of a table, with an empty one on either side.
_GAP_AT_RULE = late(r"\|\n\n\|(?: *:?-+:? *\|)+\n\n\|")
_ENDLESS = late(rf"\d{{{_MOST_DIGITS},}}")


def log_of(content: bytes) -> Log:
    """The content of a file as importers see it."""
    return _log(_whole(content))


def panes_of(content: bytes) -> list[Log]:
    """The two panes of a terminal that the file may show beside each other, each by itself."""
    if BAR.encode() not in content:
        return []
    return [_log(pane) for pane in panes(_whole(content)) or ()]


def _whole(content: bytes) -> str:
    text = _without_endless(contained(text_of(decoded(content))))
    if "```" in text:
        text = _GLUED.sub(rf"\1{SOFT}", text)
    return text if text.isascii() else _PAINTED.sub("", text)


def _log(whole: str) -> Log:
    numbers: Iterable[int] = count(1)
    if SOFT in whole:
        parts = enumerate(whole.split("\n"), 1)
        numbers = [number for number, part in parts for _ in range(part.count(SOFT) + 1)]
        whole = whole.replace(SOFT, "\n")
    numbered = _numbered(unwrapped(whole), numbers)
    if "|\n\n|" in whole and _GAP_AT_RULE.search(whole):
        numbered = _without_gaps(numbered)
    lines = rejoined(numbered)
    text = "\n".join(line.text for line in lines)
    kinds = Kinds(text)
    typed = tuple(commands(lines, kinds))
    return Log(lines, _documents(lines, text), typed, has_decimal_commas(text), kinds)


def _without_gaps(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """Without the empty line that an editor put between any two rows of a table."""
    kept = [
        line
        for above, line, below in zip(lines, lines[1:], lines[2:], strict=False)
        if line.text or above.text[-1:] != "|" or below.text[:1] != "|"
    ]
    return (*lines[:1], *kept, *lines[-1:]) if len(lines) > 1 else lines


def _without_endless(text: str) -> str:
    """Without numbers that no tool prints: of thousands of digits Python makes none, and what was
    made of hundreds can be multiplied by no other."""
    may_be = b"0" * _MOST_DIGITS in text.encode("ascii", "replace").translate(_ZEROS)
    # Python makes numbers of digits of other scripts, too.
    if may_be or (not text.isascii() and any(map(str.isdecimal, beyond_ascii(text)))):
        return _ENDLESS.sub("…", text)
    return text


def _numbered(plain: list[str], numbers: Iterable[int]) -> tuple[Line, ...]:
    return tuple(
        Line(number, text.rstrip())
        for number, several in zip(numbers, plain, strict=False)
        for text in several.split(SOFT)
    )


def _documents(lines: tuple[Line, ...], text: str) -> tuple[Document, ...]:
    fragments = list(documents(text))
    if not fragments:
        return ()
    ends = list(accumulate(len(line.text) + 1 for line in lines))
    return tuple(
        _document(lines, text, bisect_right(ends, fragment.start), fragment)
        for fragment in fragments
    )


def _document(lines: tuple[Line, ...], text: str, first: int, fragment: Found) -> Document:
    own = text[fragment.start : fragment.end]
    within = lines[first : first + own.count("\n") + 1]
    number, value = lines[first].number, fragment.value
    return Document(number, value, fragment.whole, own, within, fragment.cut)
