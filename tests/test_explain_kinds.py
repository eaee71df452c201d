"""What is looked for in a log is asked once of each kind of line."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbook.explain.line_index import Kinds
from benchbook.explain.rules import Machine

LOGS = Path(__file__).parent / "logs"
MACHINE = Machine(llc_bytes=32 << 20, memory_bytes_per_s=2e10)


@pytest.fixture(scope="module")
def kinds() -> Kinds:
    return Kinds("size 10^6\nsize 10^7\niperf 3.9\nCopy: 5\n缓存 8\n\nCopy: 77")


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        (("size",), [0, 1]),
        (("10^",), [0, 1]),
        (("10^7",), [1]),
        (("Copy", "10^6"), [0, 3, 6]),
        (("缓存",), [4]),
        (("Triad",), []),
        (("9",), [2]),
        ((), []),
    ],
)
def test_words_are_found_in_their_lines(
    kinds: Kinds, words: tuple[str, ...], lines: list[int]
) -> None:
    assert kinds.lines_with(words) == lines
    assert any(map(kinds.has, words)) == bool(lines)


def test_words_may_be_there_with_other_digits(kinds: Kinds) -> None:
    assert kinds.may_have(("10^", "iperf 4.", "Copy", "Scale")) == {"10^", "iperf 4.", "Copy"}


def test_lines_of_a_kind_are_found_at_once(kinds: Kinds) -> None:
    lines: list[str] = []
    sizes = kinds.lines_like(lambda line: lines.append(line) or line.startswith("size"))
    assert list(sizes) == [0, 1]
    assert len(lines) == len({*lines}) < 7
