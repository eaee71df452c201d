"""multiplexed-counter: events took turns, and were scaled; told by the detector of runs."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.explain.model import Report
from benchbook.explain.rules import Machine
from benchbook.explain.rules.common.counters import evidence, is_shared, placed, some_shared
from benchbook.findings import Finding

ARTEFACT = "multiplexed-counter"


def check(reports: list[Report], machine: Machine) -> Iterator[Finding]:
    """What the detector says of the events of a log, where some counted for a part of the time."""
    if not some_shared(reports):
        return
    rows = [row for row in evidence(reports) if row["state"] == "ok"]
    if any(row["multiplexed"] or row["running_fraction"] < 1 for row in rows):
        import pandas as pd

        from benchbook.detect import Seen
        from benchbook.detect.detectors import multiplexed_counter

        judged = multiplexed_counter.detect(Seen(pd.DataFrame(), evidence=rows))
        yield from placed(judged.findings, reports, is_shared)
