"""Notes on packets a second that are fewer at one size than at a larger one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from benchbook.explain.model import Report, Result
from benchbook.explain.results import GIVEN, grouped
from benchbook.explain.rules import rule

DIP, DIP_OF_FEW, LEAST_SIZES = 0.95, 0.8, 3


@rule
def dips_at_a_size(report: Report) -> Iterator[str]:
    """A note on packets a second that are fewer at a size than at a larger one: larger packets
    take no less work and more of the link."""
    rates = [
        own
        for own in report.knowing("message_bytes")
        if own.unit in ("packets/s", "messages/s") and own.is_positive and own.statistic != GIVEN
        if "message_bytes" in own.of
    ]
    for (name, _, _), own in grouped(
        rates, lambda rate: (rate.name, rate.statistic, rate.of.get("end"))
    ).items():
        sweep = sorted(own, key=lambda rate: int(rate.of["message_bytes"]))
        sizes = [int(rate.of["message_bytes"]) for rate in sweep]
        if len(sweep) < LEAST_SIZES or len(set(sizes)) != len(sizes):
            continue
        # perftest counts few iterations of a size, and has the start of the queues in the first.
        is_short = report.tool == "perftest"
        for before, after in pairwise(sweep[is_short:]):
            if before.value < (DIP_OF_FEW if is_short else DIP) * after.value:
                yield (
                    f"line {before.line}: {name} is {_whole(before)} {before.unit} at "
                    f"{before.of['message_bytes']:,} bytes, and {_whole(after)} at "
                    f"{after.of['message_bytes']:,} bytes (line {after.line}). The link is not the "
                    "limit there, since the larger ones need more of it. Look at how driver and "
                    "card treat that size (inlining, several packets in one descriptor)"
                )
                return


def _whole(rate: Result) -> str:
    """The digits of a rate, without an exponent."""
    return f"{rate.value:,.0f}" if rate.value >= 1e3 else f"{rate.value:,.6g}"
