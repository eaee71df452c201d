"""JSON in a text: whole documents, and what is left of those whose head or tail is missing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from benchbook.explain.lazy_regex import late

_KEY = r'"(?:[^"\\\x00-\x1f]++|\\.)*+"[ \t]*:'
# Each begins with what Python finds fast: it tries no place in between.
_OPENED = late(r'\{\s*(?=")|\[\s*(?=\{\s*")')
_MEMBER_LINE = late(rf"\n[ \t]*(?={_KEY}[ \t])")
_TOKEN = late(
    r'\s*(?:(?P<string>"(?:[^"\\\x00-\x1f]++|\\.)*+")|(?P<word>true|false|null|NaN)'
    r"|(?P<number>-?(?:\d++(?:\.\d*+)?(?:[eE][+-]?\d++)?|Infinity))|(?P<mark>[{}\[\],:]))"
)
_MEMBER = late(rf"\s*{_KEY}")
_DEEPEST = 500  # brackets; more is nothing that a benchmark prints
_BRACKET = late(r'"(?:[^"\\]++|\\.)*+(?:"|\Z)|[{}\[\],]', re.S)
_LAST = late(
    rf"\s*,?\s*(?:{_KEY}\s*)?"
    r'(?:"(?:[^"\\\x00-\x1f]++|\\.)*+"(?!\s*:)|true|false|null|-?\d++(?:\.\d++)?(?=\s))'
)
_WINDOW, _GROWS, _NEAR = 1 << 12, 8, 16  # characters that are looked at first; more then
_TAIL, _HEAD = "what follows is missing", "what precedes is missing"
_BOTH = "what precedes and what follows are missing"
_CLOSES = {"{": "}", "[": "]"}
_OPENS = {close: opening for opening, close in _CLOSES.items()}
_VALUES = ("string", "word", "number", "}", "]")


class Found(NamedTuple):
    """A JSON value, out of text[start:end]."""

    start: int
    end: int
    value: Any
    whole: bool
    cut: str = ""  # what of it is missing, in words


def documents(text: str) -> Iterator[Found]:
    """Objects and lists of objects, wherever they begin. Linear: what one has read, no other
    reads."""
    if '"' not in text:
        return
    decoder, at = json.JSONDecoder(), 0
    opened, member = -1, 0 if _MEMBER_LINE.match("\n" + text) else -1
    while at < len(text):
        if opened < at:
            begin = _OPENED.search(text, at)
            opened = begin.start() if begin else len(text)
        if member < at:
            begin = _MEMBER_LINE.search(text, max(at - 1, 0))
            member = begin.start() + 1 if begin else len(text)
        if opened == member:  # there is no more of either
            return
        start = min(opened, member)
        fragment = _begun(decoder, text, start) if opened < member else _headless(text, start)
        if fragment.value:
            yield fragment
        at = max(fragment.end, start + 1)


def _begun(decoder: json.JSONDecoder, text: str, start: int) -> Found:
    """The document that begins there, as far as it goes."""
    size = _WINDOW
    while True:
        # The decoder's error counts all lines before it: it must not see the whole text each time.
        piece = text[start : start + size]
        try:
            value, end = decoder.raw_decode(piece)
        except json.JSONDecodeError as error:
            at_end = error.pos >= len(piece) - _NEAR or error.msg.startswith("Unterminated")
            if not at_end or start + size >= len(text):
                return _without_tail(text, start, start + error.pos)
        except (ValueError, RecursionError):
            return _without_tail(text, start, min(len(text), start + _DEEPEST))
        else:
            return Found(start, start + end, value, whole=True)
        size *= _GROWS


def _without_tail(text: str, start: int, end: int) -> Found:
    """What text[start:end] says, which is JSON so far: what is open is closed after the last value
    that is surely complete."""
    stack, safe = list[str](), start
    for token in _BRACKET.finditer(text, start, end):
        mark = token[0]
        if mark in _CLOSES:
            stack.append(_CLOSES[mark])
        elif mark in _OPENS and (not stack or stack.pop() != mark):
            break  # an error of the decoder may lie inside a string
        if len(mark) == 1 and mark != '"':
            safe = token.start() if mark == "," else token.end()
    last = _LAST.match(text, safe, end) or _LAST.match(text, safe)
    safe = last.end() if last else safe
    value = _loaded(text[start:safe] + "".join(reversed(stack)))
    return Found(start, max(end, safe), value, whole=False, cut=_TAIL)


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _headless(text: str, start: int) -> Found:
    """What can be read from a member of an object on: brackets that the head opened are opened
    before it, those that the tail would have closed are closed."""
    piece = _Piece()
    at = start
    while (token := _TOKEN.match(text, at)) and piece.takes(text, token):
        at = token.end()
    value = None
    if piece.safe > start:
        before = reversed(piece.before)
        value = _loaded("".join([*before, text[start : piece.safe], *piece.after]))
    return Found(start, at, value, whole=False, cut=_BOTH if piece.stack else _HEAD)


class _Piece:
    """Follows the brackets of a piece of JSON, token by token."""

    def __init__(self) -> None:
        self.stack = ["{"]
        self.before = ["{"]  # what the missing head opened, the last of it first
        self.safe = 0
        self.after: list[str] = []  # what closes at that place
        self.last = "{"

    def takes(self, text: str, token: re.Match[str]) -> bool:
        """Whether the piece goes on with this token."""
        kind = token["mark"] or str(token.lastgroup)
        if not self._follows(kind) or len(self.stack) > _DEEPEST:
            return False
        if not self.stack and not self._opened_earlier(text, token, kind):
            return False
        if kind in _CLOSES:
            self.stack.append(kind)
        elif kind in _OPENS and self.stack.pop() != _OPENS[kind]:
            return False
        is_key = kind == "string" and self.stack[-1:] == ["{"] and self.last != ":"
        cut_number = kind == "number" and not text[token.end() : token.end() + 1].isspace()
        if kind != ":" and not is_key and not cut_number:
            self.safe = token.start() if kind == "," else token.end()
            self.after = [_CLOSES[bracket] for bracket in reversed(self.stack)]
        self.last = kind
        return True

    def _follows(self, kind: str) -> bool:
        after_value = self.last in _VALUES
        if kind == ":":
            return self.last == "string"
        if kind == "," or kind in _OPENS:
            return after_value or (kind != "," and self.last in _CLOSES)
        return not after_value

    def _opened_earlier(self, text: str, token: re.Match[str], kind: str) -> bool:
        """Whether all that was read is inside another bracket, which is then put before it."""
        if kind == ",":
            opening = "{" if _MEMBER.match(text, token.end()) else "["
        elif kind in _OPENS:
            opening = _OPENS[kind]
        else:
            return False
        # What it was called inside that object nobody knows.
        self.before.append('{"": ' if opening == "{" else "[")
        self.stack = [opening]
        return True
