"""Bytes -> text as a terminal would have shown it: any encoding, no control character is left.

Each line of the file stays one line; `SOFT` parts what an HTML page shows as several.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable

from benchbook.explain.lazy_regex import late
from benchbook.explain.line_index import has

SOFT = "\x1e"  # between lines that the file has in one
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_HEAD = 4096  # bytes that tell UTF-16 without a mark
_MOSTLY = 0.4  # of every other byte is zero there
_SPOTS, _SELDOM = 16, 0.05  # places that tell binary content; unprintable bytes of text
_TEXT = bytes([0, 7, 8, 9, 10, 12, 13, 27, *range(32, 127), *range(128, 256)])
_UNPRINTABLE = bytes({*range(256)} - {9, 10, *range(32, 127)})
# Bytes that are no UTF-8 are taken for the old code page of western Windows, or for Latin-1.
_OLD = {
    0xDC00 + byte: bytes([byte]).decode("cp1252", "ignore") or chr(byte)
    for byte in range(0x80, 0x100)
}
_RUBBED_AT_ONCE = late("[^\x08]\x08")
# By code page, how plus-minus, micro, sigma, dashes and dots look when their UTF-8 was read as it:
# that of western Windows (""), and those of its console in western Europe and America.
_TWICE = {
    "": late(
        "\u00c2[\u00b1\u00b5\u00b7\u00a0]|\u00c3\u2014|\u00e2\u20ac|\u00cf\u0192|\u00ce\u00bc|\u00e2\u2030"
    ),
    "cp850": late("\u252c[\u2592\u00c1]|\u00d4\u00c7\u00aa|\u00a4\u00e2"),
    "cp437": late("\u252c[\u2592\u2561]|\u0393\u00c7\u00aa|\u2567\u00e2"),
}
_BYTE = {_OLD[0xDC00 + byte]: bytes([byte]) for byte in range(0x80, 0xA0)}
_STRAY = late("[\udc80-\udcff]")
_FOREIGN = late(rb"[\x80-\xff]{4,}")
_ASCII = bytes(range(128))
_MOSTLY_OF_PAGE = 0.95
_ESCAPES = late(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]"  # colours, cursor
    r"|[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\|(?=\n)|$)"  # titles, links, and other strings
    r"|[ -/]*[0-Z\\^-~]|)"
    r"|\x9b[0-?]*[ -/]*[@-~]"
)
# Not those that JSON spells: they are no text yet.
_LOST_ESCAPES = late(r"(?<!\\u001[bB])\[(?:\d{1,3}(?:;\d{1,3}){0,4}m|[0-2]?K)")
_HIDDEN = "\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2064\u2066-\u2069\ufeff\ufff9-\ufffb"
_CONTROLS = late(rf"[\x00-\x08\x0b\x0c\x0e-\x1f{_HIDDEN}]")
_ASCII_CONTROLS = bytes({*range(32), 127} - {9, 10, 13})
# Not between digits. The space comes first: looked for by what is around it, all would be.
_WIDE = "\u00a0\u2007\u2009\u202f"
_SPACES = late(rf"[{_WIDE}](?:(?<!\d[{_WIDE}])|(?!\d))")
_THIN = late("[\u2007\u2009\u202f]")
_BEGIN_TWICE = "\u00c2\u00c3\u00e2\u00cf\u00ce\u252c\u00d4\u00a4\u0393\u2567"
# One of these is in every text that has more to change than single characters: few texts have any.
_ODD = late(f"[{_BEGIN_TWICE}{_HIDDEN}{_WIDE}]")
_LIKE = {"μ": "µ", "−": "-", "‐": "-", "‑": "-"}


def text_of(content: bytes) -> str:
    """The text, with line feeds at the ends of lines."""
    return shown(_decoded(content))


def _decoded(content: bytes) -> str:
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return content[len(mark) :].decode(encoding, "replace")
    head = content[:_HEAD]
    for start, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        every_other, others = head[start::2], head[1 - start :: 2]
        if every_other.count(0) > _MOSTLY * len(others) > 0 and others.count(0) < len(others) / 8:
            return content.decode(encoding, "replace")
    if _is_binary(content):
        return content.translate(None, _UNPRINTABLE).decode("ascii")
    text = content.decode("utf-8", "surrogateescape")
    # A NUL that somebody's tool wrote instead of nothing; other controls go below.
    text = text.replace("\x00", "")
    if text.isascii() or not _STRAY.search(text):
        return text
    if page := _cyrillic(content):
        return content.translate(None, b"\x00").decode(page, "replace")
    return _STRAY.sub(lambda match: _OLD[ord(match[0])], text)


def _cyrillic(content: bytes) -> str:
    """The old code page of a text whose words are of its upper half throughout: those of western
    languages have a letter of it here and there."""
    head = content[: _SPOTS * _HEAD]
    words = b"".join(_FOREIGN.findall(head))
    if len(words) <= len(head.translate(None, _ASCII)) / 2:
        return ""
    if sum(byte < 0xB0 or 0xE0 <= byte < 0xF0 for byte in words) > _MOSTLY_OF_PAGE * len(words):
        return "cp866" if any(byte < 0xB0 for byte in words) else "cp1251"
    return "cp1251" if sum(byte >= 0xC0 for byte in words) > _MOSTLY_OF_PAGE * len(words) else ""


def _is_binary(content: bytes) -> bool:
    """Whether it is no text in any encoding: characters that none has, all over."""
    step = max(1, len(content) // _SPOTS)
    spots = b"".join(content[at : at + _HEAD] for at in range(0, len(content), step))
    return len(spots.translate(None, _TEXT)) > _SELDOM * len(spots)


def shown(text: str) -> str:
    """A text as a terminal would have shown it."""
    if "\x1b" in text or "\x9b" in text:
        text = _ESCAPES.sub("", text)
    elif has(text, "[0m"):  # the escape character was lost on the way
        text = _LOST_ESCAPES.sub("", text)
    if "\r" in text:
        text = re.sub(r"(?<!\r)\r+\n", "\n", text)
        if "\n" not in text:
            text = text.replace("\r", "\n")
        text = _each("\r", _last_written, text)
    if "\x08" in text:
        text = _each("\x08", _rubbed_out, text)
    if not text.isascii() and _ODD.search("".join(beyond_ascii(text))):
        text = _usual(text)
    # Bytes lose them many times as fast as a pattern finds them.
    content = text.encode("utf-8", "surrogatepass").translate(None, _ASCII_CONTROLS)
    text = content.decode("utf-8", "surrogatepass")
    for character, plain in _LIKE.items():
        text = text.replace(character, plain)
    return text


def _usual(text: str) -> str:
    """A text without what was encoded twice, control characters and spaces of print."""
    for page, pattern in _TWICE.items():
        if pattern.search(text):
            lines = text.split("\n")
            text = "\n".join(_once(line, page) if pattern.search(line) else line for line in lines)
    return _THIN.sub("\u00a0", _SPACES.sub(" ", _CONTROLS.sub("", text)))


def beyond_ascii(text: str) -> set[str]:
    """All characters of a text that ASCII does not have."""
    content = text.encode("utf-8", "surrogatepass").translate(None, _ASCII)
    return set(content.decode("utf-8", "surrogatepass"))


def _each(mark: str, change: Callable[[str], str], text: str) -> str:
    """The text with each line changed that has the mark."""
    return "\n".join(change(line) if mark in line else line for line in text.split("\n"))


def _once(line: str, page: str) -> str:
    """A line of UTF-8 that was read as a code page, read again."""
    try:
        if page:
            return line.encode(page).decode("utf-8")
        return b"".join(
            _BYTE.get(character) or character.encode("latin-1") for character in line
        ).decode("utf-8")
    except (UnicodeEncodeError, UnicodeDecodeError):
        return line


def _last_written(line: str) -> str:
    """What a line shows whose cursor went back to its start: progress, then its end."""
    parts = [part for part in line.split("\r") if part.strip()]
    return parts[-1] if parts else ""


def _rubbed_out(line: str) -> str:
    line = _RUBBED_AT_ONCE.sub("", line)  # nearly all of it: a flood of ping prints and rubs out
    if "\x08" not in line:
        return line
    kept: list[str] = []
    for character in line:
        if character != "\x08":
            kept.append(character)
        elif kept:
            kept.pop()
    return "".join(kept)
