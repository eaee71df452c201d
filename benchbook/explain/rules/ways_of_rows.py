"""unequal-directions: rows of a table that are named after a way and the way back."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

_WAY = late(r"([A-Za-z][\w. -]{0,30}?) ?(?:\bto\b|->|→|=>|⇒) ?([A-Za-z][\w. -]{0,30})")
_OF_DEVICES = late(r"(?i)\b(?:device|gpu|cpu|memory|ram|disk|cache|[hd]2[hd])\b")
APART = 2.0  # times
MOST = 200  # rows


@rule
def ways_of_rows(report: Report) -> Iterator[Finding]:
    """Rates in bits from A to B and back that are far apart, in a table that names its rows so.

    Those of host and device have rules of their own, as do tests that one program reversed.
    """
    if report.tool not in ("table", "figures") or len(report.results) > MOST:
        return
    ways: dict[tuple[str, str, str, str], Result] = {}
    for own in report.results:
        label = str(own.of.get("label") or own.name)
        found = _WAY.fullmatch(label.strip())
        if found and own.rate and "bit" in own.unit and not _OF_DEVICES.search(label):
            name = own.name if "label" in own.of else ""
            ways[name, own.statistic, found[1].strip().lower(), found[2].strip().lower()] = own
    for (name, statistic, begin, end), slow in ways.items():
        fast = ways.get((name, statistic, end, begin))
        if fast is None or not slow.rate or not fast.rate:
            continue
        ratio = fast.rate / slow.rate
        if ratio >= APART:
            words = {"begin": begin, "end": end, "ratio": ratio}
            yield finding("ways-of-rows", words, slow=slow, fast=fast)
            return
