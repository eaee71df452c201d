"""loopback: what is called a network never left the machine's loopback interface.

Decided by the interface through which the far side is reached: it is the loopback one, or it takes
datagrams of a size that no wire carries. There is then no driver, no wire and no other host in the
figure.
"""

from __future__ import annotations

from typing import Any

from benchbook.core.number_format import count, plural
from benchbook.detect import Judged, Row, Seen, is_known
from benchbook.detect.inputs.round_trips import differ_in, round_trips
from benchbook.detect.inputs.timed_work import number_of, span, strongest, times
from benchbook.findings import Artefact, Finding, proof

LOOPBACK_MTU_BYTES = 65536  # Linux; jumbo frames are of 9,000 or so
CERTAIN, BY_MTU = 1.0, 0.9
OF_DEVICE = {"device_is_loopback", "device_mtu_bytes"}
ARTEFACT = Artefact(
    "loopback",
    "Measure to another host, or at least to another network namespace over a pair of interfaces, "
    "and call a figure of loopback by its name.",
)


def detect(seen: Seen) -> Judged:
    """One finding for all points over loopback, one for those whose MTU says so; abstains where the
    interface is not known."""
    judged = Judged()
    rows = [row for row in seen.rows() if _concerns(row)]
    certain, by_mtu = [], []
    for row in rows:
        is_loopback, mtu = number_of(row, "device_is_loopback"), number_of(row, "device_mtu_bytes")
        if is_loopback:
            certain.append(row)
        elif is_loopback is None and mtu is None:
            judged.abstained[row["where"]] = "the interface toward the far side is not known"
        elif is_loopback is None and (mtu or 0) >= LOOPBACK_MTU_BYTES:
            by_mtu.append(row)
    for points, confidence in ((certain, CERTAIN), (by_mtu, BY_MTU)):
        if points:
            judged.findings.append(_finding(seen, points, confidence))
    return judged.rest_is_clean(row["where"] for row in rows)


def _concerns(row: Row) -> bool:
    names = ("round_trips", *OF_DEVICE)
    return any(is_known(row.get(name)) for name in names)


def _finding(seen: Seen, rows: list[dict[str, Any]], confidence: float) -> Finding:
    row = max(rows, key=lambda row: number_of(row, "device_mtu_bytes") or 0)
    mtu = number_of(row, "device_mtu_bytes")
    of_mtu = f", whose MTU is {count(mtu)} bytes" if mtu else ""
    through = "the loopback interface" if confidence == CERTAIN else "what looks like loopback"
    text = (
        f"What {plural(len(rows), 'point')} measured went through {through}{of_mtu}: it never left "
        "this host, so neither a driver nor a wire is in the figure."
    )
    others = _others(seen, rows)
    if others:
        text += (
            " The same over another interface of this host takes "
            f"{span(others, times)} times as long."
        )
    shown = [ratio for ratio in others if ratio > 1]
    return ARTEFACT.finding(
        effect="biases",
        where=sorted(row["where"] for row in rows),
        confidence=confidence,
        factor=strongest(shown),
        evidence=[
            *(
                proof(name, row[name], unit, "kernel")
                for name, unit in (("device_is_loopback", "1"), ("device_mtu_bytes", "bytes"))
                if is_known(row.get(name))
            ),
            *(
                proof("time over another interface ÷ time", ratio, "1", "paired blocks")
                for ratio in sorted(others)
            ),
        ],
        explanation=text,
    )


def _others(seen: Seen, rows: list[dict[str, Any]]) -> list[float]:
    """Times of the same over another interface ÷ times over this one, where noise allows."""
    from benchbook.stats.ratios import time_ratio  # slow to load, and logs have no blocks

    every = round_trips(seen)
    ratios = [
        time_ratio(seen.starts, twin["where"], row["where"])
        for row in rows
        for twin in every
        if number_of(twin, "device_is_loopback") == 0 and differ_in(row, twin) <= OF_DEVICE
    ]
    return [ratio.estimate for ratio in ratios if ratio and (ratio.low > 1 or ratio.high < 1)]
