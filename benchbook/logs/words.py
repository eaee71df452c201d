"""Words in a long text: by a search of the whole of it, which is many times as fast as one of each
line where few lines have one."""

from __future__ import annotations

from collections.abc import Iterable

OFTEN = 1000  # lines with a word, from which on each is looked at


_DIGITS = str.maketrans("", "", "0123456789")


def those_in(text: str, words: Iterable[str]) -> set[str]:
    """The words that the text has, or would have with other digits. Of a long log hardly anything
    is left without its digits and what is there twice."""
    kinds = "\n".join(set(text.translate(_DIGITS).split("\n")))
    bare = {word: word.translate(_DIGITS) for word in words}
    there = {one for one in possible(kinds, set(bare.values())) if one in kinds}
    return {word for word, one in bare.items() if one in there}


def has(text: str, word: str) -> bool:
    """Whether a long text has the word: a character of it that is nowhere is found to be missing
    many times as fast."""
    return all(one in text for one in word) and word in text


def possible(text: str, words: Iterable[str]) -> list[str]:
    """The words of which every character is in the text: one that is not is found to be missing ten
    times as fast as a word."""
    several = list(words)
    absent = {one for one in {*"".join(several)} if one not in text}
    return [word for word in several if absent.isdisjoint(word)]


def lines_with(text: str, words: tuple[str, ...]) -> list[int]:
    """Which lines of the text, counted from 0, have one of these words, in order."""
    found = set[int]()
    lines: list[str] = []
    for word in possible(text, words):
        index, counted, at = 0, 0, text.find(word)
        own = list[int]()
        while at >= 0 and len(own) < OFTEN:
            index += text.count("\n", counted, at)
            own.append(index)
            counted, end = at, text.find("\n", at)
            at = text.find(word, end) if end >= 0 else -1
        if at >= 0:
            lines = lines or text.split("\n")
            own = [number for number, line in enumerate(lines) if word in line]
        found.update(own)
    return sorted(found)
