"""unequal-work: a rate of another run that the text names, and that the runs of the log miss."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchbook.explain.model import Report
from benchbook.explain.results import GIVEN
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.explain.units import bytes_per_s

LESS = 1.5  # times, before it is worth a word
MOST = 5000  # results


@rule
def faster_in_words(reports: Sequence[Report]) -> Iterator[str]:
    """A note on a text that names a higher rate of another run than the best of this log."""
    said = next((own.facts["said_rate"] for own in reports if "said_rate" in own.facts), None)
    if said is None or sum(len(report.results) for report in reports) > MOST:
        return
    value = bytes_per_s(said["value"], said["unit"])
    rates = [
        (own.rate if value is not None else own.value, own)
        for report in reports
        for own in report.results
        if own.is_positive and own.statistic != GIVEN
        if (own.rate is not None if value is not None else own.unit == said["unit"])
    ]
    known = [(rate, own) for rate, own in rates if rate]
    if not known:
        return
    most, best = max(known, key=lambda entry: entry[0])
    times = (said["value"] if value is None else value) / most
    if times >= LESS:
        words = {"best": best, "line": said["line"], "said": said["words"][:160], "times": times}
        yield finding("faster-in-words", words).explanation
