"""Both ends of each transfer laid beside each other, and beside what the kernels counted."""

from __future__ import annotations

import json
from typing import Any

from benchbook.evidence.throughput import COUNTED, FAR, NEAR, SOURCE
from benchbook.evidence.throughput.ranges import first_jitters, out_of_range

OFF = 0.01  # bytes ÷ time beside the printed rate, which has its time from another moment

Row = dict[str, Any]


def table(evidence: list[Row]) -> dict[str, list[Row]]:
    """Evidence rows of one experiment -> {transfers, lacking}.

    A transfer: {transfer, near, far, missing, doubts}; near and far hold what iperf3 printed there
    and what the kernel there counted, by name. `missing` (None where it cannot be told) is what
    host A sent and host B's program did not read: {unit, sent, read, missing, receive_buffer,
    on_the_way, unread, unseen}, the last four None for TCP. `doubts` are sentences on printed
    values that cannot be true, or that the two ends tell differently; the values stay as printed.
    """
    own = [row for row in evidence if row["source"] in (SOURCE, COUNTED) and "transfer" in row]
    groups: dict[str, list[Row]] = {}
    for row in own:
        groups.setdefault(json.dumps(row["transfer"], sort_keys=True), []).append(row)
    return {
        "transfers": [_beside(rows) for rows in groups.values()],
        "lacking": [
            {key: row.get(key, "") for key in ("state", "reason", "remedy")}
            for row in evidence
            if row["source"] == SOURCE and row["name"] == "throughput" and "transfer" not in row
        ],
    }


def _beside(rows: list[Row]) -> Row:
    transfer = rows[0]["transfer"]
    failed = next((row["reason"] for row in rows if "end" not in row), "")
    ends: dict[str, dict[str, Any]] = {
        end: {row["name"]: row["value"] for row in rows if row.get("end") == end}
        for end in (NEAR, FAR)
    }
    near, far = ends[NEAR], ends[FAR]
    tcp = transfer["protocol"] == "tcp"
    doubts = [] if failed else [*_impossible(ends), *_rates(ends)]
    missing = None if failed else (_stream if tcp else _datagrams)(transfer, near, far)
    if missing and not tcp:
        doubts += _told(near, far, missing)
    return {
        "transfer": transfer,
        **ends,
        "failed": failed,
        "missing": missing,
        "doubts": doubts,
    }


def _stream(transfer: Row, near: Row, far: Row) -> Row | None:
    del transfer
    if near["sent_bytes"] is None or far["received_bytes"] is None:
        return None
    return _missing("bytes", near["sent_bytes"], far["received_bytes"])


def _datagrams(transfer: Row, near: Row, far: Row) -> Row | None:
    """What became of the datagrams that nobody read."""
    if near["sent_datagrams"] is None or far["received_bytes"] is None:
        return None
    losses = _missing(
        "datagrams", near["sent_datagrams"], far["received_bytes"] // transfer["datagram_bytes"]
    )
    if far["expected_datagrams"] is not None:
        losses["unseen"] = near["sent_datagrams"] - far["expected_datagrams"]
    if near["interface_sent_packets"] is not None and far["interface_received_packets"] is not None:
        losses["on_the_way"] = near["interface_sent_packets"] - far["interface_received_packets"]
    losses["receive_buffer"] = far["receive_buffer_errors"]
    counted = losses["on_the_way"], losses["receive_buffer"]
    if None not in counted:
        losses["unread"] = losses["missing"] - sum(counted)
    return losses


def _missing(unit: str, sent: int, read: int) -> Row:
    lost = dict.fromkeys(("receive_buffer", "on_the_way", "unread", "unseen"))
    return {"unit": unit, "sent": sent, "read": read, "missing": sent - read, **lost}


def _impossible(ends: dict[str, Row]) -> list[str]:
    """Values out of their range; as printed they stay in the table."""
    out = [
        f"The {value.end} end prints {value.words}, which cannot be."
        for value in out_of_range(ends)
    ]
    first = [
        f"The {jitter.end} end prints {jitter.words}: the first datagram has none before it."
        for jitter in first_jitters(ends)
    ]
    return out + first


def _rates(ends: dict[str, Row]) -> list[str]:
    """Printed rates that are not bytes ÷ time."""
    rates = []
    for end, verb, span in ((NEAR, "sent", "sending_s"), (FAR, "received", "receiving_s")):
        own = ends[end]
        count, rate, time_s = own[f"{verb}_bytes"], own[f"{verb}_bits_per_s"], own[span]
        if count is None or rate is None or not time_s:
            continue
        computed = 8 * count / time_s
        if abs(rate - computed) > OFF * max(computed, rate):
            rates.append(
                f"The {end} end prints {rate:.4g} bit/s, but its own bytes ÷ time are "
                f"{computed:.4g} bit/s."
            )
    return rates


def _told(near: Row, far: Row, missing: Row) -> list[str]:
    """Where the ends tell of a loss that is not what was sent and not read."""
    sentences = []
    shares = near["lost_percent"], far["lost_percent"]
    if None not in shares and abs(shares[0] - shares[1]) > 0.005:
        sentences.append(
            f"The ends print losses of {shares[0]:.2f} % (near) and {shares[1]:.2f} % (far) of the "
            "same datagrams."
        )
    if far["lost_datagrams"] is not None and far["lost_datagrams"] != missing["missing"]:
        sentences.append(
            f"The far end prints {far['lost_datagrams']} lost datagrams where "
            f"{missing['missing']} were sent and not read. It cannot miss what comes after the "
            "last one that it saw."
        )
    return sentences
