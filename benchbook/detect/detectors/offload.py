"""offload: the interface was handed packets larger than its frames can be.

With segmentation offload a stream crosses an interface in few giant packets, which something later
cuts into frames, or nothing does, as between two interfaces of one machine. Decided by the bytes
sent over the interface's own count of packets, against its MTU.
"""

from __future__ import annotations

from typing import Any

from benchbook.core.number_format import count, plural
from benchbook.detect import Judged, Row, Seen, is_known
from benchbook.detect.inputs.timed_work import number_of, span, strongest, times
from benchbook.findings import Artefact, Finding, proof
from benchbook.stats.ratios import Ratio, time_ratio

CERTAIN = 1.0
# What two points have in common that differ in the packets only.
SAME = ("request_bytes", "writes", "tcp_nodelay", "bytes_per_call", "device_mtu_bytes")
ARTEFACT = Artefact(
    "offload",
    "Take packet counts from the interface, not from bytes ÷ MTU, and compute no cost per packet "
    "from this figure; for real frames measure with offload off (ethtool -K … tso off).",
)


def detect(seen: Seen) -> Judged:
    """One finding for all points whose packets exceed the MTU; abstains where the packets of a
    stream, or the MTU, are not known."""
    judged = Judged()
    rows = [row for row in seen.rows() if _concerns(row)]
    offloaded = []
    for row in rows:
        size = _packet_bytes(row)
        if size is None:
            judged.abstained[row["where"]] = "the interface’s packets or its MTU are not known"
        elif size > row["device_mtu_bytes"]:
            offloaded.append(row)
    if offloaded:
        judged.findings.append(_finding(seen, offloaded, rows))
    return judged.rest_is_clean(row["where"] for row in rows)


def _concerns(row: Row) -> bool:
    """A stream, whose writes are no packets: datagrams are what they are."""
    return (number_of(row, "bytes_sent") or 0) > 0 and not is_known(row.get("datagrams_sent"))


def _packet_bytes(row: Row) -> float | None:
    """Bytes of the stream in a packet that the interface was handed."""
    sent, packets = number_of(row, "bytes_sent"), number_of(row, "interface_packets_sent")
    if sent is None or not packets or not number_of(row, "device_mtu_bytes"):
        return None
    return sent / packets


def _finding(seen: Seen, rows: list[dict[str, Any]], every: list[dict[str, Any]]) -> Finding:
    row = max(rows, key=lambda row: _packet_bytes(row) or 0.0)
    size, mtu = _packet_bytes(row) or 0.0, float(row["device_mtu_bytes"])
    too_many = [(_packet_bytes(row) or 0.0) / row["device_mtu_bytes"] for row in rows]
    text = (
        f"The interface was handed {count(row['bytes_sent'])} bytes in "
        f"{plural(row['interface_packets_sent'], 'packet')}, {count(size)} bytes each, and a frame "
        f"of it carries {count(mtu)}: packets are cut into frames later, or never. Packets per "
        f"second computed as bytes ÷ MTU would be {span(too_many, times)} times too many at "
        f"{plural(len(rows), 'point')}."
    )
    ratios = _ratios(seen, rows, every)
    if ratios:
        text += (
            " Cut into frames before the interface, the same transfer takes "
            f"{span([ratio.estimate for ratio in ratios], times)} times as long."
        )
    return ARTEFACT.finding(
        effect="explains" if ratios else "informs",
        factor=strongest(ratio.estimate for ratio in ratios),
        where=sorted(row["where"] for row in rows),
        confidence=CERTAIN,
        evidence=[
            *(
                proof(name, row[name], unit, source)
                for name, unit, source in (
                    ("bytes_sent", "bytes", "kernel"),
                    ("interface_packets_sent", "packets", "interface"),
                    ("device_mtu_bytes", "bytes", "interface"),
                    ("segmentation_offload", "1", "interface"),
                )
                if is_known(row.get(name))
            ),
            *(
                proof("time in frames ÷ time", ratio.estimate, "1", "paired blocks")
                for ratio in ratios
            ),
        ],
        explanation=text,
    )


def _ratios(seen: Seen, rows: list[dict[str, Any]], every: list[dict[str, Any]]) -> list[Ratio]:
    """Times of the same transfer in frames ÷ times of these, where each block says longer."""
    large = {row["where"] for row in rows}
    ratios = [
        time_ratio(seen.starts, twin["where"], row["where"])
        for row in rows
        for twin in every
        if twin["where"] not in large
        and _packet_bytes(twin) is not None
        and all(number_of(row, name) == number_of(twin, name) for name in SAME)
    ]
    longer = [ratio for ratio in ratios if ratio and ratio.is_always_beyond()]
    return sorted(longer, key=lambda ratio: ratio.estimate)
