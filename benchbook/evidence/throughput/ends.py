"""What iperf3 prints of one transfer, at its sending and at its receiving end, as JSON."""

from __future__ import annotations

import json
from typing import Any

from benchbook.evidence.throughput import FAR, NEAR

# Our name -> (where iperf3 has it, its unit). sum_sent is the sender's own count, and sum_received
# the receiver's, which the sender repeats as it was told.
_TCP = {
    NEAR: {
        "sent_bytes": ("sum_sent", "bytes", "bytes"),
        "sent_bits_per_s": ("sum_sent", "bits_per_second", "bit/s"),
        "sending_s": ("sum_sent", "seconds", "s"),
        "retransmits": ("sum_sent", "retransmits", "segments"),
    },
    FAR: {
        "received_bytes": ("sum_received", "bytes", "bytes"),
        "received_bits_per_s": ("sum_received", "bits_per_second", "bit/s"),
        "receiving_s": ("sum_received", "seconds", "s"),
    },
}
_UDP = {
    NEAR: {
        "sent_bytes": ("sum_sent", "bytes", "bytes"),
        "sent_bits_per_s": ("sum_sent", "bits_per_second", "bit/s"),
        "sending_s": ("sum_sent", "seconds", "s"),
        "sent_datagrams": ("sum_sent", "packets", "datagrams"),
        "lost_percent": ("sum", "lost_percent", "%"),
        "jitter_ms": ("sum", "jitter_ms", "ms"),
    },
    FAR: {
        "received_bytes": ("sum_received", "bytes", "bytes"),
        "received_bits_per_s": ("sum_received", "bits_per_second", "bit/s"),
        "receiving_s": ("sum_received", "seconds", "s"),
        "expected_datagrams": ("sum", "packets", "datagrams"),
        "lost_datagrams": ("sum", "lost_packets", "datagrams"),
        "lost_percent": ("sum", "lost_percent", "%"),
        "jitter_ms": ("sum", "jitter_ms", "ms"),
    },
}


class NotPrintedError(Exception):
    """Why what an end printed tells nothing."""


def figures(end: str, protocol: str, text: str) -> list[dict[str, Any]]:
    """[{end, name, value, unit}] as printed, whatever the values are; None where one is not there.
    NotPrintedError with iperf3's own words where it failed."""
    try:
        report = json.loads(text)
    except ValueError:
        words = " ".join(text.split())[-200:]
        raise NotPrintedError(f"printed no JSON{f': {words}' if words else ''}") from None
    if not isinstance(report, dict) or report.get("error"):
        error = report.get("error") if isinstance(report, dict) else "no object"
        raise NotPrintedError(f"said: {error}")
    ended = report.get("end", {})
    wanted = (_UDP if protocol == "udp" else _TCP)[end]
    rows = [
        {"end": end, "name": name, "value": _number(ended.get(part, {}).get(key)), "unit": unit}
        for name, (part, key, unit) in wanted.items()
    ]
    if all(end["value"] is None for end in rows):
        raise NotPrintedError("printed none of its sums")
    if protocol == "tcp" and end == NEAR:
        way = ended.get("sender_tcp_congestion")
        rows.append({"end": end, "name": "congestion_control", "value": way, "unit": ""})
    if protocol == "udp" and end == FAR:
        first = (report.get("intervals") or [{}])[0].get("sum", {}).get("jitter_ms")
        name = "first_jitter_ms"
        rows.append({"end": end, "name": name, "value": _number(first), "unit": "ms"})
    return rows


def _number(value: Any) -> float | int | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
