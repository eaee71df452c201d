"""No pattern of explain tries a text in ever more ways: nothing that is repeated may end with, or
consist of, something repeated that could as well be the beginning of the next turn."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest

import benchbook.explain
from benchbook.explain.lazy_regex import Late

MANY = 8  # turns from which on the ways are too many
REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT)
EVERY = frozenset(map(chr, range(128)))
CATEGORIES = {
    op.CATEGORY_DIGIT: r"\d",
    op.CATEGORY_NOT_DIGIT: r"\D",
    op.CATEGORY_SPACE: r"\s",
    op.CATEGORY_NOT_SPACE: r"\S",
    op.CATEGORY_WORD: r"\w",
    op.CATEGORY_NOT_WORD: r"\W",
}
Item = tuple[Any, Any]


def characters(item: Item) -> frozenset[str]:
    """The ASCII characters with which what the item matches can begin."""
    kind, value = item
    if kind is op.LITERAL:
        return frozenset(chr(value))
    if kind is op.NOT_LITERAL:
        return EVERY - {chr(value)}
    if kind is op.RANGE:
        return frozenset(map(chr, range(value[0], min(value[1], 127) + 1)))
    if kind is op.CATEGORY:
        return frozenset(c for c in EVERY if re.match(CATEGORIES[value], c))
    if kind is op.IN:
        negated = value[0][0] is op.NEGATE
        found = frozenset().union(*map(characters, value[negated:]))
        return EVERY - found if negated else found
    if kind is op.ANY:
        return EVERY
    if kind in REPEATS:
        return begins(opened(value[2]))
    if kind is op.BRANCH:
        return frozenset().union(*(begins(opened(way)) for way in value[1]))
    return frozenset()


def opened(body: Any) -> list[Item]:
    """The items of a body, those of groups among them."""
    items: list[Item] = []
    for kind, value in body:
        items += opened(value[3]) if kind is op.SUBPATTERN else [(kind, value)]
    return items


def may_be_empty(item: Item) -> bool:
    kind, value = item
    if kind in REPEATS:
        return value[0] == 0
    if kind is op.BRANCH:
        return any(all(map(may_be_empty, opened(way))) for way in value[1])
    return kind in (op.AT, op.ASSERT, op.ASSERT_NOT)


def begins(items: list[Item]) -> frozenset[str]:
    """With which characters the items can begin, one behind the other."""
    found: frozenset[str] = frozenset()
    for item in items:
        found |= characters(item)
        if not may_be_empty(item):
            break
    return found


def is_ambiguous(items: list[Item]) -> bool:
    """Whether one turn of a repeated body can be two: `(a+)+`, `(?:\\d\\d*,?)+`."""
    for place, (kind, value) in enumerate(items):
        if not all(map(may_be_empty, items[place + 1 :])):
            continue
        before = items[:place]
        if kind is op.BRANCH and any(is_ambiguous([*before, *opened(way)]) for way in value[1]):
            return True
        if kind not in REPEATS or value[1] < MANY:
            continue
        inner = characters((kind, value))
        if all(may_be_empty(item) or characters(item) & inner for item in before) and (
            begins([*before, (kind, value)]) & inner
        ):
            return True
    return False


def repeated(body: Any) -> Iterator[list[Item]]:
    """The bodies of everything that is repeated many times."""
    for kind, value in body:
        if kind in REPEATS:
            if value[1] >= MANY:
                yield opened(value[2])
            yield from repeated(value[2])
        elif kind is op.SUBPATTERN:
            yield from repeated(value[3])
        elif kind is op.BRANCH:
            for way in value[1]:
                yield from repeated(way)
        elif kind in (op.ASSERT, op.ASSERT_NOT):
            yield from repeated(value[1])


def explodes(pattern: str | bytes) -> bool:
    text = pattern.decode("latin-1") if isinstance(pattern, bytes) else pattern
    return any(map(is_ambiguous, repeated(parser.parse(text))))


@pytest.mark.parametrize(
    "pattern",
    [r"(a+)+$", r"(?:\s*[\w./]+,?)+$", r"(?:\s*(?:\d[\d.]*|nan),?){3,40}$", r"(?:\w*\s*)*$"],
)
def test_patterns_that_explode_are_seen(pattern: str) -> None:
    assert explodes(pattern)


@pytest.mark.parametrize(
    "pattern", [r"(?:\s+\S+)+$", r"(?:\d+,)*\d+$", r"(?:a{1,3})+$", r"(?:,\s*\d+)*$"]
)
def test_others_are_not(pattern: str) -> None:
    assert not explodes(pattern)


def test_no_pattern_of_explain_does() -> None:
    found = []
    for module in pkgutil.walk_packages(benchbook.explain.__path__, "benchbook.explain."):
        for name, value in vars(import_module(module.name)).items():
            if isinstance(value, Late | re.Pattern) and explodes(value.pattern):
                found.append(f"{module.name}.{name}: {value.pattern!r}")
    assert found == []
