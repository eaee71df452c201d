"""Points of made-up messages for replays: what the kernel observes of each, and its samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchbook.controls.replays import Scene
from benchbook.controls.synthetic.samples import made_samples

BLOCKS, SAMPLES = 8, 5
NOISE = 0.02  # of a sample, as a share


def point(where: str, payload_bytes: int, *, ahead: bool, **more: Any) -> dict[str, Any]:
    """One point of round trips through shared memory, as `more` has it otherwise."""
    return {
        "where": where,
        "payload_bytes": payload_bytes,
        "rotation_bytes": 0,
        "messages": 400,
        "messages_in_window": 1,
        "message_directions": 2,
        "message_buffers_bytes": max(payload_bytes, 64),
        "sent_before_received": int(ahead),
        "shared_memory": 1,
        "mpi_library": "made up",
        **more,
    }


def scene(
    dice: np.random.Generator,
    points: list[dict[str, Any]],
    times_ns: list[float],
    provoked: bool,
    host: dict[str, Any] | None = None,
) -> Scene:
    """A scene of these points, with samples around these times (ns)."""
    made = {
        point["where"]: time * np.exp(NOISE * dice.standard_normal((BLOCKS, SAMPLES)))
        for point, time in zip(points, times_ns, strict=True)
    }
    return Scene(
        provoked=provoked,
        points=points,
        samples=made_samples(made, declared_bytes=2 * points[0]["payload_bytes"]),
        host=host or {},
    )
