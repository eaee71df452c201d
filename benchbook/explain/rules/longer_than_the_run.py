"""inconsistent-report: rates and samples that need longer than the run that printed them."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.model import Report
from benchbook.explain.printed_digits import is_number
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

TOO_LONG = 3.0  # times as long as the run


@rule
def samples_take_longer(report: Report) -> Iterator[Finding]:
    """Rates at which the printed samples would take far longer than all of the run took.

    A sample is an operation or more, so the time is a lower bound.
    """
    took = report.facts.get("group_ms")
    if not is_number(took) or took <= 0:
        return
    rows = [
        (own, float(own.of["repetitions"]) / own.value)
        for own in report.being("mean")
        if own.unit == "operations/s" and own.is_positive and is_number(own.of.get("repetitions"))
    ]
    needed = sum(seconds for _, seconds in rows)
    if rows and needed >= TOO_LONG * took / 1e3:
        first, seconds = max(rows, key=lambda row: row[1])
        words = {"first": first, "samples": first.of["repetitions"], "seconds": seconds}
        words |= {"took": took / 1e3, "line": report.facts["group_line"]}
        words |= {"times": needed * 1e3 / took}
        yield finding("samples-take-longer", words, about=[own for own, _ in rows])
