"""single-rank, not-over-nvlink: collectives that no second rank took part in, or that did not go
over the links of the devices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.devices import named_device, of_data_sheet
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

TOOL = "nccl-tests"
LEAST_GB = 1.0  # GB/s of algorithm bandwidth, of which a bus bandwidth of 0.00 is no rounding
IN_PLACE = "in-place"  # where one rank has nothing to copy
NO_COPY_GB = 20_000.0  # GB/s: no device's memory carries it


@rule
def single_rank(report: Report) -> Iterator[Finding]:
    """A collective of one rank, whose bus bandwidth is 0 by its formula.

    Decided by rows with a bus bandwidth of 0 next to an algorithm bandwidth that is none, or by the
    only rank that the head lists.
    """
    if report.tool != TOOL:
        return
    rates = [own for own in report.results if own.name.endswith("algbw") and own.is_number]
    buses = [own for own in report.results if own.name.endswith("busbw")]
    fast = [own for own in rates if own.rate and own.rate >= LEAST_GB * 1e9]
    is_none = bool(fast) and all(own.value == 0 for own in buses)
    if not is_none and not (report.facts.get("ranks") == 1 and not buses):
        return
    unmoved = [own for own in fast if (own.rate or 0.0) >= NO_COPY_GB * 1e9]
    moved = [own for own in fast if own not in unmoved and not own.name.startswith(IN_PLACE)]
    best = max(moved, key=lambda own: own.rate or 0.0, default=None)
    alone = report.facts.get("ranks_alone")
    words: dict[str, Any] = {
        "best": best,
        "unmoved": unmoved[0] if unmoved else None,
        "line": report.line,
    }
    words |= {"who": "apart" if alone else "alone", "several": alone}
    about = [best] if best else [f"line {report.line}"]
    yield finding("single-rank", words, about=about)


# Devices that are never without NVLink to the others of their host.
_ON_BOARD = late(r"SXM|\bH[12]00 80GB HBM3\b|\bH200\b(?!.*NVL)|\bB[123]00\b|\bH[28]00\b")
LOW = 0.25  # of all links of one device, one way
LARGE = 1 << 26  # bytes of a message whose latency no longer counts


@rule
def not_over_nvlink(report: Report) -> Iterator[Finding]:
    """A collective within one host at a small part of what the NVLinks of its devices carry.

    Decided by the devices that the head names, which all are on boards with NVLink, and the best
    bus bandwidth of large messages.
    """
    device = named_device(report)
    if report.tool != TOOL or report.facts.get("hosts") != 1 or not _ON_BOARD.search(device):
        return
    if report.facts.get("test") == "hypercube":  # one peer after another
        return
    # Two V100 may share a single link of six.
    least = 8 if "V100" in device or "P100" in device else 2
    if (report.facts.get("ranks") or 0) < least or "MIG" in device:
        return
    links = of_data_sheet(device, "nvlink")
    large = [
        own
        for own in report.results
        if own.name.endswith("busbw") and own.is_positive
        if is_number(size := own.of.get("message_bytes")) and size >= LARGE
    ]
    best = max(large, key=lambda own: own.rate or 0.0, default=None)
    if links and best and (best.rate or 0.0) < LOW * links:
        words = {"best": best, "links": links, "device": device}
        yield finding("not-over-nvlink", words, about=[best])
