"""The words of the section on throughput, which iperf3 measured in the same network."""

from __future__ import annotations

from typing import Any

from benchbook.core import number_format

Row = dict[str, Any]
LITTLE_LOST = 0.001  # of what was sent


def results_of(experiment: Row) -> dict[str, list[Row]]:
    """{transfers, lacking} of an experiment; both empty where its results have none."""
    results: dict[str, list[Row]] = experiment.get("throughput") or {"transfers": [], "lacking": []}
    return results


def sentences(results: dict[str, list[Row]]) -> list[str]:
    """How much went through, where it began to be lost, and what became of the loss."""
    good = [transfer for transfer in results["transfers"] if transfer["missing"]]
    text = [
        f"TCP carried {_rate(transfer['far']['received_bits_per_s'])}."
        for transfer in good
        if transfer["transfer"]["protocol"] == "tcp"
    ][:1]
    lost = [
        transfer
        for transfer in good
        if transfer["transfer"]["protocol"] == "udp" and _lossy(transfer)
    ]
    whole = [
        transfer
        for transfer in good
        if transfer["transfer"]["protocol"] == "udp" and not _lossy(transfer)
    ]
    if whole:
        most = max(whole, key=lambda transfer: transfer["far"]["received_bits_per_s"])
        share = number_format.share(LITTLE_LOST)
        rate = _rate(most["far"]["received_bits_per_s"])
        text.append(f"UDP came through with less than {share} lost at up to {rate}.")
    if lost:
        worst = max(
            lost, key=lambda transfer: transfer["missing"]["missing"] / transfer["missing"]["sent"]
        )
        text += [_worst(worst), _became(worst["missing"])]
    return text


def _lossy(transfer: Row) -> bool:
    return bool(transfer["missing"]["missing"] > LITTLE_LOST * transfer["missing"]["sent"])


def _worst(transfer: Row) -> str:
    lost = number_format.share(transfer["missing"]["missing"] / transfer["missing"]["sent"])
    return (
        f"At {_rate(transfer['near']['sent_bits_per_s'])} sent, host B’s program read "
        f"{_rate(transfer['far']['received_bits_per_s'])}: {lost} of the datagrams were lost to it."
    )


def _became(missing: Row) -> str:
    if missing["unread"] is None:
        return "This system does not show where they were lost."
    parts = [
        f"{number_format.count(missing['receive_buffer'])} found the buffer of its socket full",
        f"{number_format.count(missing['on_the_way'])} were lost between the interfaces",
        f"{number_format.count(missing['unread'])} lay unread when the program ended",
    ]
    end = ""
    if missing["receive_buffer"] > missing["missing"] / 2:
        whole = missing["on_the_way"] <= 0
        which = "them, not the network" if whole else "most of them"
        end = f": so the receiver lost {which}"
    total = number_format.count(missing["missing"])
    return f"Of these {total} datagrams {number_format.listed(parts)}{end}."


def transfer_name(transfer: Row) -> str:
    """`UDP, 1,024 B each, 100 Mbit/s asked for`."""
    order = transfer["transfer"]
    amount = f"{number_format.number(order['bytes'] / 1e6)}{number_format.FIXED}MB"
    if order["protocol"] == "tcp":
        return f"TCP, {amount}"
    rate = f"{_rate(order['bits_per_s'])} asked for" if order["bits_per_s"] else "unlimited"
    return (
        f"UDP, {amount} by "
        f"{number_format.count(order['datagram_bytes'])}{number_format.FIXED}B, {rate}"
    )


def cells(transfer: Row) -> list[str]:
    """A row of the table: rates, losses by who tells of them, jitter, frames at both interfaces."""
    near, far, missing = transfer["near"], transfer["far"], transfer["missing"] or {}
    lost = ("missing", "receive_buffer", "on_the_way", "unread")
    return [
        _mbit(near.get("sent_bits_per_s")),
        _mbit(far.get("received_bits_per_s")),
        _plain(near.get("retransmits")),
        _percent(near.get("lost_percent")),
        _percent(far.get("lost_percent")),
        *(_plain(missing.get(key)) for key in lost),
        _micro(far.get("jitter_ms")),
        f"{_plain(near.get('interface_sent_packets'))} → "
        f"{_plain(far.get('interface_received_packets'))}",
    ]


COLUMNS = (
    "sent<br>Mbit/s",
    "received<br>Mbit/s",
    "sent again<br>segments",
    "lost, says<br>the near end",
    "lost, says<br>the far end",
    "sent and<br>not read",
    "buffer full",
    "between<br>interfaces",
    "unread<br>at the end",
    "jitter<br>µs",
    "frames,<br>A → B",
)


def _rate(bits_per_s: float) -> str:
    for unit, per in (("Gbit/s", 1e9), ("Mbit/s", 1e6)):
        if bits_per_s >= per:
            return f"{number_format.number(bits_per_s / per)}{number_format.FIXED}{unit}"
    return f"{number_format.number(bits_per_s)}{number_format.FIXED}bit/s"


def _mbit(bits_per_s: float | None) -> str:
    return number_format.NONE if bits_per_s is None else number_format.number(bits_per_s / 1e6)


def _plain(value: float | None) -> str:
    return number_format.NONE if value is None else number_format.count(value)


def _percent(value: float | None) -> str:
    """Per cent as iperf3 prints it: what cannot be a share must not look like one."""
    return number_format.NONE if value is None else f"{value:.4g}{number_format.FIXED}%"


def _micro(milliseconds: float | None) -> str:
    return number_format.NONE if milliseconds is None else number_format.number(milliseconds * 1000)
