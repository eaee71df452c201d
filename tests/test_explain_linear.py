"""The work of explain grows with the log, not faster: calls are counted, nothing is timed."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from log_fuzz import mutated

from benchbook import importers
from benchbook.importers import Report, Result
from benchbook.logs.cleaning import log_of
from benchbook.logs.explain import explained, of_content
from benchbook.logs.printing import MOST_RUNS, print_explained
from benchbook.logs.rules import Machine, rules

LOGS = Path(__file__).parent / "logs"
LINES, SLACK = 400, 1.3
STATISTICS = ("min", "mean", "median", "p99", "max", "sample", "best", "total", "interval", "sum")


def calls(work: Callable[[], object]) -> int:
    """How many functions are called, those in C too."""
    counted = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal counted
        counted += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return counted


def is_linear(work: Callable[[int], object]) -> bool:
    work(LINES)  # what is imported and kept once
    return calls(lambda: work(2 * LINES)) <= 2 * SLACK * calls(lambda: work(LINES))


def test_quadratic_work_is_seen() -> None:
    assert is_linear(lambda n: [abs(one) for one in range(n)])
    assert not is_linear(lambda n: [abs(one) for one in range(n) for _ in range(n)])


@pytest.mark.parametrize("name", importers.names())
def test_twice_the_lines_are_twice_the_work(name: str) -> None:
    sample = min((LOGS / name).glob("*.log"), key=lambda one: one.stat().st_size)
    lines = sample.read_bytes().splitlines()

    def work(count: int) -> None:
        explained("x", b"\n".join((lines * (count // len(lines) + 1))[:count]), Machine())

    assert is_linear(work)


@pytest.mark.parametrize("rule", rules(), ids=lambda one: one.__name__.rpartition(".")[2])
@pytest.mark.parametrize("rising", [True, False])
def test_rules_are_linear_in_the_results_of_one_setting(rule: object, rising: bool) -> None:
    def report(count: int) -> Report:
        of = {"stream": "SUM", "end": "sender", "start_s": 0.0, "end_s": 1.0, "message_bytes": 64}
        results = [
            Result("transferred", 1.0 + rising * n, "B", n + 1, STATISTICS[n % 10], of)
            for n in range(count)
        ] + [
            Result("transferred", 1.0, "B", n + 1, STATISTICS[n % 10], {**of, "stream": f"{n % 2}"})
            for n in range(count)
        ]
        return Report("x", results, 1, facts={"streams": 2, "protocol": "tcp"})

    assert is_linear(lambda n: list(rule.check([report(n)], Machine())))  # type: ignore[attr-defined]


def test_words_of_an_importer_are_in_whatever_has_its_signs() -> None:
    """WORDS are looked for in ASCII only."""
    contents = [path.read_bytes() for path in sorted(LOGS.glob("*/*.log"))]
    contents += [mutated(random.Random(3_000_000 + seed)) for seed in range(100)]
    modules = [importers.importer(name) for name in importers.names()]
    asked = [one for one in modules if getattr(one, "WORDS", ())]
    assert asked
    for text in (log_of(content).text for content in contents):
        for module in asked:
            found = module.SIGNS.search(text)
            assert not found or any(word in text for word in module.WORDS), (module.TOOL, found)
            assert all(word.isascii() for word in module.WORDS)


def test_words_are_in_what_the_signs_find() -> None:
    """Whatever stands around it: the words are part of the sign itself, which is of one line."""
    for name in importers.names():
        module = importers.importer(name)
        for path in sorted(LOGS.glob("*/*.log")) if getattr(module, "WORDS", ()) else ():
            for found in module.SIGNS.finditer(log_of(path.read_bytes()).text):
                assert any(word in found[0] for word in module.WORDS), (name, found[0])
                lines = found[0].strip("\n").split("\n")
                assert any(module.SIGNS.search(line) for line in lines), (name, found[0])


def test_very_many_runs_are_counted_not_printed(capsys: pytest.CaptureFixture[str]) -> None:
    sample = (LOGS / "stream/c-5.10-openmp.log").read_bytes()
    found = of_content("x", (sample + b"\n") * (MOST_RUNS + 3), Machine())
    print_explained(found, alone=True)
    said = capsys.readouterr().out
    assert len(found.reports) == MOST_RUNS + 3
    assert said.count("from line") == MOST_RUNS
    assert "and 3 more runs" in said
