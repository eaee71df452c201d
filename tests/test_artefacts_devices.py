"""What is told of transfers to a device, on tables made by hand."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from made_up_transfers import linked, rows, seen

from benchbook.detect import Judged, Seen
from benchbook.detect.detectors import (
    async_not_waited,
    cache_resident,
    host_memory_device,
    link_asleep,
    pageable,
    unpinned,
)
from benchbook.host.pcie import link_bytes_per_s

LINK = (16.0, 16)


def only(judged: Judged) -> Any:
    (finding,) = judged.findings
    assert finding.explanation.count(". ") <= 3, finding.explanation
    assert finding.explanation.endswith(".")
    return finding


@pytest.mark.parametrize(
    ("gt_per_s", "width", "gb_per_s"),
    [
        (2.5, 1, 0.25),
        (5, 16, 8),
        (8, 16, 15.754),
        (16, 16, 31.508),
        (32, 4, 15.754),
        (64, 1, 7.375),
    ],
)
def test_what_a_link_carries(gt_per_s: float, width: int, gb_per_s: float) -> None:
    """The first is what the paper states: 250 MB/s for one lane of the first generation."""
    assert link_bytes_per_s(gt_per_s, width) / 1e9 == pytest.approx(gb_per_s, rel=1e-4)


# async-not-waited


def test_orders_that_were_not_done_void_the_figure() -> None:
    table = seen(
        {"orders_done_fraction": 0.25, "time_ns": 1e5, "device_time_ns": 5e6},
        {"orders_done_fraction": 1.0, "time_ns": 5e6, "device_time_ns": 5e6},
    )
    judged = async_not_waited.detect(table)
    finding = only(judged)
    assert (finding.effect, finding.where, finding.confidence) == ("invalidates", ["p0"], 1.0)
    assert finding.factor == 50
    assert "25 % of the transfers" in finding.explanation
    assert "50 times as long" in finding.explanation
    assert judged.clean == ["p1"]


def test_a_device_that_tells_no_times_leaves_the_factor_open() -> None:
    finding = only(async_not_waited.detect(seen({"orders_done_fraction": 0.0, "time_ns": 1e5})))
    assert finding.factor is None


def test_more_than_the_link_carries_was_not_carried() -> None:
    most = link_bytes_per_s(*LINK)
    times = [(1 << 26) / (share * most) * 1e9 for share in (3, 0.9)]
    unknown = {"orders_done_fraction": None, **linked(LINK, LINK, LINK)}
    judged = async_not_waited.detect(seen(*({"time_ns": time, **unknown} for time in times)))
    finding = only(judged)
    assert (finding.where, finding.confidence) == (["p0"], 0.9)
    assert finding.factor == pytest.approx(3)
    assert judged.clean == ["p1"]


def test_what_was_not_observed_is_not_judged() -> None:
    judged = async_not_waited.detect(seen({"orders_done_fraction": None, "time_ns": 1e5}))
    assert not judged.findings
    assert judged.abstained == {"p0": "whether its transfers were finished was not observed"}


# host-memory-device


def test_a_device_in_host_memory_has_no_bus() -> None:
    judged = host_memory_device.detect(
        seen(
            {"device_is_host_memory": 1},
            {"device_is_host_memory": 1, "bytes_to_device": 1 << 20},
            {"device_is_host_memory": 0},
            {"device_is_host_memory": None},
            host={"total_llc_bytes": 1 << 25},
        )
    )
    finding = only(judged)
    assert (finding.effect, finding.where) == ("invalidates", ["p0", "p1"])
    assert "1 MiB to 64 MiB" in finding.explanation
    assert "1 of them both buffers fit in the last-level caches of 32 MiB" in finding.explanation
    assert judged.clean == ["p2"]
    assert list(judged.abstained) == ["p3"]


# link-asleep


@pytest.mark.parametrize(
    ("load", "factor"), [((2.5, 16), 2.5 * 0.8 / (16 * 128 / 130)), ((16.0, 4), 0.25)]
)
def test_a_link_that_does_not_wake_bounds_all(load: tuple[float, int], factor: float) -> None:
    finding = only(link_asleep.detect(seen(linked((2.5, 4), load, LINK), linked(load, load, LINK))))
    assert (finding.effect, finding.where) == ("biases", ["p0", "p1"])
    assert finding.factor == pytest.approx(factor)
    assert f"{load[0]:g} GT/s on {load[1]} lanes" in finding.explanation
    assert "16 GT/s on 16 lanes" in finding.explanation


def test_a_link_that_wakes_makes_the_idle_ceiling_wrong() -> None:
    finding = only(link_asleep.detect(seen(linked((2.5, 16), LINK, LINK))))
    assert (finding.effect, finding.factor) == ("informs", None)
    assert "7.88 times too low" in finding.explanation


def test_a_start_that_finds_the_link_awake_does_not_hide_another_that_did_not() -> None:
    awake, asleep = (linked(idle, LINK, LINK) for idle in (LINK, (2.5, 16)))
    assert only(link_asleep.detect(seen(awake, asleep, awake))).where == ["p0", "p1", "p2"]


def test_a_link_at_its_best_is_clean_and_small_transfers_tell_nothing_of_it() -> None:
    small = {"bytes_to_device": 4096, **linked(LINK, (2.5, 16), LINK)}
    judged = link_asleep.detect(seen(linked(LINK, LINK, LINK), small))
    assert not judged.findings
    assert judged.clean == ["p0", "p1"]
    judged = link_asleep.detect(seen(small))
    assert judged.abstained == {"p0": "the link under load was not observed"}


def test_a_bridge_above_the_device_that_bounds_it_is_named() -> None:
    ports = {"link_most_at": "0000:41:00.0", "link_idle_at": "0000:41:00.0"}
    narrow = {**linked(LINK, (8.0, 4), LINK), **ports, "link_load_at": "0000:40:01.1"}
    finding = only(link_asleep.detect(seen(narrow)))
    assert finding.effect == "biases"
    assert "8 GT/s on 4 lanes at the bridge 0000:40:01.1, but" in finding.explanation
    assert finding.explanation.count("bridge") == 1


def test_each_device_has_a_link_of_its_own() -> None:
    slow = {"through_cuda": 1, **linked((2.5, 16), (2.5, 16), LINK)}
    judged = link_asleep.detect(seen(linked(LINK, LINK, LINK), slow))
    assert only(judged).where == ["p1"]
    assert judged.clean == ["p0"]


def test_host_memory_has_no_link() -> None:
    judged = link_asleep.detect(seen({"device_is_host_memory": 1}))
    assert judged == Judged()
    assert judged.clean == []


# pageable


def starts(*times_ns: float, blocks: int = 8) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"where": f"p{k}", "block": block, "median_ns": time * (1 + 0.001 * block)}
            for k, time in enumerate(times_ns)
            for block in range(blocks)
        ]
    )


def test_ordinary_memory_that_costs_time_biases() -> None:
    table = seen(
        {"host_memory_is_pinned": 0},
        {"host_memory_is_pinned": 1},
        {"host_memory_is_pinned": 1, "transfer_threads": 4},
        starts=starts(2e6, 1e6, 5e5),
    )
    judged = pageable.detect(table)
    finding = only(judged)
    assert (finding.effect, finding.where) == ("biases", ["p0"])
    assert finding.factor == pytest.approx(0.5)
    assert "2.00 times as long" in finding.explanation
    assert judged.clean == ["p1", "p2"]


@pytest.mark.parametrize("beside", [[{"host_memory_is_pinned": 1}], []])
def test_without_a_cost_that_shows_it_is_told_only(beside: list[dict[str, Any]]) -> None:
    table = seen({"host_memory_is_pinned": 0}, *beside, starts=starts(1e6, 1e6))
    finding = only(pageable.detect(table))
    assert (finding.effect, finding.factor) == ("informs", None)
    assert ("1.00 times" in finding.explanation) == bool(beside)


def test_kinds_of_memory_are_told_of_devices_over_a_bus_only() -> None:
    judged = pageable.detect(
        seen(
            {"host_memory_is_pinned": 0, "device_is_host_memory": 1},
            {"host_memory_is_pinned": None},
        )
    )
    assert not judged.findings
    assert judged.abstained == {"p1": "whether its memory is pinned was not observed"}


# What is no matter of transfers


def test_threads_that_wait_for_a_device_need_no_cpu_of_their_own() -> None:
    table = Seen(
        points=pd.DataFrame(rows({"migrations": 5})),
        starts=pd.DataFrame(
            {"where": ["p0"], "migrations": [5], "cpus_given": [2], "t_start_ns": 0}
        ),
    )
    assert unpinned.detect(table) == Judged()


def test_what_goes_to_a_device_is_of_no_cache() -> None:
    caches = {"total_llc_bytes": 1 << 25, "llc_sysfs_bytes": 1 << 25, "caches": []}
    table = seen({"buffers_bytes": 4096}, host=caches)
    assert cache_resident.detect(table) == Judged()
    (row,) = rows({"buffers_bytes": 4096, "bytes_to_device": None})
    assert cache_resident.detect(Seen(points=pd.DataFrame([row]), host=caches)).findings
