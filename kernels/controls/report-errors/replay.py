"""Reports of transfers in iperf3's format, with values that no transfer can have, and without.

Synthetic: datagrams are lost by lot; what is planted are errors that such reports were seen with.
They are read by the parser that reads the tool's own output.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from benchbook.controls.replays import Scene
from benchbook.evidence.throughput import FAR, NEAR, SOURCE
from benchbook.evidence.throughput.ends import figures

DATAGRAM_BYTES = (512, 1024, 1408)
Report = dict[str, Any]  # what each end prints of one transfer


def scenes(seed: int) -> list[Scene]:
    """One of each planted error, among honest transfers; three of honest ones alone."""
    dice = np.random.default_rng(seed)
    planted = [_scene(dice, plant) for plant in PLANTED]
    return [*planted, *(_scene(dice, None) for _ in range(3))]


def _above_all(dice: np.random.Generator, report: Report) -> None:
    """As if datagrams of the transfer before were missed too."""
    _lose(report, round(report[FAR]["end"]["sum"]["packets"] * float(dice.uniform(1.01, 3))))


def _below_none(dice: np.random.Generator, report: Report) -> None:
    """As if more came late than were missed."""
    _lose(report, -int(dice.integers(1, 200)))


def _lose(report: Report, lost: int) -> None:
    whole = report[FAR]["end"]["sum"]
    whole |= {"lost_packets": lost, "lost_percent": 100 * lost / whole["packets"]}


def _more_received(dice: np.random.Generator, report: Report) -> None:
    more = DATAGRAM_BYTES[0] * int(dice.integers(1, 100))
    sent = report[NEAR]["end"]["sum_sent"]["bytes"]
    report[FAR]["end"]["sum_received"]["bytes"] = sent + more


def _first_jitter(dice: np.random.Generator, report: Report) -> None:
    """The offset between two clocks, which later datagrams smooth away."""
    report[FAR]["intervals"][0]["sum"]["jitter_ms"] = float(dice.uniform(1e3, 1e9)) / 16


def _long_jitter(dice: np.random.Generator, report: Report) -> None:
    """The jitter where nothing smoothed it away."""
    far = report[FAR]
    jitter = far["end"]["sum_received"]["seconds"] * 1e3 * float(dice.uniform(2, 1e6))
    far["end"]["sum"]["jitter_ms"] = far["intervals"][0]["sum"]["jitter_ms"] = jitter


PLANTED: tuple[Callable[[np.random.Generator, Report], None], ...] = (
    _above_all,
    _below_none,
    _more_received,
    _first_jitter,
    _long_jitter,
)


def _honest(dice: np.random.Generator) -> Report:
    size = int(dice.choice(DATAGRAM_BYTES))
    sent = int(dice.integers(1000, 100_000))
    lost = int(dice.binomial(sent, float(dice.choice((0.0, 0.001, 0.3, 0.99)))))
    rate = float(dice.uniform(1e8, 1e10))
    lasted, jitter = 8 * sent * size / rate, float(dice.uniform(0.001, 0.2))
    whole = {
        "packets": sent,
        "lost_packets": lost,
        "lost_percent": 100 * lost / sent,
        "jitter_ms": jitter,
    }
    sums_sent = {
        "bytes": sent * size,
        "bits_per_second": rate,
        "seconds": lasted,
        "packets": sent,
    }
    sums_received = {
        "bytes": (sent - lost) * size,
        "bits_per_second": rate * (sent - lost) / sent,
        "seconds": lasted,
    }
    # Rough at the start, where the first datagrams wake whoever sleeps.
    first = jitter * float(dice.uniform(0.3, 20))
    return {
        NEAR: {"end": {"sum": dict(whole), "sum_sent": sums_sent}},
        FAR: {
            "intervals": [{"sum": {"jitter_ms": first}}],
            "end": {"sum": whole, "sum_received": sums_received},
        },
    }


def _rows(report: Report, number: int) -> list[dict[str, Any]]:
    """As the evidence stage writes them."""
    about = {"source": SOURCE, "state": "replayed", "reason": ""}
    about |= {"transfer": {"protocol": "udp", "number": number}}
    return [
        {**figure, **about}
        for end, said in report.items()
        for figure in figures(end, "udp", json.dumps(said))
    ]


def _scene(
    dice: np.random.Generator, plant: Callable[[np.random.Generator, Report], None] | None
) -> Scene:
    reports = [_honest(dice) for _ in range(int(dice.integers(1, 5)))]
    if plant is not None:
        plant(dice, reports[int(dice.integers(len(reports)))])
    rows = [row for number, report in enumerate(reports) for row in _rows(report, number)]
    return Scene(provoked=plant is not None, points=[], evidence=rows)
