"""A rule that is asked for the shape of many runs says the same as one that is asked for each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchbook.explain import readers
from benchbook.explain.api import log_of, read
from benchbook.explain.model import Report, Result
from benchbook.explain.outlines import Each, LookedError, Place, Runs
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import Machine, Rule, Statement, rules

LOGS = Path(__file__).parent / "logs"
MACHINES = (Machine(), Machine(2**25, 8, 2**34, 4e10, "--host x"))
TIMES, MOST_BYTES = 9, 4000


def of_rule(name: str) -> Rule:
    return next(rule for rule in rules() if rule.name == name)


def asked(name: str, reports: list[Report]) -> list[Report]:
    """The reports that a rule is called with, but outlines."""
    own: list[Report] = []
    rule = of_rule(name)

    def noting(report: Report) -> Iterator[Statement]:
        own.extend([report] if type(report) is Report else [])
        yield from rule.function(report)

    list(Rule(name, noting, rule.takes).check(Runs(reports), Machine()))
    return own


def alike(value: float, **facts: object) -> list[Report]:
    return [
        Report("fio", [Result("read clat", value, "ms", n, "mean")], n, facts=dict(facts))
        for n in range(TIMES)
    ]


@pytest.mark.parametrize("name", readers.names())
def test_rules_say_the_same_by_shape(name: str) -> None:
    samples = sorted((LOGS / name).glob("*.log"), key=lambda path: path.stat().st_size)
    short = [sample for sample in samples if sample.stat().st_size < MOST_BYTES]
    text = b"\n".join(sample.read_bytes() + b"\n" for sample in short[:: max(1, len(short) // 6)])
    reports = read(log_of((text + b"\n") * TIMES))
    for machine in MACHINES:
        runs = Runs(reports)
        for rule in rules():
            by_shape: list[Statement] = list(rule.check(runs, machine))
            assert by_shape == list(rule.check(reports, machine)), rule.name


def test_what_no_run_has_is_asked_for_once() -> None:
    reports = alike(1.0)
    assert asked("busy_machine", reports) == []
    assert len(asked("busy_machine", reports[:5])) == 5


@pytest.mark.parametrize(
    ("loads", "count"), [((1.0, 1.0), 0), ((0.1, 1.2), 0), ((1.0, 9.0), TIMES), ((9.0, 8.0), TIMES)]
)
def test_where_reports_differ_in_an_answer_each_is_asked(
    loads: tuple[float, float], count: int
) -> None:
    reports = alike(1.0, load_average=0.0, cores=2, load_line=1)
    for place, report in enumerate(reports):
        report.facts["load_average"] = loads[place % 2]
    assert len(asked("busy_machine", reports)) == count


def test_numbers_of_each_are_compared_one_by_one() -> None:
    less, more = Each([1.0, 5.0]), Each([2.0, 6.0])
    assert less < more
    assert not less + 1 > more
    assert less + 1 == more
    assert is_number(less)
    assert max(less, more) is more
    with pytest.raises(LookedError):
        bool(less < 3)
    with pytest.raises(LookedError):
        bool(less == Each([1.0, 6.0]))
    with pytest.raises(LookedError):
        f"{less}"
    with pytest.raises(LookedError):
        1 / Each([0.0, 1.0])


def test_lines_of_one_report_are_told_apart_where_all_reports_have_them_alike() -> None:
    first, second = Place([3, 13]), Place([5, 15])
    assert len({first, second, Place([3, 13])}) == 2
    assert first < second


def test_runs_of_another_shape_are_asked() -> None:
    loaded = alike(1.0, load_average=9.0, cores=2, load_line=1)[:1]
    reports = [*alike(1.0), *loaded]
    assert asked("busy_machine", reports) == loaded
