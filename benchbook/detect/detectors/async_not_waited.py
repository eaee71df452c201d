"""async-not-waited: the order to transfer was timed, and not the transfer.

Decided by whether the orders were done when the clock was read. Where that was not observed, by the
link: more than it can carry was not carried in that time.
"""

from __future__ import annotations

from statistics import median

from benchbook.detect import Judged, Row, Seen, artefact, is_known
from benchbook.detect.inputs.transfers import link, transfers
from benchbook.findings import Finding

ARTEFACT = artefact("async-not-waited")


def detect(seen: Seen) -> Judged:
    """One finding for all points whose orders were not done, one for those above their link.

    Abstains where neither the orders nor the link were observed.
    """
    judged = Judged()
    undone, above = [], []
    rows = list(transfers(seen))
    for row in rows:
        if is_known(row.get("orders_done_fraction")):
            undone += [row] if row["orders_done_fraction"] < 1 else []
        elif link(row, "most") is None or not is_known(row.get("time_ns")):
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("not-observed")
        elif _over(row) > 1:
            above.append(row)
    if undone:
        judged.findings.append(_undone(undone))
    if above:
        judged.findings.append(_above(above))
    return judged.rest_is_clean(row["where"] for row in rows)


def _over(row: Row) -> float:
    """Rate of the busier direction ÷ what the link carries each way at most."""
    full_link = link(row, "most")
    carried = max(row["bytes_to_device"], row["bytes_from_device"]) / (row["time_ns"] / 1e9)
    return float(carried / full_link[2]) if full_link else 0.0


def _undone(rows: list[Row]) -> Finding:
    timed = sorted(
        row["device_time_ns"] / row["time_ns"]
        for row in rows
        if is_known(row.get("device_time_ns")) and is_known(row.get("time_ns"))
    )
    done = sorted({float(row["orders_done_fraction"]) for row in rows})
    factor = float(median(timed)) if timed else None
    return ARTEFACT.finding(rows, {"done": done, "timed": timed}, "undone", factor=factor)


def _above(rows: list[Row]) -> Finding:
    most = max(rows, key=_over)
    speed, width, carried = link(most, "most") or (0.0, 0, 0.0)
    words = {"speed": speed, "width": width, "carried": carried / 1e9}
    return ARTEFACT.finding(rows, words, "above-link", factor=_over(most))
