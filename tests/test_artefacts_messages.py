"""Detectors of messages between ranks: hits, clean points, and what is missing, by made-up rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchbook.controls.replays import seen_of_scene
from benchbook.controls.synthetic.messages import point, scene
from benchbook.detect import Judged, Seen
from benchbook.detect.detectors import buffer_reuse, eager_rendezvous

LLC_BYTES = 32 << 20
SIZES = (1024, 4096, 16384)


def seen(
    points: list[dict[str, Any]],
    times: list[float],
    llc: int | None = LLC_BYTES,
    libc: int | None = None,
) -> Seen:
    dice = np.random.default_rng(5)
    host = {"llc_sysfs_bytes": llc, "llc_sysconf_bytes": libc}
    return seen_of_scene(scene(dice, points, times, True, host))


def sweep(name: str, ahead: tuple[bool, ...], **more: Any) -> list[dict[str, Any]]:
    return [
        point(f"{name}{size}", size, ahead=is_ahead, **more)
        for size, is_ahead in zip(SIZES, ahead, strict=True)
    ]


def judged(ahead: tuple[bool, ...], times: tuple[float, ...] = (1e3, 2e3, 3e4)) -> Judged:
    return eager_rendezvous.detect(seen(sweep("", ahead), list(times)))


def test_a_change_of_protocol_is_found_with_its_sizes_and_its_price() -> None:
    told = judged((True, True, False))
    (found,) = told.findings
    assert told.clean == ["1024"]
    assert found.where == ["16384", "4096"]
    assert "up to 4 KiB are sent before" in found.explanation
    assert "From 16 KiB on they wait" in found.explanation
    # 30 µs for 16 KiB against 2 µs for 4 KiB: 15 times the time for 4 times the bytes.
    assert found.effect == "explains"
    assert found.factor == pytest.approx(4 / 15, rel=0.05)
    assert found.confidence < 1


def test_a_change_that_costs_no_byte_more_only_informs() -> None:
    (found,) = judged((True, True, False), (1e3, 2e3, 7e3)).findings
    assert (found.effect, found.factor) == ("informs", None)


@pytest.mark.parametrize("ahead", [(True,) * 3, (False,) * 3])
def test_a_sweep_with_one_protocol_is_clean(ahead: tuple[bool, ...]) -> None:
    found = judged(ahead)
    assert not found.findings
    assert len(found.clean) == len(SIZES)


def test_sizes_that_go_to_and_fro_are_no_threshold() -> None:
    found = judged((True, False, True))
    assert not found.findings
    assert len(found.abstained) == len(SIZES)


def test_without_the_observation_it_cannot_tell() -> None:
    rows = sweep("", (True, True, False))
    del rows[2]["sent_before_received"]
    found = eager_rendezvous.detect(seen(rows, [1e3, 2e3, 3e4]))
    assert not found.findings
    assert list(found.abstained) == ["16384"]


def test_a_threshold_that_was_moved_makes_it_certain() -> None:
    rows = sweep("a", (True, False, False), environment={"THRESHOLD": "1"})
    rows += sweep("b", (True, True, False), environment={"THRESHOLD": "2"})
    (found,) = eager_rendezvous.detect(seen(rows, [1e3, 2e4, 3e4, 1e3, 2e3, 3e4])).findings
    assert found.confidence == 1
    assert "the switch follows: it is then at 4 KiB, 16 KiB" in found.explanation


def test_other_work_is_another_sweep() -> None:
    """Windows and round trips, memory and a network: each with its own threshold."""
    rows = sweep("a", (True, True, True)) + sweep("b", (False, False, False), shared_memory=0)
    assert not eager_rendezvous.detect(seen(rows, [1e3] * 6)).findings


def test_a_window_that_shrinks_with_its_messages_is_the_same_sweep() -> None:
    rows = sweep("", (True, True, False), messages_in_window=64, message_directions=1)
    rows[2]["messages_in_window"] = 16
    # As many bytes in as much time: the change costs nothing.
    (found,) = eager_rendezvous.detect(seen(rows, [1e4, 4e4, 4e4])).findings
    assert found.effect == "informs"


def twins(rotating: int = 4 * LLC_BYTES) -> list[dict[str, Any]]:
    more = {"rotation_bytes": rotating, "message_buffers_bytes": rotating}
    return [point("same", 65536, ahead=False), point("rotating", 65536, ahead=False, **more)]


def test_the_same_buffers_are_faster_than_such_beyond_the_cache() -> None:
    (found,) = buffer_reuse.detect(seen(twins(), [1e4, 1.5e4])).findings
    assert found.where == ["same"]
    assert found.factor == pytest.approx(1.5, rel=0.03)
    assert "64 KiB of buffers" in found.explanation
    assert "rotate over 128 MiB" in found.explanation


def test_buffers_that_make_no_difference_are_clean() -> None:
    found = buffer_reuse.detect(seen(twins(), [1e4, 1e4]))
    assert not found.findings
    assert found.clean == ["rotating", "same"]


def test_buffers_that_vary_more_than_they_may_differ_are_not_judged() -> None:
    scene = seen(twins(), [1e4, 1.1e4])
    starts = scene.starts
    loud = (starts["where"] == "rotating") & (starts["block"] % 2 == 0)
    starts.loc[loud, "median_ns"] = 0.95e4
    found = buffer_reuse.detect(scene)
    assert not found.findings
    assert "varies too much" in found.abstained["same"]


def test_a_twin_that_is_faster_is_not_what_a_cache_does() -> None:
    found = buffer_reuse.detect(seen(twins(), [2e4, 1e4]))
    assert not found.findings
    assert "longer than its control measurement" in found.abstained["same"]


def test_the_twin_rotates_beyond_the_largest_cache_that_anything_names() -> None:
    """A virtual machine was told of 32 MiB by the kernel, and of ten times as much by libc."""
    within = buffer_reuse.detect(seen(twins(), [1e4, 1.5e4], libc=10 * LLC_BYTES))
    assert not within.findings
    assert "no control measurement with buffers larger than the cache" in within.abstained["same"]
    assert "32 MiB or 320 MiB" in within.abstained["rotating"]
    (found,) = buffer_reuse.detect(
        seen(twins(11 * LLC_BYTES), [1e4, 1.5e4], libc=10 * LLC_BYTES)
    ).findings
    assert found.where == ["same"]
    assert "fit in a cache of 32 MiB" in found.explanation


@pytest.mark.parametrize(
    ("rows", "llc", "why"),
    [
        (twins()[:1], LLC_BYTES, "no control measurement with buffers larger than the cache"),
        (
            twins(LLC_BYTES // 2),
            LLC_BYTES,
            "no control measurement with buffers larger than the cache",
        ),
        (twins(), None, "the last-level cache, are unknown"),
    ],
)
def test_without_a_twin_or_a_cache_it_cannot_tell(
    rows: list[dict[str, Any]], llc: int | None, why: str
) -> None:
    found = buffer_reuse.detect(seen(rows, [1e4, 1.5e4][: len(rows)], llc))
    assert not found.findings
    assert why in found.abstained["same"]


def test_points_without_messages_are_not_judged() -> None:
    copy = pd.DataFrame([{"where": "copy", "payload_bytes": 4096, "round_trips": 3}])
    for detector in (eager_rendezvous, buffer_reuse):
        found = detector.detect(Seen(points=copy))
        assert not found.findings
        assert not {*found.clean, *found.abstained}
