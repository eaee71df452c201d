"""What is wrong with a page's markup: what an HTML parser mends silently, and tables with gaps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

# Jupyter's exporter brings it; the validator of the W3C (vnu) needs Java and is run by hand, as
# CONTRIBUTING.md says.
from bleach._vendor import html5lib

HTML = "{http://www.w3.org/1999/xhtml}"


def faults(html: str) -> list[str]:
    """Each fault of a page in a line; none of a sound page."""
    parser = html5lib.HTMLParser()
    tree = parser.parse(html)
    lines = html.splitlines()
    mended = [f"{code}: {lines[place[0] - 1].strip()[:160]}" for place, code, _ in parser.errors]
    return [*mended, *(gap for table in tree.iter(f"{HTML}table") for gap in _gaps(table))]


def _gaps(table: Any) -> Iterator[str]:
    """Rows of a table that do not cover as many columns as its widest row."""
    widths = []
    over: dict[int, int] = {}  # row number -> columns that cells of rows above reach down to it
    for number, row in enumerate(table.iter(f"{HTML}tr")):
        width = over.pop(number, 0)
        for cell in row:
            columns = int(cell.get("colspan", 1))
            width += columns
            for below in range(1, int(cell.get("rowspan", 1))):
                over[number + below] = over.get(number + below, 0) + columns
        widths.append((width, " ".join("".join(row.itertext()).split())[:120]))
    most = max((width for width, _ in widths), default=0)
    for width, text in widths:
        if width != most:
            yield f"a row of {width} of {most} columns: {text}"
