"""eager-rendezvous: messages between GPUs, which change their way with their size."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.model import Report
from benchbook.explain.rules import rule
from benchbook.explain.rules.caches import fall_of
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding


@rule
def path_of_device_messages(report: Report) -> Iterator[Finding]:
    """A rate of messages from or to a GPU that falls for the largest ones.

    Decided by the sweep over sizes, and by what the tool says of its buffers: no cache of the host
    holds them.
    """
    buffers = report.facts.get("device_buffers")
    falls = [fall for sweep in report.sweeps if (fall := fall_of(sweep))] if buffers else []
    if falls:
        share, best, last = min(falls, key=lambda fall: fall[0])
        yield finding("device-path", best=best, last=last, share=share, buffers=buffers)


@rule
def way_of_large_collectives(report: Report) -> Iterator[Finding]:
    """A collective whose bandwidth falls for the largest messages, in place and out of it."""
    if report.tool != "nccl-tests":
        return
    sweeps = [own for own in report.sweeps if own and own[0].name.endswith("time")]
    falls = [fall for sweep in sweeps if (fall := fall_of(sweep))]
    if sweeps and len(falls) == len(sweeps):
        share, best, last = min(falls, key=lambda fall: fall[0])
        yield finding("large-collectives", best=best, last=last, share=share)
