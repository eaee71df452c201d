"""Words in a long text. Its lines are very many, but without their digits they are of few kinds: to
look at one line of each kind is a thousand times as fast."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import chain

_ZEROS = bytes.maketrans(b"123456789", b"000000000")
_DIGIT = re.compile(r"[0-9]")


def has(text: str, word: str) -> bool:
    """Whether a long text has the word: a character of it that is nowhere is found to be missing
    many times as fast."""
    return all(character in text for character in word) and word in text


class Kinds:
    """The lines of a text by their kind: what each is with zeros for its digits."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._of_lines = _zeros(text).split("\n")
        self._every = list(dict.fromkeys(self._of_lines))
        self._joined = "\n".join(self._every)

    @cached_property
    def _lines(self) -> dict[str, list[int]]:
        numbers: dict[str, list[int]] = {}
        for number, kind in enumerate(self._of_lines):
            if kind in numbers:
                numbers[kind].append(number)
            else:
                numbers[kind] = [number]
        return numbers

    @cached_property
    def _texts(self) -> list[str]:
        return self.text.split("\n")

    def has(self, word: str) -> bool:
        """Whether the text has the word."""
        return has(self._joined, _zeros(word)) and (not _DIGIT.search(word) or word in self.text)

    def may_have(self, words: Iterable[str]) -> set[str]:
        """The words that it has, or would have with other digits."""
        return {word for word in words if has(self._joined, _zeros(word))}

    def lines_with(self, words: Iterable[str]) -> list[int]:
        """Which of its lines, counted from 0, have one of these words, in order."""
        there = self.may_have(words)
        kinds = self._kinds_with(there)
        numbers = sorted(chain.from_iterable(self._lines[kind] for kind in kinds))
        if not any(map(_DIGIT.search, there)):
            return numbers
        return [number for number in numbers if any(word in self._texts[number] for word in there)]

    def lines_like(self, is_wanted: Callable[[str], object]) -> Iterator[int]:
        """The indices of the lines for which this is true, in order.

        Lines that differ by their digits alone are one kind. Each kind is tested once, with zeros
        for its digits, when its first line comes.
        """
        known: dict[str, bool] = {}
        for number, kind in enumerate(self._of_lines):
            if kind not in known:
                known[kind] = bool(is_wanted(kind))
            if known[kind]:
                yield number

    def _kinds_with(self, words: Iterable[str]) -> set[str]:
        kinds = set[str]()
        for word in map(_zeros, words):
            kinds.update([kind for kind in self._every if word in kind])
        return kinds


def _zeros(text: str) -> str:
    # Bytes change many times as fast as characters.
    content = text.encode("utf-8", "surrogatepass").translate(_ZEROS)
    return content.decode("utf-8", "surrogatepass")
