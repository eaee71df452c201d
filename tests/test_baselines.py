"""What calls cost without their loop, calls that are samples by themselves, and calls that move no
bytes: numbers whose answer is known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT

from benchbook.analyse import stage as analyse_stage
from benchbook.define import catalogue, points
from benchbook.define.settings import load_settings
from benchbook.detect.detectors import cache_resident, first_touch, zero_page
from benchbook.detect.inputs.run_table import RunTables, seen_of
from benchbook.evidence.stage import Row
from benchbook.judge import baselines
from benchbook.measure.pilot import calibrate
from benchbook.plan import plan
from benchbook.report.sections import net_cost

BLOCKS = 8
BASELINE = {"call": "loop"}
GHZ = 2.5
MIB = 2**20


def point(call: str, variant: str = "v", twin: str = "", **more: Any) -> dict[str, Any]:
    factors = {"call": call, "method": "batch"}
    return {
        "experiment": "syscall",
        "point": points.Point(variant, factors, twin).id,
        "variant": variant,
        "twin": twin,
        "factors": factors,
        "state": "ok",
        "time_ns": 100.0,
        "observations": {baselines.CYCLES: GHZ},
        **more,
    }


def measured(times_ns: dict[str, list[float]]) -> pd.DataFrame:
    """Summaries of these medians, one per block."""
    return pd.DataFrame(
        [
            {"point": name, "block": block, "median_ns": value}
            for name, values in times_ns.items()
            for block, value in enumerate(values)
        ]
    )


def test_what_both_have_in_common_is_gone() -> None:
    loop, call = point("loop", time_ns=1.5), point("getpid-libc")
    common = np.random.default_rng(5).uniform(1, 50, BLOCKS)
    table = measured({loop["point"]: [*common], call["point"]: [*(common + 90.0)]})
    (found,) = baselines.net([loop, call], table, BASELINE)
    assert (found["point"], found["baseline"]) == (call["point"], loop["point"])
    assert found["net_ns"] == pytest.approx(90)
    assert (found["low_ns"], found["high_ns"]) == (pytest.approx(90), pytest.approx(90))
    assert (found["blocks"], found["cycles_per_ns"]) == (BLOCKS, GHZ)


def test_only_blocks_with_both_count_and_few_have_no_interval() -> None:
    loop, call = point("loop"), point("getpid-libc")
    table = measured({loop["point"]: [1.0] * 3, call["point"]: [11.0, 12.0, 13.0, 500.0]})
    (found,) = baselines.net([loop, call], table, BASELINE)
    assert found["net_ns"] == pytest.approx(11)
    assert (found["low_ns"], found["high_ns"], found["blocks"]) == (None, None, 3)
    assert baselines.net([loop, call], measured({loop["point"]: [1.0]}), BASELINE) == []


def test_without_a_baseline_of_its_own_nothing_is_taken_off() -> None:
    loop, other = point("loop"), point("getpid-libc", "w")
    failed = point("clock-vdso", state="failed")
    again = point("getpid-libc", twin="again")
    named = [loop, other, failed, again]
    table = measured({call["point"]: [5.0] * BLOCKS for call in named})
    assert baselines.net(named, table, BASELINE) == []
    assert baselines.net([loop, point("getpid-libc")], table, {}) == []
    lost = point("loop", state="failed")
    assert baselines.net([lost, point("getpid-libc")], table, BASELINE) == []


def test_the_page_has_time_and_cycles() -> None:
    calls = [point("loop", time_ns=1.5), point("getpid-libc", time_ns=91.5), point("clock-vdso")]
    table = measured({call["point"]: [call["time_ns"]] * BLOCKS for call in calls})
    net = baselines.net(calls, table, BASELINE)
    absent = {"experiment": "syscall", "point": "w", "state": "cannot_run", "reason": "no compiler"}
    paper = {"points": [*calls, absent], "experiments": {"syscall": {"net": net, "names": {}}}}
    rows = net_cost.rows(paper, "syscall")
    assert [(row["time"], row["net"], row["cycles"]) for row in rows] == [
        ("91.5 ns", "90.0", "225"),
        ("100 ns", "98.5", "246"),
    ]
    assert net_cost.baselines(paper, "syscall").endswith("(1.50 ns)")
    assert net_cost.rate_ghz(paper, "syscall") == "2.50 GHz"
    without = [{**row, "cycles_per_ns": None} for row in net]
    paper["experiments"] = {"syscall": {"net": without, "names": {}}}
    assert net_cost.rate_ghz(paper, "syscall") == ""
    assert {row["cycles"] for row in net_cost.rows(paper, "syscall")} == {"–"}


def test_a_setting_fits_points_that_have_its_values() -> None:
    one = points.Point("v", {"call": "loop", "method": "single"})
    assert one.has_one_of([{"method": "batch"}, {"method": ["each", "single"]}])
    assert not one.has_one_of([{"method": "single", "call": "getpid"}])
    assert not one.has_one_of([])


def test_points_that_are_not_looped_are_samples_by_themselves() -> None:
    made = plan.make_plan(ROOT, "syscall", load_settings(ROOT, {"preset": "tiny"}))
    assert made.unlooped == [
        entry.id for entry in made.wanted if entry.factors["method"] == "single"
    ]
    assert made.unlooped
    numbers, _ = calibrate(made, dict.fromkeys((point.id for point in made.points), 50.0), 0)
    for point in made.points:
        looped = point.factors["method"] == "batch"
        assert (numbers[point.id]["loops"] > 1) == looped
    # Which ones they are decides what is measured.
    assert made.fingerprint() != replace(made, unlooped=[]).fingerprint()


def test_each_call_for_memory_is_a_sample() -> None:
    made = plan.make_plan(ROOT, "allocation", load_settings(ROOT, {"preset": "quick"}))
    apart = [entry.id for entry in made.wanted if entry.factors["method"] != "pair"]
    assert set(made.unlooped) == set(apart)


def test_every_call_has_its_loop_in_every_preset() -> None:
    content = catalogue.definition(ROOT, "syscall")
    for preset in ("tiny", "quick", "paper"):
        found, _ = points.expand(content, catalogue.crosses(content, preset), {})
        names = {entry.id for entry in found}
        for entry in found:
            below = {**entry.factors, **content["baseline"]}
            assert points.Point(entry.variant, below).id in names


def test_what_moves_no_bytes_has_no_rate() -> None:
    time = {"time_ns": 100.0, "time_low_ns": 90.0, "time_high_ns": 110.0}
    assert set(analyse_stage.rates(0.0, time).values()) == {None}
    assert analyse_stage.rates(100.0, time)["rate_bytes_per_s"] == pytest.approx(1e9)


def seen_of_memory(name: str, observed: dict[str, Any], declared: float = 0.0) -> Any:
    """One point that gets 1 MiB, with what was observed of it."""
    row = {
        "point": name,
        "variant": "v",
        "twin": "",
        "factors": {"bytes": MIB, "touch": 1},
        "state": "ok",
        "observations": {"buffers_bytes": MIB, "anonymous_bytes": 0} | observed,
        "time_ns": 1e3,
        "bytes_per_call": declared,
        "samples": 80,
        "blocks": 8,
    }
    host = {"sizes": {"total LLC": 32 * MIB}, "caches": {"llc_sysfs_bytes": 32 * MIB}}
    evidence: list[Row] = []
    return seen_of(RunTables([row], {"buffers": 1, **host}, evidence))


def test_memory_that_is_had_and_not_read_has_no_zero_page_and_no_cache() -> None:
    for detector in (zero_page, cache_resident):
        assert not detector.detect(seen_of_memory("p", {})).findings
        # The same of a copy is one.
        assert detector.detect(seen_of_memory("p", {}, declared=MIB)).findings


def test_faults_between_the_samples_are_nobodys_first_touch() -> None:
    between = {"minor_faults": 2560, "timed_minor_faults": 0}
    assert not first_touch.detect(seen_of_memory("p", between)).findings
    within = {"minor_faults": 2560, "timed_minor_faults": 2560}
    (found,) = first_touch.detect(seen_of_memory("p", within)).findings
    assert "pages are new every time" in found.explanation
