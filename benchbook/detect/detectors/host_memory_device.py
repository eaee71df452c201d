"""host-memory-device: the device is host memory, so no bus is in the figure.

Decided by what the library says of its device: a processor, or memory that it shares with the host.
"""

from __future__ import annotations

from benchbook.core.number_format import plural
from benchbook.core.sizes import format_bytes
from benchbook.detect import Judged, Row, Seen, is_known
from benchbook.detect.inputs.transfers import transfers
from benchbook.findings import Artefact, Finding, proof

CERTAIN = 1.0
ARTEFACT = Artefact(
    "host-memory-device",
    "Measure with a device that has memory of its own (`benchbook doctor` lists them, and setting "
    "hostdev_device names one), and claim nothing about a bus until then.",
)


def detect(seen: Seen) -> Judged:
    """One finding for all points on such a device; abstains where the library did not tell."""
    judged = Judged()
    rows = list(transfers(seen))
    for row in rows:
        if not is_known(row.get("device_is_host_memory")):
            judged.abstained[row["where"]] = "whose memory the device has was not told"
    on_host = [row for row in rows if row.get("device_is_host_memory") == 1]
    if on_host:
        judged.findings.append(_finding(on_host, seen.host.get("total_llc_bytes")))
    return judged.rest_is_clean(row["where"] for row in rows)


def _bytes(row: Row) -> int:
    """On the host's side."""
    return int(row["bytes_to_device"] + row["bytes_from_device"])


def _finding(rows: list[Row], caches: float | None) -> Finding:
    sizes = sorted({_bytes(row) for row in rows})
    span = format_bytes(sizes[0])
    span += f" to {format_bytes(sizes[-1])}" if len(sizes) > 1 else ""
    text = (
        f"The device of {plural(len(rows), 'point')} is the host's own memory: the {span} that "
        "were moved never left it, and the figure is that of a copy by the processor."
    )
    small = [row for row in rows if is_known(caches) and caches and 2 * _bytes(row) <= caches]
    if small:
        text += (
            f" Both sides of {len(small)} of them fit in the last-level caches of "
            f"{format_bytes(int(caches or 0))}, so not even memory is in these."
        )
    return ARTEFACT.finding(
        effect="invalidates",
        where=sorted(row["where"] for row in rows),
        confidence=CERTAIN,
        evidence=[
            proof("device is host memory", 1, "1", "device library"),
            *(proof("bytes moved", size, "bytes", "definition") for size in sizes),
        ],
        explanation=text,
    )
