"""within-host, few-repetitions: what messages between ranks went over, and how many there were."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

SMALL_BYTES = 8
WIRE_NS = 500.0  # one way through two adapters and a wire takes more
APART = 2.0


@rule
def faster_than_wire(reports: Sequence[Report]) -> Iterator[Finding | str]:
    """Latencies between two ranks that no network adapter has.

    Decided by the smallest message. Where the log has such a test with a network as well, the two
    were taken for the same, and it is a finding; else a note.
    """
    smallest = [
        (report, time)
        for report in reports
        if report.facts.get("pattern") == "point to point"
        if (time := _smallest(report)) is not None
    ]
    short = [time for _, time in smallest if time.base_value < WIRE_NS]
    wired = [time for _, time in smallest if time.base_value >= WIRE_NS]
    for time in short[:1]:
        if wired and wired[0].base_value >= APART * time.base_value:
            size = time.of.get("message_bytes") or 0
            yield finding("faster-than-wire", first=time, wired=wired[0], size=size)
        else:
            yield (
                f"line {time.line}: {time.value:g} {time.unit} is less than a network adapter "
                "needs, so most likely both ranks were on one host (shared memory)"
            )


def _smallest(report: Report) -> Result | None:
    times = [
        time
        for time in report.knowing("message_bytes")
        if time.is_time and time.is_positive and time.statistic in ("", "mean")
        if is_number(time.of.get("message_bytes")) and time.of["message_bytes"] <= SMALL_BYTES
    ]
    return times[0] if times else None


@rule
def one_repetition(report: Report) -> Iterator[Finding]:
    """Rows of a sweep that rest on one repetition.

    Decided by the count that the tool prints beside each size.
    """
    alone = [
        result
        for result in report.knowing("repetitions")
        if result.of.get("repetitions") == 1 and result.of.get("message_bytes")
    ]
    sizes = list(dict.fromkeys(result.of["message_bytes"] for result in alone))
    if sizes and any((count or 0) > 1 for count in _counts(report)):
        words = {"size": sizes[0], "left": len(sizes) - 1 or None, "first": alone[0]}
        yield finding("one-repetition", words, about=alone)


def _counts(report: Report) -> Iterator[int]:
    for result in report.knowing("repetitions"):
        yield int(report.column(result, "repetitions") or 0)
