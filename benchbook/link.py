"""What a PCI Express link can carry: its transfers, times its lanes, times its encoding."""

from __future__ import annotations

# Of 10^9 transfers per second and lane, up to which an encoding is used, and its share of payload:
# 8 of 10 bits, 128 of 130, and from the sixth generation 236 of 256 bytes.
ENCODINGS = ((5.0, 8 / 10), (32.0, 128 / 130), (float("inf"), 236 / 256))
BITS = 8


def encoding(gt_per_s: float) -> float:
    """The share of the transferred bits that is payload at this speed."""
    return next(share for most, share in ENCODINGS if gt_per_s <= most)


def link_bytes_per_s(gt_per_s: float, width: float) -> float:
    """Bytes per second each way: 10^9 transfers per second and lane, and lanes. Headers of packets,
    which take some per cent, are not counted."""
    return gt_per_s * 1e9 * width * encoding(gt_per_s) / BITS
