"""host-memory-device: the device is host memory, so no bus is in the figure.

Decided by what the library says of its device: a processor, or memory that it shares with the host.
"""

from __future__ import annotations

from benchbook.detect import Judged, Row, Seen, artefact, is_known
from benchbook.detect.inputs.transfers import transfers
from benchbook.findings import Finding

ARTEFACT = artefact("host-memory-device")


def detect(seen: Seen) -> Judged:
    """One finding for all points on such a device; abstains where the library did not tell."""
    judged = Judged()
    rows = list(transfers(seen))
    for row in rows:
        if not is_known(row.get("device_is_host_memory")):
            judged.abstained[row["where"]] = ARTEFACT.cannot_tell("not-observed")
    on_host = [row for row in rows if row.get("device_is_host_memory") == 1]
    if on_host:
        judged.findings.append(_finding(on_host, seen.host.get("total_llc_bytes")))
    return judged.rest_is_clean(row["where"] for row in rows)


def _bytes(row: Row) -> int:
    """On the host's side."""
    return int(row["bytes_to_device"] + row["bytes_from_device"])


def _finding(rows: list[Row], caches: float | None) -> Finding:
    small = [row for row in rows if is_known(caches) and caches and 2 * _bytes(row) <= caches]
    words = {
        "is_host_memory": 1,
        "sizes": sorted({_bytes(row) for row in rows}),
        "small": len(small) or None,
        "caches": caches,
    }
    return ARTEFACT.finding(rows, words)
