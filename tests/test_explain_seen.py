"""Samples of a log, judged by the detectors of our own runs; rules that hold for any tool."""

from __future__ import annotations

import random

import pytest

from benchbook.explain import sample_detectors
from benchbook.explain.model import Report, Result
from benchbook.explain.rules import Ask, Machine
from benchbook.explain.rules.caches import cache_resident
from benchbook.explain.rules.ceilings import above_ceiling
from benchbook.explain.rules.clocks import timer_granularity
from benchbook.explain.rules.inconsistent_rates import inconsistent_rate
from benchbook.explain.rules.inconsistent_statistics import inconsistent_order
from benchbook.explain.rules.tails import best_of_n

RNG = random.Random(7)
QUIET = [1 + RNG.gauss(0, 0.02) for _ in range(300)]
TAIL = [value * (100 if n % 50 == 7 else 1) for n, value in enumerate(QUIET)]
GROUPS = [value * (3 if RNG.random() < 0.4 else 1) for value in QUIET]


def samples(values: list[float], unit: str = "ms") -> list[Report]:
    rows = [Result("round trip", value, unit, 2 + n, "sample") for n, value in enumerate(values)]
    return [Report("tool", rows, 1)]


def report(*results: Result, **facts: object) -> list[Report]:
    return [Report("tool", list(results), 1, facts=dict(facts))]


@pytest.mark.parametrize(
    ("values", "artefacts"),
    [(QUIET, []), (TAIL, ["heavy-tail"]), (GROUPS, ["bimodal"]), (TAIL[:19], []), ([0.0] * 50, [])],
)
def test_the_shape_of_samples(values: list[float], artefacts: list[str]) -> None:
    found = list(sample_detectors.findings(samples(values)))
    assert [finding.artefact for finding in found] == artefacts
    for finding in found:
        assert finding.where == ["lines 2 to 301: round trip"]
        assert "start" not in finding.explanation


def test_rates_have_the_shape_of_their_times() -> None:
    found = sample_detectors.findings(samples([1 / value for value in TAIL], "MiB/s"))
    assert [finding.artefact for finding in found] == ["heavy-tail"]


def test_very_many_samples_are_judged_evenly() -> None:
    found = sample_detectors.findings(samples(TAIL * 200))
    assert [finding.artefact for finding in found] == ["heavy-tail"]


def test_all_runs_of_a_file_are_judged_together() -> None:
    runs = [*samples(TAIL), *samples(QUIET), *samples([2 * value for value in TAIL])]
    for at, run in enumerate(runs):
        for result in run.results:
            result.line += 1000 * at
    (found,) = sample_detectors.findings(runs)
    places = ["lines 2 to 301: round trip", "lines 2002 to 2301: round trip"]
    assert (found.artefact, found.where) == ("heavy-tail", places)


def test_what_was_told_of_one_run_is_told_of_the_others() -> None:
    runs = [*samples(TAIL), *samples(TAIL)]
    for result in runs[1].results:
        result.line += 1000
    (found,) = sample_detectors.findings(runs, {("heavy-tail", "line 5: round trip sample")})
    assert found.where == ["lines 1002 to 1301: round trip"]


MIB = 2**20


def stream(array_bytes: int, **of: object) -> list[Report]:
    facts = {"array_bytes": array_bytes, "working_set_bytes": 3 * array_bytes}
    return report(Result("Copy", 1e4, "MB/s", 5, "best", of), **facts)


@pytest.mark.parametrize(
    ("array_mib", "llc_mib", "effects"),
    [(1, 32, ["biases"]), (10, 32, ["biases"]), (20, 32, ["informs"]), (128, 32, [])],
)
def test_sizes_against_the_caches(array_mib: int, llc_mib: int, effects: list[str]) -> None:
    told = cache_resident.check(stream(array_mib * MIB), Machine(llc_mib * MIB, source="--l3"))
    assert [finding.effect for finding in told] == effects
    by_log = stream(array_mib * MIB)
    by_log[0].facts["llc_bytes"] = llc_mib * MIB
    assert [finding.effect for finding in cache_resident.check(by_log, Machine())] == effects


def test_unknown_caches_are_asked_for_where_they_decide() -> None:
    (ask,) = cache_resident.check(stream(76 * MIB), Machine())
    assert isinstance(ask, Ask)
    assert "less than 19 MiB" in ask.why
    assert list(cache_resident.check(stream(2048 * MIB), Machine())) == []
    (sure,) = cache_resident.check(stream(MIB // 16), Machine())
    assert sure.confidence < 1
    (found,) = cache_resident.check(
        report(Result("rate", 1.0, "MiB/s", 3), working_set_bytes=1024), Machine()
    )
    assert found.where == ["line 3: rate"]


def test_a_sweep_through_the_caches_is_no_mistake() -> None:
    rows = [
        Result("read", 1e4, "MB/s", 1 + n, of={"working_set_bytes": MIB << 2 * n}) for n in range(6)
    ]
    assert list(cache_resident.check(report(*rows), Machine(32 * MIB, source="--l3"))) == []
    assert len(list(cache_resident.check(report(*rows[:3]), Machine(32 * MIB)))) == 1


def test_more_than_memory_or_a_core_carries() -> None:
    host = Machine(MIB, memory_bytes_per_s=40e9, source="--host x")
    fast = stream(512 * MIB)
    fast[0].results[0] = Result("Copy", 60e3, "MB/s", 5, "best")
    (found,) = above_ceiling.check(fast, host)
    assert found.factor == pytest.approx(60 / 46)
    assert list(above_ceiling.check(fast, Machine())) == []
    dead = stream(512 * MIB, threads=1)
    dead[0].results[0] = Result("Copy", 2e6, "MB/s", 5, "best", {"threads": 1})
    assert [finding.effect for finding in above_ceiling.check(dead, Machine())] == ["invalidates"]


@pytest.mark.parametrize(
    ("rate", "elapsed", "artefacts"),
    [
        (100.0, 1.0, []),
        (101.0, 1.0, []),
        (100.0, 0.9536743, ["unit-mix"]),
        (104.8576, 1.0, []),
        (150.0, 1.0, ["inconsistent-report"]),
        (10.0, 1.0, ["inconsistent-report"]),
        (800.0, 1.0001, ["unit-mix"]),
        (104.8576, 1.0001, ["unit-mix"]),
        (0.0, 0.0, []),
        (100.0, 0.0, []),
    ],
)
def test_bytes_over_time_make_the_rate(rate: float, elapsed: float, artefacts: list[str]) -> None:
    moved = {"bytes_moved": 100_000_000, "elapsed_s": elapsed}
    found = inconsistent_rate.check(report(Result("Copy", rate, "MB/s", 9, of=moved)), Machine())
    assert [finding.artefact for finding in found] == artefacts


@pytest.mark.parametrize(
    ("statistics", "wrong"),
    [
        ({"min": 1.0, "mean": 2.0, "max": 3.0}, 0),
        ({"min": 1.0, "mean": 4.0, "max": 3.0}, 1),
        ({"min": 1.0, "mean": 0.41, "max": 3.0}, 1),
        ({"min": 1.0, "mean": 1.0, "max": 1.0}, 0),
        ({"p50": 2.1, "p99": 1.5, "max": 3.0}, 1),
        ({"median": 2.0, "p99": 2.5, "p99.9": 9.0, "max": 9.0}, 0),
        ({"min": 0.1, "mean": 0.12, "max": 0.1}, 0),
        ({"min": 1.0, "stddev": 9.0, "max": 2.0}, 0),
    ],
)
def test_the_order_of_statistics(statistics: dict[str, float], wrong: int) -> None:
    rows = [Result("rtt", value, "ms", 4, name) for name, value in statistics.items()]
    assert len(list(inconsistent_order.check(report(*rows), Machine()))) == wrong


@pytest.mark.parametrize(
    ("mean", "worst", "found"), [(1.1, 1.3, 0), (1.6, 2.0, 1), (1.2, 3.5, 1), (1.05, 3.5, 0)]
)
def test_what_the_best_hides(mean: float, worst: float, found: int) -> None:
    rows = [Result("Copy", 1e4, "MB/s", 4, "best")]
    times = {"mean": mean, "min": 1.0, "max": worst}
    rows += [Result("Copy time", value, "s", 4, name) for name, value in times.items()]
    assert len(list(best_of_n.check(report(*rows), Machine()))) == found


@pytest.mark.parametrize(("ticks", "effects"), [(1, ["invalidates"]), (10, ["informs"]), (50, [])])
def test_ticks_of_the_clock(ticks: int, effects: list[str]) -> None:
    told = stream(MIB)
    told[0].facts |= {"clock_ticks": ticks, "clock_resolution_ns": 1000}
    assert [finding.effect for finding in timer_granularity.check(told, Machine())] == effects
