"""What is told of machine, clock and counters, on tables made by hand and on replayed scenes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest

import kernels
from benchbook.controls.replays import seen_of_scene
from benchbook.controls.score import replayed
from benchbook.define.settings import load_settings
from benchbook.detect import Judged, Seen
from benchbook.detect.detectors import (
    absent_counter,
    disturbed,
    drift,
    frequency,
    layout_bias,
    multiplexed_counter,
    state_flip,
)
from benchbook.detect.inputs.run_table import RunTables, seen_of

ROOT = Path(__file__).resolve().parent.parent
CONTROLS = ROOT / "kernels" / "controls"
MS = 1_000_000
ABOVE = load_settings(ROOT, {}).disturbed.model_dump()


def starts(where: str, medians: Any, *, first_ms: int = 0, every_ms: int = 100, **more: Any):
    """One row per start, `every_ms` apart; `more` gives columns, a value for all or a list."""
    times = [float(median) for median in medians]
    at = [(first_ms + every_ms * index) * MS for index in range(len(times))]
    return pd.DataFrame(
        {
            "where": where,
            "block": range(len(times)),
            "invocation": 0,
            "t_start_ns": at,
            "t_end_ns": [begin + 20 * MS for begin in at],
            "median_ns": times,
            "cpus_given": 1,
            **more,
        }
    )


def seen(*tables: pd.DataFrame, **more: Any) -> Seen:
    """Points as the starts name them."""
    table = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()
    names = list(dict.fromkeys(table["where"])) if len(table) else ["p"]
    points = more.pop("points", pd.DataFrame({"where": names, "twin": names, "bytes": 4096}))
    return Seen(points=points, starts=table, **{"host": {"disturbed_above": ABOVE}} | more)


def readings(values: Any, states: Any = None, name: str = "anchor", every_ms: int = 100):
    """Of anchor or probe, just before each start."""
    at = [every_ms * index * MS - MS for index in range(len(values))]
    table = pd.DataFrame({"t_ns": at, "name": name, "value": [float(value) for value in values]})
    return table.assign(state=states)


def only(judged: Judged) -> Any:
    (finding,) = judged.findings
    assert finding.explanation.count(". ") <= 3, finding.explanation
    assert finding.explanation.endswith(".")
    assert finding.remedy
    assert finding.evidence
    return finding


def usage(**more: Any) -> dict[str, Any]:
    """What the operating system accounts of a start of 20 ms that was left alone."""
    return {
        "wall_ns": 20.0 * MS,
        "on_cpu_ns": 20.0 * MS,
        "run_delay_ns": 0.0,
        "voluntary_switches": 0,
        "involuntary_switches": 1,
        "steal_fraction": 0.0,
    } | more


# disturbed


def test_what_counts_as_disturbed_was_set_before_the_run() -> None:
    table = starts("a", [100] * 4, **usage(steal_fraction=0.1))
    lax = {"disturbed_above": ABOVE | {"steal_fraction": 0.2}}
    assert disturbed.detect(seen(table, host=lax)).clean == ["a"]
    assert (
        "no limit for disturbances was set" in disturbed.detect(seen(table, host={})).abstained["a"]
    )


def test_waiting_in_most_starts_biases_and_undisturbed_starts_give_the_factor() -> None:
    delays = [10.0 * MS] * 3 + [0.0]
    table = starts("a", [200, 190, 210, 100], **usage(run_delay_ns=delays))
    finding = only(disturbed.detect(seen(table, starts("b", [100] * 4, **usage()))))
    assert (finding.effect, finding.where, finding.confidence) == ("biases", ["a"], 1.0)
    assert finding.factor == pytest.approx(100 / 195)  # of all starts, the one left alone too
    assert "in 3 of 4 runs" in finding.explanation
    assert "50\u00a0% of its time" in finding.explanation
    assert "0.51 times as long as the median of all" in finding.explanation


def test_waiting_in_few_starts_informs_and_in_one_of_many_is_silent() -> None:
    few = starts("a", [100] * 6, **usage(run_delay_ns=[10.0 * MS] * 2 + [0.0] * 4))
    finding = only(disturbed.detect(seen(few)))
    assert (finding.effect, finding.factor) == ("informs", 1.0)
    one = starts("a", [100] * 3, **usage(run_delay_ns=[10.0 * MS, 0.0, 0.0]))
    assert disturbed.detect(seen(one)) == Judged()


def test_short_waiting_and_turns_of_many_workers_are_no_disturbance() -> None:
    short = starts("a", [100] * 4, **usage(run_delay_ns=0.9 * MS))
    assert disturbed.detect(seen(short)) == Judged()
    crowd = starts("a", [100] * 4, **usage(run_delay_ns=40.0 * MS))
    points = pd.DataFrame({"where": ["a"], "processes": [4]})
    assert disturbed.detect(seen(crowd, points=points)) == Judged()


def test_the_wait_of_two_threads_is_that_of_one() -> None:
    table = starts("a", [100] * 4, **usage(run_delay_ns=1.8 * MS)).assign(cpus_given=2)
    points = pd.DataFrame({"where": ["a"], "threads": [2]})
    assert disturbed.detect(seen(table, points=points)) == Judged()


def test_stolen_time_disturbs() -> None:
    finding = only(disturbed.detect(seen(starts("a", [100] * 4, **usage(steal_fraction=0.1)))))
    assert "the hypervisor took 10\u00a0% of the CPUs’ time" in finding.explanation
    assert finding.factor is None
    assert "Every run was disturbed" in finding.explanation


def test_without_run_delay_one_worker_that_never_slept_still_tells() -> None:
    unknown = usage(run_delay_ns=None)
    assert disturbed.detect(seen(starts("a", [100] * 4, **unknown))) == Judged()
    finding = only(
        disturbed.detect(seen(starts("a", [100] * 4, **(unknown | {"on_cpu_ns": 12.0 * MS}))))
    )
    assert "40\u00a0% of its time" in finding.explanation
    slept = starts("a", [100] * 4, **(unknown | {"voluntary_switches": 3}))
    assert "not observed" in disturbed.detect(seen(slept)).abstained["a"]


def test_the_probe_alone_tells_with_less_certainty() -> None:
    work = readings([1, 1, 1.5, 1.5, 1.5, 1.5, 1], name="work 0")
    finding = only(disturbed.detect(seen(starts("a", [100] * 6, **usage()), readings=work)))
    assert finding.confidence < 1
    assert "1.50 times slower than at its best" in finding.explanation
    few = seen(starts("a", [100] * 6, **usage()), readings=work[:5])
    assert disturbed.detect(few) == Judged()


def test_waiting_of_threads_that_moved_may_be_for_each_other() -> None:
    table = starts("a", [100] * 4, **usage(run_delay_ns=20.0 * MS, migrations=3))
    points = pd.DataFrame({"where": ["a"], "threads": [2]})
    finding = only(disturbed.detect(seen(table.assign(cpus_given=2), points=points)))
    assert finding.confidence < 1
    assert "waited for each other" in finding.explanation
    single = only(disturbed.detect(seen(table)))
    assert single.confidence == 1


def test_the_probe_of_a_core_that_was_not_needed_tells_nothing() -> None:
    slow, quick = [1, 1, 1.5, 1.5, 1.5, 1.5, 1], [1.0] * 7
    work = pd.concat([readings(slow, name="work 0"), readings(quick, name="work 1")])
    table = starts("a", [100] * 6, **usage())
    for given in (1, 2):  # which of the two is not known; the other one was free
        assert disturbed.detect(seen(table.assign(cpus_given=given), readings=work)) == Judged()
    points = pd.DataFrame({"where": ["a"], "threads": [2]})
    both = seen(table.assign(cpus_given=2), readings=work, points=points)
    assert "The machine was slower during 1 measurement" in only(disturbed.detect(both)).explanation


def test_one_reading_at_turbo_makes_no_core_slow() -> None:
    work = readings([0.6, *[1.0] * 20], name="work 0")
    assert disturbed.detect(seen(starts("a", [100] * 20, **usage()), readings=work)) == Judged()


def test_a_point_without_starts_or_usage_abstains() -> None:
    assert "nothing was recorded" in disturbed.detect(seen()).abstained["p"]
    assert "not observed" in disturbed.detect(seen(starts("a", [100] * 3))).abstained["a"]


# state-flip


def flipping(factor: float, count: int = 16) -> Seen:
    dice = np.random.default_rng(5)
    states = [1 + (index // 3) % 2 for index in range(count)]
    levels = [factor if state == 2 else 1.0 for state in states]
    table = starts(
        "a",
        levels * np.exp(0.02 * dice.standard_normal(count)),
        machine_state=list(map(str, states)),
    )
    read = readings([1.6 if state == 2 else 1.0 for state in states], states)
    return seen(table, readings=read)


def test_starts_that_follow_the_states_are_explained() -> None:
    finding = only(state_flip.detect(flipping(1.5)))
    assert (finding.effect, finding.where) == ("explains", ["a"])
    assert finding.factor == pytest.approx(1 / 1.5, rel=0.05)  # of the rate
    assert "1.60 times as long in one as in another" in finding.explanation
    assert "Of 1 measurement, 1 followed it" in finding.explanation


def test_states_that_the_starts_do_not_follow_say_nothing() -> None:
    assert state_flip.detect(flipping(1.0)) == Judged()


def test_one_change_of_state_is_told_with_doubt() -> None:
    states = [1] * 10 + [2] * 10
    table = starts("a", [1 + 0.001 * n for n in range(10)] + [2 + 0.001 * n for n in range(10)])
    table["machine_state"] = [str(state) for state in states]
    finding = only(state_flip.detect(seen(table, readings=readings(states, states))))
    assert finding.confidence < 0.9
    assert "so seldom" in finding.explanation


def test_one_state_says_nothing_and_unknown_states_abstain() -> None:
    table = starts("a", range(1, 21), machine_state="1")
    assert state_flip.detect(seen(table, readings=readings([1.0] * 20, 1))) == Judged()
    few = state_flip.detect(seen(table, readings=readings([1.0] * 5, 1)))
    assert "5 readings" in few.abstained["a"]
    assert (
        "neither the reference copy nor the probe" in state_flip.detect(seen(table)).abstained["a"]
    )
    mostly = [1] * 19 + [2]
    mixed = table.assign(machine_state=["1"] * 18 + ["2", "mixed"])
    told = state_flip.detect(seen(mixed, readings=readings([1.0] * 20, mostly)))
    assert "18 runs in state 1 and 1 run in state 2" in told.abstained["a"]


def test_states_in_which_too_few_starts_lie_to_exclude_chance_abstain() -> None:
    states = [1, 1, 1, 2] * 3
    table = starts("a", [2.0 if state == 2 else 1.0 for state in states])
    table["machine_state"] = [str(state) for state in states]
    judged = state_flip.detect(seen(table, readings=readings(states, states)))
    assert judged.findings == []
    assert "9 runs in state 1 and 3 runs in state 2" in judged.abstained["a"]


def test_readings_without_states_abstain_and_pairs_of_cores_are_named() -> None:
    table = flipping(1.5)
    bare = Seen(points=table.points, starts=table.starts, readings=readings([1.0] * 16)[["name"]])
    assert "no distinct speed states" in state_flip.detect(bare).abstained["a"]
    pairs = Seen(
        points=table.points, starts=table.starts, readings=table.readings.assign(name="pair 0-1")
    )
    assert "a round trip between two cores" in only(state_flip.detect(pairs)).explanation


def test_starts_that_took_no_time_by_a_coarse_clock_are_left_out() -> None:
    table = flipping(1.5, 24)
    table.starts.loc[[0, 4], "median_ns"] = 0.0
    assert only(state_flip.detect(table)).factor == pytest.approx(1 / 1.5, rel=0.05)
    clock = clocked(1, np.linspace(4e6, 3e6, 20))
    clock.starts.loc[3, "median_ns"] = 0.0
    only(frequency.detect(clock))
    layout = placed(0.2)
    layout.starts.loc[3, "median_ns"] = 0.0
    assert "each of 29 runs" in only(layout_bias.detect(layout)).explanation


def test_among_two_hundred_points_one_that_goes_with_its_layout_is_found() -> None:
    moved = placed(0.2)
    still = placed(0.0)
    others = [still.starts.assign(where=f"b{number:03}") for number in range(199)]
    assert only(layout_bias.detect(seen(moved.starts, *others))).where == ["a"]


# frequency


def clocked(exponent: float, khz: Any) -> Seen:
    dice = np.random.default_rng(7)
    times = [
        1e3 * (3e6 / clock) ** exponent * math.exp(0.002 * dice.standard_normal()) for clock in khz
    ]
    return seen(starts("a", times, frequency_khz=[float(clock) for clock in khz]))


def test_times_that_go_with_a_sagging_clock_are_explained() -> None:
    finding = only(frequency.detect(clocked(1, np.linspace(4e6, 3e6, 20))))
    assert (finding.effect, finding.where) == ("explains", ["a"])
    assert "between 3.00 and 4.00 GHz and fell as time went by" in finding.explanation
    assert finding.factor == pytest.approx(0.8, abs=0.03)  # of the rate


def test_times_that_do_not_go_with_the_clock_say_nothing() -> None:
    assert frequency.detect(clocked(0, np.linspace(4e6, 3e6, 20))) == Judged()
    assert frequency.detect(clocked(1, np.linspace(3.01e6, 3e6, 20))) == Judged()
    with_the_wrong_sign = clocked(-1, np.linspace(4e6, 3e6, 20))
    assert frequency.detect(with_the_wrong_sign) == Judged()


def test_an_unread_clock_or_few_starts_abstain() -> None:
    table = starts("a", range(1, 21), frequency_khz=None)
    assert frequency.detect(seen(table)).abstained["a"] == "the clock frequency was not observed"
    assert "too few" in frequency.detect(clocked(1, [4e6, 3e6, 3.5e6])).abstained["a"]


# drift

RISING = [100 * 1.05**n for n in range(16)]


def test_serial_points_on_a_machine_that_slows_down() -> None:
    table = [starts("a", RISING[:8]), starts("b", RISING[8:], first_ms=800)]
    finding = only(drift.detect(seen(*table)))
    assert (finding.effect, finding.where) == ("biases", ["a", "b"])
    assert finding.factor is None  # those measured first are not slow
    assert "2.08 times slower" in finding.explanation
    assert "judged by the runs of each measurement" in finding.explanation


def test_the_anchor_alone_shows_it() -> None:
    table = [starts("a", [100, 101, 100]), starts("b", [150, 151, 150], first_ms=300)]
    anchors = readings([100, 110, 120, 130, 141, 150, 162, 170, 180], every_ms=60)
    finding = only(drift.detect(seen(*table, readings=anchors)))
    assert "slower, judged by the reference copy" in finding.explanation


def test_points_in_turn_or_on_a_steady_machine_say_nothing() -> None:
    in_turn = [
        starts("a", RISING[::2], every_ms=200),
        starts("b", RISING[1::2], first_ms=100, every_ms=200),
    ]
    assert drift.detect(seen(*in_turn)) == Judged()
    steady = [100, 101, 99, 100.5, 99.5, 100.2, 99.8, 100.1]
    serial = [starts("a", steady), starts("b", steady[::-1], first_ms=800)]
    assert drift.detect(seen(*serial)) == Judged()


def test_serial_points_with_too_little_to_tell_abstain() -> None:
    few = [starts("a", [100, 110]), starts("b", [120, 130], first_ms=200)]
    assert set(drift.detect(seen(*few)).abstained) == {"a", "b"}
    single = [starts("a", [100]), starts("b", [120], first_ms=200)]
    assert "one run of each" in drift.detect(seen(*single)).abstained["b"]
    assert "not recorded" in drift.detect(seen()).abstained["p"]


# layout-bias


def placed(effect: float, count: int = 30, **more: Any) -> Seen:
    dice = np.random.default_rng(11)
    source = dice.integers(0, 64, count) * 64
    destination = dice.integers(0, 64, count) * 64
    away = np.cos(2 * np.pi * (destination - source) / 4096)
    table = starts(
        "a",
        100 * np.exp(effect * away + 0.02 * dice.standard_normal(count)),
        source_address_mod_4096=source,
        destination_address_mod_4096=destination,
        environment_padding_bytes=dice.integers(0, 256, count) * 16,
    )
    return seen(table, **more)


def test_times_that_go_with_the_distance_of_the_buffers() -> None:
    finding = only(layout_bias.detect(placed(0.2)))
    assert (finding.effect, finding.where) == ("explains", ["a"])
    assert "distance of the two buffers within a page" in finding.explanation
    assert finding.factor == pytest.approx(math.exp(-0.36), rel=0.1)
    assert "each of 30 runs" in finding.explanation


def test_an_environment_that_moves_the_stack_within_a_line() -> None:
    dice = np.random.default_rng(3)
    padding = dice.integers(0, 256, 40) * 16
    times = np.where(padding % 64 == 48, 130, 100) * np.exp(0.01 * dice.standard_normal(40))
    finding = only(layout_bias.detect(seen(starts("a", times, environment_padding_bytes=padding))))
    assert "within a cache line" in finding.explanation


def test_a_layout_without_effect_says_nothing() -> None:
    assert layout_bias.detect(placed(0.0)) == Judged()


def test_an_unknown_or_fixed_layout_and_few_starts_abstain() -> None:
    assert "recorded" in layout_bias.detect(seen(starts("a", range(1, 21)))).abstained["a"]
    fixed = starts("a", range(1, 21), environment_padding_bytes=64)
    assert "none varied" in layout_bias.detect(seen(fixed)).abstained["a"]
    assert "5 runs are too few" in layout_bias.detect(placed(0.2, 5)).abstained["a"]


def test_a_relinked_twin_that_differs_where_the_same_binary_does_not() -> None:
    dice = np.random.default_rng(2)

    def noisy(level: float) -> Any:
        return level * np.exp(0.005 * dice.standard_normal(14))

    def judged(relinked: float, again: float) -> Judged:
        tables = {"p": noisy(100), "p~relinked": noisy(relinked), "p~again": noisy(again)}
        table = pd.concat([starts(name, times) for name, times in tables.items()])
        points = pd.DataFrame({"where": ["p"], "twin": ["t"]})
        kinds = ["relinked", "again"]
        twins = pd.DataFrame(
            {"where": [f"p~{kind}" for kind in kinds], "twin": "t", "again": kinds}
        )
        return layout_bias.detect(Seen(points=points, starts=table, twins=twins))

    finding = only(judged(110, 100))
    assert finding.factor == pytest.approx(1 / 1.1, rel=0.02)
    assert "linked with padding in front" in finding.explanation
    assert judged(100, 100).findings == []
    assert judged(110, 110).findings == []  # the machine fails its own null


# counters


def count(name: str, value: float | None, **more: Any) -> dict[str, Any]:
    """A row of the evidence stage."""
    common = {"where": "", "unit": "", "source": "perf stat", "state": "ok", "reason": ""}
    return {**common, "name": name, "value": value, **more}


def test_events_that_took_turns() -> None:
    rows = [
        count("cycles", 5.0, multiplexed=True, running_fraction=0.25, where="a"),
        count("instructions", 5.0, multiplexed=False, running_fraction=1.0, where="a"),
    ]
    finding = only(multiplexed_counter.detect(seen(evidence=rows)))
    assert (finding.effect, finding.where) == ("informs", ["a"])
    assert "1 event took turns" in finding.explanation
    assert "for 25\u00a0% of the time and scaled by 4" in finding.explanation
    groups = [count("CPI", 1.0, multiplexed=True, source="likwid MEM + L2")]
    assert (
        "an unknown part of the time"
        in only(multiplexed_counter.detect(seen(evidence=groups))).explanation
    )


def test_whole_counts_say_nothing_and_counts_of_unknown_share_abstain() -> None:
    whole = [count("cycles", 5.0, multiplexed=False, running_fraction=1.0)]
    absent = [count("cycles", None, state="absent"), count("lines_read", 4, source="cachegrind")]
    assert multiplexed_counter.detect(seen(evidence=whole + absent)) == Judged()
    both = [count("cycles", 5.0, where="a"), count("loads", 5.0, multiplexed=True, where="a")]
    assert multiplexed_counter.detect(seen(evidence=both)).abstained == {}
    untold = multiplexed_counter.detect(seen(evidence=[count("cycles", 5.0, where="a")]))
    assert untold.abstained == {"a": "whether cycles was counted all the time was not recorded"}


def test_counts_of_a_point_reach_the_detectors_with_how_they_were_counted() -> None:
    row = {"experiment": "e", "point": "v,bytes=1", "variant": "v", "name": "cycles", "value": 5.0}
    row |= {"source": "perf stat", "state": "ok", "multiplexed": True, "running_fraction": 0.5}
    known = RunTables(points=[], plan={"buffers": 1}, evidence=[row, {**row, "name": "other"}])
    finding = only(multiplexed_counter.detect(seen_of(known)))
    assert finding.where == ["v,bytes=1"]
    assert "2 events took turns" in finding.explanation


def test_counters_that_do_not_answer() -> None:
    why = "the hypervisor shows no counters. Ask it to."
    rows = [
        count("hardware counters", None, state="absent", source="perf", reason=why),
        count("hardware counters", None, state="denied", source="likwid", reason="not allowed"),
        count("page-faults", 0.0, calls=1),
    ]
    finding = only(absent_counter.detect(seen(evidence=rows)))
    assert finding.effect == "informs"
    assert "2 of 3 counter readings have no value" in finding.explanation
    assert "perf: the hypervisor shows no counters" in finding.explanation
    assert "Ask it to" not in finding.explanation
    assert {row["state"] for row in finding.evidence} == {"absent", "denied"}


def test_a_zero_of_a_program_that_ran_is_no_count() -> None:
    rows = [count("LLC-load-misses", 0.0, calls=100), count("cpu-migrations", 0.0, calls=100)]
    finding = only(absent_counter.detect(seen(evidence=rows)))
    assert "LLC-load-misses was reported as 0 although the program ran" in finding.explanation
    assert [row["value"] for row in finding.evidence] == [0.0]


def test_a_zero_beside_counts_is_believed_unless_no_program_can_have_it() -> None:
    true = [
        count("MBOX3C1 bytes", 0.0, calls=1, where="a"),
        count("LLC-load-misses", 0.0, calls=1, where="a"),
        count("instructions", 7.0, calls=1, where="a"),
    ]
    assert absent_counter.detect(seen(evidence=true)) == Judged()
    false = [true[0], {**true[2], "value": 0.0}, count("L1-dcache-loads", 5.0, calls=1, where="a")]
    finding = only(absent_counter.detect(seen(evidence=false)))
    assert "instructions was reported as 0" in finding.explanation
    assert [row["name"] for row in finding.evidence] == ["instructions"]


def test_counters_that_answer_or_were_not_asked_say_nothing() -> None:
    rows = [
        count("cycles", 7.0, calls=1),
        count("lines", None, state="absent", source="cachegrind"),
    ]
    assert absent_counter.detect(seen(evidence=rows)) == Judged()
    assert absent_counter.detect(seen()) == Judged()


# kernels


def running() -> Iterator[str]:
    """The command lines of all processes."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            yield path.read_text(errors="replace")


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_shared_machine_sums_right_and_leaves_no_competitor(
    tmp_path: Path, compiler: str
) -> None:
    source = CONTROLS / "disturbed" / "machine.c"
    program = kernels.build(tmp_path / "machine", source, compiler=compiler)
    numbers = "samples=3,warmup=0,loops=2"
    methods = ("method=alone", "method=beside", "method=slowing,turn=1")
    asked = [word for method in methods for word in ("--point", f"{method},{numbers}")]
    done = kernels.run(program, "--bytes=1024", *asked)
    assert [point["status"] for point in kernels.points(done.stdout)] == ["ok"] * 3
    assert not any(str(program) in name for name in running())


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_columns_are_read_wherever_they_lie(tmp_path: Path, compiler: str) -> None:
    source = CONTROLS / "layout-bias" / "layout.c"
    program = kernels.build(tmp_path / "layout", source, compiler=compiler)
    for offset in (0, 4032):
        points = [
            f"--point=method={method},column_bytes=2048,samples=2,warmup=0,loops=1"
            for method in ("anywhere", "aside")
        ]
        done = kernels.run(program, *points, f"--destination-offset={offset}")
        if done.returncode == 77:
            pytest.skip(done.stderr)
        assert [point["status"] for point in kernels.points(done.stdout)] == ["ok"] * 2
    refused = kernels.run(program, "--point=method=aside,column_bytes=2112,samples=1,loops=1")
    assert refused.returncode == 1
    assert "column_bytes=2112" in refused.stderr


# replays

REPLAYED = (absent_counter, drift, frequency, layout_bias, multiplexed_counter, state_flip)


@pytest.mark.parametrize("detector", REPLAYED, ids=lambda module: module.ARTEFACT.id)
@pytest.mark.parametrize("seed", [1, 2])
def test_replayed_scenes_are_told(detector: ModuleType, seed: int) -> None:
    path = ROOT / "kernels" / "controls" / detector.ARTEFACT.id / "replay.py"
    kinds = set()
    for scene in replayed(path, seed):
        judged = detector.detect(seen_of_scene(scene))
        assert bool(judged.findings) == scene.provoked, judged
        kinds.add(scene.provoked)
        for finding in judged.findings:
            assert finding.remedy
            assert not pd.isna(finding.confidence)
    assert kinds == {True, False}


@pytest.mark.parametrize("detector", REPLAYED, ids=lambda module: module.ARTEFACT.id)
def test_another_order_of_rows_and_other_names_change_nothing(detector: ModuleType) -> None:
    path = ROOT / "kernels" / "controls" / detector.ARTEFACT.id / "replay.py"
    scene = next(iter(replayed(path, 3)))
    one = seen_of_scene(scene)
    names = {where: f"z{9 - index}" for index, where in enumerate(sorted(one.points["where"]))}
    other = Seen(
        points=one.points.assign(where=one.points["where"].map(names))[::-1],
        starts=one.starts.assign(where=one.starts["where"].map(names)).sample(
            frac=1, random_state=1
        )
        if len(one.starts)
        else one.starts,
        readings=one.readings[::-1],
        evidence=[row | {"where": names.get(row["where"], "")} for row in one.evidence][::-1],
    )
    told, again = detector.detect(one).findings, detector.detect(other).findings
    assert [sorted(names[where] for where in found.where) for found in told] == [
        found.where for found in again
    ]
    assert [found.explanation for found in told] == [found.explanation for found in again]
    assert [found.factor for found in told] == pytest.approx([found.factor for found in again])
