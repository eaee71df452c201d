"""matplotlib's SVG with the same picture in a third of the bytes: nobody sees a millionth of a
point, and most of its groups, names and fonts are said again and again.
"""

from __future__ import annotations

import re

FONT = "font-family: 'DejaVu Sans', 'Verdana', sans-serif"
DIGITS = 2  # of a coordinate in points: a hundredth of one is a fiftieth of a pixel
_TAG = re.compile(r"(<[^>]+>)")
_NAMED = re.compile(r'(?:url\(#|href="#)([^")]+)')
_PLACES = re.compile(r' (d|x|y|transform)="([^"]*)"')
_NUMBER = re.compile(r"-?\d+\.\d+")
_STROKES = re.compile(r'<path d="([^"]*)"((?: clip-path="[^"]*")? style="fill: none;[^"]*")/>')
_USE = re.compile(r'<use ([^>]*?) style="([^"]*)"/>')


def minified(svg: str) -> str:
    """The SVG with fewer bytes: texts and order as they were, coordinates to 0.01 points."""
    named = {name: _letters(k) for k, name in enumerate(dict.fromkeys(_NAMED.findall(svg)))}
    kept: list[str] = []
    opened: list[bool] = []  # groups: whether each says anything
    for piece in _TAG.split(svg):
        tag = _tag(piece, named) if piece.startswith("<") else piece.strip("\n ") and piece
        if tag.startswith("<g") and tag[2] in " >/":
            if tag.endswith("/>"):
                continue
            opened.append(tag != "<g>")
            tag = tag if opened[-1] else ""
        elif tag == "</g>":
            tag = tag if opened.pop() else ""
        kept.append(tag)
    return "".join(_shared(_joined(kept))).replace("<svg ", f'<svg style="{FONT}" ', 1)


def _letters(number: int) -> str:
    """a, b, … z, ba, bb: the shortest names."""
    high, low = divmod(number, 26)
    return (_letters(high) if high else "") + chr(ord("a") + low)


def _tag(tag: str, named: dict[str, str]) -> str:
    tag = re.sub(
        r' id="([^"]*)"', lambda match: f' id="{named[match[1]]}"' if match[1] in named else "", tag
    )
    tag = _NAMED.sub(lambda match: match[0].replace(match[1], named[match[1]]), tag)
    tag = tag.replace(FONT + "; ", "")
    tag = re.sub(r' transform="rotate\(-0 [^)]*\)"', "", tag)
    return _PLACES.sub(_place, tag)


def _place(match: re.Match[str]) -> str:
    """An attribute with rounded coordinates, without the spaces that a path does not need."""
    name, text = match.groups()
    if name == "transform" and not text.startswith(("rotate", "translate")):
        return match[0]
    text = _NUMBER.sub(lambda number: _rounded(number[0]), text)
    if name == "d":
        text = re.sub(r"\s*([A-Za-z])\s*", r"\1", text.strip())
        # A dot is a line of no length with round ends.
        text = re.sub(r"M([^A-Z]*)L\1(?=M|$)", r"M\1h0", text)
    return f' {name}="{text}"'


def _rounded(number: str) -> str:
    text = f"{float(number):.{DIGITS}f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _joined(tags: list[str]) -> list[str]:
    """Lines after one another that look the same become one path, where none shines through."""
    joined: list[str] = []
    look, lines = "", ""
    for tag in filter(None, tags):
        stroke = _STROKES.fullmatch(tag)
        if stroke and "opacity" not in tag and stroke[2] == look:
            lines += stroke[1]
            joined[-1] = f'<path d="{lines}"{look}/>'
            continue
        joined.append(tag)
        look, lines = (stroke[2], stroke[1]) if stroke and "marker" not in tag else ("", "")
    return joined


def _shared(tags: list[str]) -> list[str]:
    """Marks after one another that look the same stand in a group that says how, once.

    A group's own opacity would show overlaps otherwise, so marks that shine through stay.
    """
    shared: list[str] = []
    marks: list[tuple[str, str]] = []

    def close() -> None:
        if len(marks) > 1:
            inner = "".join(f"<use {where}/>" for where, _ in marks)
            shared.append(f'<g style="{marks[0][1]}">{inner}</g>')
        else:
            shared.extend(f'<use {where} style="{style}"/>' for where, style in marks)
        marks.clear()

    for tag in tags:
        use = _USE.fullmatch(tag)
        if use and not re.search(r"(?<!-)opacity", use[2]):
            if marks and marks[0][1] != use[2]:
                close()
            marks.append((use[1], use[2]))
        else:
            close()
            shared.append(tag)
    close()
    return shared
