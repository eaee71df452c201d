"""Requests on a schedule, one under way: to a service that stalls at times, and to one that does
not; timed from the sending and from when they were due."""

from __future__ import annotations

from itertools import product

import numpy as np

from benchbook.controls.replays import Scene
from benchbook.controls.synthetic.samples import made_samples

BLOCKS, SAMPLES = 4, 1000
GAP_NS, SERVICE_NS = 20_000.0, 3_000.0
STALL_OF = 200
STALLS_NS = (0.0, 200_000.0, 3_000_000.0)
SPREAD = 0.05  # log standard deviation of the service times


def scenes(seed: int) -> list[Scene]:
    """Each length of stall, none included, timed in both ways."""
    dice = np.random.default_rng(seed)
    return [_scene(dice, stall, intended) for stall, intended in product(STALLS_NS, (0, 1))]


def _scene(dice: np.random.Generator, stall_ns: float, intended: int) -> Scene:
    takes = SERVICE_NS * dice.lognormal(0, SPREAD, (BLOCKS, SAMPLES))
    takes += stall_ns * (np.arange(SAMPLES) % STALL_OF == dice.integers(STALL_OF))
    due = np.arange(SAMPLES) * GAP_NS
    sent = np.empty_like(takes)
    free = np.zeros(BLOCKS)
    for request in range(SAMPLES):
        sent[:, request] = np.maximum(due[request], free)
        free = sent[:, request] + takes[:, request]
    late = sent - due
    times = np.rint(takes + intended * late).astype(np.int64)
    point = {
        "where": "service",
        "gap_ns": GAP_NS,
        "timed_from_intended": intended,
        "requests_sent": SAMPLES,
        "sends_late": float(np.median((late >= GAP_NS).sum(axis=1))),
        "lateness_ns": float(np.median(late.mean(axis=1))),
    }
    return Scene(
        provoked=stall_ns > 0 and not intended,
        points=[point],
        samples=made_samples({"service": times}, declared_bytes=0),
    )
