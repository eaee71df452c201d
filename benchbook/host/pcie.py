"""What a PCI Express link can carry: its transfers, times its lanes, times its encoding."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from benchbook.host.sysfs import read_text

# Of 10^9 transfers per second and lane, up to which an encoding is used, and its share of payload:
# 8 of 10 bits, 128 of 130, and from the sixth generation 236 of 256 bytes.
ENCODINGS = ((5.0, 8 / 10), (32.0, 128 / 130), (float("inf"), 236 / 256))
BITS = 8
_ADDRESS = re.compile(r"[0-9a-f]+:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(\.\d+)?")


class Port(NamedTuple):
    """A port of the PCI bus, and the link that it tells of at this moment."""

    at: str
    gt_per_s: float
    width: int


def encoding(gt_per_s: float) -> float:
    """The share of the transferred bits that is payload at this speed."""
    return next(share for most, share in ENCODINGS if gt_per_s <= most)


def link_bytes_per_s(gt_per_s: float, width: float) -> float:
    """Bytes per second each way: 10^9 transfers per second and lane, and lanes. Headers of packets,
    which take some per cent, are not counted."""
    return gt_per_s * 1e9 * width * encoding(gt_per_s) / BITS


def slowest(folder: Path) -> Port | None:
    """Of the links between a device (its folder in sysfs) and the root the one that carries least,
    the nearest to the device of equal ones; None where none is told. As link.c of hostdev does."""
    narrowest = None
    place = folder.resolve()
    for device in (place, *place.parents):
        if not _ADDRESS.fullmatch(device.name):
            break
        speed, width = (_number(device / f"current_link_{what}") for what in ("speed", "width"))
        if not speed or not width:
            continue
        port = Port(device.name, speed, int(width))
        if narrowest is None or link_bytes_per_s(*port[1:]) < link_bytes_per_s(*narrowest[1:]):
            narrowest = port
    return narrowest


def _number(file: Path) -> float:
    """What a file begins with, as in `8.0 GT/s PCIe`; 0 where it is off or unknown."""
    match = _NUMBER.match(read_text(file) or "")
    return float(match[0]) if match else 0.0
