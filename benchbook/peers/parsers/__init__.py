"""Parsers of what peers print, one file for each tool, found by wildcard.

A parser module has `parse(text) -> Measured`: pure, of the standard output alone. It raises
NotUnderstoodError with a reason where a figure is missing or no number.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import ModuleType

from benchbook.core import plugins


class NotUnderstoodError(Exception):
    """What a tool printed is not what its parser knows; the reason is the message."""


@dataclass(frozen=True)
class Measured:
    """What a tool says it did: samples in ns, in its order, each of `loops` repetitions and of
    `declared_bytes` bytes in all; `cpus` where it ran, empty where it does not tell."""

    time_ns: list[int]
    declared_bytes: int
    loops: int = 1
    cpus: list[int] = field(default_factory=list)


def names() -> list[str]:
    """All parsers, by name."""
    return plugins.module_names(__name__)


def parser(name: str) -> ModuleType:
    """The parser of that name."""
    return plugins.load(__name__, name)
