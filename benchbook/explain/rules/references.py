"""missed-reference: figures of a test that its own limits do not allow."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.model import Report
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding


@rule
def missed_reference(report: Report) -> Iterator[Finding]:
    """A figure beyond the limits around its reference, as the tool prints all of them.

    Decided by these numbers alone: whether the reference is right nobody knows.
    """
    for figure in report.knowing("expected"):
        expected = figure.of.get("expected")
        if not is_number(expected) or not expected or not figure.is_number:
            continue
        low, high = figure.of.get("limit_low"), figure.of.get("limit_high")
        is_low = is_number(low) and figure.value < low
        is_high = is_number(high) and figure.value > high
        if is_low or is_high:
            words = {"figure": figure, "expected": expected, "limit": low if is_low else high}
            words |= {"side": "below" if is_low else "above"}
            apart = abs(figure.value / expected - 1)
            yield finding("missed-reference", words, apart=apart)
    if line := report.facts.get("sanity_line"):
        words = {"line": line, "why": report.facts["sanity_error"]}
        yield finding("sanity-error", words, about=[f"line {line}"])
