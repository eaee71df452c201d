"""What points that move data to a device or from it have in common, by physical columns."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.detect import Row, Seen, is_known
from benchbook.host.pcie import link_bytes_per_s

# Points that differ in none of these move the same data in the same way over the same link.
WORK = (
    "bytes_to_device",
    "bytes_from_device",
    "transfer_threads",
    "orders_of_each_part",
    "data_is_zero",
    "through_cuda",
)


def transfers(seen: Seen) -> Iterator[Row]:
    """The points that move data to or from a device."""
    for row in seen.rows():
        if is_known(row.get("bytes_to_device")) and is_known(row.get("bytes_from_device")):
            yield row


def over_bus(seen: Seen) -> list[Row]:
    """Those whose device is known to have memory of its own."""
    return [row for row in transfers(seen) if row.get("device_is_host_memory") == 0]


def link(row: Row, when: str) -> tuple[float, int, float] | None:
    """The link `idle`, under `load`, or at `most`: 10^9 transfers per second, lanes, and what they
    carry in bytes per second each way; None where it is unknown."""
    speed, width = row.get(f"link_{when}_gt_per_s"), row.get(f"link_{when}_width")
    if not is_known(speed) or not is_known(width):
        return None
    return float(speed), int(width), link_bytes_per_s(float(speed), int(width))
