"""Reports of transfers with values as iperf3 prints them, some of which no transfer can have.

Synthetic: datagrams are lost by lot; what is planted are errors that such reports were seen with.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchbook.controls.replays import Scene

DATAGRAM_BYTES = (512, 1024, 1408)
UNITS = {"percent": "%", "s": "s"}
NEAR, FAR = "near", "far"
Report = dict[tuple[str, str], float]


def scenes(seed: int) -> list[Scene]:
    """One of each planted error, among honest transfers; three of honest ones alone."""
    dice = np.random.default_rng(seed)
    planted = [_scene(dice, plant) for plant in PLANTED]
    return [*planted, *(_scene(dice, None) for _ in range(3))]


def _above_all(dice: np.random.Generator, report: Report) -> None:
    """As if datagrams of the transfer before were missed too."""
    lost = round(report["expected_datagrams", FAR] * float(dice.uniform(1.01, 3)))
    report["lost_datagrams", FAR] = lost
    report["lost_percent", FAR] = 100 * lost / report["expected_datagrams", FAR]


def _below_none(dice: np.random.Generator, report: Report) -> None:
    """As if more came late than were missed."""
    late = int(dice.integers(1, 200))
    report["lost_datagrams", FAR] = -late
    report["lost_percent", FAR] = -100 * late / report["expected_datagrams", FAR]


def _more_received(dice: np.random.Generator, report: Report) -> None:
    more = DATAGRAM_BYTES[0] * int(dice.integers(1, 100))
    report["received_bytes", FAR] = report["sent_bytes", NEAR] + more


def _first_jitter(dice: np.random.Generator, report: Report) -> None:
    """The offset between two clocks, a part of which is smoothed away later."""
    report["first_jitter_ms", FAR] = float(dice.uniform(1e3, 1e9)) / 16


def _long_jitter(dice: np.random.Generator, report: Report) -> None:
    """The same where nothing smoothed it away."""
    jitter = report["receiving_s", FAR] * 1e3 * float(dice.uniform(2, 1e6))
    report["jitter_ms", FAR] = report["first_jitter_ms", FAR] = jitter


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
    jitter = float(dice.uniform(0.001, 0.2))
    return {
        ("sent_bytes", NEAR): sent * size,
        ("sent_datagrams", NEAR): sent,
        ("lost_percent", NEAR): 100 * lost / sent,
        ("received_bytes", FAR): (sent - lost) * size,
        ("expected_datagrams", FAR): sent,
        ("lost_datagrams", FAR): lost,
        ("lost_percent", FAR): 100 * lost / sent,
        ("jitter_ms", FAR): jitter,
        # Rough at the start, where the first datagrams wake whoever sleeps.
        ("first_jitter_ms", FAR): jitter * float(dice.uniform(0.3, 20)),
        ("receiving_s", FAR): sent * size * 8 / float(dice.uniform(1e8, 1e10)),
    }


def _scene(
    dice: np.random.Generator, plant: Callable[[np.random.Generator, Report], None] | None
) -> Scene:
    reports = [_honest(dice) for _ in range(int(dice.integers(1, 5)))]
    if plant is not None:
        plant(dice, reports[int(dice.integers(len(reports)))])
    rows = [
        {
            "name": name,
            "value": value,
            "unit": UNITS.get(name.rsplit("_", 1)[-1], name.rsplit("_", 1)[-1]),
            "source": "iperf3",
            "state": "replayed",
            "reason": "",
            "end": end,
            "transfer": {"protocol": "udp", "number": number},
        }
        for number, report in enumerate(reports)
        for (name, end), value in report.items()
    ]
    return Scene(provoked=plant is not None, points=[], evidence=rows)
