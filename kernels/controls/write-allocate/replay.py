"""Machines whose memory traffic was counted, which the one at hand may not do: stores that read
each line first, and work that does not store so."""

import random
from typing import Any

from benchbook.controls.replays import Scene

MIB = 2**20
CACHES = (8 * MIB, 32 * MIB, 76 * MIB, 210 * MIB, 768 * MIB)
Point = dict[str, Any]


def scenes(seed: int) -> list[Scene]:
    """STREAM's loops and a fill by ordinary stores, counted or simulated; then stores past the
    caches, work in one place, work that only reads, and a processor that reads no line which is
    written whole."""
    dice = random.Random(seed)
    cache = dice.choice(CACHES)
    array = int(cache * dice.uniform(2, 5)) // 64 * 64
    copied = _point(dice, array, read=1, written=1)
    return [
        _scene(True, cache, _counted(dice, copied, array, read=2, written=1)),
        _scene(
            True,
            cache,
            _counted(dice, _point(dice, array, read=2, written=1), array, read=3, written=1),
        ),
        _scene(
            True,
            cache,
            _counted(dice, _point(dice, array, read=0, written=1), array, read=1, written=1),
        ),
        # Some processors leave out a part of these reads when memory is busy.
        _scene(True, cache, _counted(dice, copied, array, read=1.65, written=1)),
        _scene(True, cache, copied, evidence=_simulated(array, read=2, written=1)),
        _scene(
            False,
            cache,
            _counted(dice, copied | {"non_temporal_stores": ["movntdq"]}, array, read=1, written=1),
        ),
        _scene(False, cache, _counted(dice, copied, array, read=1, written=1)),
        _scene(
            False,
            cache,
            _counted(
                dice,
                _point(dice, array, read=1, written=0) | {"stores_in_loop": 0},
                array,
                read=1,
                written=0,
            ),
        ),
        _scene(
            False,
            cache,
            _counted(dice, copied | {"buffers_bytes": array}, array, read=1, written=1),
        ),
    ]


def _scene(
    provoked: bool, cache: int, point: Point, evidence: list[dict[str, Any]] | None = None
) -> Scene:
    host = {"total_llc_bytes": cache}
    return Scene(provoked=provoked, points=[point], evidence=evidence or [], host=host)


def _point(dice: random.Random, array: int, *, read: int, written: int) -> Point:
    """A loop over so many arrays, each read or written once."""
    moved = float((read + written) * array)
    took = moved / dice.uniform(8, 300)
    return {
        "where": "loop",
        "buffers_bytes": (read + written) * array,
        "bytes_per_call": moved,
        "time_ns": took,
        "rate_bytes_per_s": moved / took * 1e9,
        "loads_in_loop": read,
        "stores_in_loop": written,
        "library_calls": [],
        "non_temporal_stores": [],
    }


def _counted(
    dice: random.Random, point: Point, array: int, *, read: float, written: float
) -> Point:
    """With what the memory controllers counted in a call: a little more, of other programs."""
    return point | {
        "bytes_read_from_memory": read * array * dice.uniform(1, 1.04),
        "bytes_written_to_memory": written * array * dice.uniform(1, 1.04),
    }


def _simulated(array: int, *, read: float, written: float) -> list[dict[str, Any]]:
    values = {
        "bytes_read_from_memory": read * array,
        "bytes_written_to_memory": written * array,
        "lines_written": written * array / 64,
    }
    about = {
        "where": "loop",
        "state": "simulated",
        "source": "a cache simulation",
        "line_bytes": 64,
        "declared_bytes": 2 * array,
        "reason": "",
    }
    return [{"name": name, "value": value, **about} for name, value in values.items()]
