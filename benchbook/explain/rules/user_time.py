"""cpu-clock-rate: rates that a tool makes of user time, where the rest of the time was not spent in
user mode."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.model import Report
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

TOOL = "openssl-speed"
LEAST_SHARE = 0.7  # of the seconds that were asked for


@rule
def rate_of_user_time(report: Report) -> Iterator[Finding]:
    """Algorithms of openssl speed whose user time is a small part of the seconds that they ran.

    Decided by both times of a line: without -elapsed the rate is over user time.
    """
    if report.tool != TOOL:
        return
    short = [
        time
        for time in report.knowing("asked_s")
        if time.unit == "s" and is_number(time.of.get("asked_s"))
        if 0 <= time.value < LEAST_SHARE * time.of["asked_s"]
    ]
    if short:
        first = min(short, key=lambda time: time.value / time.of["asked_s"])
        asked = first.of["asked_s"]
        words = {"first": first, "asked": asked}
        words["times"] = asked / first.value if first.value > 0 else None
        yield finding("user-time-only", words, about=short)
