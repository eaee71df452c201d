"""loopback: what is called a network never left the machine's loopback interface.

Decided by the interface through which the far side is reached: it is the loopback one, or it takes
datagrams of a size that no wire carries. There is then no driver, no wire and no other host in the
figure.
"""

from __future__ import annotations

from typing import Any

from benchbook.detect import Judged, Row, Seen, artefact, is_known
from benchbook.detect.inputs.comparisons import ratios
from benchbook.detect.inputs.round_trips import differ_in, round_trips
from benchbook.detect.inputs.timed_work import columns, number_of, strongest
from benchbook.findings import Finding

LOOPBACK_MTU_BYTES = 65536  # Linux; jumbo frames are of 9,000 or so
OF_DEVICE = {"device_is_loopback", "device_mtu_bytes"}
ARTEFACT = artefact("loopback")


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
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("interface-unknown")
        elif is_loopback is None and (mtu or 0) >= LOOPBACK_MTU_BYTES:
            by_mtu.append(row)
    for points, kind in ((certain, "by-name"), (by_mtu, "by-mtu")):
        if points:
            judged.findings.append(_finding(seen, points, kind))
    return judged.rest_is_clean(row["where"] for row in rows)


def _concerns(row: Row) -> bool:
    names = ("round_trips", *OF_DEVICE)
    return any(is_known(row.get(name)) for name in names)


def _finding(seen: Seen, rows: list[dict[str, Any]], kind: str) -> Finding:
    row = max(rows, key=lambda row: number_of(row, "device_mtu_bytes") or 0)
    others = _others(seen, rows)
    words = {
        **columns(row, *OF_DEVICE),
        "mtu": number_of(row, "device_mtu_bytes") or None,
        "through": "what looks like loopback" if kind == "by-mtu" else "the loopback interface",
        "others": others,
    }
    factor = strongest(ratio for ratio in others if ratio > 1)
    return ARTEFACT.finding(rows, words, kind, factor=factor)


def _others(seen: Seen, rows: list[dict[str, Any]]) -> list[float]:
    """Times of the same over another interface ÷ times over this one, where noise allows."""
    elsewhere = [twin for twin in round_trips(seen) if number_of(twin, "device_is_loopback") == 0]
    pairs = [(twin, row) for row in rows for twin in elsewhere if differ_in(row, twin) <= OF_DEVICE]
    sure = [ratio for ratio in ratios(seen, pairs) if ratio.low > 1 or ratio.high < 1]
    return sorted(ratio.estimate for ratio in sure)
