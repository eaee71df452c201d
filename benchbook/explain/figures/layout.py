"""A table as lines of text: numbers in full, names on several lines where there is little room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len

INDENT, GAP = 2, 2
_LEAST_NAME, _LEAST_TEXT = 22, 16  # characters of the first column, and of another with words
_LONGEST_HEAD, _LONGEST_HEAD_WORD = 14, 16
_BREAKS = "/._-:,)=|"


@dataclass(frozen=True)
class FigureTable:
    """Heads and rows of words.

    to_right: which columns are numbers, of which no digit is left out.
    title: what all figures have in common; "" where heads say all.
    line: the first line of the log that it is of."""

    heads: list[str]
    rows: list[list[str]]
    to_right: list[bool]
    line: int
    title: str = ""

    def least_width(self) -> int:
        """Characters that it needs at least."""
        widths = [self._least(at) for at in range(len(self.heads))]
        return INDENT + sum(widths) + GAP * (len(widths) - 1)

    def text(self, width: int) -> list[str]:
        """Its lines without spaces at their ends; longer than `width` only where numbers are."""
        widths = [self._natural(at) for at in range(len(self.heads))]
        least = [self._least(at) for at in range(len(self.heads))]
        room = width - INDENT - GAP * (len(widths) - 1)
        while (over := sum(widths) - room) > 0:
            at = max(range(len(widths)), key=lambda at: (widths[at] - least[at], widths[at]))
            if widths[at] == least[at]:
                break
            widths[at] = max(least[at], widths[at] - over)
        heads = [wrapped(head, size) for head, size in zip(self.heads, widths, strict=True)]
        most = max(map(len, heads))
        lines = self._lines([[""] * (most - len(head)) + head for head in heads], widths)
        for row in self.rows:
            cells = [wrapped(cell, size) for cell, size in zip(row, widths, strict=True)]
            lines += self._lines(cells, widths)
        title = wrapped(self.title, width - INDENT) if self.title else []
        return [*(" " * INDENT + part for part in title), *lines]

    def _lines(self, cells: Sequence[Sequence[str]], widths: Sequence[int]) -> list[str]:
        lines: list[str] = []
        for number in range(max(map(len, cells))):
            parts = [cell[number] if number < len(cell) else "" for cell in cells]
            padded = [
                " " * (size - cell_len(part)) + part
                if right
                else part + " " * (size - cell_len(part))
                for part, size, right in zip(parts, widths, self.to_right, strict=True)
            ]
            lines.append((" " * INDENT + (" " * GAP).join(padded)).rstrip())
        return lines

    def _natural(self, at: int) -> int:
        """The width of a column whose cells all stand on one line."""
        cells = max((cell_len(row[at]) for row in self.rows), default=0)
        word = min(max(map(cell_len, self._words(at))), _LONGEST_HEAD_WORD)
        return max(cells, min(cell_len(self.heads[at]), _LONGEST_HEAD), word)

    def _least(self, at: int) -> int:
        natural = self._natural(at)
        if self.to_right[at]:
            cells = max((cell_len(row[at]) for row in self.rows), default=0)
            return max(cells, min(max(map(cell_len, self._words(at))), _LONGEST_HEAD_WORD))
        return min(natural, _LEAST_TEXT if at else _LEAST_NAME)

    def _words(self, at: int) -> list[str]:
        return self.heads[at].replace("\n", " ").split(" ")


def wrapped(text: str, width: int) -> list[str]:
    """The text in lines of at most so many characters, broken at spaces, and in a long word behind
    a mark where it has one."""
    lines: list[str] = []
    for part in text.split("\n"):
        line = ""
        for whole in part.split(" "):
            word = whole
            if line and cell_len(line) + 1 + cell_len(word) <= width:
                line = f"{line} {word}"
                continue
            if line:
                lines.append(line)
            while cell_len(word) > width:
                end = max((word.rfind(mark, 0, width) for mark in _BREAKS), default=-1) + 1
                end = end if end > width // 2 else width
                lines.append(word[:end])
                word = word[end:]
            line = word
        lines.append(line)
    return lines
