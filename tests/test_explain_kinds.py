"""What is looked for in a log is asked once of each kind of line, and rules of what they need."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from benchbook.explain.api import read
from benchbook.explain.clean.pipeline import log_of
from benchbook.explain.line_index import Kinds
from benchbook.explain.rules import Machine, asked_of, rules, shapes_of

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
    assert sizes == [0, 1]
    assert len(lines) == len({*lines}) < 7


def needing() -> list[ModuleType]:
    return [rule for rule in rules() if hasattr(rule, "NEEDS")]


def test_a_rule_has_nothing_to_say_of_reports_that_lack_what_it_needs() -> None:
    """Those that are left out are judged by themselves, beside those that are not."""
    left_out = 0
    for path in sorted(LOGS.glob("*/*.log")):
        reports = read(log_of(path.read_bytes()))
        shapes = shapes_of(reports)
        for rule in needing():
            own = asked_of(rule, reports, shapes)
            others = [report for report in reports if not any(report is each for each in own)]
            assert not list(rule.check(others, MACHINE)), (rule.__name__, path)
            left_out += len(others)
    assert len(needing()) > 40
    assert left_out > 10_000
