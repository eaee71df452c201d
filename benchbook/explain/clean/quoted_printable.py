"""Mails as they are sent: lines folded and bytes spelt as quoted-printable."""

from __future__ import annotations

import re

from benchbook.explain.lazy_regex import late

# One of these is in a text that is spelt so: an equals sign, a plus or minus, a dash.
_MARKS = (b"=3D", b"rintable", b"=C2=B1", b"=E2=80")
_BEGIN = late(rb"^Content-Transfer-Encoding:[ \t]*quoted-printable[ \t]*\r?\n", re.I | re.M)
_END = late(rb"^(?:From |Content-Transfer-Encoding:|--[^\s-])", re.I | re.M)
_FOLDED_SPACE = late(rb"=\r?\n[ \t]*=20[ \t]*\r?\n")  # a line that ends in spaces, folded
# Lines of the length at which mails are folded: a few of them are no chance.
_FOLDED = late(rb"^[^\n]{70,75}\S=\r?$", re.M)
_LEAST_FOLDED, _LOOKED_AT = 3, 1 << 20
_SPELT = late(rb"=([0-9A-Fa-f]{2})")
_SURELY = late(rb"=(?:3D|[89A-F][0-9A-F]|20\r?$|\r?$)", re.M)
_OTHER = late(rb"=(?![0-9A-F]{2}|[ \t]*\r?$)", re.M)


def decoded(content: bytes) -> bytes:
    """The content with such parts as they were written, in as many lines."""
    if b"=" not in content:
        return content
    is_spelt = any(mark in content for mark in _MARKS) or _FOLDED_SPACE.search(content)
    if not is_spelt and len(_FOLDED.findall(content[:_LOOKED_AT])) < _LEAST_FOLDED:
        return content
    parts, at = list[bytes](), 0
    while begin := _BEGIN.search(content, at):
        end = _END.search(content, begin.end())
        to = end.start() if end else len(content)
        parts += [content[at : begin.end()], _part(content[begin.end() : to])]
        at = to
    # Without its head a mail is known by its spelling: none of its = stands for itself.
    return b"".join([*parts, content[at:]]) if parts else _part(content)


def _part(part: bytes) -> bytes:
    if not _SURELY.search(part):
        return part
    lines, folded, several = list[bytes](), list[bytes](), 0
    for line in part.split(b"\n"):
        text = line.rstrip()
        if text.endswith(b"="):
            folded.append(text[:-1])
            several += 1
            continue
        # Some fold inside of a byte that they spell.
        lines += [b"".join([*folded, text]), *[b""] * several]
        folded, several = [], 0
    whole = b"\n".join([*lines, *([b"".join(folded)] if folded else [])])
    # Of `ttl=64` a d would be made.
    return part if _OTHER.search(whole) else _SPELT.sub(_byte, whole)


def _byte(match: re.Match[bytes]) -> bytes:
    byte = bytes([int(match[1], 16)])
    return b"" if byte in b"\r\n" else byte
