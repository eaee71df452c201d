"""scaling, settings-apart: the same work on several devices, and prompts that are far apart."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from typing import Any

from benchbook.explain.model import Report, Result
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

TOOLS = ("text", "training-speed")
LESS = 0.95  # of the rate with fewer devices
TWO = 2


@rule
def slower_with_devices(reports: Sequence[Report]) -> Iterator[Finding]:
    """A rate that is lower with more devices, or a time that grows by more than their number.

    A time of a batch may be of as many parts as there are devices, so only more than that is told.
    """
    kinds: dict[tuple[str, str], dict[int, list[Result]]] = {}
    for report in reports:
        if report.tool not in TOOLS:
            continue
        for own in report.results:
            count = report.column(own, "devices")
            if is_number(count) and own.is_positive:
                kinds.setdefault((own.name, own.unit), {}).setdefault(int(count), []).append(own)
    for by_count in kinds.values():
        if len(by_count) != TWO:
            continue
        few, many = sorted(by_count)
        first, last = (_middle(by_count[count]) for count in (few, many))
        words: dict[str, Any] = {"few": few, "many": many, "first": first, "last": last}
        if first.is_time:
            words["times"] = last.base_value / first.base_value
            if words["times"] >= many / few:
                yield finding("longer-with-devices", words)
        elif first.unit.endswith("/s") and last.base_value < LESS * first.base_value:
            words["times"] = first.base_value / last.base_value
            yield finding("less-with-devices", words)


def _middle(several: Sequence[Result]) -> Result:
    """The one whose value is the median, or next below."""
    middle = statistics.median_low(own.value for own in several)
    return next(own for own in several if own.value == middle)


FAR, ALIKE = 5.0, 1.5
PROMPT = "prompt eval time per token"


@rule
def prompts_apart(reports: Sequence[Report]) -> Iterator[Finding]:
    """Prompts of about one length, of which one takes many times as long for a token."""
    timed = []
    for report in reports:
        each = report.only(PROMPT)
        if report.tool == "llama.cpp" and each is not None and each.is_positive:
            timed.append((each, each.of.get("tokens")))
    long_ones = [(each, calls) for each, calls in timed if is_number(calls) and calls > 0]
    for slow, count in long_ones:
        for fast, other in long_ones:
            if slow.value >= FAR * fast.value and 1 / ALIKE <= count / other <= ALIKE:
                words = {"slow": slow, "fast": fast, "count": count, "other": other}
                yield finding("prompts-apart", words, times=slow.value / fast.value)
                return
