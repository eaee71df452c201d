"""async-not-waited: the order to transfer was timed, and not the transfer.

Decided by whether the orders were done when the clock was read. Where that was not observed, by the
link: more than it can carry was not carried in that time.
"""

from __future__ import annotations

from statistics import median

from benchbook.core.number_format import plural
from benchbook.detect import Judged, Row, Seen, is_known
from benchbook.detect.inputs.transfers import link, transfers
from benchbook.findings import Artefact, Finding, proof

CERTAIN, BY_LINK = 1.0, 0.9
ARTEFACT = Artefact(
    "async-not-waited",
    "Wait for the transfer before the clock is read (a blocking call, clFinish, "
    "cuStreamSynchronize), or take the device's own times of its beginning and end.",
)


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
            judged.abstained[row["where"]] = "whether its orders were done was not observed"
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
    timed = [
        row["device_time_ns"] / row["time_ns"]
        for row in rows
        if is_known(row.get("device_time_ns")) and is_known(row.get("time_ns"))
    ]
    done = sorted({float(row["orders_done_fraction"]) for row in rows})
    share = f"{100 * done[0]:.0f} %" + (f" to {100 * done[-1]:.0f} %" if len(done) > 1 else "")
    text = (
        f"When the clock was read, {share} of the orders of {plural(len(rows), 'point')} were "
        "done: what was timed is how long it takes to give an order."
    )
    if timed:
        text += f" The device was busy {min(timed):.3g}"
        text += f" to {max(timed):.3g}" if len(timed) > 1 else ""
        text += " times as long as the time that was taken."
    return ARTEFACT.finding(
        effect="invalidates",
        factor=float(median(timed)) if timed else None,
        where=sorted(row["where"] for row in rows),
        confidence=CERTAIN,
        evidence=[
            *(proof("orders done", share, "1", "device library") for share in done),
            *(proof("device time ÷ time", part, "1", "device events") for part in sorted(timed)),
        ],
        explanation=text,
    )


def _above(rows: list[Row]) -> Finding:
    most = max(rows, key=_over)
    full_link = link(most, "most")
    speed, width, carried = full_link if full_link else (0.0, 0, 0.0)
    return ARTEFACT.finding(
        effect="invalidates",
        factor=_over(most),
        where=sorted(row["where"] for row in rows),
        confidence=BY_LINK,
        evidence=[
            proof("speed of the link", speed, "GT/s", "sysfs"),
            proof("lanes of the link", width, "lanes", "sysfs"),
            proof("rate ÷ link", _over(most), "1", "this run"),
        ],
        explanation=f"{plural(len(rows), 'point')} moved up to {_over(most):.3g} times what the "
        f"link carries: {speed:g} GT/s on {width} lanes are {carried / 1e9:.2f} GB/s each way. So "
        "the transfers were not over when the clock was read, or they were none.",
    )
