"""Causes that loops over arrays have, on made-up runs: stores that allocate, calls, scalar code."""

from __future__ import annotations

import math
from typing import Any

import pytest
from made_up_chain import KIB, LLC, MIB, MadeUp, thresholds

from benchbook.define.models import Anomaly
from benchbook.judge.attribution.explained_share import explained

FLAGS = ("-O3", "-O3", "-O2", "-O1", "-O0")
CONTENT: dict[str, Any] = {
    "base": "v",
    "buffers": 3,
    "starts": ["bytes", "threads"],
    "factors": {
        "bytes": {"unit": "bytes", "text": "size"},
        "method": {"text": "function"},
        "threads": {"text": "threads"},
    },
    "definitions": {},
    "names": {},
    "variants": {
        name: {"compiler": "gcc", "flags": [flag]}
        for name, flag in zip(("v", "w", "scalar", "old", "bare"), FLAGS, strict=True)
    },
}  # fmt: skip
BEYOND = {"bytes": 2 * LLC, "threads": 2}
INSIDE = {"bytes": 256 * KIB, "threads": 2}


class Loops(MadeUp):
    """Loops that declare `arrays` times their size; the library is not called unless said."""

    def __init__(self) -> None:
        super().__init__()
        self.points.clear()
        self.logs.clear()

    def loop(
        self, setting: dict[str, Any], method: str, rate: float, arrays: int = 2,
        variant: str = "v", **seen: Any,
    ) -> dict[str, Any]:  # fmt: skip
        """Plant a loop; returns its setting."""
        found = {**setting, "method": method}
        defaults = {"library_calls": ["GOMP_parallel"], "widest_access_bytes": 64}
        defaults |= {"non_temporal_stores": [], "string_instructions": []}
        self.add(found, rate, variant, **defaults | seen)
        self.points[-1]["bytes_per_call"] = float(arrays * found["bytes"])
        return found | {"variant": variant}


def step_of(
    run: MadeUp, cause: str, odd: Any, base: Any, removed: Any = None, items: Any = None
) -> Any:
    """The one step of a chain."""
    step = {"cause": cause} | ({"removed": removed} if removed else {})
    named = {"id": "a", "text": "odd", "odd": odd, "base": base, "steps": [step]}
    (found,) = explained(
        [Anomaly.model_validate(named)],
        CONTENT,
        run.analysis(),
        run.summaries(),
        items or thresholds(),
    )
    return found["steps"][0]


PAST = {"non_temporal_stores": ["vmovntpd"]}


@pytest.mark.parametrize(("arrays", "expected"), [(2, 2 / 3), (3, 3 / 4)])
def test_stores_that_allocate_move_a_line_more(arrays: int, expected: float) -> None:
    run = Loops()
    odd = run.loop(BEYOND, "copy", 40e9, arrays)
    removed = run.loop(BEYOND, "copy-nt", 55e9, arrays, **PAST)
    step = step_of(run, "write-allocate", odd, removed, removed)
    assert step["predicted"]["value"] == pytest.approx(expected)
    assert step["measured"]["value"] == pytest.approx(40 / 55, rel=0.01)


def test_what_was_counted_comes_before_what_such_stores_move() -> None:
    run = Loops()
    odd = run.loop(BEYOND, "copy", 40e9)
    removed = run.loop(BEYOND, "copy-nt", 55e9, **PAST)
    items = thresholds()
    for point, read, written in ((run.points[0], 2.6, 1.0), (run.points[1], 1.0, 1.0)):
        for name, arrays in (
            ("bytes_read_from_memory", read),
            ("bytes_written_to_memory", written),
        ):
            size = point["factors"]["bytes"]
            items.append(
                {"point": point["point"], "name": name, "value": arrays * size, "state": "ok",
                 "source": "perf", "reason": "", "declared_bytes": 2 * size}
            )  # fmt: skip
    step = step_of(run, "write-allocate", odd, removed, removed, items)
    assert step["predicted"]["value"] == pytest.approx(2 / 3.6)


def test_stores_of_one_kind_are_no_cause() -> None:
    run = Loops()
    sides = [run.loop(BEYOND, method, 40e9) for method in ("copy", "scale")]
    assert step_of(run, "write-allocate", *sides)["state"] == "excluded"


def test_in_a_cache_allocating_is_not_priced() -> None:
    run = Loops()
    odd = run.loop(INSIDE, "copy", 40e9)
    removed = run.loop(INSIDE, "copy-nt", 50e9, **PAST)
    assert step_of(run, "write-allocate", odd, removed, removed)["state"] == "cannot_tell"


@pytest.mark.parametrize(
    ("size", "expected", "word"),
    [(4 * LLC, 1.0, "vector loop"), (64 * 32 * LLC, 55 / 40, "non-temporal")],
)
def test_a_call_is_predicted_by_what_the_library_does_at_its_size(
    size: int, expected: float, word: str
) -> None:
    run = Loops()
    setting = {"bytes": size, "threads": 2}
    odd = run.loop(setting, "copy", 41e9, library_calls=["GOMP_parallel", "memcpy"])
    removed = run.loop(setting, "copy", 40e9, variant="w")
    base = run.loop(setting, "scale", 39e9)
    run.loop(BEYOND, "copy", 40e9)
    run.loop(BEYOND, "copy-nt", 55e9, **PAST)
    step = step_of(run, "libcall-substituted", odd, base, removed)
    assert word in step["why"]
    assert step["predicted"]["value"] == pytest.approx(expected, rel=0.01)


def test_a_string_instruction_is_predicted_by_one_written_by_hand() -> None:
    run = Loops()
    setting = {"bytes": MIB, "threads": 2}
    odd = run.loop(setting, "copy", 90e9, library_calls=["memcpy"])
    removed = run.loop(setting, "copy", 60e9, variant="w")
    run.loop(INSIDE, "copy", 60e9)
    run.loop(INSIDE, "copy-movsb", 84e9, string_instructions=["rep movsb"])
    step = step_of(run, "libcall-substituted", odd, removed, removed)
    assert step["predicted"]["value"] == pytest.approx(1.4, rel=0.01)


def test_the_same_calls_are_no_cause() -> None:
    run = Loops()
    sides = [run.loop(BEYOND, method, 40e9) for method in ("copy", "scale")]
    assert step_of(run, "libcall-substituted", *sides)["state"] == "excluded"


def test_scalar_code_is_predicted_by_other_binaries_as_wide() -> None:
    run = Loops()
    odd = run.loop(INSIDE, "triad", 30e9, 3, "scalar", widest_access_bytes=8)
    removed = run.loop(INSIDE, "triad", 150e9, 3, "w")
    base = run.loop(INSIDE, "triad", 160e9, 3)
    run.loop(INSIDE, "triad", 32e9, 3, "old", widest_access_bytes=8)
    run.loop(INSIDE, "triad", 9e9, 3, "bare", widest_access_bytes=8)
    step = step_of(run, "not-vectorised", odd, base, removed)
    assert step["state"] == "cannot_tell"  # no third binary has vectors
    CONTENT["variants"]["fast"] = {"compiler": "gcc", "flags": ["-Ofast"]}
    run.loop(INSIDE, "triad", 152e9, 3, "fast")
    step = step_of(run, "not-vectorised", odd, base, removed)
    assert step["predicted"]["value"] == pytest.approx(32 / 152, rel=0.01)
    assert math.isclose(step["measured"]["value"], 0.2, rel_tol=0.01)


def test_loops_as_wide_are_no_cause() -> None:
    run = Loops()
    sides = [run.loop(BEYOND, method, 40e9) for method in ("copy", "scale")]
    assert step_of(run, "not-vectorised", *sides)["state"] == "excluded"
