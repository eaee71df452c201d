"""The machine's page in a real browser, of machines that this one is not."""

from __future__ import annotations

from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import sysfs_trees as trees
from browser import look

from benchbook.core import number_format
from benchbook.host.topology import Topology, read_topology
from benchbook.report.plots import machine as machine_plot
from benchbook.report.plots import style
from benchbook.report.plots import topology as topology_plot
from benchbook.report.sections import topology

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def shown(browser: Browser, folder: Path, *pictures: style.Picture) -> dict[str, Any]:
    """What is seen of a page with these pictures only."""
    path = folder / "page.html"
    body = "".join(picture.inline for picture in pictures)
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    sheet = "<style>svg { max-width: 100%; height: auto }</style>"
    path.write_text(f"<!doctype html>{head}{sheet}{body}", encoding="utf-8")
    return look(browser, path)


def noise(readings: list[dict[str, Any]], waits: list[float]) -> dict[str, Any]:
    """The part of an analysis that the course of time is drawn from."""
    return {
        "experiment": "made-up",
        "readings": readings,
        "disturbance": {
            "start_ns": 0,
            "blocks": [],
            "thresholds": {"run_delay_fraction": 0.1},
            "starts": [
                {"t_start_ns": k * 10**9, "run_delay_fraction": wait}
                for k, wait in enumerate(waits)
            ],
        },
    }


@pytest.mark.parametrize("top", [0.42, 0.8, 1.45, 1.65, 2.1, 9, 400])
def test_numbers_of_low_panels_and_their_titles_keep_apart(
    browser: Browser, tmp_path: Path, top: float
) -> None:
    """Ranges at which the numbers of an axis, or the highest and the title, lay on each other."""
    ns = {"anchor": 1e6, "work 1": 1.0, "pair 0-1": 100.0}
    readings = [
        {"name": name, "value": value * unit, "t_ns": k * 10**9, "state": None}
        for name, unit in ns.items()
        for k, value in enumerate((0.385, 0.41, top))
    ]
    drawn = machine_plot.over_time(noise(readings, [0.0, top / 100]))
    assert drawn is not None
    seen = shown(browser, tmp_path, drawn)
    assert "wait for a CPU" in drawn.inline
    assert seen["overlaps"] == seen["cut_off"] == []


@pytest.mark.parametrize("high", [0.42, 0.5, 0.8, 1.2, 1.65, 2.1, 4.0, 30.0, 4000.0])
def test_ticks_keep_the_distance_asked_for(high: float) -> None:
    apart = (high / 0.38) ** 0.16
    ticks = style.ticks(0.38, high, 4, apart)
    assert ticks
    assert all(b >= apart * a for a, b in pairwise(ticks))


def facts_of(machine: Topology, usable: list[int] | None = None) -> dict[str, Any]:
    """What a run on this machine records of its CPUs and caches."""
    return {
        "cpus": [asdict(cpu) for cpu in machine.online],
        "usable_cpus": usable or [cpu.id for cpu in machine.cpus],
        "caches": [asdict(cache) for cache in machine.caches],
    }


MACHINES = {
    "guest": (trees.firecracker(), "2 cores on 1 socket, 1 last-level cache of 105 MiB"),
    "one socket": (trees.one_socket(), "4 cores on 1 socket, 1 last-level cache of 6 MiB"),
    "two sockets": (
        trees.epyc(),
        "128 cores (256 hardware threads) on 2 sockets, 16 last-level caches of 32 MiB",
    ),
    "threads": (
        trees.epyc(1, 8, 2),
        "8 cores (16 hardware threads) on 1 socket, 1 last-level cache of 32 MiB",
    ),
    "hybrid": (
        trees.hybrid(),
        "16 cores (24 hardware threads) on 1 socket, 1 last-level cache of 30 MiB",
    ),
    "Arm": (trees.arm(), "4 cores on 1 socket; no cache is known"),
}


@pytest.mark.parametrize("name", MACHINES)
def test_topologies_are_drawn(browser: Browser, tmp_path: Path, name: str) -> None:
    tree, title = MACHINES[name]
    machine = read_topology(tree.write(tmp_path))
    facts = facts_of(machine)
    drawn = topology_plot.topology("topology", facts)
    assert drawn is not None
    assert topology_plot.title(facts).replace(number_format.FIXED, " ") == title
    seen = shown(browser, tmp_path, drawn)
    assert seen["overlaps"] == seen["cut_off"] == []
    labels = [f"L{cache.level}" for cache in machine.caches]
    assert all(label in drawn.alt for label in labels)


def test_cpus_that_are_not_ours_are_told(tmp_path: Path) -> None:
    machine = read_topology(trees.epyc(1, 16, 2).write(tmp_path))
    drawn = topology_plot.topology("topology", facts_of(machine, [8, 9, 24]))
    assert drawn is not None
    assert "29 CPUs of 32 may not be used here" in drawn.alt


@pytest.mark.parametrize("facts", [{}, {"cpus": []}, {"hwloc": {"reason": "absent"}}])
def test_a_topology_that_nobody_recorded_has_no_picture(facts: dict[str, Any]) -> None:
    assert topology_plot.topology("topology", facts) is None
    assert topology.section(facts) is None


def test_a_thousand_cores_are_counted(browser: Browser, tmp_path: Path) -> None:
    machine = read_topology(trees.epyc(1, 512, 2).write(tmp_path))
    drawn = topology_plot.topology("topology", facts_of(machine))
    assert drawn is not None
    seen = shown(browser, tmp_path, drawn)
    assert "and 32 more caches with their cores" in drawn.inline
    assert "64 × L3" in drawn.alt
    assert seen["overlaps"] == seen["cut_off"] == []
